"""``concepts``: list, search and curate concepts."""

from __future__ import annotations

from typing import Any

import click

from ..model import ConceptRow, ConceptsResult, counted
from .context import CliContext, common_options, say


@click.group()
def concepts() -> None:
    """List, search and curate concepts: names, terms and tags that the notes mention.

    Curated ones lie in concepts.yaml in the workspace, which may be changed by hand as well.
    """


@concepts.command("list")
@click.argument("query", nargs=-1)
@click.option("--kind", metavar="KIND", help="Only concepts of this kind, such as person or tool; without QUERY.")
@click.option("--curated", is_flag=True, help="Only those of concepts.yaml; without QUERY.")
@click.option("--limit", "-n", type=click.IntRange(1, 1000), metavar="N", help="At most so many; 10 with QUERY.")
@click.option("--explain", is_flag=True, help="Say in one line why each is a concept.")
@common_options
def list_concepts(
    cli: CliContext, query: tuple[str, ...], kind: str | None, curated: bool, limit: int | None, explain: bool
) -> None:
    """List concepts, those that matter most first; with QUERY those whose mentions in the notes answer it."""
    text = " ".join(query).strip()
    if query and (not text or kind is not None or curated):
        raise click.UsageError("give words to look for" if not text else "a QUERY goes without --kind and --curated")
    with cli.memory() as memory:
        if text:
            result = memory.concepts.search(text, limit=limit or 10)
        else:
            result = memory.concepts.list(kind=kind, curated=curated, limit=limit)
    cli.answer(result, _show, explain)
    if not text and len(result.rows) < result.total:
        cli.remark(f"{result.total - len(result.rows)} more; see --limit")


@concepts.command(short_help="Curate a concept, or add to it.")
@click.argument("name")
@click.option("--alias", "-a", "aliases", multiple=True, help="Another name of it; may be repeated.")
@click.option("--parent", "-p", "parents", multiple=True, help="What it is a kind or a part of; may be repeated.")
@click.option("--kind", help="What it is: person, project, tool, event, place …; '' takes it away.")
@click.option("--related", "-r", multiple=True, help="A concept that it has to do with; may be repeated.")
@common_options
def add(cli: CliContext, name: str, **options: Any) -> None:
    """Curate the concept NAME, or add to it, and link what mentions it at once."""
    with cli.memory() as memory:
        result = memory.concepts.add(name, **options)
    cli.answer(result, _show)
    cli.remark(f"{counted(result.linked, 'unit')} linked again")


@concepts.command(short_help="No longer curate, or ignore, a concept.")
@click.argument("name")
@common_options
def remove(cli: CliContext, name: str) -> None:
    """Take the curated concept NAME out of concepts.yaml, or ignore a NAME that was found in the notes."""
    with cli.memory() as memory:
        result = memory.concepts.remove(name)
    cli.answer(result, _show_removed, name)


def _show_removed(cli: CliContext, result: ConceptsResult, name: str) -> None:
    if result.rows:
        say(f"{result.rows[0].name} is no longer curated")
        mentions = counted(result.rows[0].units, "unit")
        cli.remark(f"the notes still mention it in {mentions}; remove it again to ignore it")
    else:
        say(f"{name} is no concept now")
    cli.remark(result.warning)


def _show(cli: CliContext, result: ConceptsResult, explain: bool = False) -> None:
    if result.rows:
        _show_table(cli, result.rows, explain)
    else:
        say("nothing found")
    cli.remark(result.warning)


def _show_table(cli: CliContext, rows: tuple[ConceptRow, ...], explain: bool) -> None:
    columns: dict[str, list[str]] = {
        "score": ["" if row.score is None else f"{row.score:.2f}" for row in rows],
        "name": [row.name + (" *" if row.curated else "") for row in rows],
        "kind": [row.kind or "" for row in rows],
        "units": [str(row.units) for row in rows],
        "also": [_join_some(row.aliases) for row in rows],
        "below": [_join_some(row.parents) for row in rows],
        "related": [_join_some(row.related) for row in rows],
        "last": [str(row.last or "") for row in rows],
        "why": [row.reason for row in rows],
    }
    if not any(columns["score"]):
        del columns["score"]
    if not explain:
        del columns["why"]
    caption = "* curated, in concepts.yaml" if any(row.curated for row in rows) else None
    cli.table(zip(*columns.values(), strict=True), *columns, right=("score", "units"), caption=caption)


def _join_some(names: tuple[str, ...], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
