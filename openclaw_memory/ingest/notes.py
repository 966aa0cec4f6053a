"""One file, from its bytes to analysed units: what ingest stores and consolidation summarises."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError
from ..knowledge.linking import Linker
from ..model import Grain, Section, SourceFile, counted
from ..plugins.manager import Plugins
from ..store.api import CitedLines, PlannedUnit
from ..text.front_matter import front_matter
from ..text.lines import split_lines
from ..text.markdown import UNIT_TOKENS, parse
from ..text.withheld import without_foreign, without_private
from . import plan as planning
from . import summary_files
from .origin import lowered
from .reading import Unreadable, defect, read_note
from .scan import max_bytes

log = logging.getLogger("openclaw_memory.ingest")

#: ``mask(path, text)`` takes out of a file's text what must not be read; it keeps the number of lines.
Mask = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class NoteText:
    """A file's text as it may be read; ``raw`` is what is on disk, and ``sha256`` that text's hash.

    ``remark`` says what a person should know of how it was read.
    """

    text: str
    sha256: str
    raw: str
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A file read: ``file`` with the origin that its front matter leaves it, and its units with what they mention.

    Where units are left out as a plugin failed on them, ``left_out`` says so, and ``sha256`` is that of no text.
    """

    file: SourceFile
    sha256: str
    front_matter: Mapping[str, Any]
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]
    left_out: str | None = None


class NoteReader:
    """Reads the files of a workspace, redacted by the plugins and masked.

    Whatever a file does to what reads it, it is :class:`~openclaw_memory.ingest.scan.Unreadable` and no other is.
    """

    def __init__(self, settings: IngestSettings, plugins: Plugins, mask: Mask | None = None) -> None:
        self._settings = settings
        self._plugins = plugins
        self._mask = mask

    def text(self, file: SourceFile) -> NoteText:
        """The text of a file.

        Raises :class:`~openclaw_memory.ingest.scan.Unreadable` and
        :class:`~openclaw_memory.errors.RedactionError`.
        """
        with _fenced(file.path):
            return self.note_text(file, *read_note(file, max_bytes(self._settings)))

    def note_text(self, file: SourceFile, raw: str, remark: str | None) -> NoteText:
        """Return the text of a file that was read with :func:`.reading.read_note`.  Raises as :meth:`text`."""
        with _fenced(file.path):
            return NoteText(self.cleared(file.path, raw), hashlib.sha256(raw.encode("utf-8")).hexdigest(), raw, remark)

    def cleared(self, path: str, text: str) -> str:
        """``text`` of the file ``path`` without what is private or other people's, redacted and masked."""
        text = without_foreign(without_private(text))
        if self._plugins.has_any("openclaw_memory_prepare_lines"):
            text = "\n".join(self._plugins.prepare_lines(path, split_lines(text)))
        return text if self._mask is None else self._mask(path, text)

    def read(self, file: SourceFile, linker: Linker, known: NoteText | None = None, analysed: bool = True) -> ReadNote:
        """Parse and analyse a file; ``known`` is its text if that was read already.  Raises as :meth:`text`.

        Without ``analysed`` units lack what only the index wants: see :func:`~openclaw_memory.ingest.plan.prepare`.
        """
        known = self.text(file) if known is None else known
        with _fenced(file.path):
            return self._read(file, linker, known, analysed)

    def _read(self, file: SourceFile, linker: Linker, known: NoteText, analysed: bool) -> ReadNote:
        front: Mapping[str, Any]
        cited: Mapping[int, tuple[CitedLines, ...]] = {}
        if summary := file.grain is not Grain.WORKING:
            made = summary_files.read(file.path, known.text, file.grain, file.day, known.raw)
            parsed, cited, front = made.parsed, made.cited, made.front
        else:
            parsed = parse(known.text, path=file.path, mtime=file.day, unit_tokens=UNIT_TOKENS)
            if self._plugins.has_any("openclaw_memory_chunk"):
                parsed = replace(parsed, sections=tuple(self._plugins.chunk(file.path, s) for s in parsed.sections))
            front = parsed.front_matter
        # What is taken out of a text must not take out what lowers the trust in it.
        stated = front if summary or known.text == known.raw else front_matter(split_lines(known.raw))
        failures: dict[int, str] = {}
        sections, units = planning.prepare(parsed, self._plugins, analysed, failures)
        bare = [planning.bare(one) for one in units] if summary else units
        linked = linker.linked(file.path, front, sections, bare)
        if summary:
            linked = [
                replace(found, unit=own.unit, cited=cited.get(own.unit.start_line, ()))
                for found, own in zip(linked, units, strict=True)
            ]
        sha256, left_out = known.sha256, None
        if failures:
            sha256 = hashlib.sha256(f"{sha256} {sorted(failures)}".encode()).hexdigest()
            lines = ", ".join(map(str, sorted(failures)[:9]))
            left_out = f"{counted(len(failures), 'unit')} left out (line {lines}): {next(iter(failures.values()))}"
        return ReadNote(replace(file, origin=lowered(file.origin, stated)), sha256, front, sections, linked, left_out)


@contextmanager
def _fenced(path: str) -> Iterator[None]:
    """Make an error that nobody foresaw one of the file ``path``."""
    try:
        yield
    except OpenClawMemoryError:
        raise
    except Exception as error:
        log.debug("%s: reading it failed", path, exc_info=True)
        raise Unreadable(defect(error)) from error
