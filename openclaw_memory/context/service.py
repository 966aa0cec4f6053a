"""Ambient context: the notes that matter for a message, given before the model answers and within a deadline.

A message goes one way: entities, candidates with their evidence and relevance, sentences, a text within the budget.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, timedelta
from math import ceil
from typing import TYPE_CHECKING

from ..config.settings import Settings
from ..embed.vocabulary import language_coverage
from ..errors import OpenClawMemoryError, RequestError
from ..facts.service import FactService
from ..model import ContextResult, ContextUse, SearchHit, SearchRequest, joined, keep_ends, tokens_of
from ..records import dataclass
from ..search.answers import list_sections
from ..search.hits import Range
from ..search.question import Question
from ..search.ranking import Query
from ..search.spelling import find_corrections, rewrite
from ..store.api import SectionText, Store, VectorModel
from ..store.state import State
from ..system.deadline import NEVER, Deadline
from ..text import calendar
from ..text.speech import subject_terms, without_small_talk
from . import conversation
from .arrangement import arrange
from .candidates import Candidate, Entity, find_candidates, find_entities, rank_message
from .compose import Composition, Item, compose, fact_items, note_items
from .usage import SessionHistory, UsageCounters

if TYPE_CHECKING:
    from ..embed.smalltalk import SmalltalkMatch
    from ..embed.vectorizer import Vectorizer
    from ..ingest.freshness import Freshen
    from ..plugins.manager import Plugins
    from ..search.resident import ResidentIndex

log = logging.getLogger("openclaw_memory")

#: Characters of a message's beginning and end that are read, and those that are searched for.
_READ, _SEARCHED = (14_000, 6_000), (700, 300)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message, and the options of its context; ``foreign`` marks one of another agent."""

    text: str
    budget: int
    session: str | None
    today: date
    explain: bool
    until: Deadline
    foreign: bool
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """The context as far as it is ready."""

    entities: tuple[Entity, ...] = ()
    composition: Composition = field(default_factory=Composition)
    sources: tuple[SearchHit, ...] = ()
    remarks: tuple[str, ...] = ()


class ContextService:
    """Gives the context of messages to one memory; safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        vectorizer: Vectorizer,
        index: Callable[[], ResidentIndex],
        freshen: Freshen,
        facts: FactService,
        plugins: Plugins,
        state: State,
    ) -> None:
        self._settings = settings
        self._store = store
        self._vectorizer = vectorizer
        self._index = index
        self._freshen = freshen
        self._facts = facts
        self._plugins = plugins
        self._history = SessionHistory()
        self._counters = UsageCounters(state)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def context(
        self,
        message: str,
        *,
        budget: int | None = None,
        session: str | None = None,
        now: date | None = None,
        as_of: date | None = None,
        deadline: float | None = None,
        explain: bool = False,
        elsewhere: bool = False,
    ) -> ContextResult:
        """Return what is relevant to ``message``; see :meth:`openclaw_memory.Memory.context`.

        ``elsewhere`` marks a message to another agent, which has no curated files of this memory in its prompt; it is
        not counted.
        """
        started = time.monotonic()
        settings = self._settings.context
        budget = settings.budget if budget is None else budget
        if budget < 1:
            raise RequestError(f"budget must be 1 token or more, not {budget}")
        today = now or as_of or calendar.today(self._settings.consolidate.time_zone)
        until = Deadline.after(deadline)
        request = _Message(keep_ends(message, *_READ), budget, session, today, explain, until, elsewhere, as_of)
        draft, late, remarks = _Draft(), False, []
        if not settings.enabled:
            remarks = ["context is switched off (context.enabled)"]
        elif until == NEVER:
            *_, draft = self._drafts(request)
        else:
            draft, late, remarks = self._last_draft(request)
        items = draft.composition.items
        self._history.add(session, [item.key for item in items])
        took = (time.monotonic() - started) * 1000
        tokens = ceil(tokens_of(draft.composition.text))
        if settings.enabled and not elsewhere:
            self._counters.count(len(draft.entities), tokens, late)
        return ContextResult(
            text=draft.composition.text,
            tokens=tokens,
            entities=tuple(entity.name for entity in draft.entities),
            sources=draft.sources,
            facts=tuple(item.fact for item in items if item.fact is not None),
            took_ms=took,
            warning=joined([*draft.remarks, *remarks]),
        )

    def entities(self, message: str) -> tuple[str, ...]:
        """Return the names of the known concepts in ``message``; looks at no file."""
        index = self._index()
        with index.reading():
            index.refresh(None)
            return tuple(entity.name for entity in find_entities(index.graph, keep_ends(message, *_READ)))

    def conversation(
        self, session: str, *, budget: int | None = None, now: date | None = None, deadline: float | None = None
    ) -> str:
        """Return what the notes hold of a conversation that was compacted: see :func:`conversation_state`."""
        if not self._settings.context.enabled:
            return ""
        today = now or calendar.today(self._settings.consolidate.time_zone)
        since = today - timedelta(days=conversation.DAYS)
        index = self._index()
        with self._store.session(deadline):
            index.refresh(None)
            listed = list_sections(SearchRequest("", max_results=conversation.SECTIONS, since=since), index)
        hits = self._plugins.rerank("", listed.hits)
        return conversation.conversation_state(hits, session, today, budget or self._settings.context.budget)

    def use(self) -> ContextUse:
        """Return how often context was asked for and given."""
        return self._counters.use()

    def count_missed(self, messages: int) -> None:
        """Count messages for which a host got no answer in time."""
        for _ in range(messages):
            self._counters.count(0, 0, late=True)

    def close(self) -> None:
        """Write the counters, and wait a little for work behind its deadline."""
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(0.2)
        self._counters.flush()

    def _last_draft(self, message: _Message) -> tuple[_Draft, bool, list[str]]:
        """Return the last draft that is ready by the deadline, true if more was to come, and what went wrong."""
        drafts: list[_Draft] = []
        failures: list[str] = []

        def work() -> None:
            try:
                for draft in self._drafts(message):
                    drafts[:] = [draft]  # at once: the deadline may come in between
            except OpenClawMemoryError as error:
                failures.append(str(error))
            except Exception as error:
                log.exception("no context for a message")
                failures.append(f"a defect of openclaw-memory ({type(error).__name__}: {error}); please report it")

        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            if len(self._threads) >= 2:  # at work behind their deadline
                return _Draft(), True, ["the memory is still busy with earlier messages"]
            thread = threading.Thread(target=work, name="context", daemon=True)
            self._threads.append(thread)
            thread.start()
        thread.join(message.until.left())
        late = thread.is_alive()
        draft = drafts[-1] if drafts else _Draft()
        if late:
            failures.append(
                "not done by the deadline; " + ("what was ready is given" if drafts else "nothing was ready")
            )
        return draft, late, failures

    def _drafts(self, message: _Message) -> Iterator[_Draft]:
        """Yield draft after draft, each with more in it; stop early where nothing is relevant."""
        until = message.until
        text = keep_ends(without_small_talk(message.text), *_SEARCHED)
        terms = subject_terms(text)
        _, remarks = self._freshen(Deadline.after(until.left(0.5)))
        index, question = self._index(), Question(text, message.today)
        corrections = find_corrections(question, index, self._store, self._vectorizer, until) if terms else {}
        if corrections:
            question = Question(rewrite(text, corrections), message.today)
            message = replace(message, text=rewrite(message.text, corrections))
        query = Query(question, SearchRequest(question.text, as_of=message.as_of), "keyword")
        model: VectorModel | None = None
        smalltalk: SmalltalkMatch | None = None
        if terms and self._settings.search.mode != "keyword":
            embedder, model, fallback, vector = self._vectorizer.embed_question(question.text, until.left(0.5))
            if embedder is not None and vector is not None:
                noise = self._vectorizer.noise_level(embedder, until.left(0.25))
                coverage = language_coverage(embedder, question.text)
                query = replace(query, mode="hybrid", vector=vector, noise=noise, language_coverage=coverage)
                smalltalk = self._vectorizer.compare_with_smalltalk(embedder, question.text, vector, until.left(0.25))
            elif fallback and self._vectorizer.resolve().embedder is not None:
                remarks = [*remarks, fallback]  # there is a model, and it was not ready
        with self._store.session(until.left()):
            index.refresh(model)
            with index.lock:
                for draft in self._drafts_from(index, message, query, smalltalk):
                    yield replace(draft, remarks=tuple(remarks))

    def _drafts_from(
        self, index: ResidentIndex, message: _Message, query: Query, smalltalk: SmalltalkMatch | None
    ) -> Iterator[_Draft]:
        """Yield the entities, then the notes, then the facts; the caller holds the index."""
        view, terms = index.graph, subject_terms(query.question.text)
        draft = _Draft(tuple(find_entities(view, message.text)))
        yield draft
        if not len(view.corpus) or not (terms or draft.entities):
            return
        curated_files = self._settings.context.curated_files or message.foreign
        superseded = index.superseded(message.as_of)
        ranked = rank_message(index, query, message.text, draft.entities, smalltalk, superseded, curated_files)
        candidates = self._filter(index, message, arrange(index, ranked, find_candidates(ranked)))
        candidates = candidates[: max(16, message.budget // 10)]  # these are turned into sentences
        ids = sorted({int(view.corpus.rows.section_id[candidate.row]) for candidate in candidates})
        sections = self._store.section_texts(ids)
        items = note_items(view, candidates, sections)
        excluded = self._history.lately(message.session)

        def composed(items: Sequence[Item]) -> _Draft:
            composition = compose(items, message.text, message.budget, excluded)
            sources = _sources(index, message.explain, composition, candidates, sections)
            return replace(draft, composition=composition, sources=sources)

        in_haste = message.until != NEVER
        if in_haste or not draft.entities:  # facts come after: there may be no time for them
            yield composed(items)
        if draft.entities:
            facts = fact_items(self._facts, view, draft.entities, terms, curated_files, message.as_of)
            if facts or not in_haste:
                yield composed([*items, *facts])

    def _filter(self, index: ResidentIndex, message: _Message, candidates: list[Candidate]) -> list[Candidate]:
        """Drop the candidates whose hits a plugin drops."""
        if not self._plugins.has_any("openclaw_memory_rerank"):
            return candidates
        ranges = [Range.of_row(candidate.row) for candidate in candidates]
        hits = index.display.hits(ranges, [candidate.scores for candidate in candidates])
        shown = [(candidate, hit) for candidate, hit in zip(candidates, hits, strict=True) if hit is not None]
        kept = {hit.id for hit in self._plugins.rerank(message.text, [hit for _, hit in shown])}
        return [candidate for candidate, hit in shown if hit.id in kept]


def _sources(
    index: ResidentIndex,
    explain: bool,
    composition: Composition,
    candidates: Sequence[Candidate],
    sections: Mapping[int, SectionText],
) -> tuple[SearchHit, ...]:
    """Return the notes of a composition as hits."""
    by_row = {candidate.row: candidate for candidate in candidates}
    used = [by_row[item.row] for item in composition.items if item.row is not None]
    scores = [replace(each.scores, score=round(each.score, 4), why=each.why if explain else None) for each in used]
    hits = index.display.hits([Range.of_row(candidate.row) for candidate in used], scores, sections=sections)
    return tuple(hit for hit in hits if hit is not None)
