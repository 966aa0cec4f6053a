"""Probability that a message is about the notes, by the way in which it is found in them.

A logistic regression (Cox, 1958) over features, none of which is a word of a language.  Where the model knows the
language of the message, :data:`WEIGHTS` decide, fitted with both default models on notes in seven languages; elsewhere
:data:`ALONE`, by words, fitted on notes in eight.  ``docs/context.md`` gives the numbers of messages and the results on
others; ``benchmarks/relevance.py`` fits them again.
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

#: Weights of the features beside vectors, and the intercept.
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

#: Probability from which a message counts as about the notes.
RELEVANT = 0.65
#: Most words in one place that count.
_MOST = 5
#: Knowledge of the message's language from which a model's vectors count.
KNOWN = 0.8
#: Returns the vectors of rows, ``float32[n, d]``.
Rows = Callable[[Ints], Floats]
#: Numbers of the best rows by words and by meaning that are intersected, and of the closest small talk compared.
_COMPARED, _CLOSEST = 20, 3


def extract_features(
    ranked: Ranked,
    evidence: Evidence | None,
    best: Sequence[tuple[int, Parts]],
    noise: float,
    general: General | None,
    allowed: Bools,
    vectors: Rows,
) -> dict[str, float]:
    """Return the features of a message.

    ``best`` are its best rows, best first; ``noise`` is the cosine of unrelated texts, ``general`` the similarity of
    the message to small talk, and ``vectors`` returns those of rows.

    By words: ``matched`` is the most words of the message around one row, ``share`` that of all its words, ``words``
    the logarithm of their number, ``unknown`` the share of those that no note has, and ``stranger`` 1 where one of
    these is a name.  ``score`` is the logarithm of the highest reported score, and ``agreement`` the highest fused
    one, which is high where the signals of the search meet in one row.  ``size`` is the logarithm of the number of
    rows: of many some match by chance.  ``few`` is the logarithm of how many times fewer than a hundred they are: of
    few none stands out.

    By meaning, as shares of the distance from ``noise`` to 1: ``own`` is how much closer the message is to the best
    row than to small talk in the mean, ``general`` how much closer it is to one of those texts, and ``apart`` how much
    closer it is to one of the closest rows than the small talk closest to that row.  ``particular`` is how much more
    it is like what notes are asked than like small talk, in deviations.  ``shared`` is the logarithm of the number of
    rows among the best both by words and by meaning, times the share of the words around the best row that name no
    time, and ``knowledge`` is that of the language by the model.  All are 0 without vectors.
    """
    rows = [row for row, _ in best]
    words = max(1, evidence.words) if evidence is not None else 1
    matched = 0
    if evidence is not None:
        matched = max((min(_MOST, evidence.matched(row)) for row in rows), default=0)
    knowledge = ranked.features.knowledge if ranked.similarities is not None and general is not None else 0.0
    features = dict.fromkeys(WEIGHTS, 0.0) | {
        "matched": float(matched),
        "share": matched / words,
        "words": log1p(evidence.words) if evidence is not None else 0.0,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "stranger": float(evidence is not None and evidence.names_stranger),
        "score": log(0.02 + max((parts.score for _, parts in best), default=0.0)),
        "agreement": float(ranked.score[rows[0]]) if rows else 0.0,
        "size": log(max(1, len(ranked.score))),
        "few": log(max(1.0, 100 / max(1, len(ranked.score)))),
        "knowledge": knowledge,
    }
    if rows and general is not None and knowledge > KNOWN:
        features |= _vector_features(ranked, rows[0], noise, general, allowed, vectors)
        features["shared"] *= evidence.matched_untimed(rows[0]) / words if evidence is not None else 0.0
    return features


def _vector_features(
    ranked: Ranked, best: int, noise: float, general: General, allowed: Bools, vectors: Rows
) -> dict[str, float]:
    """Return the features by meaning."""
    similarities = ranked.similarities
    if similarities is None:
        return {}
    cosines = np.where(allowed & ~np.isnan(similarities), similarities, -1.0)
    closest = np.argpartition(-cosines, min(_COMPARED, len(cosines)) - 1)[:_COMPARED]
    near: Ints = closest[cosines[closest] > -1].astype(np.int32)
    features = {
        "general": min(0.5, (general.highest - general.mean) / (1 - noise)),  # closer ones do not tell more
        "particular": general.particular,
    }
    if len(near):
        # A row as close to small talk as to the message is close to anything: Conneau et al. (2018), "Word
        # translation without parallel data", weigh neighbours so (CSLS).
        # Row by row: a product of two matrices wakes BLAS's threads, which cost more than it does.
        each = np.stack([general.vectors @ vector for vector in vectors(near)])
        smalltalk = np.sort(each, axis=1)[:, -_CLOSEST:].mean(axis=1)
        features["apart"] = float((cosines[near] - smalltalk).max()) / (1 - noise)
        cosine = float(cosines[best]) if cosines[best] > -1 else float(cosines[near].max())
        features["own"] = (cosine - general.mean) / (1 - noise)
    if (keyword := ranked.features.keyword) is not None:
        shared = _highest(keyword.unit[allowed]) & _highest(np.nan_to_num(similarities[allowed]))
        features["shared"] = log1p(len(shared))
    return features


def _highest(values: Floats) -> set[int]:
    """Return the places of the highest values above 0."""
    most = min(_COMPARED, len(values))
    places = np.argpartition(-values, most - 1)[:most]
    return set(places[values[places] > 0].tolist())


def probability(features: Mapping[str, float]) -> float:
    """Return the probability that a message with these features is about the notes, in (0, 1)."""
    weights, bias = (WEIGHTS, BIAS) if features["knowledge"] > KNOWN else (ALONE, BIAS_ALONE)
    return 1 / (1 + exp(-bias - sum(weight * features[name] for name, weight in weights.items())))
