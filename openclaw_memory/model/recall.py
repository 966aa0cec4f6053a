"""Results of recall: the thread behind an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .search import SearchHit, SearchResult

#: Most sections that a thread starts from; without a budget it is as long as so many hits.
SEEDS = 5

EdgeKind = Literal["references", "related_to", "parent_of", "follows", "derived_from"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step of a thread: its ends, its weight in [0, 1], and its description.

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

    ``score`` is comparable within one thread.  ``relevance`` is the score of a search, in [0, 1].
    """

    via: tuple[Edge, ...] = ()
    distance: int = 0
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class RecallResult(SearchResult):
    """A thread in order of time, and the model and mode that found its start."""

    results: tuple[RecallHit, ...]
