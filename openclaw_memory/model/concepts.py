"""Concepts as they are listed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """A concept: found in the notes or curated; ``units`` mention it, ``related`` are the closest others.

    ``reason`` says in one line why it is a concept.
    """

    slug: str
    name: str
    kind: str | None
    curated: bool
    units: int
    aliases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None
    score: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConceptsResult:
    """Concepts, and what a change of them did: ``linked`` units got or lost a reference."""

    rows: tuple[ConceptRow, ...]
    total: int
    linked: int = 0
    took_ms: float = 0.0
    warning: str | None = None
