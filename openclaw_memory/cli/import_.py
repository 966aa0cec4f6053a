"""``import``: what other programs remember becomes notes, and goes again with ``--undo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .context import CliContext, common_options, say, shortened, yes_option

if TYPE_CHECKING:
    from ..model import ImportReport


@click.command("import", short_help="Take over memories of other programs; shows what it would write and asks.")
@click.argument("source", type=click.Choice(["obsidian", "chatgpt", "claude", "mem0", "memory-lancedb", "jsonl"]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--trust", type=click.Choice(("untrusted", "agent", "owner")),
              help="How far the notes are trusted: a vault as your own unless told, an export not.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Take out what was imported from SOURCE and not edited since.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@yes_option
@common_options
def import_(
    cli: CliContext, source: str, path: Path | None, trust: str | None, undo: bool, dry_run: bool, yes: bool
) -> None:
    """Write the memories of SOURCE in PATH as notes into memory/imported/SOURCE.

    PATH is the file, the ZIP archive or the folder of the export.  The same again writes nothing; what has changed in a
    newer export is brought up to date, and a note that you have edited is left as it is and named.  An Obsidian vault
    is not copied: it becomes a folder of this workspace that is read where it is, in ingest.extra_paths.
    """
    if path is None and (not undo or source == "obsidian"):
        what = "vault" if source == "obsidian" else "export"
        raise click.UsageError(f"name the {what}: import {source} PATH")
    ask = cli.must_ask(yes, dry_run)
    if source == "obsidian":
        from .import_obsidian import run

        assert path is not None
        run(cli, path, trust or "owner", undo=undo, dry_run=dry_run, ask=ask)
        return
    trust = trust or "untrusted"
    if dry_run or ask:
        report = _run(cli, source, path, trust, undo, True)
        _show(cli, report)
        if dry_run or not report.changes:
            return
        if not click.confirm("Go on?", default=False):
            say("nothing was changed")
            return
    _show(cli, _run(cli, source, path, trust, undo, False))


def _run(cli: CliContext, source: str, path: Path | None, trust: str, undo: bool, dry_run: bool) -> ImportReport:
    from functools import partial

    from ..config.workspace import expanded
    from ..forget.masking import mask_for_index
    from ..importers import exports, writer
    from ..ingest.scan import max_bytes
    from ..model import Origin
    from .progress import model_progress

    workspace = cli.find_workspace()
    if undo or path is None:
        return writer.undo(workspace, source, dry_run)
    settings = cli.settings()
    with model_progress(cli) as show, cli.memory() as memory:
        memory.forgotten.check()
        mask = partial(mask_for_index, memory.forgotten)
        found = exports.entries(source, expanded(path), settings.consolidate.time_zone, show)
        report = writer.bring(workspace, source, found, Origin(trust), max_bytes(settings.ingest), dry_run, mask)
    if not report.entries and report.skipped:
        first = report.skipped[0]
        raise exports.ExportError(
            f"{first.path}: {first.reason}; nothing was imported: look whether this is an export of {source}"
        )
    return report


def _show(cli: CliContext, report: ImportReport) -> None:
    from ..model import counted

    if cli.json:
        cli.emit(report)
        return
    would = "would " if report.dry_run else ""
    for done, paths in (("write", report.written), ("update", report.updated), ("remove", report.removed)):
        if not paths:
            continue
        past = {"write": "wrote", "update": "updated", "remove": "removed"}[done]
        say(f"{would + done if would else past} {counted(len(paths), 'note')}")
        for line in shortened(paths):
            say(f"  {line}")
    if not report.changes:
        say("nothing to change")
    if report.unchanged:
        say(f"{counted(report.unchanged, 'note')} as before")
    edited = [f"{path}: was edited since it was imported; it is left as it is" for path in report.edited]
    skipped = [f"passed over {one.path}: {one.reason}" for one in report.skipped]
    for remark in (*shortened(edited), *shortened(skipped)):
        cli.remark(remark)
    if report.changes and not report.dry_run:
        say("next: openclaw-memory ingest")
