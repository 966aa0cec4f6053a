"""Rank all rows of an index for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from ..index.corpus import Corpus
from ..model import Grain, Kind, SearchRequest
from ..records import dataclass
from ..store.api import Bools, Floats
from ..text import analysis
from . import bm25
from .decay import Adjustment, demote_outdated, recency
from .features import Features, collect_features, cosines, fuse, reciprocal_ranks, restrict_to_days, scaled
from .hits import ranked_rows
from .question import Question
from .resident import ResidentIndex

#: Number of best units whose concepts raise other units that share them (pseudo-relevance feedback).
_CONCEPT_SEEDS = 10
#: A search for words finds notes, too, whose names hold this share of the question.
_MIN_NAME_SHARE = 0.25
#: Archived lines answer where their best one is within this share of all scores' range of the best line beside them.
_ARCHIVE_MARGIN = 0.15
#: What a section of a chat counts more as one where a question is about how things are now: it says what held then.
_PASSING = 4.0
#: How far turns of conversations rank behind notes where both are asked for, as a share of the scores' range.
_BEHIND_NOTES = 0.25
_SESSION = list(Kind).index(Kind.SESSION)


@dataclass(frozen=True, slots=True)
class Query:
    """A question for the index: with its filters, how to match it, and its vector ``float32[d]``.

    ``noise`` is the cosine that unrelated texts rarely exceed with the model of the vector, ``language_coverage`` how
    well that model knows the language of the question, in [0, 1].
    """

    question: Question
    request: SearchRequest
    mode: str
    vector: Floats | None = None
    noise: float = 0.2
    language_coverage: float = 1.0


@dataclass(frozen=True)
class Ranking:
    """Scores of all rows for a query, ``float32[n]`` each, and what they are made of; ``order`` sorts the rows.

    It holds for as long as the index is held.  ``request`` asks for archived notes too where summaries did not answer
    that of the query.  ``sure`` is the share of the way from noise to 1 at which a cosine is sure, ``missing`` the
    number of rows without a vector; ``successors`` names for rows the one that replaced them.
    """

    query: Query
    request: SearchRequest
    corpus: Corpus
    features: Features
    score: Floats
    order: Floats
    allowed: Bools | None
    similarities: Floats | None
    graph: Floats | None
    adjustment: Adjustment | None
    sure: float
    missing: int = 0
    successors: Mapping[int, int] = field(default_factory=dict)

    @property
    def words(self) -> Floats | None:
        """BM25 of each row for the question's words, ``float32[n]``; ``None`` where these were not looked for."""
        return None if self.features.keyword is None else self.features.keyword.unit

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """The question's own word for each of its terms."""
        return analysis.words_by_term(self.query.question.text)


def rank(query: Query, index: ResidentIndex) -> Ranking:
    """Rank all rows of ``index``, which the caller holds, refreshed for the model of the query's vector.

    There must be a row.
    """
    corpus, question, settings = index.corpus, query.question, index.settings
    keyword = score_keywords(question, index) if query.mode != "vector" else None
    similarities, missing = None, 0
    if query.vector is not None and query.mode != "keyword" and index.vectors is not None:
        similarities, missing = cosines(corpus, index.vectors, query.vector, keyword)
    features = collect_features(
        corpus,
        question,
        keyword,
        similarities,
        query.language_coverage if similarities is not None else 1.0,
        index.vectors is None or index.vectors.exhaustive,
        query.noise,
    )
    if not features.days and question.asks_now:
        features.values["now"] = recency(corpus, question.day)
        if "transcript" in features.values:
            features.values["transcript"] += np.float32(_PASSING) * _in_chats(corpus, features.values["transcript"])
    request = _with_archived(query.request, index)
    is_widened = request is not query.request
    allowed = restrict_to_days(features, filter_rows(request, index), index.archive.uncited if is_widened else None)
    fusion = request.fusion or settings.fusion
    if fusion == "rrf":
        score = reciprocal_ranks(features, index.weights, allowed)
    else:
        # Equal texts must tie, whatever the last bits of their dot products are.
        score = fuse(features, index.weights, allowed)
        np.round(score, 5, out=score)
    if query.mode == "keyword" and keyword is not None and not features.only_days:
        matched = keyword.window > 0
        if "name" in features.values:
            matched |= features.values["name"] >= _MIN_NAME_SHARE
        allowed = matched if allowed is None else allowed & matched
    # Where no row has anything of the question, the best ones are the longest: they say nothing about it.
    has_words = "name" in features.values or (keyword is not None and bool(keyword.window.any()))
    related = similarities is not None or has_words
    graph = None
    if query.mode == "graph":
        named = index.graph.find_mentioned(question.text)
        graph = _by_concepts(index, named, score, allowed) if named or related else np.zeros_like(score)
        score = graph + np.float32(0.1) * scaled(score, allowed)
        allowed = graph > 0 if allowed is None else allowed & (graph > 0)
    elif request.near:
        graph = index.graph.proximity(request.near, request.max_distance)
        share = np.float32(request.vector_weight)
        score = share * scaled(score, allowed) + (1 - share) * graph
    elif query.mode == "hybrid" and fusion == "score" and index.weights["graph"] and related:
        graph = _by_concepts(index, (), score, allowed)
        sharing = np.flatnonzero(graph)
        score[sharing] = np.round(score[sharing] + np.float32(index.weights["graph"]) * graph[sharing], 5)
        graph = graph if len(sharing) else None
    adjustment = _adjustment(query, index)
    if adjustment is not None:
        score = adjustment.apply(score, allowed)
    order = demote_outdated(corpus, index.archive, index.superseded(query.request.as_of), score, allowed)
    if Kind.SESSION in request.kinds:
        order = order - (corpus.shape.kind == _SESSION) * np.float32(_BEHIND_NOTES) * (order.max() - order.min())
    if is_widened:
        allowed, request = _choose_archived(index, order, allowed, query.request, request)
    if without_machine_text(order, allowed, corpus) is not allowed:
        order = order - corpus.rows.machine * (order.max() - order.min())
    return Ranking(
        query,
        request,
        corpus,
        features,
        score,
        order,
        allowed,
        similarities,
        graph,
        adjustment,
        index.sure,
        missing,
    )


def _in_chats(corpus: Corpus, transcript: Floats) -> Floats:
    """Return 1 for the rows of sections that are mostly chats, their headings too, else 0: ``float32[n]``."""
    section = corpus.shape.section
    share = np.bincount(section, weights=transcript) / np.maximum(np.bincount(section), 1)
    return (share >= 0.5).astype(np.float32).take(section)


def score_keywords(question: Question, index: ResidentIndex) -> bm25.KeywordScores:
    """Score all rows by the question's words, and look these up in the names of files."""
    assert index.keyword is not None
    words = question.content_words
    return replace(
        bm25.score(index.corpus, index.keyword, words, index.lengths),
        named=tuple(index.names.with_words(words)),
        exact=index.names.named_exactly(question.text),
        document=index.corpus.rows.document_id,
    )


def filter_rows(request: SearchRequest, index: ResidentIndex) -> Bools | None:
    """Return the rows that pass the filters of a request, ``bool[n]``; ``None`` for all."""
    rows, shape = index.corpus.rows, index.corpus.shape
    masks: list[Bools] = []
    if request.kinds:
        masks.append(np.isin(shape.kind, [list(Kind).index(kind) for kind in request.kinds]))
    elif (sessions := shape.kind == _SESSION).any():
        masks.append(~sessions)
    if request.grains:
        masks.append(np.isin(shape.grain, [list(Grain).index(grain) for grain in request.grains]))
    if request.since is not None:
        masks.append(rows.day >= request.since.toordinal())
    if request.until is not None:
        masks.append((rows.day <= request.until.toordinal()) & rows.dated)
    if request.as_of is not None:
        masks.append(index.written_by(request.as_of))
    if request.concepts:
        masks.append(index.graph.filter_rows(request.concepts))
    visible = index.archive.visible_rows(request.grains, request.include_archived)
    if visible is not None:
        masks.append(visible)
    return np.logical_and.reduce(masks) if masks else None


def without_machine_text(order: Floats, allowed: Bools | None, corpus: Corpus) -> Bools | None:
    """Return ``allowed`` without rows that programs wrote; all of it where such a row is the best one."""
    machine, anchor = corpus.rows.machine, corpus.shape.anchor
    if not machine.any() or machine[np.where(anchor if allowed is None else anchor & allowed, order, -np.inf).argmax()]:
        return allowed
    return ~machine if allowed is None else allowed & ~machine


# -- archived notes ---------------------------------------------------------------------------------


def _with_archived(request: SearchRequest, index: ResidentIndex) -> SearchRequest:
    """Return ``request`` with archived notes, unless there are none or it says itself what it wants."""
    masks = index.archive.masks
    if masks is None or request.include_archived or request.grains or not masks.archived.any():
        return request
    return replace(request, include_archived=True)


def _choose_archived(
    index: ResidentIndex, order: Floats, allowed: Bools | None, request: SearchRequest, widened: SearchRequest
) -> tuple[Bools | None, SearchRequest]:
    """Return the rows that may be found, and for which request: ``widened`` where summaries do not answer ``request``.

    They do when no line that they left out answers nearly as well as the best other one.
    """
    corpus, masks = index.corpus, index.archive.masks
    assert masks is not None
    once = index.archive.without_originals(allowed)
    candidates = corpus.shape.anchor if once is None else corpus.shape.anchor & once
    shown, left_out = candidates & ~masks.archived, candidates & masks.archived & ~corpus.rows.heading
    if left_out.any():
        span = order[candidates].max() - order[candidates].min()
        if not shown.any() or order[left_out].max() >= order[shown].max() - np.float32(_ARCHIVE_MARGIN) * span:
            return once, widened
    return masks.shown if allowed is None else allowed & masks.shown, request


# -- concepts, time and use -------------------------------------------------------------------------


def _by_concepts(index: ResidentIndex, named: Sequence[int], score: Floats, allowed: Bools | None) -> Floats:
    """Score rows by the concepts ``named``, or else by those of the best rows: ``float32[n]`` in [0, 1]."""
    if named:
        rarity = index.graph.index.rarity
        return index.graph.score_concepts({concept: float(rarity[concept]) for concept in named})
    best = list(islice(ranked_rows(index.corpus, score, allowed), _CONCEPT_SEEDS))
    return index.graph.score_shared(best, score[best] - score.min())


def _adjustment(query: Query, index: ResidentIndex) -> Adjustment | None:
    """Return what time and use add to the scores; ``None`` for nothing, as usual."""
    settings, today = index.settings, query.question.day
    weight = settings.recency_weight if query.request.recency_weight is None else query.request.recency_weight
    boosts = index.boosts(today)
    if not weight and boosts is None:
        return None
    return Adjustment(recency(index.corpus, today) if weight else None, weight, boosts, settings.use_weight)
