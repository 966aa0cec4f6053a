"""Codex: the table ``[mcp_servers.openclaw-memory]`` of ``config.toml`` in ``$CODEX_HOME`` or ``~/.codex``."""

from __future__ import annotations

import os
from pathlib import Path

from . import NAME
from .change import FileChange, member, read_text
from .made import around
from .mcp import Registration, Server, added, removed
from .toml_edit import KIND, load, remove_table, set_table

TITLE = "Codex"
_TABLE = "mcp_servers"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    file = _file(project)
    text = read_text(file)
    after = set_table(text or "", file, _TABLE, NAME, {"command": server.command, "args": server.args})
    then = "restart Codex; '/mcp' shows it with its tools"
    if project is not None:
        then += ". Codex reads a project's file only when the project is trusted"
    there = member(load(text or "", file), _TABLE, NAME, file, KIND) is not None
    return added(FileChange(file, text, after), None if there else around(file, group_there=True), then)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    file = _file(project)
    text = read_text(file)
    after = remove_table(text or "", file, _TABLE, NAME)
    return removed(file, text, after, not after.strip(), "restart Codex")


def _file(project: Path | None) -> Path:
    if project is not None:
        return project / ".codex" / "config.toml"
    return Path(os.path.expanduser(os.environ.get("CODEX_HOME") or "~/.codex")) / "config.toml"
