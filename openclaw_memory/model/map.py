"""A page that shows the memory."""

from __future__ import annotations

from dataclasses import dataclass

#: What the name of an index has behind it where its map lies beside it.
BESIDE = ".map.html"


@dataclass(frozen=True, slots=True)
class MapReport:
    """What a map shows: of ``total_lines`` it holds ``lines`` to read and counts all; so with concepts.

    ``projected`` is the share of the variance that the two dimensions of its space keep, ``None`` without vectors, of
    which ``fallback`` says why.
    """

    file: str
    bytes: int
    lines: int
    total_lines: int
    concepts: int
    total_concepts: int
    facts: int
    projected: float | None = None
    seconds: float = 0.0
    fallback: str | None = None
    warning: str | None = None
