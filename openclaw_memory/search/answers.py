"""Answer a query from an index: hits, listings, and the thread behind the best hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ..model import HIT_TOKENS, SEEDS, RecallHit, SearchHit, SearchRequest
from ..records import dataclass
from ..store.api import Bools, Floats, Ints
from . import hits, timeline
from .confidence import NONSENSE, assess, is_good_match
from .current import order_current_first
from .features import scaled
from .hits import Range, Scores
from .question import Question
from .ranking import Query, Ranking, filter_rows, rank, score_keywords, without_machine_text
from .resident import ResidentIndex

if TYPE_CHECKING:
    from ..graph import thread

    #: A section of a thread, and the lines of it that are shown.
    _Passage = tuple[thread.Stop, Range]

H = TypeVar("H", SearchHit, RecallHit)

#: A thread starts from sections whose best unit has at least this share of the highest score.
_SEED_SHARE = 0.5
#: Most stops of a thread within a budget, and most of them that only the walk reaches.
_STOPS, _WALKED = 25, 3
#: Least score of a passage that answers the question, scaled to [0, 1] between the worst row and the best.
_ANSWERING = 0.65


@dataclass(frozen=True, slots=True)
class Answer(Generic[H]):
    """Hits, whether they answer the question, and how many rows had no vector.

    ``left_out`` counts the further sections of a listing.  ``machine`` is true if days were asked for of which there is
    only what programs wrote.
    """

    hits: list[H] = field(default_factory=list)
    good_match: bool = False
    missing: int = 0
    left_out: int | None = None
    machine: bool = False


def search(query: Query, index: ResidentIndex) -> Answer[SearchHit]:
    """Return the hits of a query, best first; ``index`` must have been refreshed for the model of its vector."""
    with index.reading():
        if not len(index.corpus):
            return Answer()
        ranking = _rank_current_first(query, index)
        if ranking.allowed is not None and not ranking.allowed.any():
            return Answer(missing=ranking.missing)
        filtered = filter_rows(ranking.request, index)
        ranges = _select_ranges(ranking, index, filtered)
        scores, good_match = _assess_all(ranking, ranges)
        similar = [hits.find_repetitions(index.corpus, span.best, filtered).tolist() for span in ranges]
        shown = index.display.hits(
            ranges,
            scores,
            similar,
            question=query.question.text,
            as_of=query.request.as_of,
            successors=ranking.successors,
        )
        machine = (bool(ranking.features.days) or _has_range(query.request)) and _is_machine(index, ranges)
        return Answer([hit for hit in shown if hit is not None], good_match, ranking.missing, machine=machine)


def _has_range(request: SearchRequest) -> bool:
    return request.since is not None or request.until is not None


def _is_machine(index: ResidentIndex, ranges: Sequence[Range]) -> bool:
    return bool(ranges) and all(index.corpus.rows.machine[span.best] for span in ranges)


def _rank_current_first(query: Query, index: ResidentIndex) -> Ranking:
    """Return the ranking of a query with what holds now before what it replaced."""
    ranking = rank(query, index)
    order, successors = order_current_first(query.question, index, ranking.order, ranking.allowed)
    return replace(ranking, order=order, successors=successors)


def _select_ranges(ranking: Ranking, index: ResidentIndex, filtered: Bools | None) -> list[Range]:
    """Return spans for the budget of the request, else its number of hits, grown over the ``filtered`` rows."""
    corpus, request, features = index.corpus, ranking.request, ranking.features
    if request.budget is None:
        limit = request.max_results or index.settings.max_results
        # A hit may take in what no word found.
        allowed = ranking.allowed if features.only_days else filtered
        return hits.grow_hits(
            corpus, ranking.order, ranking.allowed, HIT_TOKENS, limit, allowed, features.spans_sections
        )
    return _fill_budget(ranking, index, request.budget)


def _fill_budget(ranking: Ranking, index: ResidentIndex, budget: float) -> list[Range]:
    """Return the best lines of a ranking within a budget of tokens, best first."""
    once, rows = index.archive.without_originals(ranking.allowed), ranking.corpus.rows
    headings = None
    if ranking.words is not None:  # those with a word of the question that state a figure or a day themselves
        headings = rows.heading & (ranking.words > 0) & (rows.amount | (rows.first_day > 0))
    overhead = _overhead(ranking.request)
    return hits.fill_budget(ranking.corpus, ranking.order, once, budget, headings, overhead, ranking.words)


def _overhead(request: SearchRequest) -> float:
    return timeline.DAY_TOKENS if request.dates else 0.0


def _assess_all(ranking: Ranking, ranges: Sequence[Range]) -> tuple[list[Scores], bool]:
    """Return the scores of ranges, and true if these are a good match, which is decided with the lines around them."""
    in_context = [assess(ranking, span) for span in ranges]
    alone = ranking.request.budget is not None
    shown = [assess(ranking, span, alone) for span in ranges] if alone else in_context
    return shown, is_good_match(ranking, ranges, in_context)


def keyword_candidates(question: Question, index: ResidentIndex, limit: int) -> Ints:
    """Return the ids of the best units by keywords alone, best first: those to embed first."""
    with index.reading():
        scores = score_keywords(question, index)
        total = scores.unit + 2 * scores.window
        if index.archive.masks is not None:
            total[~index.archive.masks.shown] = 0
        rows = np.argsort(-total, kind="stable")[:limit]
        return index.corpus.rows.unit_id[rows[total[rows] > 0]]


def list_sections(request: SearchRequest, index: ResidentIndex) -> Answer[SearchHit]:
    """Return a hit for each section of the request's range, newest first: see :func:`.timeline.newest`."""
    with index.reading():
        if not len(index.corpus):
            return Answer(left_out=0)
        limit = None if request.budget is not None else request.max_results or index.settings.max_results
        visible = index.archive.visible_rows(request.grains, request.include_archived)
        ranges, left_out = timeline.newest(
            index.corpus, filter_rows(request, index), HIT_TOKENS, limit, request.budget, visible
        )
        scores = Scores(1.0, why="in the range; newest first" if request.explain else None)
        shown = index.display.hits(ranges, [scores] * len(ranges), as_of=request.as_of)
        machine = _has_range(request) and _is_machine(index, ranges)
        return Answer([hit for hit in shown if hit is not None], left_out=left_out, machine=machine)


# -- threads ----------------------------------------------------------------------------------------


def recall(query: Query, index: ResidentIndex, hops: int) -> Answer[RecallHit]:
    """Return the thread behind the best hits of a query, in order of time; all else as for :func:`search`.

    The filters of the request restrict the results and the sections where the walk starts, not those that it passes
    through.  With ``max_results`` each result is a passage.  Otherwise the thread has the lines that answer and
    those around them within ``budget`` (default: the tokens of :data:`SEEDS` hits), and sections of the walk in what is
    left of it.
    """
    from ..graph import thread
    from ..graph.walk import walk

    with index.reading():
        if not len(index.corpus):
            return Answer()
        ranking = _rank_current_first(query, index)
        request, network = ranking.request, index.graph.network
        filtered = without_machine_text(ranking.order, filter_rows(request, index), index.corpus)
        ranking = replace(ranking, allowed=without_machine_text(ranking.order, ranking.allowed, index.corpus))
        seeds = _seeds(ranking, index)
        if not seeds or max(seeds.values()) <= 0:
            return Answer(missing=ranking.missing)
        visible = index.archive.visible_rows(request.grains, request.include_archived)
        passable = None if visible is None else np.logical_or.reduceat(visible, network.first_row)
        walked = walk(network, seeds, hops, passable=passable)
        relevance = scaled(ranking.score)
        limit = _WALKED if request.max_results is None else request.max_results
        stops = thread.choose_stops(
            network, index.graph.index, index.corpus, walked, relevance, filtered, limit, request.max_results is None
        )
        if request.max_results is None:
            passages = _within_budget(ranking, index, relevance, filtered, stops)
        else:
            rows = [stop.row for stop in stops]
            ranges = hits.grow_in_sections(index.corpus, ranking.score, rows, HIT_TOKENS, visible)
            passages = [(stop, span) for stop, span in zip(stops, ranges, strict=True) if span is not None]
        sections = [stop.arrival.section for stop, _ in passages]
        spans = [span for _, span in passages]
        describer = thread.EdgeDescriber(
            network, index.graph.index, walked, sections, index.graph.labels, index.display.citation
        )
        scores, good_match = _assess_all(ranking, spans)
        shown = index.display.hits(
            spans, scores, question=query.question.text, as_of=query.request.as_of, successors=ranking.successors
        )
        return Answer(
            [
                RecallHit(
                    **{f.name: getattr(hit, f.name) for f in fields(SearchHit)} | {"score": round(stop.score, 4)},
                    via=describer.edges(stop.arrival, sections[:at]),
                    distance=stop.arrival.distance,
                    relevance=round(hit.score, 4),
                )
                for at, ((stop, _), hit) in enumerate(zip(passages, shown, strict=True))
                if hit is not None
            ],
            good_match,
            ranking.missing,
        )


def _seeds(ranking: Ranking, index: ResidentIndex) -> dict[int, float]:
    """Return the sections that a thread starts from, with their relevance in [0, 1]."""
    seeds: dict[int, float] = {}
    section_of = index.graph.network.section_of
    for row in hits.ranked_rows(index.corpus, ranking.order, ranking.allowed):
        relevance = assess(ranking, Range.of_row(row)).score
        if len(seeds) == SEEDS or (seeds and relevance < _SEED_SHARE * max(seeds.values())):
            break
        seeds.setdefault(int(section_of[row]), relevance)
    return seeds


def _answering(ranking: Ranking) -> Floats:
    """Return how well each row answers, in [0, 1]: its place among all, or, of a few, its share of the words."""
    order, words = scaled(ranking.order), ranking.words
    if len(order) > _STOPS or words is None or not words.any():
        return order
    answering: Floats = np.maximum(order, words / words.max())  # of a few the last may answer, too
    return answering


def _within_budget(
    ranking: Ranking, index: ResidentIndex, relevance: Floats, filtered: Bools | None, steps: Sequence[thread.Stop]
) -> list[_Passage]:
    """Return the passages of a thread within its budget, in order of time: those that answer, then steps to more.

    A passage may take in ``filtered`` lines that no word found.  It answers if its score, scaled to [0, 1], or its
    confidence is high enough: in another language than the question's a line has no word of it.
    """
    from ..graph import thread
    from ..graph.walk import Arrival

    corpus, network, overhead = index.corpus, index.graph.network, _overhead(ranking.request)
    budget = ranking.request.budget or SEEDS * HIT_TOKENS
    ranked, allowed = map(index.archive.without_originals, (ranking.allowed, filtered))
    answering, size = _answering(ranking), (budget, _STOPS, index.settings.snippet_chars)
    spans = hits.select_passages(corpus, answering, ranked, allowed, index.texts, *size, overhead, ranking.words)
    sure = [assess(ranking, span, alone=True).score for span in spans]
    least = max(NONSENSE, _SEED_SHARE * max(sure, default=0.0))
    spans = [
        span for span, score in zip(spans, sure, strict=True) if answering[span.best] >= _ANSWERING or score >= least
    ]
    left = budget - sum(hits.token_cost(corpus, span.first, span.last, span.max_tokens) + overhead for span in spans)
    by_row = {step.row: step for step in steps if not any(span.first <= step.row <= span.last for span in spans)}
    reached = np.zeros(len(corpus), bool)
    reached[list(by_row)] = True
    spans += hits.fill_budget(corpus, ranking.order, reached, left, overhead=overhead)[: _STOPS - len(spans)]
    passages = []
    for span in spans:
        section, value = int(network.section_of[span.best]), float(relevance[span.best])
        stop = by_row.get(span.best) or thread.Stop(Arrival.seed(section, value), span.best, value)
        passages.append((stop, span))
    return sorted(passages, key=lambda passage: thread.time_key(network, corpus, passage[0]))
