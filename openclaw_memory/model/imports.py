"""What an import of another program's memories did, or would do."""

from __future__ import annotations

from dataclasses import dataclass

from .notes import SkippedFile


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Files by what became of them, as paths in the workspace; with ``dry_run`` nothing was changed.

    ``entries`` is how many conversations or memories the export holds, ``edited`` the files that somebody has changed
    since they were written, or made in their place, and that were left; ``skipped`` the entries that became no file,
    with the reason.
    """

    source: str
    folder: str
    dry_run: bool
    entries: int = 0
    written: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    edited: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def changes(self) -> int:
        """How many files are, or would be, changed."""
        return len(self.written) + len(self.updated) + len(self.removed)
