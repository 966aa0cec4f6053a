"""Hosts that keep their MCP servers in a JSON file of their own, and read it by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from .mcp import SERVERS, Registration, Server, added_to_json, removed_from_json


@dataclass(frozen=True, slots=True)
class JsonHost:
    """A host: its ``user`` file, and its ``project`` file within a project.

    The servers stand below ``group``; ``then`` is what a person does afterwards.
    """

    TITLE: str
    user: Callable[[], Path]
    project: str
    then: str
    group: str = SERVERS

    def register(self, server: Server, project: Path | None) -> Registration:
        """Add the server, or bring its command up to date.  Raises :class:`HostError`."""
        return added_to_json(self._file(project), server, self.then, self.group)

    def unregister(self, project: Path | None) -> Registration:
        """Take the server out again.  Raises :class:`HostError`."""
        return removed_from_json(self._file(project), self.then, self.group)

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
