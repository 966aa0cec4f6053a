"""Cursor: ``~/.cursor/mcp.json`` for every project, ``.cursor/mcp.json`` for one."""

from __future__ import annotations

import os
from pathlib import Path

from .mcp import Registration, Server, added_to_json, removed_from_json

TITLE = "Cursor"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    return added_to_json(_file(project), server, "Cursor reads it at once: Settings > MCP shows it with its tools")


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    return removed_from_json(_file(project), "Cursor reads it at once")


def _file(project: Path | None) -> Path:
    return (project or Path(os.path.expanduser("~"))) / ".cursor" / "mcp.json"
