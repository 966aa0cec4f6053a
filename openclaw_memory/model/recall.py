"""The thread behind an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .search import SearchHit, SearchResult

#: A thread starts from so many sections at most, and without a budget it is as long as so many hits.
SEEDS = 5

EdgeKind = Literal["references", "related_to", "parent_of", "follows", "derived_from"]


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of a thread: from what, to what, how strong in [0, 1], and the same in words.

    ``source`` and ``target`` are citations (``path#L3-L9``) or names of concepts.
    """

    kind: EdgeKind
    source: str
    target: str
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class RecallHit(SearchHit):
    """A hit of a thread: the edges that lead to it from a hit of the question, which has ``distance`` 0.

    ``score`` compares the stops of one thread.  ``relevance`` is what a search would report: how surely the hit itself
    answers, in [0, 1].
    """

    via: tuple[Edge, ...] = ()
    distance: int = 0
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class RecallResult(SearchResult):
    """A thread in order of time, and what answered the question that it starts from."""

    results: tuple[RecallHit, ...]
