"""Facts, found and stated, with the days on which they hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from .notes import Origin


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A statement that a rule found in a unit."""

    subject: str
    predicate: str
    object: str
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact as it is known: ``current`` unless something superseded, ended or removed it.

    ``rule`` is ``stated`` for what an agent or person wrote; ``source`` a citation, where there is one;
    ``valid_from`` and ``valid_to`` are days, the latter exclusive: on that day something else holds.
    """

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    origin: Origin
    rule: str
    source: str | None
    valid_from: date | None
    valid_to: date | None
    current: bool
    superseded_by: str | None = None
    #: When it was written down: the time of a statement, the day of a dated note.
    recorded_at: str | None = None
    #: The id of another value of the same that is newer, and of which it is not certain that it ends this one.
    newer: str | None = None
    #: What a heading above its subject names, of which it is rather than of others that are called so.
    under: str | None = None
    #: Why it is there, in one line.
    why: str | None = None


@dataclass(frozen=True, slots=True)
class FactsResult:
    """Facts, and for a change how many it added, ended or removed."""

    rows: tuple[FactRow, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    took_ms: float = 0.0
    warning: str | None = None
