"""``context`` before a turn of a conversation, and ``capture`` after it."""

from __future__ import annotations

import sys
from datetime import date
from typing import Any

import click

from ..model import CaptureReport, ContextResult, Origin, counted
from ..text import calendar
from .context import DATE, CliContext, common_options, say


@click.command()
@click.argument("message", nargs=-1, required=True)
@click.option("--budget", type=click.IntRange(1, 100_000), metavar="TOKENS",
              help="Most tokens of the text.")  # fmt: skip
@click.option("--now", type=DATE, metavar="DATE", help="The day the message is written; default today.")
@click.option("--as-of", type=DATE, metavar="DATE", help="Answer as on this day, without what is dated later.")
@click.option("--explain", is_flag=True, help="Say where each sentence comes from, and why.")
@common_options
def context(cli: CliContext, message: tuple[str, ...], explain: bool, **options: Any) -> None:
    """Say what the notes know about MESSAGE, in plain sentences; nothing when nothing is sure enough.

    It is what a host puts beside a message before the model speaks.  MEMORY.md and USER.md are left out, as OpenClaw
    shows them to its agents (context.curated_files).
    """
    words = " ".join(message)
    if not words.strip():
        raise click.UsageError("the message is empty")
    with cli.memory() as memory:
        result = memory.context(words, explain=explain, **options)
    cli.answer(result, _show_context, explain)


def _show_context(cli: CliContext, result: ContextResult, explain: bool) -> None:
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


@click.command()
@click.argument("text", nargs=-1, metavar="[TEXT]...")
@click.option("--origin", type=click.Choice(["owner", "agent", "untrusted"]), default="owner", show_default=True,
              help="Who said it; what is untrusted is kept apart and never given unasked.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Keep every sentence, not only what is worth it and new.")
@click.option("--now", type=DATE, metavar="DATE", help="The day it was said; default today.")
@common_options
def capture(cli: CliContext, text: tuple[str, ...], origin: str, everything: bool, now: date | None) -> None:
    """Append what is worth remembering of TEXT to memory/captures/, a file a day.

    Without TEXT, or with "-", standard input is read.  Kept are sentences that state something for later (decisions,
    preferences, dates, facts) and that the memory does not say yet.
    """
    from ..capture.capturer import Message, Turn

    message = Message("assistant" if origin == "agent" else "user", _read_text(text))
    zone = cli.settings().consolidate.time_zone
    moment = None if now is None else calendar.noon_in(zone, now, calendar.now_in(zone).time())
    with cli.memory() as memory:
        turn = Turn((message,), agent=memory.agent, origin=Origin(origin), now=moment)
        report = memory.capture(turn, everything=everything)
    cli.answer(report, _show_captured, everything)


def _read_text(text: tuple[str, ...]) -> str:
    words = " ".join(text)
    if words.strip() in ("", "-"):
        if not words.strip() and sys.stdin.isatty():
            raise click.UsageError("nothing to capture: give a text, or write one to standard input")
        words = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not words.strip():
        raise click.UsageError("the text is empty")
    return words


def _show_captured(cli: CliContext, report: CaptureReport, everything: bool) -> None:
    for each in report.captured:
        cli.line((f"{each.score:.2f}  ", "green"), (each.citation, "cyan"), f"  {each.text}")
    if not report.captured:
        why = "all of it is written there already" if everything else "nothing new that is worth keeping"
        cli.remark(f"{why} in {counted(report.seen, 'sentence')}" + ("" if everything else "; --all keeps everything"))
    if report.not_kept:
        more = report.seen - len(report.captured) - len(report.not_kept)
        cli.remark(f"not kept: {' | '.join(report.not_kept)}" + (f" | … and {more} more" if more > 0 else ""))
    cli.remark(report.warning)
