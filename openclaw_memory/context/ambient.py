"""Ambient context: what memory knows about a message, found before the model speaks and within a deadline."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..config.settings import Settings
from ..errors import OpenClawMemoryError, RequestError
from ..facts.periods import STATED
from ..facts.service import FactBook
from ..ingest.summary_files import DATED, read_line
from ..model import (
    TRUSTED,
    ContextResult,
    ContextUse,
    Grain,
    Kind,
    SearchHit,
    SearchRequest,
    ends,
    joined,
    tokens_of,
)
from ..search import hits
from ..search.question import asks_what_was_done
from ..search.spelling import misspelt, rewritten
from ..store.api import Floats, Ints, SectionText, Store, VectorModel
from ..store.state import State
from ..system.deadline import NEVER, Deadline
from ..text import calendar
from ..text.speech import searched, substance
from ..text.struck import standing_lines
from . import candidates, prose
from .compose import Composed, Item, composed
from .counters import Counters
from .entities import Entity, named_in
from .evidence import Evidence
from .relevance import signs, sureness
from .sessions import Given

if TYPE_CHECKING:
    from ..embed.general import General
    from ..embed.vectorizer import Vectorizer
    from ..graph.view import GraphView
    from ..ingest.freshness import Freshen
    from ..plugins.manager import Plugins
    from ..search.confidence import Parts
    from ..search.engine import SearchEngine
    from .candidates import Candidate, Scene

log = logging.getLogger("openclaw_memory")

#: Of a longer message, its beginning and its end are read.
_READ_FIRST, _READ_LAST = 14_000, 6_000
#: Facts about what a message names.
_FACTS = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A message on its way, and how its context is wanted."""

    message: str
    budget: int
    session: str | None
    today: date
    explain: bool
    until: Deadline
    #: Whether another agent asks, who has none of this memory in its prompt.
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class _Draft:
    """What could be said so far."""

    entities: tuple[Entity, ...] = ()
    composed: Composed = field(default_factory=Composed)
    sources: tuple[SearchHit, ...] = ()
    remarks: tuple[str, ...] = ()


class Ambient:
    """Makes the context of messages to one memory; safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        vectorizer: Vectorizer,
        engine: Callable[[], SearchEngine],
        freshen: Freshen,
        facts: FactBook,
        plugins: Plugins,
        state: State,
    ) -> None:
        self._settings = settings
        self._store = store
        self._vectorizer = vectorizer
        self._engine = engine
        self._freshen = freshen
        self._facts = facts
        self._plugins = plugins
        self._given = Given()
        self._counters = Counters(state)
        self._late: list[threading.Thread] = []
        self._lock = threading.Lock()

    def context(
        self,
        message: str,
        *,
        budget: int | None = None,
        session: str | None = None,
        now: date | None = None,
        deadline: float | None = None,
        explain: bool = False,
        elsewhere: bool = False,
    ) -> ContextResult:
        """What is relevant to ``message``; see :meth:`openclaw_memory.Memory.context`.

        With ``elsewhere`` another agent asks: it is given curated files too, and nothing is counted.
        """
        started = time.monotonic()
        own = self._settings.context
        budget = own.budget if budget is None else budget
        if budget < 1:
            raise RequestError(f"budget must be 1 token or more, not {budget}")
        until = Deadline.after(deadline)
        message = ends(message, _READ_FIRST, _READ_LAST)
        today = now or calendar.today(self._settings.consolidate.time_zone)
        asked = Asked(message, budget, session, today, explain, until, elsewhere)
        remarks: list[str] = []
        draft, late = _Draft(), False
        if not own.enabled:
            remarks.append("context is switched off (context.enabled)")
        elif until == NEVER:
            *_, draft = self._drafts(asked)
        else:
            draft, late, said = self._until(asked)
            remarks += said
        keys = [item.key for item in draft.composed.items]
        self._given.add(session, keys)
        took = (time.monotonic() - started) * 1000
        tokens = ceil(tokens_of(draft.composed.text))
        if own.enabled and not elsewhere:
            self._counters.count(len(draft.entities), tokens, late)
        return ContextResult(
            text=draft.composed.text,
            tokens=tokens,
            entities=tuple(entity.name for entity in draft.entities),
            sources=draft.sources,
            facts=tuple(item.fact for item in draft.composed.items if item.fact is not None),
            took_ms=took,
            warning=joined([*draft.remarks, *remarks]),
        )

    def entities(self, message: str) -> tuple[str, ...]:
        """Names of the known concepts in ``message``; looks at no file."""
        engine = self._engine()
        with self._store.session():
            engine.refresh(None)
            with engine.lock:
                named = named_in(engine.graph, ends(message, _READ_FIRST, _READ_LAST))
                return tuple(entity.name for entity in named)

    def use(self) -> ContextUse:
        """How often it was asked for and given, with how long that took."""
        return self._counters.use()

    def count_missed(self, messages: int) -> None:
        """Count messages for which a host got no answer in time."""
        for _ in range(messages):
            self._counters.count(0, 0, late=True)

    def close(self) -> None:
        """Write the counters, and wait a little for what goes on behind its deadline."""
        with self._lock:
            late = list(self._late)
        for thread in late:
            thread.join(0.2)
        self._counters.flush()

    # -- within a deadline ------------------------------------------------------------------------------

    def _until(self, asked: Asked) -> tuple[_Draft, bool, list[str]]:
        """The last draft that is ready by the deadline, whether there should be more, and what went wrong."""
        drafts: list[_Draft] = []
        failures: list[str] = []

        def work() -> None:
            try:
                for draft in self._drafts(asked):
                    drafts[:] = [draft]  # at once: the deadline may come in between
            except OpenClawMemoryError as error:
                failures.append(str(error))
            except Exception as error:
                log.exception("no context for a message")
                failures.append(f"a defect of openclaw-memory ({type(error).__name__}: {error}); please report it")

        with self._lock:
            self._late = [thread for thread in self._late if thread.is_alive()]
            if len(self._late) >= 2:  # at work behind their deadline
                return _Draft(), True, ["the memory is still busy with earlier messages"]
            thread = threading.Thread(target=work, name="context", daemon=True)
            self._late.append(thread)
            thread.start()
        thread.join(asked.until.left())
        late = thread.is_alive()
        draft = drafts[-1] if drafts else _Draft()
        if late:
            failures.append(
                "not done by the deadline; " + ("what was ready is given" if drafts else "nothing was ready")
            )
        return draft, late, failures

    def _drafts(self, asked: Asked) -> Iterator[_Draft]:
        """Draft after draft, each with more in it; stops early where there is nothing to say."""
        # Of what is longer without its courtesies, the beginning and the end are searched for.
        text = ends(searched(asked.message), 700, 300)
        about = substance(text)
        remarks: list[str] = []
        _, said = self._freshen(Deadline.after(asked.until.left(0.5)))
        remarks += said
        engine = self._engine()
        meant = misspelt(text, engine, self._store, self._vectorizer, asked.until) if about else {}
        text, asked = rewritten(text, meant), replace(asked, message=rewritten(asked.message, meant))
        model: VectorModel | None = None
        vector: Floats | None = None
        general: General | None = None
        if about and self._settings.search.mode != "keyword":
            embedder, model, fallback, vector = self._vectorizer.query(text, asked.until.left(0.5))
            if embedder is not None and vector is not None:
                engine.noise = self._vectorizer.noise(embedder, asked.until.left(0.25))
                general = self._vectorizer.general(embedder, text, vector, asked.until.left(0.25))
            elif fallback and self._vectorizer.resolve().embedder is not None:
                remarks.append(fallback)  # there is a model, and it was not ready
        with self._store.session(asked.until.left()):
            engine.refresh(model)
            with engine.lock:
                yield from self._from(engine, asked, text, vector, general, tuple(remarks))

    # -- what there is to say ----------------------------------------------------------------------------

    def _from(
        self,
        engine: SearchEngine,
        asked: Asked,
        text: str,
        vector: Floats | None,
        general: General | None,
        remarks: tuple[str, ...],
    ) -> Iterator[_Draft]:
        view, about = engine.graph, substance(text)
        named = tuple(named_in(view, asked.message))
        draft = _Draft(named, remarks=remarks)
        yield draft
        if not len(view.corpus) or not (about or named):
            return
        scene = self._scene(engine, asked, text, named, vector, general)
        passed = self._let_through(engine, asked, candidates.found(scene))
        passed = passed[: max(16, asked.budget // 10)]  # these are turned into sentences
        given = self._given.to(asked.session)
        ids = sorted({int(view.corpus.rows.section_id[one.row]) for one in passed})
        sections = self._store.section_texts(ids)
        items = _items(view, passed, sections)
        wants_facts = bool(named)
        if asked.until != NEVER or not wants_facts:  # facts come after: there may be no time for them
            chosen = composed(items, asked.message, asked.budget, given)
            draft = replace(draft, composed=chosen, sources=_sources(engine, asked, chosen, passed, sections))
            yield draft
        if wants_facts:
            stated = self._about(view, named, about, self._settings.context.curated_files or asked.elsewhere)
            if stated or asked.until == NEVER:
                chosen = composed([*items, *stated], asked.message, asked.budget, given)
                yield replace(draft, composed=chosen, sources=_sources(engine, asked, chosen, passed, sections))

    def _let_through(self, engine: SearchEngine, asked: Asked, passed: list[Candidate]) -> list[Candidate]:
        """What the plugins that drop hits leave of the notes."""
        if not self._plugins.has_any("openclaw_memory_rerank"):
            return passed
        known = engine.display.known([hits.Range(one.row, one.row, one.row) for one in passed])
        shown = [
            (one, hit)
            for one in passed
            if (hit := engine.display.hit(hits.Range(one.row, one.row, one.row), known, one.parts)) is not None
        ]
        kept = {hit.id for hit in self._plugins.rerank(asked.message, [hit for _, hit in shown])}
        return [one for one, hit in shown if hit.id in kept]

    def _scene(
        self,
        engine: SearchEngine,
        asked: Asked,
        text: str,
        named: Sequence[Entity],
        vector: Floats | None,
        general: General | None,
    ) -> Scene:
        view = engine.graph
        curated_files = self._settings.context.curated_files or asked.elsewhere
        allowed = candidates.allowed(view, self._facts.superseded(), curated_files)
        curated = view.corpus.shape.kind == list(Kind).index(Kind.CURATED)
        kinds = () if bool((allowed & curated).any()) else tuple(kind for kind in Kind if kind is not Kind.CURATED)
        request = SearchRequest(text, kinds=kinds)
        mode = "keyword" if vector is None else "hybrid"
        ranked, parts = engine.weigh(request, mode, asked.today, vector)
        # Where summaries do not answer, what they stand for does, as in a search.
        standing = view.archive.standing((), ranked.request.include_archived)
        if standing is not None:
            allowed &= standing
        if ranked.features.only_days:
            allowed &= ranked.features.values["date"] >= 1
            allowed &= True if ranked.allowed is None else ranked.allowed
        scores = ranked.score[allowed]
        low, high = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 0.0)
        keyword = ranked.features.keyword
        evidence = None if keyword is None else Evidence(text, keyword, len(view.corpus))
        about, index, units = bool(substance(text)), engine.vectors(), view.corpus.rows.unit_id

        def vectors(rows: Ints) -> Floats:
            return np.zeros((len(rows), 0), np.float32) if index is None else index.vectors(units[rows])

        done = asks_what_was_done(text, asked.today)
        best = candidates.searched(view, ranked, allowed, parts) if about or done else []
        sure = sureness(signs(ranked, evidence, best, engine.noise, general, allowed, vectors)) if best else 0.0
        return candidates.Scene(
            view=view,
            ranked=ranked,
            parts=parts,
            allowed=allowed,
            entities=named,
            best=best,
            sure=1.0 if best and done else sure,
            today=asked.today,
            noise=engine.noise,
            low=low,
            span=high - low,
            briefly=candidates.briefly(asked.message, named) if named else frozenset(),
        )

    def _about(self, view: GraphView, named: Sequence[Entity], about: Sequence[str], curated_files: bool) -> list[Item]:
        """Current facts about the entities, those that share words with the message first."""
        from ..text import analysis

        rows = self._facts.about([entity.name for entity in named], _FACTS * 8)
        curated = {info.path for info in view.corpus.documents.values() if info.kind is Kind.CURATED}
        names = {term for entity in named for term in analysis.query_terms(entity.name)}
        wanted = set(about) - names
        items = []
        for row in rows:
            in_prompt = row.rule != STATED and row.source is not None and row.source.partition("#")[0] in curated
            if not row.current or row.origin not in TRUSTED or (in_prompt and not curated_files):
                continue
            said = set(analysis.terms(f"{row.predicate} {row.object}"))
            shared = len(wanted & said) / len(wanted) if wanted else 0.5
            # What somebody stated passes by itself; what a rule found must have to do with the message.
            order = 0.1 + 0.4 * row.confidence + 0.5 * shared
            if order >= candidates.THRESHOLD:
                items.append(Item(key=row.id, order=order, text=prose.fact(row), day=row.valid_from, fact=row))
        items.sort(key=lambda item: (-item.order, str(item.key)))
        return items[:_FACTS]


def _items(view: GraphView, passed: Sequence[Candidate], sections: Mapping[int, SectionText]) -> list[Item]:
    corpus, rows = view.corpus, view.corpus.rows
    items = []
    for at, one in enumerate(passed):
        section = sections.get(int(rows.section_id[one.row]))
        if section is None:
            continue
        info = corpus.documents[int(rows.document_id[one.row])]
        when = section.date if rows.dated[one.row] else None
        items.append(
            Item(
                key=int(rows.hash[one.row]),
                order=one.order,
                text=_said(view, section, one.row, at < 3),
                lead=prose.lead(when, info.path, section.heading),
                group=section.id,
                day=when,
                place=(info.path, int(one.row)),
                row=one.row,
            )
        )
    return items


def _sources(
    engine: SearchEngine,
    asked: Asked,
    chosen: Composed,
    passed: Sequence[Candidate],
    sections: Mapping[int, SectionText],
) -> tuple[SearchHit, ...]:
    by_row = {one.row: one for one in passed}
    used = [by_row[item.row] for item in chosen.items if item.row is not None]

    def parts(found: hits.Range) -> Parts:
        one = by_row[found.best]
        return replace(one.parts, score=round(one.score, 4), why=one.why if asked.explain else None)

    return tuple(engine.display.hits([hits.Range(one.row, one.row, one.row) for one in used], parts, sections=sections))


def _said(view: GraphView, section: SectionText, row: int, listed: bool) -> str:
    """A row as a sentence; empty where it is a program's text, or opens a list that is not there or not ``listed``."""
    text = _words(view, section, row)
    if prose.is_machine(text):
        return ""
    if prose.opens(text):
        last = int(view.corpus.rows.end_line[row])
        below = standing_lines(section.lines)[0][last - section.start_line + 1 :]
        told = prose.below(below, 90, text) if listed else ""
        text = f"{text} {told}" if told else ""
    return prose.sentence(text)


def _words(view: GraphView, section: SectionText, row: int) -> str:
    """The text of a row in plain words: of a long paragraph only its own sentence."""
    rows = view.corpus.rows
    first, last = int(rows.start_line[row]), int(rows.end_line[row])
    every = standing_lines(section.lines)[0]
    lines = every[first - section.start_line : last - section.start_line + 1]
    if (grain := list(Grain)[int(view.corpus.shape.grain[row])]) is not Grain.WORKING:
        said = read_line("\n".join(lines), grain in DATED)  # without its day and its citation
        return "" if said is None else prose.plain(said.text)
    if lines and (cells := prose.row(lines[0], every[: first - section.start_line])) is not None:
        return cells if first == last else ""  # the head of a table says nothing by itself
    text = prose.plain("\n".join(lines))
    length = int(rows.chars[row])
    if len(text) <= max(prose.WHOLE, length + 40):
        return text
    # A paragraph is cut into sentences in order, so what stands before this one says where it begins.
    same = np.flatnonzero(
        (rows.section_id == rows.section_id[row]) & (rows.start_line <= last) & (rows.end_line >= first)
    )
    before = int((rows.chars[same[same < row]] + 1).sum())
    return prose.part(text, before, length)
