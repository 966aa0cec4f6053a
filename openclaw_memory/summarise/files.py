"""Files of summaries: write and delete them whole, and never one that a person wrote or changed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..errors import WorkspaceError
from ..ingest import summary_files
from ..system import atomic
from ..text import calendar
from .inventory import GRAINS

#: Temporary files of a writer that was killed.
_TEMPORARY = re.compile(r"\.[\dWQ-]+\.md\.\d+-[0-9a-f]{8}\.tmp")

#: ``foreign``: the file is a person's, or something that cannot be a summary.
Outcome = Literal["done", "same", "foreign"]


class SummaryFiles:
    """The summaries of a workspace on disk; a writer holds the lock of :attr:`folder`."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self.folder = workspace / calendar.FOLDER

    def write(self, path: str, text: str, dry: bool = False) -> Outcome:
        """Write ``text`` to the file ``path`` unless it is a person's or has that text; with ``dry`` only check.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written.
        """
        target = self._target(path)
        old = self._text(target)
        if old == text:
            return "same"
        if summary_files.is_edited(old) if old is not None else os.path.lexists(target):
            return "foreign"
        if not dry:
            atomic.replace(target, text, self._workspace)
        return "done"

    def remove(self, path: str, dry: bool = False) -> Outcome:
        """Delete the file ``path`` unless it is a person's; with ``dry`` only check.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be deleted.
        """
        target = self._target(path)
        if not os.path.lexists(target):
            return "same"
        old = self._text(target)
        if old is None or summary_files.is_edited(old):
            return "foreign"
        try:
            if not dry:
                atomic.delete(target, self._workspace)
        except OSError as error:
            raise WorkspaceError(
                f"{target}: cannot be removed ({error.strerror or error}); make its folder writable"
            ) from error
        return "done"

    def sweep(self) -> None:
        """Delete the temporary files of a writer that was killed; nobody else may be writing."""
        for grain in GRAINS:
            folder = self.folder / grain.value
            with suppress(OSError):
                for name in os.listdir(folder):
                    if _TEMPORARY.fullmatch(name) is not None:
                        with suppress(OSError):  # it does no harm
                            (folder / name).unlink(missing_ok=True)

    def _target(self, path: str) -> Path:
        """Return the file of ``path``; raises where a link or a file in the way would lead the write elsewhere."""
        target = self._workspace / path
        for folder in (target.parent.parent, target.parent):
            if os.path.lexists(folder) and not folder.is_dir():
                raise WorkspaceError(f"{folder}: is no folder, so no summary can be written there; move it away")
        if not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(self._workspace)):
            raise WorkspaceError(f"{target.parent}: a link that leads out of the workspace; put a folder in its place")
        return target

    def _text(self, target: Path) -> str | None:
        """Return the text of a regular file; ``None`` for a link, a missing file, or one that is not text."""
        try:
            if target.is_symlink() or not target.is_file():
                return None
            return atomic.read(target, self._workspace).decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError):
            return None
