"""Waiting for changes of the files that ingest reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from ..settings import IngestSettings


def changes(workspace: Path, settings: IngestSettings, stop: threading.Event) -> Iterator[None]:
    """Yield once for every burst of changes to Markdown files, after a quiet time; ends with ``stop``."""
    from watchfiles import Change, watch

    roots = [workspace, *(Path(extra.path).expanduser() for extra in settings.extra_paths)]

    def concerns(change: Change, path: str) -> bool:
        return path.lower().endswith(".md") or Path(path).name == settings.ignore_file

    for _ in watch(
        *(root for root in roots if root.exists()),
        watch_filter=concerns,
        debounce=settings.watch_debounce_ms,
        step=min(50, settings.watch_debounce_ms),
        stop_event=stop,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        yield
