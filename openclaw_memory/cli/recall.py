"""``recall``: print the thread behind an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from ..model import RecallHit
from .context import CliContext, common_options
from .search import (
    Mark,
    build_request,
    concept_option,
    corrected_question,
    filter_options,
    marking,
    question_text,
    show,
    show_remarks,
    warn_if_unanswered,
)

#: Lines shown of each result, and characters of each line.
LINES, _CHARS = 2, 150


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--hops", type=click.IntRange(1, 4), default=2, show_default=True, help="Steps from the best hits at most."
)
@filter_options
@concept_option
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
    text = question_text(query)
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
        show_stop(cli, hit, None if full else LINES, mark)
    cli.remark_on(result)


def show_stop(cli: CliContext, hit: RecallHit, most: int | None, mark: Mark) -> None:
    """Print a result of a thread: its day and heading, its first lines, and the steps that lead to it."""
    day = f"{hit.date.isoformat() if hit.date else ' ' * 10}  "
    cli.line((day, "bold"), (f"{hit.heading or hit.path}  ", "bold cyan"), (hit.citation, "dim"))
    for edge in hit.via:
        cli.line((f"↳ {edge.text}", "yellow"), indent=12)
    lines = [line for line in hit.snippet.split("\n") if line.strip()]
    text = [line for line in lines if not line.lstrip().startswith("#")] or lines
    for line in lines if most is None else text[:most]:
        cut = most is not None and len(line) > _CHARS
        cli.line(mark(f"{line[: _CHARS - 2].rstrip()} …" if cut else line), indent=12)
    show_remarks(cli, hit, 12)
    cli.line()
