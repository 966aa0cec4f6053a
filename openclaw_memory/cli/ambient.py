"""``context``: what the memory knows about a message."""

from __future__ import annotations

from datetime import date

import click

from ..model import ContextResult
from .context import DATE, CliContext, common_options, say


@click.command()
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
        cli.line((f"\nentities: {', '.join(result.entities) or 'none'}; {result.tokens} tokens", "dim"))
        for hit in result.sources:
            cli.line((f"{hit.score:.2f}  ", "green"), (hit.citation, "cyan"), (f"  {hit.why or ''}", "yellow"))
        for fact in result.facts:
            subject = f"{fact.subject} ({fact.under})" if fact.under else fact.subject
            triple = f"  {subject} | {fact.predicate} | {fact.object}"
            cli.line(("fact  ", "green"), (fact.source or fact.id, "cyan"), (triple, "yellow"))
    cli.remark(result.warning)
