"""Record of the notes that retention took out of the index: their files stay, and a changed one is read again."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from ..errors import OpenClawMemoryError
from ..model import Origin, SourceFile
from ..store.state import State
from ..text.dates import date_in_name

log = logging.getLogger("openclaw_memory.consolidate")

#: Name of the record in the state, under which its changes are counted.
_NAME = "retired"


@dataclass(frozen=True, slots=True)
class DayNote:
    """A note of a day as it was when it was indexed; ``units`` counts those in the index, ``size`` is in bytes."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    day: date
    origin: Origin
    units: int = 0
    retired: bool = False

    def is_unchanged(self, file: SourceFile) -> bool:
        """Return true if ``file`` is the note as it was."""
        return (file.size, file.mtime_ns) == (self.size, self.mtime_ns)


class RetiredNotes:
    """The retired notes in the state; unless ``active``, as under a plan that keeps everything, there are none."""

    def __init__(self, state: State, active: bool) -> None:
        self._state = state
        self._active = active
        self._version = ""
        self._notes: dict[str, DayNote] = {}

    def notes(self) -> Iterable[DayNote]:
        """Return all of them, by path."""
        return self._by_path().values()

    def holds(self, file: SourceFile) -> bool:
        """Return true if ``file`` is a retired note that has not changed since."""
        note = self._by_path().get(file.path)
        return note is not None and note.is_unchanged(file)

    def add(self, notes: Iterable[DayNote]) -> None:
        """Record notes as retired.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(note.path, note.size, note.mtime_ns, note.sha256, note.origin.value) for note in notes]
        if rows:
            with self._state.writing(_NAME) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", [row[:1] for row in rows])
                connection.executemany("INSERT INTO retired VALUES (?, ?, ?, ?, ?)", rows)

    def release(self, paths: Iterable[str]) -> None:
        """Record notes as no longer retired.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(path,) for path in paths]
        if rows:
            with self._state.writing(_NAME) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", rows)

    def _by_path(self) -> dict[str, DayNote]:
        """Read the record if it has changed; while the state cannot be read, return it as it was last read."""
        if not self._active:
            return {}
        try:
            version = self._state.version(_NAME)
            if self._version != version:
                rows = self._state.read("SELECT path, size, mtime_ns, sha256, origin FROM retired ORDER BY path")
                self._notes = {
                    path: DayNote(path, sha256, size, mtime_ns, day, Origin(origin), retired=True)
                    for path, size, mtime_ns, sha256, origin in rows
                    if origin in list(Origin) and (day := date_in_name(path)) is not None
                }
                self._version = version
        except OpenClawMemoryError as problem:
            log.debug("retired notes are not known: %s", problem)
        return self._notes
