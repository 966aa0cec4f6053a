"""Order statements of one thing: what holds now comes before what it replaced.

The best rows of a question are compared with later rows that say nearly the same with another value, wherever they
rank.  The latest of these leads, and the others name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from .. import patterns as re
from ..knowledge.statements import Statement, replaces
from ..store.api import Bools, Floats, Ints, distinct
from .hits import ranked_rows

if TYPE_CHECKING:
    from .question import Question
    from .resident import ResidentIndex

#: Number of best rows that are compared with later ones, and of those that may replace one of them.
_COMPARED, _READ = 10, 40
#: Share of the weight of its words that a row must have to be compared.
_ALIKE = 0.6
#: Least number of figures by which another row confirms a row without a day; years are too common.
_MIN_FIGURES = 2
_YEAR = re.compile(r"(?:19|20)\d\d")


def order_current_first(
    question: Question, index: ResidentIndex, order: Floats, allowed: Bools | None
) -> tuple[Floats, dict[int, int]]:
    """Return ``order``, ``float32[n]``, with current statements before those that they replaced, and by row the latter.

    The successors are those of the best rows: see :func:`find_successors`.
    """
    rows = np.array(list(islice(ranked_rows(index.corpus, order, allowed), _READ)), np.int32)
    successors = find_successors(question, index, rows[:_COMPARED], rows, allowed)
    if successors:
        order = order.copy()
        for row, successor in successors.items():
            order[successor] = max(order[successor], np.nextafter(order[row], np.float32(np.inf)))
    return order, successors


def find_successors(
    question: Question, index: ResidentIndex, rows: Ints, others: Ints, allowed: Bools | None
) -> dict[int, int]:
    """Return by row, for those of ``rows`` that no longer hold, the latest row that replaced it.

    A successor is one of ``others``, a row with nearly the same words, or one below a heading of the same subject.  A
    question for days that are over, or for what was before, has none.
    """
    is_past = any(last < question.day for _, last in question.days)
    if is_past or question.asks_former or index.keyword is None:
        return {}
    rows = rows[index.corpus.rows.speaker[rows] == 0]
    statements = dict(zip(rows.tolist(), index.statements(rows), strict=True))
    asked = frozenset(chain.from_iterable(question.content_words))
    weights, holders = _look_up(index, statements.values(), asked)
    timeline = Timeline(index, question.day)
    columns = index.corpus.rows
    # What somebody said in a chat is no statement below their name.
    eligible = index.corpus.shape.anchor & ~columns.heading & ~columns.machine & (columns.speaker == 0)
    if allowed is not None:
        eligible &= allowed
    later: dict[int, list[int]] = {}
    for row, statement in statements.items():
        alike = _alike_rows(len(eligible), statement.identifying, weights, holders)
        below = _below_headings(index, statement.subject, holders)
        candidates = distinct(np.concatenate([others, alike, below]))
        candidates = candidates[eligible[candidates] & _as_trusted(index, row, candidates)]
        later[row] = timeline.later(row, candidates)[:_READ].tolist()
    read = np.array(sorted(set(chain.from_iterable(later.values()))), np.int32)
    statements |= zip(read.tolist(), index.statements(read), strict=True)
    successors: dict[int, int] = {}
    for row, rows_after in later.items():
        successor = next((at for at in rows_after if replaces(statements[at], statements[row], asked, weights)), None)
        if successor is not None:
            successors[row] = successor
    return successors


def _look_up(
    index: ResidentIndex, statements: Iterable[Statement], asked: frozenset[str]
) -> tuple[dict[str, float], dict[str, Ints]]:
    """Return the weight (idf) of each term that says what the statements are about, and the rows that hold it.

    The weight of ``""`` is the mean.
    """
    terms = sorted(asked.union(*(statement.identifying | statement.subject for statement in statements)))
    assert index.keyword is not None
    postings, n = index.keyword.postings(terms), len(index.corpus)
    rows = index.corpus.rows_of(postings.unit_id)
    ends = zip(postings.offsets.tolist(), postings.offsets[1:].tolist(), strict=False)
    held = [rows[first:last] for first, last in ends]
    holders = {term: alive[alive >= 0] for term, alive in zip(terms, held, strict=True)}
    counts = np.fromiter(map(len, holders.values()), np.int64, len(holders))
    idf = np.log(1 + (n - counts + 0.5) / (counts + 0.5))  # as bm25.idf
    return {"": float(idf.mean()) if terms else 0.0, **dict(zip(terms, idf.tolist(), strict=True))}, holders


def _alike_rows(n: int, terms: Set[str], weights: Mapping[str, float], holders: Mapping[str, Ints]) -> Ints:
    """Return those of ``n`` rows that have most of the ``terms`` by which a row says what it is about."""
    shared = np.zeros(n, np.float32)
    for term in terms:
        shared[holders[term]] += np.float32(weights[term])
    least = np.float32(max(_ALIKE * sum(map(weights.__getitem__, terms)), 1e-6))
    return np.flatnonzero(shared >= least).astype(np.int32)


def _below_headings(index: ResidentIndex, terms: Set[str], holders: Mapping[str, Ints]) -> Ints:
    """Return the first rows below headings that have half of the ``terms`` of a row's headings."""
    corpus = index.corpus
    if not terms:
        return np.zeros(0, np.int32)
    holding, held = np.unique(np.concatenate([holders[term] for term in terms]), return_counts=True)
    headings = holding[(2 * held >= len(terms)) & corpus.rows.heading[holding]]
    below = headings[headings + 1 < len(corpus)] + 1
    same = corpus.shape.section[below] == corpus.shape.section[below - 1]
    return np.asarray(below[same], np.int32)


def _as_trusted(index: ResidentIndex, row: int, rows: Ints) -> Bools:
    """Return true for those of ``rows`` that are trusted as much as ``row``."""
    trusted = index.corpus.shape.trusted
    return np.logical_or(trusted[rows], not trusted[row])


class Timeline:
    """The order in time of rows as of ``today``.

    A row is of its day, else of the last day in its text if that is over, else of the latest day on which another row
    has the same figures.
    """

    def __init__(self, index: ResidentIndex, today: date) -> None:
        self._index, self.today = index, today.toordinal()
        self._confirmed: dict[int, int] = {}

    def since(self, row: int, former: int) -> int | None:
        """Return the day, an ordinal, from which a row holds that replaced a ``former`` one.

        It is the first on which its figures are noted after that, else the row's; ``None`` if that is not known.
        """
        after, day = self._days(np.array([former, row], np.int32)).tolist()
        days = self._days_of_figures(self._index.statements(np.array([row], np.int32))[0].figures)
        days = days[days > after]
        return int(days.min()) if len(days) else day or None

    def later(self, row: int, rows: Ints) -> Ints:
        """Return those of ``rows`` that were written after ``row``, the latest first; none if it has no day.

        Notes of a day grow at their end: in the same one a later section was written later.
        """
        days, day = self._days(rows), int(self._days(np.array([row], np.int32))[0])
        columns, section = self._index.corpus.rows, self._index.corpus.shape.section
        below = (columns.document_id[rows] == columns.document_id[row]) & (section[rows] > section[row])
        after = (day > 0) & ((days > day) | (below & (days == day) & (columns.day[row] > 0)))
        rows, days = rows[after], days[after]
        return rows[np.lexsort((rows, days))][::-1]

    def not_after(self, row: int, rows: Ints) -> Ints:
        """Return those of ``rows`` that are of the day of ``row`` or an earlier one; none if either has no day."""
        days, day = self._days(rows), int(self._days(np.array([row], np.int32))[0])
        return rows[(days <= day) & (days > 0)]

    def _days(self, rows: Ints) -> Ints:
        """Return the day of each row as an ordinal, 0 for none."""
        columns = self._index.corpus.rows
        stated = columns.last_day[rows]
        days = np.where(columns.day[rows] > 0, columns.day[rows], stated * (stated <= self.today)).astype(np.int32)
        undated = np.flatnonzero((days == 0) & (columns.amount[rows] | (columns.first_day[rows] > 0)))
        missing = [row for row in rows[undated].tolist() if row not in self._confirmed]
        for row, statement in zip(missing, self._index.statements(np.array(missing, np.int32)), strict=True):
            self._confirmed[row] = int(self._days_of_figures(statement.figures).max(initial=0))
        days[undated] = [self._confirmed[row] for row in rows[undated].tolist()]
        return days

    def _days_of_figures(self, figures: Set[str]) -> Ints:
        """Return the days until today of the rows with all of ``figures``, at least two; years do not count."""
        figures = {figure for figure in figures if not _YEAR.fullmatch(figure)}
        assert self._index.keyword is not None
        if len(figures) < _MIN_FIGURES:
            return np.zeros(0, np.int32)
        columns, postings = self._index.corpus.rows, self._index.keyword.postings(sorted(figures))
        holders = [self._index.corpus.rows_of(postings.for_term(at)[0]) for at in range(len(figures))]
        shared = holders[0]
        for rows in holders[1:]:
            shared = np.intersect1d(shared, rows)
        days: Ints = columns.day[shared[shared >= 0]]
        return days[(days > 0) & (days <= self.today)]
