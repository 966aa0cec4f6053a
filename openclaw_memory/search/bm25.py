"""Okapi BM25 over units, windows and sections from one set of postings.

Score of a term: ``idf · tf (k1 + 1) / (tf + k1 (1 − b + b · len / mean len))`` with
``idf = ln(1 + (N − df + 0.5) / (df + 0.5))`` (Robertson & Zaragoza, 2009, with the non-negative idf of
Lucene).  A window's tf is the sum over its units, so its df is the number of windows that hold the term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from ..index.corpus import RADIUS, Corpus
from ..store.api import Bools, Floats, Ints, KeywordIndex


@dataclass(frozen=True, slots=True)
class Parameters:
    """k1 (saturation) and b (length normalisation) of one field."""

    k1: float
    b: float


UNIT = Parameters(0.6, 0.3)
WINDOW = Parameters(1.2, 0.75)
#: Words of the greatest rarity that make a row as likely as not to be what was asked for, when most is missing.
_DOUBT = 3.0
SECTION = Parameters(1.2, 0.75)
PASSAGE = Parameters(1.5, 0.75)


@dataclass(frozen=True, slots=True)
class KeywordScores:
    """BM25 of every row, and where each term occurs.

    ``terms`` has the first form of each word.  ``unit`` and ``window`` are ``float32[n]``; ``section`` is
    ``float32[sections]``, ``passage`` the same for each way of cutting passages.  ``idf`` is that of the unit field
    per asked term (the highest possible for an unknown one); ``windows[i]`` are the rows, ascending, whose window
    holds term ``i``.
    """

    terms: tuple[str, ...]
    idf: Floats
    unit: Floats
    window: Floats
    section: Floats
    windows: tuple[Ints, ...]
    passage: tuple[Floats, ...] = ()

    def coverage(self, row: int) -> tuple[float, list[str]]:
        """Share of the question's idf mass that a row's window holds, and which terms those are."""
        held = [i for i, rows in enumerate(self.windows) if _contains(rows, row)]
        total = float(self.idf.sum())
        return (float(self.idf[held].sum()) / total if total else 0.0), [self.terms[i] for i in held]

    def evidence(self, row: int) -> float:
        """How sure the words in a row's window are that it is about the question, from 0 to 1.

        The question's share alone would say much of a short question with one common word in it, and little of a long
        one of which three rare words are there.  So it counts too how many words that stand in one unit alone the held
        ones are worth.
        """
        share, held = self.coverage(row)
        if not held:
            return 0.0
        worth = share * float(self.idf.sum()) / idf(len(self.unit), 1)
        return worth / (worth + _DOUBT * sqrt(1 - share))


def idf(n: int, df: int) -> float:
    """Inverse document frequency of a term in ``df`` of ``n`` texts; never negative."""
    return log(1 + (n - df + 0.5) / (df + 0.5))


def score(corpus: Corpus, index: KeywordIndex, terms: Sequence[str | tuple[str, ...]]) -> KeywordScores:
    """BM25 of all rows for the distinct, analysed ``terms``; a tuple is one word, which texts may have in any form."""
    forms = [(term,) if isinstance(term, str) else term for term in terms]
    n = len(corpus)
    shape = corpus.shape
    sections = len(shape.section_terms)
    lengths = corpus.rows.terms
    unit: Floats = np.zeros(n, np.float32)
    window = np.zeros(n, np.float32)
    section = np.zeros(sections, np.float32)
    passage = tuple(np.zeros(len(counts), np.float32) for counts in shape.passage_terms)
    weights = np.zeros(len(terms), np.float32)
    windows: list[Ints] = []
    found = index.postings([form for word in forms for form in word]) if n else None
    mean = [max(float(x.mean()), 1e-9) if n else 1.0 for x in (lengths, shape.window_terms)]
    groups = [
        (group, counts, max(float(counts.mean()), 1e-9) if n else 1.0, into, own)
        for group, counts, into, own in (
            (shape.section, shape.section_terms, section, SECTION),
            *((*of, PASSAGE) for of in zip(shape.passage, shape.passage_terms, passage, strict=True)),
        )
    ]
    scratch = np.zeros(n, np.float32)
    at = 0
    for i, word in enumerate(forms):
        rows, tf = np.zeros(0, np.int32), np.zeros(0, np.float32)
        if found is not None:
            rows, tf = _living(corpus, *found.of(at))
            for form in range(at + 1, at + len(word)):
                rows, tf = _either(rows, tf, *_living(corpus, *found.of(form)))
        at += len(word)
        weights[i] = idf(n, len(rows))
        if not len(rows):
            windows.append(rows)
            continue
        unit[rows] += _bm25(tf, lengths[rows], mean[0], weights[i], UNIT)
        held = _spread(rows, tf, shape.section, scratch)
        frequency: Floats = scratch[held]
        scratch[held] = 0
        window[held] += _bm25(frequency, shape.window_terms[held], mean[1], idf(n, len(held)), WINDOW)
        windows.append(held)
        for group, counts, usual, into, own in groups:
            at_group, frequency = _summed(group[rows], tf, len(into))
            weight = idf(len(into), len(at_group))
            into[at_group] += _bm25(frequency, counts[at_group], usual, weight, own)
    return KeywordScores(tuple(word[0] for word in forms), weights, unit, window, section, tuple(windows), passage)


def _living(corpus: Corpus, unit_ids: Ints, tf: Floats) -> tuple[Ints, Floats]:
    """Rows of postings, and their frequencies, without those of units that are gone."""
    rows = corpus.rows_of(unit_ids)
    alive = rows >= 0
    return (rows, tf) if alive.all() else (rows[alive], tf[alive])


def _either(rows: Ints, tf: Floats, other_rows: Ints, other_tf: Floats) -> tuple[Ints, Floats]:
    """Rows that have one form of a word or the other; the same word may have been counted as both."""
    both, inverse = np.unique(np.concatenate([rows, other_rows]), return_inverse=True)
    most = np.zeros(len(both), np.float32)
    np.maximum.at(most, inverse, np.concatenate([tf, other_tf]).astype(np.float32))
    return both, most


def _bm25(tf: Floats, length: Floats | Ints, mean: float, weight: float, p: Parameters) -> Floats:
    scored: np.ndarray[Any, np.dtype[Any]] = (
        (weight * (p.k1 + 1)) * tf / (tf + p.k1 * (1 - p.b + (p.b / mean) * length))
    )
    return scored.astype(np.float32, copy=False)


def _spread(rows: Ints, tf: Floats, section: Ints, scratch: Floats) -> Ints:
    """Add each row's tf to every window that holds it, in ``scratch``; returns those rows, ascending."""
    n = len(scratch)
    own = section[rows]
    scratch[rows] += tf
    touched = [rows]
    for d in range(-RADIUS, RADIUS + 1):
        if not d:
            continue
        near = rows + d
        inside: Bools = (near >= 0) & (near < n)
        if not inside.all():
            near, mine, value = near[inside], own[inside], tf[inside]
        else:
            mine, value = own, tf
        same = section[near] == mine
        near = near[same]
        scratch[near] += value[same]
        touched.append(near)
    if len(rows) * (2 * RADIUS + 1) * 12 > n:
        return np.flatnonzero(scratch).astype(np.int32)
    return np.unique(np.concatenate(touched))


def _summed(groups: Ints, values: Floats, n: int) -> tuple[Ints, Floats]:
    """Sum ``values`` by group: the distinct groups, ascending, and their sums."""
    if len(groups) * 8 > n:
        sums = np.bincount(groups, values, minlength=n).astype(np.float32)
        present = np.flatnonzero(sums).astype(np.int32)
        return present, sums[present]
    present, inverse = np.unique(groups, return_inverse=True)
    return present, np.bincount(inverse, values).astype(np.float32)


def _contains(ascending: Ints, row: int) -> bool:
    at = int(ascending.searchsorted(ascending.dtype.type(row)))  # another type would cast all of them
    return at < len(ascending) and int(ascending[at]) == row
