"""``changes`` and ``conflicts``: what the memory believes now that it did not, and what contradicts itself."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from typing import TYPE_CHECKING

import click

from .context import DATE, CliContext, common_options, say, wrong_usage
from .knowledge import span

if TYPE_CHECKING:
    from ..facts.service import FactService
    from ..model import DatedValue, FactChanges, FactConflict, FactConflicts, FactsResult


@click.command()
@click.option("--since", type=DATE, metavar="DATE", help="What changed after this day; default a week ago.")
@common_options
def changes(cli: CliContext, since: date | None) -> None:
    """Show the values that replaced others after the day --since, with both, and the decisions since then."""
    with cli.memory() as memory:
        result = memory.facts.changes(since or memory.today() - timedelta(days=7))
    cli.answer(result, _show_changes)


@click.group(invoke_without_command=True)
@common_options
@click.pass_context
def conflicts(context: click.Context, cli: CliContext) -> None:
    """Show pairs of statements that both claim to hold, with their places and days.

    On a terminal each is asked for: 1 or 2 keeps that one, Enter leaves both, q ends.
    """
    if context.invoked_subcommand is not None:
        return
    with cli.memory() as memory:
        result = memory.facts.conflicts()
        if not cli.json and sys.stdin.isatty() and sys.stdout.isatty():
            _ask(cli, memory.facts, result.conflicts)
            return
    cli.answer(result, _show_conflicts)


@conflicts.command(short_help="Keep one of two statements.")
@click.argument("id")
@click.option("--keep", type=click.IntRange(1, 2), metavar="1|2", help="The statement that holds.")
@click.option("--undo", is_flag=True, help="Take back what was settled.")
@common_options
def settle(cli: CliContext, id: str, keep: int | None, undo: bool) -> None:
    """State in facts.yaml which of the two statements of the conflict ID holds; --undo takes it back."""
    if (keep is None) != undo:
        raise click.UsageError("give --keep 1, --keep 2 or --undo")
    with cli.memory() as memory, wrong_usage():
        result = memory.facts.unsettle(id) if keep is None else memory.facts.settle(id, keep)
    cli.answer(result, _show_settled, id, undo)


def _ask(cli: CliContext, service: FactService, pairs: tuple[FactConflict, ...]) -> None:
    if not pairs:
        say("no statements contradict each other")
    for conflict in pairs:
        _show_conflict(cli, conflict)
        say("keep 1 or 2 (Enter: leave both, q: end)?")
        key = click.getchar()
        if key in ("1", "2"):
            service.settle(conflict.id, int(key))
            say(f"kept; undo: openclaw-memory conflicts settle {conflict.id} --undo")
        elif key == "q":
            return


def _show_conflicts(cli: CliContext, result: FactConflicts) -> None:
    for conflict in result.conflicts:
        _show_conflict(cli, conflict)
    if not result.conflicts:
        say("no statements contradict each other")
    else:
        say("settle one: openclaw-memory conflicts settle ID --keep 1 (or 2)")
    cli.remark(result.warning)


def _show_conflict(cli: CliContext, conflict: FactConflict) -> None:
    cli.line((conflict.subject, "bold"), (f" · {conflict.predicate}  [{conflict.id}]", "dim"))
    for number, value in enumerate((conflict.first, conflict.second), 1):
        cli.line(f"  {number}  {value.object}", (f"  {_place(value)}", "dim"))


def _place(value: DatedValue) -> str:
    days = span(value.valid_from, value.valid_to) or "no day"
    return f"[{', '.join(filter(None, (days, value.source)))}]"


def _show_settled(cli: CliContext, result: FactsResult, id: str, undo: bool) -> None:
    if undo:
        say("taken back: both statements hold again")
    else:
        for row in result.rows:
            say(f"{row.subject} · {row.predicate} · {row.object}")
        say(f"stated in facts.yaml; undo: openclaw-memory conflicts settle {id} --undo")
    cli.remark(result.warning)


def _show_changes(cli: CliContext, result: FactChanges) -> None:
    for change in result.changes:
        before = f"{change.before.object} → " if change.before else ""
        subject = (f"{change.day}  ", "dim"), (change.subject, "bold"), (f" · {change.predicate}: ", "dim")
        cli.line(*subject, before, change.after.object, (f"  [{change.after.source or 'facts.yaml'}]", "dim"))
    if not result.changes:
        say("nothing has changed since then")
    cli.remark(result.warning)
