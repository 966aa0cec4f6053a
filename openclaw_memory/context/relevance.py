"""How surely a message is about what the notes know, told from how it is found in them.

A logistic regression (Cox, 1958) over signs, none of which is a word of a language.  Where the model knows the
language of the message, :data:`WEIGHTS` decide, fitted with both models that are chosen by themselves on notes in seven
languages; elsewhere :data:`ALONE`, by words, fitted on notes in eight.  ``docs/context.md`` says on how many messages,
and how they do on those that they were not fitted on; ``benchmarks/relevance.py`` fits them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, log1p

import numpy as np

from ..index.corpus import Corpus
from ..search.confidence import Parts
from ..search.engine import Ranked
from ..store.api import Bools, Floats
from .evidence import Evidence

#: What each sign counts beside vectors, and what all messages begin with.
WEIGHTS: dict[str, float] = {
    "first": 0.723,
    "score": 0.929,
    "words": 1.447,
    "stranger": -0.371,
    "meaning": 4.028,
    "clear": 11.418,
    "together": 0.931,
    "agreement": 0.825,
    "files": -1.172,
}
BIAS = -8.656
#: The same without vectors, or with those of a model that does not know the language.
ALONE: dict[str, float] = {
    "matched": 1.676,
    "share": -2.637,
    "unknown": -1.842,
    "stranger": -0.891,
    "score": 0.564,
    "agreement": 0.685,
    "knowledge": -2.270,
    "size": -0.283,
}
BIAS_ALONE = 0.623

#: More words than these in one place say no more.
_MOST = 5
#: A model that knows less of the message's language says nothing of its meaning.
KNOWN = 0.6
#: Added to a score before its logarithm is taken.
_LEAST = 0.02
#: Rows that tell what notes have in common with a message as well as what is known of unrelated texts.
_TELLING = 20
#: So many of the best rows by words, and by meaning, may be the same.
_COMPARED = 20


def signs(
    ranked: Ranked,
    evidence: Evidence | None,
    best: Sequence[tuple[int, Parts]],
    noise: float,
    corpus: Corpus,
    allowed: Bools,
) -> dict[str, float]:
    """What tells of a message; ``best`` are its best rows, best first, and ``noise`` the cosine of unrelated texts.

    Of its words: ``matched`` is the most of them around one row, ``first`` that around the best one, ``share`` that of
    all words, ``words`` the logarithm of how many those are, ``unknown`` the share of those that no note has, and
    ``stranger`` whether one of these is a name.  ``score`` is the logarithm of the highest reported score,
    ``agreement`` the highest fused one, which is high where the signals of the search meet in one row, and ``files`` in
    how many files the best rows stand, as a share of them: what is about one thing stands together.  ``size`` is the
    logarithm of the number of rows: of many some match by chance.

    Of its meaning: ``meaning`` is how far the highest cosine is from ``noise`` to 1, as a share, ``clear`` the same
    from what the notes have in common with this message (a few notes tell little of that: then from ``noise`` too),
    ``together`` the logarithm of how many rows are among the best by words and by meaning both, and ``knowledge`` how
    well the model knows the language, all 0 without vectors.
    """
    rows = [row for row, _ in best]
    words = max(1, evidence.words) if evidence is not None else 1
    held = [min(_MOST, evidence.matched(row)) for row in rows] if evidence is not None else []
    matched = max(held, default=0)
    knowledge = ranked.features.knowledge if ranked.similarities is not None else 0.0
    told = {
        "matched": float(matched),
        "first": float(held[0]) if held else 0.0,
        "share": matched / words,
        "words": log1p(evidence.words) if evidence is not None else 0.0,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "stranger": float(evidence is not None and evidence.strange),
        "score": log(_LEAST + max((parts.score for _, parts in best), default=0.0)),
        "agreement": float(ranked.score[rows[0]]) if rows else 0.0,
        "files": len(set(corpus.rows.document_id[rows].tolist())) / len(rows) if rows else 0.0,
        "size": log(max(1, len(ranked.score))),
        "meaning": 0.0,
        "clear": 0.0,
        "together": 0.0,
        "knowledge": knowledge,
    }
    if rows and knowledge > KNOWN:
        told |= _of_meaning(ranked, best, noise, allowed)
    return told


def _of_meaning(ranked: Ranked, best: Sequence[tuple[int, Parts]], noise: float, allowed: Bools) -> dict[str, float]:
    """The signs that only vectors give."""
    features, similarities = ranked.features, ranked.similarities
    if features.cosine is None or similarities is None:
        return {}
    rows = int(allowed.sum())
    common = (rows * float(features.noise.max()) + _TELLING * noise) / (rows + _TELLING)
    highest = max(parts.vector or 0.0 for _, parts in best)
    told = {
        "meaning": (highest - noise) / (1 - noise),
        "clear": (float(features.cosine[allowed].max()) - common) / (1 - common),
    }
    if features.keyword is not None:
        both = _highest(features.keyword.unit[allowed]) & _highest(np.nan_to_num(similarities[allowed]))
        told["together"] = log1p(len(both))
    return told


def _highest(values: Floats) -> set[int]:
    """Places of the highest values that are above 0."""
    most = min(_COMPARED, len(values))
    places = np.argpartition(-values, most - 1)[:most]
    return set(places[values[places] > 0].tolist())


def sureness(told: Mapping[str, float]) -> float:
    """The probability that a message with these signs is about the notes, in (0, 1)."""
    weights, bias = (WEIGHTS, BIAS) if told["knowledge"] > KNOWN else (ALONE, BIAS_ALONE)
    return 1 / (1 + exp(-bias - sum(weight * told[name] for name, weight in weights.items())))
