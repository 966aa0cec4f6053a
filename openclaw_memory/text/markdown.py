"""Markdown text to sections and units, with the exact lines of each.

Line numbers are 1-based and count ``\\n``, ``\\r\\n`` and ``\\r`` only, as editors do.  Every line that
has a letter or digit is covered by a unit; rules, bare fences and the lines below headers need none of their
own.  Units are in order; only the pieces of a long text (form ``sentence``) may share a line.  The ``text`` of
a piece is cut from its lines joined by single spaces; the ``text`` of every other unit is its lines joined by
line feeds, without the blanks around them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..model import DateSource, ParsedDocument, Section, Unit, UnitForm
from .blocks import Block, blocks_of
from .dates import Order, date_in_front_matter, date_in_heading, date_in_name, merely_states, order_of
from .front_matter import front_matter, front_matter_end, groups
from .lines import split_lines
from .machine import reports
from .struck import standing, standing_lines
from .turns import find_turns, is_role
from .units import UnitMaker

#: A longer paragraph is split into sentences of about this many tokens.
UNIT_TOKENS = 60
#: How OpenClaw heads the file of a session.
_SESSION = re.compile(r"Session: \d{4}-\d\d-\d\d[ T]\d\d:\d\d")


def parse(text: str, *, path: str, mtime: date, unit_tokens: int = UNIT_TOKENS) -> ParsedDocument:
    """Parse one memory file into sections of units.

    ``path`` is the file's path in the workspace (its name may state a date), ``mtime`` the day it was last
    changed, ``unit_tokens`` the length in tokens from which a text is cut into sentences.  A section's
    date is, in this order: the file name's, its own heading's, the nearest enclosing heading's, the
    front matter's (:func:`.dates.date_in_front_matter`), ``mtime``.  Nothing is raised for any text.
    """
    lines = split_lines(text)
    body = front_matter_end(lines)
    front = front_matter(lines)
    left, carried = standing_lines(lines)
    # Blank lines in place of the front matter, and of what is no Markdown, keep the numbering.
    marked = ["" if at < body or at in carried else line for at, line in enumerate(lines)] if body or carried else lines
    turns = find_turns(lines)
    # The messages of a chat are texts of their own.
    chat = [at for at, speaker in turns.items() if at >= body and is_role(speaker) and lines[at].startswith(speaker)]
    blocks = blocks_of(marked, chat)
    maker = UnitMaker(lines, left, turns, unit_tokens)
    if body:
        for start, end in groups(lines, 1, body - 1):
            maker.chunks(start, end, "meta")
        maker.skip(body)
    borders = [(0, 0)]
    headings: list[Block] = []
    for block in blocks:
        if block.level:
            maker.cover(block.start)
            borders.append((block.start, len(maker.units)))
            headings.append(block)
        maker.add(block)
    maker.cover(len(lines))
    borders.append((len(lines), len(maker.units)))
    dater = _Dater(path, front, mtime, cache(lambda: order_of(text)))
    trail = _Trail(path, dater)
    reported = reports(path, lines)
    sections = []
    for index, ((start, first), (end, last)) in enumerate(pairwise(borders)):
        if index:
            trail.enter(headings[index - 1])
        section = _section(lines, start, end, maker.units[first:last], trail)
        if section is not None:
            if index == 1 and _SESSION.match(headings[0].words):
                section = _of_session(section)
            below = headings[index].level if index < len(headings) else 0
            section = _titled(section, headings[index - 1].level < below) if index else section
            sections.append(_of_machine(section, reported))
    return ParsedDocument(tuple(sections), front)


def _section(lines: Sequence[str], start: int, end: int, units: list[Unit], trail: _Trail) -> Section | None:
    while start < end and not lines[start].strip(" \t"):
        start += 1
    while end > start and not lines[end - 1].strip(" \t"):
        end -= 1
    if start == end:
        return None
    day, source = trail.date()
    return Section(trail.heading(), start + 1, end, day, source, tuple(units), tuple(lines[start:end]))


def _titled(section: Section, has_subsections: bool) -> Section:
    """Index a section's heading with those that enclose it, and tell a bare title from a heading.

    So words of an outer heading are found in the sections below it, where their text stands.
    """
    if not section.units or section.units[0].form != "heading":
        return section
    heading, *text = section.units
    form: UnitForm = "title" if has_subsections and not text else "heading"
    indexed = section.heading if " > " in section.heading else heading.indexed
    return replace(section, units=(replace(heading, form=form, indexed=indexed), *text))


def _of_session(section: Section) -> Section:
    """The head of a session that OpenClaw has saved: the list of its keys is for machines."""
    units = [replace(unit, form="machine") if unit.form == "item" else unit for unit in section.units]
    return replace(section, units=tuple(units))


def _of_machine(section: Section, reported: Sequence[range]) -> Section:
    """A section of which OpenClaw has made some lines by itself: nobody said them."""
    if not any(section.start_line < lines.stop and lines.start <= section.end_line for lines in reported):
        return section
    units = [
        replace(unit, form="machine") if any(unit.start_line in lines for lines in reported) else unit
        for unit in section.units
    ]
    return replace(section, units=tuple(units))


class _Dater:
    """What dates a whole file: its name, its front matter, its time of change."""

    def __init__(self, path: str, front: dict[str, Any], mtime: date, order: Order) -> None:
        self.name = date_in_name(path)
        self.front = date_in_front_matter(front, order)
        self.mtime = mtime
        self.order = order

    def date(self, heading: date | None) -> tuple[date, DateSource]:
        if self.name is not None:
            return self.name, "name"
        if heading is not None:
            return heading, "heading"
        if self.front is not None:
            return self.front, "front-matter"
        return self.mtime, "mtime"


class _Step(NamedTuple):
    level: int
    words: str
    day: date | None


class _Trail:
    """The headings that enclose the current section, outermost first."""

    def __init__(self, path: str, dater: _Dater) -> None:
        self._dater = dater
        self._stem = path.rpartition("/")[2].rpartition(".")[0].casefold()
        self._steps: list[_Step] = []

    def enter(self, heading: Block) -> None:
        while self._steps and self._steps[-1].level >= heading.level:
            self._steps.pop()
        words = heading.words
        if (left := standing(words)) != words:
            words = " ".join(left.split()) or words
        # It is named in every section below it, so its share of the path is bounded.
        self._steps.append(_Step(heading.level, words[:120], date_in_heading(words, self._dater.order)))

    def date(self) -> tuple[date, DateSource]:
        return self._dater.date(next((step.day for step in reversed(self._steps) if step.day), None))

    def heading(self) -> str:
        steps = self._steps
        if len(steps) > 1 and steps[0].level == 1 and self._repeats_name(steps[0].words):
            steps = steps[1:]
        return " > ".join(step.words for step in steps if step.words)

    def _repeats_name(self, words: str) -> bool:
        day = self._dater.name
        return words.casefold() == self._stem or (day is not None and merely_states(words, day, self._dater.order))
