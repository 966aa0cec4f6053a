"""What every MCP host is told: the command of the server, and the change that registers it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import HostError
from .change import FileChange

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
    remarks: list[str] = field(default_factory=list)

    @property
    def needed(self) -> bool:
        """Whether anything changes."""
        return bool(self.lines)


def of_file(change: FileChange, then: str) -> Registration:
    """The registration that is a change of one file."""
    return Registration(str(change.file), change.diff() if change.needed else [], change.write, then)


def entry_diff(where: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """The diff of one JSON entry, for a host that changes its file itself."""
    old, new = (
        [] if entry is None else json.dumps(entry, indent=2, ensure_ascii=False).split("\n")
        for entry in (before, after)
    )
    return list(difflib.unified_diff(old, new, where, where, lineterm="", n=2))
