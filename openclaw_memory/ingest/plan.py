"""Build the units of a file as they are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

from ..errors import RedactionError
from ..knowledge.linking import Linker
from ..model import ExtractedFact, ParsedDocument, Section, Unit, script_of, tokens_of
from ..plugins.manager import Plugins
from ..store.api import CitedLines, Mention, PlannedUnit
from ..text import analysis, dates


def build_units(
    path: str,
    parsed: ParsedDocument,
    front: Mapping[str, Any],
    plugins: Plugins,
    linker: Linker,
    *,
    cited: Mapping[int, Sequence[CitedLines]] | None = None,
    analysed: bool = True,
    failures: dict[int, str] | None = None,
) -> tuple[list[Section], list[PlannedUnit]]:
    """Build the units to store from a parsed file, with their terms, mentions and facts; return its sections too.

    Plugins see each unit first: what they change or drop is changed or blanked in the section's lines as well.  A unit
    that a plugin fails on is left out; ``failures`` gets its first line and the reason.  ``front`` is the front matter
    that names what the file is about.  ``cited`` holds the citations of a summary by line; a summary is linked by its
    search text, as a citation mentions nothing.  Without ``analysed`` a unit has only its text, mentions and facts,
    which is enough for one that is not stored.
    """
    sections, kept = _pass_to_plugins(parsed, plugins, failures)
    texts = kept if cited is None else [(at, replace(unit, text=unit.search_text)) for at, unit in kept]
    links = linker.link(path, front, sections, texts)
    order = cache(lambda: dates.order_of("\n".join(line for section in parsed.sections for line in section.lines)))
    seen: Counter[int] = Counter()
    units: list[PlannedUnit] = []
    for (at, unit), (mentions, facts) in zip(kept, links, strict=True):
        citations = () if cited is None else cited.get(unit.start_line, ())
        if analysed:
            day = None if sections[at].date_source == "mtime" else sections[at].date
            units.append(analyse_unit(unit, at, seen, day, order, mentions, facts, citations))
        else:
            units.append(PlannedUnit(unit, at, 0, 0, {}, mentions=mentions, facts=facts, cited=citations))
    return sections, units


def analyse_unit(
    unit: Unit,
    section: int,
    seen: Counter[int],
    day: date | None = None,
    order: dates.Order | None = None,
    mentions: Sequence[Mention] = (),
    facts: Sequence[ExtractedFact] = (),
    cited: Sequence[CitedLines] = (),
) -> PlannedUnit:
    """Return a unit with its terms and all that ranking reads from its text.

    ``section`` is the number of its section in the file, ``seen`` counts the units of the file by hash; a date without
    a year is the one next to ``day``, and ``order`` that of day and month in numbers.
    """
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
        stated_days=dates.stated_days(text, day, order),
        tokens=tokens_of(text),
        likeness=analysis.likeness(text),
        script=script_of(text),
        amount=analysis.has_amount(text),
        speaker_key=analysis.unit_hash(analysis.name_key(unit.speaker)) if unit.speaker else 0,
        mentions=mentions,
        facts=facts,
        cited=cited,
    )


def _pass_to_plugins(
    parsed: ParsedDocument, plugins: Plugins, failures: dict[int, str] | None
) -> tuple[list[Section], list[tuple[int, Unit]]]:
    """Return the sections and the kept units, each with its section's number, after every plugin has seen them."""
    if not plugins.has_any("openclaw_memory_prepare_unit"):
        sections = list(parsed.sections)
        return sections, [(at, unit) for at, section in enumerate(sections) for unit in section.units]
    sections, kept = [], []
    for at, section in enumerate(parsed.sections):
        lines = list(section.lines)
        for unit in section.units:
            try:
                prepared = plugins.prepare_unit(unit)
            except RedactionError as error:
                prepared = None
                if failures is not None:
                    failures[unit.start_line] = str(error)
            if prepared is not unit:
                _rewrite(lines, section.start_line, unit, prepared)
            if prepared is not None:
                kept.append((at, prepared))
        sections.append(replace(section, lines=tuple(lines)))
    return sections, kept


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
