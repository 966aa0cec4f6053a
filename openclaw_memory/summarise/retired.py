"""Notes that retention took out of the index: their files stay, and are read again as soon as they change."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import OpenClawMemoryError
from ..model import Origin, SourceFile
from ..store.state import State

log = logging.getLogger("openclaw_memory.consolidate")

#: What goes by this name changes with the retired notes.
_NAME = "retired"


@dataclass(frozen=True, slots=True)
class RetiredNote:
    """A note as it was when it was retired."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    origin: Origin


class Retired:
    """The retired notes in the state; with a plan that keeps everything (not ``active``) there are none."""

    def __init__(self, state: State, active: bool) -> None:
        self._state = state
        self._active = active
        self._known: tuple[str, dict[str, RetiredNote]] = "", {}

    def notes(self) -> Iterable[RetiredNote]:
        """All of them, by path."""
        return self._by_path().values()

    def holds(self, file: SourceFile) -> bool:
        """Whether ``file`` is a retired note that has not changed since."""
        if not self._active:
            return False
        note = self._by_path().get(file.path)
        return note is not None and (note.size, note.mtime_ns) == (file.size, file.mtime_ns)

    def add(self, notes: Iterable[RetiredNote]) -> None:
        """Note for good that these are retired.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(note.path, note.size, note.mtime_ns, note.sha256, note.origin.value) for note in notes]
        if rows:
            with self._state.writing(_NAME) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", [row[:1] for row in rows])
                connection.executemany("INSERT INTO retired VALUES (?, ?, ?, ?, ?)", rows)

    def release(self, paths: Iterable[str]) -> None:
        """Note for good that these are retired no more.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(path,) for path in paths]
        if rows:
            with self._state.writing(_NAME) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", rows)

    def _by_path(self) -> dict[str, RetiredNote]:
        """While the state cannot be read, what was known before."""
        if not self._active:
            return {}
        try:
            version = self._state.version(_NAME)
            if self._known[0] != version:
                rows = self._state.read("SELECT path, size, mtime_ns, sha256, origin FROM retired ORDER BY path")
                self._known = (
                    version,
                    {
                        path: RetiredNote(path, size, mtime_ns, sha256, Origin(origin))
                        for path, size, mtime_ns, sha256, origin in rows
                        if origin in list(Origin)
                    },
                )
        except OpenClawMemoryError as problem:
            log.debug("retired notes are not known: %s", problem)
        return self._known[1]
