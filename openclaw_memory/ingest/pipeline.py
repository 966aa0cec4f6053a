"""Bring the index to the state of the files; read, parse and write only the files that changed."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..config.settings import IngestSettings
from ..config.workspace import to_nfc
from ..errors import OpenClawMemoryError, RedactionError, TextRefused, WorkspaceError
from ..model import IngestReport, Kind, Progress, ScanResult, SkippedFile, SourceFile, counted, joined, silent
from ..plugins.manager import Plugins
from ..records import dataclass
from ..store.api import (
    DocumentChange,
    DocumentInfo,
    Documents,
    OntologyRows,
    StatedFact,
    Store,
    TextsChanged,
)
from ..system import atomic
from ..system.deadline import NEVER, Deadline
from . import sidecars
from .scan import CAPTURES, Unreadable, describe_defect, scan
from .survey import NoteSurvey

if TYPE_CHECKING:
    from ..knowledge.linking import Linker
    from .notes import Mask, NoteReader, NoteText

log = logging.getLogger("openclaw_memory.ingest")

#: A transaction takes whole files until it has this many units.
_UNITS_PER_TRANSACTION = 2_000


@dataclass
class _Run:
    """Counts and remarks of one ingest, gathered over its retries."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    linked: int = 0
    complete: bool = True
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class IngestOutcome:
    """The result of an ingest.

    ``complete`` is true if all changes were written in time, ``wrote`` if any was.  ``scan`` holds the files on disk,
    ``unread`` the paths of changed files that were too large to read now, and ``sidecars`` the fault of each broken
    file of ours in the workspace by its name.
    """

    report: IngestReport
    complete: bool
    wrote: bool
    scan: ScanResult
    sidecars: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unread: tuple[str, ...] = ()


#: A file to read, and its row in the index.
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
        ready: Sequence[Callable[[], object]] = (),
        forgotten: Callable[[StatedFact], bool] = lambda fact: False,
        survey: NoteSurvey | None = None,
    ) -> None:
        self._survey = NoteSurvey(None, 0) if survey is None else survey
        self._workspace = workspace
        self._settings = settings
        self._store = store
        self._plugins = plugins
        #: True for a file on disk that stays out of the index: a retired or forgotten one.
        self._excluded = excluded
        #: Called before the first file is read.
        self._ready = ready
        self._forgotten = forgotten
        self._mask = mask
        #: The curated concepts for which the linker was made.
        self._ontology: OntologyRows | None = None
        self._linker: Linker
        self._names: dict[str, str] = {}
        #: Files by path as they were when reading them failed, so that not every question tries a large one again.
        self._failed: dict[str, SourceFile] = {}

    @cached_property
    def reader(self) -> NoteReader:
        """Reads a file for the index."""
        from .notes import NoteReader

        return NoteReader(self._settings, self._plugins, self._mask)

    def run(
        self,
        paths: Sequence[str] = (),
        progress: Progress = silent,
        until: Deadline = NEVER,
        max_bytes: float = math.inf,
        written: Callable[[], object] = lambda: None,
    ) -> IngestOutcome:
        """Write the texts of all files (or those at or below ``paths``) that changed, without vectors.  ``written`` is
        called after each transaction that is followed by more reading.

        The next run reads the files for which ``until`` leaves no time, another one those of more than ``max_bytes``
        bytes.  Raises :class:`~openclaw_memory.errors.WorkspaceError` and
        :class:`~openclaw_memory.errors.StoreError`; a file that cannot be read is reported instead.
        """
        started = time.monotonic()
        for prepare in self._ready:
            prepare()
        documents = self._store.documents()
        scan_result, files, unnamed = self._scan(paths, documents)
        # Before the notes, whose mentions are found by the curated concepts of now.
        broken = sidecars.sync(self._workspace, self._store, self._plugins, self._forgotten)
        run = _Run(skipped={self._shown_path(skip.path): skip.reason for skip in scan_result.skipped} | dict(broken))
        # The index cites files by their names.
        run.skipped |= dict.fromkeys(unnamed, "its name holds a secret; rename it")
        wrote = False
        _check_paths(paths, scan_result, documents)
        while True:
            work, gone = _compare(files, scan_result, documents, paths)
            run.unread = [
                file.path for file, _ in work if file.size > max_bytes and self._failed.get(file.path) != file
            ]
            work = [(file, row) for file, row in work if file.size <= max_bytes]
            try:
                wrote |= self._write(work, gone, documents.version, run, progress, until, written)
                break
            except TextsChanged:
                # Another process has written one of the same files, and maybe files that are younger than our scan:
                # these are not gone.
                log.debug("the index changed during ingest; planning again")
                documents = self._store.documents()
                scan_result, files, _ = self._scan(paths, documents)
        if work or gone:
            self._survey.save(scan_result.files)
        for file in files:
            if file.path in run.skipped:
                self._failed[file.path] = file
            elif file.size <= max_bytes:
                self._failed.pop(file.path, None)
        chunks = 0
        for file in files:
            row = documents.by_path.get(file.path)
            chunks += run.units.get(file.path, row.units if row is not None else 0)
        counts = run.counts
        report = IngestReport(
            files=len(files),
            chunks=chunks,
            added=counts["added"],
            updated=counts["updated"],
            deleted=counts["deleted"],
            unchanged=max(0, chunks - counts["added"] - counts["updated"]),
            concepts_linked=run.linked,
            seconds=time.monotonic() - started,
            skipped=tuple(SkippedFile(path, reason) for path, reason in sorted(run.skipped.items())),
            warning=joined(_shortened([f"{path}: {remark}" for path, remark in run.remarks.items()])),
        )
        complete = run.complete and not run.unread
        return IngestOutcome(report, complete, wrote, scan_result, broken, tuple(run.unread))

    def _scan(self, paths: Sequence[str], documents: Documents) -> tuple[ScanResult, list[SourceFile], list[str]]:
        """Scan the workspace; return the result, the files to read, and as shown the names that hold a secret."""
        scan_result = scan(self._workspace, self._settings)
        files = [file for file in scan_result.files if _within(file.path, paths) and not self._excluded(file)]
        # A file that is indexed as it is has a name that was looked at.
        named = {
            file.path: file.path if _is_indexed(file, documents) else self._shown_path(file.path) for file in files
        }
        unnamed = [shown for path, shown in named.items() if shown != path]
        return scan_result, [file for file in files if named[file.path] == file.path], unnamed

    def _write(
        self,
        work: Sequence[_Work],
        gone: list[DocumentInfo],
        version: int,
        run: _Run,
        progress: Progress,
        until: Deadline,
        written: Callable[[], object],
    ) -> bool:
        wrote = False
        batch: list[DocumentChange] = []
        if work and (ontology := self._store.ontology()) != self._ontology:
            from ..knowledge.linking import Linker

            self._ontology, self._linker = ontology, Linker(ontology)
        for done, (file, row) in enumerate(work, 1):
            if done > 1 and until.passed:
                run.complete = False  # at least one file a run, so that repeated runs get through
                break
            progress("read", done, len(work))
            try:
                note = self.reader.text(file)
                self._survey.note(file, note)
                self._redact_capture(file, note)
                change = self._planned(file, row, note, run)
            except RedactionError as problem:
                run.skipped[file.path] = str(problem)
                self._survey.skip(file, str(problem))
                continue
            except Unreadable as problem:
                run.skipped[file.path] = problem.reason
                self._survey.skip(file, problem.reason)
                if row is not None and problem.content:  # the index of it is out of date
                    gone.append(row)
                    run.units[file.path] = 0
                continue
            if row is None or change.sha256 != row.sha256 or change.file.size >= 0:
                batch.append(change)
            if sum(len(each.units) for each in batch) >= _UNITS_PER_TRANSACTION:
                version = self._apply(batch, version, run)
                wrote, batch = True, []
                written()
        if batch:
            version = self._apply(batch, version, run)
            wrote = True
        if gone and run.complete and not run.unread:  # a file that is left may be one of these under another name
            version = self._store.remove([row.id for row in gone], version)
            run.counts["deleted"] += sum(row.units for row in gone)
            wrote = True
        return wrote

    def _apply(self, batch: Sequence[DocumentChange], version: int, run: _Run) -> int:
        """Write some files in one transaction."""
        try:
            version, counts = self._store.apply(batch, version)
        except Exception as error:
            if isinstance(error, TextsChanged) or (
                isinstance(error, OpenClawMemoryError) and not isinstance(error, TextRefused)
            ):
                raise
            log.debug("%d files could not be written together", len(batch), exc_info=True)
            if len(batch) == 1:
                run.skipped[batch[0].file.path] = (
                    str(error) if isinstance(error, TextRefused) else describe_defect(error)
                )
            else:
                for change in batch:
                    version = self._apply([change], version, run)
            return version
        run.counts += counts
        run.linked += sum(len(planned.mentions) for change in batch for planned in change.units)
        run.units |= {change.file.path: len(change.units) for change in batch}
        return version

    def _shown_path(self, path: str) -> str:
        """Return a file's path with the secrets in it redacted."""
        if path not in self._names:
            self._names[path] = self._plugins.without_secrets(path)
        return self._names[path]

    def _redact_capture(self, file: SourceFile, note: NoteText) -> None:
        """Take out of a file of captures, which we wrote, the secrets that redaction has learned to see since.

        A file that cannot be written stays as it is, with a warning: the index is redacted all the same.
        """
        if not file.path.startswith(f"{CAPTURES}/") or self._plugins.without_secrets(note.raw.text) == note.raw.text:
            return
        path = Path(file.absolute)
        try:
            with atomic.locked(self._workspace / CAPTURES, root=self._workspace):
                text = atomic.read_bytes(path, self._workspace).decode("utf-8", "surrogateescape")
                atomic.write_text(path, self._plugins.without_secrets(text), self._workspace)
        except (OSError, UnicodeError, WorkspaceError) as error:
            log.warning("%s: holds a secret and cannot be rewritten (%s); make it writable", file.path, error)

    def _planned(self, file: SourceFile, row: DocumentInfo | None, text: NoteText, run: _Run) -> DocumentChange:
        """Return the change that brings the index to the ``text`` of a file."""
        note = self.reader.read(file, self._linker, text)
        if remark := joined(list(filter(None, (text.raw.remark, note.left_out)))):
            run.remarks[file.path] = remark
        # With a size that it does not have the file is read again until no plugin fails on it.
        read = replace(note.file, size=-1) if note.left_out else note.file
        return replace(note, file=read, replaces=row.id if row else None)


def _shortened(remarks: Sequence[str], limit: int = 5) -> list[str]:
    more = len(remarks) - limit
    return [*remarks[:limit], *([f"the like of {counted(more, 'more file')}"] if more > 0 else [])]


def _check_paths(paths: Sequence[str], scan_result: ScanResult, documents: Documents) -> None:
    """Refuse a path that names nothing: a slip of the pen should not read as an empty ingest."""
    names = [file.path for file in scan_result.files] + [file.path for file in scan_result.skipped]
    names += documents.by_path
    closed = [name for name in scan_result.unreadable if name.endswith("/")]
    for path in paths:
        if not any(_within(name, [path]) for name in names) and not (closed and _within(path, closed)):
            raise WorkspaceError(
                f"{path}: no memory file is there; ingest reads MEMORY.md, USER.md, memory/**/*.md "
                "and ingest.extra_paths"
            )


def _within(path: str, prefixes: Sequence[str]) -> bool:
    return not prefixes or any(f"{to_nfc(path)}/".startswith(f"{to_nfc(p).rstrip('/')}/") for p in prefixes)


def _is_indexed(file: SourceFile, documents: Documents) -> bool:
    """Return true if the index holds the file as it is on disk, as far as size and time tell."""
    row = documents.by_path.get(file.path)
    return row is not None and (row.size, row.mtime_ns) == (file.size, file.mtime_ns)


def _compare(
    files: Sequence[SourceFile], scan_result: ScanResult, documents: Documents, paths: Sequence[str]
) -> tuple[list[_Work], list[DocumentInfo]]:
    """Return the files that differ from the index, and the rows of the files that are gone.

    Indexed files come first, then curated ones, then the others from the last name on: daily notes from the newest.
    """
    rows = [(file, documents.by_path.get(file.path)) for file in files if not _is_indexed(file, documents)]
    rows.sort(key=lambda work: (work[1] is not None, work[0].kind is Kind.CURATED, work[0].path), reverse=True)
    present = {file.path for file in files}
    gone = []
    for path, row in documents.by_path.items():
        if path in present or not _within(path, paths):
            continue
        if any(path == p or (p.endswith("/") and path.startswith(p)) for p in scan_result.unreadable):
            # A file that is not seen is not gone: its index stays until the folder can be read.
            continue
        gone.append(row)
    return rows, gone
