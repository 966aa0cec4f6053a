"""Notes that retention took out of the index: their files stay, and are read again as soon as they change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..journal import Journal
from ..types import Origin, SourceFile

_KIND = "retired"


@dataclass(frozen=True, slots=True)
class RetiredNote:
    """A note as it was when it was retired."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    origin: Origin


class Retired:
    """The record of retired notes in the journal; with a plan that keeps everything (not ``active``) nobody is."""

    def __init__(self, journal: Journal, active: bool) -> None:
        self._journal = journal
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
        self._journal.append(
            [
                {
                    "kind": _KIND,
                    "path": note.path,
                    "size": note.size,
                    "mtime_ns": note.mtime_ns,
                    "sha256": note.sha256,
                    "origin": note.origin.value,
                }
                for note in notes
            ]
        )

    def release(self, paths: Iterable[str]) -> None:
        """Note for good that these are retired no more.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        self._journal.append([{"kind": _KIND, "path": path, "back": True} for path in paths])

    def _by_path(self) -> dict[str, RetiredNote]:
        if not self._active:
            return {}
        version = self._journal.version_of(_KIND)
        if self._known[0] != version:
            found: dict[str, RetiredNote] = {}
            for record in self._journal.records(_KIND):
                note = _note(record)
                if note is not None:
                    found[note.path] = note
                elif record.get("back") is True:
                    found.pop(str(record.get("path")), None)
            self._known = version, dict(sorted(found.items()))
        return self._known[1]


def _note(record: dict[str, Any]) -> RetiredNote | None:
    try:
        return RetiredNote(
            str(record["path"]), int(record["size"]), int(record["mtime_ns"]), str(record["sha256"]),
            Origin(record["origin"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None
