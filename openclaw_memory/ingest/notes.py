"""Read one file, from its bytes to analysed units, for the index and for summaries."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError
from ..knowledge.linking import Linker
from ..model import Grain, Origin, SourceFile, counted
from ..plugins.manager import Plugins
from ..store.api import CitedLines, DocumentChange
from ..text.front_matter import FrontMatter, fold_key, parse_front_matter
from ..text.lines import split_lines
from ..text.markdown import UNIT_TOKENS, parse_lines
from ..text.withheld import without_host_additions, without_private
from . import summary_files
from .plan import build_units
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

    def text(self, file: SourceFile) -> NoteText:
        """Read the text of a file.

        Raises :class:`~openclaw_memory.ingest.scan.Unreadable` and
        :class:`~openclaw_memory.errors.RedactionError`.
        """
        with _as_unreadable(file.path):
            return self.readable(file, RawNote.read(file, max_bytes(self._settings)))

    def readable(self, file: SourceFile, raw: RawNote) -> NoteText:
        """Return the text of a file that was read already; raises as :meth:`text`."""
        with _as_unreadable(file.path):
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

        Without ``analysed`` units lack what only the index needs: see :func:`~openclaw_memory.ingest.plan.build_units`.
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
