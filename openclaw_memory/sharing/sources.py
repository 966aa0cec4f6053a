"""Find the other memories that an agent reads, and name and trust their hits here (``@name/…``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..config.openclaw_home import OpenClawHome, agent_id, agents_in
from ..config.settings import Settings, SharedMemory
from ..config.workspace import expand_home
from ..errors import HostError, SettingsError
from ..ingest.scan import is_extra_name
from ..model import Edge, Origin, RecallHit, SearchHit, citation

if TYPE_CHECKING:
    from ..model import FactRow

H = TypeVar("H", bound=SearchHit)

#: Name for the memory of the agent that started this one; only the host knows it.
PARENT = "parent"


class Source(NamedTuple):
    """Another memory that may be read: that of ``agent`` in ``workspace``, shown as ``@name/…``.

    Its hits are no more trusted than ``origin``; with ``unasked`` they are part of the context of messages.
    """

    name: str
    agent: str
    workspace: Path
    origin: Origin = Origin.AGENT
    unasked: bool = False


def check(settings: Settings, read_from: Sequence[str]) -> None:
    """Raise :class:`SettingsError` for names that cannot be shown, or are given twice."""
    taken = {extra.name.casefold(): "ingest.extra_paths" for extra in settings.ingest.extra_paths}
    for where, names in (
        ("sharing.memories", [shared.name for shared in settings.sharing.memories]),
        ("sharing.read_from", list(dict.fromkeys(read_from))),
    ):
        seen: set[str] = set()
        for name in names:
            if not is_extra_name(name):
                raise SettingsError(f"{where}: {name!r} cannot be a name; use a word without '/', such as 'team'")
            if name.casefold() in seen:
                raise SettingsError(f"{where}: two entries are named {name!r}; rename one of them")
            if other := taken.get(name.casefold()):
                raise SettingsError(f"{where}: {name!r} is a name in {other} too; rename one of them")
            seen.add(name.casefold())


def sources(
    settings: Settings, read_from: Sequence[str], agent: str, workspace: Path, parent: str | None = None
) -> tuple[list[Source], list[str]]:
    """Return the memories that ``agent`` of ``workspace`` reads beside its own, and warnings about unknown names.

    ``parent`` is the agent that started it, where the host says so.
    """
    by_name = {shared.name: shared for shared in settings.sharing.memories}
    sources: list[Source] = []
    warnings: list[str] = []
    for name in dict.fromkeys(read_from):
        shared = by_name.get(name) or SharedMemory(name)
        if shared.readers and agent not in shared.readers:
            continue
        other = shared.agent or (parent if name == PARENT else name)
        if other is None:
            continue  # no agent started it
        folder = expand_home(shared.workspace) if shared.workspace else _workspace_of(other)
        if folder is None:
            warnings.append(
                f"@{name}: not known; give it a workspace in sharing.memories, or name an agent of OpenClaw"
            )
        elif (other, folder.resolve()) != (agent, workspace):
            sources.append(Source(name, other, folder.resolve(), Origin(shared.origin), shared.context))
    return sources, warnings


def _workspace_of(agent: str) -> Path | None:
    """Return the workspace of one of OpenClaw's agents; ``None`` for another name, whichever agent is the default."""
    home = OpenClawHome.for_environment()
    try:
        agents = agents_in(home.config())
    except HostError:
        return None
    return home.workspace(agent) if agent_id(agent) in agents else None


# -- names and trust --------------------------------------------------------------------------------


def is_in_workspace(hit: SearchHit) -> bool:
    """Return true if a hit stands in the workspace of its memory: files of other folders are not passed on."""
    return not hit.path.startswith("@")


def qualify_hit(hit: H, source: Source) -> H:
    """Return a hit of ``source`` as it is shown here."""
    path = qualify(hit.path, source)
    shown = replace(
        hit,
        path=path,
        citation=citation(path, hit.start_line, hit.end_line),
        id=qualify(hit.id, source),
        origin=least_trusted(hit.origin, source),
        memory=source.name,
        also=tuple(
            replace(other, path=qualify(other.path, source)) for other in hit.also if not other.path.startswith("@")
        ),
    )
    if isinstance(shown, RecallHit):
        return replace(shown, via=tuple(_edge(edge, source) for edge in shown.via))
    return shown


def qualify_fact(row: FactRow, source: Source) -> FactRow:
    """Return a fact of ``source`` as it is shown here."""
    return replace(
        row,
        id=qualify(row.id, source),
        origin=least_trusted(row.origin, source),
        source=None if row.source is None else qualify(row.source, source),
    )


def qualify(place: str, source: Source) -> str:
    """Return the name here of a path, citation or id of ``source``."""
    return f"@{source.name}/{place}"


def least_trusted(origin: Origin, source: Source) -> Origin:
    """Return the less trusted of an origin there and of that of ``source``."""
    return max(origin, source.origin, key=list(Origin).index)


def _edge(edge: Edge, source: Source) -> Edge:
    """Return an edge with the names here of its places; names of concepts stay."""
    places = {
        "references": [edge.source],
        "follows": [edge.source, edge.target],
        "derived_from": [edge.source, edge.target],
    }.get(edge.kind, [])
    if not places:
        return edge
    pattern = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return replace(
        edge,
        source=qualify(edge.source, source) if edge.source in places else edge.source,
        target=qualify(edge.target, source) if edge.target in places else edge.target,
        text=re.sub(pattern, lambda match: qualify(match[0], source), edge.text),
    )
