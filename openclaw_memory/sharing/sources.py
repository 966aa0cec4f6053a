"""Which other memories an agent reads: the names that ``sharing.read_from`` lists, found and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config.openclaw_home import OpenClawHome, agent_id, agents_in
from ..config.settings import Settings, SharedMemory
from ..config.workspace import expanded
from ..errors import HostError, SettingsError
from ..ingest.scan import is_extra_name
from ..model import Origin

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
    home = OpenClawHome.of()
    try:
        known = agents_in(home.config())
    except HostError:
        return None
    return home.workspace(agent) if agent_id(agent) in known else None
