"""Windsurf: ``~/.codeium/windsurf/mcp_config.json``."""

from __future__ import annotations

import os
from pathlib import Path

from . import HostError
from .mcp import Registration, Server, added_to_json, removed_from_json

TITLE = "Windsurf"
_THEN = "Windsurf's settings, Cascade, MCP servers: refresh the list"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    return added_to_json(_file(project), server, _THEN, typed=False)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    return removed_from_json(_file(project), _THEN)


def _file(project: Path | None) -> Path:
    if project is not None:
        raise HostError("Windsurf has no settings of a project; leave --project out")
    return Path(os.path.expanduser("~/.codeium/windsurf/mcp_config.json"))
