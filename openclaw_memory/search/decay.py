"""What time and use make of a score: youth, fading by half-lives, and a bounded gain or loss by use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from ..index.corpus import Corpus
from ..model import Kind
from ..store.api import Bools, Floats, Ints
from . import ranking

_KINDS = list(Kind)
_CURATED = _KINDS.index(Kind.CURATED)


@dataclass(frozen=True, slots=True)
class Moves:
    """How scores are moved, each column ``float32[n]`` or absent.

    ``youth`` in [0, 1] is the share ``weight`` of the result, ``fade`` in [0, 1] a factor, and ``use`` in [-1, 1]
    adds up to the share ``most`` of the scores' range.
    """

    youth: Floats | None = None
    weight: float = 0.0
    fade: Floats | None = None
    use: Floats | None = None
    most: float = 0.0

    def apply(self, score: Floats, allowed: Bools | None) -> Floats:
        """Scores that order the rows: ``(1 - weight) * scaled * fade + weight * youth``, and what use adds."""
        if self.youth is not None or self.fade is not None:
            score = ranking.scaled(score, allowed)
            if self.fade is not None:
                score = score * self.fade
            if self.youth is not None:
                score = np.float32(1 - self.weight) * score + np.float32(self.weight) * self.youth
            score = np.round(score, 5)  # equal texts of a day must tie
        if self.use is not None:
            # Where all rows are equal in everything else, use alone orders them.
            span = float(score.max() - score.min()) or 1.0
            score = score + np.float32(self.most * span) * self.use
        return score

    def reported(self, row: int, score: float) -> float:
        """The score that a row is reported with, in [0, 1]; use orders and does not count here."""
        if self.fade is not None:
            score *= float(self.fade[row])
        if self.youth is not None:
            score = (1 - self.weight) * score + self.weight * float(self.youth[row])
        return score

    def because(self, row: int) -> list[str]:
        """What each part makes of a row, in words."""
        words = []
        if self.youth is not None:
            words.append(f"youth {self.youth[row]:.2f}")
        if self.fade is not None and self.fade[row] < 1:
            words.append(f"faded to {self.fade[row]:.2f}")
        if self.use is not None and self.use[row]:
            words.append(f"use {self.most * self.use[row]:+.3f}")
        return words


def youth(corpus: Corpus, today: date) -> Floats:
    """``1 / (1 + ln(1 + age))`` of every row with its age in days, from 1 for today's downwards: ``float32[n]``.

    Curated files are evergreen and always young; what has no day has no youth.
    """
    day = corpus.rows.day
    out = (1 / (1 + np.log1p(_age(day, today)))).astype(np.float32)
    out[day == 0] = 0
    out[corpus.shape.kind == _CURATED] = 1
    return out


def fading(corpus: Corpus, today: date, half_lives: Mapping[str, float], last: Ints | None = None) -> Floats:
    """``2 ** (-age / half-life)`` of every row by the half-life in days of its kind: ``float32[n]``.

    ``last`` is the day on which each row was last used, as an ordinal: then the age counts from there.  What is
    curated, of a kind without a half-life, or without a day does not fade.
    """
    by_kind = np.full(len(_KINDS), np.inf, np.float32)
    for kind, days in half_lives.items():
        by_kind[_KINDS.index(Kind(kind))] = days
    by_kind[_CURATED] = np.inf
    day = corpus.rows.day
    since = day if last is None else np.maximum(day, last)
    out: Floats = np.exp2(-_age(since, today) / by_kind[corpus.shape.kind]).astype(np.float32)
    out[day == 0] = 1
    return out


def _age(day: Ints, today: date) -> Ints:
    return np.maximum(today.toordinal() - day, 0)
