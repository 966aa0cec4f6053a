"""``forget``: remove something from the memory for good."""

from __future__ import annotations

from typing import Any

import click

from ..model import ForgetReport, counted
from ..system.shell import join
from .context import SINCE, UNTIL, CliContext, common_options, say, shorten, wrong_usage, yes_option


@click.command()
@click.option("--path", metavar="PATH", help="A file, a folder, or lines as they are cited: memory/a.md#L3-L9.")
@click.option(
    "--query", metavar="WORDS", help="What has all of these words in one paragraph, item or row; all of it goes."
)
@click.option("--concept", metavar="NAME", help="What mentions this concept, and its entry in concepts.yaml.")
@click.option("--fact", metavar="ID", help="What states this fact, and its entry in facts.yaml.")
@click.option(
    "--since", type=SINCE, metavar="DATE", help="What is dated this day or later, or in or after 2026-W07, 2026-02."
)
@click.option(
    "--until", type=UNTIL, metavar="DATE", help="What is dated this day or earlier, or in or before such a period."
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@yes_option
@common_options
def forget(cli: CliContext, dry_run: bool, yes: bool, **named: Any) -> None:
    """Forget what one of the options names: its text leaves the index, summaries, captures, facts and records of use.

    What was forgotten does not come back from a note, a copy or a summary: its words are recognised by keyed hashes.
    Your own notes are not changed; those that still have it are named, so that you can edit them, and so are files and
    curated concepts that are called so.  There is no undo: the same sentence stays out even when it is written again on
    purpose.
    """
    from ..forget.selection import ForgetRequest

    with wrong_usage():
        ForgetRequest(**named)
    ask = cli.must_ask(yes, dry_run)
    with cli.memory() as memory, wrong_usage():
        if dry_run or ask:
            report = memory.forget(dry_run=True, **named)
            cli.answer(report, _show)
            if dry_run or not report.texts:
                return
            if not click.confirm("Forget this for good?", default=False):
                say("nothing was forgotten")
                return
        report = memory.forget(**named)
    cli.answer(report, _show)


def _show(cli: CliContext, report: ForgetReport) -> None:
    if not report.texts:
        say("nothing to forget")
    elif report.dry_run:
        for line in shorten([f"{each.citation}  {' '.join(each.text.split())}" for each in report.texts]):
            say(line)
        say(f"would forget {_counts(report)}")
    else:
        checked = "; no column and no byte of the index has it any more" if report.verified else ""
        say(f"forgot {_counts(report)}{checked}; {report.seconds:.1f} s")
        for line in shorten([f"taken out of {path}" for path in report.edited]):
            say(line)
    below = [
        f"the heading over {place} is among them, its lines are not; run: openclaw-memory forget --path {join([place])}"
        for place in report.below
    ]
    remains = [f"still written in {place}; it is yours to edit" for place in report.remains]
    for remark in (*shorten(below), *shorten(remains)):
        cli.remark(remark)
    cli.remark(report.warning)


def _counts(report: ForgetReport) -> str:
    numbers = (
        (report.units, "unit", ""),
        (report.vectors, "vector", ""),
        (report.mentions, "mention", ""),
        (report.facts, "fact", ""),
        (report.summary_sentences, "sentence", " of summaries"),
        (report.access_records, "record", " of use"),
    )
    parts = [counted(number, noun) + rest for number, noun, rest in numbers if number]
    parts = parts or [counted(len(report.texts), "text")]  # of files that are not in the index
    return f"{', '.join(parts)} in {counted(report.files, 'file')}"
