"""``state``: what people and agents did, which outlives the index: show, back up, restore, give up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..store.state import State

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group(short_help="What was forgotten, judged and allowed: show, back up, restore.", invoke_without_command=True)
@common_options
def state(cli: CliContext) -> None:
    """Show, back up or restore what no note says: use, verdicts, what was forgotten, retired notes, opt-ins.

    It is one SQLite file a workspace, or on the server of store.url, shared by all agents; an index can be made again
    from the notes, this cannot.
    """
    if click.get_current_context().invoked_subcommand is None:
        _show(cli)


@state.command(short_help="Show where it lies and what it holds (the default).")
@common_options
def show(cli: CliContext) -> None:
    """Show where the state and its key lie, and what it holds."""
    _show(cli)


def _show(cli: CliContext) -> None:
    from ..model import counted

    with cli.memory() as memory:
        report = memory.state.report()
    if cli.json:
        cli.emit(report)
        return
    say(f"state      {report.server or report.path}{'' if report.exists else ' (nothing is in it yet)'}")
    key = "" if report.key_present or not report.tombstones else " (MISSING)"
    say(f"key        {report.key}{key}")
    say(f"forgotten  {counted(report.tombstones, 'phrase')}, as hashes")
    say(f"use        {counted(report.units, 'unit')}, {counted(report.verdicts, 'verdict')}")
    say(f"retired    {counted(report.retired, 'note')}")
    say(f"heartbeat  {'writes' if report.automatic else 'reports only'}")
    cli.remark(report.warning)


@state.command(short_help="Write it to a new file.")
@click.argument("file", type=_FILE)
@click.option("--with-key", is_flag=True, help="Write FILE.key too: with both, forgotten words can be guessed.")
@common_options
def backup(cli: CliContext, file: Path, with_key: bool) -> None:
    """Write the state to FILE, as of one moment, also while others use it.

    Without the key a backup cannot tell what was forgotten, and nothing is read where it is restored until the key is
    there again.
    """
    with cli.memory() as memory:
        memory.state.backup(file.absolute(), with_key)
        key = f", its key in {file}.key" if Path(f"{file}.key").exists() else ""
        _told(cli, memory.state, f"the state is in {file}{key if with_key else ''}")


@state.command(short_help="Put a backup in the place of what is here.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@common_options
def restore(cli: CliContext, file: Path, yes: bool) -> None:
    """Put the backup FILE in the place of this workspace's state; keys of FILE.key are added to those that are here."""
    with cli.memory() as memory:
        _agreed(cli, yes, "Replace what this workspace's state holds?")
        memory.state.restore(file.absolute())
        _told(cli, memory.state, f"restored from {file}; the next ingest reads what is concerned again")


@state.command("drop-tombstones", short_help="Give up what was forgotten: it may come back.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@common_options
def drop_tombstones(cli: CliContext, yes: bool) -> None:
    """Give up what was forgotten, as when its key is lost for good.  Notes that still have it are indexed again."""
    from ..forget.tombstones import NAME

    with cli.memory() as memory:
        _agreed(cli, yes, "Have everything that was forgotten come back from the notes that still hold it?")
        with memory.state.writing(NAME) as connection:
            connection.execute("DELETE FROM tombstones")
            connection.execute("DELETE FROM forgetting")
        memory.state.wipe()
        _told(cli, memory.state, "nothing is forgotten any more; run: openclaw-memory ingest")


@state.command(short_help="Delete it: verdicts, opt-ins, and what was forgotten may come back.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@common_options
def purge(cli: CliContext, yes: bool) -> None:
    """Delete the state of this workspace, its key and its identity.  Notes and indexes stay."""
    with cli.memory() as memory:
        _agreed(cli, yes, "Delete the state of this workspace for good?")
        memory.state.purge()
        _told(cli, memory.state, "deleted")


def _agreed(cli: CliContext, yes: bool, question: str) -> None:
    if yes:
        return
    if cli.json or not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: give --yes")
    click.confirm(question, abort=True)


def _told(cli: CliContext, state: State, what: str) -> None:
    if cli.json:
        cli.emit(state.report())
    else:
        say(what)
