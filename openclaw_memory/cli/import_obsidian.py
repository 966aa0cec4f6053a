"""``import obsidian``: a vault is read where it is, as a folder of this workspace in ``ingest.extra_paths``.

That stands in the settings of the person, never in the workspace: who may write there, an agent or a note, must not
have other folders read.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from itertools import chain, count
from pathlib import Path

import click

from ..errors import SettingsError, WorkspaceError
from .context import CliContext, say

_KEY = "ingest.extra_paths"


def run(cli: CliContext, vault: Path, trust: str, *, undo: bool, dry_run: bool, ask: bool) -> None:
    """Add the folder ``vault`` to the setting for this workspace, or take it out; its notes stay as they are.

    Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` for what is no folder and for a setting that stands
    where this command cannot write it.
    """
    from .config import settings_file
    from .yaml_edit import set_value

    folder = os.path.realpath(os.path.expanduser(vault))
    if not undo and not os.path.isdir(folder):
        raise WorkspaceError(f"{vault}: no such folder; name the one that holds the notes of the vault")
    settings, source = cli.load_settings()
    file = settings_file(cli)
    if source[_KEY] not in ("default", str(file)):
        raise SettingsError(f"{source[_KEY]}: has {_KEY}, which counts above {file}; add the vault there")
    workspace = cli.find_workspace()
    before, after, others, kept = [], [], [], None
    for extra in settings.ingest.extra_paths:
        root = {key: value for key, value in asdict(extra).items() if value}
        before.append(root)
        if extra.belongs_to(workspace) and os.path.realpath(os.path.expanduser(extra.path)) == folder:
            kept = extra.name
            continue
        after.append(root)
        others += [root] if extra.belongs_to(workspace) else []
    if not undo:
        name = kept or _name(Path(folder), others)
        after.append({"path": folder, "name": name, "origin": trust, "workspace": os.path.realpath(workspace)})
    changed = sorted(map(str, before)) != sorted(map(str, after))
    done = changed and not dry_run
    if not cli.json:
        say(f"{file}: {_KEY} {'is' if not changed else 'would be' if dry_run or ask else 'is now'}")
        say(
            "\n".join(
                f"  {root['path']} as @{root['name']}, {root['origin']}, in {root.get('workspace', 'every workspace')}"
                for root in after
            )
            or "  nothing"
        )
    if done and ask and not click.confirm("Write this setting?", default=False):
        say("nothing was changed")
        return
    if done:
        set_value(file, _KEY, after)
    if cli.json:
        report = {"source": "obsidian", "config": str(file), "setting": _KEY, "before": before, "after": after}
        cli.emit({**report, "dryRun": dry_run, "changed": changed})
    elif done:
        say("next: openclaw-memory ingest")


def _name(folder: Path, others: list[dict[str, str]]) -> str:
    """Name the root as its folder is named, as far as a name may hold it; another root's name gets a number."""
    name = re.sub(r"[^\w.-]+", "-", folder.name).strip("-.") or "vault"
    taken = {root["name"].casefold() for root in others}
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each.casefold() not in taken)
