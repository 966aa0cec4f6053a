"""``ingest``: update the index from the files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..config.openclaw_home import OpenClawHome, agents_in
from ..config.settings import Settings
from ..errors import OpenClawMemoryError
from ..model import IngestReport, counted
from ..system.serialize import to_json
from .context import CliContext, common_options, ingest_progress, offline_option, pull_if_missing, say

if TYPE_CHECKING:
    from ..memory import Memory


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--watch", is_flag=True, help="Stay, and ingest whenever a file changes; one line of JSON each time with --json."
)
@click.option("--lazy", is_flag=True, help="Do not embed now: searchable by keywords at once, embedded on first need.")
@offline_option
@click.option(
    "--all-agents",
    is_flag=True,
    help="For each agent of OpenClaw with a workspace; one line of JSON each with --json.",
)
@common_options
def ingest(cli: CliContext, paths: tuple[str, ...], watch: bool, lazy: bool, all_agents: bool) -> None:
    """Read what changed in the workspace (or below PATH) into the index.

    Unchanged files cost a look at their size and time; inside a changed file only changed lines are
    embedded again.  PATH is a file or folder, relative to here or to the workspace, or @NAME/... for
    one of ingest.extra_paths.

    \b
      openclaw-memory ingest
      openclaw-memory ingest memory/2026-03-03.md
      openclaw-memory ingest --watch
    """
    settings = cli.settings()
    # This process ends before a background thread would have embedded anything.
    mode = "lazy" if lazy or settings.ingest.embed == "lazy" else "eager"
    if all_agents:
        if paths or watch or cli.db:
            raise click.UsageError("--all-agents goes with no PATH, no --watch and no --db, which are of one agent")
        _ingest_all(cli, settings, mode)
        return
    with cli.memory(settings) as memory:
        report = _read(cli, memory, paths, mode)
        _show(cli, report, watch)
        if not watch:
            memory.close()
            _keep(cli, settings, report)
            return
        cli.remark(f"watching {memory.workspace}; end with Ctrl-C")
        warning = report.warning
        try:
            for number, report in enumerate(memory.watch(paths=paths, embed=mode)):
                # The first is the ingest that was just shown, unless a file has changed since.
                if number or report.added or report.updated or report.deleted:
                    _show(cli, report, watch, warning)
                    warning = report.warning
        except KeyboardInterrupt:
            pass


def _read(cli: CliContext, memory: Memory, paths: tuple[str, ...], mode: str) -> IngestReport:
    pull_if_missing(cli, memory)  # with --lazy too: the first search that needs it must not wait for a download
    with ingest_progress(cli) as show:
        return memory.ingest(paths, embed=mode, progress=show)


def _keep(cli: CliContext, settings: Settings, report: IngestReport) -> None:
    """Read a new index for the first question of another process, which then need not; one that wrote keeps nothing."""
    if 2 * report.added > report.chunks:
        with suppress(OpenClawMemoryError), cli.memory(settings) as memory:
            memory.load()


def _ingest_all(cli: CliContext, settings: Settings, mode: str) -> None:
    """Ingest the workspace of each agent that OpenClaw is configured for; exits 1 after the last if one failed."""
    home, failed, exists = OpenClawHome.for_environment(), False, False
    for agent in agents_in(home.config()):
        folder = home.workspace(agent)
        if folder is None or not folder.is_dir():
            continue
        exists = True
        cli.say(f"agent {agent}")
        try:
            own = replace(cli, agent=agent, workspace=str(folder))
            with own.memory(settings) as memory:
                report = _read(own, memory, (), mode)
        except (OpenClawMemoryError, OSError) as error:
            failed = True
            say(f"error: agent {agent}: {' '.join(str(error).split())}", err=True)
            if cli.json:
                cli.emit({"agentId": agent, "ok": False, "error": str(error)}, one_line=True)
        else:
            if cli.json:
                cli.emit({"agentId": agent, **to_json(report)}, one_line=True)
            else:
                _show(cli, report, watch=False)
            _keep(own, settings, report)
    if not exists:
        cli.remark("OpenClaw has no agent whose workspace is there; name a folder: openclaw-memory -w DIR ingest")
    if failed:
        raise click.exceptions.Exit(1)


def _show(cli: CliContext, report: IngestReport, watch: bool, shown: str | None = None) -> None:
    """Print a report without a warning that was ``shown`` before."""
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
    cli.remark(report.warning if report.warning != shown else None)
