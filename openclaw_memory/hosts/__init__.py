"""Hosts, the programs that use this memory: register it in their configuration, and take it out again."""

from __future__ import annotations

from ..errors import HostError as HostError
from ..version import NAME as NAME

HOSTS = ("openclaw", "claude-code", "codex", "cursor", "gemini", "opencode", "vscode", "hermes")
