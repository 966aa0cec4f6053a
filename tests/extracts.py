"""Sentences to summarise, taken from Markdown as ingest reads it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from openclaw_memory.ingest.notes import build_units
from openclaw_memory.model import Grain, Origin
from openclaw_memory.plugins.manager import Plugins
from openclaw_memory.summarise.document import LINKER, parse_sentences, render
from openclaw_memory.summarise.sentences import Sentence, extract_sentences
from openclaw_memory.summarise.summary import Summary
from openclaw_memory.text import calendar
from openclaw_memory.text.markdown import parse

DAY = date(2026, 2, 16)
PLUGINS = Plugins(entry_points=False)


def extracted(
    text: str, day: date = DAY, entry: int = 0, order: int = 0, unit_tokens: int = 60, analysed: bool = False
) -> list[Sentence]:
    """The sentences of a note of ``day``; ``analysed`` reads it as the index does."""
    path = f"memory/{day.isoformat()}.md"
    parsed = parse(text, path=path, mtime=day, unit_tokens=unit_tokens)
    sections, units = build_units(path, parsed, parsed.front_matter, PLUGINS, LINKER, analysed=analysed)
    return extract_sentences(path, day, Origin.AGENT, sections, units, entry, order)


def period(notes: Mapping[date, str]) -> list[Sentence]:
    """The sentences of several notes, with entries and places counted through."""
    found: list[Sentence] = []
    for day, text in sorted(notes.items()):
        found += extracted(text, day, found[-1].entry + 1 if found else 0, len(found))
    return found


def read_back(summary: Summary, grain: Grain, name: str) -> list[Sentence]:
    """The sentences of a summary after it was written to its file."""
    text = render(grain, name, summary, (), Origin.AGENT, "0" * 64)
    last = calendar.bounds(grain, name)[1]
    return parse_sentences(calendar.path_of(grain, name), grain, text, last, Origin.AGENT, PLUGINS, 0, 0)
