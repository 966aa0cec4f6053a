"""``import``: write the memories of other programs as notes, and remove them with ``--undo``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..config.workspace import expand_home
from ..importers import exports, writer
from ..ingest.scan import max_bytes
from ..model import ImportReport, Origin, counted
from .context import CliContext, common_options, model_progress, say, shorten, yes_option


@click.command("import")
@click.argument("source", type=click.Choice(["chatgpt", "claude", "mem0", "memory-lancedb", "jsonl"]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--trust", type=click.Choice(("untrusted", "agent", "owner")), default="untrusted", show_default=True,
              help="How far the notes are trusted.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Take out what was imported from SOURCE and not edited since.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@yes_option
@common_options
def import_(cli: CliContext, source: str, path: Path | None, trust: str, undo: bool, dry_run: bool, yes: bool) -> None:
    """Write the memories of SOURCE in PATH as notes into memory/imported/SOURCE.

    PATH is the file, the ZIP archive or the folder of the export.  The same again writes nothing; what has changed in a
    newer export is brought up to date, and a note that you have edited is left as it is and named.
    """
    if path is None and not undo:
        raise click.UsageError(f"name the export: import {source} PATH")
    ask = cli.must_ask(yes, dry_run)
    if dry_run or ask:
        report = _run(cli, source, path, trust, undo, True)
        cli.answer(report, _show)
        if dry_run or not report.changes:
            return
        if not click.confirm("Go on?", default=False):
            say("nothing was changed")
            return
    cli.answer(_run(cli, source, path, trust, undo, False), _show)


def _run(cli: CliContext, source: str, path: Path | None, trust: str, undo: bool, dry_run: bool) -> ImportReport:
    from ..forget.masking import mask_for_index

    workspace = cli.find_workspace()
    if undo or path is None:
        return writer.undo(workspace, source, dry_run)
    settings = cli.settings()
    with model_progress(cli) as show, cli.memory() as memory:
        memory.forgotten.check()
        mask = partial(mask_for_index, memory.forgotten)
        entries = exports.entries(source, expand_home(path), settings.consolidate.time_zone, show)
        most = max_bytes(settings.ingest)
        report = writer.write_entries(workspace, source, entries, Origin(trust), most, dry_run, mask)
    if not report.entries and report.skipped:
        first = report.skipped[0]
        raise exports.ExportError(
            f"{first.path}: {first.reason}; nothing was imported: look whether this is an export of {source}"
        )
    return report


def _show(cli: CliContext, report: ImportReport) -> None:
    would = "would " if report.dry_run else ""
    for verb, past, paths in (
        ("write", "wrote", report.written),
        ("update", "updated", report.updated),
        ("remove", "removed", report.removed),
    ):
        if paths:
            say(f"{would + verb if would else past} {counted(len(paths), 'note')}")
            for line in shorten(paths):
                say(f"  {line}")
    if not report.changes:
        say("nothing to change")
    if report.unchanged:
        say(f"{counted(report.unchanged, 'note')} as before")
    edited = [f"{path}: was edited since it was imported; it is left as it is" for path in report.edited]
    skipped = [f"passed over {each.path}: {each.reason}" for each in report.skipped]
    for remark in (*shorten(edited), *shorten(skipped)):
        cli.remark(remark)
    if report.changes and not report.dry_run:
        say("next: openclaw-memory ingest")
