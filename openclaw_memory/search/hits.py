"""From ranked units to line ranges: spans for a token budget, grown hits for a number of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from ..index.corpus import RADIUS, Corpus
from ..model import CHARS_PER_TOKEN
from ..store.api import Bools, Floats, Ints

#: Of this many best units, as far as they cost no more than this share of the budget, adjacent ones become one span.
_JOINED, _JOINED_SHARE = 20, 0.5
#: Units in a row that do not fit before a budget is given up as unfillable.
_LIMIT = 200
#: What a further unit of a section loses where hits are to lie apart, as a share of the range of all scores.
_APART = 0.2
#: Rows that say the same are worth about as much up to this share of the range.
_EQUAL = 0.05
#: Terms from which on a unit says enough for another one like it to be a repetition.
_SAYING = 4


@dataclass(frozen=True, slots=True)
class Range:
    """Rows ``first..last`` (inclusive) of one file; ``best`` is the row that ranks.

    Of longer lines ``most`` tokens are shown, around that row.
    """

    first: int
    last: int
    best: int
    most: float | None = None


def ranking(corpus: Corpus, score: Floats, allowed: Bools | None) -> Iterator[int]:
    """Anchor rows by falling score; ties by day, the newest first, path and line: a rebuilt index answers alike."""
    pool = corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed
    left = np.flatnonzero(pool)
    values = score[left]
    step = _LIMIT + 56
    while len(left):
        best = np.ones(len(left), bool)
        if step < len(left):
            # All that tie with the last one come along, or which of them do would depend on chance.
            best = values >= np.partition(values, len(values) - step)[len(values) - step]
        rows = left[best]
        document = corpus.shape.path_rank[corpus.rows.document_id[rows]]
        day = -corpus.rows.day[rows] * corpus.rows.dated[rows]
        yield from rows[np.lexsort((rows, corpus.rows.start_line[rows], document, day, -score[rows]))].tolist()
        left, values = left[~best], values[~best]
        step *= 4


def distinct(corpus: Corpus, score: Floats, ranked: Iterator[int], allowed: Bools | None) -> Iterator[int]:
    """``ranked`` rows without those that say the same as an earlier one but for their days and times.

    Of rows that say the same, and are worth about as much, the newest stands for all.  A stranger's row takes the place
    of no trusted one.
    """
    seen: set[tuple[int, bool]] = set()
    likeness, terms, trusted = corpus.rows.likeness, corpus.rows.terms, corpus.shape.trusted
    pool = corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed
    some = list(islice(ranked, _LIMIT))
    several = Counter(likeness[some].tolist())
    near = _EQUAL * float(score[some[0]] - score.min()) if some else 0.0
    for row in chain(some, ranked):
        if terms[row] >= _SAYING:
            alike = int(likeness[row]), bool(trusted[row])
            if alike in seen:
                continue
            seen.add(alike)
            if several[alike[0]] > 1:
                equal = repetitions(corpus, row, pool)
                equal = equal[score[equal] >= score[row] - near]
                if len(equal) and corpus.rows.day[equal[-1]] > corpus.rows.day[row]:
                    row = int(equal[-1])
        yield row


def repetitions(corpus: Corpus, row: int, allowed: Bools | None) -> Ints:
    """Rows of other lines that say the same as ``row``, in order of time."""
    if corpus.rows.terms[row] < _SAYING:
        return np.zeros(0, np.int32)
    found = corpus.alike(row)
    found = found[(found != row) & (corpus.shape.trusted[found] == corpus.shape.trusted[row])]
    if allowed is not None:
        found = found[allowed[found]]
    in_order: Ints = found[np.lexsort((found, corpus.rows.day[found]))]
    return in_order


def spans(
    corpus: Corpus,
    score: Floats,
    allowed: Bools | None,
    budget: float,
    telling: Bools | None = None,
    besides: float = 0.0,
    words: Floats | None = None,
) -> list[Range]:
    """The best units whose lines cost at most ``budget`` tokens together, and ``besides`` each; best first.

    A ``telling`` heading (``bool[n]``) comes with the first line below it, where it is not said again.

    Of lines that no longer fit as much is shown as there is room for, around a unit that does fit; one that is too long
    itself is passed over for smaller ones behind it, unless it is the best of all.  What only stands beside the line
    that has the question's words (``words`` says how much each row has of them) leaves enough for that one.
    """
    ranked = distinct(corpus, score, ranking(corpus, score, allowed), allowed)
    order: list[int] = []
    spent = 0.0
    while len(order) < _JOINED and spent < _JOINED_SHARE * budget and (row := next(ranked, None)) is not None:
        order.append(row)
        spent += cost(corpus, row, row)
    found: list[Range] = []
    for row in sorted(order):
        last = found[-1] if found else None
        if last is not None and last.last == row - 1 and _together(corpus, row - 1, row):
            best = row if score[row] > score[last.best] else last.best
            found[-1] = Range(last.first, row, best)
        else:
            found.append(Range(row, row, row))
    found.sort(key=lambda r: order.index(r.best))
    left, misses = budget, 0
    out: list[Range] = []
    taken: set[int] = set()
    waiting = found[::-1]
    before: set[int] = set()
    while misses < _LIMIT and left >= 1 + besides:
        if waiting:
            candidate = waiting.pop()
        elif (row := next(ranked, None)) is not None:
            candidate = Range(row, row, row)
        else:
            break
        whole = _headed(corpus, _whole_lines(corpus, candidate), telling, taken)
        if any(row in taken for row in range(whole.first, whole.last + 1)):
            continue
        price = cost(corpus, whole.first, whole.last) + besides
        having = None if words is None else _having(corpus, words, allowed, whole)
        if having is not None and having not in before and price + cost(corpus, having, having) + besides > left:
            before.add(having)
            waiting += [candidate, Range(having, having, having)]
            continue
        if price > left and candidate.first < candidate.last:
            rows = range(candidate.first, candidate.last + 1)
            waiting = sorted([*waiting, *(Range(row, row, row) for row in rows)], key=lambda r: -order.index(r.best))
            continue
        if price > left and (not out or cost(corpus, candidate.best, candidate.best) + besides <= left):
            whole = replace(_whole_lines(corpus, candidate), most=left - besides)
            price = left
            if words is not None and not words[whole.best]:
                at = whole.first + int(words[whole.first : whole.last + 1].argmax())
                whole = replace(whole, best=at if words[at] else whole.best)
        if price <= left:
            left -= price
            taken.update(range(whole.first, whole.last + 1))
            out.append(whole)
            misses = 0
        else:
            misses += 1
    return out


def _having(corpus: Corpus, words: Floats, allowed: Bools | None, found: Range) -> int | None:
    """The row beside ``found`` that has the question's words where it has none itself."""
    if words[found.first : found.last + 1].any():
        return None
    near = np.arange(max(0, found.best - RADIUS), min(len(corpus), found.best + RADIUS + 1))
    near = near[corpus.shape.section[near] == corpus.shape.section[found.best]]
    near = near if allowed is None else near[allowed[near]]
    best = int(near[words[near].argmax()])
    return best if words[best] else None


def _headed(corpus: Corpus, found: Range, telling: Bools | None, taken: Set[int]) -> Range:
    """``found`` with the telling heading right above it."""
    above = found.first - 1
    if (
        telling is None
        or above < 0
        or above in taken
        or not telling[above]
        or not _together(corpus, above, found.first)
    ):
        return found
    return Range(above, found.last, found.best)


def grown(
    corpus: Corpus,
    score: Floats,
    ranked: Bools | None,
    tokens: float,
    limit: int,
    allowed: Bools | None = None,
    apart: bool = False,
) -> list[Range]:
    """The ``limit`` best ``ranked`` units, each grown over its neighbours, best one first, to about ``tokens``.

    A hit grows over ``allowed`` units of its file, past the ends of its section; no unit comes twice.  With ``apart``
    units of other sections go before a further one of the same: what is counted was noted here and there.
    """
    growing = _Growing(corpus, score, allowed, tokens, corpus.rows.document_id)
    out: list[Range] = []
    found = distinct(corpus, score, ranking(corpus, score, ranked), ranked)
    for row in _apart(corpus, score, found) if apart else found:
        one = growing.grown(row)
        if one is not None:
            out.append(one)
            if len(out) == limit:
                break
    return out


def _apart(corpus: Corpus, score: Floats, ranked: Iterator[int]) -> Iterator[int]:
    """``ranked`` rows, each of the first lower by :data:`_APART` for each one of its section that went before."""
    some = list(islice(ranked, _LIMIT))
    if not some:
        return
    value = score[some].astype(np.float64)
    step = _APART * (value[0] - float(score.min()))
    section = corpus.shape.section[some]
    for _ in some:
        at = int(value.argmax())
        yield some[at]
        value[section == section[at]] -= step
        value[at] = -np.inf
    yield from ranked


def around(
    corpus: Corpus, score: Floats, rows: Sequence[int], tokens: float, allowed: Bools | None = None
) -> list[Range | None]:
    """One range for each of ``rows``, grown within its section; ``None`` for a row that an earlier one took in."""
    growing = _Growing(corpus, score, allowed, tokens, corpus.shape.section)
    return [growing.grown(row) for row in rows]


class _Growing:
    """Ranges that grow over free, ``allowed`` rows of the same ``place``: a text not over its front matter."""

    def __init__(self, corpus: Corpus, score: Floats, allowed: Bools | None, tokens: float, place: Ints) -> None:
        self._score, self._allowed, self._place = score, allowed, place
        self._taken: set[int] = set()
        self._tied, self._meta = corpus.shape.tied, corpus.rows.meta
        #: What precedes each row, in characters whatever they are worth to a model: a hit is a passage, as long in one
        #: language as in another.
        self._before, self._most = corpus.shape.chars_before, tokens * CHARS_PER_TOKEN

    def _whole(self, first: int, last: int) -> tuple[int, int]:
        while self._tied[first]:
            first -= 1
        while self._tied[last + 1]:
            last += 1
        return first, last

    def _free(self, row: int, of: int) -> bool:
        return (
            0 <= row < len(self._score)
            and row not in self._taken
            and bool(self._place[row] == self._place[of] and self._meta[row] <= self._meta[of])
            and (self._allowed is None or bool(self._allowed[row]))
        )

    def grown(self, row: int) -> Range | None:
        """The range of ``row``; ``None`` when it is in another one already."""
        if row in self._taken:
            return None
        first, last = self._whole(row, row)
        while True:
            edges = [edge for edge in (first - 1, last + 1) if self._free(edge, row)]
            for edge in sorted(edges, key=lambda edge: -self._score[edge]):
                wider = self._whole(min(first, edge), max(last, edge))
                price = self._before[wider[1] + 1] - self._before[wider[0]]
                if price <= self._most and self._taken.isdisjoint(wider):
                    first, last = wider
                    break
            else:
                break
        if not self._taken.isdisjoint(range(first, last + 1)):
            return None
        self._taken.update(range(first, last + 1))
        above = first - 1  # front matter that a text comes up to is no hit beside it
        while above >= 0 and self._meta[above] > self._meta[row] and self._place[above] == self._place[row]:
            self._taken.add(above)
            above -= 1
        return Range(first, last, row)


def opening(corpus: Corpus, row: int, tokens: float, standing: Bools | None = None) -> Range:
    """The ``standing`` lines of a section from ``row`` on, as many as ``tokens`` pay for, and at least the first."""
    found = _whole_lines(corpus, Range(row, row, row))
    while found.last + 1 < len(corpus) and _together(corpus, found.last + 1, row):
        if standing is not None and not standing[found.last + 1]:
            break
        wider = _whole_lines(corpus, Range(found.first, found.last + 1, row))
        if cost(corpus, wider.first, wider.last) > tokens:
            break
        found = wider
    return found


def cost(corpus: Corpus, first: int, last: int, most: float | None = None) -> float:
    """Tokens of rows ``first..last`` as they are shown, with their line ends, and at ``most`` so many."""
    whole = float(corpus.shown_tokens[first : last + 1].sum(dtype=np.float64))
    return whole if most is None else min(whole, most)


def lines(corpus: Corpus, found: Range) -> tuple[int, int]:
    """First and last line of a range."""
    part = slice(found.first, found.last + 1)
    return int(corpus.rows.start_line[part].min()), int(corpus.rows.end_line[part].max())


def _together(corpus: Corpus, a: int, b: int) -> bool:
    return bool(corpus.shape.section[a] == corpus.shape.section[b])


def _whole_lines(corpus: Corpus, found: Range) -> Range:
    """Widen a range over units that share a line with it: a result is made of whole lines."""
    rows = corpus.rows
    first, last = found.first, found.last
    while first > 0 and _together(corpus, first - 1, first) and rows.end_line[first - 1] >= rows.start_line[first]:
        first -= 1
    while (
        last + 1 < len(corpus)
        and _together(corpus, last + 1, last)
        and rows.start_line[last + 1] <= rows.end_line[last]
    ):
        last += 1
    return Range(first, last, found.best)
