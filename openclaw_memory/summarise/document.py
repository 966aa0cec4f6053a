"""A summary as a Markdown file: writing it, and reading its sentences back for the next coarser one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ..ingest import plan as planning
from ..ingest import summary_files
from ..ingest.summary_files import DATED, TAGS
from ..knowledge.linking import Linker
from ..model import UNSAID, Grain, Origin, Section
from ..plugins.manager import Plugins
from ..store.api import OntologyRows
from .sentences import Sentence, line_of
from .summary import Summary

#: Of the file's make; another one has every summary rewritten.
FORMAT = 3

#: What a text mentions by itself: curated concepts stay out, so that a summary follows from its sources alone.
LINKER = Linker(OntologyRows())

#: Forms of units that are no sentences.
_SILENT = UNSAID | {"heading", "title"}
#: What a YAML list may hold without quotes.
_BARE = re.compile(r"[\w./+@-]+(?: [\w./+@-]+)*")


@dataclass(frozen=True, slots=True)
class Source:
    """What a summary was made of: a finer summary, or a note with the SHA-256 of its text."""

    path: str
    sha256: str = ""

    def __str__(self) -> str:
        return f"{self.path} {self.sha256}".strip()


def render(grain: Grain, period: str, summary: Summary, sources: Sequence[Source], origin: Origin, digest: str) -> str:
    """The file of a summary: front matter, the period as title, and a line with its citation for every sentence."""
    blocks = [f"# {period}"]
    for part in summary.parts:
        lines = [f"## {part.heading}"]
        if part.tags:
            lines.append(TAGS + " ".join(part.tags))
        if len(lines) > 1:
            lines.append("")
        lines += [line_of(sentence, grain in DATED) for sentence in part.sentences]
        blocks.append("\n".join(lines))
    body = "\n\n".join(blocks)
    last = max(sentence.day for sentence in summary.sentences())
    front = [
        "---",
        f"grain: {grain.value}",
        f"period: {period}",
        f"date: {last.isoformat()}",
        f"origin: {origin.value}",
        f"format: {FORMAT}",
        f"digest: {digest}",
        f"content: {hashlib.sha256(body.encode('utf-8')).hexdigest()}",
        "sources:",
        *(f"  - {_item(str(source))}" for source in sources),
        "---",
    ]
    return "\n".join(front) + "\n" + body + "\n"


def sentences_in(
    path: str, grain: Grain, text: str, day: date, origin: Origin, plugins: Plugins, first_entry: int, first_order: int
) -> list[Sentence]:
    """The sentences of a summary's ``text``, each with the lines that it cites; its own where it cites none.

    ``day`` is for sentences that have none.  The same for a summary that was just made and for one that was read.
    """
    read = summary_files.read(path, text, grain, day)
    sections, units = planning.prepare(read.parsed, plugins, analysed=False)
    bare = [planning.bare(one) for one in units]
    tags: tuple[str, ...] = ()
    found: list[Sentence] = []
    entries: dict[date | int, int] = {}
    for planned in LINKER.linked(path, {}, sections, bare):
        unit, section = planned.unit, sections[planned.section]
        if unit.form in ("heading", "title"):
            tags = ()
        if unit.form in _SILENT or unit.start_line not in read.cited:
            continue
        said = " ".join(unit.search_text.split())
        cited = read.cited[unit.start_line]
        if not said:
            continue
        if not cited and summary_files.is_tag_line(said):
            tags = tuple(tag.lstrip("#") for tag in said.removeprefix(TAGS).split())
            continue
        where = (
            (cited[0].path, cited[0].start_line, cited[0].end_line) if cited else (path, unit.start_line, unit.end_line)
        )
        own = tuple(mention.text for mention in planned.mentions if mention.rule == "tag")
        found.append(
            Sentence(
                text=said,
                path=where[0],
                start_line=where[1],
                end_line=where[2],
                day=section.date or day,
                entry=first_entry + entries.setdefault(_entry(grain, section, planned.section), len(entries)),
                order=first_order + len(found),
                heading=section.heading,
                speaker=unit.speaker,
                tags=tuple(dict.fromkeys((*tags, *own))),
                mentions=tuple(mention for mention in planned.mentions if mention.rule != "file"),
                origin=origin,
            )
        )
    return found


def _entry(grain: Grain, section: Section, place: int) -> date | int:
    """What the sentences of a section have in common: of a week its day, else the section, the ``place``-th."""
    return section.date if grain is Grain.WEEKLY and section.date is not None else place


def _item(text: str) -> str:
    """``text`` as an item of a YAML list."""
    if _BARE.fullmatch(text) is not None:
        return text
    from ..system.yaml_edit import scalar

    return scalar(text)
