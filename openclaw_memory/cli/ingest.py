"""``ingest``: bring the index to the state of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..types import IngestReport


@click.command(short_help="Read what changed into the index.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--watch", is_flag=True, help="Stay, and ingest whenever a file changes; one line of JSON each time with --json."
)
@click.option("--lazy", is_flag=True, help="Do not embed now: searchable by keywords at once, embedded on first need.")
@click.option("--offline", is_flag=True, help="Do not download a missing model.")
@common_options
def ingest(cli: CliContext, paths: tuple[str, ...], watch: bool, lazy: bool, offline: bool) -> None:
    """Read what changed in the workspace (or below PATH) into the index.

    Unchanged files cost a look at their size and time; inside a changed file only changed lines are
    embedded again.  PATH is a file or folder, relative to here or to the workspace, or @NAME/... for
    one of ingest.extra_paths.
    """
    from .progress import ingest_progress, pull_if_missing

    settings = cli.settings(embedding__offline=True if offline else None)
    # In the background of a process that ends would be never.
    how = "lazy" if lazy or settings.ingest.embed == "lazy" else "eager"
    with cli.memory(settings) as memory:
        pull_if_missing(cli, memory)  # with --lazy too: the first search that needs it must not wait for a download
        with ingest_progress(cli) as show:
            report = memory.ingest(paths, embed=how, progress=show)
        _show(cli, report, watch)
        if not watch:
            return
        cli.remark(f"watching {memory.workspace}; end with Ctrl-C")
        told = report.warning
        try:
            for number, report in enumerate(memory.watch(paths=paths, embed=how)):
                # The first is the ingest that was just shown, unless a file has changed since.
                if number or report.added or report.updated or report.deleted:
                    _show(cli, report, watch, told)
                    told = report.warning
        except KeyboardInterrupt:
            pass


def _show(cli: CliContext, report: IngestReport, watch: bool, told: str | None = None) -> None:
    """Print a report; a warning that equals ``told`` is not repeated."""
    from ..types import counted

    if cli.json:
        cli.emit(report, one_line=watch)
        return
    say(
        f"{counted(report.files, 'file')}, {counted(report.chunks, 'unit')}: {report.added} added, "
        f"{report.updated} updated, {report.deleted} deleted, {report.unchanged} unchanged; "
        f"{report.embedded} embedded"
        + (f", {report.pending} pending" if report.pending else "")
        + f"; {report.seconds:.2f} s"
    )
    for skipped in report.skipped:
        cli.remark(f"{skipped.path} was skipped: {skipped.reason}")
    cli.remark(report.warning if report.warning != told else None)
