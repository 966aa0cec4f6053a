"""Bring the index to the state of the files: only what changed is read, parsed and written."""

from __future__ import annotations

import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from ..config.settings import IngestSettings
from ..config.workspace import composed
from ..errors import OpenClawMemoryError, RedactionError, Refused, WorkspaceError
from ..knowledge.linking import Linker
from ..model import IngestReport, Progress, ScanResult, SkippedFile, SourceFile, counted, joined, silent
from ..plugins.manager import Plugins
from ..store.api import (
    DocumentChange,
    DocumentInfo,
    Documents,
    OntologyRows,
    StatedFact,
    Store,
    StoredUnit,
    TextsChanged,
    Version,
)
from ..system.deadline import NEVER, Deadline
from . import captures, sidecars
from . import plan as planning
from .notes import Mask, NoteReader
from .reading import defect
from .scan import Unreadable, scan
from .survey import NoteSurvey

log = logging.getLogger("openclaw_memory.ingest")

#: A transaction takes whole files until it has this many units.
_UNITS_PER_TRANSACTION = 2_000


@dataclass
class _Run:
    """Counts and remarks of one ingest, gathered over its retries."""

    counts: planning.ChangeCounts = field(default_factory=planning.ChangeCounts)
    skipped: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    linked: int = 0
    complete: bool = True
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """An ingest's report, whether everything that had changed was written in time, and what there is on disk.

    ``left`` are paths of changed files that were too large to be read.  ``sidecars`` says of each file of the workspace
    that is ours and is not fine what is wrong with it, by its name.
    """

    report: IngestReport
    complete: bool
    wrote: bool
    found: ScanResult
    sidecars: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    left: tuple[str, ...] = ()


#: A file to be read, and what the index has of it.
_Work = tuple[SourceFile, DocumentInfo | None]


class Ingestor:
    """Ingests one workspace into one store."""

    def __init__(
        self,
        workspace: Path,
        settings: IngestSettings,
        store: Store,
        plugins: Plugins,
        mask: Mask | None = None,
        excluded: Callable[[SourceFile], bool] = lambda file: False,
        ready: Callable[[], object] = lambda: None,
        forgotten: Callable[[StatedFact], bool] = lambda fact: False,
        survey: NoteSurvey | None = None,
    ) -> None:
        self._survey = NoteSurvey(None, 0) if survey is None else survey
        self._workspace = workspace
        self._settings = settings
        self._store = store
        self._plugins = plugins
        #: Files that are there and stay out of the index: retired or forgotten ones.
        self._excluded = excluded
        #: Called before anything is read.
        self._ready = ready
        self._forgotten = forgotten
        #: Reads a file as the index sees it.
        self.reader = NoteReader(settings, plugins, mask)
        self._ontology = OntologyRows()
        self._linker = Linker(self._ontology)
        self._names: dict[str, str] = {}
        #: Files by path as they were when they could not be read: a large one is not tried again by each question.
        self._unread: dict[str, SourceFile] = {}

    def run(
        self,
        paths: Sequence[str] = (),
        progress: Progress = silent,
        until: Deadline = NEVER,
        most: float = math.inf,
    ) -> Outcome:
        """Write the texts of all files (or those at or below ``paths``) that changed; embeds nothing.

        What ``until`` leaves no time for is left to the next run, and files of more than ``most`` bytes to another one.
        Raises :class:`~openclaw_memory.errors.WorkspaceError` and
        :class:`~openclaw_memory.errors.StoreError`; a file that cannot be read is reported instead.
        """
        started = time.monotonic()
        self._ready()
        documents = self._store.documents()
        found, files, unnamed = self._found(paths)
        # Before the notes: what these mention is looked for by the curated concepts as they are now.
        broken = sidecars.sync(self._workspace, self._store, self._plugins, self._forgotten)
        run = _Run(skipped={self._shown(skip.path): skip.reason for skip in found.skipped} | dict(broken))
        # The index cites files by their names.
        run.skipped |= dict.fromkeys(unnamed, "its name holds a secret; rename it")
        wrote = False
        _check_paths(paths, found, documents)
        while True:
            work, gone = _compare(files, found, documents, paths)
            run.left = [file.path for file, _ in work if file.size > most and self._unread.get(file.path) != file]
            work = [(file, row) for file, row in work if file.size <= most]
            try:
                wrote |= self._write(work, gone, documents.version, run, progress, until)
                break
            except TextsChanged:
                # Another process ingests one of the same files; what it wrote is not ours to do again.
                # It may have read files that were not there yet when we looked: these are not gone.
                log.debug("the index changed during ingest; planning again")
                documents = self._store.documents()
                found, files, _ = self._found(paths)
        self._survey.save(found.files)
        for file in files:
            if file.path in run.skipped:
                self._unread[file.path] = file
            elif file.size <= most:
                self._unread.pop(file.path, None)
        chunks = 0
        for file in files:
            row = documents.by_path.get(file.path)
            chunks += run.units.get(file.path, row.units if row is not None else 0)
        counts = run.counts
        report = IngestReport(
            files=len(files),
            chunks=chunks,
            added=counts.added,
            updated=counts.updated,
            deleted=counts.deleted,
            unchanged=max(0, chunks - counts.added - counts.updated),
            concepts_linked=run.linked,
            seconds=time.monotonic() - started,
            skipped=tuple(SkippedFile(path, reason) for path, reason in sorted(run.skipped.items())),
            warning=joined(_listed([f"{path}: {remark}" for path, remark in run.remarks.items()])),
        )
        complete = run.complete and not run.left
        return Outcome(report, complete, wrote, found, broken, tuple(run.left))

    def _found(self, paths: Sequence[str]) -> tuple[ScanResult, list[SourceFile], list[str]]:
        """The files that are there, those to be read, and as they are shown the names that hold a secret."""
        found = scan(self._workspace, self._settings)
        files = [file for file in found.files if _within(file.path, paths) and not self._excluded(file)]
        named = {file.path: self._shown(file.path) for file in files}
        unnamed = [shown for path, shown in named.items() if shown != path]
        return found, [file for file in files if named[file.path] == file.path], unnamed

    def _write(
        self,
        work: Sequence[_Work],
        gone: list[DocumentInfo],
        version: Version,
        run: _Run,
        progress: Progress,
        until: Deadline,
    ) -> bool:
        wrote = False
        touched: list[tuple[int, SourceFile]] = []
        batch: list[DocumentChange] = []
        if work and (ontology := self._store.ontology()) != self._ontology:
            self._ontology, self._linker = ontology, Linker(ontology)
        for done, (file, row) in enumerate(work, 1):
            if done > 1 and until.passed:
                run.complete = False  # at least one file: who comes again and again gets through
                break
            progress("read", done, len(work))
            try:
                change = self._read(file, row, run)
            except RedactionError as problem:
                run.skipped[file.path] = str(problem)
                self._survey.skip(file, str(problem))
                continue
            except Unreadable as problem:
                run.skipped[file.path] = problem.reason
                self._survey.skip(file, problem.reason)
                if row is not None and problem.content:  # what the index holds of it is wrong
                    gone.append(row)
                    run.units[file.path] = 0
                continue
            if row is None or change.sha256 != row.sha256:
                batch.append(change)
            elif change.file.size >= 0 and (row.size, row.mtime_ns) != (file.size, file.mtime_ns):
                touched.append((row.id, file))
            if sum(len(each.units) for each in batch) >= _UNITS_PER_TRANSACTION:
                version = self._apply(batch, version, run)
                wrote, batch = True, []
        if batch:
            version = self._apply(batch, version, run)
            wrote = True
        if gone and run.complete and not run.left:  # what is left may be one of these under another name
            version = self._store.remove([row.id for row in gone], version)
            run.counts += planning.ChangeCounts(deleted=sum(row.units for row in gone))
            wrote = True
        if touched:
            self._store.touch(touched, version)
        return wrote

    def _apply(self, batch: Sequence[DocumentChange], version: Version, run: _Run) -> Version:
        """Write some files in one transaction, in which their units that are as they were keep their ids."""
        stored: defaultdict[int | None, list[StoredUnit]] = defaultdict(list)
        for unit in self._store.stored_units([change.replaces for change in batch if change.replaces is not None]):
            stored[unit.document_id].append(unit)
        changes = []
        counts = planning.ChangeCounts()
        for change in batch:
            units, gone = planning.match(change.units, stored[change.replaces])
            changes.append(replace(change, units=units))
            counts += planning.counted(units, gone)
        try:
            version = self._store.apply(changes, version)
        except Exception as error:
            if isinstance(error, TextsChanged) or (
                isinstance(error, OpenClawMemoryError) and not isinstance(error, Refused)
            ):
                raise
            log.debug("%d files could not be written together", len(batch), exc_info=True)
            if len(batch) == 1:
                run.skipped[batch[0].file.path] = str(error) if isinstance(error, Refused) else defect(error)
            else:
                for change in batch:
                    version = self._apply([change], version, run)
            return version
        run.counts += counts
        run.linked += sum(len(planned.mentions) for change in batch for planned in change.units)
        run.units |= {change.file.path: len(change.units) for change in batch}
        return version

    def _shown(self, path: str) -> str:
        """A file's path without the secrets in it."""
        if path not in self._names:
            self._names[path] = self._plugins.without_secrets(path)
        return self._names[path]

    def _read(self, file: SourceFile, row: DocumentInfo | None, run: _Run) -> DocumentChange:
        """Read and parse a file; one with the old content comes back without sections."""
        known = self.reader.text(file)
        self._survey.note(file, known.raw, known.remark)
        captures.redact(self._workspace, file, known.raw, self._plugins)
        if row is not None and known.sha256 == row.sha256:
            return DocumentChange(file, known.sha256, {}, (), (), row.id)
        note = self.reader.read(file, self._linker, known)
        if remark := joined(list(filter(None, (known.remark, note.left_out)))):
            run.remarks[file.path] = remark
        # With another size than it has it is read again until no plugin fails on it.
        noted = replace(note.file, size=-1) if note.left_out else note.file
        return DocumentChange(noted, note.sha256, note.front_matter, note.sections, note.units, row.id if row else None)


def _listed(remarks: Sequence[str], most: int = 5) -> list[str]:
    more = len(remarks) - most
    return [*remarks[:most], *([f"the like of {counted(more, 'more file')}"] if more > 0 else [])]


def _check_paths(paths: Sequence[str], found: ScanResult, documents: Documents) -> None:
    """Refuse a path that names nothing: a slip of the pen should not read as an empty ingest."""
    names = [*(file.path for file in found.files), *(skip.path for skip in found.skipped), *documents.by_path]
    closed = [name for name in found.unreadable if name.endswith("/")]
    for path in paths:
        if not any(_within(name, [path]) for name in names) and not (closed and _within(path, closed)):
            raise WorkspaceError(
                f"{path}: no memory file is there; ingest reads MEMORY.md, USER.md, memory/**/*.md "
                "and ingest.extra_paths"
            )


def _within(path: str, prefixes: Sequence[str]) -> bool:
    return not prefixes or any(f"{composed(path)}/".startswith(f"{composed(p).rstrip('/')}/") for p in prefixes)


def _compare(
    files: Sequence[SourceFile], found: ScanResult, documents: Documents, paths: Sequence[str]
) -> tuple[list[_Work], list[DocumentInfo]]:
    """The files that differ from the index, those that it has first, and what it has of files that are gone."""
    rows = [(file, documents.by_path.get(file.path)) for file in files]
    changed = [
        (file, row) for file, row in rows if row is not None and (row.size, row.mtime_ns) != (file.size, file.mtime_ns)
    ]
    present = {file.path for file in files}
    gone = []
    for path, row in documents.by_path.items():
        if path in present or not _within(path, paths):
            continue
        if any(path == p or (p.endswith("/") and path.startswith(p)) for p in found.unreadable):
            # Not seen is not the same as gone: what the index holds stays until the folder can be read.
            continue
        gone.append(row)
    return [*changed, *((file, row) for file, row in rows if row is None)], gone
