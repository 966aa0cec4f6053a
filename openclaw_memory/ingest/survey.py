"""Remarks on notes for ``status``, kept in a file beside the index."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from ..model import Grain, Origin, SourceFile
from ..records import dataclass
from ..system import atomic
from .scan import Unreadable

if TYPE_CHECKING:
    from .notes import RawNote

#: Suffix of the file beside the index.
SURVEY_SUFFIX = ".notes.json"


@dataclass(frozen=True, slots=True)
class NoteRemarks:
    """Remarks on one version of a note.

    ``untrusted`` is the reason why its front matter cannot be read and it is untrusted, ``guessed`` names what was read
    by guessing, ``languages`` has tokens by language, ``skipped`` is the reason why it is not in the index.
    """

    private_lines: int = 0
    untrusted: str | None = None
    guessed: tuple[str, ...] = ()
    languages: Mapping[str, float] = field(default_factory=dict)
    skipped: str | None = None


def language_weights(lines: Sequence[str], enough: int = 60) -> dict[str, float]:
    """Return tokens by language, estimated from about ``enough`` lines, evenly spaced."""
    step = max(1, len(lines) // enough)
    from ..text import language

    return {name: step * weight for name, weight in language.tokens_by_language("\n".join(lines[::step])).items()}


def remarks_on(file: SourceFile, note: RawNote) -> NoteRemarks:
    """Return the remarks on a note as it is on disk."""
    fault = note.front.fault if file.grain is Grain.WORKING else None  # summaries have front matter of ours
    untrusted = fault is not None and note.front.values.get("origin") == Origin.UNTRUSTED
    guessed = tuple(each for each in (note.remark, None if untrusted else fault) if each is not None)
    return NoteRemarks(note.private_lines, fault if untrusted else None, guessed, language_weights(note.lines))


_FIELDS = attrgetter("private_lines", "untrusted", "guessed", "languages", "skipped")
#: Size and time of a note's version, and the remarks on it.
_Entry = tuple[int, int, NoteRemarks]


class NoteSurvey:
    """Remarks on the notes of a workspace by path, each with the size and time of the version that they are on.

    ``file`` is the file that keeps them; on a server there is none.  Safe to use from several threads.
    """

    def __init__(self, file: Path | None, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._changed: dict[str, _Entry] = {}
        self._kept: tuple[int, dict[str, _Entry]] = (0, {})
        self._lock = threading.Lock()

    def note(self, file: SourceFile, note: RawNote) -> None:
        """Take the remarks on a note that was read."""
        with self._lock:
            self._changed[file.path] = file.size, file.mtime_ns, remarks_on(file, note)

    def skip(self, file: SourceFile, reason: str) -> None:
        """Take the reason why a note is not in the index."""
        with self._lock:
            *_, remarks = self._changed.get(file.path, (0, 0, NoteRemarks()))
            self._changed[file.path] = file.size, file.mtime_ns, replace(remarks, skipped=reason)

    def save(self, files: Sequence[SourceFile]) -> None:
        """Write the new remarks down, and drop those on notes that are not among ``files``."""
        with self._lock:
            paths, kept = {file.path for file in files}, self._load()
            if self._file is None or not (self._changed or kept.keys() - paths):
                return
            entries = {path: entry for path, entry in (kept | self._changed).items() if path in paths}
            rows = {path: [size, mtime_ns, *_FIELDS(remarks)] for path, (size, mtime_ns, remarks) in entries.items()}
            with suppress(OSError):  # an index in a folder that cannot be written
                atomic.write_bytes(self._file, json.dumps(rows).encode(), 0o600)
                self._changed.clear()

    def remarks(self, files: Sequence[SourceFile]) -> Mapping[str, NoteRemarks]:
        """Return the remarks on these versions by path.  Opens no note, unless there is no file that keeps them."""
        with self._lock:
            entries = self._load() | self._changed
        current: dict[str, NoteRemarks] = {}
        for file in files:
            size, mtime_ns, remarks = entries.get(file.path, (-1, -1, NoteRemarks()))
            if (size, mtime_ns) == (file.size, file.mtime_ns):
                current[file.path] = remarks
            elif self._file is None:
                from .notes import RawNote

                with suppress(Unreadable):
                    current[file.path] = remarks_on(file, RawNote.read(file, self._max_bytes))
        return current

    def _load(self) -> dict[str, _Entry]:
        """Return the entries of the file, read again if another process has replaced it."""
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if self._file is not None and (version := self._file.stat().st_mtime_ns) != self._kept[0]:
                rows = json.loads(self._file.read_bytes())
                entries = {
                    path: (size, mtime_ns, NoteRemarks(private, untrusted, tuple(guessed), languages, skipped))
                    for path, (size, mtime_ns, private, untrusted, guessed, languages, skipped) in rows.items()
                }
                self._kept = version, entries
            return self._kept[1]
        return {}
