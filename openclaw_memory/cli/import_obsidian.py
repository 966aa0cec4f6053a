"""``import obsidian``: a vault is read where it is, as one of the folders in ``ingest.extra_paths``."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path

import click

from ..errors import SettingsError, WorkspaceError
from .context import CliContext, say

_KEY = "ingest.extra_paths"


def run(cli: CliContext, vault: Path, trust: str, *, undo: bool, dry_run: bool, ask: bool) -> None:
    """Add the folder ``vault`` to the setting, or take it out; its notes stay as they are.

    Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` for what is no folder and for a setting that stands
    where this command cannot write it.
    """
    from .config import settings_file
    from .yaml_edit import set_value

    folder = os.path.realpath(os.path.expanduser(vault))
    if not undo and not os.path.isdir(folder):
        raise WorkspaceError(f"{vault}: no such folder; name the one that holds the notes of the vault")
    settings, source = cli.load_settings()
    before = [asdict(one) for one in settings.ingest.extra_paths]
    after = [one for one in before if os.path.realpath(os.path.expanduser(one["path"])) != folder]
    if not undo:
        there = next((one for one in before if one not in after), None)
        name = there["name"] if there is not None else _name(Path(folder), {one["name"].casefold() for one in after})
        after.append({"path": folder, "name": name, "origin": trust})
    file = settings_file(cli)
    if source[_KEY] not in ("default", str(file)):
        raise SettingsError(f"{source[_KEY]}: has {_KEY}, which counts above {file}; add the vault there")
    report = {"source": "obsidian", "config": str(file), "setting": _KEY, "before": before, "after": after}
    changed = sorted(map(str, before)) != sorted(map(str, after))
    if not cli.json:
        said = [f"  {one['path']} as @{one['name']}, {one['origin']}" for one in after] or ["  nothing"]
        say("\n".join([f"{file}: {_KEY} {'would be' if changed else 'is'}" if dry_run or ask or not changed
                       else f"{file}: {_KEY} is now", *said]))  # fmt: skip
    done = changed and not dry_run
    if done and ask and not click.confirm("Write this setting?", default=False):
        say("nothing was changed")
        return
    if done:
        set_value(file, _KEY, after)
    if cli.json:
        cli.emit({**report, "dryRun": dry_run, "changed": changed})
    elif done:
        say("next: openclaw-memory ingest")


def _name(folder: Path, taken: set[str]) -> str:
    """A name for the root that no other root has: the folder's, as far as a name may hold it."""
    name = re.sub(r"[^\w.-]+", "-", folder.name).strip("-.") or "vault"
    number = 1
    while (name if number == 1 else f"{name}-{number}").casefold() in taken:
        number += 1
    return name if number == 1 else f"{name}-{number}"
