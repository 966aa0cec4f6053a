"""What every MCP host is told: the command of the server, and the change that registers it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import NAME, HostError, backup
from .change import FileChange, read_text
from .json_edit import entry_in, load, remove_member, set_member

#: In JSON files of hosts the servers stand below this key.
SERVERS = "mcpServers"


@dataclass(frozen=True, slots=True)
class Server:
    """The command that a host starts: ``openclaw-memory … serve`` for one agent's workspace."""

    command: str
    workspace: Path
    agent: str = "main"
    config: Path | None = None

    def __post_init__(self) -> None:
        for text in (self.command, str(self.workspace), str(self.config or "")):
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise HostError(f"{text!r}: the path is not valid UTF-8 and cannot be written to a file") from error

    @property
    def args(self) -> list[str]:
        """Its arguments; paths are absolute, as a host starts it anywhere."""
        args = ["--workspace", str(self.workspace)]
        if self.agent != "main":
            args += ["--agent", self.agent]
        if self.config is not None:
            args += ["--config", str(self.config.absolute())]
        return [*args, "serve"]

    def entry(self, before: dict[str, Any] | None = None) -> dict[str, Any]:
        """Its JSON entry; what else a person wrote into the one ``before``, such as ``env``, is kept."""
        return {"type": "stdio", **(before or {}), "command": self.command, "args": self.args}


@dataclass(frozen=True, slots=True)
class Registration:
    """One change of a host's configuration: what it looks like, how it is made, and what comes then."""

    where: str
    lines: list[str]
    apply: Callable[[], None]
    then: str

    @property
    def needed(self) -> bool:
        """Whether anything changes."""
        return bool(self.lines)


def added(file: Path, before: str | None, after: str, new: bool, then: str) -> Registration:
    """The registration that writes our entry into a file; ``new`` unless it has one."""
    change = FileChange(file, before, after)

    def apply() -> None:
        backup.keep(file, before, after, new)
        change.write()

    return Registration(str(file), change.diff() if change.needed else [], apply, then)


def removed(file: Path, before: str | None, after: str, empty: bool, then: str) -> Registration:
    """The registration that takes our entry out of a file, and the ``empty`` file if setup has made it.

    A file that nobody has changed since setup is put back as it was.
    """
    change, kept = FileChange(file, before, after), backup.kept(file)
    if kept is not None and after != (before or ""):
        wanted = kept.text if kept.is_of(before) else None if kept.text is None and empty else after
        change = FileChange(file, before, wanted, tuple(map(Path, kept.folders)))

    def apply() -> None:
        change.write()
        backup.drop(file)

    return Registration(str(file), change.diff() if change.needed else [], apply, then)


def added_to_json(file: Path, server: Server, then: str, group: str = SERVERS) -> Registration:
    """:func:`added` for a JSON file with the servers below ``group``."""
    text = read_text(file)
    before = entry_in(text or "", file, group, NAME)
    after = set_member(text or "", file, group, NAME, server.entry(before))
    return added(file, text, after, before is None, then)


def removed_from_json(file: Path, then: str, group: str = SERVERS) -> Registration:
    """:func:`removed` for a JSON file with the servers below ``group``."""
    text = read_text(file)
    after = remove_member(text or "", file, group, NAME)
    return removed(file, text, after, not load(after, file), then)


def entry_diff(where: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """The diff of one JSON entry, for a host that changes its file itself."""
    old, new = (
        [] if entry is None else json.dumps(entry, indent=2, ensure_ascii=False).split("\n")
        for entry in (before, after)
    )
    return list(difflib.unified_diff(old, new, where, where, lineterm="", n=2))
