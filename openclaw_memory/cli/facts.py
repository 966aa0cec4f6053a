"""``facts``: query facts, and state, replace or end them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from ..model import FactRow, FactsResult
from .context import DATE, CliContext, common_options, say, wrong_usage

if TYPE_CHECKING:
    from ..facts.service import FactService


@click.group()
def facts() -> None:
    """Ask for facts (subject, predicate, object), and state them.

    Facts are found in the notes by rules, and stated in the workspace's facts.yaml.  Nothing is overwritten: what
    holds no longer is still there with --history and --as-of.
    """


@facts.command(short_help="State a fact.")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object", metavar="OBJECT")
@click.option("--source", metavar="PATH#LINE", help="Where it is written, such as memory/a.md#L3.")
@click.option(
    "--since", type=DATE, metavar="DATE", help="Since when it holds; default the day of its source, or today."
)
@click.option("--until", type=DATE, metavar="DATE", help="The day on which it ends.")
@common_options
def add(cli: CliContext, **given: Any) -> None:
    """State that SUBJECT PREDICATE OBJECT, as in: facts add JR "lives in" Utrecht.

    Of what has one value at a time (lives in, works at, timezone, status, version ...) it takes the place of the
    value before; anything else stands beside what is known.
    """
    _change(cli, lambda book: book.batch([{"action": "add", **given}]))


@facts.command(short_help="Show what is known.")
@click.argument("name", required=False)
@click.option("--subject", metavar="NAME", help="Only about this name; the same as NAME.")
@click.option("--predicate", metavar="WORDS", help="Only this relation; 'lives in' finds 'resides in' too.")
@click.option("--object", "object", metavar="TEXT", help="Only what has this in its object.")
@click.option("--as-of", type=DATE, metavar="DATE", help="What held on this day.")
@click.option("--history", is_flag=True, help="Also what holds no longer.")
@click.option("--all", is_flag=True, help="Also those of which it is not sure that they are right.")
@click.option("--explain", is_flag=True, help="Say in one line why each fact is there.")
@common_options
def query(cli: CliContext, name: str | None, subject: str | None, **given: Any) -> None:
    """Show the facts that hold, or held on the day --as-of; with NAME those about it."""
    if name is not None and subject is not None:
        raise click.UsageError("give NAME or --subject, not both")
    with cli.memory() as memory:
        result = memory.facts.query(subject=name if subject is None else subject, **given)
    cli.answer(result, _show_query)


@facts.command(short_help="Replace a fact.")
@click.argument("id")
@click.option("--object", "object", metavar="TEXT", help="The new object.")
@click.option("--predicate", metavar="WORDS", help="The new relation.")
@click.option("--since", type=DATE, metavar="DATE", help="Since when the new fact holds.")
@common_options
def update(cli: CliContext, **given: Any) -> None:
    """Replace the fact ID by one with some of its parts changed; the old one stays in the history."""
    if all(value is None for key, value in given.items() if key != "id"):
        raise click.UsageError("nothing to change: give --object, --predicate or --since")
    _change(cli, lambda book: book.batch([{"action": "update", **given}]))


@facts.command(short_help="End a fact, or undo one stated today.")
@click.argument("id")
@common_options
def remove(cli: CliContext, id: str) -> None:
    """End the fact ID; it stays in the history.

    On the day on which it was stated, or before it has held for a day, removal means that it was stated by mistake:
    it is undone, and the value before holds again.  Later the fact ends today, and no other value comes back.
    """
    _change(cli, lambda book: book.remove(id))


def _change(cli: CliContext, change: Callable[[FactService], FactsResult]) -> None:
    with cli.memory() as memory, wrong_usage():
        result = change(memory.facts)
    cli.answer(result, _show_change)


def _show_query(cli: CliContext, result: FactsResult) -> None:
    if not result.rows:
        say("no facts")
    _show(cli, result)
    cli.remark(result.warning)


def _show_change(cli: CliContext, result: FactsResult) -> None:
    _show(cli, result)
    done = [f"{count} {word}" for word in ("added", "updated", "removed") if (count := getattr(result, word))]
    say(", ".join(done) or "nothing to do: that is known already")
    cli.remark(result.warning)


def _show(cli: CliContext, result: FactsResult) -> None:
    for row in result.rows:
        under = f" ({row.under})" if row.under else ""
        subject = ("" if row.current else "(old) ", "dim"), (row.subject, "bold"), (under, "dim")
        cli.line(*subject, (f" · {row.predicate} · ", "dim"), row.object, (f"  {_remarks(row)}", "dim"))
        if row.why:
            cli.line((f"  {row.why}", "dim"))


def _remarks(row: FactRow) -> str:
    parts = [row.id, _span(row.valid_from, row.valid_to), row.source or ""]
    if row.rule != "stated":
        parts.append(f"found by '{row.rule}'")
    if row.confidence < 1:
        parts.append(f"confidence {row.confidence:.2f}")
    if row.newer:
        parts.append(f"differs, newer: {row.newer}")
    if row.superseded_by:
        parts.append(f"replaced by {row.superseded_by}")
    return "[" + ", ".join(part for part in parts if part) + "]"


def _span(start: date | None, end: date | None) -> str:
    if start is None and end is None:
        return ""
    if end is None:
        return f"since {start}"
    return f"until {end}" if start is None else f"{start} to {end}"
