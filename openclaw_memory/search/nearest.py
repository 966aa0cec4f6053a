"""Cosines with a question where scoring every unit is not the cheap way."""

from __future__ import annotations

import numpy as np

from ..index.corpus import RADIUS, Corpus
from ..store.api import Floats, Ints, VectorIndex
from . import bm25, ranking

#: Candidates of each kind when the vector index does not score every unit.
_CANDIDATES = 512


def similarities(
    corpus: Corpus, index: VectorIndex, query: Floats, keyword: bm25.KeywordScores | None
) -> tuple[Floats, int]:
    """Cosine of each row with a question, the least one where it was not asked for, and how many rows have no vector.

    Where the index is not exhaustive it is asked for the candidates alone.
    """
    unit_ids = corpus.rows.unit_id
    if index.exhaustive:
        found = index.similarities(query, unit_ids)
        return found, int(np.isnan(found).sum())
    has = index.has(unit_ids)
    rows = _nearest(corpus, index, query)
    if keyword is not None:
        best = np.argpartition(-keyword.window, min(_CANDIDATES, len(unit_ids) - 1))[:_CANDIDATES]
        rows = np.concatenate([rows, best[keyword.window[best] > 0].astype(np.int32)])
    rows = np.concatenate([rows, np.arange(len(unit_ids), dtype=np.int32)[ranking.sample(len(unit_ids))]])
    # The windows of these need the scores of their neighbours.
    around = (rows[:, None] + np.arange(-RADIUS, RADIUS + 1)).ravel()
    rows = np.unique(around[(around >= 0) & (around < len(unit_ids))])
    out = np.full(len(unit_ids), np.nan, np.float32)
    out[rows] = index.similarities(query, unit_ids[rows])
    known = ~np.isnan(out)
    if known.any():
        out[has & ~known] = out[known].min()
    return out, len(unit_ids) - int(has.sum())


def _nearest(corpus: Corpus, index: VectorIndex, query: Floats) -> Ints:
    """Rows of the nearest units; a unit that is on its way from one file to another has a vector and no row."""
    wanted = _CANDIDATES
    while True:
        near, _ = index.search(query, wanted)
        rows = corpus.rows_of(near)
        rows = rows[rows >= 0]
        if len(rows) >= _CANDIDATES or len(near) < wanted:
            return rows[:_CANDIDATES]
        wanted *= 2
