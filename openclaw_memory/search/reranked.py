"""The best hits ordered again by a cross-encoder, which reads the question and each of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..model import SearchHit
from ..store.api import Floats
from .display import monotone


def text_of(hit: SearchHit) -> str:
    """What is read of a hit: its headings and what is shown of it."""
    return f"{hit.heading}\n{hit.snippet}" if hit.heading else hit.snippet


def reordered(hits: Sequence[SearchHit], scores: Floats) -> list[SearchHit]:
    """``hits`` by their ``scores``, ``float32[n]``; those that tie stay as they are.

    What no longer holds, or has a summary, stays behind the rest, as it was put there for that.  The reported scores
    stay those of docs/ranking.md, lifted so that none rises with rank; ``why`` says what the reranker gave, if anything
    is explained.
    """
    order = sorted(range(len(hits)), key=lambda at: (bool(hits[at].superseded or hits[at].archived), -scores[at]))
    return monotone([_explained(hits[at], float(scores[at])) for at in order])


def _explained(hit: SearchHit, score: float) -> SearchHit:
    return hit if hit.why is None else replace(hit, why=f"{hit.why}; reranker {score:.2f}")
