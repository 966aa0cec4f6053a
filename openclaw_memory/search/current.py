"""Order statements of one thing: what holds now comes before what it replaced.

The best rows of a question are compared with later rows that say nearly the same with another value, wherever they
rank.  The latest of these leads, and the others name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from ..knowledge.statements import Statement, replaces
from ..store.api import Bools, Floats, Ints, UnitRows
from . import bm25
from .hits import ranked_rows

if TYPE_CHECKING:
    from .question import Question
    from .resident import ResidentIndex

#: Number of best rows that are compared with later ones, and of the latest rows that each is compared with.
_COMPARED, _LATEST = 10, 8
#: Number of best rows that may replace one of the first.
_READ = 30
#: Share of the weight of its words that a row must have to be compared.
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Currency:
    """The order of rows with current statements first, and by row the one that replaced it."""

    order: Floats
    successors: Mapping[int, int] = field(default_factory=dict)


def order_current_first(question: Question, index: ResidentIndex, order: Floats, allowed: Bools | None) -> Currency:
    """Return ``order``, ``float32[n]``, with the current one of several statements of one thing before the others.

    A question for days, or for what was before, keeps its order.
    """
    is_past = any(last < question.day for _, last in question.days)
    if is_past or question.asks_former or index.keyword is None:
        return Currency(order)
    rows = np.array(list(islice(ranked_rows(index.corpus, order, allowed), _READ)), np.int32)
    statements = dict(zip(rows.tolist(), index.statements(rows), strict=True))
    compared = rows[:_COMPARED].tolist()
    weights, holders = _look_up(index, [statements[row] for row in compared])
    asked = frozenset(chain.from_iterable(question.content_words))
    timeline = Timeline(index.corpus.rows, question.day)
    successors: dict[int, int] = {}
    for row in compared:
        alike = _alike_rows(index, row, statements[row], weights, holders, allowed)
        later = timeline.later(row, np.union1d(alike, rows))[:_LATEST]
        for candidate, statement in zip(later.tolist(), index.statements(later), strict=True):
            if replaces(statement, statements[row], asked, weights):
                successors[row] = candidate
                break
    if not successors:
        return Currency(order)
    out = order.copy()
    for row, successor in successors.items():
        out[successor] = max(out[successor], np.nextafter(max(out[row], order[row]), np.float32(np.inf)))
    return Currency(out, successors)


def _look_up(index: ResidentIndex, statements: Iterable[Statement]) -> tuple[dict[str, float], dict[str, Ints]]:
    """Return the weight (idf) of each term that says what the statements are about, and the rows that hold it."""
    terms = sorted(frozenset().union(*(statement.words | statement.subject for statement in statements)))
    assert index.keyword is not None
    postings, n = index.keyword.postings(terms), len(index.corpus)
    weights: dict[str, float] = {}
    holders: dict[str, Ints] = {}
    for at, term in enumerate(terms):
        rows = index.corpus.rows_of(postings.for_term(at)[0])
        holders[term] = rows[rows >= 0]
        weights[term] = bm25.idf(n, len(holders[term]))
    return weights, holders


def _alike_rows(
    index: ResidentIndex,
    row: int,
    statement: Statement,
    weights: Mapping[str, float],
    holders: Mapping[str, Ints],
    allowed: Bools | None,
) -> Ints:
    """Return the rows that have most of the words by which a statement says what it is about."""
    corpus, columns = index.corpus, index.corpus.rows
    shared = np.zeros(len(corpus), np.float32)
    for term in statement.identifying:
        shared[holders[term]] += np.float32(weights[term])
    total = sum(weights[term] for term in statement.identifying)
    rows = np.flatnonzero(shared >= np.float32(_ALIKE * total)).astype(np.int32) if total else np.zeros(0, np.int32)
    rows = rows[corpus.shape.anchor[rows] & ~columns.heading[rows] & ~columns.machine[rows]]
    rows = rows[corpus.shape.trusted[rows] >= corpus.shape.trusted[row]]
    return rows if allowed is None else rows[allowed[rows]]


class Timeline:
    """The order in time of rows as of ``today``: by their day, else by the last day in their text if that is over."""

    def __init__(self, columns: UnitRows, today: date) -> None:
        self._columns, self._today = columns, today.toordinal()

    def days(self, rows: Ints) -> Ints:
        """Return the day of each row as an ordinal, 0 for none."""
        stated = self._columns.last_day[rows]
        return np.where(self._columns.day[rows] > 0, self._columns.day[rows], stated * (stated <= self._today))

    def later(self, row: int, rows: Ints) -> Ints:
        """Return those of ``rows`` that are of a later day than ``row``, the latest first."""
        days = self.days(rows)
        after = days > self.days(np.array([row]))[0]
        rows, days = rows[after], days[after]
        return rows[np.lexsort((rows, days))][::-1]
