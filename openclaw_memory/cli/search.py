"""``search``, ``recall``, ``timeline`` and ``get``: find notes by question or by time, and read cited lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import WorkspaceError
from ..model import Grain, Kind, RecallHit, SearchHit, SearchRequest, SearchResult, counted
from ..system.serialize import to_json
from ..text import calendar
from .context import DATE, SINCE, UNTIL, CliContext, F, common_options, failure, has_styles, say, wrong_usage

if TYPE_CHECKING:
    from rich.text import Text

#: Function that returns a line with some words marked.
Mark = Callable[[str], "Text | str"]


def marking(question: str) -> Mark:
    """Return a function that marks the words of ``question``, in any form that search takes for the same."""
    if not has_styles():
        return str
    from rich.text import Text

    from ..text.analysis import occurrences

    def mark(line: str) -> Text:
        text = Text(line)
        for start, end in occurrences(question, line):
            text.stylize("bold magenta", start, end)
        return text

    return mark


def question_text(words: tuple[str, ...]) -> str:
    """Return the words of a command line as a question; none are wrong usage."""
    text = " ".join(words)
    if not text.strip():
        raise click.UsageError("the query is empty")
    return text


concept_option = click.option(
    "--concept", "concepts", metavar="NAME", multiple=True,
    help="Only what mentions this concept, or one that is a kind of it; may be repeated.",
)  # fmt: skip


def filter_options(command: F) -> F:
    """Add options for kinds, grains, a range of days, and the size of the answer."""
    for option in reversed((
        click.option("--kind", type=click.Choice([kind.value for kind in Kind]), multiple=True,
                     help="Only such files; may be repeated."),
        click.option("--grain", type=click.Choice(["working", "daily", "weekly", "monthly", "quarterly", "yearly"]),
                     multiple=True, help="Only such grains; may be repeated."),
        click.option("--since", type=SINCE, metavar="DATE",
                     help="Only what is dated on or after this day, or in or after 2026-W07, 2026-02, 2026-Q1, 2026."),
        click.option("--until", type=UNTIL, metavar="DATE",
                     help="Only what is dated on or before this day, or in or before such a period."),
        click.option("--min-days-ago", type=click.IntRange(min=0), metavar="N",
                     help="Only what is at least N days old."),
        click.option("--max-days-ago", type=click.IntRange(min=0), metavar="N",
                     help="Only what is at most N days old."),
        click.option("--now", type=DATE, metavar="DATE",
                     help="The day the question is asked and days are counted back from; default today."),
        click.option("--as-of", type=DATE, metavar="DATE",
                     help="Answer as on this day, without what is dated later."),
        click.option("--include-archived", is_flag=True,
                     help="Show notes that a summary covers too, behind their summary."),
        click.option("--max-results", "-n", type=click.IntRange(1, 1000), metavar="N", help="Most results to show."),
        click.option("--budget", "-b", type=click.IntRange(min=1), metavar="TOKENS",
                     help="As much as so many tokens hold, instead of a number of results."),
    )):  # fmt: skip
        command = option(command)
    return command


def build_request(cli: CliContext, query: str, options: dict[str, Any]) -> SearchRequest:
    """Build the request from the options of a command; a range without days is wrong usage."""
    from ..search.timeline import bounded

    values = {name: value for name, value in options.items() if value is not None}
    if "max_results" in values and "budget" in values:
        raise click.UsageError("give --max-results or --budget, not both")
    least, most = values.pop("min_days_ago", None), values.pop("max_days_ago", None)
    kinds, grains = tuple(map(Kind, values.pop("kind", ()))), tuple(map(Grain, values.pop("grain", ())))
    today = calendar.today(cli.settings().consolidate.time_zone)
    with wrong_usage():
        return bounded(SearchRequest(query, kinds=kinds, grains=grains, **values), least, most, today)


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--min-score", type=click.FloatRange(0, 1), help="Leave out hits that are less sure than this (0-1).")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "keyword", "graph"]),
    help="What finds notes: words and meaning (hybrid), or one of them.",
)
@filter_options
@concept_option
@click.option("--near", metavar="CONCEPT", multiple=True,
              help="Rank what hangs together with this concept higher; may be repeated.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Say what each signal contributed.")
@click.option("--full", is_flag=True, help="Print every line of each hit rather than those around its best one.")
@common_options
def search(cli: CliContext, query: tuple[str, ...], explain: bool, full: bool, **options: Any) -> None:
    """Find what the memory says about QUERY.

    \b
      openclaw-memory search "why did we move the backups?"
      openclaw-memory search dentist --since 2026-01-01 -n 3
      openclaw-memory search "what runs on the NAS" --explain --json
    """
    from .open import save_hits

    text = question_text(query)
    request = build_request(cli, text, {**options, "explain": explain})
    with cli.memory() as memory:
        as_of = memory.usage.forget_version()
        result = memory.search(request)
        if not cli.json:
            save_hits(memory, result.results, as_of)
    cli.answer(result, show, text, None if full else 1)


#: Characters shown of each line.
_CHARS = 150


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
        show_stop(cli, hit, None if full else 2, mark)
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


@click.command()
@click.argument("query", nargs=-1)
@filter_options
@common_options
def timeline(cli: CliContext, query: tuple[str, ...], **options: Any) -> None:
    """Show what was noted when, in order of time; with QUERY only what is about it.

    Without QUERY: the newest sections of the range, one hit each.  Sections whose file name, heading or
    front matter states a day come before those that have only the day of the file's last change.
    """
    from .open import save_hits

    text = " ".join(query).strip()
    request = build_request(cli, text, options)
    with cli.memory() as memory:
        as_of = memory.usage.forget_version()
        result = memory.timeline(request)
        bounded = request.since is not None or request.until is not None
        missed = bounded and not (cli.json or text or result.results)
        newest = memory.timeline(max_results=1).results if missed else ()
        if not cli.json:
            save_hits(memory, result.results, as_of)
    if cli.json:
        cli.emit(result)
    else:
        show(cli, result, text)
        if result.left_out:
            cli.remark(f"{counted(result.left_out, 'section')} more in that range; -n shows more of them")
        for hit in newest:
            cli.remark(f"the newest note is of {hit.date or 'no day'}; give another --since or --until")


def warn_if_unanswered(result: SearchResult, question: str = "") -> None:
    """Print a line if nothing answers the question."""
    if not result.results:
        say("no good match" if question else "nothing found")
    elif not result.good_match:
        say("no good match; nearest:")


def show(cli: CliContext, result: SearchResult, question: str = "", around: int | None = None) -> None:
    """Print hits for people, each with ``around`` lines above and below the best one, all of them by default."""
    mark = marking(corrected_question(cli, result, question))
    warn_if_unanswered(result, question)
    for rank, hit in enumerate(result.results, 1):
        show_hit(cli, rank, hit, mark, around)
    cli.remark_on(result)


def corrected_question(cli: CliContext, result: SearchResult, question: str) -> str:
    """Return the question with the corrections of its misspelt words appended, and print these as remarks."""
    for typed, read in result.corrected.items():
        cli.remark(f"no note has '{typed}'; searched for '{read}'")
    return " ".join([question, *result.corrected.values()])


def format_other_places(hit: SearchHit) -> str:
    """Return the other places of the lines of a hit by days: ``also on 2026-04-08, 04-09 and 05-01``."""
    days = sorted({place.date for place in hit.also if place.date is not None})
    shown = [
        day.isoformat() if not at or day.year != days[at - 1].year else f"{day:%m-%d}" for at, day in enumerate(days)
    ]
    undated = list(dict.fromkeys(place.path for place in hit.also if place.date is None))
    places = [*(["on " + ", ".join(shown)] if shown else []), *(["in " + ", ".join(undated)] if undated else [])]
    return f"also {' and '.join(places)}"


def _lines(hit: SearchHit, around: int | None) -> list[str]:
    """Return the best line of a hit, and up to ``around`` lines above and below it that are not empty."""
    lines = hit.snippet.split("\n")
    at = min((hit.best_line or 0) - (hit.snippet_line or 0), len(lines) - 1)
    above, below = ([line for line in part if line.strip()] for part in (lines[:at], lines[at + 1 :]))
    return [*above[-around if around else None :], lines[at], *below[:around]]


def show_hit(cli: CliContext, rank: int, hit: SearchHit, mark: Mark, around: int | None) -> None:
    """Print a hit: its place, its lines, and remarks on them."""
    lines = f"{hit.start_line}-{hit.end_line}" if hit.end_line > hit.start_line else f"{hit.start_line}"
    tail = " · ".join(part for part in (hit.heading, hit.date.isoformat() if hit.date else "") if part)
    place = f"{hit.path}:{lines}"
    cli.line((f"{rank:>2}  ", "bold"), (f"{hit.score:.2f}  ", "green"), (place, "cyan"), (f"  {tail}", "dim"))
    for line in _lines(hit, around):
        cli.line(mark(line), indent=6)
    show_remarks(cli, hit, 6)
    cli.line()


def show_remarks(cli: CliContext, hit: SearchHit, indent: int) -> None:
    """Print below a hit what replaces its lines, where else they stand, and why it was found."""
    for words in hit.superseded:
        cli.line((f"superseded: {words}", "red"), indent=indent)
    if hit.superseded_by is not None:
        cli.line((f"older, see {hit.superseded_by.path}:{hit.superseded_by.start_line}", "red"), indent=indent)
    if hit.also:
        cli.line((format_other_places(hit), "dim"), indent=indent)
    if hit.archived:
        cli.line(("archived: a summary covers this note", "dim"), indent=indent)
    if hit.why:
        cli.line((f"why: {hit.why}", "yellow"), indent=indent)


@click.command()
@click.argument("path")
@click.option("--from", "from_line", type=click.IntRange(min=1), metavar="N", help="First line, counted from 1.")
@click.option("--lines", type=click.IntRange(min=1), metavar="N", help="How many lines.")
@common_options
def get(cli: CliContext, path: str, from_line: int | None, lines: int | None) -> None:
    """Print lines of a memory file, by the PATH that a search result names.

    PATH may carry the lines that the result names: memory/a.md:3-9 or memory/a.md#L3-L9.
    """
    with cli.memory() as memory:
        text = memory.get(path, from_line, lines)
    wrong = None
    if text.status == "not_found":
        near = text.error or "'openclaw-memory search' names paths as they are"
        wrong = f"{path}: not among the memory files; {near}"
    elif text.status == "error":
        wrong = f"{path}: {text.error}"
    if cli.json:
        # "error" stays a text here, unlike in other failures, for older clients.
        cli.emit(to_json(text) if wrong is None else {**failure(wrong), **to_json(text)})
    if wrong is not None:
        raise WorkspaceError(wrong)
    if cli.json:
        return
    say(text.text)
    if text.truncated:
        cli.remark(f"there is more: --from {text.next_from}")
