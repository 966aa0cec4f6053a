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

from ..embed.general import General
from ..search.confidence import Parts
from ..search.engine import Ranked
from ..store.api import Bools, Floats
from .evidence import Evidence

#: What each sign counts beside vectors, and what all messages begin with.
WEIGHTS: dict[str, float] = {
    "first": 0.38,
    "words": 1.969,
    "stranger": -1.572,
    "size": -0.495,
    "near": 5.917,
    "general": -15.391,
    "clear": 10.816,
    "together": 1.224,
    "agreement": 1.621,
}
BIAS = -5.43
#: The same without vectors, or with those of a model that does not know the language, or was not compared yet.
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
#: Nor does it say more that a message is closer than this to what is said to any assistant.
_GENERAL = 0.5
#: A model that knows less of the message's language says nothing of its meaning.
KNOWN = 0.8
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
    general: General | None,
    allowed: Bools,
) -> dict[str, float]:
    """What tells of a message; ``best`` are its best rows, best first, ``noise`` is the cosine of unrelated texts, and
    ``general`` how close the message is to what is said to any assistant.

    Of its words: ``matched`` is the most of them around one row, ``first`` that around the best one, ``share`` that of
    all words, ``words`` the logarithm of how many those are, ``unknown`` the share of those that no note has, and
    ``stranger`` whether one of these is a name.  ``score`` is the logarithm of the highest reported score, and
    ``agreement`` the highest fused one, which is high where the signals of the search meet in one row.  ``size`` is the
    logarithm of the number of rows: of many some match by chance.

    Of its meaning: ``near`` is how much closer it is to a row than to what is said to any assistant in the mean,
    ``general`` how much closer it is to one of those texts, and ``clear`` how far the highest cosine of a window is
    from what the notes have in common with this message to 1 (a few notes tell little of that: then from ``noise``
    too), all as shares; ``together`` is the logarithm of how many rows are among the best by words and by meaning both,
    and ``knowledge`` how well the model knows the language; all 0 without vectors.
    """
    rows = [row for row, _ in best]
    words = max(1, evidence.words) if evidence is not None else 1
    held = [min(_MOST, evidence.matched(row)) for row in rows] if evidence is not None else []
    matched = max(held, default=0)
    knowledge = ranked.features.knowledge if ranked.similarities is not None and general is not None else 0.0
    told = {
        "matched": float(matched),
        "first": float(held[0]) if held else 0.0,
        "share": matched / words,
        "words": log1p(evidence.words) if evidence is not None else 0.0,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "stranger": float(evidence is not None and evidence.strange),
        "score": log(_LEAST + max((parts.score for _, parts in best), default=0.0)),
        "agreement": float(ranked.score[rows[0]]) if rows else 0.0,
        "size": log(max(1, len(ranked.score))),
        "near": 0.0,
        "general": 0.0,
        "clear": 0.0,
        "together": 0.0,
        "knowledge": knowledge,
    }
    if rows and general is not None and knowledge > KNOWN:
        told |= _of_meaning(ranked, noise, general, allowed)
    return told


def _of_meaning(ranked: Ranked, noise: float, general: General, allowed: Bools) -> dict[str, float]:
    """The signs that only vectors give."""
    features, similarities = ranked.features, ranked.similarities
    if features.cosine is None or similarities is None:
        return {}
    rows = int(allowed.sum())
    common = (rows * float(features.noise.max()) + _TELLING * noise) / (rows + _TELLING)
    own = np.nan_to_num(similarities[allowed])
    told = {
        "near": (float(own.max()) - general.mean) / (1 - noise),
        "general": min(_GENERAL, (general.highest - general.mean) / (1 - noise)),
        "clear": (float(features.cosine[allowed].max()) - common) / (1 - common),
    }
    if features.keyword is not None:
        both = _highest(features.keyword.unit[allowed]) & _highest(own)
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
