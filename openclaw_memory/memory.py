"""Memory: one object, one method a capability; the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import analysis
from .errors import LeaseTimeout, StoreError, WorkspaceError
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
    joined,
)
from .vectorizer import Vectorizer
from .workspace import find_workspace

if TYPE_CHECKING:
    from .embed.base import Embedder
    from .embed.factory import Resolved
    from .search.engine import SearchEngine
    from .store.protocol import Store


class Memory:
    """An agent's memory of one workspace.

    ``workspace`` is the agent's folder (default: OpenClaw's, else the current one), ``db`` the index
    file (default: one per agent and workspace in the data folder), ``embedder`` replaces the one that
    the settings name, ``plugins`` are objects with hook implementations, ``store`` replaces the DuckDB
    file.  Safe to use from several threads.  Raises
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
    ) -> None:
        self.workspace = find_workspace(workspace)
        self.agent = agent
        self.settings = settings if settings is not None else Settings.load()
        self.plugins = Plugins(self.settings.plugins.disabled, plugins)
        self._store = store if store is not None else self._open_store(db)
        self._vectorizer = Vectorizer(self.settings, self._store, self.plugins, embedder)
        self._engine: SearchEngine | None = None
        self._ingestor = Ingestor(self.workspace, self.settings.ingest, self._store, self.plugins)
        self._lock = threading.RLock()
        self._ingesting = threading.Lock()
        self._scanned = float("-inf")
        self._closing = threading.Event()

    def _open_store(self, db: str | Path | None) -> Store:
        from .store.duck import DuckStore
        from .store.paths import default_path

        named = db or self.settings.store.path
        path = Path(named).expanduser().absolute() if named else default_path(self.workspace, self.agent)
        return DuckStore(path, self.settings.store, analysis.terms, analysis.ANALYSIS_VERSION)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work and let go of the index and the model; calling twice is harmless."""
        self._closing.set()
        self._vectorizer.stop()
        self._store.close()

    # -- the model --------------------------------------------------------------------------------

    def resolve_embedder(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        return self._vectorizer.resolve()

    def pull_model(self, progress: Any = None) -> str | None:
        """Get the configured model if it is missing and may be had; returns why it is not there.

        ``progress(stage, done bytes, total bytes)`` is called while it downloads and converts.
        """
        return self._vectorizer.pull(progress)

    def warm(self) -> None:
        """Load the model and the index now rather than at the first search."""
        embedder, _, _ = self._vectorizer.query("warm")
        self._search_engine().refresh(self._vectorizer.model(embedder))

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
        with self._ingesting:
            outcome = self._ingestor.run(self._relative(paths), progress, until)
            self._scanned = time.monotonic()
        embedded, pending, remark = self._vectorizer.after_ingest(embed or self.settings.ingest.embed, progress, until)
        if outcome.wrote:
            self._store.maintain()
        return replace(
            outcome.report,
            embedded=embedded,
            pending=pending,
            seconds=time.monotonic() - started,
            warning=joined([*self._store.warnings(), *([remark] if remark else [])]),
        )

    def _relative(self, paths: Sequence[str]) -> list[str]:
        relative = []
        for path in paths:
            if path.startswith("@"):
                relative.append(path)
                continue
            # Lexically, as the scan names files: a link below the workspace keeps its own name.
            given = Path(path).expanduser()
            absolute = given if given.is_absolute() else self._as_given(given)
            try:
                inside = absolute.relative_to(self.workspace)
            except ValueError:
                try:
                    inside = absolute.resolve().relative_to(self.workspace)
                except ValueError:
                    raise WorkspaceError(
                        f"{path}: not inside the workspace {self.workspace}; add it to ingest.extra_paths to read it"
                    ) from None
            if inside != Path("."):
                relative.append(inside.as_posix())
        return relative

    def _as_given(self, path: Path) -> Path:
        here = Path.cwd() / path
        return here if here.exists() and here.resolve().is_relative_to(self.workspace) else self.workspace / path

    def wait_for_background(self, timeout: float | None = None) -> bool:
        """Wait for background embedding to finish; whether it has."""
        return self._vectorizer.wait(timeout)

    def watch(self, stop: threading.Event | None = None) -> Iterator[IngestReport]:
        """Ingest now and after every change of the files, until ``stop`` is set."""
        from .ingest.watch import changes

        yield self.ingest()
        for _ in changes(self.workspace, self.settings.ingest, stop or self._closing):
            report = self.ingest()
            if report.added or report.updated or report.deleted or report.embedded or report.warning:
                yield report

    # -- search -----------------------------------------------------------------------------------

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResult:
        """Answer a question; ``options`` are fields of :class:`SearchRequest`."""
        request = query if isinstance(query, SearchRequest) else SearchRequest(query, **options)
        result: SearchResult | None = self.plugins.first("openclaw_memory_search", memory=self, request=request)
        if result is None:
            result = self.search_index(request)
        hits = self.plugins.rerank(request.query, result.results)
        return replace(result, results=tuple(hits))

    def search_index(self, request: SearchRequest) -> SearchResult:
        """Answer from the index: freshen, embed the question, rank."""
        started = time.monotonic()
        stale, remarks = self._freshen(request.deadline)
        mode: str = request.mode or self.settings.search.mode
        asked = request.now or date.today()
        embedder, fallback, vector = None, None, None
        if mode != "keyword":
            embedder, fallback, vector = self._vectorizer.query(request.query)
            if vector is None:
                mode = "keyword"
        model = self._vectorizer.model(embedder)
        hits: list[SearchHit] = []
        if request.query.strip():
            engine = self._search_engine()
            if embedder is not None:
                engine.noise = self._vectorizer.noise(embedder)
                if self.settings.ingest.embed == "lazy":
                    self._embed_candidates(request, engine, embedder)
            with self._store.session():
                engine.refresh(model)
                hits = engine.answer(request, mode, asked, vector)
            if model is not None and engine.missing:
                remarks.append(f"{engine.missing} units have no vector yet and were ranked by keywords")
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

    def _search_engine(self) -> SearchEngine:
        with self._lock:
            if self._engine is None:
                from .search.engine import SearchEngine

                self._engine = SearchEngine(self._store, self.settings.search)
            return self._engine

    def _embed_candidates(self, request: SearchRequest, engine: SearchEngine, embedder: Embedder) -> None:
        engine.refresh(self._vectorizer.model(embedder))
        candidates = engine.keyword_candidates(request.query, self.settings.search.lazy_candidates)
        if len(candidates):
            self._vectorizer.candidates(embedder, candidates, request.deadline and request.deadline / 2)

    def _freshen(self, deadline: float | None) -> tuple[bool, list[str]]:
        """Ingest what changed if the last look is too old; whether the answer may be stale, and remarks."""
        wanted = self.settings.ingest
        if time.monotonic() - self._scanned <= wanted.fresh_seconds:
            return False, []
        if not self._ingesting.acquire(blocking=False):
            return True, ["an ingest is running"]
        until = time.monotonic() + min(wanted.fresh_deadline, deadline / 2 if deadline else wanted.fresh_deadline)
        try:
            outcome: Outcome = self._ingestor.run(deadline=until)
            if outcome.complete:
                self._scanned = time.monotonic()
        except LeaseTimeout:
            raise
        except (WorkspaceError, StoreError) as error:
            return True, [f"the files could not be checked for changes: {error}"]
        finally:
            self._ingesting.release()
        if outcome.wrote:
            self._vectorizer.after_freshening(until)
        if outcome.complete:
            return False, []
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
