"""Select line ranges from ranked rows: spans for a token budget, grown hits for a number of results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from .. import patterns as re
from ..index.corpus import RADIUS, Corpus
from ..model import CHARS_PER_TOKEN
from ..records import dataclass
from ..store.api import Bools, Floats, Ints

#: Number of best units that are merged into spans where they are adjacent, and their share of the budget at most.
_MERGED, _MERGED_SHARE = 20, 0.5
#: Number of best units that are looked at first, and of misfits in a row after which a budget counts as full.
_LIMIT = 200
#: Penalty of each further unit of a section where hits shall spread, as a share of the range of all scores.
_REPEATED_SECTION = 0.2
#: Repeated rows whose scores differ by less than this share of the range count as a tie.
_TIE_SHARE = 0.05
#: Least number of terms of a unit that another one can repeat: shorter ones are alike by chance.
_MIN_REPEATED_TERMS = 4
#: What a line of a passage is worth of the one before it, and of a line that differs from it by figures alone; and the
#: least share of the best line's worth that it must have.
_FADING, _REPEATING, _LEAST_WORTH = 0.95, 0.9, 0.58


@dataclass(frozen=True, slots=True)
class Range:
    """Rows ``first..last`` (inclusive) of one file; ``best`` is the row that ranks.

    Longer lines are cut to ``max_tokens`` around that row.
    """

    first: int
    last: int
    best: int
    max_tokens: float | None = None

    @classmethod
    def of_row(cls, row: int) -> Range:
        """Return the range of a single row."""
        return cls(row, row, row)


@dataclass(frozen=True, slots=True)
class Scores:
    """Absolute scores of a hit, in [0, 1], and why it has them.

    ``normalised_cosine`` is 0 at the noise of the model and 1 at a certain match.
    """

    score: float
    text: float | None = None
    vector: float | None = None
    time: float | None = None
    why: str | None = None
    graph: float | None = None
    normalised_cosine: float = 0.0


def ranked_rows(corpus: Corpus, score: Floats, allowed: Bools | None) -> Iterator[int]:
    """Return anchor rows by falling score; ties by day, the newest first, path and line, as in a rebuilt index."""
    return chain.from_iterable(_ranked_blocks(corpus, score, _anchors(corpus, allowed)))


def _ranked_blocks(corpus: Corpus, score: Floats, pool: Bools) -> Iterator[list[int]]:
    """Yield ranked rows in growing blocks, so that the best ones cost no sort of all."""
    left = np.flatnonzero(pool)
    values = score[left]
    size = _LIMIT + 56
    while len(left):
        best = np.ones(len(left), bool)
        if size < len(left):
            # All that tie with the last one come along, or which of them do would depend on chance.
            best = values >= np.partition(values, len(values) - size)[len(values) - size]
        rows = left[best]
        path = corpus.shape.path_rank[corpus.rows.document_id[rows]]
        day = -corpus.rows.day[rows] * corpus.rows.dated[rows]
        yield rows[np.lexsort((rows, corpus.rows.start_line[rows], path, day, -score[rows]))].tolist()
        left, values = left[~best], values[~best]
        size *= 4


def _anchors(corpus: Corpus, allowed: Bools | None) -> Bools:
    return corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed


def _distinct(corpus: Corpus, score: Floats, allowed: Bools | None) -> Iterator[int]:
    """Yield ranked rows without those that say the same as an earlier one but for their days and times.

    Of rows that say the same, and rank alike, the newest stands for all.  An untrusted row never takes the place of a
    trusted one.
    """
    seen: set[tuple[int, bool]] = set()
    likeness, terms, trusted = corpus.rows.likeness, corpus.rows.terms, corpus.shape.trusted
    pool = _anchors(corpus, allowed)
    ranked = ranked_rows(corpus, score, allowed)
    best = list(islice(ranked, _LIMIT))
    counts = Counter(likeness[best].tolist())
    near = _TIE_SHARE * float(score[best[0]] - score.min()) if best else 0.0
    for row in chain(best, ranked):
        if terms[row] >= _MIN_REPEATED_TERMS:
            key = int(likeness[row]), bool(trusted[row])
            if key in seen:
                continue
            seen.add(key)
            if counts[key[0]] > 1:
                equal = find_repetitions(corpus, row, pool)
                equal = equal[score[equal] >= score[row] - near]
                if len(equal) and corpus.rows.day[equal[-1]] > corpus.rows.day[row]:
                    row = int(equal[-1])
        yield row


def find_repetitions(corpus: Corpus, row: int, allowed: Bools | None) -> Ints:
    """Return rows of other lines that say the same as ``row``, in order of time."""
    if corpus.rows.terms[row] < _MIN_REPEATED_TERMS:
        return np.zeros(0, np.int32)
    rows = corpus.rows_with_text_of(row)
    rows = rows[(rows != row) & (corpus.shape.trusted[rows] == corpus.shape.trusted[row])]
    if allowed is not None:
        rows = rows[allowed[rows]]
    in_order: Ints = rows[np.lexsort((rows, corpus.rows.day[rows]))]
    return in_order


# -- a budget of tokens -----------------------------------------------------------------------------


def fill_budget(
    corpus: Corpus,
    score: Floats,
    allowed: Bools | None,
    budget: float,
    headings: Bools | None = None,
    overhead: float = 0.0,
    words: Floats | None = None,
) -> list[Range]:
    """Return the best units whose lines cost at most ``budget`` tokens together, and ``overhead`` each; best first.

    One of ``headings`` (``bool[n]``) comes with the first line below it, where it is not given yet.

    Lines that do not fit as a whole are cut around their best unit.  Where that unit itself does not fit, smaller ones
    of a lower rank are tried instead, unless it is the best of all.  ``words`` is the keyword score of each row: a row
    without one is put off if the row beside it, which has one, would no longer fit.
    """
    ranked = _distinct(corpus, score, allowed)
    order: list[int] = []
    spent = 0.0
    while len(order) < _MERGED and spent < _MERGED_SHARE * budget and (row := next(ranked, None)) is not None:
        order.append(row)
        spent += token_cost(corpus, row, row)
    place = {row: at for at, row in enumerate(order)}
    joined: list[Range] = []
    for row in sorted(order):
        last = joined[-1] if joined else None
        if last is not None and last.last == row - 1 and _same_section(corpus, row - 1, row):
            joined[-1] = Range(last.first, row, row if score[row] > score[last.best] else last.best)
        else:
            joined.append(Range.of_row(row))
    waiting = sorted(joined, key=lambda span: -place[span.best])
    left, misses = budget, 0
    out: list[Range] = []
    taken: set[int] = set()
    preferred: set[int] = set()
    while misses < _LIMIT and left >= 1 + overhead:
        if waiting:
            span = waiting.pop()
        elif (row := next(ranked, None)) is not None:
            span = Range.of_row(row)
        else:
            break
        whole = _with_heading(corpus, _whole_lines(corpus, span), headings, taken)
        if any(row in taken for row in range(whole.first, whole.last + 1)):
            continue
        price = token_cost(corpus, whole.first, whole.last) + overhead
        other = None if words is None else _row_with_words(corpus, words, allowed, whole)
        if other is not None and other not in preferred and price + token_cost(corpus, other, other) + overhead > left:
            preferred.add(other)
            waiting += [span, Range.of_row(other)]
            continue
        if price > left and span.first < span.last:
            single = map(Range.of_row, range(span.first, span.last + 1))
            waiting = sorted([*waiting, *single], key=lambda span: -place[span.best])
            continue
        if price > left and (not out or token_cost(corpus, span.best, span.best) + overhead <= left):
            whole = replace(_whole_lines(corpus, span), max_tokens=left - overhead)
            price = left
            whole = _around_words(whole, words)
        if price <= left:
            left -= price
            taken.update(range(whole.first, whole.last + 1))
            out.append(whole)
            misses = 0
        else:
            misses += 1
    return out


def _around_words(span: Range, words: Floats | None) -> Range:
    """Return ``span`` with the best row for the question's words as its best where that has none of them."""
    if words is None or words[span.best]:
        return span
    at = span.first + int(words[span.first : span.last + 1].argmax())
    return replace(span, best=at if words[at] else span.best)


def _row_with_words(corpus: Corpus, words: Floats, allowed: Bools | None, span: Range) -> int | None:
    """Return the row beside ``span`` that has the question's words where it has none itself."""
    if words[span.first : span.last + 1].any():
        return None
    near = np.arange(max(0, span.best - RADIUS), min(len(corpus), span.best + RADIUS + 1))
    near = near[corpus.shape.section[near] == corpus.shape.section[span.best]]
    near = near if allowed is None else near[allowed[near]]
    best = int(near[words[near].argmax()])
    return best if words[best] else None


def _with_heading(corpus: Corpus, span: Range, headings: Bools | None, taken: Set[int]) -> Range:
    """Return ``span`` with the row right above it if that is one of ``headings``, and free."""
    above = span.first - 1
    free = headings is not None and above >= 0 and above not in taken and headings[above]
    return Range(above, span.last, span.best) if free and _same_section(corpus, above, span.first) else span


def select_passages(
    corpus: Corpus,
    score: Floats,
    ranked: Bools | None,
    allowed: Bools | None,
    texts: Callable[[Ints], Sequence[str]],
    budget: float,
    limit: int,
    chars: int,
    overhead: float = 0.0,
    words: Floats | None = None,
) -> list[Range]:
    """Return at most ``limit`` passages that answer, for ``budget`` tokens and ``overhead`` each; in no order.

    A passage of several lines has at most ``chars`` characters.
    An ``allowed`` line is worth its ``score`` in [0, 1] if it is ``ranked``, or that of a ranked line near it in its
    file, less by :data:`_FADING` for each line from there; and less for each line of more worth, in ``texts``, that
    differs from it by figures alone.  Lines worth less than :data:`_LEAST_WORTH` of the best are left out.  What stands
    between two lines of a window is told.
    """
    own = np.where(_anchors(corpus, ranked), score, np.float32(0))
    least = _LEAST_WORTH * float(own.max())
    sources, worth, document = np.flatnonzero(own >= least), own.copy(), corpus.rows.document_id
    for distance in range(1, int(math.log(_LEAST_WORTH, _FADING)) + 1):
        for shift in (-distance, distance):
            at = sources[(sources + shift >= 0) & (sources + shift < len(own))]
            at = at[document[at] == document[at + shift]]
            np.maximum.at(worth, at + shift, own[at] * np.float32(_FADING**distance))
    rows = list(islice(_distinct(corpus, worth, allowed), _LIMIT))
    copies: Counter[str] = Counter()
    value: dict[int, float] = {}
    for row, text in zip(rows, texts(np.array(rows, np.int32)), strict=True):
        plain = " ".join(re.split(r"[\W\d_]+", text.casefold()))
        value[row] = float(worth[row]) * _REPEATING ** copies[plain]
        copies[plain] += corpus.rows.terms[row] >= _MIN_REPEATED_TERMS
    out: list[Range] = []
    left = budget
    for row in sorted((row for row in rows if value[row] >= least), key=lambda row: -value[row]):
        if any(span.first <= row <= span.last for span in out):
            continue
        whole = _whole_lines(corpus, Range.of_row(row))
        before = max((span for span in out if span.last < row), key=lambda span: span.last, default=None)
        after = min((span for span in out if span.first > row), key=lambda span: span.first, default=None)
        near = [span for span in (before, after) if span is not None and _is_near(corpus, span, whole, allowed)]
        for parts in (near, near[:1], near[1:], []):
            first = min(span.first for span in (*parts, whole))
            last = max(span.last for span in (*parts, whole))
            if corpus.shape.chars_before[last + 1] - corpus.shape.chars_before[first] <= chars:
                break
        price = token_cost(corpus, first, last) - sum(
            token_cost(corpus, span.first, span.last) + overhead for span in parts
        )
        joined = Range(first, last, max((*(span.best for span in parts), row), key=lambda at: own[at]))
        if not out and price + overhead > left:
            return [_around_words(replace(joined, max_tokens=left - overhead), words)]
        if price + overhead <= left and (parts or (len(out) < limit and own[row] >= least)):
            left -= price + overhead
            out = [*(span for span in out if span not in parts), joined]
    return out


def _is_near(corpus: Corpus, a: Range, b: Range, allowed: Bools | None) -> bool:
    """Return true if two ranges of a file are no further apart than a window reaches, over ``allowed`` rows."""
    before, after = sorted((a, b), key=lambda span: span.first)
    return (
        after.first - before.last <= RADIUS + 1
        and bool(corpus.rows.document_id[a.best] == corpus.rows.document_id[b.best])
        and (allowed is None or bool(allowed[before.last + 1 : after.first].all()))
    )


# -- a number of hits -------------------------------------------------------------------------------


def grow_hits(
    corpus: Corpus,
    score: Floats,
    ranked: Bools | None,
    tokens: float,
    limit: int,
    allowed: Bools | None = None,
    spread: bool = False,
) -> list[Range]:
    """Return the ``limit`` best ``ranked`` units, each grown over its neighbours, best one first, to about ``tokens``.

    A hit grows over ``allowed`` units of its file, past the ends of its section; no unit comes twice.  With ``spread``
    units of other sections go before a further one of the same: what a count adds up stands in many sections.
    """
    grower = _Grower(corpus, score, allowed, tokens, corpus.rows.document_id)
    rows = _distinct(corpus, score, ranked)
    ranges = map(grower.grow, _spread_out(corpus, score, rows) if spread else rows)
    return list(islice(filter(None, ranges), limit))


def grow_in_sections(
    corpus: Corpus, score: Floats, rows: Sequence[int], tokens: float, allowed: Bools | None = None
) -> list[Range | None]:
    """Return a range for each of ``rows``, grown within its section; ``None`` for a row that an earlier one took in."""
    return list(map(_Grower(corpus, score, allowed, tokens, corpus.shape.section).grow, rows))


def _spread_out(corpus: Corpus, score: Floats, ranked: Iterator[int]) -> Iterator[int]:
    """Yield ``ranked`` rows; the first ones lose :data:`_REPEATED_SECTION` for each earlier row of their section."""
    rows = list(islice(ranked, _LIMIT))
    if not rows:
        return
    value = score[rows].astype(np.float64)
    step = _REPEATED_SECTION * (value[0] - float(score.min()))
    section = corpus.shape.section[rows]
    for _ in rows:
        at = int(value.argmax())
        yield rows[at]
        value[section == section[at]] -= step
        value[at] = -np.inf
    yield from ranked


class _Grower:
    """Grows ranges over free, ``allowed`` rows of the same ``place``: a text not over its front matter."""

    def __init__(self, corpus: Corpus, score: Floats, allowed: Bools | None, tokens: float, place: Ints) -> None:
        self._score, self._allowed, self._place = score, allowed, place
        self._taken = np.zeros(len(score), bool)
        self._tied, self._meta = corpus.shape.tied, corpus.rows.meta
        #: The size of what precedes each row, in characters whatever they count to a model: a hit is a passage, as long
        #: in one language as in another.
        self._before, self._most = corpus.shape.chars_before, tokens * CHARS_PER_TOKEN

    def grow(self, row: int) -> Range | None:
        """Return the range of ``row``; ``None`` when it is in another one already."""
        taken, tied, before, score = self._taken, self._tied, self._before, self._score
        if taken[row]:
            return None
        first, last = row, row
        while tied[first]:
            first -= 1
        while tied[last + 1]:
            last += 1
        # Rows further away cannot be paid for.
        low = int(before.searchsorted(before[row + 1] - int(self._most) - 1))
        high = min(len(score), int(before.searchsorted(before[row] + int(self._most) + 1)))
        near = slice(low, high)
        free = ~taken[near] & (self._place[near] == self._place[row]) & (self._meta[near] <= self._meta[row])
        if self._allowed is not None:
            free &= self._allowed[near]
        upward = downward = True
        while True:
            upward = upward and first > low and bool(free[first - 1 - low])
            downward = downward and last + 1 < high and bool(free[last + 1 - low])
            if not (upward or downward):
                break
            up = upward and not (downward and score[last + 1] > score[first - 1])
            start, end = (first - 1, last) if up else (first, last + 1)
            while tied[start]:
                start -= 1
            while tied[end + 1]:
                end += 1
            if before[end + 1] - before[start] <= self._most and not (taken[start] or taken[end]):
                first, last = start, end
            elif up:
                upward = False
            else:
                downward = False
        if taken[first : last + 1].any():
            return None
        taken[first : last + 1] = True
        above = first - 1  # front matter that a text comes up to is no hit beside it
        while above >= 0 and self._meta[above] > self._meta[row] and self._place[above] == self._place[row]:
            taken[above] = True
            above -= 1
        return Range(first, last, row)


# -- parts of sections ------------------------------------------------------------------------------


def section_head(corpus: Corpus, row: int, tokens: float, visible: Bools | None = None) -> Range:
    """Return the ``visible`` lines of a section from ``row`` on that fit ``tokens``, and at least the first."""
    span = _whole_lines(corpus, Range.of_row(row))
    while span.last + 1 < len(corpus) and _same_section(corpus, span.last + 1, row):
        if visible is not None and not visible[span.last + 1]:
            break
        wider = _whole_lines(corpus, Range(span.first, span.last + 1, row))
        if token_cost(corpus, wider.first, wider.last) > tokens:
            break
        span = wider
    return span


def token_cost(corpus: Corpus, first: int, last: int, max_tokens: float | None = None) -> float:
    """Return the tokens of rows ``first..last`` as they are shown, with their line ends, ``max_tokens`` at most."""
    whole = float(corpus.shown_tokens[first : last + 1].sum(dtype=np.float64))
    return whole if max_tokens is None else min(whole, max_tokens)


def line_range(corpus: Corpus, span: Range) -> tuple[int, int]:
    """Return the first and the last line of a range."""
    part = slice(span.first, span.last + 1)
    return int(corpus.rows.start_line[part].min()), int(corpus.rows.end_line[part].max())


def _same_section(corpus: Corpus, a: int, b: int) -> bool:
    return bool(corpus.shape.section[a] == corpus.shape.section[b])


def _whole_lines(corpus: Corpus, span: Range) -> Range:
    """Widen a range over units that share a line with it: a result is made of whole lines."""
    first, last, tied = span.first, span.last, corpus.shape.tied
    while tied[first]:
        first -= 1
    while tied[last + 1]:
        last += 1
    return Range(first, last, span.best)
