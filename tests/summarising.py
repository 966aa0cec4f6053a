"""Workspaces to summarise, and what can be read off the summaries without the code that makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from fakes import Notes, open_memory

from openclaw_memory import Memory

#: Small, so that a note of a few lines is long; a day of at most 240 bytes stands for itself.
BUDGETS = {"daily": 60, "weekly": 90, "monthly": 130, "quarterly": 170, "yearly": 210}
GRAINS = ("daily", "weekly", "monthly", "quarterly", "yearly")
FOLDER = "memory/consolidated"
MONDAY, LATER = date(2026, 2, 16), date(2030, 1, 1)

_VERBS = "moved repaired painted measured shipped borrowed decided fixed learned sold weighed tuned".split()
_THINGS = "lantern kettle bicycle ladder piano compass anchor teapot magnet telescope barometer suitcase".split()
_PLACES = "harbour attic greenhouse station library cellar lighthouse market bakery observatory garden tower".split()


def summarised(notes: Notes, **values: Any) -> Memory:
    """A memory with small budgets, whose days are those of UTC."""
    given = {"consolidate__budgets": BUDGETS, "consolidate__time_zone": "UTC"}
    return open_memory(notes, **{**given, **values})


def diary(day: date, salt: int = 0, lines: int = 9) -> str:
    """A note, always the same for a day and a ``salt``: items, tasks, a paragraph over two lines, a quote."""
    chance = Random(f"{day} {salt}")

    def sentence(number: int) -> str:
        words = (chance.choice(_VERBS), chance.choice(_THINGS), chance.randrange(1000), chance.choice(_PLACES))
        return f"We {words[0]} the {words[1]}-{words[2]:03} at the {words[3]}, item {day:%j}x{salt}x{number}."

    made = [f"# {day}", "", "## Work", ""]
    for number in range(lines):
        mark = ("- ", "- [x] ", "* ", "", "> ", "1. ")[number % 6]
        text = sentence(number)
        if not mark:
            before, _, after = text.partition(" at ")
            made += ["", f"{before}", f"  at {after}", ""]
        else:
            made.append(mark + text)
        if number == 4:
            made += ["", "## Later", ""]
    return "\n".join(made) + "\n"


def days(first: date, last: date, step: int = 1) -> Iterable[date]:
    """Every ``step``-th day from ``first`` to ``last``."""
    return (first + timedelta(days=at) for at in range(0, (last - first).days + 1, step))


def write(notes: Notes, day: date, salt: int = 0, lines: int = 9) -> None:
    """Write the note of a day."""
    notes.write(f"memory/{day}.md", diary(day, salt, lines))


def week(notes: Notes, first: date = MONDAY, count: int = 7) -> None:
    """Write the notes of ``count`` days from ``first``."""
    for day in days(first, first + timedelta(days=count - 1)):
        write(notes, day)


def tree(notes: Notes) -> dict[str, bytes]:
    """The summaries on disk, and whatever else lies among them, by path."""
    root = notes.root / FOLDER
    return {
        path.relative_to(notes.root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


def stamps(notes: Notes) -> dict[str, tuple[int, int]]:
    """Which files the summaries are: their number and time on disk."""
    return {path: ((notes.root / path).stat().st_ino, (notes.root / path).stat().st_mtime_ns) for path in tree(notes)}


def names(notes: Notes, grain: str) -> list[str]:
    """Periods of a grain that have a summary on disk."""
    return sorted(path.stem for path in (notes.root / FOLDER / grain).glob("*.md"))


@dataclass(frozen=True)
class SummaryLine:
    """A sentence of a summary."""

    text: str
    day: str | None
    heading: str
    path: str
    first: int
    last: int


_CITED_LINE = r"(?P<text>.*) \[(?P<path>memory/[^\[\]]+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?\]"
_LINE, _DATED = re.compile(f"- {_CITED_LINE}"), re.compile(rf"- (?P<day>\d{{4}}-\d\d-\d\d): {_CITED_LINE}")


def sentences(text: str) -> list[SummaryLine]:
    """What a summary says; every line below its headings must be a sentence with its citation, or tags."""
    body = text.split("\n---\n", 1)[1]
    dated = re.search(r"^grain: (?:monthly|quarterly|yearly)$", text, re.MULTILINE) is not None
    lines, heading = [], ""
    for line in body.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line and not line.startswith("Tags: "):
            match = (_DATED if dated else _LINE).fullmatch(line)
            assert match is not None, line
            day = match["day"] if dated else None
            lines.append(
                SummaryLine(
                    match["text"],
                    day,
                    heading,
                    match["path"],
                    int(match["first"]),
                    int(match["last"] or match["first"]),
                )
            )
    return lines


def plain(lines: Iterable[str]) -> str:
    """Lines as one, without the marks at their beginnings."""
    return " ".join(
        " ".join(re.sub(r"^[\s>]*(?:(?:[-*+]|\d+[.)]) )?(?:\[[ xX]\] )?", "", line) for line in lines).split()
    )


def check(root: Path, text: str) -> list[SummaryLine]:
    """The sentences of a summary: each stands in the very lines that it cites, and none twice."""
    summary_lines = sentences(text)
    assert summary_lines
    for line in summary_lines:
        lines = (root / line.path).read_text(encoding="utf-8").splitlines()[line.first - 1 : line.last]
        assert line.text in plain(lines), (line, lines)
        assert lines[0].strip() and lines[-1].strip()
    assert len({sentence.text for sentence in summary_lines}) == len(summary_lines)
    return summary_lines


def length(text: str) -> int:
    """Tokens of the lines of a summary that say something."""
    return sum(len(line) // 4 + 1 for line in text.split("\n---\n", 1)[1].splitlines() if line.startswith("- "))


def front(text: str) -> dict[str, Any]:
    """The front matter of a summary."""
    import yaml

    return yaml.safe_load(text.split("---\n")[1])  # type: ignore[no-any-return]
