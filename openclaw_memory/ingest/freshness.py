"""The index kept in step with the files: ingest, the quick look before a question, watching."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config.settings import IngestSettings
from ..config.workspace import expanded, inside
from ..embed.vectorizer import Vectorizer
from ..errors import LeaseTimeout, StoreError, WorkspaceError
from ..knowledge.concepts_file import FILE_NAME
from ..model import IngestReport, Progress, ScanResult, joined, silent
from ..plugins.manager import Plugins
from ..store.api import Store
from ..system.deadline import NEVER, Deadline
from . import sidecars
from .pipeline import Ingestor, Outcome

log = logging.getLogger("openclaw_memory")

#: Bytes from which on a question with a deadline does not wait for a file, and bytes for each second that it has:
#: a megabyte takes five to twelve seconds of the processor.
_LARGE, _A_SECOND = 500_000, 50_000
#: Seconds that a look at the files before a question may take before it is answered stale.
LOOK_SECONDS = 2.0
#: Seconds that closing waits for a file that is being read; what is not written by then is read the next time.
_CLOSING = 60.0
#: ``freshen(until)`` looks for changed files; whether the answer may be stale, and remarks.
Freshen = Callable[[Deadline], tuple[bool, list[str]]]


class Freshness:
    """Brings one index to the state of its workspace's files; safe to use from several threads.

    ``unfinished()`` says what else is still to be done, and goes with every answer.
    """

    def __init__(
        self,
        workspace: Path,
        settings: IngestSettings,
        store: Store,
        plugins: Plugins,
        ingestor: Ingestor,
        vectorizer: Vectorizer,
        unfinished: Callable[[], list[str]] = list,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._ingestor = ingestor
        self._vectorizer = vectorizer
        self._unfinished = unfinished
        self._ingesting = threading.Lock()
        self._looking = threading.Lock()
        self._scanned = float("-inf")
        self._empty = False
        #: What the last ingest of the whole workspace found, if it read all that had changed.
        self.found: ScanResult | None = None
        #: What is wrong with the files of the workspace that are ours, until they are fine.
        self._broken: Mapping[str, str] = {}
        self._closing = threading.Event()
        #: Reads what is too large for a question to wait for; holds ``_ingesting`` for as long as it lives.
        self._reader: threading.Thread | None = None

    def close(self) -> None:
        """End what is watched, and let what is being read be written."""
        self._closing.set()
        if self._reader is not None:
            self._reader.join(_CLOSING)

    def relink(self) -> int:
        """Take over the curated concepts of the workspace; how many references that changed."""
        with self._ingesting:
            linked = sidecars.take_concepts(self._workspace, self._store, partial(self._plugins.redact_text, FILE_NAME))
            self._broken = {name: reason for name, reason in self._broken.items() if name != FILE_NAME}
            return linked

    def ingest(
        self,
        paths: Sequence[str] = (),
        *,
        embed: str | None = None,
        progress: Progress = silent,
        deadline: float | None = None,
    ) -> IngestReport:
        """See :meth:`openclaw_memory.memory.Memory.ingest`."""
        started = time.monotonic()
        until = Deadline.after(deadline)
        if not self._ingesting.acquire(timeout=until.within(threading.TIMEOUT_MAX)):
            raise StoreError(f"another ingest of {self._workspace} is still running; try again when it is done")
        try:
            with self._store.patience(until):
                outcome = self._ingestor.run(self._relative(paths), progress, until)
            self._broken = outcome.sidecars
            if not paths:
                self._looked(outcome)
        finally:
            self._ingesting.release()
        try:
            with self._store.patience(until):
                embedded, pending, remark = self._vectorizer.after_ingest(
                    embed or self._settings.embed, progress, until
                )
                if outcome.wrote:
                    self._store.maintain()
        except LeaseTimeout as error:
            if until == NEVER:
                raise
            # The texts are written, which is what was asked for in a hurry.
            embedded, pending, remark = 0, outcome.report.added + outcome.report.updated, str(error)
        return replace(
            outcome.report,
            embedded=embedded,
            pending=pending,
            seconds=time.monotonic() - started,
            warning=joined([*self._store.warnings(), *self._gaps(outcome), *([remark] if remark else [])]),
        )

    def _looked(self, outcome: Outcome) -> None:
        self._empty = not outcome.report.files
        self.found = outcome.found if outcome.complete else None
        self._broken = outcome.sidecars
        if outcome.complete:
            self._scanned = time.monotonic()

    def _gaps(self, outcome: Outcome) -> list[str]:
        # Broken files are among those that were skipped.
        remarks = [*filter(None, [outcome.report.warning]), *self._nothing_there(), *self._unfinished()]
        if not outcome.complete:
            remarks.append("not all changed files were read in time; run: openclaw-memory ingest")
        return remarks

    def _nothing_there(self) -> list[str]:
        if not self._empty:
            return []
        return [f"no notes in {self._workspace}: write a MEMORY.md, or a file below memory/ that ends in .md"]

    def _standing(self) -> list[str]:
        """What was found at the last look and holds until another one finds otherwise."""
        broken = (f"{self._workspace / name}: {why}" for name, why in self._broken.items())
        return [*self._nothing_there(), *broken, *self._unfinished()]

    def _relative(self, paths: Sequence[str]) -> list[str]:
        relative = []
        for path in paths:
            if path.startswith("@"):
                relative.append(path)
                continue
            named = None if "\0" in path else self._named(expanded(path))
            if named is None:
                raise WorkspaceError(
                    f"{path}: not inside the workspace {self._workspace}; add it to ingest.extra_paths to read it"
                )
            relative.append(named)
        return [] if "" in relative else relative

    def _named(self, path: Path) -> str | None:
        """How the index names a path that is relative to the current folder or to the workspace."""
        if path.is_absolute():
            return inside(self._workspace, path)
        here, there = inside(self._workspace, Path.cwd() / path), inside(self._workspace, self._workspace / path)
        if here is None or (
            there is not None and not (Path.cwd() / path).exists() and (self._workspace / path).exists()
        ):
            return there
        return here

    def freshen(self, deadline: Deadline = NEVER, anew: bool = False) -> tuple[bool, list[str]]:
        """Ingest what changed if the last look is too old, or ``anew``; whether answers may be stale, and remarks."""
        if anew:
            self._scanned = float("-inf")
        if self._is_fresh():
            return False, self._standing()
        seconds = deadline.within(LOOK_SECONDS, 0.5)
        until = Deadline.after(seconds)
        # Questions that come at the same time wait for the first one's look.
        if not self._looking.acquire(timeout=until.within(seconds)):
            return True, ["another question is still looking at the files", *self._standing()]
        try:
            if self._is_fresh():
                return False, self._standing()
            return self._look(until, deadline)
        finally:
            self._looking.release()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._scanned <= self._settings.fresh_seconds

    def _look(self, until: Deadline, deadline: Deadline) -> tuple[bool, list[str]]:
        if not self._ingesting.acquire(blocking=False):
            return True, ["an ingest is running", *self._standing()]
        reader: threading.Thread | None = None
        try:
            with self._store.patience(until if deadline != NEVER else NEVER):
                most = math.inf if deadline == NEVER else min(_LARGE, deadline.within() * _A_SECOND)
                outcome: Outcome = self._ingestor.run(until=until, most=most)
            self._looked(outcome)
            if outcome.left:
                reader = threading.Thread(target=self._read, args=[outcome.left], name="large-notes", daemon=True)
        except (WorkspaceError, StoreError) as error:
            if deadline == NEVER and isinstance(error, LeaseTimeout):
                raise
            return True, [f"the files could not be checked for changes: {error}", *self._standing()]
        finally:
            if reader is None:
                self._ingesting.release()
            else:
                self._reader = reader
                reader.start()
        if outcome.wrote:
            self._vectorizer.after_freshening(until)
            self._maintain(until)
        if outcome.complete:
            return False, self._standing()
        if outcome.left:
            return True, [f"still being read: {', '.join(outcome.left)}", *self._standing()]
        return True, ["not all changed files were read in time; run: openclaw-memory ingest", *self._standing()]

    def _read(self, paths: Sequence[str]) -> None:
        """Read large files, which the answers know from then on; the caller has taken ``_ingesting`` for this."""
        try:
            self._broken = self._ingestor.run(paths).sidecars
        except (WorkspaceError, StoreError) as error:
            log.warning("%s: not read (%s); the next question tries again", ", ".join(paths), error)
        finally:
            self._ingesting.release()

    def _maintain(self, until: Deadline) -> None:
        """Drop what is dead from the index, unless a question has no time for it; another one will have."""
        if until.passed:
            return
        try:
            with self._store.patience(until):
                self._store.maintain()
        except StoreError as error:
            log.warning("the index was not compacted: %s", error)

    def watch(self, stop: threading.Event | None, ingest: Callable[[], IngestReport]) -> Iterator[IngestReport]:
        """Call ``ingest`` now and after every change of the files, until ``stop`` is set or the memory is closed.

        A file that another process holds for too long is tried again; raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the workspace vanishes.
        """
        from .watch import AnyOf, changes

        first, told = True, None
        stopped = AnyOf(stop or self._closing, self._closing)
        # The first round comes when the files are being watched, so that no change is lost in between.
        for _ in changes(self._workspace, self._settings, stopped):
            while not stopped.is_set():
                try:
                    report = ingest()
                except LeaseTimeout as error:
                    log.warning("%s", error)
                    self._closing.wait(1)
                    continue
                news = (report.skipped, report.warning)
                if first or report.added or report.updated or report.deleted or report.embedded or news != told:
                    yield report
                first, told = False, news
                break
