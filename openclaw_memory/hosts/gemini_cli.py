"""Gemini CLI: ``~/.gemini/settings.json`` for every project, ``.gemini/settings.json`` for one."""

from __future__ import annotations

import os
from pathlib import Path

from .mcp import Registration, Server, added_to_json, removed_from_json

TITLE = "Gemini CLI"
_THEN = "restart Gemini CLI; '/mcp' shows its servers"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    return added_to_json(_file(project), server, _THEN, typed=False)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    return removed_from_json(_file(project), _THEN)


def _file(project: Path | None) -> Path:
    return (project or Path(os.path.expanduser("~"))) / ".gemini" / "settings.json"
