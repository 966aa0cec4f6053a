"""Waiting for changes of the files that ingest reads."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from ..config.settings import IngestSettings
from ..config.workspace import expanded
from ..errors import WorkspaceError
from .scan import IGNORE_FILE

log = logging.getLogger("openclaw_memory.ingest")

#: How often, in milliseconds, a quiet watch looks whether it is to end and whether the workspace is still there.
_TICK = 400
#: Milliseconds of quiet after which a burst of changes is over.
_QUIET = 800


class AnyOf:
    """Set when one of its events is."""

    def __init__(self, *events: threading.Event) -> None:
        self._events = events

    def is_set(self) -> bool:
        """Whether one of the events is set."""
        return any(event.is_set() for event in self._events)


def changes(workspace: Path, settings: IngestSettings, stop: AnyOf) -> Iterator[None]:
    """Yield once when the files are being watched, then after every burst of changes to Markdown files.

    Ends with ``stop``, and with Ctrl-C.
    Raises :class:`WorkspaceError` when the workspace vanishes or the system cannot watch it.
    """
    from watchfiles import Change, watch

    extras = [Path(os.path.realpath(workspace / expanded(extra.path))) for extra in settings.extra_paths]
    for extra in extras:
        if not extra.exists():
            log.warning("%s is not there and is not watched; start --watch again when it is", extra)

    def concerns(change: Change, path: str) -> bool:
        root = next((root for root in (workspace, *extras) if Path(path).is_relative_to(root)), workspace)
        *folders, name = Path(path).parts[len(root.parts) :] or ("",)
        if name == IGNORE_FILE and not folders:
            return True
        if any(part.startswith(".") for part in (*folders, name)):
            return False
        # A folder that is moved or deleted takes its notes along without a word about each of them.  An index
        # beside the notes must not count: its files come and go with every ingest.
        return name.lower().endswith(".md") or (change != Change.modified and "." not in name)

    watching = False
    try:
        for found in watch(
            workspace,
            *(extra for extra in extras if extra.exists()),
            watch_filter=concerns,
            debounce=_QUIET,
            step=50,
            rust_timeout=_TICK,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            if not workspace.is_dir():
                raise WorkspaceError(f"{workspace}: the workspace is gone; start again when it is back")
            if found or not watching:
                watching = True
                yield
    except OSError as error:
        raise WorkspaceError(
            f"{workspace}: cannot be watched ({error.strerror or error}); "
            "run 'openclaw-memory ingest' from time to time instead"
        ) from error
