"""``concepts`` and ``facts``: list, query, state and remove them."""

from __future__ import annotations

from datetime import date
from typing import Any

import click

from ..model import ConceptsResult, FactRow, FactsResult, counted
from .context import DATE, CliContext, common_options, say, wrong_usage


@click.group()
def concepts() -> None:
    """List and curate concepts: names, terms and tags that the notes mention.

    Curated ones lie in concepts.yaml in the workspace, which may be changed by hand as well.
    """


@concepts.command("list")
@click.option("--kind", metavar="KIND", help="Only concepts of this kind, such as person or tool.")
@click.option("--curated", is_flag=True, help="Only those of concepts.yaml.")
@click.option("--limit", "-n", type=click.IntRange(1, 1000), metavar="N", help="At most so many.")
@click.option("--explain", is_flag=True, help="Say in one line why each is a concept.")
@common_options
def list_concepts(cli: CliContext, explain: bool, **options: Any) -> None:
    """List concepts, those that matter most first."""
    with cli.memory() as memory:
        result = memory.concepts.list(**options)
    cli.answer(result, _show_concepts, explain)
    if len(result.rows) < result.total:
        cli.remark(f"{result.total - len(result.rows)} more; see --limit")


@concepts.command("add", short_help="Curate a concept, or add to it.")
@click.argument("name")
@click.option("--alias", "-a", "aliases", multiple=True, help="Another name of it; may be repeated.")
@click.option("--parent", "-p", "parents", multiple=True, help="What it is a kind or a part of; may be repeated.")
@click.option("--kind", help="What it is: person, project, tool, event, place …; '' takes it away.")
@click.option("--related", "-r", multiple=True, help="A concept that it has to do with; may be repeated.")
@common_options
def add_concept(cli: CliContext, name: str, **options: Any) -> None:
    """Curate the concept NAME, or add to it, and link what mentions it at once."""
    with cli.memory() as memory:
        result = memory.concepts.add(name, **options)
    cli.answer(result, _show_concepts)
    cli.remark(f"{counted(result.linked, 'unit')} linked again")


@concepts.command("remove", short_help="No longer curate, or ignore, a concept.")
@click.argument("name")
@common_options
def remove_concept(cli: CliContext, name: str) -> None:
    """Take the curated concept NAME out of concepts.yaml, or ignore a NAME that was found in the notes."""
    with cli.memory() as memory:
        result = memory.concepts.remove(name)
    cli.answer(result, _show_removed_concept, name)


def _show_removed_concept(cli: CliContext, result: ConceptsResult, name: str) -> None:
    for row in result.rows[:1]:
        say(f"{row.name} is no longer curated")
        cli.remark(f"the notes still mention it in {counted(row.units, 'unit')}; remove it again to ignore it")
    if not result.rows:
        say(f"{name} is no concept now")
    cli.remark(result.warning)


def _show_concepts(cli: CliContext, result: ConceptsResult, explain: bool = False) -> None:
    rows = result.rows
    columns: dict[str, list[str]] = {
        "name": [row.name + (" *" if row.curated else "") for row in rows],
        "kind": [row.kind or "" for row in rows],
        "units": [str(row.units) for row in rows],
        "also": [_join_some(row.aliases) for row in rows],
        "below": [_join_some(row.parents) for row in rows],
        "related": [_join_some(row.related) for row in rows],
        "last": [str(row.last or "") for row in rows],
        "why": [row.reason for row in rows],
    }
    if not explain:
        del columns["why"]
    caption = "* curated, in concepts.yaml" if any(row.curated for row in rows) else None
    if rows:
        cli.table(zip(*columns.values(), strict=True), *columns, right=("units",), caption=caption)
    else:
        say("nothing found")
    cli.remark(result.warning)


def _join_some(names: tuple[str, ...], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


@click.group()
def facts() -> None:
    """Ask for facts (subject, predicate, object), and state them.

    Facts are found in the notes by rules, and stated in the workspace's facts.yaml.  Nothing is overwritten: what
    holds no longer is still there with --history and --as-of.
    """


@facts.command("add", short_help="State a fact.")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object", metavar="OBJECT")
@click.option("--source", metavar="PATH#LINE", help="Where it is written, such as memory/a.md#L3.")
@click.option(
    "--since", type=DATE, metavar="DATE", help="Since when it holds; default the day of its source, or today."
)
@click.option("--until", type=DATE, metavar="DATE", help="The day on which it ends.")
@common_options
def add_fact(cli: CliContext, **given: Any) -> None:
    """State that SUBJECT PREDICATE OBJECT, as in: facts add JR "lives in" Utrecht.

    Of what has one value at a time (lives in, works at, timezone, status, version ...) it takes the place of the
    value before; anything else stands beside what is known.
    """
    _change_fact(cli, "add", **given)


@facts.command("query", short_help="Show what is known.")
@click.argument("name", required=False)
@click.option("--subject", metavar="NAME", help="Only about this name; the same as NAME.")
@click.option("--predicate", metavar="WORDS", help="Only this relation; 'lives in' finds 'resides in' too.")
@click.option("--object", "object", metavar="TEXT", help="Only what has this in its object.")
@click.option("--as-of", type=DATE, metavar="DATE", help="What held on this day.")
@click.option("--history", is_flag=True, help="Also what holds no longer.")
@click.option("--all", is_flag=True, help="Also those of which it is not sure that they are right.")
@click.option("--explain", is_flag=True, help="Say in one line why each fact is there.")
@common_options
def query_facts(cli: CliContext, name: str | None, subject: str | None, **given: Any) -> None:
    """Show the facts that hold, with what they replaced, or held on the day --as-of; with NAME those about it.

    Without NAME or another filter, addresses and numbers that never changed are left out.
    """
    if name is not None and subject is not None:
        raise click.UsageError("give NAME or --subject, not both")
    with cli.memory() as memory:
        result = memory.facts.query(subject=name if subject is None else subject, **given)
    cli.answer(result, _show_facts)


@facts.command("update", short_help="Replace a fact.")
@click.argument("id")
@click.option("--object", "object", metavar="TEXT", help="The new object.")
@click.option("--predicate", metavar="WORDS", help="The new relation.")
@click.option("--since", type=DATE, metavar="DATE", help="Since when the new fact holds.")
@common_options
def update_fact(cli: CliContext, **given: Any) -> None:
    """Replace the fact ID by one with some of its parts changed; the old one stays in the history."""
    if all(value is None for key, value in given.items() if key != "id"):
        raise click.UsageError("nothing to change: give --object, --predicate or --since")
    _change_fact(cli, "update", **given)


@facts.command("remove", short_help="End a fact, or undo one stated today.")
@click.argument("id")
@common_options
def remove_fact(cli: CliContext, id: str) -> None:
    """End the fact ID; it stays in the history.

    On the day on which it was stated, or before it has held for a day, removal means that it was stated by mistake:
    it is undone, and the value before holds again.  Later the fact ends today, and no other value comes back.
    """
    _change_fact(cli, "remove", id=id)


def _change_fact(cli: CliContext, action: str, **arguments: Any) -> None:
    with cli.memory() as memory, wrong_usage():
        result = memory.facts.batch([{"action": action, **arguments}])
    done = [f"{count} {word}" for word in ("added", "updated", "removed") if (count := getattr(result, word))]
    cli.answer(result, _show_facts, ", ".join(done) or "nothing to do: that is known already")


def _show_facts(cli: CliContext, result: FactsResult, done: str = "") -> None:
    for row in result.rows:
        under = f" ({row.under})" if row.under else ""
        subject = ("" if row.current else "(old) ", "dim"), (row.subject, "bold"), (under, "dim")
        cli.line(*subject, (f" · {row.predicate} · ", "dim"), row.object, (f"  {_fact_remarks(row)}", "dim"))
        for past in row.before:
            days = span(past.valid_from, past.valid_to)
            cli.line((f"  before: {past.object}{f' ({days})' if days else ''}", "dim"))
        if row.why:
            cli.line((f"  {row.why}", "dim"))
    if done or not result.rows:
        say(done or "no facts")
    cli.remark(result.warning)


def _fact_remarks(row: FactRow) -> str:
    parts = [row.id, span(row.valid_from, row.valid_to), row.source or ""]
    if row.rule != "stated":
        parts.append(f"found by '{row.rule}'")
    if row.confidence < 1:
        parts.append(f"confidence {row.confidence:.2f}")
    if row.unconfirmed:
        parts.append("unconfirmed: another value has a day")
    if row.newer:
        parts.append(f"differs, newer: {row.newer}")
    if row.superseded_by:
        parts.append(f"replaced by {row.superseded_by}")
    return "[" + ", ".join(part for part in parts if part) + "]"


def span(start: date | None, end: date | None) -> str:
    """Return the days of a fact in words; empty where neither is known."""
    if start is None and end is None:
        return ""
    if end is None:
        return f"since {start}"
    return f"until {end}" if start is None else f"{start} to {end}"
