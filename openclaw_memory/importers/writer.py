"""The notes of an import in a workspace: written once, brought up to date, and taken out again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ..errors import WorkspaceError
from ..model import ImportReport, Origin, SkippedFile
from ..system import atomic
from .entry import Entry
from .notes import Note, note_of, stated

#: Folder of what was imported, in a workspace; each source has one of its own in it.
FOLDER = "memory/imported"

#: Takes out of the text of a file, named by its path in the workspace, what must not be written.
Mask = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class _Known:
    """A note that was imported before: its path in the workspace, its digest, and whether nobody has edited it."""

    path: str
    digest: str
    ours: bool


@dataclass
class _Run:
    """One run over the notes of a source."""

    root: Path
    source: str
    dry_run: bool
    known: dict[str, _Known] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    edited: dict[str, None] = field(default_factory=dict)
    unchanged: int = 0

    def put(self, note: Note) -> None:
        """Write a note, unless it is there already or somebody else's."""
        before = self.known.get(note.key)
        path = f"{FOLDER}/{self.source}/{note.path}" if before is None else before.path
        if before is None and os.path.lexists(self.root / path):
            self.edited[path] = None
        elif before is None or (before.ours and before.digest != note.digest):
            (self.written if before is None else self.updated).append(path)
            if not self.dry_run:
                self._write(path, note.text)
        elif before.ours:
            self.unchanged += 1
        else:
            self.edited[path] = None

    def drop(self, known: _Known) -> None:
        """Remove a note, unless somebody has edited it."""
        if not known.ours:
            self.edited[known.path] = None
            return
        self.removed.append(known.path)
        if not self.dry_run:
            atomic.delete(self.root / known.path, self.root)

    def _write(self, path: str, text: str) -> None:
        file = self.root / path
        _inside(file.parent, self.root)
        try:
            atomic.swap(file, text.encode("utf-8"), 0o600, self.root)
        except OSError as error:
            raise WorkspaceError(
                f"{file}: cannot be written ({error.strerror or error}); make room or make its folder writable, "
                "and run the import again to go on"
            ) from error


def bring(
    workspace: Path,
    source: str,
    entries: Iterable[Entry | SkippedFile],
    origin: Origin,
    most: int,
    dry_run: bool,
    mask: Mask = lambda path, text: text,
) -> ImportReport:
    """Write ``entries`` as notes of at most so many bytes, whose front matter says ``origin``.

    What ``mask`` takes out of the text of a file is not written, and neither is an entry that it hides all of.
    A note that is there is replaced when its entry has changed and nobody has edited it.  Entries that are not in this
    export stay.  Raises :class:`~openclaw_memory.errors.WorkspaceError` when a file cannot be written.
    """
    run = _Run(workspace.resolve(), source, dry_run)
    skipped: list[SkippedFile] = []
    seen: set[str] = set()
    number = 0
    with _locked(run):
        for entry in entries:
            if isinstance(entry, SkippedFile):
                skipped.append(entry)
                continue
            number += 1
            if entry.key in seen:
                skipped.append(SkippedFile(entry.name, "the same entry stands before it"))
                continue
            seen.add(entry.key)
            note = note_of(entry, source, origin)
            path = f"{FOLDER}/{source}/{note.path}"
            if mask(path, note.text) != note.text:
                entry = _masked(entry, partial(mask, path))
                note = note_of(entry, source, origin)
                if mask(path, note.text) != note.text:
                    skipped.append(SkippedFile(f"entry {number}", "what it says was forgotten"))
                    continue
            if len(note.text.encode("utf-8")) > most:
                skipped.append(SkippedFile(entry.name, "it is longer than ingest.max_file_mb allows"))
            else:
                run.put(note)
    return replace(_report(run), entries=number, skipped=tuple(skipped))


def _masked(entry: Entry, mask: Callable[[str], str]) -> Entry:
    """``entry`` without what ``mask`` hides; a title, a tag or a fact of which that is a part goes as a whole."""
    kept = {name: value for name, value in entry.facts.items() if mask(value) == value}
    return replace(
        entry,
        said=tuple(each._replace(text=mask(each.text)) for each in entry.said),
        title=entry.title if mask(entry.title) == entry.title else "",
        tags=tuple(tag for tag in entry.tags if mask(tag) == tag),
        facts=kept,
    )


def undo(workspace: Path, source: str, dry_run: bool) -> ImportReport:
    """Remove the notes of ``source`` that nobody has edited, and the folders that are empty then."""
    run = _Run(workspace.resolve(), source, dry_run)
    with _locked(run):
        for known in run.known.values():
            run.drop(known)
        if not dry_run:
            top = run.root / FOLDER
            for folder, _, _ in os.walk(top / source, topdown=False):
                with suppress(OSError):
                    os.rmdir(folder)
            with suppress(OSError):
                top.rmdir()  # only if nothing is in it
    return _report(run)


def _report(run: _Run) -> ImportReport:
    return ImportReport(
        source=run.source,
        folder=f"{FOLDER}/{run.source}",
        dry_run=run.dry_run,
        written=tuple(run.written),
        updated=tuple(run.updated),
        removed=tuple(run.removed),
        unchanged=run.unchanged,
        edited=tuple(run.edited),
    )


@contextmanager
def _locked(run: _Run) -> Iterator[None]:
    """Read what is there, and keep other imports of the workspace out; a dry run makes no lock."""
    with nullcontext() if run.dry_run else atomic.locked(run.root / FOLDER, root=run.root):
        if not run.dry_run:
            atomic.sweep(run.root)
        run.known = dict(_known(run.root, run.source))
        yield


def _known(root: Path, source: str) -> Iterator[tuple[str, _Known]]:
    """The notes that were imported from ``source`` by their keys."""
    top = root / FOLDER / source
    _inside(top, root)
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            file = Path(folder, name)
            if not name.endswith(".md") or file.is_symlink() or not file.is_file():
                continue
            try:
                found = stated(atomic.read(file, root).decode("utf-8"))
            except (OSError, UnicodeDecodeError, WorkspaceError):
                continue
            if found is not None:
                yield found[0], _Known(file.relative_to(root).as_posix(), found[1], found[2])


def _inside(folder: Path, root: Path) -> None:
    """Refuse a folder that a link leads to; raises :class:`WorkspaceError`."""
    if os.path.realpath(folder) != str(folder):
        raise WorkspaceError(f"{folder}: is reached by a link; put a folder in its place")
