"""``context``: what the memory knows about a message."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from .context import DATE, CliContext, common_options, say

if TYPE_CHECKING:
    from ..model import ContextResult


@click.command(short_help="Say what memory knows about a message.")
@click.argument("message", nargs=-1, required=True)
@click.option("--budget", type=click.IntRange(1, 100_000), metavar="TOKENS",
              help="Most tokens of the text.")  # fmt: skip
@click.option("--now", type=DATE, metavar="DATE", help="The day the message is written; default today.")
@click.option("--explain", is_flag=True, help="Say where each sentence comes from, and why.")
@common_options
def context(cli: CliContext, message: tuple[str, ...], budget: int | None, now: date | None, explain: bool) -> None:
    """Say what the notes know about MESSAGE, in plain sentences; nothing when nothing is sure enough.

    It is what a host puts beside a message before the model speaks.  MEMORY.md and USER.md are left out, as agents
    have them in their prompt anyway (context.curated_files).
    """
    words = " ".join(message)
    if not words.strip():
        raise click.UsageError("the message is empty")
    with cli.memory() as memory:
        result = memory.context(words, budget=budget, now=now, explain=explain)
    cli.answer(result, _show, explain)


def _show(cli: CliContext, result: ContextResult, explain: bool) -> None:
    if result.text:
        say(result.text)
    else:
        cli.remark("nothing that is sure enough")
    if explain:
        _explain(cli, result)
    cli.remark(result.warning)


def _explain(cli: CliContext, result: ContextResult) -> None:
    from rich.text import Text

    cli.out.print(Text(f"\nentities: {', '.join(result.entities) or 'none'}; {result.tokens} tokens", style="dim"))
    for hit in result.sources:
        line = Text(f"{hit.score:.2f}  ", style="green")
        line.append(hit.citation, style="cyan").append(f"  {hit.why or ''}", style="yellow")
        cli.out.print(line)
    for fact in result.facts:
        line = Text("fact  ", style="green").append(fact.source or fact.id, style="cyan")
        subject = f"{fact.subject} ({fact.under})" if fact.under else fact.subject
        cli.out.print(line.append(f"  {subject} | {fact.predicate} | {fact.object}", style="yellow"))
