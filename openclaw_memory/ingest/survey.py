"""Remarks on notes for ``status``, kept in a file beside the index."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model import Grain, Origin, SourceFile
from ..records import NamedTuple
from ..system import atomic
from .scan import Unreadable

if TYPE_CHECKING:
    from .notes import NoteText, RawNote

#: Suffix of the file beside the index.
SURVEY_SUFFIX = ".notes.json"


class NoteRemarks(NamedTuple):
    """Remarks on one version of a note.

    ``untrusted`` is the reason why its front matter cannot be read and it is untrusted, ``guessed`` names what was read
    by guessing, ``languages`` has tokens by language, ``skipped`` is the reason why it is not in the index.
    """

    private_lines: int = 0
    untrusted: str | None = None
    guessed: Sequence[str] = ()
    languages: Mapping[str, float] = {}
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


#: Size and time of a note's version, the fields of the remarks on it, and the identity of a text that is all readable.
_Row = Sequence[Any]


class NoteSurvey:
    """Remarks on the notes of a workspace by path, each with the size and time of the version that they are on.

    ``file`` is the file that keeps them; on a server there is none.  ``rules`` identify what takes secrets out of
    notes, ``None`` where that is not known.  Safe to use from several threads.
    """

    def __init__(self, file: Path | None, max_bytes: int, rules: str | None = None) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._rules = rules
        self._changed: dict[str, _Row] = {}
        self._kept: tuple[int, dict[str, _Row]] = (0, {})
        self._lock = threading.Lock()

    def note(self, file: SourceFile, note: NoteText) -> None:
        """Take the remarks on a note that was read."""
        readable = list(note.lines) == list(note.raw.lines)
        self._take(file, remarks_on(file, note.raw), self._identity(note.raw.sha256) if readable else "")

    def skip(self, file: SourceFile, reason: str) -> None:
        """Take the reason why a note is not in the index."""
        with self._lock:
            row = self._changed.get(file.path)
        self._take(file, NoteRemarks(*(() if row is None else row[2:7]))._replace(skipped=reason))

    def _take(self, file: SourceFile, remarks: NoteRemarks, identity: str = "") -> None:
        with self._lock:
            self._changed[file.path] = file.size, file.mtime_ns, *remarks, identity

    def save(self, files: Sequence[SourceFile]) -> None:
        """Write the new remarks down, and drop those on notes that are not among ``files``."""
        with self._lock:
            paths, kept = {file.path for file in files}, self._load()
            if self._file is None or not (self._changed or kept.keys() - paths):
                return
            rows = {path: row for path, row in (kept | self._changed).items() if path in paths}
            with suppress(OSError):  # an index in a folder that cannot be written
                atomic.write_bytes(self._file, json.dumps(rows).encode(), 0o600)
                self._changed.clear()

    def remarks(self, files: Sequence[SourceFile]) -> Mapping[str, NoteRemarks]:
        """Return the remarks on these versions by path.  Opens no note, unless there is no file that keeps them."""
        rows = self._rows()
        current: dict[str, NoteRemarks] = {}
        for file in files:
            if (row := rows.get(file.path)) is not None and (row[0], row[1]) == (file.size, file.mtime_ns):
                current[file.path] = NoteRemarks(*row[2:7])
            elif self._file is None:
                from .notes import RawNote

                with suppress(Unreadable):
                    current[file.path] = remarks_on(file, RawNote.read(file, self._max_bytes))
        return current

    def is_readable(self, path: str, text: str) -> bool:
        """Return true if nothing of the ``text`` of a note is private or a secret, as was seen when it was ingested."""
        identity = self._identity(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        return identity != "" and self._rows().get(path, ())[-1:] == [identity]

    def _identity(self, sha256: str) -> str:
        return "" if self._rules is None else hashlib.sha256(f"{self._rules}\0{sha256}".encode()).hexdigest()

    def _rows(self) -> dict[str, _Row]:
        with self._lock:
            return self._load() | self._changed

    def _load(self) -> dict[str, _Row]:
        """Return the rows of the file, read again if another process has replaced it."""
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if self._file is not None and (version := self._file.stat().st_mtime_ns) != self._kept[0]:
                rows = json.loads(self._file.read_bytes())
                self._kept = version, {path: row for path, row in rows.items() if len(row) == 8}
            return self._kept[1]
        return {}
