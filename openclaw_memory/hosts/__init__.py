"""The programs that use this memory: how each is told of it, and how that is undone."""

from __future__ import annotations

from ..errors import OpenClawMemoryError

#: The name under which every host knows this memory: OpenClaw's plugin id, and the MCP server's name.
NAME = "openclaw-memory"

HOSTS = ("openclaw", "claude-code", "codex", "cursor")


class HostError(OpenClawMemoryError):
    """A host is missing, too old, or its configuration cannot be read or changed."""
