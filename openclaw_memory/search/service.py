"""Answer requests: look for changed files, parse and embed the question, rank, and build the result."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.settings import SearchSettings, Settings
from ..embed.vectorizer import Vectorizer
from ..embed.vocabulary import language_coverage
from ..errors import LeaseTimeout, SettingsError, StoreError
from ..graph.view import GraphView
from ..ingest import freshness
from ..model import RecallHit, RecallResult, SearchHit, SearchRequest, SearchResult, bounds, joined
from ..model.embedder import Embedder
from ..plugins.manager import Plugins
from ..records import dataclass
from ..store.api import Store, VectorIndex, VectorModel
from ..system.deadline import NEVER, Deadline
from ..text import calendar
from ..use.tracker import BoostsOn
from . import answers, timeline
from .answers import Answer
from .features import WEIGHTS
from .question import Question
from .ranking import Query
from .resident import LinesAfter, ResidentIndex
from .spelling import find_corrections, rewrite
from .superseded import SupersededStatements

if TYPE_CHECKING:
    from ..model import GrainSize

log = logging.getLogger("openclaw_memory.search")

#: Units embedded on first need by one lazy search.
LAZY_CANDIDATES = 256
_ONLY_MACHINE = "of those days there is only what programs wrote, such as reports of OpenClaw's dreaming"

H = TypeVar("H", SearchHit, RecallHit)


@dataclass
class _Call:
    """A request that is being answered: since when, until when, and what its result says beside the hits."""

    request: SearchRequest
    deadline: Deadline
    mode: str
    stale: bool
    remarks: list[str]
    started: float = field(default_factory=time.monotonic)
    embedder: Embedder | None = None
    model: VectorModel | None = None
    fallback: str | None = None
    corrections: dict[str, str] = field(default_factory=dict)


class SearchService:
    """Answers questions to one store; safe to use from several threads.

    ``superseded`` are the statements that no longer hold, ``boosts_on(day)`` gives the boosts of used units as of a
    day, ``lines_after(day)`` the lines that are known to be younger.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        vectorizer: Vectorizer,
        plugins: Plugins,
        freshen: freshness.Freshen,
        superseded: SupersededStatements,
        boosts_on: BoostsOn | None = None,
        lines_after: LinesAfter = lambda day: {},
    ) -> None:
        self.settings = settings
        self._store = store
        self._vectorizer = vectorizer
        self._plugins = plugins
        self._freshen = freshen
        self._superseded = superseded
        self._boosts_on = boosts_on
        self._lines_after = lines_after
        self._index: ResidentIndex | None = None
        self._lock = threading.RLock()

    def search(self, request: SearchRequest) -> SearchResult:
        """Return the hits of ``request``, best first."""
        with self._limit_waiting(request) as deadline:
            call, answer = self._answer(request, deadline, answers.search)
            floor = self.settings.search.min_score if request.min_score is None else request.min_score
            hits = _dated(request, [hit for hit in answer.hits if hit.score >= floor])
            report = self._report(call, answer.machine)
            return SearchResult(tuple(hits), **report, good_match=answer.good_match and bool(hits))

    def recall(self, request: SearchRequest, hops: int) -> RecallResult:
        """Return the thread behind the best hits of ``request``."""
        bounds.check_number("hops", hops, 1, 4, whole=True)  # nobody would follow a thread of more steps
        with self._limit_waiting(request) as deadline:
            call, answer = self._answer(request, deadline, lambda query, index: answers.recall(query, index, hops))
            # Plugins may drop and change hits; a thread stays in order of time.
            place = {hit.id: at for at, hit in enumerate(answer.hits)}
            kept = [hit for hit in self._plugins.rerank(request.query, answer.hits) if isinstance(hit, RecallHit)]
            kept.sort(key=lambda hit: place.get(hit.id, len(place)))
            hits = _dated(request, kept)
            return RecallResult(tuple(hits), **self._report(call), good_match=answer.good_match and bool(hits))

    def listing(self, request: SearchRequest) -> SearchResult:
        """Return the sections of a range of days, newest first."""
        with self._limit_waiting(request) as deadline:
            call = self._start(request, deadline, "timeline")
            answer = self._settle(call, lambda index: answers.list_sections(request, index))
        hits = _dated(request, self._plugins.rerank("", answer.hits))
        report = self._report(call, answer.machine)
        return SearchResult(tuple(hits), **report, left_out=answer.left_out, good_match=bool(hits))

    def grains(self) -> tuple[GrainSize, ...]:
        """Count what the index holds of each grain, finest first; looks at no file."""
        index = self.index()
        with index.reading():
            index.refresh(None)
            return index.grains()

    def conflicts(self) -> int:
        """Return the number of pairs of values that both claim to hold; looks at no file."""
        self.index()
        return self._superseded.outlook()[0]

    def sample_texts(self, most: int) -> list[str]:
        """Return the texts of up to ``most`` units, evenly spaced over the index; opens no file."""
        index = self.index()
        with index.reading():
            index.refresh(None)
            ids = index.corpus.rows.unit_id
            return [unit.text for unit in self._store.unit_texts(ids[:: max(1, -(-len(ids) // most))].tolist())]

    @contextmanager
    def graph(self, deadline: float | None = None, remarks: list[str] | None = None) -> Iterator[GraphView]:
        """Hold the concepts and their graph, up to date with the files, for the block; ``deadline`` is in seconds.

        Warnings about the index and the files are added to ``remarks``.
        """
        until = Deadline.after(deadline)
        with self._store.limit_waiting(until):
            _, warnings = self._freshen(until)
        if remarks is not None:
            remarks += [*self._store.warnings(), *warnings]
        index = self.index()
        with self._store.session(until.left()):
            index.refresh(None)
            with index.lock:
                yield index.graph

    def vectors(self, model: VectorModel) -> VectorIndex | None:
        """Return the vectors of ``model``, for the block of :meth:`graph`, whose view this may bring up to date."""
        index = self.index()
        with self._store.session(), index.lock:
            index.refresh(model)
            return index.vectors

    @property
    def resident_bytes(self) -> int:
        """About how much memory the resident state takes: 2 kB for each unit with its vector."""
        return 0 if self._index is None else 2_000 * len(self._index.corpus)

    def index(self) -> ResidentIndex:
        """Return the resident state that answers."""
        with self._lock:
            if self._index is None:
                try:
                    check_settings(self.settings.search)
                except SettingsError as problem:
                    log.warning("%s; it changes nothing", problem)
                self._index = ResidentIndex(
                    self._store, self.settings.search, self._superseded, self._boosts_on, self._lines_after
                )
                with suppress(StoreError):  # whose cause the question itself meets
                    self._index.restore()
            return self._index

    def keep(self) -> None:
        """Write the resident state for other processes, where that is new and nobody else has the store."""
        with suppress(StoreError), self._store.limit_waiting(Deadline.after(self._store.patience)):
            if self._index is not None:
                self._index.keep()

    # -- steps of a call --------------------------------------------------------------------------

    @contextmanager
    def _limit_waiting(self, request: SearchRequest) -> Iterator[Deadline]:
        """Give the deadline of a request; in the block nothing waits longer for the index."""
        deadline = Deadline.after(request.deadline)
        with self._store.limit_waiting(deadline):
            yield deadline

    def _start(self, request: SearchRequest, deadline: Deadline, mode: str) -> _Call:
        started = time.monotonic()
        self.index()  # with what it restores the files need not be compared with the store itself
        return _Call(request, deadline, mode, *self._freshen(deadline), started=started)

    def _answer(
        self, request: SearchRequest, deadline: Deadline, ask: Callable[[Query, ResidentIndex], Answer[H]]
    ) -> tuple[_Call, Answer[H]]:
        """Look for changed files, parse, correct and embed the question, and ask the index for it."""
        mode = request.mode or self.settings.search.mode
        by_meaning = mode != "keyword" and bool(request.query.strip())
        if by_meaning:
            self._vectorizer.start()  # the model loads while the files are looked at
        call = self._start(request, deadline, mode)
        if not request.query.strip():
            return call, Answer()
        self.load(by_meaning)
        day = request.now or request.as_of or calendar.today(self.settings.consolidate.time_zone)
        question = Question(request.query, day)
        call.corrections = find_corrections(question, self.index(), self._store, self._vectorizer, deadline)
        if call.corrections:
            question = Question(rewrite(question.text, call.corrections), question.day)
        query = Query(question, request, mode)
        if by_meaning:
            # Half of what is left: ranking needs some of it.
            call.embedder, call.model, call.fallback, vector = self._vectorizer.embed_question(
                question.text, deadline.left(0.5)
            )
            if vector is None and mode != "graph":
                call.mode = "keyword"
            if call.embedder is not None:
                noise = self._vectorizer.noise_level(call.embedder, deadline.left(0.5))
                coverage = 1.0 if vector is None else language_coverage(call.embedder, question.text)
                query = replace(query, vector=vector, noise=noise, language_coverage=coverage)
            query = replace(query, mode=call.mode)
        answer = self._settle(call, lambda index: ask(query, index))
        if call.embedder is not None and self._embed_candidates(call, call.embedder, question, answer.missing):
            answer = self._settle(call, lambda index: ask(query, index))
        if answer.missing:
            embedded = f"{len(self.index().corpus) - answer.missing} of {len(self.index().corpus)} units are embedded"
            call.remarks.append(f"{embedded}, the others are ranked by keywords; run: openclaw-memory ingest")
        return call, answer

    def load(self, by_meaning: bool) -> None:
        """Read the resident state of the first question, whose model may load meanwhile."""
        index = self.index()
        if index.has_state():
            return
        with self._store.reading():
            index.refresh(self._vectorizer.expected_model() if by_meaning else None)
            self._superseded()

    def catch_up(self, until: Deadline) -> None:
        """Take over what was written, so that the next question need not; nothing before the first question."""
        if self._index is not None and self._index.has_state():
            with suppress(StoreError), self._store.limit_waiting(until):  # else the question does
                self._index.refresh(None)

    def _settle(self, call: _Call, answer: Callable[[ResidentIndex], Answer[H]]) -> Answer[H]:
        """Answer from one state of the index: again if another process wrote before all that it needs was read.

        Where others have the index for half of the time that is left, the state from before answers.
        """
        index = self.index()
        with self._store.reading():
            while True:
                current = self._refresh(index, call)
                with self._store.limit_waiting(NEVER if current else Deadline.after(call.deadline.left(0.5))):
                    result = answer(index)
                if not current:
                    call.stale = True
                    remark = "the index is in use; answered from before that"
                    call.remarks = list(dict.fromkeys([*call.remarks, remark]))
                if not current or index.is_current():
                    return result

    def _refresh(self, index: ResidentIndex, call: _Call) -> bool:
        """Bring the state up to date; return false where others have the index for half of the time."""
        try:
            with self._store.limit_waiting(Deadline.after(call.deadline.left(0.5))):
                index.refresh(call.model)
                return True
        except LeaseTimeout:
            if call.deadline == NEVER or not index.has_state():
                raise
            return False

    def _report(self, call: _Call, machine: bool = False) -> dict[str, Any]:
        """Return the fields of a result beside its hits."""
        return {
            "provider": "none" if call.embedder is None else call.embedder.provider,
            "model": None if call.model is None else call.model.name,
            "mode": call.mode,
            "fallback": call.fallback,
            "took_ms": (time.monotonic() - call.started) * 1000,
            "corrected": call.corrections,
            "stale": call.stale,
            "warning": joined([*self._store.warnings(), *call.remarks, *[_ONLY_MACHINE] * machine]),
        }

    def _embed_candidates(self, call: _Call, embedder: Embedder, question: Question, missing: int) -> bool:
        """Embed the best rows that have no vector yet, for a bounded time; return true if there were some."""
        how = self.settings.ingest.embed
        if not (missing or how == "lazy"):
            return False
        candidates = answers.keyword_candidates(question, self.index(), LAZY_CANDIDATES)
        if how == "background":
            self._vectorizer.embed_next(candidates)
            return False
        until = Deadline.after(call.deadline.within(freshness.LOOK_SECONDS, 0.5))
        return self._vectorizer.embed_candidates(embedder, candidates, LAZY_CANDIDATES, until) > 0


def _dated(request: SearchRequest, hits: list[H]) -> list[H]:
    """Return ``hits``, begun by their dates where the request wants that."""
    return timeline.dated(hits) if request.dates else hits


def check_settings(settings: SearchSettings) -> None:
    """Raise ``SettingsError`` where ``search.weights`` names a feature that is not there."""
    for name in settings.weights:
        if name not in WEIGHTS:
            raise SettingsError(f"search.weights: there is no feature '{name}'; valid are {', '.join(WEIGHTS)}")
