"""Files of notes, and the sections and units in them."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from ..records import dataclass

#: Form of a unit in its Markdown file; ``machine`` is a line of a program (log, trace, JSON), ``struck`` a line that is
#: struck out as a whole.
UnitForm = Literal[
    "line", "turn", "item", "sentence", "row", "code", "quote", "heading", "title", "meta", "machine", "struck"
]
#: Forms that are searched only: they give no context, no facts and no sentences of summaries.
UNSAID = frozenset({"code", "meta", "machine", "struck"})


class Kind(StrEnum):
    """Role of a file for the agent."""

    CURATED = "curated"
    DAILY = "daily"
    NOTE = "note"
    SESSION = "session"


class Grain(StrEnum):
    """Resolution of a text in time, finest first."""

    WORKING = "working"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"


class Origin(StrEnum):
    """Author of a text, most trusted first."""

    OWNER = "owner"
    AGENT = "agent"
    UNTRUSTED = "untrusted"
    SYSTEM = "system"


#: Origins whose text may be added to messages as context, and counts as the owner's own.
TRUSTED = frozenset({Origin.OWNER, Origin.AGENT})

DateSource = Literal["name", "heading", "front-matter", "mtime"]


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest searched text: a line, an item, a sentence, a table row, a code block.

    ``text`` is the exact slice of the source (of form ``sentence``: a slice of its lines joined by single
    spaces) without parts that are struck out; ``indexed`` is what is tokenised and embedded when that differs (a table
    row with its header, a later sentence of a speaker's turn, a heading with those around it, what is struck out).
    """

    text: str
    start_line: int
    end_line: int
    form: UnitForm = "line"
    speaker: str | None = None
    indexed: str | None = None

    @property
    def search_text(self) -> str:
        """Return the text to tokenise and to embed."""
        return self.text if self.indexed is None else self.indexed

    @property
    def written(self) -> str:
        """Return the unit's own words, also those that are struck out."""
        return self.search_text if self.form in ("line", "turn", "item", "quote") else self.text


@dataclass(frozen=True, slots=True)
class Section:
    """The units under one heading; ``heading`` is the path of headings (``"Projects > Search"``).

    ``lines`` are the exact lines ``start_line..end_line`` of the file, so ``body`` joined by line
    feeds is what a snippet is cut from.
    """

    heading: str
    start_line: int
    end_line: int
    date: date | None
    date_source: DateSource
    units: tuple[Unit, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A statement that a rule found in a unit."""

    subject: str
    predicate: str
    object: str
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A Markdown file, parsed."""

    sections: tuple[Section, ...]
    front_matter: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a scan, with its size and time.

    ``top`` is the folder below which it was found; no folder from there to ``absolute`` is a link.
    """

    path: str
    absolute: str
    size: int
    mtime_ns: int
    kind: Kind
    grain: Grain
    origin: Origin
    top: str = ""

    @property
    def day(self) -> date:
        """Return the day of the file's last change; today for a time outside the calendar."""
        try:
            return date.fromtimestamp(self.mtime_ns / 1e9)
        except (OverflowError, ValueError, OSError):
            return date.today()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Result of a scan of the workspace.

    ``unreadable`` are path prefixes (a file, or a folder ending in ``/``) that could not be read now: their text stays
    in the index.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of an ingest; every number but ``files`` counts units.

    ``concepts_linked`` counts mentions of concepts, and of names that may become concepts, in the written units.
    """

    files: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    embedded: int = 0
    pending: int = 0
    concepts_linked: int = 0
    seconds: float = 0.0
    skipped: tuple[SkippedFile, ...] = ()
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a workspace file; ``status`` is ``ok``, ``not_found`` or ``error``."""

    status: Literal["ok", "not_found", "error"]
    path: str
    text: str = ""
    from_line: int | None = None
    lines: int | None = None
    next_from: int | None = None
    truncated: bool = False
    error: str | None = None
