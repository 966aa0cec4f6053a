"""What of a turn was kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Captured:
    """A sentence that was kept of a turn: where it was written, and why it was worth it, in [0, 1]."""

    text: str
    score: float
    citation: str


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """What was kept of a turn; ``seen`` counts its sentences, ``skipped`` says why nothing was looked at.

    ``not_kept`` are the first of the other sentences.
    """

    captured: tuple[Captured, ...] = ()
    path: str | None = None
    seen: int = 0
    took_ms: float = 0.0
    skipped: str | None = None
    warning: str | None = None
    not_kept: tuple[str, ...] = ()
