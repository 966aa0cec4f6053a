"""Claude Desktop: ``claude_desktop_config.json`` in the folder of its settings."""

from __future__ import annotations

from pathlib import Path

from . import HostError
from .mcp import Registration, Server, added_to_json, removed_from_json, user_folder

TITLE = "Claude Desktop"
_THEN = "quit Claude Desktop and start it again"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    return added_to_json(_file(project), server, _THEN, typed=False)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    return removed_from_json(_file(project), _THEN)


def _file(project: Path | None) -> Path:
    if project is not None:
        raise HostError("Claude Desktop has no settings of a project; leave --project out")
    return user_folder("Claude") / "claude_desktop_config.json"
