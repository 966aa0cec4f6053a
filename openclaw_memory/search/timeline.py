"""Order memory by time: the range of a request, its newest sections, and hits with their dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TypeVar

import numpy as np

from ..errors import RequestError
from ..index.corpus import Corpus
from ..model import SearchHit, SearchRequest, bounds, tokens_of
from ..store.api import Bools
from .hits import Range, section_head, token_cost

#: Tokens of the day that a snippet begins with.
DAY_TOKENS = tokens_of(f"[{date.min}] ")

H = TypeVar("H", bound=SearchHit)


def bounded(
    request: SearchRequest, minimum_days_ago: int | None, maximum_days_ago: int | None, today: date
) -> SearchRequest:
    """Put days that count back from the ``now`` of a request (default: ``today``) into its range.

    All bounds hold at once.  Raises :class:`RequestError` when no day can satisfy them.
    """
    today = request.now or today
    for name, days in (("minimum_days_ago", minimum_days_ago), ("maximum_days_ago", maximum_days_ago)):
        if days is not None:
            bounds.check_number(name, days, 0, whole=True)
    if minimum_days_ago is not None and maximum_days_ago is not None and minimum_days_ago > maximum_days_ago:
        raise RequestError(
            f"no day is at least {minimum_days_ago} and at most {maximum_days_ago} days ago; swap the two numbers"
        )
    since, until = request.since, request.until
    if maximum_days_ago is not None:
        since = max(_days_before(today, maximum_days_ago), since or date.min)
    if minimum_days_ago is not None:
        until = min(_days_before(today, minimum_days_ago), until or date.max)
    if since is not None and until is not None and since > until:
        raise RequestError(
            f"the days asked for leave none: from {since} to {until}, counted from {today}; widen the range"
        )
    return replace(request, since=since, until=until)


def _days_before(today: date, days: int) -> date:
    return date.min if days >= today.toordinal() else today - timedelta(days=days)


def newest(
    corpus: Corpus,
    allowed: Bools | None,
    tokens: float,
    limit: int | None,
    budget: float | None,
    visible: Bools | None = None,
) -> tuple[list[Range], int]:
    """Return a range for each section, newest day first, and the number of sections that are left out.

    A range is about ``tokens`` long at most, and of ``visible`` rows.  They end after ``limit`` of them, or when
    ``budget`` tokens are spent; the last one is cut to the rest.
    Sections of which no text, file name or front matter states a day come last.  Of those of a day that only programs
    wrote there is one line, behind its other sections.
    """
    anchors = np.flatnonzero(corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed)
    _, at = np.unique(corpus.shape.section[anchors], return_index=True)
    first = anchors[at]
    rows = corpus.rows
    day = rows.day[first]
    section = corpus.shape.section
    machine = (np.bincount(section[anchors], ~rows.machine[anchors]) == 0)[section[first]] & rows.dated[first]
    path = corpus.shape.path_rank[rows.document_id[first]]
    ranges: list[Range] = []
    left = budget
    reported: set[int] = set()
    for at in np.lexsort((rows.start_line[first], path, machine, -day)).tolist():
        if len(ranges) == limit or (left is not None and left < 1 + DAY_TOKENS):
            break
        row = int(first[at])
        span = section_head(corpus, row, tokens if left is None else min(tokens, left - DAY_TOKENS), visible)
        if machine[at]:
            if int(day[at]) in reported:
                continue
            reported.add(int(day[at]))
            span = Range.of_row(row)
        if left is not None:
            span = replace(span, max_tokens=left - DAY_TOKENS)
            left -= token_cost(corpus, span.first, span.last, span.max_tokens) + DAY_TOKENS
        ranges.append(span)
    return ranges, len(first) - len(ranges)


def relevant(hits: Sequence[H], share: float = 0.25) -> list[H]:
    """Return the hits with at least a ``share`` of the best score: in order of time nobody sees which that is."""
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= share * best]


def by_time(hit: SearchHit) -> tuple[date, bool, str, int]:
    """Return a key that sorts hits by day, undated ones last, path and line."""
    return hit.date or date.max, hit.date is None, hit.path, hit.start_line


def in_order(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """Return hits by their dates, undated ones last, each snippet begun by its date: ``[2026-03-03] …``."""
    return dated(sorted(hits, key=by_time))


def dated(hits: Sequence[H]) -> list[H]:
    """Return hits in their order, each snippet begun by its date unless it is already."""
    return [
        hit
        if hit.date is None or hit.snippet.startswith(f"[{hit.date}] ")
        else replace(hit, snippet=f"[{hit.date}] {hit.snippet}")
        for hit in hits
    ]
