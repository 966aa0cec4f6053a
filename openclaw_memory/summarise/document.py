"""A summary as a Markdown file: render it, parse its sentences for the next coarser one, write and delete it.

Files are written whole, and never one that a person wrote or changed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from .. import patterns as re
from ..errors import WorkspaceError
from ..ingest import summary_files
from ..ingest.notes import build_units
from ..ingest.summary_files import DATED, TAGS
from ..knowledge.linking import Linker
from ..model import UNSAID, Grain, Origin
from ..plugins.manager import Plugins
from ..records import NamedTuple
from ..store.api import OntologyRows
from ..system import atomic
from ..system.yaml_edit import dump_scalar
from ..text.lines import split_lines
from .inventory import FORMAT
from .sentences import Sentence, format_line
from .summary import Summary, own_headings

#: Finds the concepts of a text itself: without curated ones, so that a summary depends on its sources alone.
LINKER = Linker(OntologyRows())


#: ``foreign``: the file is a person's, or something that cannot be a summary.
Outcome = Literal["done", "same", "foreign"]


class Source(NamedTuple):
    """A file that a summary was made from: a finer summary, or a note with the SHA-256 of its text."""

    path: str
    sha256: str = ""

    def __str__(self) -> str:
        return f"{self.path} {self.sha256}".strip()


def render(grain: Grain, period: str, summary: Summary, sources: Sequence[Source], origin: Origin, digest: str) -> str:
    """Render the file of a summary: front matter, the period as title, and a cited line for every sentence."""
    blocks = [f"# {period}"]
    for part in summary.parts:
        lines = [f"## {part.heading}"]
        if part.tags:
            lines.append(TAGS + " ".join(part.tags))
        if len(lines) > 1:
            lines.append("")
        lines += [format_line(sentence, grain in DATED) for sentence in part.sentences]
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
        *(f"  - {dump_scalar(str(source))}" for source in sources),
        "---",
    ]
    return "\n".join(front) + "\n" + body + "\n"


def parse_sentences(
    path: str, grain: Grain, text: str, day: date, origin: Origin, plugins: Plugins, first_entry: int, first_order: int
) -> list[Sentence]:
    """Parse the sentences of a summary's ``text``, each with the lines that it cites, or its own where it cites none.

    ``day`` is for sentences without one; entries and places are counted on from ``first_entry`` and ``first_order``.
    A summary that was just rendered and one that was read from disk give the same sentences.
    """
    read = summary_files.read(path, split_lines(text), grain, day)
    sections, units = build_units(path, read.parsed, {}, plugins, LINKER, cited=read.cited, analysed=False)
    tags: tuple[str, ...] = ()
    sentences: list[Sentence] = []
    entries: dict[date | int, int] = {}
    for planned in units:
        unit, section = planned.unit, sections[planned.section]
        if unit.form in ("heading", "title"):
            tags = ()
            continue
        if unit.form in UNSAID or unit.start_line not in read.cited:
            continue
        words = " ".join(unit.search_text.split())
        cited = read.cited[unit.start_line]
        if not words:
            continue
        if not cited and summary_files.is_tag_line(words):
            tags = tuple(tag.lstrip("#") for tag in words.removeprefix(TAGS).split())
            continue
        # The sentences of a section make up one entry; those of a week are grouped by their day instead.
        entry = section.date if grain is Grain.WEEKLY and section.date is not None else planned.section
        role = own_headings().get(re.split(" > | · ", section.heading)[-1], "")
        inline = tuple(mention.text for mention in planned.mentions if mention.rule == "tag")
        sentences.append(
            Sentence(
                text=words,
                path=cited[0].path if cited else path,
                start_line=cited[0].start_line if cited else unit.start_line,
                end_line=cited[0].end_line if cited else unit.end_line,
                day=section.date or day,
                entry=first_entry + entries.setdefault(entry, len(entries)),
                order=first_order + len(sentences),
                heading="" if role else section.heading,
                speaker=unit.speaker,
                tags=tuple(dict.fromkeys((*tags, *inline))),
                mentions=tuple(mention for mention in planned.mentions if mention.rule != "file"),
                origin=origin,
                title=role == "topics",
                count=read.counts[unit.start_line],
            )
        )
    return sentences


class SummaryFiles:
    """The summaries of a workspace on disk; a writer holds the lock of their folder."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def write(self, path: str, text: str, dry: bool = False) -> Outcome:
        """Write ``text`` to the file ``path`` unless it is a person's or has that text; with ``dry`` only check.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written.
        """
        target = self._target(path)
        old = self._text(target)
        if old == text:
            return "same"
        if summary_files.is_edited(old) if old is not None else os.path.lexists(target):
            return "foreign"
        if not dry:
            atomic.write_text(target, text, self._workspace)
        return "done"

    def remove(self, path: str, dry: bool = False) -> Outcome:
        """Delete the file ``path`` unless it is a person's; with ``dry`` only check.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be deleted.
        """
        target = self._target(path)
        if not os.path.lexists(target):
            return "same"
        old = self._text(target)
        if old is None or summary_files.is_edited(old):
            return "foreign"
        try:
            if not dry:
                atomic.delete(target, self._workspace)
        except OSError as error:
            raise WorkspaceError(
                f"{target}: cannot be removed ({error.strerror or error}); make its folder writable"
            ) from error
        return "done"

    def _target(self, path: str) -> Path:
        """Return the file of ``path``; raises where a link or a file in the way would lead the write elsewhere."""
        target = self._workspace / path
        for folder in (target.parent.parent, target.parent):
            if os.path.lexists(folder) and not folder.is_dir():
                raise WorkspaceError(f"{folder}: is no folder, so no summary can be written there; move it away")
        if not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(self._workspace)):
            raise WorkspaceError(f"{target.parent}: a link that leads out of the workspace; put a folder in its place")
        return target

    def _text(self, target: Path) -> str | None:
        """Return the text of a regular file; ``None`` for a link, a missing file, or one that is not text."""
        try:
            if target.is_symlink() or not target.is_file():
                return None
            return atomic.read_bytes(target, self._workspace).decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError):
            return None
