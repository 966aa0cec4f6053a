"""One file, from its bytes to analysed units: what ingest stores and consolidation summarises."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..config.settings import IngestSettings
from ..knowledge.linking import Linker
from ..model import Grain, Section, SourceFile
from ..plugins.manager import Plugins
from ..store.api import Cited, PlannedUnit
from ..text.front_matter import front_matter
from ..text.lines import split_lines
from ..text.markdown import UNIT_TOKENS, parse
from ..text.withheld import without_foreign, without_private
from . import plan as planning
from . import summary_files
from .origin import lowered
from .scan import max_bytes, read_text

#: ``mask(path, text)`` takes out of a file's text what must not be read; it keeps the number of lines.
Mask = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class NoteText:
    """A file's text as it may be read; ``raw`` is what is on disk, and ``sha256`` that text's hash."""

    text: str
    sha256: str
    raw: str


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A file read: ``file`` with the origin that its front matter leaves it, and its units with what they mention."""

    file: SourceFile
    sha256: str
    front_matter: Mapping[str, Any]
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]


class NoteReader:
    """Reads the files of a workspace, redacted by the plugins and masked."""

    def __init__(self, settings: IngestSettings, plugins: Plugins, mask: Mask | None = None) -> None:
        self._settings = settings
        self._plugins = plugins
        self._mask = mask

    def text(self, file: SourceFile) -> NoteText:
        """The text of a file.

        Raises :class:`~openclaw_memory.ingest.scan.Unreadable` and
        :class:`~openclaw_memory.errors.RedactionError`.
        """
        raw = read_text(file, max_bytes(self._settings))
        return NoteText(self.cleared(file.path, raw), hashlib.sha256(raw.encode("utf-8")).hexdigest(), raw)

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
        front: Mapping[str, Any]
        cited: Mapping[int, tuple[Cited, ...]] = {}
        if summary := file.grain is not Grain.WORKING:
            made = summary_files.read(file.path, known.text, file.grain, file.day, known.raw)
            parsed, cited, front = made.parsed, made.cited, made.front
        else:
            parsed = parse(known.text, path=file.path, mtime=file.day, unit_tokens=UNIT_TOKENS)
            front = parsed.front_matter
        # What is taken out of a text must not take out what lowers the trust in it.
        stated = front if summary or known.text == known.raw else front_matter(split_lines(known.raw))
        sections, units = planning.prepare(parsed, self._plugins, analysed)
        bare = [planning.bare(one) for one in units] if summary else units
        linked = linker.linked(file.path, front, sections, bare)
        if summary:
            linked = [
                replace(found, unit=own.unit, cited=cited.get(own.unit.start_line, ()))
                for found, own in zip(linked, units, strict=True)
            ]
        return ReadNote(replace(file, origin=lowered(file.origin, stated)), known.sha256, front, sections, linked)
