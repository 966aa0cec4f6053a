"""What a host tells: sessions, heartbeats, replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .notes import IngestReport


@dataclass(frozen=True, slots=True)
class Replied:
    """How many of the hits that were given lately a reply quotes: those count as used."""

    quoted: int


@dataclass(frozen=True, slots=True)
class Session:
    """The host's session that a hook is told about; ``deadline`` is what the hooks have in all, in seconds."""

    id: str
    agent: str
    reason: str = "start"
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """What the plugins did when a session began; ``report`` is that of the ingest."""

    report: IngestReport | None
    took_ms: float


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What the plugins did when the host was idle: whatever each of them returned."""

    ran: tuple[Any, ...]
    took_ms: float
