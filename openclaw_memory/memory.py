"""Memory: one object, one method a capability; the wiring between ingest, search, embedder and store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config.settings import Settings
from .config.workspace import expanded, find_workspace
from .context.ambient import Ambient
from .embed.models import Models
from .embed.vectorizer import Vectorizer
from .errors import OpenClawMemoryError
from .facts.service import FactBook
from .forget.masking import readable
from .forget.operations import Forgetter, in_step, lost, unfinished
from .forget.selection import Wish
from .forget.tombstones import Tombstones
from .graph.service import ConceptBook
from .ingest.freshness import Freshness
from .ingest.pipeline import Ingestor
from .knowledge.concepts_file import FILE_NAME
from .knowledge.facts_file import NAME as FACTS
from .model import (
    CaptureReport,
    ConsolidateReport,
    ExportReport,
    FeedbackReport,
    ForgetReport,
    Grain,
    GrainUse,
    IngestReport,
    MapReport,
    Progress,
    QueryResult,
    Replied,
    ScanResult,
    SearchHit,
    SearchRequest,
    Session,
    Status,
    silent,
)
from .model.bounds import named_arguments
from .plugins.manager import Plugins
from .search.service import Questions
from .sharing import sources
from .sharing.asking import Asking
from .sharing.others import Others
from .store.state.opening import OnServer, open_state
from .summarise.retired import Retired
from .system.deadline import Deadline
from .upkeep.languages import other_than_english
from .upkeep.schedule import Upkeep
from .use.tracker import Usage

if TYPE_CHECKING:
    from .capture.capturer import Turn
    from .embed.factory import Resolved
    from .model.embedder import Embedder
    from .sharing.sources import Source
    from .store.api import Store, VectorModel
    from .tables.service import Tables

log = logging.getLogger("openclaw_memory")


class Memory(Asking):
    """An agent's memory of one workspace.

    ``workspace`` is the agent's folder (default: OpenClaw's, else the current one), ``db`` the index file (default: one
    per agent and workspace in the data folder), ``embedder`` replaces the one that the settings name, ``plugins`` are
    objects with hook implementations, ``store`` replaces the DuckDB file (a URL of PostgreSQL, or a store), ``models``
    is shared with other memories and closed by whoever made it, ``state`` is the file of what people and agents did
    (default: one per workspace in the data folder), ``read_from`` names other memories that are read too (default:
    ``sharing.read_from``), which ``peers`` opens.  Safe to use from several threads.  Raises
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
        store: Store | str | None = None,
        models: Models | None = None,
        state: str | Path | None = None,
        read_from: Sequence[str] | None = None,
        peers: Callable[[Source], AbstractContextManager[Asking]] | None = None,
    ) -> None:
        self.workspace = find_workspace(workspace, agent=agent)
        self.agent = agent
        self.settings = (settings if settings is not None else Settings.load()).of_workspace(self.workspace)
        names = tuple(self.settings.sharing.read_from if read_from is None else read_from)
        sources.check(self.settings, names)
        self.plugins = Plugins(self.settings.plugins.disabled, plugins, allow=self.settings.redaction.allow)
        server: OnServer | None = None
        if store is None or isinstance(store, str):
            from .index.opening import open_index, server_of

            server = server_of(self.workspace, agent, self.settings, store or db)
            store = open_index(self.workspace, agent, self.settings, store or db)
        self._store = store
        self._models = Models(self.settings, embedder) if models is None else models
        self._models_are_ours = models is None
        foreign = partial(other_than_english, self.workspace, self.settings.ingest)
        self._vectorizer = Vectorizer(self.settings, self._store, self.plugins, self._models, foreign)
        file = expanded(state) if state is not None else None
        self.state = open_state(self.workspace, self.settings.state, file, server)
        self.usage = Usage(self.state)
        self.forgotten = Tombstones(self.state)
        retired = Retired(self.state, self.settings.retention["plan"] != "keep")
        ingestor = Ingestor(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self._store,
            plugins=self.plugins,
            mask=partial(readable, self.forgotten),
            excluded=retired.holds,
            ready=partial(in_step, self._store, self.state, self.forgotten),
            forgotten=self.forgotten.covers_fact,
        )
        #: Reads a file as the index sees it.
        self.reader = ingestor.reader
        self._freshness = Freshness(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self._store,
            plugins=self.plugins,
            ingestor=ingestor,
            vectorizer=self._vectorizer,
            unfinished=partial(unfinished, self.state),
        )
        self.facts = FactBook(
            workspace=self.workspace,
            store=self._store,
            freshen=self.freshen,
            redact=partial(self.plugins.redacted, FACTS),
            forgotten=self.forgotten.covers_fact,
            today=self.today,
        )
        self._questions = Questions(
            settings=self.settings,
            store=self._store,
            vectorizer=self._vectorizer,
            plugins=self.plugins,
            freshen=self._freshness.freshen,
            superseded=self.facts.superseded,
            uses=self.usage.state,
        )
        self.concepts = ConceptBook(
            file=self.workspace / FILE_NAME,
            view=self._questions.graph,
            changed=self._freshness.relink,
            similarities=self._questions.similarities,
            redact=partial(self.plugins.redacted, FILE_NAME),
            forgotten=self.forgotten.covers_name,
        )
        self._forgetter = Forgetter(
            workspace=self.workspace,
            settings=self.settings.ingest,
            store=self._store,
            reader=self.reader,
            state=self.state,
            tombstones=self.forgotten,
            uses=self.usage,
            view=self._questions.graph,
            ingest=self.ingest,
            clear=self._vectorizer.forget,
        )
        self.upkeep = Upkeep(
            workspace=self.workspace,
            settings=self.settings,
            store=self._store,
            reader=self.reader,
            plugins=self.plugins,
            state=self.state,
            retired=retired,
            ingest=self._brought_up,
        )
        self.ambient = Ambient(
            settings=self.settings,
            store=self._store,
            vectorizer=self._vectorizer,
            engine=self._questions.engine,
            freshen=self._freshness.freshen,
            facts=self.facts,
            plugins=self.plugins,
            state=self.state,
        )

        self.others: Others[Asking] = Others(
            partial(sources.sources, self.settings, names, agent, self.workspace),
            partial(self._beside, plugins=plugins),
            peers,
        )

    def _beside(self, source: Source, plugins: Sequence[object]) -> Memory:
        """Another memory as its own agent has it: where its index lies by default, with the same model."""
        settings = self.settings.with_values({"store.path": "", "store.workspace": ""})
        return Memory(
            source.workspace, agent=source.agent, settings=settings, plugins=plugins, models=self._models, read_from=()
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work and let go of the index and the model; calling twice is harmless."""
        self._freshness.close()
        super().close()
        self.ambient.close()
        self.usage.close()
        self._vectorizer.stop()
        if self._models_are_ours:
            self._models.close()
        self._store.close()
        self.state.close()

    # -- the model --------------------------------------------------------------------------------

    def resolve_embedder(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        return self._vectorizer.resolve()

    def prove_embedder(self) -> Resolved:
        """As :meth:`resolve_embedder`; a build of llama.cpp that is known to fail gets another try."""
        from .embed.proofs import Proofs
        from .embed.pull import models_dir

        Proofs(models_dir()).clear()
        return self._vectorizer.resolve()

    def vectors_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """The embedder, what its vectors are stored by, and why there is none or another; may load the model."""
        return self._vectorizer.known()

    def pull_model(self, progress: Progress = silent) -> str | None:
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
        if deadline is None:  # who is in a hurry must not wait for the index to be rewritten
            self._finish_forgetting()
        return self._freshness.ingest(paths, embed=embed, progress=progress, deadline=deadline)

    def _brought_up(self, **options: Any) -> ScanResult | None:
        """Ingest; what there is to read, or ``None`` where not everything was read in time."""
        self.ingest(**options)
        return self._freshness.found

    def freshen(self) -> bool:
        """Look at the files as a search does, for two seconds at most; whether all is read."""
        return not self._freshness.freshen()[0]

    def watch(
        self, stop: threading.Event | None = None, *, paths: Sequence[str] = (), embed: str | None = None
    ) -> Iterator[IngestReport]:
        """Ingest now and after every change of the files, until ``stop`` is set or the memory is closed.

        ``paths`` and ``embed`` are those of :meth:`ingest`.  A file that another process holds for too long is
        tried again; raises :class:`~openclaw_memory.errors.WorkspaceError` when the workspace vanishes.
        """
        return self._freshness.watch(stop, lambda: self.ingest(paths, embed=embed))

    def wait_for_background(self, timeout: float | None = None) -> bool:
        """Wait for background embedding to finish; whether it has."""
        return self._vectorizer.wait(timeout)

    # -- files, hooks, upkeep -----------------------------------------------------------------------

    def feedback(self, chunk: str, verdict: str, now: date | None = None) -> FeedbackReport:
        """Note that a hit (its id, or its lines as they are cited) was ``useful`` or ``irrelevant``.

        Raises :class:`~openclaw_memory.errors.RequestError` when it names nothing, and
        :class:`~openclaw_memory.errors.WorkspaceError` when that cannot be written down.
        """
        from .use.feedback import give

        self.check_own(chunk)
        self.freshen()
        return give(self._store, self.usage, chunk, verdict, now or self.today())

    def replied(self, text: str) -> Replied:
        """Note which of the hits that were given lately a reply quotes."""
        return Replied(len(self.usage.quoted(text)))

    def session_start(self, session: Session | None = None) -> list[Any]:
        """Tell the plugins that a host session begins; the built-in one ingests."""
        return self.plugins.notify(
            "openclaw_memory_session_start", memory=self, session=session or Session("", self.agent)
        )

    def heartbeat(self, now: datetime | None = None) -> list[Any]:
        """Tell the plugins that there is time for maintenance, once what is still to be forgotten is out."""
        self._finish_forgetting()
        return self.plugins.notify("openclaw_memory_heartbeat", memory=self, now=now or datetime.now().astimezone())

    # -- capture ------------------------------------------------------------------------------------

    def capture(self, turn: Turn, *, everything: bool = False, deadline: float | None = None) -> CaptureReport:
        """Append what of a finished turn is worth keeping and new to the day's captures, and read it.

        With ``everything`` all that is not written there word for word.  ``deadline`` is in seconds.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the file cannot be written.
        """
        from .capture.capturer import Capturer

        said, read = self._said_already, self._read_capture
        capturer = Capturer(self.workspace, self.settings, self.plugins.redacted, said, read, self.forgotten.covers)
        until = Deadline.after(deadline)
        if not everything:  # the agent may have written down a moment ago what the turn says
            self._freshness.freshen(until, anew=True)
        return capturer.capture(turn, everything=everything, deadline=until.left())

    def _said_already(self, text: str, seconds: float | None) -> tuple[SearchHit, ...]:
        asked = SearchRequest(
            text, max_results=8, min_score=0.0, mode="keyword", include_archived=True, deadline=seconds
        )
        return self._questions.search(asked).results

    def _read_capture(self, path: str, seconds: float | None) -> IngestReport:
        return self.ingest([path], deadline=seconds)

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
        return self._forgetter.forget(Wish(path, query, concept, fact, since, until), dry_run)

    def _finish_forgetting(self) -> None:
        """Finish what was cut short; where that fails it is tried again by whoever comes next."""
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
            now=now, older_than_days=older_than_days, grain=grain, dry_run=dry_run, deadline=deadline, progress=progress
        )

    def consolidate_if_due(self, now: datetime) -> ConsolidateReport | None:
        """What a heartbeat does; ``None`` when it is off or too soon.  It writes once a person has enabled it."""
        return self.upkeep.automatic(now)

    # -- as tables ----------------------------------------------------------------------------------

    def sql(self, query: str, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """The answer of one SQL statement that only reads: over ``memories``, ``concepts``, ``facts``, ``usage`` ...

        At most ``limit`` rows; stopped after ``timeout`` seconds, as nobody else can use the index meanwhile.
        Raises :class:`~openclaw_memory.errors.RequestError` with what DuckDB says.
        """
        return self._tables().query(query, limit, timeout)

    def export(self, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent) -> ExportReport:
        """Write every table as a Parquet file into ``folder``: a new or empty one, or an older export to ``overwrite``.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """
        return self._tables().export(expanded(folder).absolute(), overwrite, progress)

    @named_arguments()
    def map(
        self,
        file: str | Path | None = None,
        *,
        concept: str | None = None,
        since: date | None = None,
        progress: Progress = silent,
    ) -> MapReport:
        """Draw the memory as one HTML page that needs no network: into ``file``, else beside the index, mode 0600.

        ``concept`` and ``since`` narrow what it shows.  Raises :class:`~openclaw_memory.errors.WorkspaceError` if it
        cannot be written or the file is not a map.
        """
        from .map.service import draw

        notes = self.upkeep.retired.notes
        return draw(self, self._questions, notes, file, concept=concept, since=since, progress=progress)

    def _tables(self) -> Tables:
        from .tables.service import Tables

        return Tables(self._store, self._questions.graph, self.facts, self.usage.rows, self._freshness.freshen)

    def maintain(self, force: bool = False) -> bool:
        """Compact the index if that is due, and give memory back; whether the index was compacted."""
        compacted = self._store.maintain(force)
        self._store.shrink()
        return compacted

    def grains(self) -> tuple[GrainUse, ...]:
        """How much each grain holds."""
        return self._questions.grains()

    def status(self) -> Status:
        """What the memory holds and how it is."""
        from .upkeep.doctor import status

        return status(self, self._store)

    def remarks(self) -> list[str]:
        """What a person should hear about the index and the state."""
        gone = [lost(self._store, self.forgotten)]
        return [*self._store.warnings(), *self.state.warnings(), *unfinished(self.state), *filter(None, gone)]

    @property
    def store(self) -> Store:
        """The store behind this memory."""
        return self._store
