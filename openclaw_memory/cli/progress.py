"""Progress bars on stderr, for a terminal only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model import Progress
    from .context import CliContext

_TITLES = {"read": "reading files", "embed": "embedding", "consolidated": "consolidating"}


@contextlib.contextmanager
def ingest_progress(cli: CliContext) -> Iterator[Progress]:
    """A callback for ingest: a bar with counts and the time left per stage, or silence."""
    from ..model import silent

    if not cli.shows_progress:
        yield silent
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=cli.err, transient=True) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_TITLES.get(stage, stage), total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def pull_if_missing(cli: CliContext, memory: Any) -> None:
    """Get the default model when it is missing, with a bar; the report of the ingest says if that failed."""
    if memory.resolve_embedder().embedder is None:
        with model_progress(cli) as show:
            memory.pull_model(show)


@contextlib.contextmanager
def model_progress(cli: CliContext) -> Iterator[Any]:
    """A callback ``(stage, done bytes, total bytes)`` for model downloads."""
    if not cli.shows_progress:
        yield lambda stage, done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    tasks: dict[str, Any] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=cli.err, transient=True) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield show
