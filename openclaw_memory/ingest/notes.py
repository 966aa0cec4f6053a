"""Read one file, from its bytes to analysed units, for the index and for summaries; keep remarks for ``status``."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError, RedactionError
from ..knowledge.linking import Linker
from ..model import (
    Grain,
    Kind,
    Origin,
    ParsedDocument,
    Section,
    SourceFile,
    Unit,
    counted,
    script_of,
    tokens_of,
)
from ..plugins.manager import Plugins
from ..records import NamedTuple, dataclass
from ..store.api import CitedLines, DocumentChange, PlannedUnit
from ..text import analysis, dates
from ..text.front_matter import FrontMatter, fold_key, parse_front_matter
from ..text.lines import split_lines
from ..text.markdown import UNIT_TOKENS, parse_lines
from ..text.withheld import without_host_additions, without_private
from . import summary_files
from .scan import Unreadable, describe_defect, max_bytes, read_note

log = logging.getLogger("openclaw_memory.ingest")

#: ``mask(path, text)`` takes out of a file's text the parts that must not be read; it keeps the number of lines.
Mask = Callable[[str, str], str]


class RawNote(NamedTuple):
    """A file as it is on disk: its ``lines`` and the hash of its text, its front matter, a remark on its encoding.

    ``public`` is the text with line feeds only and without its private parts.
    """

    lines: Sequence[str]
    sha256: str
    front: FrontMatter
    public: str
    remark: str | None = None

    @classmethod
    def read(cls, file: SourceFile, max_bytes: int) -> RawNote:
        """Read a file; raises as :func:`~openclaw_memory.ingest.scan.read_note`."""
        return cls.parse(*read_note(file, max_bytes))

    @classmethod
    def parse(cls, text: str, remark: str | None = None) -> RawNote:
        """Split the text of a file into lines and parse its front matter."""
        lines = split_lines(text)
        front = parse_front_matter(lines)
        public = without_private("\n".join(lines), front=front.values)
        return cls(lines, hashlib.sha256(text.encode("utf-8")).hexdigest(), front, public, remark)

    @property
    def text(self) -> str:
        """The text with line feeds only."""
        return "\n".join(self.lines)

    @property
    def private_lines(self) -> int:
        """Number of lines that are private, or hold a private part."""
        if self.public == self.text:
            return 0
        return sum(line != seen for line, seen in zip(self.lines, self.public.split("\n"), strict=True))


class NoteText(NamedTuple):
    """The ``lines`` of a file that may be read, beside the file as it is on disk."""

    lines: Sequence[str]
    raw: RawNote


@dataclass(frozen=True, slots=True)
class ReadNote(DocumentChange):
    """A parsed file: ``file`` with the origin that its front matter leaves it, and its units with their mentions.

    ``left_out`` is a remark on units that are missing because a plugin failed on them; ``sha256`` is then that of no
    text.
    """

    left_out: str | None = None


class NoteReader:
    """Reads the files of a workspace, redacted by the plugins and masked.

    An unexpected error in one file makes that file :class:`~openclaw_memory.ingest.scan.Unreadable` and no other.
    """

    def __init__(self, settings: IngestSettings, plugins: Plugins, mask: Mask | None = None) -> None:
        self._settings = settings
        self._plugins = plugins
        self._mask = mask

    def text(self, file: SourceFile, raw: RawNote | None = None) -> NoteText:
        """Read the text of a file, unless it was read already as ``raw``.

        Raises :class:`~openclaw_memory.ingest.scan.Unreadable` and
        :class:`~openclaw_memory.errors.RedactionError`.
        """
        with _as_unreadable(file.path):
            raw = RawNote.read(file, max_bytes(self._settings)) if raw is None else raw
            return NoteText(self._readable(file.path, raw), raw)

    def readable_text(self, path: str, text: str) -> str:
        """Return ``text`` of the file ``path`` without private and other people's parts, redacted and masked."""
        return "\n".join(self._readable(path, RawNote.parse(text)))

    def _readable(self, path: str, raw: RawNote) -> Sequence[str]:
        text = without_host_additions(raw.public)
        lines = raw.lines if text == raw.text else text.split("\n")
        if self._plugins.has_any("openclaw_memory_prepare_lines"):
            lines = self._plugins.prepare_lines(path, list(lines))
        if self._mask is not None and (masked := self._mask(path, text := "\n".join(lines))) != text:
            lines = masked.split("\n")
        return lines

    def read(self, file: SourceFile, linker: Linker, note: NoteText | None = None, analysed: bool = True) -> ReadNote:
        """Parse and analyse a file; ``note`` is its text if that was read already.  Raises as :meth:`text`.

        Without ``analysed`` units lack what only the index needs: see :func:`build_units`.
        """
        note = self.text(file) if note is None else note
        with _as_unreadable(file.path):
            return self._read(file, linker, note, analysed)

    def _read(self, file: SourceFile, linker: Linker, note: NoteText, analysed: bool) -> ReadNote:
        cited: Mapping[int, Sequence[CitedLines]] | None = None
        raw, lines = note.raw, note.lines
        # The trust in a file is lowered by its front matter on disk, of which redaction may take out a part.
        stated: Mapping[str, Any] = raw.front.values
        if file.grain is not Grain.WORKING:
            summary = summary_files.read(file.path, lines, file.grain, file.day, raw.lines)
            parsed, cited, stated = summary.parsed, summary.cited, summary.front
        else:
            end = raw.front.lines
            front = raw.front if end and lines[:end] == raw.lines[:end] else parse_front_matter(lines)
            parsed = parse_lines(lines, front, path=file.path, mtime=file.day, unit_tokens=UNIT_TOKENS)
            if self._plugins.has_any("openclaw_memory_chunk"):
                parsed = replace(parsed, sections=tuple(self._plugins.chunk(file.path, s) for s in parsed.sections))
        failures: dict[int, str] = {}
        front_matter = parsed.front_matter
        sections, units = build_units(
            file.path, parsed, front_matter, self._plugins, linker, cited=cited, analysed=analysed, failures=failures
        )
        if file.kind is Kind.SESSION:  # what was said in passing makes no concept and no fact
            units = [unit._replace(mentions=(), facts=()) for unit in units]
        sha256, left_out = raw.sha256, None
        if failures:
            sha256 = hashlib.sha256(f"{sha256} {sorted(failures)}".encode()).hexdigest()
            places = ", ".join(map(str, sorted(failures)[:9]))
            left_out = f"{counted(len(failures), 'unit')} left out (line {places}): {next(iter(failures.values()))}"
        trusted = replace(file, origin=lower_trust(file.origin, stated))
        return ReadNote(trusted, sha256, front_matter, sections, units, left_out=left_out)


@contextmanager
def _as_unreadable(path: str) -> Iterator[None]:
    """Turn an unexpected error into :class:`~openclaw_memory.ingest.scan.Unreadable`, so that only ``path`` fails."""
    try:
        yield
    except OpenClawMemoryError:
        raise
    except Exception as error:
        log.debug("%s: reading it failed", path, exc_info=True)
        raise Unreadable(describe_defect(error)) from error


def lower_trust(origin: Origin, front_matter: Mapping[str, Any]) -> Origin:
    """Return ``origin``, or the less trusted one that the front matter's ``origin:`` names, in whatever spelling.

    A file cannot promote itself: a more trusted word is ignored, and so is an unknown one.
    """
    words = [fold_key(str(value)) for key, value in front_matter.items() if fold_key(key) == "origin"]
    stated = [each for each in Origin for word in words if each == word or (each is Origin.UNTRUSTED and each in word)]
    return max([origin, *stated], key=list(Origin).index)


# -- units -----------------------------------------------------------------------------------------------------------


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
        planned = PlannedUnit(unit, at, mentions=mentions, facts=facts, cited=citations)
        day = None if sections[at].date_source == "mtime" else sections[at].date
        units.append(analyse_unit(planned, seen, day, order) if analysed else planned)
    return sections, units


def analyse_unit(
    planned: PlannedUnit, seen: Counter[int], day: date | None = None, order: dates.Order | None = None
) -> PlannedUnit:
    """Return a unit with its terms and all that ranking reads from its text.

    ``seen`` counts the units of the file by hash; a date without a year is the one next to ``day``, and ``order`` that
    of day and month in numbers.
    """
    text, speaker = planned.unit.search_text, planned.unit.speaker
    text_hash = analysis.unit_hash(text)
    occurrence = seen[text_hash]
    seen[text_hash] += 1
    return planned._replace(
        hash=text_hash,
        occurrence=occurrence,
        terms=Counter(analysis.terms(text)),
        time_words=analysis.time_words(text),
        stated_days=dates.stated_days(text, day, order),
        tokens=tokens_of(text),
        likeness=analysis.likeness(text),
        script=script_of(text),
        amount=analysis.has_amount(text),
        speaker_key=analysis.unit_hash(analysis.name_key(speaker)) if speaker else 0,
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
