"""How surely a message is about what the notes know, told from how it is found in them.

A logistic regression (Cox, 1958) over nine signs, none of which is a word of a language.  Its weights were fitted on
19 public workspaces in eight languages: ``docs/context.md`` says on how many messages, and how it does on those that it
was not fitted on; ``benchmarks/relevance.py`` fits it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from ..search.confidence import Parts
from ..search.engine import Ranked
from .evidence import Evidence

#: What each sign counts, and what all messages begin with.
WEIGHTS: dict[str, float] = {
    "matched": 1.676,
    "share": -2.637,
    "unknown": -1.842,
    "stranger": -0.891,
    "score": 0.564,
    "agreement": 0.685,
    "meaning": 3.786,
    "knowledge": -2.270,
    "size": -0.283,
}
BIAS = 0.623

#: More words than these in one place say no more.
_MOST = 5
#: A model that knows less of the message's language says nothing of its meaning.
_KNOWN = 0.6
#: Added to a score before its logarithm is taken.
_LEAST = 0.02


def signs(
    ranked: Ranked, evidence: Evidence | None, best: Sequence[tuple[int, Parts]], noise: float
) -> dict[str, float]:
    """What tells of a message; ``best`` are its best rows, best first, and ``noise`` the cosine of unrelated texts.

    ``matched`` is the most of its words around one row, ``share`` that of all its words, ``unknown`` the share of words
    that no note has, and ``stranger`` whether one of those is a name; ``score`` the logarithm of the highest reported
    score, ``agreement`` the highest fused one, which is high where the signals of the search meet in one row;
    ``meaning`` how far the highest cosine is from ``noise`` to 1, as a share, and ``knowledge`` how well the model
    knows the language, 0 without vectors.  ``size`` is the logarithm of the number of rows: of many some match by
    chance.
    """
    vectors = ranked.similarities is not None
    knowledge = ranked.features.knowledge if vectors else 0.0
    words = max(1, evidence.words) if evidence is not None else 1
    matched = min(_MOST, max((evidence.matched(row) for row, _ in best), default=0)) if evidence is not None else 0
    cosine = max((parts.vector or 0.0 for _, parts in best), default=0.0)
    return {
        "matched": float(matched),
        "share": matched / words,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "stranger": float(evidence is not None and evidence.strange),
        "score": log(_LEAST + max((parts.score for _, parts in best), default=0.0)),
        "agreement": float(ranked.score[best[0][0]]) if best else 0.0,
        "meaning": (cosine - noise) / (1 - noise) if vectors and knowledge > _KNOWN else 0.0,
        "knowledge": knowledge,
        "size": log(max(1, len(ranked.score))),
    }


def sureness(told: Mapping[str, float]) -> float:
    """The probability that a message with these signs is about the notes, in (0, 1)."""
    return 1 / (1 + exp(-BIAS - sum(WEIGHTS[name] * value for name, value in told.items())))
