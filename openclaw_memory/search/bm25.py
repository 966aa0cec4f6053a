"""Okapi BM25 over units, windows and passages from one set of postings.

Score of a term: ``idf · tf (k1 + 1) / (tf + k1 (1 − b + b · len / mean len))`` with
``idf = ln(1 + (N − df + 0.5) / (df + 0.5))`` (Robertson & Zaragoza, 2009, with the non-negative idf of
Lucene).  A window's tf is the sum over its units, so its df is the number of windows that hold the term.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import field
from math import log, sqrt
from typing import Any

import numpy as np

from ..index.corpus import RADIUS, Corpus, Shape
from ..records import NamedTuple, dataclass
from ..store.api import Bools, Floats, Ints, KeywordIndex, distinct


class Parameters(NamedTuple):
    """k1 (saturation) and b (length normalisation) of one field."""

    k1: float
    b: float


UNIT = Parameters(0.6, 0.3)
WINDOW = Parameters(1.2, 0.75)
PASSAGE = Parameters(1.5, 0.75)
#: Idf (1 is that of a word in a single unit) at which a row is relevant with probability 1/2 though most words of the
#: question are missing.
_DOUBT = 3.0


@dataclass(frozen=True, slots=True)
class KeywordScores:
    """BM25 of every row, and where each term occurs.

    ``terms`` has the first form of each word.  ``unit`` and ``window`` are ``float32[n]``, ``passage`` is
    ``float32[passages]`` for each way of cutting passages.  ``idf`` is that of the unit field per asked term (the
    highest possible for an unknown one); ``units[i]`` are the rows, ascending, that hold term ``i``, and ``windows[i]``
    those whose window does.  ``named[i]`` are the documents whose path holds it, ``exact`` those whose name is all of
    the question, and ``document`` has that of each row.
    """

    terms: tuple[str, ...]
    idf: Floats
    unit: Floats
    window: Floats
    windows: tuple[Ints, ...]
    passage: tuple[Floats, ...] = ()
    units: tuple[Ints, ...] = ()
    named: tuple[Set[int], ...] = ()
    exact: Set[int] = frozenset()
    document: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    def coverage(self, row: int, shown: Sequence[tuple[int, int]] | None = None) -> tuple[float, list[str]]:
        """Return the share of the question's idf mass that a row's window or path holds, and its terms.

        Of the window only terms among the rows ``shown`` count, where these are given as first and last ones.
        """
        document = int(self.document[row]) if len(self.document) else -1
        if document in self.exact:
            return 1.0, list(self.terms)
        held = [i for i, rows in enumerate(self.windows) if contains(rows, row)]
        if shown is not None:
            ends = [row for first, last in shown for row in (first, last + 1)]
            held = [i for i in held if np.diff(self.units[i].searchsorted(ends))[::2].any()]
        held = sorted({*held, *[i for i, documents in enumerate(self.named) if document in documents]})
        total = float(self.idf.sum())
        return (float(self.idf[held].sum()) / total if total else 0.0), [self.terms[i] for i in held]

    def rare_words(self, first: int, last: int) -> float:
        """Return the idf of the question's words in rows ``first..last``; 1 is that of a word in a single unit."""
        held = [np.diff(rows.searchsorted([first, last + 1]))[0] > 0 for rows in self.units]
        return float(self.idf[held].sum()) / idf(len(self.unit), 1)

    def evidence(self, share: float) -> float:
        """Return how surely a window with a ``share`` of the question is about it, in [0, 1].

        The share alone overrates one common word of a short question and underrates three rare words of a long one.  So
        the idf of the words counts too, where 1 is that of a word in a single unit.
        """
        if not share:
            return 0.0
        rare_words = share * float(self.idf.sum()) / idf(len(self.unit), 1)
        return rare_words / (rare_words + _DOUBT * sqrt(1 - share)) if rare_words else share


def idf(n: int, df: int) -> float:
    """Return the inverse document frequency of a term in ``df`` of ``n`` texts; never negative."""
    return log(1 + (n - df + 0.5) / (df + 0.5))


class Lengths:
    """Addend of each text's length to its term frequencies: ``k1 (1 − b + b · len / mean len)``, by field."""

    def __init__(self, corpus: Corpus) -> None:
        self.unit = _length(corpus.rows.terms, UNIT)
        self.window = _length(corpus.shape.window_terms, WINDOW)
        self.passage = tuple(_length(counts, PASSAGE) for counts in corpus.shape.passage_terms)


def _length(terms: Floats | Ints, p: Parameters) -> Floats:
    mean = max(float(terms.mean()), 1e-9) if len(terms) else 1.0
    added: Floats = p.k1 * (1 - p.b + (p.b / mean) * terms)
    return added


def score(
    corpus: Corpus, index: KeywordIndex, terms: Sequence[str | tuple[str, ...]], lengths: Lengths | None = None
) -> KeywordScores:
    """Score all rows by BM25 for the distinct, analysed ``terms``; a tuple is one word, in any of its forms.

    ``lengths`` are those of ``corpus``, where the caller has kept them.
    """
    forms = [(term,) if isinstance(term, str) else term for term in terms]
    n = len(corpus)
    shape = corpus.shape
    lengths = Lengths(corpus) if lengths is None else lengths
    unit: Floats = np.zeros(n, np.float32)
    window = np.zeros(n, np.float32)
    passage = tuple(np.zeros(len(counts), np.float32) for counts in shape.passage_terms)
    weights = np.zeros(len(terms), np.float32)
    windows: list[Ints] = []
    units: list[Ints] = []
    postings = index.postings([form for word in forms for form in word]) if n else None
    scratch = np.zeros(n, np.float32)
    at = 0
    for i, word in enumerate(forms):
        rows, tf = np.zeros(0, np.int32), np.zeros(0, np.float32)
        if postings is not None:
            rows, tf = _living(corpus, *postings.for_term(at))
            for form in range(at + 1, at + len(word)):
                rows, tf = _either(rows, tf, *_living(corpus, *postings.for_term(form)))
        at += len(word)
        weights[i] = idf(n, len(rows))
        units.append(np.sort(rows))
        if not len(rows):
            windows.append(rows)
            continue
        unit[rows] += _bm25(tf, lengths.unit[rows], weights[i], UNIT)
        held, frequency = _spread(rows, tf, shape, scratch)
        window[held] += _bm25(frequency, lengths.window[held], idf(n, len(held)), WINDOW)
        windows.append(held)
        for passage_of, length, scores in zip(shape.passage, lengths.passage, passage, strict=True):
            held, frequency = _summed(passage_of[rows], tf, len(scores))
            scores[held] += _bm25(frequency, length[held], idf(len(scores), len(held)), PASSAGE)
    return KeywordScores(tuple(word[0] for word in forms), weights, unit, window, tuple(windows), passage, tuple(units))


def _living(corpus: Corpus, unit_ids: Ints, tf: Floats) -> tuple[Ints, Floats]:
    """Return rows of postings, and their frequencies, without those of units that are gone."""
    rows = corpus.rows_of(unit_ids)
    alive = rows >= 0
    return (rows, tf) if alive.all() else (rows[alive], tf[alive])


def _either(rows: Ints, tf: Floats, other_rows: Ints, other_tf: Floats) -> tuple[Ints, Floats]:
    """Return rows that have one form of a word or the other; the same word may have been counted as both."""
    union, inverse = np.unique(np.concatenate([rows, other_rows]), return_inverse=True)
    most = np.zeros(len(union), np.float32)
    np.maximum.at(most, inverse, np.concatenate([tf, other_tf]).astype(np.float32))
    return union, most


def _bm25(tf: Floats, length: Floats, weight: float, p: Parameters) -> Floats:
    scored: np.ndarray[Any, np.dtype[Any]] = (weight * (p.k1 + 1)) * tf / (tf + length)
    return scored.astype(np.float32, copy=False)


def _spread(rows: Ints, tf: Floats, shape: Shape, scratch: Floats) -> tuple[Ints, Floats]:
    """Add each row's tf to every window that holds it; return those rows, ascending, and their sums.

    ``scratch`` is ``float32[n]`` of zeros, and is that again afterwards.
    """
    n = len(scratch)
    often = len(rows) * (2 * RADIUS + 1) * 12 > n
    scratch[rows] = tf
    if often:  # adding whole columns is quicker than looking up so many rows
        summed = scratch.copy()
        for d, same in enumerate(shape.same, 1):
            summed[d:] += scratch[:-d] * same
            summed[:-d] += scratch[d:] * same
        scratch[rows] = 0
        held = np.flatnonzero(summed != 0).astype(np.int32)
        return held, summed[held]
    touched = [rows]
    for step, reach in ((1, shape.after[rows]), (-1, shape.before[rows])):
        for d in range(1, RADIUS + 1):
            reached: Bools = reach >= d
            near = rows[reached] + step * d
            scratch[near] += tf[reached]
            touched.append(near)
    held = distinct(np.concatenate(touched))
    frequency: Floats = scratch[held]
    scratch[held] = 0
    return held, frequency


def _summed(groups: Ints, values: Floats, n: int) -> tuple[Ints, Floats]:
    """Sum ``values`` by group; return the distinct groups, ascending, and their sums."""
    if len(groups) * 8 > n:
        sums = np.bincount(groups, values, minlength=n).astype(np.float32)
        present = np.flatnonzero(sums).astype(np.int32)
        return present, sums[present]
    present, inverse = np.unique(groups, return_inverse=True)
    return present, np.bincount(inverse, values).astype(np.float32)


def contains(ascending: Ints, row: int) -> bool:
    """Return true if ``ascending`` rows have ``row``."""
    at = int(ascending.searchsorted(ascending.dtype.type(row)))  # another type would cast all of them
    return at < len(ascending) and int(ascending[at]) == row
