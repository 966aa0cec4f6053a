"""Progress on stderr: bars on a terminal, elsewhere a line now and then; none beside JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ..model import Progress, silent
from .context import say

if TYPE_CHECKING:
    from ..memory import Memory
    from .context import CliContext

_TITLES = {
    "read": "reading files",
    "export": "reading the export",
    "embed": "embedding",
    "consolidated": "consolidating",
    "map": "drawing",
}
#: Seconds between two lines where there is no terminal.
_EVERY = 10.0


def ingest_progress(cli: CliContext) -> AbstractContextManager[Progress]:
    """Return a callback for ingest: a bar with counts and the time left per stage, or lines."""
    return _bars(cli, "MofNCompleteColumn")


def model_progress(cli: CliContext) -> AbstractContextManager[Progress]:
    """Return a callback for downloads in bytes: a bar per stage, or lines."""
    return _bars(cli, "DownloadColumn")


def pull_if_missing(cli: CliContext, memory: Memory) -> None:
    """Download the configured model if it is missing, with a bar; the report of the ingest has a failure."""
    with model_progress(cli) as show:
        memory.pull_model(show)


def _lines(size: float) -> Progress:
    """Return a callback that prints a line every ten seconds, in megabytes if ``size`` is a million."""
    printed = time.monotonic()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal printed
        if time.monotonic() - printed >= _EVERY:
            printed = time.monotonic()
            amount = f"{done / size:.0f}" + (f" of {total / size:.0f}" if total else "") + (" MB" if size > 1 else "")
            say(f"{_TITLES.get(stage, stage)}: {amount}", err=True)

    return show


@contextmanager
def _bars(cli: CliContext, amount: str) -> Iterator[Progress]:
    if not cli.shows_progress:
        yield silent if cli.json else _lines(1e6 if amount == "DownloadColumn" else 1)
        return
    from rich import progress

    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), getattr(progress, amount)())
    tasks: dict[str, Any] = {}
    with progress.Progress(*columns, progress.TimeRemainingColumn(), console=cli.err, transient=True) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_TITLES.get(stage, stage), total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield show
