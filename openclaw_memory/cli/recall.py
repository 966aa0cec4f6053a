"""``recall``: print the thread behind an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from .context import CliContext, common_options
from .search import (
    Mark,
    build_request,
    corrected_question,
    filter_options,
    format_successor,
    marking,
    show,
    show_line,
    warn_if_unanswered,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ..model import RecallHit

#: Lines shown of each result, and characters of each line.
LINES, _CHARS = 2, 150


@click.command(short_help="Follow the thread behind an answer, in order of time.")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--hops", type=click.IntRange(1, 4), default=2, show_default=True, help="Steps from the best hits at most."
)
@filter_options
@click.option("--concept", "concepts", metavar="NAME", multiple=True,
              help="Only what mentions this concept, or one that is a kind of it; may be repeated.")  # fmt: skip
@click.option("--full", is_flag=True, help="Print every line of each result rather than its first ones.")
@common_options
def recall(cli: CliContext, query: tuple[str, ...], hops: int, full: bool, **options: Any) -> None:
    """Follow the thread behind the answer to QUERY, in order of time.

    Starts from the best hits and goes on over the concepts that notes share, over related, parent and child
    concepts, and to what came before and after; each result says how it was reached. Where no note
    is a good match there is no thread: the nearest ones are shown. With --json all is told.

    \b
      openclaw-memory recall "how did the move of the backups go?"
      openclaw-memory recall backups --hops 3 --full
    """
    text = " ".join(query)
    if not text.strip():
        raise click.UsageError("the query is empty")
    request = build_request(cli, text, options)
    with cli.memory() as memory:
        result = memory.recall(request, hops=hops)
    if cli.json:
        cli.emit(result)
        return
    near = sorted((replace(hit, score=hit.relevance) for hit in result.results), key=lambda hit: -hit.score)
    if near and not result.good_match:  # a thread needs a hit that answers
        show(cli, replace(result, results=tuple(near[:3])), text)
        return
    mark = marking(corrected_question(cli, result, text))
    if not result.results:
        warn_if_unanswered(result, text)
    for hit in result.results:
        show_stop(cli.out, hit, None if full else LINES, mark)
    cli.remark_on(result)


def show_stop(out: Console, hit: RecallHit, most: int | None, mark: Mark) -> None:
    """Print a result of a thread: its day and heading, its first lines, and the steps that lead to it."""
    from rich.text import Text

    head = Text(f"{hit.date.isoformat() if hit.date else ' ' * 10}  ", style="bold")
    head.append(f"{hit.heading or hit.path}  ", style="bold cyan")
    head.append(hit.citation, style="dim")
    out.print(head)
    for edge in hit.via:
        show_line(out, Text(f"↳ {edge.text}", style="yellow"), 12)
    lines = [line for line in hit.snippet.split("\n") if line.strip()]
    text = [line for line in lines if not line.lstrip().startswith("#")] or lines
    for line in lines if most is None else text[:most]:
        shown = Text(line if most is None or len(line) <= _CHARS else f"{line[: _CHARS - 2].rstrip()} …")
        mark(shown)
        show_line(out, shown, 12)
    for words in hit.superseded:
        show_line(out, Text(f"superseded: {words}", style="red"), 12)
    if hit.superseded_by is not None:
        show_line(out, Text(format_successor(hit.superseded_by), style="red"), 12)
    if hit.archived:
        show_line(out, Text("archived: a summary covers this note", style="dim"), 12)
    out.print()
