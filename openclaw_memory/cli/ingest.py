"""``ingest``: bring the index to the state of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .context import CliContext, common_options

if TYPE_CHECKING:
    from ..types import IngestReport


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--watch", is_flag=True, help="Stay, and ingest whenever a file changes.")
@click.option("--lazy", is_flag=True, help="Do not embed now: searchable by keywords at once, embedded on first need.")
@click.option("--offline", is_flag=True, help="Do not download a missing model.")
@common_options
def ingest(cli: CliContext, paths: tuple[str, ...], watch: bool, lazy: bool, offline: bool) -> None:
    """Read what changed in the workspace (or below PATH) into the index.

    Unchanged files cost a look at their size and time; inside a changed file only changed lines are
    embedded again.
    """
    from .progress import ingest_progress, pull_if_missing

    settings = cli.settings(embedding__offline=True if offline else None)
    with cli.memory(settings) as memory:
        if not lazy:
            pull_if_missing(cli, memory)
        with ingest_progress(cli) as show:
            report = memory.ingest(paths, embed="lazy" if lazy else "eager", progress=show)
        _show(cli, report)
        if not watch:
            return
        cli.remark(f"watching {memory.workspace}; end with Ctrl-C")
        try:
            for number, report in enumerate(memory.watch()):
                if number:  # the first is the ingest that was just shown
                    _show(cli, report)
        except KeyboardInterrupt:
            pass


def _show(cli: CliContext, report: IngestReport) -> None:
    if cli.json:
        cli.emit(report)
        return
    click.echo(
        f"{report.files} files, {report.chunks} units: {report.added} added, {report.updated} updated, "
        f"{report.deleted} deleted, {report.unchanged} unchanged; {report.embedded} embedded"
        + (f", {report.pending} pending" if report.pending else "")
        + f"; {report.seconds:.2f} s"
    )
    for skipped in report.skipped:
        click.echo(f"skipped {skipped.path}: {skipped.reason}", err=True)
    cli.remark(report.warning)
