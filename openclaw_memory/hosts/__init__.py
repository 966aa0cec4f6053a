"""The programs that use this memory: how each is told of it, and how that is undone."""

from __future__ import annotations

from ..errors import HostError as HostError
from ..version import NAME as NAME

HOSTS = ("openclaw", "claude-code", "codex", "cursor", "vscode")
