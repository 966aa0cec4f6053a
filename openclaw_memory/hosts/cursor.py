"""Cursor: ``~/.cursor/mcp.json`` for every project, ``.cursor/mcp.json`` for one."""

from __future__ import annotations

import os
from pathlib import Path

from . import NAME
from .change import FileChange, read_text
from .json_edit import entry_in, remove_member, set_member
from .mcp import SERVERS, Registration, Server, of_file

TITLE = "Cursor"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    file = _file(project)
    text = read_text(file)
    before = entry_in(text or "", file, SERVERS, NAME)
    after = set_member(text or "", file, SERVERS, NAME, server.entry(before))
    return of_file(FileChange(file, text, after), "Cursor reads it at once: Settings > MCP shows it with its tools")


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    file = _file(project)
    text = read_text(file)
    change = FileChange(file, text, remove_member(text or "", file, SERVERS, NAME))
    return of_file(change, "Cursor reads it at once")


def _file(project: Path | None) -> Path:
    return (project or Path(os.path.expanduser("~"))) / ".cursor" / "mcp.json"
