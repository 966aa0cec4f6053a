"""What every MCP host is told: the command of the server, and the change that registers it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..system import atomic
from . import HostError
from .change import read_text, writable

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


def changed(file: Path, before: str | None, after: str, then: str) -> Registration:
    """The registration that gives a file the text ``after``, or removes it when nothing but our entry was in it.

    Links are followed and the mode is kept.  Applying it raises :class:`HostError` when the file has changed since it
    was read, or cannot be written.
    """
    lines = _diff(str(file), (before or "").splitlines(), after.splitlines())

    def apply() -> None:
        if read_text(file) != before:
            raise HostError(f"{file}: it has changed meanwhile; run the command again")
        with writable(file):
            target = file.resolve()
            if after.strip("{} \t\r\n"):
                # New files are for their owner only: these hold commands that a host will run.
                atomic.swap(target, after.encode("utf-8"), 0o600)
            else:
                target.unlink(missing_ok=True)

    return Registration(str(file), lines, apply, then)


def entry_diff(where: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """The diff of one JSON entry, for a host that changes its file itself."""
    old, new = (
        [] if entry is None else json.dumps(entry, indent=2, ensure_ascii=False).split("\n")
        for entry in (before, after)
    )
    return _diff(where, old, new)


def _diff(where: str, old: list[str], new: list[str]) -> list[str]:
    """The changed lines with two lines of context, as ``diff -u`` prints them."""
    return list(difflib.unified_diff(old, new, where, where, lineterm="", n=2))
