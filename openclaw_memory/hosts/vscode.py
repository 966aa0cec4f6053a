"""Visual Studio Code: ``servers`` in the user's ``mcp.json``, or in ``.vscode/mcp.json`` of a project."""

from __future__ import annotations

from pathlib import Path

from .mcp import Registration, Server, added_to_json, removed_from_json, user_folder

_SERVERS = "servers"

TITLE = "VS Code"
_THEN = "the command 'MCP: List Servers' of VS Code shows it, and starts it"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    return added_to_json(_file(project), server, _THEN, group=_SERVERS)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    return removed_from_json(_file(project), _THEN, group=_SERVERS)


def _file(project: Path | None) -> Path:
    return user_folder("Code") / "User" / "mcp.json" if project is None else project / ".vscode" / "mcp.json"
