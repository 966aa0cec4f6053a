"""Memory: one object, one method a capability; the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import analysis
from .errors import LeaseTimeout, SettingsError, StoreError, WorkspaceError
from .ingest.pipeline import Ingestor, Outcome, Progress, silent
from .plugins import Plugins
from .settings import Settings
from .types import (
    FileText,
    IngestReport,
    SearchHit,
    SearchRequest,
    SearchResult,
    Session,
    Status,
    counted,
    joined,
)
from .vectorizer import Models, Vectorizer
from .workspace import expanded, find_workspace, inside

if TYPE_CHECKING:
    from .embed.base import Embedder
    from .embed.factory import Resolved
    from .search.engine import SearchEngine
    from .store.protocol import Store, VectorModel

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
        self._engine: SearchEngine | None = None
        self._ingestor = Ingestor(self.workspace, self.settings.ingest, self._store, self.plugins)
        self._lock = threading.RLock()
        self._ingesting = threading.Lock()
        self._looking = threading.Lock()
        self._scanned = float("-inf")
        self._empty = False
        self._closing = threading.Event()

    def _open_store(self, db: str | Path | None) -> Store:
        from .store.duck import DuckStore
        from .store.paths import default_path

        named = db or self.settings.store.path
        path = (
            expanded(named).absolute()
            if named
            else default_path(self.workspace, self.agent, self.settings.store.folder)
        )
        return DuckStore(path, self.settings.store, analysis.terms, analysis.ANALYSIS_VERSION)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work and let go of the index and the model; calling twice is harmless."""
        self._closing.set()
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
        self._search_engine().refresh(model)

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
        if outcome.complete:
            self._scanned = time.monotonic()

    def _gaps(self, outcome: Outcome) -> list[str]:
        remarks = self._nothing_there()
        if not outcome.complete:
            remarks.append("not all changed files were read in time; run: openclaw-memory ingest")
        return remarks

    def _nothing_there(self) -> list[str]:
        if not self._empty:
            return []
        return [f"no notes in {self.workspace}: write a MEMORY.md, or a file below memory/ that ends in .md"]

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
        started = time.monotonic()
        until = None if request.deadline is None else started + request.deadline
        stale, remarks = self._freshen(until)
        mode: str = request.mode or self.settings.search.mode
        asked = request.now or date.today()
        embedder, model, fallback, vector = None, None, None, None
        if mode != "keyword" and request.query.strip():
            # Half of what is left: ranking needs some of it.
            embedder, model, fallback, vector = self._vectorizer.query(request.query, _left(until, 0.5))
            if vector is None:
                mode = "keyword"
        hits: list[SearchHit] = []
        if request.query.strip():
            engine = self._search_engine()
            if embedder is not None:
                engine.noise = self._vectorizer.noise(embedder, _left(until, 0.5))
            hits = self._answer(engine, request, mode, asked, model, vector, until)
            if embedder is not None and self._embed_candidates(request, engine, embedder, until):
                hits = self._answer(engine, request, mode, asked, model, vector, until)
            if model is not None and engine.missing:
                remarks.append(
                    f"{counted(engine.missing, 'unit')} without a vector yet, ranked by keywords; "
                    "run: openclaw-memory ingest"
                )
        floor = self.settings.search.min_score if request.min_score is None else request.min_score
        return SearchResult(
            results=tuple(hit for hit in hits if hit.score >= floor),
            provider="none" if embedder is None else embedder.provider,
            model=None if model is None else model.name,
            mode=mode,
            fallback=fallback,
            took_ms=(time.monotonic() - started) * 1000,
            stale=stale,
            warning=joined([*self._store.warnings(), *remarks]),
        )

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
        result = self.search(request) if query.strip() else self._listing(request)
        return replace(result, results=tuple(timeline.in_order(result.results)))

    def _listing(self, request: SearchRequest) -> SearchResult:
        started = time.monotonic()
        until = None if request.deadline is None else started + request.deadline
        stale, remarks = self._freshen(until)
        engine = self._search_engine()
        with self._store.session(_left(until)):
            engine.refresh(None)
            hits = engine.listing(request)
        return SearchResult(
            results=tuple(self.plugins.rerank("", hits)),
            provider="none",
            model=None,
            mode="timeline",
            took_ms=(time.monotonic() - started) * 1000,
            stale=stale,
            warning=joined([*self._store.warnings(), *remarks]),
        )

    def _search_engine(self) -> SearchEngine:
        with self._lock:
            if self._engine is None:
                from .search.engine import SearchEngine

                _check_weights(self.settings.search.weights)
                self._engine = SearchEngine(self._store, self.settings.search)
            return self._engine

    def _answer(
        self,
        engine: SearchEngine,
        request: SearchRequest,
        mode: str,
        asked: date,
        model: VectorModel | None,
        vector: Any,
        until: float | None,
    ) -> list[SearchHit]:
        with self._store.session(_left(until)):
            engine.refresh(model)
            return engine.answer(request, mode, asked, vector)

    def _embed_candidates(
        self, request: SearchRequest, engine: SearchEngine, embedder: Embedder, until: float | None
    ) -> bool:
        """Embed the best of what has no vector yet, for a bounded time; whether there is a new answer."""
        how = self.settings.ingest.embed
        if how == "background" or not (engine.missing or how == "lazy"):
            return False
        most = self.settings.search.lazy_candidates
        if not most:
            return False
        candidates = engine.keyword_candidates(request.query, most)
        seconds = min(self.settings.ingest.fresh_deadline, _left(until, 0.5) or self.settings.ingest.fresh_deadline)
        return self._vectorizer.candidates(embedder, candidates, most, time.monotonic() + seconds) > 0

    def freshen(self) -> bool:
        """Look at the files as a search does, for at most ``ingest.fresh_deadline``; whether all is read."""
        return not self._freshen(None)[0]

    def _freshen(self, deadline: float | None) -> tuple[bool, list[str]]:
        """Ingest what changed if the last look is too old; whether the answer may be stale, and remarks."""
        if self._is_fresh():
            return False, self._nothing_there()
        left = _left(deadline, 0.5)
        seconds = self.settings.ingest.fresh_deadline
        until = time.monotonic() + (seconds if left is None else min(seconds, left))
        # Questions that come at the same time wait for the first one's look.
        if not self._looking.acquire(timeout=max(0.0, until - time.monotonic())):
            return True, ["another question is still looking at the files"]
        try:
            if self._is_fresh():
                return False, self._nothing_there()
            return self._look(until, deadline)
        finally:
            self._looking.release()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._scanned <= self.settings.ingest.fresh_seconds

    def _look(self, until: float, deadline: float | None) -> tuple[bool, list[str]]:
        if not self._ingesting.acquire(blocking=False):
            return True, ["an ingest is running"]
        try:
            with self._store.session(_left(deadline)):
                pass  # whoever has a deadline does not wait for the whole lock_timeout
            outcome: Outcome = self._ingestor.run(deadline=until)
            self._looked(outcome)
        except LeaseTimeout:
            raise
        except (WorkspaceError, StoreError) as error:
            return True, [f"the files could not be checked for changes: {error}"]
        finally:
            self._ingesting.release()
        if outcome.wrote:
            self._vectorizer.after_freshening(until)
        if outcome.complete:
            return False, self._nothing_there()
        return True, ["not all changed files were read in time; run: openclaw-memory ingest"]

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


def _check_weights(weights: Mapping[str, float]) -> None:
    from .search.ranking import WEIGHTS

    for name in weights:
        if name not in WEIGHTS:
            raise SettingsError(f"search.weights: there is no feature '{name}'; valid are {', '.join(WEIGHTS)}")
