"""Answers a question from the resident state: rank, cut into hits, fetch the lines."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from .. import analysis
from ..settings import SearchSettings
from ..store.protocol import Bools, Floats, Ints, KeywordIndex, SectionText, Store, StoreState, VectorIndex, VectorModel
from ..types import Grain, Kind, SearchHit, SearchRequest
from . import bm25, confidence, hits, ranking, timeline
from .corpus import RADIUS, Corpus

#: Candidates of each kind when the vector index does not score every unit.
_CANDIDATES = 512


@dataclass(frozen=True)
class Ranked:
    """Scores of all rows and what they are made of."""

    score: Floats
    features: ranking.Features
    allowed: Bools | None
    similarities: Floats | None


class SearchEngine:
    """Holds columns, postings and vectors in memory, checked against the store's write counter.

    Safe to call from several threads; one question is ranked at a time.
    """

    def __init__(self, store: Store, settings: SearchSettings) -> None:
        self._store = store
        self._settings = settings
        self._weights = ranking.WEIGHTS | settings.weights
        self._lock = threading.RLock()
        #: Cosine that unrelated texts rarely exceed with the model in use.
        self.noise = 0.2
        self._reset()

    def _reset(self) -> None:
        self._state: StoreState | None = None
        self._corpus = Corpus()
        self._keyword: KeywordIndex | None = None
        self._vector: VectorIndex | None = None
        self._model: VectorModel | None = None
        self._fresh_vectors = True
        #: Units that had no vector in the last ranking.
        self.missing = 0

    def refresh(self, model: VectorModel | None) -> None:
        """Take over what any process has written; cheap when nothing was.

        Without a ``model`` the vectors of the last one are kept in step.
        """
        with self._store.session(), self._lock:  # in this order everywhere: a search holds the session already
            state = self._store.state()
            if self._state is not None and state.instance != self._state.instance:
                self._reset()
            model = self._model if model is None else model
            if model is not None and model != self._model:
                self._vector, self._fresh_vectors = None, True
            if self._state == state and (model is None or self._vector is not None):
                return
            self._corpus.refresh(self._store)
            if self._keyword is None:
                self._keyword = self._store.keyword_index()
            self._keyword.refresh()
            if model is not None:
                if self._vector is None:
                    self._vector = self._store.vector_index(model)
                self._vector.refresh()
                self._model = model
            exhaustive = self._vector if self._vector is not None and self._vector.exhaustive else None
            self._corpus.refresh_windows(exhaustive, self._fresh_vectors)
            self._fresh_vectors = exhaustive is None
            if self._state is None:
                self._store.give_back_memory()
            self._state = state

    def index_names(self) -> tuple[str | None, str | None]:
        """Names of the keyword and the vector index in use."""
        return (
            None if self._keyword is None else self._keyword.name,
            None if self._vector is None else self._vector.name,
        )

    def keyword_candidates(self, query: str, limit: int) -> Ints:
        """Ids of the best units by keywords alone: those worth embedding first."""
        with self._store.session(), self._lock:
            assert self._keyword is not None
            scores = bm25.score(self._corpus, self._keyword, analysis.query_terms(query))
            total = scores.unit + 2 * scores.window
            rows = np.argsort(-total, kind="stable")[:limit]
            return self._corpus.rows.unit_id[rows[total[rows] > 0]]

    def answer(self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None) -> list[SearchHit]:
        """Hits of ``request``, best first; ``query_vector`` is ``float32[d]`` or ``None``.

        The state must have been refreshed for the model that made ``query_vector``.
        """
        with self._store.session(), self._lock:
            if not len(self._corpus):
                return []
            ranked = self._rank(request, mode, asked, query_vector)
            if ranked.allowed is not None and not ranked.allowed.any():
                return []
            if request.budget is not None:
                found = hits.spans(self._corpus, ranked.score, ranked.allowed, request.budget)
            else:
                limit = request.max_results or self._settings.max_results
                found = hits.grown(self._corpus, ranked.score, ranked.allowed, self._settings.hit_tokens, limit)
            return self._hits(request, found, ranked)

    def listing(self, request: SearchRequest) -> list[SearchHit]:
        """A hit for each section of the request's range: see :func:`openclaw_memory.search.timeline.newest`."""
        with self._store.session(), self._lock:
            if not len(self._corpus):
                return []
            limit = None if request.budget is not None else request.max_results or self._settings.max_results
            found = timeline.newest(
                self._corpus, self._allowed(request), self._settings.hit_tokens, limit, request.budget
            )
            why = "in the range; newest first" if request.explain else None
            return self._shown(found, lambda _: confidence.Parts(1.0, None, None, None, why))

    def _rank(self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None) -> Ranked:
        corpus = self._corpus
        assert self._keyword is not None
        keyword = bm25.score(corpus, self._keyword, analysis.query_terms(request.query)) if mode != "vector" else None
        similarities = None
        if query_vector is not None and mode != "keyword" and self._vector is not None:
            similarities = self._similarities(self._vector, query_vector, keyword)
        features = ranking.collect(corpus, request.query, asked, keyword, similarities)
        allowed = self._allowed(request)
        if (request.fusion or self._settings.fusion) == "rrf":
            score = ranking.reciprocal_ranks(features, self._weights, self._settings.rrf_k, allowed)
        else:
            # Equal texts must tie, whatever the last bits of their dot products are.
            score = np.round(ranking.fuse(features, self._weights, allowed), 5)
        if mode == "keyword" and keyword is not None:
            matched = keyword.window > 0
            allowed = matched if allowed is None else allowed & matched
        return Ranked(score, features, allowed, similarities)

    def _similarities(self, index: VectorIndex, query: Floats, keyword: bm25.KeywordScores | None) -> Floats:
        unit_ids = self._corpus.rows.unit_id
        if index.exhaustive:
            found = index.similarities(query, unit_ids)
            self.missing = int(np.isnan(found).sum())
            return found
        near, _ = index.search(query, _CANDIDATES)
        rows = self._corpus.rows_of(near)
        rows = rows[rows >= 0]
        if keyword is not None:
            best = np.argpartition(-keyword.window, min(_CANDIDATES, len(unit_ids) - 1))[:_CANDIDATES]
            rows = np.concatenate([rows, best[keyword.window[best] > 0].astype(np.int32)])
        # The windows of the candidates need the scores of their neighbours.
        around = (rows[:, None] + np.arange(-RADIUS, RADIUS + 1)).ravel()
        rows = np.unique(around[(around >= 0) & (around < len(unit_ids))])
        out = np.full(len(unit_ids), np.nan, np.float32)
        out[rows] = index.similarities(query, unit_ids[rows])
        known = ~np.isnan(out)
        if known.any():
            out[~known] = out[known].min()
        return out

    def _allowed(self, request: SearchRequest) -> Bools | None:
        rows, shape = self._corpus.rows, self._corpus.shape
        masks: list[Bools] = []
        if request.kinds:
            masks.append(np.isin(shape.kind, [list(Kind).index(kind) for kind in request.kinds]))
        if request.grains:
            masks.append(np.isin(shape.grain, [list(Grain).index(grain) for grain in request.grains]))
        if request.since is not None:
            masks.append(rows.day >= request.since.toordinal())
        if request.until is not None:
            masks.append((rows.day <= request.until.toordinal()) & (rows.day > 0))
        return np.logical_and.reduce(masks) if masks else None

    def _hits(self, request: SearchRequest, found: Sequence[hits.Range], ranked: Ranked) -> list[SearchHit]:
        spelling = analysis.words_of(request.query) if request.explain else {}

        def parts(one: hits.Range) -> confidence.Parts:
            made = confidence.parts(self._corpus, ranked.features, ranked.similarities, one, self.noise, spelling)
            return made if request.explain else replace(made, why=None)

        return monotone(self._shown(found, parts))

    def _shown(
        self, found: Sequence[hits.Range], parts_of: Callable[[hits.Range], confidence.Parts]
    ) -> list[SearchHit]:
        corpus = self._corpus
        rows = corpus.rows
        sections = self._store.section_texts([int(rows.section_id[f.best]) for f in found])
        made: list[SearchHit] = []
        for one in found:
            section = sections.get(int(rows.section_id[one.best]))
            if section is None:
                continue  # written by another process since the refresh; the next search sees it
            first, last = hits.lines(corpus, one)
            info = corpus.documents[int(rows.document_id[one.best])]
            parts = parts_of(one)
            name = f"{info.path}\0{rows.hash[one.best]}\0{rows.occurrence[one.best]}".encode()
            made.append(
                SearchHit(
                    path=info.path,
                    start_line=first,
                    end_line=last,
                    score=parts.score,
                    snippet=snippet(
                        section,
                        (first, last),
                        (int(rows.start_line[one.best]), int(rows.end_line[one.best])),
                        self._settings.snippet_chars,
                    ),
                    citation=f"{info.path}#L{first}" + (f"-L{last}" if last > first else ""),
                    id=hashlib.blake2b(name, digest_size=8).hexdigest(),
                    heading=section.heading,
                    date=section.date,
                    kind=info.kind,
                    grain=info.grain,
                    origin=info.origin,
                    vector_score=parts.vector,
                    text_score=parts.text,
                    time_score=parts.time,
                    why=parts.why,
                )
            )
        return made


def monotone(found: Sequence[SearchHit]) -> list[SearchHit]:
    """Scores that never rise with rank: a hit is at least as good as those ranked behind it."""
    best = 0.0
    out = []
    for hit in reversed(found):
        best = max(best, hit.score)
        out.append(replace(hit, score=round(best, 4)))
    return out[::-1]


def snippet(section: SectionText, wanted: tuple[int, int], best: tuple[int, int], limit: int) -> str:
    """Lines ``wanted`` of a section, cut to ``limit`` characters around the ``best`` ones."""

    def text(first: int, last: int) -> str:
        return "\n".join(section.lines[first - section.start_line : last - section.start_line + 1])

    whole = text(*wanted)
    if len(whole) <= limit:
        return whole
    first, last = best
    if len(text(first, last)) > limit:
        return text(first, last)[:limit]
    while True:
        options = [
            (first - 1, last) if first > wanted[0] else None,
            (first, last + 1) if last < wanted[1] else None,
        ]
        fitting = [option for option in options if option and len(text(*option)) <= limit]
        if not fitting:
            return text(first, last)
        first, last = min(fitting, key=lambda option: len(text(*option)))
