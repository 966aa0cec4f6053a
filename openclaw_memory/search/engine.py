"""Answers a question from the resident state: rank, cut into hits, fetch the lines, follow the graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from itertools import islice

import numpy as np

from ..config.settings import SearchSettings
from ..graph import thread
from ..graph.view import GraphView
from ..graph.walk import Arrival, walk
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import HIT_TOKENS, SEEDS, Candidate, Grain, GrainUse, Kind, RecallHit, SearchHit, SearchRequest
from ..store.api import Bools, Floats, Ints, KeywordIndex, Store, StoreState, VectorIndex, VectorModel
from ..text import analysis
from ..use.boosts import UsedRows, UsesOn
from . import bm25, confidence, decay, hits, nearest, ranking, timeline
from . import question as asking
from .display import Display, Superseded
from .names import Names

#: Best units whose concepts speak for others that share them.
_SHARING = 10
#: A thread starts from sections whose best unit is at least this share as good as the best of all.
_SEED_SHARE = 0.5
#: Steps of the walk that may join a thread told within a budget, and the share of the budget that is theirs at most.
_STEPS, _STEPS_SHARE = 3, 0.25
#: What scores less than this share of the way from the worst row to the best one does not answer the question.
_ANSWERS = 0.5
#: A search for words finds notes, too, whose names hold this share of the question.
_NAMED = 0.25
#: A line that summaries left out answers nearly as well as the best other one within this share of all scores' range.
_NEARLY = 0.15


#: Number of units that plugins may rank.
_CANDIDATES = 100

#: ``rank(query, candidates)`` returns the candidates in the same order with other scores.
RankCandidates = Callable[[str, Sequence[Candidate]], Sequence[Candidate]]


@dataclass(frozen=True)
class Ranked:
    """Scores of all rows and what they are made of; ``order`` is what they rank by.

    ``request`` is the one that was answered: it asks for archived notes too where summaries did not answer the other.
    """

    score: Floats
    features: ranking.Features
    allowed: Bools | None
    similarities: Floats | None
    graph: Floats | None
    order: Floats
    request: SearchRequest
    moves: decay.Moves | None = None
    knowledge: float = 1.0


class SearchEngine:
    """Holds columns, postings and vectors in memory, checked against the store's write counter.

    Safe to call from several threads; one question is ranked at a time.
    """

    def __init__(
        self,
        store: Store,
        settings: SearchSettings,
        superseded: Superseded = dict[int, tuple[str, ...]],
        uses: UsesOn | None = None,
    ) -> None:
        self._store = store
        self._superseded = superseded
        self._uses = uses
        self._settings = settings
        self._weights, self._sure = ranking.weights(settings.weights), confidence.SURE
        #: Held while the resident state is used; taken after the store's session.
        self.lock = threading.RLock()
        #: Cosine that unrelated texts rarely exceed with the model in use.
        self.noise = 0.2
        #: What plugins make of the scores of the best candidates, if any plugin does.
        self.rank_candidates: RankCandidates | None = None
        #: How well the model in use knows the language of a text, from 0 to 1.
        self.knowledge: Callable[[str], float] = lambda text: 1.0
        self._reset()

    def _reset(self) -> None:
        self._state: StoreState | None = None
        self._corpus = Corpus()
        self._lengths: tuple[int, bm25.Lengths] | None = None
        #: What summaries cover.
        self.archive = Archive()
        self._used = UsedRows()
        #: The words in the paths of documents.
        self.names = Names()
        #: The concepts and what they join, in step with the corpus.
        self.graph = GraphView(self._store)
        #: Turns ranges into hits.
        self.display = Display(self._store, self._settings, self._corpus, self.graph, self._superseded, self.archive)
        #: The keyword index, from the first refresh on.
        self.keyword: KeywordIndex | None = None
        self._vector: VectorIndex | None = None
        self._model: VectorModel | None = None
        self._fresh_vectors = True
        #: Units that had no vector in the last ranking.
        self.missing = 0

    def refresh(self, model: VectorModel | None) -> None:
        """Take over what any process has written; cheap when nothing was.

        Without a ``model`` the vectors of the last one are kept in step.
        """
        with self._store.reading(), self.lock:  # in this order everywhere: a search holds the session already
            state = self._store.state()
            if self._state is not None and state.instance != self._state.instance:
                self._reset()
            model = self._model if model is None else model
            if self._state == state and (model is None or (model == self._model and self._vector is not None)):
                return
            if model is not None and model != self._model:
                self._vector, self._fresh_vectors = None, True
                self._weights = ranking.weights(self._settings.weights, model.name)
                self._sure = confidence.sure(model.name)
            self.keyword = self.keyword or self._store.keyword_index()
            self._corpus.refresh(self._store)
            self.names.refresh(self._corpus.documents)
            self.archive.refresh(self._store, self._corpus)
            self.graph.refresh(self._corpus, self.archive)
            self.keyword.refresh()
            self.display.refresh()
            if model is not None:
                self._vector = self._vector or self._store.vector_index(model)
                self._corpus.refresh_windows(self._vector, self._vector.refresh(), self._fresh_vectors)
                self._fresh_vectors = False
                self._model = model
            if self._state is None:
                self._store.give_back_memory()
            self._state = state

    def has_state(self) -> bool:
        """Whether there is a state to answer from, be it an older one."""
        return self._state is not None

    def is_current(self) -> bool:
        """Whether the store is as the last refresh found it."""
        return self._state == self._store.state()

    def keyword_candidates(self, query: str, limit: int) -> Ints:
        """Ids of the best units by keywords alone: those worth embedding first."""
        with self._store.reading(), self.lock:
            assert self.keyword is not None
            scores = self._keywords(self.keyword, query)
            total = scores.unit + 2 * scores.window
            if self.archive.masks is not None:
                total[~self.archive.masks.shown] = 0
            rows = np.argsort(-total, kind="stable")[:limit]
            return self._corpus.rows.unit_id[rows[total[rows] > 0]]

    def answer(
        self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None
    ) -> tuple[list[SearchHit], bool]:
        """Hits of ``request``, best first, and whether they answer it; ``query_vector`` is ``float32[d]`` or ``None``.

        The state must have been refreshed for the model that made ``query_vector``.
        """
        with self._store.reading(), self.lock:
            if not len(self._corpus):
                return [], False
            ranked = self._rank(request, mode, asked, query_vector)
            request = ranked.request
            if ranked.allowed is not None and not ranked.allowed.any():
                return [], False
            if request.budget is not None:
                once, titles = self._once(ranked.allowed), self._titles(ranked)
                besides = timeline.DAY_TOKENS if request.dates else 0.0
                words = None if ranked.features.keyword is None else ranked.features.keyword.unit
                found = hits.spans(self._corpus, ranked.order, once, request.budget, titles, besides, words)
            else:
                limit = request.max_results or self._settings.max_results
                apart, days = ranked.features.apart, ranked.features.only_days
                allowed = ranked.allowed if days else self._allowed(request)  # may take in what no word found
                found = hits.grown(self._corpus, ranked.order, ranked.allowed, HIT_TOKENS, limit, allowed, apart)
            return self._hits(request, found, ranked), self._answered(request, found, ranked)

    def _titles(self, ranked: Ranked) -> Bools | None:
        """Headings with a word of the question that state a figure or a day themselves: ``bool[n]``."""
        keyword, rows = ranked.features.keyword, self._corpus.rows
        return None if keyword is None else rows.heading & (keyword.unit > 0) & (rows.amount | (rows.first_day > 0))

    def _once(self, allowed: Bools | None) -> Bools | None:
        """``allowed`` without archived rows that an allowed row of a summary says: a budget pays for each line once."""
        summaries, originals = self.archive.originals()
        if not len(originals):
            return allowed
        out = np.ones(len(self._corpus), bool) if allowed is None else allowed.copy()
        out[originals[out[summaries]]] = False
        return out

    def listing(self, request: SearchRequest) -> tuple[list[SearchHit], int]:
        """A hit for each section of the request's range, and how many are left out: see :func:`.timeline.newest`."""
        with self._store.reading(), self.lock:
            if not len(self._corpus):
                return [], 0
            limit = None if request.budget is not None else request.max_results or self._settings.max_results
            standing = self.archive.standing(request.grains, request.include_archived)
            found, left_out = timeline.newest(
                self._corpus, self._allowed(request), HIT_TOKENS, limit, request.budget, standing
            )
            why = "in the range; newest first" if request.explain else None
            return self.display.hits(found, lambda _: confidence.Parts(1.0, None, None, None, why)), left_out

    def recall(
        self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None, hops: int
    ) -> tuple[list[RecallHit], bool]:
        """The thread behind the best hits of ``request``, in order of time; all else as for :meth:`answer`.

        The filters of ``request`` hold for what is returned and for where the thread starts, not for what it
        passes through.  With ``max_results`` each result is a passage; else the thread is what a search within
        ``budget`` (that of as many hits as it starts from, unless told) finds, and the steps that earn a place there.
        """
        with self._store.reading(), self.lock:
            if not len(self._corpus):
                return [], False
            ranked = self._rank(request, mode, asked, query_vector)
            request = ranked.request
            parts, relevant = (self._parts(one, ranked) for one in (request, replace(request, budget=None)))
            allowed = self._of_people(ranked.order, self._allowed(request))
            ranked = replace(ranked, allowed=self._of_people(ranked.order, ranked.allowed))
            network, seeds = self.graph.network, dict[int, float]()
            for row in hits.ranking(self._corpus, ranked.order, ranked.allowed):
                relevance = relevant(hits.Range(row, row, row)).score
                if len(seeds) == SEEDS or (seeds and relevance < _SEED_SHARE * max(seeds.values())):
                    break
                seeds.setdefault(int(network.section_of[row]), relevance)
            if not seeds or max(seeds.values()) <= 0:
                return [], False
            standing = self.archive.standing(request.grains, request.include_archived)
            passable = None if standing is None else np.logical_or.reduceat(standing, network.first_row)
            walked = walk(network, seeds, hops, passable=passable)
            own = ranking.scaled(ranked.score)
            graph, corpus = self.graph.index, self._corpus
            if request.max_results is None:
                budget = request.budget or SEEDS * HIT_TOKENS
                steps = thread.stops(network, graph, corpus, walked, own, allowed, _STEPS, reached=True)
                both = self._within(budget, ranked, own, steps, timeline.DAY_TOKENS if request.dates else 0.0)
            else:
                stops = thread.stops(network, graph, corpus, walked, own, allowed, request.max_results)
                ranges = hits.around(corpus, ranked.score, [stop.row for stop in stops], HIT_TOKENS, standing)
                both = [(stop, one) for stop, one in zip(stops, ranges, strict=True) if one is not None]
            sections = [stop.arrival.section for stop, _ in both]
            wording = thread.Wording(network, graph, walked, sections, self.graph.labels, self.display.citation)
            known = self.display.known([one for _, one in both], asked=request.query)
            thread_hits = [
                RecallHit(
                    **{f.name: getattr(hit, f.name) for f in fields(SearchHit)} | {"score": round(stop.score, 4)},
                    via=wording.edges(stop.arrival, sections[:at]),
                    distance=stop.arrival.distance,
                    relevance=round(hit.score, 4),
                )
                for at, (stop, one) in enumerate(both)
                if (hit := self.display.hit(one, known, parts(one))) is not None
            ]
            return thread_hits, self._answered(request, [one for _, one in both], ranked)

    def _of_people(self, order: Floats, allowed: Bools | None) -> Bools | None:
        """``allowed`` without what programs wrote; all of it where a program's line is the best one."""
        machine = self._corpus.rows.machine
        if machine[int((order if allowed is None else np.where(allowed, order, -np.inf)).argmax())]:
            return allowed
        return ~machine if allowed is None else allowed & ~machine

    def _within(
        self, budget: float, ranked: Ranked, relevance: Floats, steps: Sequence[thread.Stop], besides: float
    ) -> list[tuple[thread.Stop, hits.Range]]:
        """What a thread of at most ``budget`` tokens holds, in order of time: lines that answer, and steps to more.

        Each costs ``besides`` more than its text.

        ``relevance`` is the score of every row scaled to [0, 1]; a step that answers by itself is one of those lines.
        """
        corpus, network = self._corpus, self.graph.network
        words = None if ranked.features.keyword is None else ranked.features.keyword.unit
        by_row = {step.row: step for step in steps if relevance[step.row] < _ANSWERS}
        reached = np.zeros(len(corpus), bool)
        reached[list(by_row)] = True
        found = hits.spans(corpus, ranked.order, reached, _STEPS_SHARE * budget, besides=besides)
        left = budget - sum(hits.cost(corpus, one.first, one.last, one.most) + besides for one in found)
        answering = relevance >= (_ANSWERS if relevance.any() else 0)
        for one in found:
            answering[one.first : one.last + 1] = False
        once = self._once(ranked.allowed)
        found += hits.spans(
            corpus, ranked.order, answering if once is None else answering & once, left, besides=besides, words=words
        )
        told = []
        for one in found:
            section, value = int(network.section_of[one.best]), float(relevance[one.best])
            told.append((by_row.get(one.best) or thread.Stop(Arrival.seed(section, value), one.best, value), one))
        return sorted(told, key=lambda pair: thread.in_time(network, corpus, pair[0]))

    def _rank(self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None) -> Ranked:
        corpus = self._corpus
        assert self.keyword is not None
        keyword = self._keywords(self.keyword, request.query) if mode != "vector" else None
        named = self.graph.mentioned(request.query) if mode == "graph" else []
        similarities = None
        if query_vector is not None and mode != "keyword" and self._vector is not None:
            similarities, self.missing = nearest.similarities(corpus, self._vector, query_vector, keyword)
        known = self.knowledge(request.query) if similarities is not None else 1.0
        whole = self._vector is None or self._vector.exhaustive
        features = ranking.collect(corpus, request.query, asked, keyword, similarities, known, whole, self.noise)
        if not features.named_dates and asking.asks_now(request.query):
            features.values["now"] = decay.youth(corpus, asked)
        given, request = request, self._reaching(request)
        allowed = ranking.on_days(features, self._allowed(request), None if request is given else self.archive.untold)
        fusion = request.fusion or self._settings.fusion
        if fusion == "rrf":
            score = ranking.reciprocal_ranks(features, self._weights, allowed)
        else:
            # Equal texts must tie, whatever the last bits of their dot products are.
            score = ranking.fuse(features, self._weights, allowed)
            np.round(score, 5, out=score)
        if mode == "keyword" and keyword is not None and not features.only_days:
            matched = keyword.window > 0
            if "name" in features.values:
                matched |= features.values["name"] >= _NAMED
            allowed = matched if allowed is None else allowed & matched
        graph = None
        # Where no row has anything of the question, the best ones are the longest: they say nothing about it.
        held = "name" in features.values or (keyword is not None and bool(keyword.window.any()))
        answered = similarities is not None or held
        if mode == "graph":
            graph = self._by_concepts(named, score, allowed) if named or answered else np.zeros_like(score)
            score = graph + np.float32(0.1) * ranking.scaled(score, allowed)
            allowed = graph > 0 if allowed is None else allowed & (graph > 0)
        elif request.near:
            graph = self.graph.proximity(request.near, request.max_distance)
            share = np.float32(request.vector_weight)
            score = share * ranking.scaled(score, allowed) + (1 - share) * graph
        elif mode == "hybrid" and fusion == "score" and self._weights["graph"] and answered:
            graph = self._by_concepts([], score, allowed)
            sharing = np.flatnonzero(graph)
            score[sharing] = np.round(score[sharing] + np.float32(self._weights["graph"]) * graph[sharing], 5)
            graph = graph if len(sharing) else None
        moves = self._moves(request, asked)
        if moves is not None:
            score = moves.apply(score, allowed)
        order = decay.lower(corpus, self.archive, self._superseded(), score, allowed)
        if self.rank_candidates is not None:
            order = self._rank_by_plugins(request.query, features, order, allowed, self.rank_candidates)
        if request is not given:
            allowed, request = self._fallen_through(order, allowed, given, request)
        return Ranked(score, features, allowed, similarities, graph, order, request, moves, known)

    def _rank_by_plugins(
        self, query: str, features: ranking.Features, order: Floats, allowed: Bools | None, rank: RankCandidates
    ) -> Floats:
        """Return ``order`` with the scores of the best rows exchanged as ``rank`` orders them."""
        columns = self._corpus.rows
        rows = list(islice(hits.ranking(self._corpus, order, allowed), _CANDIDATES))
        if not rows:
            return order
        texts = {unit.id: unit.text for unit in self._store.unit_texts(columns.unit_id[rows].tolist())}
        candidates = []
        for row in rows:
            info = self._corpus.documents[int(columns.document_id[row])]
            candidates.append(
                Candidate(
                    citation=self.display.citation(row),
                    text=texts.get(int(columns.unit_id[row]), ""),
                    score=float(order[row]),
                    features={name: float(values[row]) for name, values in features.values.items()},
                    date=date.fromordinal(int(columns.day[row])) if columns.day[row] else None,
                    kind=info.kind,
                    grain=info.grain,
                    origin=info.origin,
                )
            )
        scores = np.array([candidate.score for candidate in rank(query, candidates)], np.float64)
        out = order.copy()
        out[np.array(rows, np.int64)[np.argsort(-scores, kind="stable")]] = order[rows]
        return out

    def _keywords(self, index: KeywordIndex, query: str) -> bm25.KeywordScores:
        if self._lengths is None or self._lengths[0] != self._corpus.version:
            self._lengths = self._corpus.version, bm25.Lengths(self._corpus)
        words = analysis.content_terms(asking.content(query))
        scores = bm25.score(self._corpus, index, words, self._lengths[1])
        named, asked_for = tuple(self.names.holding(words)), self.names.asked_for(query)
        return replace(scores, named=named, asked_for=asked_for, document=self._corpus.rows.document_id)

    def _reaching(self, request: SearchRequest) -> SearchRequest:
        """``request`` with archived notes, for which it may fall through; itself where it says what it wants."""
        masks = self.archive.masks
        if masks is None or request.include_archived or request.grains or not masks.archived.any():
            return request
        return replace(request, include_archived=True)

    def _fallen_through(
        self, order: Floats, allowed: Bools | None, given: SearchRequest, reaching: SearchRequest
    ) -> tuple[Bools | None, SearchRequest]:
        """What may be found, and for which request: archived notes too where summaries do not answer ``given``.

        They do when no line that they left out answers nearly as well as the best other one.
        """
        masks = self.archive.masks
        assert masks is not None
        once = self._once(allowed)
        found = self._corpus.shape.anchor if once is None else self._corpus.shape.anchor & once
        said, unsaid = found & ~masks.archived, found & masks.archived & ~self._corpus.rows.heading
        if unsaid.any():
            span = order[found].max() - order[found].min()
            if not said.any() or order[unsaid].max() >= order[said].max() - np.float32(_NEARLY) * span:
                return once, reaching
        return masks.shown if allowed is None else allowed & masks.shown, given

    def _moves(self, request: SearchRequest, today: date) -> decay.Moves | None:
        """What time and use make of the scores; ``None`` for nothing, as it is unless somebody wants it or told us."""
        corpus, own = self._corpus, self._settings
        weight = own.recency_weight if request.recency_weight is None else request.recency_weight
        boost = None
        if self._uses is not None and own.use_weight:
            boost = self._used.boost(self._uses(today), corpus, self.archive)
        if not weight and boost is None:
            return None
        youth = decay.youth(corpus, today) if weight else None
        return decay.Moves(youth=youth, weight=weight, use=boost, most=own.use_weight)

    def _by_concepts(self, named: Sequence[int], score: Floats, allowed: Bools | None) -> Floats:
        """Rows by the concepts that the question names, or else by those of the best rows: ``float32[n]`` in [0, 1]."""
        if named:
            rarity = self.graph.index.rarity
            return self.graph.activated({concept: float(rarity[concept]) for concept in named})
        best: list[int] = []
        for row in hits.ranking(self._corpus, score, allowed):
            best.append(row)
            if len(best) == _SHARING:
                break
        return self.graph.shared(best, score[best] - score.min())

    def weigh(
        self, request: SearchRequest, mode: str, asked: date, query_vector: Floats | None
    ) -> tuple[Ranked, Callable[[hits.Range], confidence.Parts]]:
        """What each row is worth to ``request``, and how sure a range is; arguments as for :meth:`answer`.

        For as long as the caller holds :attr:`lock`; there must be a row.
        """
        ranked = self._rank(request, mode, asked, query_vector)
        return ranked, self._parts(request, ranked)

    def similarities(self, query_vector: Floats) -> Floats | None:
        """Cosine with every unit of the corpus, NaN without a vector: ``float32[n]``; ``None`` without vectors."""
        with self._store.reading(), self.lock:
            if self._vector is None:
                return None
            return self._vector.similarities(query_vector, self._corpus.rows.unit_id)

    def vectors(self) -> VectorIndex | None:
        """The vectors of the model that the state was last refreshed for; the caller holds :attr:`lock`."""
        return self._vector

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
            masks.append((rows.day <= request.until.toordinal()) & rows.dated)
        if request.concepts or request.concept_kinds:
            masks.append(self.graph.allowed(request.concepts, request.concept_kinds))
        standing = self.archive.standing(request.grains, request.include_archived)
        if standing is not None:
            masks.append(standing)
        return np.logical_and.reduce(masks) if masks else None

    def _hits(self, request: SearchRequest, found: Sequence[hits.Range], ranked: Ranked) -> list[SearchHit]:
        allowed = self._allowed(request)

        def repeated(row: int) -> list[int]:
            out: list[int] = hits.repetitions(self._corpus, row, allowed).tolist()
            return out

        return self.display.hits(found, self._parts(request, ranked), repeated, asked=request.query)

    def _answered(self, request: SearchRequest, found: Sequence[hits.Range], ranked: Ranked) -> bool:
        made = map(self._parts(replace(request, budget=None), ranked), found)
        return confidence.answered(self._corpus, ranked.features, found, list(made))

    def _parts(self, request: SearchRequest, ranked: Ranked) -> Callable[[hits.Range], confidence.Parts]:
        spelling = analysis.words_by_term(request.query) if request.explain else {}
        share = 1 - request.vector_weight if request.near else None

        def parts(one: hits.Range) -> confidence.Parts:
            made = confidence.parts(
                self._corpus, ranked.features, ranked.similarities, one, self.noise, spelling, ranked.graph, share,
                ranked.moves, ranked.knowledge, self._sure, request.budget is not None,
            )  # fmt: skip
            return made if request.explain else replace(made, why=None)

        return parts


def count_grains(store: Store, corpus: Corpus, archive: Archive) -> tuple[GrainUse, ...]:
    """Count files, units, bytes and days of each grain with a file, finest first; days are those that texts state."""
    files: dict[Grain, list[int]] = {}
    sizes = {row.id: row.size for row in store.documents().by_path.values()}
    for info in corpus.documents.values():
        files.setdefault(info.grain, []).append(sizes.get(info.id, 0))
    masks, grain, rows = archive.masks, corpus.shape.grain, corpus.rows
    out = []
    for place, one in enumerate(Grain):
        if one not in files:
            continue
        own = grain == place
        days = rows.day[own & rows.dated & (rows.day > 0)]
        out.append(
            GrainUse(
                grain=one,
                files=len(files[one]),
                units=int(own.sum()),
                archived=0 if masks is None else int((own & masks.archived).sum()),
                hidden=0 if masks is None else int((own & masks.hidden).sum()),
                bytes=sum(files[one]),
                first=date.fromordinal(int(np.min(days))) if len(days) else None,
                last=date.fromordinal(int(np.max(days))) if len(days) else None,
            )
        )
    return tuple(out)
