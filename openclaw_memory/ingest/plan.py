"""The units of a file as they are to be stored, and which of them it had before: these live on.

A unit is recognised by its search text.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from ..errors import RedactionError
from ..model import ParsedDocument, Section, Unit, script_of, tokens_of
from ..plugins.manager import Plugins
from ..store.api import PlannedUnit, StoredUnit
from ..text import analysis, dates


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """What was written, in units."""

    added: int = 0
    updated: int = 0
    deleted: int = 0

    def __add__(self, other: ChangeCounts) -> ChangeCounts:
        return ChangeCounts(self.added + other.added, self.updated + other.updated, self.deleted + other.deleted)


def prepare(
    parsed: ParsedDocument, plugins: Plugins, analysed: bool = True, failures: dict[int, str] | None = None
) -> tuple[list[Section], list[PlannedUnit]]:
    """Pass units through the plugins and analyse them; ids are still open.

    What a plugin changes or drops is changed or blanked in the section's lines too.  Units that are not to be
    ``analysed``, as they are not stored, have nothing of what the index wants to know of their words.  A unit that a
    plugin fails on is left out; ``failures`` gets its first line and why.
    """
    asks = plugins.has_any("openclaw_memory_prepare_unit")
    sections: list[Section] = []
    planned: list[PlannedUnit] = []
    seen: Counter[int] = Counter()
    order = cache(lambda: dates.order_of("\n".join(line for section in parsed.sections for line in section.lines)))
    for at, section in enumerate(parsed.sections):
        day = None if section.date_source == "mtime" else section.date
        lines: list[str] | None = None
        for unit in section.units:
            try:
                kept: Unit | None = plugins.prepare_unit(unit) if asks else unit
            except RedactionError as error:
                kept = None
                if failures is not None:
                    failures[unit.start_line] = str(error)
            if kept is not unit:
                lines = list(section.lines) if lines is None else lines
                _rewrite(lines, section.start_line, unit, kept)
            if kept is not None:
                planned.append(_analysed(kept, at, seen, day, order) if analysed else PlannedUnit(kept, at, 0, 0, {}))
        sections.append(section if lines is None else replace(section, lines=tuple(lines)))
    return sections, planned


def bare(planned: PlannedUnit) -> PlannedUnit:
    """A unit with its searched text alone: the citation of a summary's sentence mentions nothing."""
    return replace(planned, unit=replace(planned.unit, text=planned.unit.search_text))


def _analysed(
    unit: Unit, section: int, seen: Counter[int], day: date | None = None, order: dates.Order | None = None
) -> PlannedUnit:
    text = unit.search_text
    text_hash = analysis.unit_hash(text)
    occurrence = seen[text_hash]
    seen[text_hash] += 1
    return PlannedUnit(
        unit=unit,
        section=section,
        hash=text_hash,
        occurrence=occurrence,
        terms=Counter(analysis.terms(text)),
        time_words=analysis.time_words(text),
        says=dates.said(text, day, order),
        tokens=tokens_of(text),
        likeness=analysis.likeness(text),
        script=script_of(text),
        amount=analysis.has_amount(text),
        speaker_key=analysis.unit_hash(analysis.name_key(unit.speaker)) if unit.speaker else 0,
    )


def _rewrite(lines: list[str], first_line: int, old: Unit, new: Unit | None) -> None:
    """Put a unit's new text (nothing for a dropped one) in the place of its old text."""
    low, high = old.start_line - first_line, old.end_line - first_line + 1
    block = "\n".join(lines[low:high])
    text = "" if new is None else new.text
    if old.text and old.text in block:
        block = block.replace(old.text, text)
    else:
        block = text
    changed = block.split("\n")
    missing = (high - low) - len(changed)
    if missing < 0:
        changed = [*changed[: high - low - 1], " ".join(changed[high - low - 1 :])]
    lines[low:high] = changed + [""] * max(0, missing)


def match(planned: Sequence[PlannedUnit], stored: Sequence[StoredUnit]) -> tuple[list[PlannedUnit], int]:
    """Give the units of a file their old ids; returns them, and how many of the stored ones are gone."""
    waiting: defaultdict[int, deque[StoredUnit]] = defaultdict(deque)
    for unit in stored:
        waiting[unit.hash].append(unit)
    matched = []
    for plan in planned:
        same = waiting.get(plan.hash)
        matched.append(replace(plan, id=same.popleft().id) if same else plan)
    return matched, sum(map(len, waiting.values()))


def counted(planned: Sequence[PlannedUnit], gone: int) -> ChangeCounts:
    """Counts of one file's change when ``gone`` of its units are really gone."""
    fresh = sum(plan.id is None for plan in planned)
    updated = min(fresh, gone)
    return ChangeCounts(fresh - updated, updated, gone - updated)
