"""Helpers for messages, and progress callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(parts: Sequence[str]) -> str | None:
    """Join ``parts`` with semicolons; ``None`` without any."""
    return "; ".join(parts) or None


#: ``progress(stage, done, total)``: files read, units embedded, bytes of a model.
Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""
