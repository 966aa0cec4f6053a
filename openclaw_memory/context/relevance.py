"""How surely a message is about what the notes know, told from how it is found in them.

A logistic regression (Cox, 1958) over signs, none of which is a word of a language.  Where the model knows the
language of the message, :data:`WEIGHTS` decide, fitted with both models that are chosen by themselves on notes in seven
languages; elsewhere :data:`ALONE`, by words, fitted on notes in eight.  ``docs/context.md`` says on how many messages,
and how they do on those that they were not fitted on; ``benchmarks/relevance.py`` fits them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, log, log1p

import numpy as np

from ..embed.general import General
from ..search.confidence import Parts
from ..search.engine import Ranked
from ..store.api import Bools, Floats, Ints
from .evidence import Evidence

#: What each sign counts beside vectors, and what all messages begin with.
WEIGHTS: dict[str, float] = {
    "words": 1.041,
    "stranger": -1.623,
    "few": 1.5,
    "own": 3.133,
    "general": -9.016,
    "apart": 6.632,
    "particular": 1.585,
    "shared": 2.086,
    "agreement": 1.811,
}
BIAS = -7.287
#: The same without vectors, or with those of a model that does not know the language, or was not compared yet.
ALONE: dict[str, float] = {
    "matched": 1.676,
    "share": -2.637,
    "unknown": -1.842,
    "stranger": -0.891,
    "score": 0.564,
    "agreement": 0.689,
    "knowledge": -2.270,
    "size": -0.283,
}
BIAS_ALONE = 0.880

#: Probability from which a message is about the notes, and gets what answers it.
SURE = 0.65
#: More words than these in one place say no more.
_MOST = 5
#: A model that knows less of the message's language says nothing of its meaning.
KNOWN = 0.8
#: Gives the vectors of rows, ``float32[n, d]``.
Rows = Callable[[Ints], Floats]
#: So many of the best rows by words, and by meaning, may be the same; so many are compared with the closest small talk.
_COMPARED, _CLOSEST = 20, 3


def signs(
    ranked: Ranked,
    evidence: Evidence | None,
    best: Sequence[tuple[int, Parts]],
    noise: float,
    general: General | None,
    allowed: Bools,
    vectors: Rows,
) -> dict[str, float]:
    """What tells of a message; ``best`` are its best rows, best first, ``noise`` is the cosine of unrelated texts,
    ``general`` how close the message is to what is said to any assistant, and ``vectors`` gives those of rows.

    Of its words: ``matched`` is the most of them around one row, ``share`` that of all words, ``words`` the logarithm
    of how many those are, ``unknown`` the share of those that no note has, and ``stranger`` whether one of these is a
    name.  ``score`` is the logarithm of the highest reported score, and
    ``agreement`` the highest fused one, which is high where the signals of the search meet in one row.  ``size`` is the
    logarithm of the number of rows: of many some match by chance.  ``few`` is how many times fewer they are than a
    hundred, as a logarithm: of few none stands out.

    Of its meaning, as shares of the way from ``noise`` to 1: ``own`` is how much closer it is to the best row than to
    what is said to any assistant in the mean, ``general`` how much closer it is to one of those texts, and ``apart``
    how much closer it is to one of the closest rows than the texts that are closest to that row.  ``particular`` is how
    much more it is like what is asked of notes than like those texts, in deviations.  ``shared`` is the logarithm of
    how many rows are among the best by words and by meaning both, times the share of the words that stand around the
    best row and name no time, and ``knowledge`` how well the model knows the language.  All are 0 without vectors.
    """
    rows = [row for row, _ in best]
    words = max(1, evidence.words) if evidence is not None else 1
    held = [min(_MOST, evidence.matched(row)) for row in rows] if evidence is not None else []
    matched = max(held, default=0)
    knowledge = ranked.features.knowledge if ranked.similarities is not None and general is not None else 0.0
    told = {
        "matched": float(matched),
        "share": matched / words,
        "words": log1p(evidence.words) if evidence is not None else 0.0,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "stranger": float(evidence is not None and evidence.strange),
        "score": log(0.02 + max((parts.score for _, parts in best), default=0.0)),
        "agreement": float(ranked.score[rows[0]]) if rows else 0.0,
        "size": log(max(1, len(ranked.score))),
        "few": log(max(1.0, 100 / max(1, len(ranked.score)))),
        "own": 0.0,
        "general": 0.0,
        "apart": 0.0,
        "particular": 0.0,
        "shared": 0.0,
        "knowledge": knowledge,
    }
    if rows and general is not None and knowledge > KNOWN:
        told |= _of_meaning(ranked, rows[0], noise, general, allowed, vectors)
        told["shared"] *= evidence.told(rows[0]) / words if evidence is not None else 0.0
    return told


def _of_meaning(
    ranked: Ranked, best: int, noise: float, general: General, allowed: Bools, vectors: Rows
) -> dict[str, float]:
    """The signs that only vectors give."""
    similarities = ranked.similarities
    if similarities is None:
        return {}
    cosines = np.where(allowed & ~np.isnan(similarities), similarities, -1.0)
    closest = np.argpartition(-cosines, min(_COMPARED, len(cosines)) - 1)[:_COMPARED]
    near: Ints = closest[cosines[closest] > -1].astype(np.int32)
    told = {
        "general": min(0.5, (general.highest - general.mean) / (1 - noise)),  # what is closer says no more
        "particular": general.particular,
    }
    if len(near):
        # What is as close to small talk as to the message is close to anything: Conneau et al. (2018), "Word
        # translation without parallel data", weigh neighbours so (CSLS).
        # One by one: a product of two matrices wakes BLAS's threads, which cost more than it does.
        each = np.stack([general.vectors @ vector for vector in vectors(near)])
        theirs = np.sort(each, axis=1)[:, -_CLOSEST:].mean(axis=1)
        told["apart"] = float((cosines[near] - theirs).max()) / (1 - noise)
        own = float(cosines[best]) if cosines[best] > -1 else float(cosines[near].max())
        told["own"] = (own - general.mean) / (1 - noise)
    if (keyword := ranked.features.keyword) is not None:
        both = _highest(keyword.unit[allowed]) & _highest(np.nan_to_num(similarities[allowed]))
        told["shared"] = log1p(len(both))
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
