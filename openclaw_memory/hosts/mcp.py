"""Register the MCP server with a host: plan the change of its configuration, show it, apply it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs

from ..records import dataclass
from . import NAME, HostError, config_file

#: The key of the servers in the JSON files of most hosts.
SERVERS = "mcpServers"


@dataclass(frozen=True, slots=True)
class Server:
    """The command that a host starts: ``openclaw-memory … serve`` for one agent's workspace.

    With ``capture`` turns are captured; without ``workspace`` it is looked for where the command starts.
    """

    command: str
    workspace: Path | None
    agent: str = "main"
    config: Path | None = None
    capture: bool = False

    def __post_init__(self) -> None:
        for text in (self.command, str(self.workspace or ""), str(self.config or "")):
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise HostError(f"{text!r}: the path is not valid UTF-8 and cannot be written to a file") from error

    @property
    def args(self) -> list[str]:
        """Its arguments; paths are absolute, as a host starts it anywhere."""
        return [*self._options(), "serve"]

    def hook(self, host: str) -> list[str]:
        """Return the command that answers the events of ``host``; a server that it starts has the same settings."""
        return [self.command, "hook", *self._options(), host]

    def _options(self) -> list[str]:
        options = ["--workspace", str(self.workspace)] if self.workspace is not None else []
        if self.agent != "main":
            options += ["--agent", self.agent]
        if self.config is not None:
            options += ["--config", str(self.config.absolute())]
        return options + (["--set", "capture.enabled=true"] if self.capture else [])

    def entry(self, before: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return its JSON entry; further keys of the entry ``before``, such as ``env``, are kept."""
        return {"type": "stdio", **(before or {}), "command": self.command, "args": self.args}


@dataclass(frozen=True, slots=True)
class Registration:
    """A planned change of a host's configuration: its place, its diff, its action, and the person's next step.

    The diff is empty if there is nothing to change.
    """

    location: str
    diff: list[str]
    apply: Callable[[], None]
    next_step: str


def plan_addition(file: Path, before: str | None, after: str, new: bool, next_step: str) -> Registration:
    """Plan to write ``after``, which holds our entry, into ``file``; ``new`` unless ``before`` has one."""

    def apply() -> None:
        config_file.remember_original(file, before, after, new)
        config_file.write_change(file, before, after)

    return Registration(str(file), _diff(str(file), before, after), apply, next_step)


def plan_removal(file: Path, before: str | None, after: str, empty: bool, next_step: str) -> Registration:
    """Plan to restore ``file``, or to write ``after``, which lacks our entry and may be ``empty``."""
    text, folders = config_file.text_after_uninstall(file, before, after, empty)

    def apply() -> None:
        config_file.write_change(file, before, text, folders)
        config_file.forget_original(file)

    return Registration(str(file), _diff(str(file), before, text), apply, next_step)


def add_to_json(file: Path, server: Server, next_step: str, group: str = SERVERS) -> Registration:
    """Plan to add the server to a JSON file with the servers below ``group``, or to bring its command up to date."""
    text = config_file.read_text(file)
    before = config_file.entry_in(text or "", file, group, NAME)
    after = config_file.set_member(text or "", file, group, NAME, server.entry(before))
    return plan_addition(file, text, after, before is None, next_step)


def remove_from_json(file: Path, next_step: str, group: str = SERVERS) -> Registration:
    """Plan to take the server out of a JSON file with the servers below ``group``."""
    text = config_file.read_text(file)
    after = config_file.remove_member(text or "", file, group, NAME)
    return plan_removal(file, text, after, not config_file.load(after, file), next_step)


def entry_diff(location: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """Return the diff of one JSON entry, for a host that changes its file itself."""
    old, new = (None if entry is None else json.dumps(entry, indent=2, ensure_ascii=False) for entry in (before, after))
    return _diff(location, old, new)


def _diff(location: str, before: str | None, after: str | None) -> list[str]:
    """Return the changed lines with two lines of context, as ``diff -u`` prints them."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    return list(difflib.unified_diff(old, new, location, location, lineterm="", n=2))


@dataclass(frozen=True, slots=True)
class JsonHost:
    """A host with its MCP servers below ``group`` in a JSON file that it reads by itself: ``user`` or ``project``."""

    TITLE: str
    user: Callable[[], Path]
    project: str
    next_step: str
    group: str = SERVERS

    def register(self, server: Server, project: Path | None) -> Registration:
        """Plan to add the server, or to bring its command up to date.  Raises :class:`HostError`."""
        return add_to_json(self._file(project), server, self.next_step, self.group)

    def unregister(self, project: Path | None) -> Registration:
        """Plan to take the server out again.  Raises :class:`HostError`."""
        return remove_from_json(self._file(project), self.next_step, self.group)

    def _file(self, project: Path | None) -> Path:
        return self.user() if project is None else project / self.project


JSON_HOSTS = {
    "cursor": JsonHost(
        "Cursor",
        lambda: Path("~/.cursor/mcp.json").expanduser(),
        ".cursor/mcp.json",
        "Cursor reads it at once: Settings > MCP shows it with its tools",
    ),
    "vscode": JsonHost(
        "VS Code",
        lambda: Path(platformdirs.user_config_dir("Code", appauthor=False, roaming=True), "User/mcp.json"),
        ".vscode/mcp.json",
        "the command 'MCP: List Servers' of VS Code shows it, and starts it",
        "servers",
    ),
}
