"""``consolidate``: write summaries of old notes."""

from __future__ import annotations

from datetime import date

import click

from ..model import ConsolidateReport, Grain, counted
from .context import DATE, CliContext, common_options, ingest_progress, say, shorten


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--older-than-days", type=click.IntRange(min=0), metavar="N",
              help="Leave periods alone that ended at most N days ago; default 3.")  # fmt: skip
@click.option("--grain", type=click.Choice(["daily", "weekly", "monthly", "quarterly", "yearly"]),
              help="Write the summaries of this grain alone.")  # fmt: skip
@click.option("--now", type=DATE, metavar="DATE", help="The day it is; default today.")
@click.option(
    "--enable/--disable",
    "automatic",
    default=None,
    help="Let OpenClaw's heartbeat write (--enable) or only report (--disable); writes nothing itself.",
)
@common_options
def consolidate(
    cli: CliContext, dry_run: bool, older_than_days: int | None, grain: str | None, now: date | None,
    automatic: bool | None,
) -> None:  # fmt: skip
    """Summarise the days, weeks, months, quarters and years that are over.

    Summaries are sentences of your notes, each with the lines it comes from, in memory/consolidated/.  Notes are never
    changed: where a summary answers, search leaves out the notes that it covers, unless told --include-archived.  What
    a person has edited there is kept.  What retention.plan does not keep is taken out, and listed.
    """
    with cli.memory() as memory:
        if automatic is not None:
            memory.upkeep.enable(automatic)
            cli.remark(f"automatic consolidation: {memory.upkeep.remark()}")
            if memory.upkeep.enabled is not automatic:
                word = memory.settings.consolidate.automatic
                cli.remark(f"consolidate.automatic is '{word}', which decides it for good; set it to 'ask' first")
        with ingest_progress(cli) as progress:
            report = memory.consolidate(
                dry_run=dry_run or automatic is not None,
                older_than_days=older_than_days,
                grain=None if grain is None else Grain(grain),
                now=now,
                progress=progress,
            )
    cli.answer(report, _show)


def _show(cli: CliContext, report: ConsolidateReport, most: int = 12) -> None:
    would = "would be " if report.dry_run else ""
    if report.summaries:
        cells = (
            (f"{plan.path}{' (anew)' if plan.rebuilt else ''}",
             *map(str, (plan.sources, plan.sentences, plan.tokens, plan.source_tokens)))
            for plan in report.summaries[:most]
        )  # fmt: skip
        numbers = ("sources", "sentences", "tokens", "source tokens")
        cli.table(cells, "summary", *numbers, right=numbers)
        if len(report.summaries) > most:
            say(f"… and {len(report.summaries) - most} more")
    for what, paths in (
        ("kept, as a person has edited it", report.kept),
        (f"{would}removed, as there is nothing left to summarise", report.removed),
        (f"{would}retired", report.retired),
    ):
        for line in shorten([f"{what}: {path}" for path in paths]):
            say(line)
    merged = "" if report.dry_run and not report.groups else f"{counted(report.groups, 'concept')} {would}merged, "
    wrote = "1 summary" if len(report.created) == 1 else f"{len(report.created)} summaries"
    say(f"{wrote} {would}written, {merged}{counted(report.archived, 'unit')} {would}archived, {report.seconds:.1f} s")
    if not report.complete:
        cli.remark("not everything was done; run it again")
    cli.remark(report.skipped)
    cli.remark(report.warning)
