"""What is relevant to a message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from .facts import FactRow
from .search import SearchHit


@dataclass(frozen=True, slots=True)
class ContextResult:
    """What is relevant to a message, in sentences; empty when nothing is.

    ``entities`` are the names of known concepts in the message; ``tokens`` the length of ``text``;
    ``skipped`` says why there is none, if there is a reason beside "nothing relevant".
    """

    text: str
    tokens: int
    entities: tuple[str, ...]
    sources: tuple[SearchHit, ...]
    facts: tuple[FactRow, ...] = ()
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How ambient context was used since a day: ``share`` of the messages that got some, tokens.

    ``late`` counts calls that were not done by their deadline.
    """

    since: date | None
    messages: int
    with_context: int
    share: float
    entities_per_message: float
    tokens_per_context: float
    late: int
