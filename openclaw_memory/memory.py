"""Memory: one object, one method a capability; the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import analysis
from .errors import LeaseTimeout, ModelError, OpenClawMemoryError, StoreError, WorkspaceError
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
from .workspace import find_workspace

if TYPE_CHECKING:
    from .embed.base import Embedder
    from .embed.factory import Resolved
    from .store.protocol import Store

log = logging.getLogger("openclaw_memory")

#: Texts that a search may embed by itself when files have changed since the last ingest.
_FRESH_TEXTS = 64


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
        self._given_embedder = embedder
        self._resolved: Resolved | None = None
        self._store = store if store is not None else self._open_store(db)
        self._engine: Any = None
        self._ingestor = Ingestor(self.workspace, self.settings.ingest, self._store, self.plugins)
        self._lock = threading.RLock()
        self._ingesting = threading.Lock()
        self._scanned = float("-inf")
        self._stop = threading.Event()
        self._background: threading.Thread | None = None

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
        self._stop.set()
        if self._background is not None:
            self._background.join(timeout=30)
        self._store.close()
        with self._lock:
            if self._resolved is not None and self._resolved.embedder is not None and self._given_embedder is None:
                self._resolved.embedder.close()
                self._resolved = None

    # -- the model --------------------------------------------------------------------------------

    def resolve_embedder(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        from .embed.factory import Resolved, resolve

        with self._lock:
            if self._resolved is None:
                if self._given_embedder is not None:
                    self._resolved = Resolved(self._given_embedder)
                else:
                    factories: dict[str, Any] = {}
                    self.plugins.notify("openclaw_memory_register_embedders", register=factories.__setitem__)
                    self._resolved = resolve(self.settings, extra=factories)
            return self._resolved

    def pull_model(self, progress: Any = None) -> str | None:
        """Get the configured model if it is missing and may be had; returns why it is not there.

        ``progress(stage, done bytes, total bytes)`` is called while it downloads and converts.
        """
        resolved = self.resolve_embedder()
        wanted = self.settings.embedding
        if resolved.embedder is not None or wanted.provider != "local" or wanted.model == "none":
            return resolved.reason
        from .embed import factory, registry
        from .embed.pull import pull

        if registry.get(wanted.model) is None or factory.is_path(wanted.model):
            return resolved.reason
        try:
            pull(wanted.model, progress=progress, offline=wanted.offline)
        except ModelError as error:
            return str(error)
        with self._lock:
            self._resolved = None
        return self.resolve_embedder().reason

    def warm(self) -> None:
        """Load the model and the index now rather than at the first search."""
        embedder = self.resolve_embedder().embedder
        if embedder is not None:
            try:
                embedder.embed_query(["warm"])
            except ModelError as error:
                log.warning("the model cannot be used: %s", error)
                embedder = None
        self._search_engine().refresh(self._model_of(embedder))

    @staticmethod
    def _model_of(embedder: Embedder | None) -> Any:
        if embedder is None:
            return None
        from .ingest.embedding import model_of

        return model_of(embedder)

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
        embedded, warning = self._embed_after(embed or self.settings.ingest.embed, progress, until)
        if outcome.wrote:
            self._store.maintain()
        states = self._store.vector_states(self._model_of(self._usable_embedder()))
        report = outcome.report
        return replace(
            report,
            embedded=embedded,
            pending=states.pending + states.outdated,
            seconds=time.monotonic() - started,
            warning=joined([*self._store.warnings(), *([warning] if warning else [])]),
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

    def _usable_embedder(self) -> Embedder | None:
        return self.resolve_embedder().embedder

    def _embed_after(self, how: str, progress: Progress, until: float | None) -> tuple[int, str | None]:
        resolved = self.resolve_embedder()
        if resolved.embedder is None:
            return 0, resolved.reason
        if how == "lazy" or self._stands_in(resolved):
            return 0, resolved.reason
        if how == "background":
            self._start_background()
            return 0, resolved.reason
        try:
            return self._embed_all(resolved.embedder, progress, until), resolved.reason
        except ModelError as error:
            return 0, f"nothing was embedded, search works by keywords: {error}"

    def _stands_in(self, resolved: Resolved) -> bool:
        """Whether a local model stands in for an endpoint: then what it would embed is not worth replacing."""
        return self.settings.embedding.provider == "http" and resolved.reason is not None

    def _embed_all(
        self, embedder: Embedder, progress: Progress = silent, until: float | None = None, foreground: bool = True
    ) -> int:
        from .embed.llama import available_cores
        from .ingest.embedding import embed_pending, model_of

        self._set_threads(embedder, self.settings.embedding.threads or (available_cores() if foreground else 1))
        model = model_of(embedder)
        states = self._store.vector_states(model)
        if states.failed:
            self._store.retry_failed(model)
        elif not (states.pending or states.outdated):
            return 0
        wait = self.settings.store.lock_timeout if until is None else max(0.0, until - time.monotonic())
        with self._store.embedding_turn(wait) as ours:
            if not ours:
                log.info("another process is embedding; what is pending is left to it")
                return 0
            return embed_pending(self._store, embedder, progress, until, self._stop).done

    @staticmethod
    def _set_threads(embedder: Embedder, count: int) -> None:
        if getattr(embedder, "threads", count) != count:
            embedder.threads = count  # type: ignore[attr-defined]

    def _start_background(self) -> None:
        with self._lock:
            if self._background is not None and self._background.is_alive():
                return
            self._background = threading.Thread(target=self._embed_in_background, name="embedding", daemon=True)
            self._background.start()

    def _embed_in_background(self) -> None:
        embedder = self.resolve_embedder().embedder
        if embedder is None:
            return
        try:
            self._embed_all(embedder, foreground=False)
        except OpenClawMemoryError as error:
            log.warning("background embedding stopped: %s", error)

    def wait_for_background(self, timeout: float | None = None) -> bool:
        """Wait for background embedding to finish; whether it has."""
        if self._background is not None:
            self._background.join(timeout)
            return not self._background.is_alive()
        return True

    def watch(self, stop: threading.Event | None = None) -> Iterator[IngestReport]:
        """Ingest now and after every change of the files, until ``stop`` is set."""
        from .ingest.watch import changes

        yield self.ingest()
        for _ in changes(self.workspace, self.settings.ingest, stop or self._stop):
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
            embedder, fallback, vector = self._query_vector(request.query)
            if vector is None:
                mode = "keyword"
        model = self._model_of(embedder)
        engine = self._search_engine()
        hits: list[SearchHit] = []
        if request.query.strip():
            if vector is not None and self.settings.ingest.embed == "lazy":
                engine.refresh(model)
                self._embed_candidates(request, engine, embedder)
            with self._store.session():
                engine.refresh(model)
                hits = engine.answer(request, mode, asked, vector)
        floor = self.settings.search.min_score if request.min_score is None else request.min_score
        if model is not None and fallback is None:
            states = self._pending_note(model)
            remarks += states
        return SearchResult(
            results=tuple(hit for hit in hits if hit.score >= floor),
            provider=embedder.provider if embedder is not None else "none",
            model=None if model is None else model.name,
            mode=mode,
            fallback=fallback,
            took_ms=(time.monotonic() - started) * 1000,
            stale=stale,
            warning=joined([*self._store.warnings(), *remarks]),
        )

    def _pending_note(self, model: Any) -> list[str]:
        missing = self._search_engine().without_vector()
        return [f"{missing} units have no vector yet and were ranked by keywords"] if missing else []

    def _search_engine(self) -> Any:
        with self._lock:
            if self._engine is None:
                from .search.engine import SearchEngine

                self._engine = SearchEngine(self._store, self.settings.search)
            return self._engine

    def _query_vector(self, query: str) -> tuple[Embedder | None, str | None, Any]:
        resolved = self.resolve_embedder()
        if resolved.embedder is None:
            return None, resolved.reason, None
        try:
            return resolved.embedder, resolved.reason, resolved.embedder.embed_query([query])[0]
        except ModelError as error:
            log.warning("the question cannot be embedded: %s", error)
            return None, f"searched by keywords: {error}", None

    def _embed_candidates(self, request: SearchRequest, engine: Any, embedder: Embedder | None) -> None:
        from .ingest.embedding import embed_pending

        assert embedder is not None
        candidates = engine.keyword_candidates(request.query, self.settings.search.lazy_candidates)
        if not len(candidates):
            return
        until = None if request.deadline is None else time.monotonic() + request.deadline / 2
        try:
            embed_pending(self._store, embedder, unit_ids=candidates, deadline=until, batch=64)
        except ModelError as error:
            log.warning("candidates cannot be embedded: %s", error)

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
            self._embed_fresh(until)
        if outcome.complete:
            return False, []
        return True, ["not all changed files were read in time; run: openclaw-memory ingest"]

    def _embed_fresh(self, until: float) -> None:
        from .ingest.embedding import embed_pending

        embedder = self.resolve_embedder().embedder
        if embedder is None or self.settings.ingest.embed == "lazy":
            return
        if self.settings.ingest.embed == "background":
            self._start_background()
            return
        try:
            with self._store.embedding_turn(0) as ours:
                if ours:
                    embed_pending(self._store, embedder, deadline=until, batch=16, limit=_FRESH_TEXTS)
        except ModelError as error:
            log.warning("new text cannot be embedded: %s", error)

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
