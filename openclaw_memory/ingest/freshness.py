"""Keep the index in step with the files: ingest, the quick look before a question, watching."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config.settings import IngestSettings
from ..config.workspace import expand_home, inside
from ..embed.vectorizer import Vectorizer
from ..errors import LeaseTimeout, SettingsError, StoreError, WorkspaceError
from ..knowledge import CONCEPTS
from ..model import IngestReport, Progress, ScanResult, joined, silent
from ..plugins.manager import Plugins
from ..store.api import Store
from ..system.deadline import NEVER, Deadline
from . import sidecars
from .pipeline import Ingestor, IngestOutcome
from .scan import scan

log = logging.getLogger("openclaw_memory")

#: Bytes of the largest file that a question with a deadline waits for, and bytes for each second that it has: a
#: megabyte takes five to twelve seconds of the processor.
_LARGE, _A_SECOND = 500_000, 50_000
#: Seconds that a question waits for the check of the files; then it answers from the index as it is.
LOOK_SECONDS = 2.0
#: Least seconds between two looks of a watch at all files, the least multiple of the duration of the last look, and
#: seconds between two looks for its end.
_LOOK, _PAUSE, _TICK = 1.0, 50, 0.2
#: ``freshen(until)`` looks for changed files; it returns true if the answer may be stale, and remarks.
Freshen = Callable[[Deadline], tuple[bool, list[str]]]


class Freshness:
    """Brings one index to the state of its workspace's files; safe to use from several threads.

    ``unfinished()`` returns remarks on other work that is still to be done; they go with every answer.
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
        self._last_look = float("-inf")
        self._has_no_notes = False
        #: The scan of the last ingest of the whole workspace, if that read all changes.
        self.scan: ScanResult | None = None
        #: The fault of each broken file of ours in the workspace, by its name.
        self._broken: Mapping[str, str] = {}
        self._closing = threading.Event()
        #: Reads files that are too large for a question to wait for; holds ``_ingesting`` for as long as it lives.
        self._reader: threading.Thread | None = None

    def close(self) -> None:
        """Stop watching, and wait a minute for the file that is being read; else it is read the next time."""
        self._closing.set()
        if self._reader is not None:
            self._reader.join(60.0)

    def relink(self) -> int:
        """Take over the curated concepts of the workspace; return the number of references that changed."""
        with self._ingesting:
            linked = sidecars.take_concepts(self._workspace, self._store, partial(self._plugins.redact_text, CONCEPTS))
            self._broken = {name: reason for name, reason in self._broken.items() if name != CONCEPTS}
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
        until, mode, early = Deadline.after(deadline), embed or self._settings.embed, list[int]()
        if not self._ingesting.acquire(timeout=until.within(threading.TIMEOUT_MAX)):
            raise StoreError(f"another ingest of {self._workspace} is still running; try again when it is done")
        try:
            with self._store.limit_waiting(until):
                start = (lambda: None) if mode == "lazy" else partial(self._vectorizer.start_background, early)
                outcome = self._ingestor.run(self._index_names(paths), progress, until, written=start)
            self._broken = outcome.sidecars
            if not paths:
                self._record_look(outcome)
        finally:
            self._ingesting.release()
        try:
            with self._store.limit_waiting(until):
                embedded, pending, remark = self._vectorizer.embed_after_ingest(mode, progress, until, early)
                if outcome.wrote:
                    self._store.maintain()
        except LeaseTimeout as error:
            if until == NEVER:
                raise
            # The texts are written, which is enough in a hurry.
            embedded, pending, remark = 0, outcome.report.added + outcome.report.updated, str(error)
        return replace(
            outcome.report,
            embedded=embedded,
            pending=pending,
            seconds=time.monotonic() - started,
            warning=joined([*self._store.warnings(), *self._remarks(outcome), *([remark] if remark else [])]),
        )

    def _record_look(self, outcome: IngestOutcome) -> None:
        self._has_no_notes = not outcome.report.files
        self.scan = outcome.scan if outcome.complete else None
        self._broken = outcome.sidecars
        if outcome.complete:
            self._last_look = time.monotonic()

    def _remarks(self, outcome: IngestOutcome) -> list[str]:
        # Broken files are among those that were skipped.
        remarks = [*filter(None, [outcome.report.warning]), *self._empty_remark(), *self._unfinished()]
        if not outcome.complete:
            remarks.append("not all changed files were read in time; run: openclaw-memory ingest")
        return remarks

    def _empty_remark(self) -> list[str]:
        if not self._has_no_notes:
            return []
        return [f"no notes in {self._workspace}: write a MEMORY.md, or a file below memory/ that ends in .md"]

    def _lasting_remarks(self) -> list[str]:
        """Return the remarks of the last look at the files."""
        broken = (f"{self._workspace / name}: {why}" for name, why in self._broken.items())
        return [*self._empty_remark(), *broken, *self._unfinished()]

    def _index_names(self, paths: Sequence[str]) -> list[str]:
        relative = []
        for path in paths:
            if path.startswith("@"):
                relative.append(path)
                continue
            named = None if "\0" in path else self._index_name(expand_home(path))
            if named is None:
                raise WorkspaceError(
                    f"{path}: not inside the workspace {self._workspace}; add it to ingest.extra_paths to read it"
                )
            relative.append(named)
        return [] if "" in relative else relative

    def _index_name(self, path: Path) -> str | None:
        """Return the index's name of a path that is relative to the current folder or to the workspace."""
        if path.is_absolute():
            return inside(self._workspace, path)
        by_folder, by_workspace = Path.cwd() / path, self._workspace / path
        name = inside(self._workspace, by_workspace)
        if name is not None and not by_folder.exists() and by_workspace.exists():
            return name
        named_here = inside(self._workspace, by_folder)
        return name if named_here is None else named_here

    def freshen(self, deadline: Deadline = NEVER, force: bool = False) -> tuple[bool, list[str]]:
        """Ingest changes if the last look is old, or with ``force``; return if answers may be stale, and remarks."""
        if force:
            self._last_look = float("-inf")
        if self._is_fresh():
            return False, self._lasting_remarks()
        seconds = deadline.within(LOOK_SECONDS, 0.5)
        until = Deadline.after(seconds)
        # Simultaneous questions wait for the look of the first.
        if not self._looking.acquire(timeout=until.within(seconds)):
            return True, ["another question is still looking at the files", *self._lasting_remarks()]
        try:
            if self._is_fresh():
                return False, self._lasting_remarks()
            return self._look(until, deadline)
        finally:
            self._looking.release()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._last_look <= self._settings.fresh_seconds

    def _look(self, until: Deadline, deadline: Deadline) -> tuple[bool, list[str]]:
        if not self._ingesting.acquire(blocking=False):
            return True, ["an ingest is running", *self._lasting_remarks()]
        reader: threading.Thread | None = None
        try:
            with self._store.limit_waiting(until if deadline != NEVER else NEVER):
                limit = math.inf if deadline == NEVER else min(_LARGE, deadline.within() * _A_SECOND)
                outcome: IngestOutcome = self._ingestor.run(until=until, max_bytes=limit)
            self._record_look(outcome)
            if outcome.unread:
                reader = threading.Thread(target=self._read, args=[outcome.unread], name="large-notes", daemon=True)
        except (WorkspaceError, StoreError) as error:
            if deadline == NEVER and isinstance(error, LeaseTimeout):
                raise
            return True, [f"the files could not be checked for changes: {error}", *self._lasting_remarks()]
        finally:
            if reader is None:
                self._ingesting.release()
            else:
                self._reader = reader
                reader.start()
        if outcome.wrote:
            self._vectorizer.embed_after_refresh(until)
            if not until.passed:
                with contextlib.suppress(StoreError), self._store.limit_waiting(until):  # another time will do
                    self._store.maintain()
        if outcome.complete:
            return False, self._lasting_remarks()
        if outcome.unread:
            return True, [f"still being read: {', '.join(outcome.unread)}", *self._lasting_remarks()]
        return True, ["not all changed files were read in time; run: openclaw-memory ingest", *self._lasting_remarks()]

    def _read(self, paths: Sequence[str]) -> None:
        """Read large files in the background; the caller has taken ``_ingesting`` for this."""
        try:
            self._broken = self._ingestor.run(paths).sidecars
        except (WorkspaceError, StoreError) as error:
            log.warning("%s: not read (%s); the next question tries again", ", ".join(paths), error)
        finally:
            self._ingesting.release()

    def watch(self, stop: threading.Event | None, ingest: Callable[[], IngestReport]) -> Iterator[IngestReport]:
        """Call ``ingest`` now and after every change of the files, until ``stop`` is set or the memory is closed.

        A file that another process holds for too long is tried again; raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the workspace vanishes.
        """
        stop, first, reported = stop or self._closing, True, None
        for _ in self._changes(stop):
            while not (stop.is_set() or self._closing.is_set()):
                try:
                    report = ingest()
                except LeaseTimeout as error:
                    log.warning("%s", error)
                    self._closing.wait(1)
                    continue
                news = (report.skipped, report.warning)
                if first or report.added or report.updated or report.deleted or report.embedded or news != reported:
                    yield report
                first, reported = False, news
                break

    def _changes(self, stop: threading.Event) -> Iterator[None]:
        """Yield at once, and whenever a look at the files finds changes, until an event is set or Ctrl-C is pressed."""
        last: ScanResult | str | None = None
        look_at = 0.0
        with contextlib.suppress(KeyboardInterrupt):
            while not (stop.is_set() or self._closing.is_set()):
                if (began := time.monotonic()) >= look_at:
                    if not self._workspace.is_dir():
                        raise WorkspaceError(f"{self._workspace}: the workspace is gone; start again when it is back")
                    try:
                        files: ScanResult | str = scan(self._workspace, self._settings)
                    except (WorkspaceError, SettingsError) as error:  # which the ingest reports
                        files = str(error)
                    look_at = time.monotonic() + max(_LOOK, _PAUSE * (time.monotonic() - began))
                    if files != last:
                        last = files
                        yield
                self._closing.wait(_TICK)
