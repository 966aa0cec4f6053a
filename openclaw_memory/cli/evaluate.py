"""``evaluate``: ask the memory questions of its own notes."""

from __future__ import annotations

import click

from ..model import EvaluationComparison, EvaluationReport, EvaluationRun, FoundShares, counted
from .context import CliContext, common_options, ingest_progress, parse_assignments, say, wrong_usage


@click.command()
@click.option("--questions", type=click.IntRange(10, 10_000), default=150, show_default=True, metavar="N",
              help="About how many questions to ask.")  # fmt: skip
@click.option("--against", metavar="KEY=VALUE", multiple=True,
              help="Ask the same with this setting too; may be repeated.")  # fmt: skip
@common_options
def evaluate(cli: CliContext, questions: int, against: tuple[str, ...]) -> None:
    """Ask the memory questions made from its own notes, and say how many it answers.

    No language model makes the questions, and the same notes give the same ones: values of facts, headings with their
    days, lines by a few of their words, and questions that no note answers.
    Only counts are kept. Another model embeds all notes anew in a temporary index, which takes as long as 'ingest'.

    \b
      openclaw-memory evaluate
      openclaw-memory evaluate --against search.mode=keyword
      openclaw-memory evaluate --against embedding.model=multilingual-e5-small
      openclaw-memory evaluate --against search.use_weight=0    # without learning from use
    """
    values = parse_assignments(against, "--against")
    with cli.memory() as memory, ingest_progress(cli) as progress, wrong_usage():
        report = memory.evaluate(questions=questions, against=values or None, progress=progress)
    cli.answer(report, show_report)


def describe_run(run: EvaluationRun) -> str:
    """Return the outcome of a run, for people."""
    return f"answers {run.found} of {run.answerable} of its own questions ({run.day})"


def show_report(cli: CliContext, report: EvaluationReport) -> None:
    """Print an evaluation for people."""
    scores, comparison = report.scores, report.comparison
    both = [scores, *([comparison.scores] if comparison else [])]
    columns = ["first", "in 5", "in 10"] + ["first there", "in 5 there", "in 10 there"] * (comparison is not None)

    def cells(name: str, groups: list[FoundShares]) -> list[str]:
        shares = [share for found in groups for share in (found.at1, found.at5, found.at10)]
        return [name, str(groups[0].at1.whole), *(f"{share.share:.0%}" for share in shares)]

    rows = [cells("all", [each.found for each in both])]
    for name in ("by_kind", "by_language"):
        rows += [cells(group, [getattr(each, name)[group] for each in both]) for group in getattr(scores, name)]
    cli.table(rows, "answer found", "questions", *columns, right=("questions", *columns))
    low, high = scores.found.at5.low, scores.found.at5.high
    say(f"your memory {describe_run(report.run)}, within 5 hits; with 95 % certainty {low:.0%} to {high:.0%}")
    if report.before is not None:
        say(f"before: {report.before.found} of {report.before.answerable} ({report.before.day})")
    for each, where in zip(both, ("", "there: "), strict=False):
        nothing = f"of {counted(each.silent.whole, 'question')} without an answer"
        say(f"{where}{nothing}, {each.silent.part} got no good match and {each.no_context.part} no context")
        times = f"{each.p50_ms:.0f} ms a question, 95 % below {each.p95_ms:.0f} ms"
        say(f"{where}{times}; {each.model or 'keywords alone'}")
    if comparison is not None:
        say(_verdict(comparison))
    cli.remark(report.warning)


def _verdict(comparison: EvaluationComparison) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in comparison.settings.items())
    counts = f"{settings} finds {comparison.earlier} answers earlier and {comparison.later} later"
    if not comparison.is_significant:
        return f"{counts}: no more than chance (p = {comparison.p:.2g})"
    better = "better" if comparison.earlier > comparison.later else "worse"
    return f"{counts}: {better}, and more than chance (p = {comparison.p:.2g})"
