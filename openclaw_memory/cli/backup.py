"""``backup`` and ``restore``: state, curated files and settings in one archive."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

import click

from ..errors import SettingsError, WorkspaceError
from ..version import __version__
from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..config.settings import Settings
    from ..memory import Memory

#: Name of the manifest in an archive, and the version of the layout.
_MANIFEST, _FORMAT = "manifest.json", 1
_STATE, _KEY, _SETTINGS = "state.sqlite", "state.sqlite.key", "settings.yaml"
_ENTRIES = (_SETTINGS, "concepts.yaml", "facts.yaml", _STATE, _KEY)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--with-key", is_flag=True, help="The key of what was forgotten too: with both, those words can be guessed."
)
@common_options
def backup(cli: CliContext, file: Path, with_key: bool) -> None:
    """Write to FILE what can be made again from nothing else: the state, concepts.yaml, facts.yaml and the settings.

    The notes are not in it, as they are files of yours, and the index is not, as ingest makes it again.  Only you can
    read FILE, a ZIP archive.  Without the key nothing is read where it is restored until the key is there again.

    \b
      openclaw-memory backup memory-backup.zip --with-key
      openclaw-memory restore memory-backup.zip --dry-run
    """
    from .config import settings_file

    with cli.memory() as memory, tempfile.TemporaryDirectory() as folder:
        report, files = memory.state.report(), _curated_files(memory, settings_file(cli))
        if report.exists:
            files[_STATE] = Path(folder) / _STATE
            memory.state.backup(files[_STATE], with_key)
            if (key := Path(folder) / _KEY).exists():
                files[_KEY] = key
        _write(file, {name: path for name, path in files.items() if path.is_file()})
    held = [name for name in _ENTRIES if name in files and (name in (_STATE, _KEY) or files[name].is_file())]
    keyless = report.tombstones and _KEY not in held
    warning = "the key of what was forgotten is not in it; keep it too, or give --with-key" if keyless else None
    if cli.json:
        cli.emit({"file": str(file.absolute()), "bytes": file.stat().st_size, "holds": held, "warning": warning})
    cli.say(f"{file}: {', '.join(held) or 'nothing, as there is nothing yet'}")
    cli.remark(warning)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--dry-run", is_flag=True, help="Only show what would be written where.")
@click.option("--overwrite", is_flag=True, help="Replace what is here and differs.")
@common_options
def restore(cli: CliContext, file: Path, dry_run: bool, overwrite: bool) -> None:
    """Put what the backup FILE holds where this workspace and these settings have it.

    Whatever is there already and differs is named and nothing is written, unless --overwrite is given; so is an address
    in its settings, such as an endpoint that would be sent what you write.
    """
    from ..forget.operations import schedule_forgetting
    from ..knowledge.concepts_file import FILE_NAME as CONCEPTS
    from ..model import counted, joined
    from ..system import atomic
    from .config import settings_file

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        held = _extract(file, folder)
        # They may place the state elsewhere than the settings of now do.
        settings, new = _settings_of(cli, file, held.get(_SETTINGS), overwrite or dry_run)
        memory = stack.enter_context(cli.memory(settings))
        places = _curated_files(memory, settings_file(cli))
        report = memory.state.report()
        plan = []
        for name, source in held.items():
            if name in (_STATE, _KEY):
                to = str(report.path if name == _STATE else report.key)
                # Keys are added to those that are here.
                action = "replace" if name == _STATE and report.exists else "write"
            else:
                to, target = str(places[name]), places[name]
                atomic.check_regular(target)
                same = target.is_file() and target.read_bytes() == source.read_bytes()
                action = "same" if same else "replace" if target.exists() else "write"
            plan.append({"name": name, "to": to, "action": action})
        replaced = [row["to"] for row in plan if row["action"] == "replace"]
        if replaced and not overwrite and not dry_run:
            raise WorkspaceError(
                f"nothing was restored: {', '.join(replaced)} would be replaced", "see --dry-run, or give --overwrite"
            )
        since = 0
        if not dry_run:
            if _STATE in held:  # first, as it may be unusable
                try:
                    since = memory.state.restore(held[_STATE])
                except WorkspaceError as error:
                    why = str(error).replace(str(held[_STATE]), _STATE)
                    raise WorkspaceError(f"{file}: nothing was restored: {why}") from error
                # A workspace that had no state has a name for it now.
                report = memory.state.report()
                now = {_STATE: str(report.path), _KEY: str(report.key)}
                plan = [{**row, "to": now.get(row["name"], row["to"])} for row in plan]
            for row in plan:
                if row["name"] in places and row["action"] != "same":
                    mode = 0o600 if row["name"] == _SETTINGS else 0o666
                    atomic.write_bytes(Path(os.path.realpath(row["to"])), held[row["name"]].read_bytes(), mode)
            if report.tombstones or since:
                schedule_forgetting(memory.state)
        forgot = [f"{counted(since, 'phrase')} forgotten since this backup was made stay so"] if since else []
        if (concepts := held.get(CONCEPTS)) and memory.forgotten.covers(concepts.read_text(encoding="utf-8")):
            forgot.append(f"{CONCEPTS} names what was forgotten; take it out there")
    _show(cli, file, plan, new, dry_run, joined(forgot))


def _curated_files(memory: Memory, settings: Path) -> dict[str, Path]:
    """Return the files that people write, by their names in an archive."""
    from ..knowledge.concepts_file import FILE_NAME
    from ..knowledge.facts_file import NAME

    return {_SETTINGS: settings, FILE_NAME: memory.workspace / FILE_NAME, NAME: memory.workspace / NAME}


def _settings_of(cli: CliContext, file: Path, restored: Path | None, taken: bool) -> tuple[Settings, list[str]]:
    """Return the settings that will be in force, and the addresses in them that are not in force now.

    Raises ``SettingsError`` for restored settings that are invalid here, or have new addresses without ``taken``.
    """
    from ..config.settings import load

    if restored is None:
        return cli.settings(), []
    try:
        settings = load(restored, cli.overrides, index=cli.db)[0]
    except SettingsError as error:
        why = str(error).replace(str(restored), _SETTINGS)
        raise SettingsError(f"{file}: nothing was restored: {why}") from error
    current = set()
    with suppress(SettingsError):  # there may be none yet
        current = _addresses(cli.settings())
    if new := sorted(_addresses(settings) - current):
        what = f"its settings name what yours do not: {', '.join(new)}"
        if not taken:
            raise SettingsError(f"nothing was restored: {what}", "give --overwrite to take that too", file)
        cli.remark(what)
    return settings, new


def _addresses(settings: Settings) -> set[str]:
    """Return the settings that are network addresses, without passwords and queries."""
    from urllib.parse import urlsplit

    from ..config.coerce import walk

    addresses = set()
    for key, value, _ in walk(settings):
        for text in map(str, value if isinstance(value, (list, tuple)) else [value]):
            if "://" in text:
                parts = urlsplit(text)
                bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
                addresses.add(f"{key} ({bare.geturl()})")
    return addresses


def _write(file: Path, files: dict[str, Path]) -> None:
    """Write the archive ``file``, readable by its owner only.  Raises ``WorkspaceError`` if it exists."""
    manifest = {"format": _FORMAT, "version": __version__, "made": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        raise WorkspaceError("is there already", "name a new file", file) from None
    try:
        with open(handle, "wb") as out, ZipFile(out, "w", ZIP_DEFLATED, strict_timestamps=False) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest))
            for name, path in files.items():
                archive.write(path, name)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _extract(file: Path, folder: Path) -> dict[str, Path]:
    """Extract our entries of the archive into ``folder``.  Raises ``WorkspaceError`` for another or a damaged file."""
    from ..system.archives import DAMAGED, has_zip_signature

    try:
        with ZipFile(file) as archive:
            manifest: Any = json.loads(archive.read(_MANIFEST))
            if manifest["format"] > _FORMAT:
                newer = f"a newer openclaw-memory ({manifest['version']})"
                raise WorkspaceError(f"was written by {newer}", "install that or a newer one", file)
            names = [name for name in _ENTRIES if name in archive.namelist()]
            return {name: Path(archive.extract(name, folder)) for name in names}
    except (*DAMAGED, KeyError, TypeError, ValueError) as error:
        if isinstance(error, DAMAGED) and has_zip_signature(file):
            raise WorkspaceError(f"is damaged ({error})", "take another copy of it", file) from error
        raise WorkspaceError("is no backup", "name one that 'openclaw-memory backup' wrote", file) from error


def _show(
    cli: CliContext,
    file: Path,
    plan: list[dict[str, str]],
    addresses: list[str],
    dry_run: bool,
    warning: str | None,
) -> None:
    if cli.json:
        answer = {"file": str(file.absolute()), "dryRun": dry_run, "entries": plan, "addresses": addresses}
        cli.emit({**answer, "warning": warning})
        return
    cli.remark(warning)
    will = {"write": "would write", "replace": "would replace", "same": "is the same"}
    done = {"write": "written", "replace": "replaced", "same": "is the same"}
    for row in plan:
        say(f"{row['name']:<{len(_KEY)}}  {(will if dry_run else done)[row['action']]}  {row['to']}")
    if not plan:
        say(f"{file}: holds nothing")
    elif not dry_run:
        say("next: openclaw-memory ingest")
