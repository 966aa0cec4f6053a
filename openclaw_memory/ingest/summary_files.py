"""Parse the summaries that consolidation writes: the day and the source of every sentence.

A sentence stands on a line ``- text [memory/2026-02-16.md#L3-L4]``, in months and coarser grains behind its day:
``- 2026-02-16: text [...]``; of a routine line ``×8`` follows, how often it was told.  Day and citation may be missing,
as a person may write into the file too.  Search sees the text alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from .. import patterns as re
from ..model import DateSource, Grain, ParsedDocument, Section, Unit
from ..records import NamedTuple
from ..store.api import CitedLines
from ..text.dates import date_in_heading
from ..text.front_matter import front_matter_end, parse_front_matter, read_values
from ..text.lines import split_lines
from ..text.markdown import parse_lines
from ..text.turns import find_turns

#: Long enough that no sentence of a summary is cut, which would part it from its citation.
UNIT_TOKENS = 1_000_000

#: Grains whose lines begin with their day; in finer ones the day is in the file's name or a heading.
DATED = frozenset({Grain.MONTHLY, Grain.QUARTERLY, Grain.YEARLY})

#: The beginning of a line with the tags of the sentences below it.
TAGS = "Tags: "

_TARGET = re.compile(r"\[(?P<path>[^\n]+\.md)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?\]", re.IGNORECASE)
_DAY = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2}):\s+(?=\S)")

_SOURCES = "sources"


class Line(NamedTuple):
    """A sentence of a summary: its text on one line, its own day if it states one, its citations, how often it came."""

    text: str
    day: date | None
    cited: tuple[CitedLines, ...]
    times: int = 1


class SummaryText(NamedTuple):
    """A parsed summary; ``front`` has ``edited`` added.

    ``cited`` holds citations by the first line of a unit, ``counts`` how often a line was told.
    """

    parsed: ParsedDocument
    cited: Mapping[int, tuple[CitedLines, ...]]
    front: Mapping[str, Any]
    counts: Mapping[int, int]


def content_hash(text: str) -> str:
    """Return the SHA-256 of the text below the front matter of a summary, independent of its line ends."""
    lines = split_lines(text)
    return _hash(lines[_front_end(lines) :])


def is_edited(text: str) -> bool:
    """Return true if a person has changed the summary ``text`` since it was written, or wrote all of it."""
    return bool(read_front(text)["edited"])


def read_front(text: str) -> dict[str, Any]:
    """Return the front matter of a summary's ``text`` with ``edited`` added; see :func:`is_edited`."""
    return _front(split_lines(text))


def _front(lines: Sequence[str]) -> dict[str, Any]:
    end = _front_end(lines)
    front = _generated_front_matter(lines[1 : end - 1])
    if front is None:
        return {**(read_values(lines[1 : end - 1])[0] if end else {}), "edited": True}
    return {**front, "edited": front["content"] != _hash(lines[end:])}


def parse_line(text: str, dated: bool = True) -> Line | None:
    """Parse a line of a summary; return ``None`` for one without a text.

    With ``dated`` a day at its beginning is its own, else a part of the text.  Only the last citation counts: one
    before it belongs to the text that was summarised.
    """
    rest = text.strip()
    if rest[:1] in "-*+" and rest[1:2].isspace():
        rest = rest[1:].lstrip()
    day = None
    if dated and (stated := _DAY.match(rest)) is not None:
        try:
            day = date.fromisoformat(stated["day"])
            rest = rest[stated.end() :]
        except ValueError:
            pass
    count = re.search(r"(?<=\])\s+×(\d{1,6})$", rest)  # how often a routine line was told
    sentence, cited = _split_citation(rest[: count.start()] if count else rest)
    return Line(sentence, day, cited, int(count[1]) if count else 1) if sentence else None


def is_tag_line(text: str) -> bool:
    """Return true if ``text`` merely lists the tags of the sentences below it."""
    return re.fullmatch(rf"{TAGS.strip()}(?: #\S+)+", text) is not None


def read(path: str, lines: Sequence[str], grain: Grain, day: date, raw: Sequence[str] | None = None) -> SummaryText:
    """Parse a summary into sections, one for each run of sentences of a day, with units searched without citation.

    ``path`` is that of its file, ``day`` that of the file's last change.  ``lines`` may have been redacted; ``raw``
    are then the file's own, which decide what the front matter states and whether a person has edited it.
    """
    front = _front(lines if raw is None else raw)
    if front["edited"] and raw is not None:
        front = _front(lines) | {"edited": True}
    end = _front_end(lines)
    # Blank lines in place of the front matter keep the numbering; it is longer than that of any note.
    body = [""] * end + list(lines[end:])
    parsed = parse_lines(body, parse_front_matter(body), path=path, mtime=day, unit_tokens=UNIT_TOKENS)
    return _read(parsed, front, grain)


def _read(parsed: ParsedDocument, front: Mapping[str, Any], grain: Grain) -> SummaryText:
    period = date_in_heading(str(front.get("date", "")))
    days = [_day_of(section, period, grain) for section in parsed.sections]
    lines = {
        unit.start_line: line
        for section, (_, source) in zip(parsed.sections, days, strict=True)
        for unit in section.units
        if unit.form not in ("heading", "title")
        # Below a heading with a day, a date at the beginning of a line is a part of the text.
        and (line := parse_line(unit.text, grain in DATED or (grain is Grain.WEEKLY and source != "heading")))
        is not None
    }
    texts = [line.text for line in lines.values()]
    speakers = {texts[at]: speaker for at, speaker in find_turns(texts).items()}
    sections: list[Section] = []
    cited: dict[int, tuple[CitedLines, ...]] = {}
    for section, (section_day, source) in zip(parsed.sections, days, strict=True):
        units: list[tuple[date | None, Unit]] = []
        for unit in section.units:
            line = lines.get(unit.start_line)
            if line is None:
                units.append((section_day, unit))
                continue
            cited[unit.start_line] = line.cited
            units.append((line.day or section_day, replace(unit, indexed=line.text, speaker=speakers.get(line.text))))
        sections += _by_day(section, units, source)
    counts = {at: line.times for at, line in lines.items()}
    return SummaryText(ParsedDocument(tuple(sections), dict(front)), cited, front, counts)


def _day_of(section: Section, period: date | None, grain: Grain) -> tuple[date | None, DateSource]:
    """Return the day of the sentences under a heading that state none, and its source.

    A day's summary is of that day, whatever dates the notes' headings name.
    """
    if grain is Grain.DAILY and section.date_source == "name":
        return section.date, "name"
    headed = date_in_heading(section.heading.rpartition(" > ")[2])
    if headed is not None:
        return headed, "heading"
    return (section.date, section.date_source) if period is None else (period, "front-matter")


def _split_citation(text: str) -> tuple[str, tuple[CitedLines, ...]]:
    """Return a text on one line without the citation at its end, and that citation."""
    if text.endswith("]"):
        # A path may have brackets of its own, and so may the text.
        for opening in ("[memory/", "["):
            at = text.rfind(opening)
            if at >= 0 and (match := _TARGET.fullmatch(text, at)) is not None:
                first = int(match["first"])
                return " ".join(text[:at].split()), (CitedLines(match["path"], first, int(match["last"] or first)),)
    return " ".join(text.split()), ()


def _front_end(lines: Sequence[str]) -> int:
    """Return the number of lines of the front matter; that of a summary has no bound, unlike a note's."""
    if end := front_matter_end(lines):
        return end
    if len(lines) < 2 or lines[0].rstrip() != "---" or not lines[1].startswith("grain: "):
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)


def _generated_front_matter(lines: Sequence[str]) -> dict[str, Any] | None:
    """Parse the front matter in ``lines``, of any length, if it has the keys that consolidation writes and no other."""
    front: dict[str, Any] = {}
    for line in map(str.rstrip, lines):
        if line.lstrip().startswith("- ") and next(reversed(front), None) == _SOURCES:
            front[_SOURCES].append(_plain(line.lstrip()[2:].lstrip()))
            continue
        key, _, value = line.partition(":")
        if key in front or bool(value) == (key == _SOURCES):
            return None
        front[key] = value.strip() or []
    written = {"grain", "period", "date", "origin", "format", "digest", "content", _SOURCES}
    return front if set(front) == written else None


def _plain(item: str) -> str:
    """Return an item of a YAML list without its quotes."""
    if item[0] not in "'\"":
        return item
    import yaml

    try:
        return str(yaml.safe_load(item))
    except yaml.YAMLError:
        return item


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).strip().encode("utf-8", "surrogatepass")).hexdigest()


def _starts_section(unit: Unit) -> bool:
    return unit.form in ("heading", "title") or is_tag_line(unit.search_text)


def _by_day(section: Section, units: Sequence[tuple[date | None, Unit]], source: DateSource) -> list[Section]:
    """Cut ``section`` where the day changes; a heading and its tags belong to the sentences that follow."""
    runs: list[tuple[date | None, list[Unit]]] = []
    for day, unit in units:
        if runs and (runs[-1][0] == day or all(map(_starts_section, runs[-1][1]))):
            runs[-1] = day, [*runs[-1][1], unit]
        else:
            runs.append((day, [unit]))
    parts = []
    for at, (day, members) in enumerate(runs):
        first = section.start_line if not at else members[0].start_line
        last = section.end_line if at == len(runs) - 1 else runs[at + 1][1][0].start_line - 1
        lines = section.lines[first - section.start_line : last - section.start_line + 1]
        parts.append(Section(section.heading, first, last, day, source, tuple(members), lines))
    return parts
