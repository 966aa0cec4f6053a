"""The public object of the package, and the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .config.openclaw_home import OpenClawHome
from .config.settings import Settings
from .config.workspace import conversations_of, expand_home, find_workspace
from .errors import OpenClawMemoryError
from .evaluate.memory import EvaluatingMemory
from .forget.tombstones import Tombstones
from .ingest.scan import max_bytes, scan
from .model import Progress, SearchRequest, joined, silent
from .model.bounds import named_arguments
from .plugins.manager import Plugins
from .sharing.reading import OtherMemories, ReadingMemory, check_names, find_sources
from .store.state.opening import ServerWorkspace, open_state
from .system import atomic
from .system.deadline import Deadline
from .use.tracker import Usage

if TYPE_CHECKING:
    from .capture.capturer import Turn
    from .context.service import ContextService
    from .embed.manager import EmbedderChoice, EmbedderManager
    from .embed.vectorizer import Vectorizer
    from .facts.service import FactService
    from .forget.operations import Forgetter
    from .graph.service import ConceptService
    from .ingest.freshness import Freshness
    from .ingest.notes import NoteReader
    from .ingest.pipeline import Ingestor
    from .ingest.survey import NoteSurvey
    from .model import (
        CaptureReport,
        ConsolidateReport,
        ExportReport,
        FeedbackReport,
        ForgetReport,
        Grain,
        GrainSize,
        IngestReport,
        MapReport,
        QueryResult,
        QuotedHits,
        ScanResult,
        SearchHit,
        Session,
        Status,
    )
    from .model.embedder import Embedder
    from .search.service import SearchService
    from .sharing.reading import Source
    from .store.api import Store, VectorModel
    from .summarise.consolidator import Consolidator
    from .summarise.inventory import RetiredNotes
    from .tables.service import MemoryTables
    from .upkeep.schedule import ConsolidationRunner

log = logging.getLogger("openclaw_memory")

T = TypeVar("T")


class Part(Generic[T]):
    """A part of a memory that is imported and built when it is first asked for: most commands need few of them."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build, self._name = build, build.__name__

    def __get__(self, memory: Memory, owner: type[Memory]) -> T:
        parts = memory._parts
        if self._name not in parts:
            with memory._building:  # two threads must not build two of them
                if self._name not in parts:
                    parts[self._name] = self._build(memory)
        part: T = parts[self._name]
        return part


class Memory(EvaluatingMemory):
    """An agent's memory of one workspace; safe to use from several threads.

    ``workspace`` is the agent's folder (default: OpenClaw's, else the current one); ``db`` the index file and ``state``
    the file of feedback, use and forgotten texts (default: in the data folder); ``embedder`` replaces the one of the
    settings; ``plugins`` are objects with hooks; ``store`` is a URL of PostgreSQL or a store, instead of a file;
    ``models`` are shared and not closed here; ``read_from`` names other memories to read (default:
    ``sharing.read_from``), which ``peers`` opens.  Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` with
    cause and next step.
    """

    def __init__(
        self,
        workspace: str | Path | None = None,
        *,
        agent: str = "main",
        settings: Settings | None = None,
        db: str | Path | None = None,
        embedder: Embedder | None = None,
        plugins: Sequence[object] = (),
        store: Store | str | None = None,
        models: EmbedderManager | None = None,
        state: str | Path | None = None,
        read_from: Sequence[str] | None = None,
        peers: Callable[[Source], AbstractContextManager[ReadingMemory]] | None = None,
    ) -> None:
        self.workspace = find_workspace(workspace, agent=agent)
        self.agent = agent
        conversations = conversations_of(agent, self.workspace)
        self.settings = (settings or Settings.load()).for_workspace(self.workspace, conversations)
        names = tuple(self.settings.sharing.read_from if read_from is None else read_from)
        check_names(self.settings, names)
        self.plugins = Plugins(self.settings.plugins.disabled, plugins, allow=self.settings.redaction.allow)
        #: Parts that were built, by name, shared with copies; ``_building`` is held meanwhile.
        self._parts: dict[str, Any] = {}
        self._building = threading.RLock()
        server: ServerWorkspace | None = None
        if store is None or isinstance(store, str):
            from .index.opening import server_of

            server = server_of(self.workspace, agent, self.settings, store or db)
            self._place = store or db
        else:
            self._parts["store"] = store
        self._embedder, self._models_are_ours = embedder, models is None
        if models is not None:
            self._parts["_models"] = models
        file = expand_home(state) if state is not None else None
        self.state = open_state(self.workspace, self.settings.state, file, server)
        self.usage = Usage(self.state)
        self.forgotten = Tombstones(self.state)
        self.others = OtherMemories(
            partial(find_sources, self.settings, names, agent, self.workspace),
            partial(self._open_other_memory, plugins=plugins),
            peers,
        )

    # -- parts ------------------------------------------------------------------------------------

    @Part
    def store(self) -> Store:
        """The store of the index."""
        from .index.opening import open_index

        return open_index(self.workspace, self.agent, self.settings, self._place)

    @Part
    def _models(self) -> EmbedderManager:
        from .embed.manager import EmbedderManager

        return EmbedderManager(self.settings, self._embedder)

    @Part
    def _vectorizer(self) -> Vectorizer:
        from .embed.vectorizer import Vectorizer
        from .upkeep.languages import other_than_english

        foreign = partial(other_than_english, self.workspace, self.settings.ingest)
        return Vectorizer(self.settings, self.store, self.plugins, self._models, foreign)

    @Part
    def _retired(self) -> RetiredNotes:
        from .summarise.inventory import RetiredNotes

        return RetiredNotes(self.state, self.settings.retention["plan"] != "keep")

    @Part
    def survey(self) -> NoteSurvey:
        """Remarks on the notes that were read."""
        from .ingest.survey import SURVEY_SUFFIX, NoteSurvey

        file = self._beside_index(SURVEY_SUFFIX)
        return NoteSurvey(file, max_bytes(self.settings.ingest), self.plugins.redaction_rules())

    def _beside_index(self, suffix: str) -> Path | None:
        """Return the path of a file beside the index, which is not opened; ``None`` on a server."""
        if "store" in self._parts:
            return self.store.sidecar(suffix)
        from .index.opening import index_file, url_of

        if url_of(self.settings, self._place):
            return None
        return Path(f"{index_file(self.workspace, self.agent, self.settings, self._place)}{suffix}")

    @Part
    def _ingestor(self) -> Ingestor:
        from .forget.masking import mask_for_index
        from .forget.pending import reread_forgotten
        from .importers.transcripts import SessionNotes
        from .ingest.pipeline import Ingestor

        return Ingestor(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self.store,
            plugins=self.plugins,
            mask=partial(mask_for_index, self.forgotten),
            excluded=self._retired.holds,
            ready=(partial(reread_forgotten, self.store, self.state, self.forgotten), SessionNotes(self).update),
            forgotten=self.forgotten.covers_fact,
            survey=self.survey,
        )

    @property
    def reader(self) -> NoteReader:
        """Reads a file as the index sees it."""
        return self._ingestor.reader

    @Part
    def _freshness(self) -> Freshness:
        from .forget.pending import unfinished
        from .ingest.freshness import Freshness

        return Freshness(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self.store,
            plugins=self.plugins,
            ingestor=self._ingestor,
            vectorizer=self._vectorizer,
            unfinished=partial(unfinished, self.state),
        )

    @Part
    def facts(self) -> FactService:
        """Facts that are stated in files or in notes."""
        from .facts.service import FactService
        from .knowledge import FACTS

        return FactService(
            workspace=self.workspace,
            store=self.store,
            freshen=self.freshen,
            redact=partial(self.plugins.redact_text, FACTS),
            forgotten=self.forgotten.covers_fact,
            today=self.today,
        )

    @Part
    def _questions(self) -> SearchService:
        from .search.service import SearchService
        from .search.superseded import SupersededStatements
        from .system.git import lines_after

        return SearchService(
            settings=self.settings,
            store=self.store,
            vectorizer=self._vectorizer,
            plugins=self.plugins,
            freshen=self._freshness.freshen,
            superseded=SupersededStatements(
                self.store, self.today, lambda as_of: self.facts.superseded(as_of), lambda: self.facts.outlook()
            ),
            boosts_on=self.usage.boosts_on,
            lines_after=partial(lines_after, self.workspace),
        )

    @Part
    def concepts(self) -> ConceptService:
        """Concepts: those that notes mention, and the curated ones."""
        from .graph.service import ConceptService
        from .knowledge import CONCEPTS

        return ConceptService(
            file=self.workspace / CONCEPTS,
            view=self._questions.graph,
            changed=self._freshness.relink,
            redact=partial(self.plugins.redact_text, CONCEPTS),
            forgotten=self.forgotten.covers_name,
        )

    @Part
    def _forgetter(self) -> Forgetter:
        from .forget.operations import Forgetter

        return Forgetter(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self.store,
            reader=self.reader,
            state=self.state,
            tombstones=self.forgotten,
            uses=self.usage,
            view=lambda: self._questions.graph(),
            ingest=self.ingest,
            clear=self._vectorizer.forget_questions,
        )

    @Part
    def upkeep(self) -> ConsolidationRunner:
        """Consolidation, by hand and by itself."""
        from .upkeep.schedule import ConsolidationRunner

        settings = self.settings.consolidate
        return ConsolidationRunner(settings, self.state, lambda: self._consolidator, self._ingest_and_scan)

    @Part
    def _consolidator(self) -> Consolidator:
        from .summarise.consolidator import Consolidator

        return Consolidator(
            workspace=self.workspace,
            settings=self.settings,
            store=self.store,
            reader=self.reader,
            plugins=self.plugins,
            retired=self._retired,
            changes=lambda: self.facts.changes(date.min, fresh=False).changes or (),
        )

    @Part
    def ambient(self) -> ContextService:
        """Context for a message."""
        from .context.service import ContextService

        return ContextService(
            settings=self.settings,
            store=self.store,
            vectorizer=self._vectorizer,
            index=self._questions.index,
            freshen=self._freshness.freshen,
            facts=self.facts,
            plugins=self.plugins,
            state=self.state,
        )

    def _open_other_memory(self, source: Source, plugins: Sequence[object]) -> Memory:
        """Open the memory of another agent: its default index, the same model."""
        settings = self.settings.with_values({"store.path": "", "store.workspace": ""})
        return Memory(
            source.workspace, agent=source.agent, settings=settings, plugins=plugins, models=self._models, read_from=()
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work and release the index and the model; a second call does nothing."""

        def end(name: str, method: str = "close") -> None:
            if (part := self._parts.get(name)) is not None:
                getattr(part, method)()

        end("_freshness")
        end("_questions", "keep")
        super().close()
        end("ambient")
        self.usage.close()
        end("_vectorizer", "stop")
        if self._models_are_ours:
            end("_models")
        end("store")
        self.state.close()

    # -- the model --------------------------------------------------------------------------------

    def resolve_embedder(self) -> EmbedderChoice:
        """Return the embedder in use, or the reason why there is none; load no model."""
        return self._vectorizer.resolve()

    def prove_embedder(self) -> EmbedderChoice:
        """Return :meth:`resolve_embedder` after trying builds of llama.cpp again that have failed before."""
        from .embed.llama import CrashRecord
        from .embed.pull import models_dir

        CrashRecord(models_dir()).clear()
        return self._vectorizer.resolve()

    def vectors_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """Return the embedder, the key of its vectors, and why there is none or another; may load the model."""
        return self._vectorizer.embedder_in_use()

    def pull_model(self, progress: Progress = silent) -> str | None:
        """Download and convert the configured model if it is missing; return why it is not available, if so.

        ``progress(stage, done, total)`` is called with bytes.
        """
        return self._vectorizer.pull(progress)

    def warm(self) -> None:
        """Load the model and the index before the first search does."""
        _, model, _, _ = self._vectorizer.embed_question("warm")
        self._questions.index().refresh(model)
        self._questions.keep()
        if self.settings.context.enabled:
            self.ambient.entities("")  # loads the names of all concepts

    def load(self) -> None:
        """Map the index as another process has kept it, else read it, to be kept on closing; load no model."""
        self._questions.load(by_meaning=self.settings.search.mode != "keyword")

    @property
    def resident_bytes(self) -> int:
        """About how much memory this object takes: 8 MB for its files, and the state that answers questions."""
        return 8_000_000 + self._questions.resident_bytes

    # -- ingest -----------------------------------------------------------------------------------

    def ingest(
        self,
        paths: Sequence[str] = (),
        *,
        embed: str | None = None,
        progress: Progress = silent,
        deadline: float | None = None,
    ) -> IngestReport:
        """Update the index from the files, and embed what is new.

        ``paths`` restricts it to files and folders of the workspace; ``embed`` is ``eager``, ``lazy`` or
        ``background`` (default: the setting); ``deadline`` is in seconds; ``progress(stage, done, total)`` is called.
        New text is searchable by keywords at once.
        """
        if deadline is None:  # a call with a deadline must not wait for the index to be rewritten
            self._finish_forgetting()
        until = Deadline.after(deadline)
        report = self._freshness.ingest(paths, embed=embed, progress=progress, deadline=deadline)
        if (questions := self._parts.get("_questions")) is not None and not until.passed:
            questions.catch_up(until)
        return report

    def _ingest_and_scan(self, **options: Any) -> ScanResult | None:
        """Ingest; return the scan, or ``None`` if not all files were read in time."""
        self.ingest(**options)
        return self._freshness.scan

    def freshen(self) -> bool:
        """Read changed files as a search does, for at most two seconds; return true if all are read."""
        return not self._freshness.freshen()[0]

    def watch(
        self, stop: threading.Event | None = None, *, paths: Sequence[str] = (), embed: str | None = None
    ) -> Iterator[IngestReport]:
        """Ingest now and after every change of the files, until ``stop`` is set or the memory is closed.

        ``paths`` and ``embed`` are those of :meth:`ingest`.  A busy index is tried again.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the workspace vanishes.
        """
        return self._freshness.watch(stop, lambda: self.ingest(paths, embed=embed))

    def wait_for_background(self, timeout: float | None = None) -> bool:
        """Wait up to ``timeout`` seconds for background embedding; return true if it has finished."""
        return self._vectorizer.wait(timeout)

    # -- files, hooks, upkeep -----------------------------------------------------------------------

    def feedback(self, chunk: str, verdict: str, now: date | None = None) -> FeedbackReport:
        """Record that a hit, named by its id or citation, was ``useful`` or ``irrelevant``.

        Raises :class:`~openclaw_memory.errors.RequestError` when ``chunk`` names nothing, and
        :class:`~openclaw_memory.errors.WorkspaceError` when the state cannot be written.
        """
        from .use.units import record

        self.check_own(chunk)
        self.freshen()
        return record(self.store, self.usage, chunk, verdict, now or self.today())

    def replied(self, text: str) -> QuotedHits:
        """Count the hits of recent answers that a reply quotes as used."""
        from .model import QuotedHits

        return QuotedHits(len(self.usage.quoted(text)))

    def session_start(self, session: Session | None = None) -> list[Any]:
        """Run the plugins' hooks for the begin of a session, then ingest; return the results."""
        from .model import Session

        session = session or Session("", self.agent)
        results = self.plugins.notify("openclaw_memory_session_start", memory=self, session=session)
        return [*results, self.ingest(deadline=session.deadline)]

    def heartbeat(self, now: datetime | None = None) -> list[Any]:
        """Finish interrupted forgetting, run the plugins' hooks, consolidate if that is due, and maintain the index."""
        self._finish_forgetting()
        now = now or datetime.now().astimezone()
        results = self.plugins.notify("openclaw_memory_heartbeat", memory=self, now=now)
        report, compacted = self.upkeep.automatic(now), self.maintain()
        return [*results, compacted if report is None else report]

    # -- capture ------------------------------------------------------------------------------------

    def capture(self, turn: Turn, *, everything: bool = False, deadline: float | None = None) -> CaptureReport:
        """Append the new sentences of a finished turn that are worth keeping to the day's captures, and ingest them.

        ``everything`` keeps all sentences that are not there word for word.  ``deadline`` is in seconds.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the file cannot be written.
        """
        from .capture.capturer import Capturer

        def search(text: str, seconds: float | None) -> tuple[SearchHit, ...]:
            request = SearchRequest(
                text, max_results=8, min_score=0.0, mode="keyword", include_archived=True, deadline=seconds
            )
            return self._questions.search(request).results

        def read(path: str, seconds: float | None) -> IngestReport:
            return self.ingest([path], deadline=seconds)

        capturer = Capturer(
            self.workspace, self.settings, self.plugins.redact_text, search, read, self.forgotten.covers
        )
        until = Deadline.after(deadline)
        if not everything:  # the agent may have written a moment ago what the turn says
            self._freshness.freshen(until, force=True)
        return capturer.capture(turn, everything=everything, deadline=until.left())

    @named_arguments()
    def forget(
        self,
        *,
        path: str | None = None,
        query: str | None = None,
        concept: str | None = None,
        fact: str | None = None,
        since: date | None = None,
        until: date | None = None,
        dry_run: bool = False,
    ) -> ForgetReport:
        """Remove for good what one of ``path``, ``query``, ``concept``, ``fact``, or ``since`` with ``until`` names.

        ``path`` is a file, a folder or ``path#L3-L9``; ``query`` selects units that contain all of its words.  With
        ``dry_run`` nothing is changed and the report lists what would go.  Raises
        :class:`~openclaw_memory.errors.RequestError` for an unknown argument, or unless exactly one thing is named.
        """
        from .forget.selection import ForgetRequest

        return self._forgetter.forget(ForgetRequest(path, query, concept, fact, since, until), dry_run)

    def _finish_forgetting(self) -> None:
        """Finish interrupted forgetting; a failure is logged, and the next call tries again."""
        try:
            self._forgetter.resume()
        except OpenClawMemoryError as problem:
            log.warning("something is still to be forgotten: %s", problem)

    # -- consolidation ------------------------------------------------------------------------------

    @named_arguments()
    def consolidate(
        self,
        *,
        now: date | None = None,
        older_than_days: int | None = None,
        grain: Grain | None = None,
        dry_run: bool = False,
        deadline: float | None = None,
        progress: Progress = silent,
    ) -> ConsolidateReport:
        """Write summaries of periods that are over, and remove what retention does not keep.

        A period must have ended more than ``older_than_days`` (default: ``consolidate.older_than_days``) before
        ``now``, a day or a ``datetime``.  ``grain`` writes the summaries of that grain alone; with ``dry_run`` nothing
        is written.  After ``deadline`` seconds the rest is left to the next run.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when files cannot be written.
        """
        return self.upkeep.consolidate(
            now, deadline, progress, older_than_days=older_than_days, grain=grain, dry_run=dry_run
        )

    # -- as tables ----------------------------------------------------------------------------------

    def sql(self, query: str, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """Run one reading SQL statement over ``memories``, ``concepts``, ``facts``, ``usage`` and more.

        Returns at most ``limit`` rows, and stops after ``timeout`` seconds, as the index is held meanwhile.  Raises
        :class:`~openclaw_memory.errors.RequestError` with DuckDB's message.
        """
        return self._tables().query(query, limit, timeout)

    def export(self, folder: str | Path, *, progress: Progress = silent) -> ExportReport:
        """Write every table as a Parquet file into ``folder``, a new or empty one.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """
        return self._tables().export(expand_home(folder).absolute(), progress)

    @named_arguments()
    def map(self, file: str | Path | None = None, *, progress: Progress = silent) -> MapReport:
        """Draw the memory as one HTML page that needs no network: into ``file``, else beside the index, mode 0600.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` if it cannot be written or the file is not a map.
        """
        from .map.service import draw

        vectors, retired = self.vectors_in_use, self._retired.notes
        return draw(self, self.store, self._questions, self.facts, self.usage, vectors, retired, file, progress)

    def _tables(self) -> MemoryTables:
        from .tables.service import MemoryTables

        return MemoryTables(self.store, self._questions.graph, self.facts, self.usage.rows, self._freshness.freshen)

    def maintain(self, force: bool = False) -> bool:
        """Compact the index if that is due; return true if it was."""
        return self.store.maintain(force)

    def grains(self) -> tuple[GrainSize, ...]:
        """Return files, units and bytes of each grain."""
        return self._count()[0]

    def _count(self) -> tuple[tuple[GrainSize, ...], int]:
        """Return the grains and the number of contradictions among facts, as processes keep them or from the index."""
        from .store.api import KEPT_STATUS

        kept = self.store.kept(KEPT_STATUS)
        if kept.get("unchanged"):
            conflicts, first, end = kept["conflicts"]
            if first <= self.today() < end:
                return kept["grains"], conflicts
        return self._questions.grains(), self._questions.conflicts()

    def status(self, scanned: ScanResult | None = None) -> Status:
        """Return counts, sizes, model, embedding states and problems; opens no note.  ``scanned``: a scan just made."""
        from .context.usage import UsageCounters
        from .model import SkippedFile, Status
        from .store.duckdb.extensions import extension_file
        from .upkeep.languages import Languages, unknown_languages

        scanned = scanned or scan(self.workspace, self.settings.ingest)
        embedder, model, reason = self.vectors_in_use()
        grains, conflicts = self._count()
        with self.store.reading():
            numbers = self.store.statistics()
            states = self.store.vector_states(model)
        notes = self.survey.remarks(scanned.files)
        private = [note.private_lines for note in notes.values() if note.private_lines]
        languages = Languages()
        for note in notes.values():
            languages.count(note.languages)
        if embedder is not None:
            enough = 300  # units that show how well the model knows the languages of the notes
            languages.sample(self._questions.sample_texts(enough), enough)
        shares, knowledge = languages.shares(), languages.coverage(embedder)
        model_name = None if model is None else model.name
        unknown = unknown_languages(shares, knowledge, model_name, self.settings.embedding.model)
        problems = [*self.settings.ignored, *OpenClawHome.for_environment().problems(), *self.remarks()]
        problems += [] if unknown is None else [unknown]
        binding = getattr(embedder, "binding", None)
        return Status(
            workspace=str(self.workspace),
            agent=self.agent,
            database=numbers.path,
            bytes=numbers.bytes,
            schema=numbers.schema,
            generation=numbers.generation,
            files=numbers.documents,
            sections=numbers.sections,
            chunks=numbers.units,
            by_kind=dict(numbers.by_kind),
            by_grain=dict(numbers.by_grain),
            provider="none" if embedder is None else embedder.provider,
            model=model_name,
            dimensions=None if model is None else model.dimensions,
            vectors=asdict(states),
            keyword_index=self.settings.store.keyword_index,
            vector_index=self.settings.store.vector_index,
            postings=numbers.postings,
            postings_delta=numbers.postings_delta,
            extensions={name: extension_file(name) is not None for name in ("fts", "vss")},
            plugins=tuple(self.plugins.names()),
            plugin_failures=dict(self.plugins.failed),
            http_usage=getattr(embedder, "usage", lambda: None)(),
            context=self._parts.get("ambient", UsageCounters(self.state)).use(),
            grains=grains,
            consolidation=self.upkeep.remark(),
            retention=self.settings.retention["plan"],
            binding=None if binding is None else str(binding),
            languages=shares,
            model_knows=knowledge,
            fallback=reason,
            warning=joined(list(map(str, problems))),
            private_files=len(private),
            private_lines=sum(private),
            unread_front_matter=tuple(SkippedFile(path, n.untrusted) for path, n in notes.items() if n.untrusted),
            skipped=scanned.skipped,
            embedding=atomic.is_held(self.store.sidecar(".embedding")),
            found=len(scanned.files),
            conflicts=conflicts,
            evaluation=self.last_evaluation(),
        )

    def remarks(self) -> list[str]:
        """Return problems of the index and the state as messages."""
        from .forget.pending import lost_state, unfinished

        missing_key = [lost_state(self.store, self.forgotten)]
        return [*self.store.warnings(), *self.state.warnings(), *unfinished(self.state), *filter(None, missing_key)]
