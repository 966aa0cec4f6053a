"""``import``: write the memories of other programs as notes, and remove them with ``--undo``.

A folder of notes, such as a vault of Obsidian, is read where it is, as one in ``ingest.extra_paths``.  That is in the
settings of the person, never in the workspace: an agent or a note that may write there must not have other folders
read.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from functools import partial
from itertools import chain, count
from pathlib import Path

import click

from ..config.settings import ExtraPath
from ..config.workspace import expand_home
from ..errors import SettingsError, WorkspaceError
from ..importers import exports, writer
from ..ingest.scan import max_bytes
from ..model import ImportReport, Origin, counted
from .config import set_value, settings_file
from .context import CliContext, common_options, model_progress, say, shorten, yes_option

_KEY = "ingest.extra_paths"


@click.command("import")
@click.argument("source", type=click.Choice(["folder", "chatgpt", "claude", "mem0", "memory-lancedb", "jsonl"]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--trust", type=click.Choice(("untrusted", "agent", "owner")),
              help="How far the notes are trusted: a folder as your own unless told, an export not.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Take out what was imported from SOURCE and not edited since.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@yes_option
@common_options
def import_(
    cli: CliContext, source: str, path: Path | None, trust: str | None, undo: bool, dry_run: bool, yes: bool
) -> None:
    """Write the memories of SOURCE in PATH as notes into memory/imported/SOURCE.

    PATH is the file, the ZIP archive or the folder of the export.  The same again writes nothing; what has changed in a
    newer export is brought up to date, and a note that you have edited is left as it is and named.  A folder or a
    file of notes, such as an Obsidian vault, is not copied: it is read where it is, in ingest.extra_paths.
    """
    if path is None and (not undo or source == "folder"):
        raise click.UsageError(f"name the {'folder' if source == 'folder' else 'export'}: import {source} PATH")
    ask = cli.must_ask(yes, dry_run)
    if source == "folder":
        assert path is not None
        read_live(cli, path, trust or "owner", undo=undo, dry_run=dry_run, ask=ask)
        return
    trust = trust or "untrusted"
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


def read_live(
    cli: CliContext, root: Path, trust: str, *, undo: bool = False, dry_run: bool = False, ask: bool = True
) -> None:
    """Add the folder or file ``root`` to the setting for this workspace, or take it out; its notes stay as they are.

    Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` for what is not there and for a setting that stands
    where this command cannot write it.
    """
    folder = os.path.realpath(os.path.expanduser(root))
    if not undo and not os.path.exists(folder):
        raise WorkspaceError("no such folder", "name the one that holds the notes", root)
    settings, origins = cli.load_settings()
    file = settings_file(cli)
    if origins[_KEY] not in ("default", str(file)):
        raise SettingsError(f"{origins[_KEY]}: has {_KEY}, which counts above {file}", "add it there")
    workspace = cli.find_workspace()
    roots = settings.ingest.extra_paths
    own = [each for each in roots if each.belongs_to(workspace)]
    same = [each for each in own if os.path.realpath(os.path.expanduser(each.path)) == folder]
    before, after = ([_as_written(each) for each in roots if each not in without] for without in ([], same))
    if not undo:
        name = same[-1].name if same else _name(Path(folder), {each.name.casefold() for each in own})
        after.append({"path": folder, "name": name, "origin": trust, "workspace": os.path.realpath(workspace)})
    changed = sorted(map(str, before)) != sorted(map(str, after))
    done = changed and not dry_run
    cli.say(f"{file}: {_KEY} {'is' if not changed else 'would be' if dry_run or ask else 'is now'}")
    for added in after:
        place = added.get("workspace", "every workspace")
        cli.say(f"  {added['path']} as @{added['name']}, {added['origin']}, in {place}")
    if not after:
        cli.say("  nothing")
    if done and ask and not click.confirm("Write this setting?", default=False):
        say("nothing was changed")
        return
    if done:
        set_value(file, _KEY, after)
    if cli.json:
        report = {"source": "folder", "config": str(file), "setting": _KEY, "before": before, "after": after}
        cli.emit({**report, "dryRun": dry_run, "changed": changed})
    if done:
        cli.say("next: openclaw-memory ingest")


def _as_written(root: ExtraPath) -> dict[str, str]:
    """Return the members of a root that a settings file has."""
    return {key: value for key, value in asdict(root).items() if value and (key, value) != ("kind", "note")}


def _name(folder: Path, taken: set[str]) -> str:
    """Name the root as its folder is named, as far as a name may hold it; one that is ``taken`` gets a number."""
    name = re.sub(r"[^\w.-]+", "-", folder.name).strip("-.") or "notes"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each.casefold() not in taken)
