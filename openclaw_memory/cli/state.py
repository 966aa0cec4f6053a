"""``state``, ``backup`` and ``restore``: what outlives the index, shown, deleted, saved and put back."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

import click

from ..config.settings import Settings, load, walk
from ..errors import SettingsError, WorkspaceError
from ..knowledge import CONCEPTS, FACTS
from ..model import counted, joined
from ..system import atomic
from ..system.archives import DAMAGED, has_zip_signature
from ..version import __version__
from .config import settings_file
from .context import CliContext, common_options, yes_option

if TYPE_CHECKING:
    from ..memory import Memory

#: Name of the manifest in an archive, and the version of the layout.
_MANIFEST, _FORMAT = "manifest.json", 1
_STATE, _KEY, _SETTINGS = "state.sqlite", "state.sqlite.key", "settings.yaml"
_ENTRIES = (_SETTINGS, CONCEPTS, FACTS, _STATE, _KEY)


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
    with cli.memory() as memory, tempfile.TemporaryDirectory() as folder:
        report, files = memory.state.report(), _curated_files(cli, memory)
        if report.exists:
            files |= {_STATE: Path(folder) / _STATE, _KEY: Path(folder) / _KEY}
            memory.state.backup(files[_STATE], with_key)
        files = {name: path for name, path in files.items() if path.is_file()}
        _write(file, files)
    held = [name for name in _ENTRIES if name in files]
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
    from ..forget.pending import schedule_forgetting

    with ExitStack() as stack:
        held = _extract(file, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        # They may place the state elsewhere than the settings of now do.
        settings, addresses = _settings_of(cli, file, held.get(_SETTINGS), overwrite or dry_run)
        memory = stack.enter_context(cli.memory(settings))
        files, report = _curated_files(cli, memory), memory.state.report()
        # Keys are added to those that are here.
        actions = {name: "replace" if name == _STATE and report.exists else "write" for name in held}
        for name in held.keys() & files.keys():
            atomic.check_regular(files[name])
            if files[name].exists():
                actions[name] = "same" if files[name].read_bytes() == held[name].read_bytes() else "replace"
        places = {**files, _STATE: report.path, _KEY: report.key}
        replaced = [str(places[name]) for name, action in actions.items() if action == "replace"]
        if replaced and not overwrite and not dry_run:
            what = f"nothing was restored: {', '.join(replaced)} would be replaced"
            raise WorkspaceError(what, "see --dry-run, or give --overwrite")
        since = 0
        if not dry_run:
            if _STATE in held:  # first, as it may be unusable
                try:
                    since = memory.state.restore(held[_STATE])
                except WorkspaceError as error:
                    why = str(error).replace(str(held[_STATE]), _STATE)
                    raise WorkspaceError(f"{file}: nothing was restored: {why}") from error
                report = memory.state.report()  # a workspace that had no state has a name for it now
                places |= {_STATE: report.path, _KEY: report.key}
            for name in held.keys() & files.keys():
                if actions[name] != "same":
                    mode = 0o600 if name == _SETTINGS else 0o666
                    atomic.write_bytes(Path(os.path.realpath(files[name])), held[name].read_bytes(), mode)
            if report.tombstones or since:
                schedule_forgetting(memory.state)
        forgot = [f"{counted(since, 'phrase')} forgotten since this backup was made stay so"] if since else []
        if CONCEPTS in held and memory.forgotten.covers(held[CONCEPTS].read_text(encoding="utf-8")):
            forgot.append(f"{CONCEPTS} names what was forgotten; take it out there")
    plan = [{"name": name, "to": str(places[name]), "action": action} for name, action in actions.items()]
    if cli.json:
        answer = {"file": str(file.absolute()), "dryRun": dry_run, "entries": plan, "addresses": addresses}
        cli.emit({**answer, "warning": joined(forgot)})
    cli.remark(joined(forgot))
    words = {
        "write": ("would write", "written"),
        "replace": ("would replace", "replaced"),
        "same": ("is the same",) * 2,
    }
    for row in plan:
        cli.say(f"{row['name']:<{len(_KEY)}}  {words[row['action']][not dry_run]}  {row['to']}")
    if not plan:
        cli.say(f"{file}: holds nothing")
    elif not dry_run:
        cli.say("next: openclaw-memory ingest")


def _curated_files(cli: CliContext, memory: Memory) -> dict[str, Path]:
    """Return the files that people write, by their names in an archive."""
    folder = memory.workspace
    return {_SETTINGS: settings_file(cli), CONCEPTS: folder / CONCEPTS, FACTS: folder / FACTS}


def _settings_of(cli: CliContext, file: Path, restored: Path | None, taken: bool) -> tuple[Settings, list[str]]:
    """Return the settings that will be in force, and the addresses in them that are not in force now.

    Raises ``SettingsError`` for restored settings that are invalid here, or have new addresses without ``taken``.
    """
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


@click.group(invoke_without_command=True)
@common_options
def state(cli: CliContext) -> None:
    """Show where what no note says lies, and what it holds: use, verdicts, what was forgotten, retired notes, opt-ins.

    It is one SQLite file a workspace, or on the server of store.url, shared by all agents; an index can be made again
    from the notes, this cannot; 'openclaw-memory backup' keeps it.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return

    with cli.memory() as memory:
        report = memory.state.report()
    if cli.json:
        cli.emit(report)
    cli.say(f"state      {report.server or report.path}{'' if report.exists else ' (nothing is in it yet)'}")
    key = "" if report.key_present or not report.tombstones else " (MISSING)"
    cli.say(f"key        {report.key}{key}")
    cli.say(f"forgotten  {counted(report.tombstones, 'phrase')}, as hashes")
    cli.say(f"use        {counted(report.units, 'unit')}, {counted(report.verdicts, 'verdict')}")
    cli.say(f"retired    {counted(report.retired, 'note')}")
    cli.say(f"heartbeat  {'writes' if report.automatic else 'reports only'}")
    cli.remark(report.warning)


@state.command(short_help="Delete it: verdicts, opt-ins, and what was forgotten may come back.")
@click.option("--forgotten", is_flag=True, help="Only give up what was forgotten, as when its key is lost for good.")
@yes_option
@common_options
def purge(cli: CliContext, forgotten: bool, yes: bool) -> None:
    """Delete the state of this workspace, its key and its identity.  Notes and index files stay; on a server the index
    of the agent goes too.

    Notes that still have what was forgotten are indexed again.
    """
    from ..forget.tombstones import NAME

    if cli.must_ask(yes):
        came_back = "Have everything that was forgotten come back from the notes that still hold it?"
        click.confirm(came_back if forgotten else "Delete the state of this workspace for good?", abort=True)
    with cli.memory() as memory:
        if forgotten:
            with memory.state.writing(NAME) as connection:
                connection.execute("DELETE FROM tombstones")
                connection.execute("DELETE FROM forgetting")
            memory.state.wipe()
            done = "nothing is forgotten any more; run: openclaw-memory ingest"
        else:
            memory.state.purge()
            done = "deleted"
        if cli.json:
            cli.emit(memory.state.report())
        cli.say(done)
