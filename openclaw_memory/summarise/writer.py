"""The files of summaries: written whole, and never one that a person wrote or changed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

from ..errors import WorkspaceError
from ..ingest import summary_files
from ..system import atomic
from ..text import calendar
from .inventory import GRAINS

#: What a writer that was killed leaves behind.
_LITTER = re.compile(r"\.[\dWQ-]+\.md\.\d+-[0-9a-f]{8}\.tmp")

#: ``theirs``: it is a person's, or nothing that could be a summary.
Outcome = Literal["done", "same", "theirs"]


class SummaryFiles:
    """The summaries of a workspace on disk; whoever writes holds the lock of :attr:`folder`."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self.folder = workspace / calendar.FOLDER

    def write(self, path: str, text: str, dry: bool = False) -> Outcome:
        """Put ``text`` into the file ``path`` unless it is a person's, or says that already; with ``dry`` only look.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written.
        """
        target = self._target(path)
        there = self._text(target)
        if there == text:
            return "same"
        if summary_files.is_edited(there) if there is not None else os.path.lexists(target):
            return "theirs"
        if not dry:
            atomic.replace(target, text, self._workspace)
        return "done"

    def remove(self, path: str, dry: bool = False) -> Outcome:
        """Delete the file ``path`` unless it is a person's; with ``dry`` only look.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be deleted.
        """
        target = self._target(path)
        if not os.path.lexists(target):
            return "same"
        there = self._text(target)
        if there is None or summary_files.is_edited(there):
            return "theirs"
        try:
            if not dry:
                atomic.delete(target, self._workspace)
        except OSError as error:
            raise WorkspaceError(
                f"{target}: cannot be removed ({error.strerror or error}); make its folder writable"
            ) from error
        return "done"

    def sweep(self) -> None:
        """Take away what a writer that was killed has left; nobody else may be writing."""
        for grain in GRAINS:
            folder = self.folder / grain.value
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                if _LITTER.fullmatch(name) is not None:
                    try:
                        (folder / name).unlink(missing_ok=True)
                    except OSError:
                        continue  # it is not in anybody's way

    def _target(self, path: str) -> Path:
        """The file of ``path``; nothing is written where a link leads out of the workspace."""
        target = self._workspace / path
        for folder in (target.parent.parent, target.parent):
            if os.path.lexists(folder) and not folder.is_dir():
                raise WorkspaceError(f"{folder}: is no folder, so no summary can be written there; move it away")
        if not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(self._workspace)):
            raise WorkspaceError(f"{target.parent}: a link that leads out of the workspace; put a folder in its place")
        return target

    def _text(self, target: Path) -> str | None:
        """What a regular file says; ``None`` for what is none, is a link, or is no text."""
        try:
            if target.is_symlink() or not target.is_file():
                return None
            return atomic.read(target, self._workspace).decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError):
            return None
