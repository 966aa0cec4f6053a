"""How long a text is, and its two ends."""

from __future__ import annotations

CHARS_PER_TOKEN = 4


def ends(text: str, first: int, last: int) -> str:
    """All of ``text``, or of a longer one its ``first`` and its ``last`` characters."""
    return text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"


def tokens_of(text: str) -> float:
    """Length of ``text`` in tokens of four characters."""
    return len(text) / CHARS_PER_TOKEN
