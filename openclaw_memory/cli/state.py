"""``state``: show or delete usage, feedback, forgotten items and permissions, which outlive the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..model import counted
from .context import CliContext, common_options, yes_option

if TYPE_CHECKING:
    from ..store.state import State


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
    if cli.must_ask(yes):
        came_back = "Have everything that was forgotten come back from the notes that still hold it?"
        click.confirm(came_back if forgotten else "Delete the state of this workspace for good?", abort=True)
    with cli.memory() as memory:
        if forgotten:
            _give_up_forgotten(memory.state)
            done = "nothing is forgotten any more; run: openclaw-memory ingest"
        else:
            memory.state.purge()
            done = "deleted"
        if cli.json:
            cli.emit(memory.state.report())
        cli.say(done)


def _give_up_forgotten(state: State) -> None:
    from ..forget.tombstones import NAME

    with state.writing(NAME) as connection:
        connection.execute("DELETE FROM tombstones")
        connection.execute("DELETE FROM forgetting")
    state.wipe()
