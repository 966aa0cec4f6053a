"""Adjust scores by time and use, and rank superseded and archived lines lower."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import Kind
from ..records import NamedTuple
from ..store.api import Bools, Floats
from .features import scaled

_CURATED = list(Kind).index(Kind.CURATED)
#: Penalty of a unit whose statement no longer holds, as a share of the range of all scores.
_SUPERSEDED = 0.5


class Adjustment(NamedTuple):
    """Columns that adjust scores, ``float32[n]`` or absent.

    ``recency`` in [0, 1] is the share ``weight`` of the result, and ``use`` in [-1, 1] adds up to the share
    ``use_weight`` of the scores' range.
    """

    recency: Floats | None = None
    weight: float = 0.0
    use: Floats | None = None
    use_weight: float = 0.0

    def apply(self, score: Floats, allowed: Bools | None) -> Floats:
        """Return ``(1 - weight) * scaled + weight * recency``, plus what use adds."""
        if self.recency is not None:
            score = scaled(score, allowed)
            score = np.float32(1 - self.weight) * score + np.float32(self.weight) * self.recency
            score = np.round(score, 5)  # equal texts of a day must tie
        if self.use is not None:
            # Where all rows are equal in everything else, use alone orders them.
            span = float(score.max() - score.min()) or 1.0
            score = score + np.float32(self.use_weight * span) * self.use
        return score

    def reported(self, row: int, score: float) -> float:
        """Return the score that a row is reported with, in [0, 1]; use orders and does not count here."""
        return score if self.recency is None else (1 - self.weight) * score + self.weight * float(self.recency[row])

    def reasons(self, row: int) -> list[str]:
        """Return what each column contributes to a row, in words."""
        words = []
        if self.recency is not None:
            words.append(f"youth {self.recency[row]:.2f}")
        if self.use is not None and self.use[row]:
            words.append(f"use {self.use_weight * self.use[row]:+.3f}")
        return words


def recency(corpus: Corpus, today: date) -> Floats:
    """Return ``1 / (1 + ln(1 + age))`` of every row, its age in days, from 1 for today's downwards: ``float32[n]``.

    Curated files are always at 1; a row without a day is at 0.
    """
    day = corpus.rows.day
    age = np.maximum(today.toordinal() - day, 0)
    out = (1 / (1 + np.log1p(age))).astype(np.float32)
    out[day == 0] = 0
    out[corpus.shape.kind == _CURATED] = 1
    return out


def demote_outdated(
    corpus: Corpus, archive: Archive, superseded: Collection[int], score: Floats, allowed: Bools | None
) -> Floats:
    """Return scores that rank superseded units lower, and archived lines behind their sentence in a summary.

    ``superseded`` are ids of units; the result is ``float32[n]``.
    """
    out = score
    if superseded:
        rows = corpus.rows_of(np.fromiter(superseded, np.int32, len(superseded)))
        out = score.copy()
        out[rows[rows >= 0]] -= np.float32(_SUPERSEDED) * (score.max() - score.min())
    masks = archive.masks
    if masks is not None and (allowed is None or bool((allowed & masks.archived).any())):
        summary, source = archive.originals()
        if allowed is not None:
            summary, source = summary[allowed[summary]], source[allowed[summary]]
        best = np.full(len(score), -np.inf, np.float32)
        np.maximum.at(best, source, out[summary])
        below = np.nextafter(best[source], np.float32(-np.inf))
        out = out.copy() if out is score else out
        out[source] = np.minimum(out[source], below)
    return out
