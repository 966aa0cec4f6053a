"""Waiting for changes of the files that ingest reads."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ..config.settings import IngestSettings
from ..config.workspace import expanded
from ..errors import SettingsError, WorkspaceError
from ..model import ScanResult
from .scan import IGNORE_FILE, scan

log = logging.getLogger("openclaw_memory.ingest")

#: How often, in milliseconds, a quiet watch looks whether it is to end and whether the workspace is still there.
_TICK = 400
#: Milliseconds of quiet after which a burst of changes is over.
_QUIET = 800
#: Seconds between two looks at all files, and how many times as long as the last one took.
_LOOK, _PAUSE = 2.0, 50


class AnyOf:
    """Set when one of its events is."""

    def __init__(self, *events: threading.Event) -> None:
        self._events = events

    def is_set(self) -> bool:
        """Whether one of the events is set."""
        return any(event.is_set() for event in self._events)


def changes(workspace: Path, settings: IngestSettings, stop: AnyOf) -> Iterator[None]:
    """Yield once when the files are being watched, then after every burst of changes to Markdown files.

    What the system does not report, as in a folder of ``extra_paths`` that is made later, or where it has too few
    watches, is found by a look at the files now and then.  Ends with ``stop``, and with Ctrl-C.
    Raises :class:`WorkspaceError` when the workspace vanishes.
    """
    known: ScanResult | None = None
    look_at, first = 0.0, True
    for reported in _reported(workspace, settings, stop):
        if not workspace.is_dir():
            raise WorkspaceError(f"{workspace}: the workspace is gone; start again when it is back")
        if not (reported or time.monotonic() >= look_at):
            continue
        began = time.monotonic()
        try:
            found = scan(workspace, settings)
        except (WorkspaceError, SettingsError):
            found = None  # whoever reads the files says why
        look_at = time.monotonic() + max(_LOOK, _PAUSE * (time.monotonic() - began))
        if reported or first or found != known:
            known, first = found, False
            yield


def _reported(workspace: Path, settings: IngestSettings, stop: AnyOf) -> Iterator[bool]:
    """Several times a second, whether the system reports changes."""
    from watchfiles import Change, watch

    extras = [Path(os.path.realpath(workspace / expanded(extra.path))) for extra in settings.extra_paths]

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
            yield bool(found)
    except (OSError, RuntimeError) as error:  # no free instance of inotify is a RuntimeError
        log.warning("%s: the system cannot watch it (%s); looking at the files every few seconds", workspace, error)
        with contextlib.suppress(KeyboardInterrupt):
            while not stop.is_set():
                yield False
                time.sleep(_TICK / 1000)
