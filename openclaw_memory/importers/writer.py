"""Write entries as Markdown notes, bring the notes up to date with a later export, and take them out again.

The front matter of a note holds its origin and a digest of its text, by which a note that somebody edited is known.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from ..errors import WorkspaceError, writing
from ..model import ImportReport, Origin, SkippedFile
from ..records import NamedTuple, dataclass
from ..system import atomic, yaml_edit
from ..system.sanitize import sanitize
from ..text.characters import join_surrogates
from ..text.lines import split_lines
from .exports import Entry

#: Folder of what was imported, in a workspace; each source has one of its own in it.
FOLDER = "memory/imported"

#: Takes out of the text of a file, named by its path in the workspace, what must not be written.
Mask = Callable[[str, str], str]

_NO_DIGEST = "0" * 64


class Note(NamedTuple):
    """An imported note: its ``path`` in the workspace, the ``key`` of its entry, and the ``digest`` of its text.

    ``edited`` is true for a file whose text is not as an import wrote it; ``text`` is empty for a note on disk.
    """

    path: str
    key: str
    digest: str
    text: str = ""
    edited: bool = False


@dataclass
class _Run:
    """One run over the notes of a source."""

    root: Path
    source: str
    dry_run: bool
    #: The notes on disk by key.
    notes: dict[str, Note] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    edited: dict[str, None] = field(default_factory=dict)
    unchanged: int = 0

    def put(self, note: Note) -> None:
        """Write a note, unless it is there already or somebody else's."""
        before = self.notes.get(note.key)
        path = note.path if before is None else before.path
        if before.edited if before is not None else os.path.lexists(self.root / path):
            self.edited[path] = None
        elif before is not None and before.digest == note.digest:
            self.unchanged += 1
        else:
            (self.written if before is None else self.updated).append(path)
            if not self.dry_run:
                file = self.root / path
                _refuse_link(file.parent, self.root)
                with writing(file, WorkspaceError, "make its folder writable, and run the import again to go on"):
                    atomic.write_bytes(file, note.text.encode("utf-8"), 0o600, self.root)

    def report(self) -> ImportReport:
        """Return the report of the run."""
        return ImportReport(
            source=self.source,
            folder=f"{FOLDER}/{self.source}",
            dry_run=self.dry_run,
            written=tuple(self.written),
            updated=tuple(self.updated),
            removed=tuple(self.removed),
            unchanged=self.unchanged,
            edited=tuple(self.edited),
        )


def write_entries(
    workspace: Path,
    source: str,
    entries: Iterable[Entry | SkippedFile],
    origin: Origin,
    max_bytes: int,
    dry_run: bool,
    mask: Mask = lambda path, text: text,
) -> ImportReport:
    """Write ``entries`` as notes of at most ``max_bytes`` bytes, whose front matter names the ``origin``.

    ``mask`` takes out of the text of a file what must not be written; an entry of which nothing stays is skipped.  A
    note on disk is replaced when its entry has changed and nobody has edited it.  Entries that are not in this export
    stay.  Raises :class:`~openclaw_memory.errors.WorkspaceError` when a file cannot be written.
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
            note = render_note(entry, source, origin)
            path = note.path
            if mask(path, note.text) != note.text:
                entry = _masked(entry, partial(mask, path))
                note = render_note(entry, source, origin)
                if mask(path, note.text) != note.text:
                    skipped.append(SkippedFile(f"entry {number}", "what it says was forgotten"))
                    continue
            if len(note.text.encode("utf-8")) > max_bytes:
                skipped.append(SkippedFile(entry.name, "it is longer than ingest.max_file_mb allows"))
            else:
                run.put(note)
    return replace(run.report(), entries=number, skipped=tuple(skipped))


def undo(workspace: Path, source: str, dry_run: bool) -> ImportReport:
    """Remove the notes of ``source`` that nobody has edited, and the folders that are empty then."""
    run = _Run(workspace.resolve(), source, dry_run)
    with _locked(run):
        for note in run.notes.values():
            if note.edited:
                run.edited[note.path] = None
                continue
            run.removed.append(note.path)
            if not dry_run:
                atomic.delete(run.root / note.path, run.root)
        if not dry_run:
            top = run.root / FOLDER
            for folder, _, _ in os.walk(top / source, topdown=False):
                with suppress(OSError):
                    os.rmdir(folder)
            with suppress(OSError):
                top.rmdir()  # only if nothing is in it
    return run.report()


def render_note(entry: Entry, source: str, origin: Origin) -> Note:
    """Return the note of an entry."""
    title = " ".join(_clean(entry.title).split())
    month = "undated" if entry.day is None else entry.day.isoformat()[:7]
    slug = "-".join(re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", title).casefold()))[:40].strip("-")
    lines = list(render_body(entry, title))
    while lines and not lines[-1]:
        lines.pop()
    text = "\n".join([*_front_matter(entry, source, origin), *lines, ""])
    digest = _digest(text)
    name = f"{slug}-{entry.key}.md" if slug else f"{entry.key}.md"
    return Note(f"{FOLDER}/{source}/{month}/{name}", entry.key, digest, text.replace(_NO_DIGEST, digest, 1))


def _masked(entry: Entry, mask: Callable[[str], str]) -> Entry:
    """Return ``entry`` without what ``mask`` hides; a title, tag or fact that holds a part of it goes as a whole."""
    return replace(
        entry,
        turns=tuple(turn._replace(text=mask(turn.text)) for turn in entry.turns),
        title=entry.title if mask(entry.title) == entry.title else "",
        tags=tuple(tag for tag in entry.tags if mask(tag) == tag),
        facts={name: value for name, value in entry.facts.items() if mask(value) == value},
    )


@contextmanager
def _locked(run: _Run) -> Iterator[None]:
    """Keep other imports of the workspace out, and read the notes on disk; a dry run takes no lock."""
    with nullcontext() if run.dry_run else atomic.locked(run.root / FOLDER, root=run.root):
        if not run.dry_run:
            atomic.delete_leftovers(run.root)
        run.notes = {note.key: note for note in _notes(run.root, run.source)}
        yield


def _notes(root: Path, source: str) -> Iterator[Note]:
    """Yield the notes on disk that were imported from ``source``."""
    top = root / FOLDER / source
    _refuse_link(top, root)
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            file = Path(folder, name)
            if not name.endswith(".md") or file.is_symlink() or not file.is_file():
                continue
            try:
                text = atomic.read_bytes(file, root).decode("utf-8")
            except (OSError, UnicodeDecodeError, WorkspaceError):
                continue
            ours = r"(?m)^imported: \{source: [\w-]+, key: ([a-p]{12}), digest: ([0-9a-f]{64})[,}]"
            match = re.search(ours, text[:20_000])  # our front matter takes no more
            if match is not None and text.startswith("---"):
                unsigned = text[: match.start(2)] + _NO_DIGEST + text[match.end(2) :]
                path = file.relative_to(root).as_posix()
                yield Note(path, match[1], match[2], edited=_digest(unsigned) != match[2])


def _refuse_link(folder: Path, root: Path) -> None:
    """Raise :class:`WorkspaceError` for a folder that a link leads to."""
    if os.path.realpath(folder) != str(folder):
        raise WorkspaceError(f"{folder}: is reached by a link; put a folder in its place")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _front_matter(entry: Entry, source: str, origin: Origin) -> list[str]:
    lines = ["---"]
    if entry.day is not None:
        lines.append(f"date: {entry.day.isoformat()}")
    lines.append(f"origin: {origin.value}")
    if tags := [" ".join(_clean(tag).split()) for tag in entry.tags]:
        lines.append(f"tags: {yaml_edit.dump_flow(tags)}")
    more = "".join(
        f", {name}: {yaml_edit.dump_scalar(' '.join(_clean(value).split()))}" for name, value in entry.facts.items()
    )
    lines.append(f"imported: {{source: {source}, key: {entry.key}, digest: {_NO_DIGEST}{more}}}")
    return [*lines, "---"]


def render_body(entry: Entry, title: str) -> Iterator[str]:
    """Yield the lines below the front matter: the title, and the turns below headings with their days."""
    if title:
        yield from (f"# {title}", "")
    # Without one it is dated by the front matter; a title may state some other day.
    day = None
    for turn in entry.turns:
        turn_day = turn.day or day or entry.day
        if turn_day is not None and turn_day != day and (title or day is not None or turn_day != entry.day):
            yield from (f"## {turn_day.isoformat()}", "")
        day = turn_day
        yield from _message(turn.text, " ".join(_clean(turn.speaker).split()).strip(": "))
        yield ""


def _message(text: str, speaker: str) -> Iterator[str]:
    """Yield the lines of a turn, which open no section above the one that they stand in and leave no code open."""
    lines = split_lines(_clean(text).strip("\n"))
    if speaker and lines and re.match(r"\s|[#>`~|<*+-]|\d+[.)]", lines[0]):
        yield f"{speaker}:"  # a block of Markdown other than a paragraph stands below
    elif speaker and lines:
        lines[0] = f"{speaker}: {lines[0]}"
    fence, before = "", ""
    for line in lines:
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := re.match(r"( {0,3})(#{1,6})(?=[ \t]|$)", line):
            line = f"{heading[1]}{'#' * min(2, 6 - len(heading[2]))}{line[heading.start(2) :]}"
        elif before.strip() and re.match(r" {0,3}(?:=+|-+)[ \t]*$", line):
            yield ""
        yield line
        before = line
    if fence:
        yield fence


def _clean(text: str) -> str:
    """Return ``text`` with line feeds only, without characters that no file may hold or that hide in it."""
    return sanitize(join_surrogates("\n".join(split_lines(text))))
