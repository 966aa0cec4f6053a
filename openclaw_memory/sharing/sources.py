"""Which other memories an agent reads, how what they say is named here (``@name/…``), and how far it is trusted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from ..config.openclaw_home import OpenClawHome, agent_id, agents_in
from ..config.settings import Settings, SharedMemory
from ..config.workspace import expanded
from ..errors import HostError, SettingsError
from ..ingest.scan import is_extra_name
from ..model import Edge, FactRow, Origin, RecallHit, SearchHit, citation

H = TypeVar("H", bound=SearchHit)

#: The memory of whoever started this agent; only the host knows whose that is.
PARENT = "parent"


@dataclass(frozen=True, slots=True)
class Source:
    """Another memory that may be read: that of ``agent`` in ``workspace``, shown as ``@name/…``.

    What it says counts as no more trusted than ``origin``; it is given unasked with ``unasked`` only.
    """

    name: str
    agent: str
    workspace: Path
    origin: Origin = Origin.AGENT
    unasked: bool = False


def check(settings: Settings, read_from: Sequence[str]) -> None:
    """Raise :class:`SettingsError` for names that cannot be shown, or stand for two things."""
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
    """What ``agent`` of ``workspace`` reads beside its own memory, and what to say of names that lead nowhere.

    ``parent`` is the agent that started it, where the host says so.  Its own memory is no other one.
    """
    known = {shared.name: shared for shared in settings.sharing.memories}
    found: list[Source] = []
    trouble: list[str] = []
    for name in dict.fromkeys(read_from):
        shared = known.get(name) or SharedMemory(name)
        if shared.readers and agent not in shared.readers:
            continue
        theirs = shared.agent or (parent if name == PARENT else name)
        if theirs is None:
            continue  # nobody started it
        folder = expanded(shared.workspace) if shared.workspace else _workspace_of(theirs)
        if folder is None:
            trouble.append(f"@{name}: not known; give it a workspace in sharing.memories, or name an agent of OpenClaw")
        elif (theirs, folder.resolve()) != (agent, workspace):
            found.append(Source(name, theirs, folder.resolve(), Origin(shared.origin), shared.context))
    return found, trouble


def _workspace_of(agent: str) -> Path | None:
    """The workspace of one of OpenClaw's agents; ``None`` for another name, whichever agent is the default."""
    home = OpenClawHome.for_environment()
    try:
        known = agents_in(home.config())
    except HostError:
        return None
    return home.workspace(agent) if agent_id(agent) in known else None


# -- how it is named here ---


def stands_in_itself(hit: SearchHit) -> bool:
    """Whether a hit stands in the memory itself: what it reads from other folders is not passed on."""
    return not hit.path.startswith("@")


def hit_of(hit: H, source: Source) -> H:
    """A hit of ``source`` as it is shown here."""
    path = named(hit.path, source)
    made = replace(
        hit,
        path=path,
        citation=citation(path, hit.start_line, hit.end_line),
        id=named(hit.id, source),
        origin=trusted(hit.origin, source),
        memory=source.name,
        also=tuple(replace(one, path=named(one.path, source)) for one in hit.also if not one.path.startswith("@")),
    )
    if isinstance(made, RecallHit):
        return replace(made, via=tuple(_edge(edge, source) for edge in made.via))
    return made


def fact_of(row: FactRow, source: Source) -> FactRow:
    """A fact of ``source`` as it is shown here."""
    return replace(
        row,
        id=named(row.id, source),
        origin=trusted(row.origin, source),
        source=None if row.source is None else named(row.source, source),
    )


def named(place: str, source: Source) -> str:
    """A path, citation or id of ``source`` as it is called here."""
    return f"@{source.name}/{place}"


def trusted(origin: Origin, source: Source) -> Origin:
    """The less trusted of what a text is there and of what ``source`` may be at most."""
    return max(origin, source.origin, key=list(Origin).index)


def _edge(edge: Edge, source: Source) -> Edge:
    """An edge whose places, not its names of concepts, are called as they are here."""
    places = {
        "references": [edge.source],
        "follows": [edge.source, edge.target],
        "derived_from": [edge.source, edge.target],
    }.get(edge.kind, [])
    if not places:
        return edge
    found = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return replace(
        edge,
        source=named(edge.source, source) if edge.source in places else edge.source,
        target=named(edge.target, source) if edge.target in places else edge.target,
        text=re.sub(found, lambda at: named(at[0], source), edge.text),
    )
