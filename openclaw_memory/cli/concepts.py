"""``concepts``: list, search and curate concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..model import ConceptRow, ConceptsResult


@click.group(short_help="List, search and curate concepts.")
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
    from ..model import counted

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
    from ..model import counted

    if result.rows:
        say(f"{result.rows[0].name} is no longer curated")
        cli.remark(
            f"the notes still mention it in {counted(result.rows[0].units, 'unit')}; remove it again to ignore it"
        )
    else:
        say(f"{name} is no concept now")
    cli.remark(result.warning)


def _show(cli: CliContext, result: ConceptsResult, explain: bool = False) -> None:
    if result.rows:
        cli.out.print(_table(result.rows, explain), highlight=False)
    else:
        say("nothing found")
    cli.remark(result.warning)


def _table(rows: tuple[ConceptRow, ...], explain: bool) -> Any:
    from rich.table import Table
    from rich.text import Text

    scored = any(row.score is not None for row in rows)
    table = Table(box=None, pad_edge=False)
    if scored:
        table.add_column("score", justify="right", style="green")
    table.add_column("name", style="bold", overflow="fold")
    table.add_column("kind")
    table.add_column("units", justify="right")
    for title in ("also", "below", "related", "last", *(["why"] if explain else [])):
        table.add_column(title, overflow="fold", style="dim")
    for row in rows:
        cells = [
            row.name + (" *" if row.curated else ""),
            row.kind or "",
            str(row.units),
            _join_some(row.aliases),
            _join_some(row.parents),
            _join_some(row.related),
            row.last.isoformat() if row.last else "",
        ]
        score = [] if not scored else ["" if row.score is None else f"{row.score:.2f}"]
        table.add_row(*(Text(cell) for cell in (*score, *cells, *([row.reason] if explain else []))))
    if any(row.curated for row in rows):
        table.caption = "* curated, in concepts.yaml"
        table.caption_justify = "left"
    return table


def _join_some(names: tuple[str, ...], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
