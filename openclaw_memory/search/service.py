"""Questions to the index: freshen, embed, rank; hits, listings and threads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.settings import SearchSettings, Settings
from ..embed.vectorizer import Vectorizer
from ..errors import LeaseTimeout, SettingsError
from ..ingest import freshness
from ..model import (
    GrainUse,
    RecallHit,
    RecallResult,
    SearchHit,
    SearchRequest,
    SearchResult,
    bounds,
    counted,
    joined,
)
from ..plugins.manager import Plugins
from ..store.api import Floats, Store, VectorIndex, VectorModel
from ..system.deadline import NEVER, Deadline
from ..text import calendar

if TYPE_CHECKING:
    from ..graph.view import GraphView
    from ..model.embedder import Embedder
    from ..use.boosts import UsesOn
    from .display import Superseded
    from .engine import SearchEngine

log = logging.getLogger("openclaw_memory.search")

#: Units embedded on first need by one lazy search.
LAZY_CANDIDATES = 256

H = TypeVar("H", SearchHit, RecallHit)
A = TypeVar("A")


@dataclass
class _Asked:
    """A question on its way: since when, until when, and what is known about it so far."""

    request: SearchRequest
    started: float
    until: Deadline
    stale: bool
    remarks: list[str]
    mode: str
    embedder: Embedder | None = None
    model: VectorModel | None = None
    fallback: str | None = None
    vector: Floats | None = None
    corrected: dict[str, str] = field(default_factory=dict)


class Questions:
    """Answers questions to one store; safe to use from several threads.

    ``superseded`` tells what units state that no longer holds, ``uses`` how hits were used as of a day.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        vectorizer: Vectorizer,
        plugins: Plugins,
        freshen: freshness.Freshen,
        superseded: Superseded,
        uses: UsesOn | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._vectorizer = vectorizer
        self._plugins = plugins
        self._freshen = freshen
        self._superseded = superseded
        self._known_superseded: Mapping[int, tuple[str, ...]] = {}
        self._uses = uses
        self._engine: SearchEngine | None = None
        self._lock = threading.RLock()

    def search(self, request: SearchRequest) -> SearchResult:
        """The hits of ``request``, best first."""
        hits: list[SearchHit] = []
        good = False
        with self._asking(request) as until:
            asked = self._ask(request, until)
            if request.query.strip():
                hits, good = self._ranked(asked, lambda engine, *how: engine.answer(asked.request, *how))
            floor = self.settings.search.min_score if request.min_score is None else request.min_score
            hits = _dated(request, [hit for hit in hits if hit.score >= floor])
            return SearchResult(results=tuple(hits), **self._told(asked), good_match=good and bool(hits))

    def recall(self, request: SearchRequest, hops: int) -> RecallResult:
        """The thread behind the best hits of ``request``."""
        bounds.number("hops", hops, 1, 4, whole=True)  # a thread of more steps is none that anybody would follow
        hits: list[RecallHit] = []
        good = False
        with self._asking(request) as until:
            asked = self._ask(request, until)
            if request.query.strip():
                hits, good = self._ranked(asked, lambda engine, *how: engine.recall(asked.request, *how, hops))
            # Plugins may drop and change hits; a thread stays in order of time.
            place = {hit.id: at for at, hit in enumerate(hits)}
            kept = [hit for hit in self._plugins.rerank(request.query, hits) if isinstance(hit, RecallHit)]
            kept.sort(key=lambda hit: place.get(hit.id, len(place)))
            shown = tuple(_dated(request, kept))
            return RecallResult(results=shown, **self._told(asked), good_match=good and bool(shown))

    def listing(self, request: SearchRequest) -> SearchResult:
        """The sections of a range of days, newest first."""
        with self._asking(request) as until:
            asked = self._started(request, until, "timeline")
            engine = self.engine()
            hits, left_out = self._settled(engine, None, lambda: engine.listing(request), asked)
        shown = tuple(_dated(request, self._plugins.rerank("", hits)))
        return SearchResult(results=shown, **self._told(asked), left_out=left_out, good_match=bool(shown))

    def grains(self) -> tuple[GrainUse, ...]:
        """What the index holds of each grain, finest first; looks at no file."""
        from .engine import count_grains

        engine = self.engine()
        with self._store.session():
            engine.refresh(None)
            with engine.lock:
                return count_grains(self._store, engine.graph.corpus, engine.archive)

    def sample_texts(self, most: int) -> list[str]:
        """Return the texts of up to ``most`` units, evenly spaced over the index; looks at no file."""
        engine = self.engine()
        with self._store.session():
            engine.refresh(None)
            with engine.lock:
                ids = engine.graph.corpus.rows.unit_id
                return [unit.text for unit in self._store.unit_texts(ids[:: max(1, -(-len(ids) // most))].tolist())]

    @contextmanager
    def graph(self, deadline: float | None = None, remarks: list[str] | None = None) -> Iterator[GraphView]:
        """The concepts and their graph, up to date with the files, for the block; ``deadline`` is in seconds.

        What there is to say of the index and the files is added to ``remarks``.
        """
        until = Deadline.after(deadline)
        with self._store.patience(until):
            _, said = self._freshen(until)
        if remarks is not None:
            remarks += [*self._store.warnings(), *said]
        engine = self.engine()
        with self._store.session(until.left()):
            engine.refresh(None)
            with engine.lock:
                yield engine.graph

    def similarities(self, question: str) -> Callable[[], Floats | None]:
        """Embed ``question``, and return what scores it within the block of :meth:`graph`.

        That gives the cosine with every unit, in the order of the graph's corpus, which it brings up to date;
        ``None`` without a model.  Embedding takes its time, and so is not done while the graph is held.
        """
        _, model, _, vector = self._vectorizer.embed_question(question)

        def scored() -> Floats | None:
            if vector is None:
                return None
            engine = self.engine()
            with self._store.session(), engine.lock:
                engine.refresh(model)
                return engine.similarities(vector)

        return scored

    def vectors(self, model: VectorModel) -> VectorIndex | None:
        """The vectors of ``model``, for the block of :meth:`graph`, whose view this may bring up to date."""
        engine = self.engine()
        with self._store.session(), engine.lock:
            engine.refresh(model)
            return engine.vectors()

    def engine(self) -> SearchEngine:
        """The resident state that answers."""
        with self._lock:
            if self._engine is None:
                from .engine import SearchEngine

                try:
                    check_settings(self.settings.search)
                except SettingsError as problem:
                    log.warning("%s; it changes nothing", problem)
                self._engine = SearchEngine(self._store, self.settings.search, self._superseded_by_now, self._uses)
                self._engine.knowledge = self._knowledge
                if self._plugins.has_any("openclaw_memory_rank"):
                    self._engine.rank_candidates = self._plugins.rank
            return self._engine

    def _knowledge(self, text: str) -> float:
        from ..embed.vocabulary import language_coverage

        embedder = self._vectorizer.resolve().embedder
        return 1.0 if embedder is None else language_coverage(embedder, text)

    @contextmanager
    def _asking(self, request: SearchRequest) -> Iterator[Deadline]:
        """Until when there is time, in the block of which nothing waits longer for the index."""
        until = Deadline.after(request.deadline)
        with self._store.patience(until):
            yield until

    def _started(self, request: SearchRequest, until: Deadline, mode: str) -> _Asked:
        return _Asked(request, time.monotonic(), until, *self._freshen(until), mode=mode)

    def _ask(self, request: SearchRequest, until: Deadline) -> _Asked:
        """Look for changed files, correct the question's spelling and embed it."""
        mode = request.mode or self.settings.search.mode
        by_meaning = mode != "keyword" and bool(request.query.strip())
        if by_meaning:
            self._vectorizer.start()  # the model loads while the files are looked at
        asked = self._started(request, until, mode)
        if request.query.strip():
            self._load(by_meaning)
            self._correct(asked)
        if by_meaning:
            # Half of what is left: ranking needs some of it.
            asked.embedder, asked.model, asked.fallback, asked.vector = self._vectorizer.embed_question(
                asked.request.query, asked.until.left(0.5)
            )
            if asked.vector is None and asked.mode != "graph":
                asked.mode = "keyword"
        return asked

    def _load(self, by_meaning: bool) -> None:
        """Have the resident state of the first question while its model loads."""
        with self._lock:
            if self._engine is not None:
                return
            engine = self.engine()
        with self._store.reading():
            engine.refresh(self._vectorizer.expected_model() if by_meaning else None)
            self._superseded()

    def _correct(self, asked: _Asked) -> None:
        """Read the words of the question that no note has as those that they are misspelt for."""
        from .spelling import misspelt, rewritten

        question = asked.request.query
        asked.corrected = misspelt(question, self.engine(), self._store, self._vectorizer, asked.until)
        asked.request = replace(asked.request, query=rewritten(question, asked.corrected))

    def _ranked(self, asked: _Asked, answer: Callable[[SearchEngine, str, date, Any], A]) -> A:
        engine = self.engine()
        day = asked.request.now or calendar.today(self.settings.consolidate.time_zone)

        def ranked() -> A:
            return self._settled(engine, asked.model, lambda: answer(engine, asked.mode, day, asked.vector), asked)

        if asked.embedder is not None:
            engine.noise = self._vectorizer.noise_level(asked.embedder, asked.until.left(0.5))
        found = ranked()
        if asked.embedder is not None and self._embed_candidates(asked, engine, asked.embedder):
            found = ranked()
        if asked.model is not None and engine.missing:
            asked.remarks.append(
                f"{counted(engine.missing, 'unit')} without a vector yet, ranked by keywords; "
                "run: openclaw-memory ingest"
            )
        return found

    def _settled(self, engine: SearchEngine, model: VectorModel | None, answer: Callable[[], A], asked: _Asked) -> A:
        """``answer()`` of one state of the index: again if another process wrote before it had read all it needs.

        Where others have the index for half of the time that is left, the state from before answers.
        """
        with self._store.reading():
            while True:
                current = self._refreshed(engine, model, asked)
                with self._store.patience(NEVER if current else Deadline.after(asked.until.left(0.5))):
                    found = answer()
                if not current:
                    asked.stale = True
                    remark = "the index is in use; answered from before that"
                    asked.remarks = list(dict.fromkeys([*asked.remarks, remark]))
                if not current or engine.is_current():
                    return found

    def _refreshed(self, engine: SearchEngine, model: VectorModel | None, asked: _Asked) -> bool:
        """Have the state as the index is; ``False`` where others have the index for half of the time."""
        try:
            with self._store.patience(Deadline.after(asked.until.left(0.5))):
                engine.refresh(model)
                return True
        except LeaseTimeout:
            if asked.until == NEVER or not engine.has_state():
                raise
            return False

    def _superseded_by_now(self) -> Mapping[int, tuple[str, ...]]:
        """What is superseded, or was when the index could last be asked."""
        with suppress(LeaseTimeout):
            self._known_superseded = self._superseded()
        return self._known_superseded

    def _told(self, asked: _Asked) -> dict[str, Any]:
        """What a result says beside its hits."""
        return {
            "provider": "none" if asked.embedder is None else asked.embedder.provider,
            "model": None if asked.model is None else asked.model.name,
            "mode": asked.mode,
            "fallback": asked.fallback,
            "took_ms": (time.monotonic() - asked.started) * 1000,
            "corrected": asked.corrected,
            "stale": asked.stale,
            "warning": joined([*self._store.warnings(), *asked.remarks]),
        }

    def _embed_candidates(self, asked: _Asked, engine: SearchEngine, embedder: Embedder) -> bool:
        """Embed the best of what has no vector yet, for a bounded time; whether there is a new answer."""
        how = self.settings.ingest.embed
        if how == "background" or not (engine.missing or how == "lazy"):
            return False
        candidates = engine.keyword_candidates(asked.request.query, LAZY_CANDIDATES)
        until = Deadline.after(asked.until.within(freshness.LOOK_SECONDS, 0.5))
        return self._vectorizer.embed_candidates(embedder, candidates, LAZY_CANDIDATES, until) > 0


def _dated(request: SearchRequest, hits: list[H]) -> list[H]:
    """``hits``, begun by their dates where the request wants that."""
    if not request.dates:
        return hits
    from .timeline import dated

    return dated(hits)


def check_settings(settings: SearchSettings) -> None:
    """Whether the features that are named are there; raises ``SettingsError``."""
    from .ranking import WEIGHTS

    for name in settings.weights:
        if name not in WEIGHTS:
            raise SettingsError(f"search.weights: there is no feature '{name}'; valid are {', '.join(WEIGHTS)}")
