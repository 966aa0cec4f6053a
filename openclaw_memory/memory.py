"""Memory: one object, one method a capability; the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import analysis
from .context.ambient import Ambient
from .errors import LeaseTimeout, StoreError, WorkspaceError
from .facts.book import FactBook
from .facts.file import NAME as FACTS
from .graph.book import ConceptBook
from .graph.ontology import FILE_NAME
from .ingest import sidecars
from .ingest.pipeline import Ingestor, Outcome, Progress, silent
from .plugins import Plugins
from .questions import Questions
from .settings import Settings
from .types import (
    ContextResult,
    ExportReport,
    FileText,
    IngestReport,
    QueryResult,
    RecallResult,
    SearchRequest,
    SearchResult,
    Session,
    Status,
    joined,
)
from .vectorizer import Models, Vectorizer
from .workspace import expanded, find_workspace, inside

if TYPE_CHECKING:
    from .embed.base import Embedder
    from .embed.factory import Resolved
    from .store.protocol import Store, VectorModel
    from .tables import Tables

log = logging.getLogger("openclaw_memory")


class Memory:
    """An agent's memory of one workspace.

    ``workspace`` is the agent's folder (default: OpenClaw's, else the current one), ``db`` the index
    file (default: one per agent and workspace in the data folder), ``embedder`` replaces the one that
    the settings name, ``plugins`` are objects with hook implementations, ``store`` replaces the DuckDB
    file, ``models`` is shared with other memories and closed by whoever made it.  Safe to use from
    several threads.  Raises
    :class:`~openclaw_memory.errors.OpenClawMemoryError` with the cause and the next step.
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
        store: Store | None = None,
        models: Models | None = None,
    ) -> None:
        self.workspace = find_workspace(workspace)
        self.agent = agent
        self.settings = settings if settings is not None else Settings.load()
        self.plugins = Plugins(self.settings.plugins.disabled, plugins)
        self._store = store if store is not None else self._open_store(db)
        self._models = Models(self.settings, embedder) if models is None else models
        self._models_are_ours = models is None
        self._vectorizer = Vectorizer(self.settings, self._store, self.plugins, self._models)
        self._ingestor = Ingestor(self.workspace, self.settings.ingest, self._store, self.plugins)
        self._lock = threading.RLock()
        self._ingesting = threading.Lock()
        self._looking = threading.Lock()
        self._scanned = float("-inf")
        self._empty = False
        #: What is wrong with the files of the workspace that are ours, until they are fine.
        self._broken: Mapping[str, str] = {}
        self._closing = threading.Event()
        self.facts = FactBook(self.workspace, self._store, self.freshen, partial(self.plugins.redacted, FACTS))
        self._questions = Questions(
            self.settings, self._store, self._vectorizer, self.plugins, self._freshen, self.facts.superseded
        )
        self.concepts = ConceptBook(
            self.workspace / FILE_NAME,
            self._questions.graph,
            self._relink,
            self._questions.similarities,
            partial(self.plugins.redacted, FILE_NAME),
        )
        self.ambient = Ambient(
            self.settings,
            self._store,
            self._vectorizer,
            self._questions.engine,
            self._freshen,
            self.facts,
            self.plugins,
        )

    def _relink(self) -> int:
        """Take over the curated concepts of the workspace; how many references that changed."""
        with self._ingesting:
            linked = sidecars.take_concepts(self.workspace, self._store, partial(self.plugins.redacted, FILE_NAME))
            self._broken = {name: reason for name, reason in self._broken.items() if name != FILE_NAME}
            return linked

    def _open_store(self, db: str | Path | None) -> Store:
        from .ingest import linking
        from .store.duck import DuckStore
        from .store.paths import default_path

        named = db or self.settings.store.path
        path = (
            expanded(named).absolute()
            if named
            else default_path(self.workspace, self.agent, self.settings.store.folder)
        )
        return DuckStore(
            path, self.settings.store, analysis.terms, analysis.ANALYSIS_VERSION, linking.EXTRACTION_VERSION
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work and let go of the index and the model; calling twice is harmless."""
        self._closing.set()
        self.ambient.close()
        self._vectorizer.stop()
        if self._models_are_ours:
            self._models.close()
        self._store.close()

    # -- the model --------------------------------------------------------------------------------

    def resolve_embedder(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        return self._vectorizer.resolve()

    def vectors_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """The embedder, what its vectors are stored by, and why there is none or another; may load the model."""
        return self._vectorizer.known()

    def pull_model(self, progress: Any = None) -> str | None:
        """Get the configured model if it is missing and may be had; returns why it is not there.

        ``progress(stage, done bytes, total bytes)`` is called while it downloads and converts.
        """
        return self._vectorizer.pull(progress)

    def warm(self) -> None:
        """Load the model and the index now rather than at the first search."""
        _, model, _, _ = self._vectorizer.query("warm")
        self._questions.engine().refresh(model)
        if self.settings.context.enabled:
            self.ambient.entities("")  # has the names of all concepts at hand

    # -- ingest -----------------------------------------------------------------------------------

    def ingest(
        self,
        paths: Sequence[str] = (),
        *,
        embed: str | None = None,
        progress: Progress = silent,
        deadline: float | None = None,
    ) -> IngestReport:
        """Bring the index to the state of the files, and embed what is new.

        ``paths`` restricts it to files and folders of the workspace; ``embed`` is ``eager``, ``lazy`` or
        ``background`` (default: the setting); ``deadline`` is in seconds.  Everything that was written is
        searchable by keywords at once.
        """
        started = time.monotonic()
        until = None if deadline is None else started + deadline
        if not self._ingesting.acquire(timeout=-1 if deadline is None else max(0.0, deadline)):
            raise StoreError(f"another ingest of {self.workspace} is still running; try again when it is done")
        try:
            outcome = self._ingestor.run(self._relative(paths), progress, until)
            self._broken = outcome.sidecars
            if not paths:
                self._looked(outcome)
        finally:
            self._ingesting.release()
        embedded, pending, remark = self._vectorizer.after_ingest(embed or self.settings.ingest.embed, progress, until)
        if outcome.wrote:
            self._store.maintain()
        return replace(
            outcome.report,
            embedded=embedded,
            pending=pending,
            seconds=time.monotonic() - started,
            warning=joined([*self._store.warnings(), *self._gaps(outcome), *([remark] if remark else [])]),
        )

    def _looked(self, outcome: Outcome) -> None:
        self._empty = not outcome.report.files
        self._broken = outcome.sidecars
        if outcome.complete:
            self._scanned = time.monotonic()

    def _gaps(self, outcome: Outcome) -> list[str]:
        remarks = self._nothing_there()  # broken files are among those that were skipped
        if not outcome.complete:
            remarks.append("not all changed files were read in time; run: openclaw-memory ingest")
        return remarks

    def _nothing_there(self) -> list[str]:
        if not self._empty:
            return []
        return [f"no notes in {self.workspace}: write a MEMORY.md, or a file below memory/ that ends in .md"]

    def _standing(self) -> list[str]:
        """What was found at the last look and holds until another one finds otherwise."""
        return [*self._nothing_there(), *(f"{self.workspace / name}: {why}" for name, why in self._broken.items())]

    def _relative(self, paths: Sequence[str]) -> list[str]:
        relative = []
        for path in paths:
            if path.startswith("@"):
                relative.append(path)
                continue
            named = None if "\0" in path else self._named(expanded(path))
            if named is None:
                raise WorkspaceError(
                    f"{path}: not inside the workspace {self.workspace}; add it to ingest.extra_paths to read it"
                )
            relative.append(named)
        return [] if "" in relative else relative

    def _named(self, path: Path) -> str | None:
        """How the index names a path that is relative to the current folder or to the workspace."""
        if path.is_absolute():
            return inside(self.workspace, path)
        here, there = inside(self.workspace, Path.cwd() / path), inside(self.workspace, self.workspace / path)
        if here is None or (
            there is not None and not (Path.cwd() / path).exists() and (self.workspace / path).exists()
        ):
            return there
        return here

    def wait_for_background(self, timeout: float | None = None) -> bool:
        """Wait for background embedding to finish; whether it has."""
        return self._vectorizer.wait(timeout)

    def watch(
        self, stop: threading.Event | None = None, *, paths: Sequence[str] = (), embed: str | None = None
    ) -> Iterator[IngestReport]:
        """Ingest now and after every change of the files, until ``stop`` is set or the memory is closed.

        ``paths`` and ``embed`` are those of :meth:`ingest`.  A file that another process holds for too long is
        tried again; raises :class:`~openclaw_memory.errors.WorkspaceError` when the workspace vanishes.
        """
        from .ingest.watch import AnyOf, changes

        first, told = True, None
        stopped = AnyOf(stop or self._closing, self._closing)
        # The first round comes when the files are being watched, so that no change is lost in between.
        for _ in changes(self.workspace, self.settings.ingest, stopped):
            while not stopped.is_set():
                try:
                    report = self.ingest(paths, embed=embed)
                except LeaseTimeout as error:
                    log.warning("%s", error)
                    self._closing.wait(1)
                    continue
                news = (report.skipped, report.warning)
                if first or report.added or report.updated or report.deleted or report.embedded or news != told:
                    yield report
                first, told = False, news
                break

    # -- search -----------------------------------------------------------------------------------

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResult:
        """Answer a question; ``options`` are fields of :class:`SearchRequest`."""
        request = query if isinstance(query, SearchRequest) else SearchRequest(query, **options)
        result = self.plugins.first("openclaw_memory_search", SearchResult, memory=self, request=request)
        if result is None:
            result = self.search_index(request)
        hits = self.plugins.rerank(request.query, result.results)
        return replace(result, results=tuple(hits))

    def search_index(self, request: SearchRequest) -> SearchResult:
        """Answer from the index: freshen, embed the question, rank."""
        return self._questions.search(request)

    def recall(self, query: str | SearchRequest, *, hops: int = 2, **options: Any) -> RecallResult:
        """The thread behind an answer: what hangs together with the best hits over up to ``hops`` steps, by time.

        ``options`` are fields of :class:`SearchRequest` (``max_results``: 5 unless told); its filters hold for what
        is returned, not for what the walk passes through.  Raises
        :class:`~openclaw_memory.errors.RequestError` when ``hops`` is not from 1 to 4.
        """
        given = {"max_results": 5, **options}
        request = query if isinstance(query, SearchRequest) else SearchRequest(query, **given)
        return self._questions.recall(request, hops)

    def context(self, message: str, **options: Any) -> ContextResult:
        """What is relevant to ``message``, in plain sentences with their days; empty when nothing is.

        ``options``: ``budget`` in tokens (``context.budget`` unless told); ``session``, which is not given the same
        again within ``context.repeat_minutes``; ``now``, the day it is; ``deadline`` in seconds, by which what is
        ready is returned, failures being a ``warning`` then; ``themes``, concepts that count for more; the share
        ``serendipity`` of weaker notes that come along; ``explain`` for why each source was chosen.  Raises
        :class:`~openclaw_memory.errors.RequestError` for an option that cannot be meant.
        """
        return self.ambient.context(message, **options)

    def timeline(
        self,
        query: str = "",
        *,
        minimum_days_ago: int | None = None,
        maximum_days_ago: int | None = None,
        **options: Any,
    ) -> SearchResult:
        """What was noted when: hits in order of time, undated ones last, each snippet begun by its date.

        With a ``query`` the hits are those of :meth:`search`; without one they are the sections of the range,
        newest first until ``max_results`` or ``budget`` is spent.  The days count back from ``now``;
        ``options`` are fields of :class:`SearchRequest`.  Raises
        :class:`~openclaw_memory.errors.RequestError` when no day can be in the range.
        """
        from .search import timeline

        request = timeline.bounded(SearchRequest(query, **options), minimum_days_ago, maximum_days_ago)
        result = self.search(request) if query.strip() else self._questions.listing(request)
        return replace(result, results=tuple(timeline.in_order(result.results)))

    def freshen(self) -> bool:
        """Look at the files as a search does, for at most ``ingest.fresh_deadline``; whether all is read."""
        return not self._freshen(None)[0]

    def _freshen(self, deadline: float | None) -> tuple[bool, list[str]]:
        """Ingest what changed if the last look is too old; whether the answer may be stale, and remarks."""
        if self._is_fresh():
            return False, self._standing()
        left = _left(deadline, 0.5)
        seconds = self.settings.ingest.fresh_deadline
        until = time.monotonic() + (seconds if left is None else min(seconds, left))
        # Questions that come at the same time wait for the first one's look.
        if not self._looking.acquire(timeout=max(0.0, until - time.monotonic())):
            return True, ["another question is still looking at the files", *self._standing()]
        try:
            if self._is_fresh():
                return False, self._standing()
            return self._look(until, deadline)
        finally:
            self._looking.release()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._scanned <= self.settings.ingest.fresh_seconds

    def _look(self, until: float, deadline: float | None) -> tuple[bool, list[str]]:
        if not self._ingesting.acquire(blocking=False):
            return True, ["an ingest is running", *self._standing()]
        try:
            with self._store.session(_left(deadline)):
                pass  # whoever has a deadline does not wait for the whole lock_timeout
            outcome: Outcome = self._ingestor.run(deadline=until)
            self._looked(outcome)
        except LeaseTimeout:
            raise
        except (WorkspaceError, StoreError) as error:
            return True, [f"the files could not be checked for changes: {error}", *self._standing()]
        finally:
            self._ingesting.release()
        if outcome.wrote:
            self._vectorizer.after_freshening(until)
        if outcome.complete:
            return False, self._standing()
        return True, ["not all changed files were read in time; run: openclaw-memory ingest", *self._standing()]

    # -- files, hooks, upkeep -----------------------------------------------------------------------

    def get(self, path: str, from_line: int | None = None, lines: int | None = None) -> FileText:
        """Lines of a memory file as they are on disk now; only files that ingest reads are shown."""
        from .ingest.files import read_lines

        return read_lines(self.workspace, self.settings.ingest, path, from_line, lines)

    def session_start(self, session: Session | None = None) -> list[Any]:
        """Tell the plugins that a host session begins; the built-in one ingests."""
        return self.plugins.notify(
            "openclaw_memory_session_start", memory=self, session=session or Session("", self.agent)
        )

    def heartbeat(self, now: datetime | None = None) -> list[Any]:
        """Tell the plugins that there is time for maintenance."""
        return self.plugins.notify("openclaw_memory_heartbeat", memory=self, now=now or datetime.now().astimezone())

    # -- as tables ----------------------------------------------------------------------------------

    def sql(self, query: str, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """The answer of one SQL statement that only reads: over ``memories``, ``concepts``, ``edges`` and ``facts``.

        At most ``limit`` rows; stopped after ``timeout`` seconds, as nobody else can use the index meanwhile.
        Raises :class:`~openclaw_memory.errors.RequestError` with what DuckDB says.
        """
        return self._tables().query(query, limit, timeout)

    def export(self, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent) -> ExportReport:
        """Write every table as a Parquet file into ``folder``: a new or empty one, or an older export to ``overwrite``.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """
        return self._tables().export(expanded(folder).absolute(), overwrite, progress)

    def _tables(self) -> Tables:
        from .tables import Tables

        return Tables(self._store, self._questions.graph, self.facts, self._freshen)

    # -- upkeep ---------------------------------------------------------------------------------------

    def maintain(self, force: bool = False) -> bool:
        """Compact the index if that is due; whether it was done."""
        return self._store.maintain(force)

    def status(self) -> Status:
        """What the memory holds and how it is."""
        from .diagnosis import status

        return status(self, self._store)

    @property
    def store(self) -> Store:
        """The store behind this memory."""
        return self._store


def _left(until: float | None, share: float = 1.0) -> float | None:
    """A share of the seconds that are left until ``until``; ``None`` without a deadline."""
    return None if until is None else max(0.0, until - time.monotonic()) * share
