"""Hosts that keep their MCP servers in a JSON file of their own, and read it by themselves."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from . import HostError
from .mcp import SERVERS, Registration, Server, added_to_json, removed_from_json


@dataclass(frozen=True, slots=True)
class JsonHost:
    """A host: where its ``user`` file is, and within a project its ``project`` file, if it has such.

    The servers stand below ``group``; where not ``typed``, no entry says ``stdio``.  ``then`` is what a person does
    afterwards.
    """

    TITLE: str
    user: Callable[[], Path]
    project: str | None
    then: str
    group: str = SERVERS
    typed: bool = False

    def register(self, server: Server, project: Path | None) -> Registration:
        """Add the server, or bring its command up to date.  Raises :class:`HostError`."""
        return added_to_json(self._file(project), server, self.then, group=self.group, typed=self.typed)

    def unregister(self, project: Path | None) -> Registration:
        """Take the server out again.  Raises :class:`HostError`."""
        return removed_from_json(self._file(project), self.then, group=self.group)

    def _file(self, project: Path | None) -> Path:
        if project is None:
            return self.user()
        if self.project is None:
            raise HostError(f"{self.TITLE} has no settings of a project; leave --project out")
        return project / self.project


def _at_home(path: str) -> Callable[[], Path]:
    return lambda: Path(os.path.expanduser("~"), path)


def _of_user(program: str, path: str) -> Callable[[], Path]:
    """Where a desktop ``program`` keeps the settings of its user on this system."""
    return lambda: Path(platformdirs.user_config_dir(program, appauthor=False, roaming=True), path)


JSON_HOSTS = {
    "cursor": JsonHost(
        "Cursor",
        _at_home(".cursor/mcp.json"),
        ".cursor/mcp.json",
        "Cursor reads it at once: Settings > MCP shows it with its tools",
        typed=True,
    ),
    "vscode": JsonHost(
        "VS Code",
        _of_user("Code", "User/mcp.json"),
        ".vscode/mcp.json",
        "the command 'MCP: List Servers' of VS Code shows it, and starts it",
        group="servers",
        typed=True,
    ),
    "claude-desktop": JsonHost(
        "Claude Desktop",
        _of_user("Claude", "claude_desktop_config.json"),
        None,
        "quit Claude Desktop and start it again",
    ),
    "gemini-cli": JsonHost(
        "Gemini CLI",
        _at_home(".gemini/settings.json"),
        ".gemini/settings.json",
        "restart Gemini CLI; '/mcp' shows its servers",
    ),
    "windsurf": JsonHost(
        "Windsurf",
        _at_home(".codeium/windsurf/mcp_config.json"),
        None,
        "Windsurf's settings, Cascade, MCP servers: refresh the list",
    ),
}
