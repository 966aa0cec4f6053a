"""Which files the index holds, their units, and a change of theirs; how much the index holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from ...model import FoundFact, Grain, Kind, Origin, Section, SourceFile, Unit
from .graph import Mention


@dataclass(frozen=True, slots=True)
class StoreState:
    """Identity of an index and a number that grows with every write."""

    instance: str
    generation: int


class DocumentRow(NamedTuple):
    """A file as the index last saw it."""

    id: int
    path: str
    size: int
    mtime_ns: int
    sha256: str
    units: int


@dataclass(frozen=True, slots=True)
class Version:
    """What a plan was made from: it is void for a document that is another by now, and for all when ``shared`` is.

    ``shared`` is what all texts are read by; ``written`` says of each document, by id, as of which writing it is.
    """

    shared: tuple[str, ...]
    written: Mapping[int, tuple[int, str, int]]


@dataclass(frozen=True, slots=True)
class Documents:
    """All indexed files by path, and the ``version`` of this."""

    by_path: Mapping[str, DocumentRow]
    version: Version


class TextsChanged(Exception):
    """Another process wrote the same documents since they were read; read again and plan again."""


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """Identity of an indexed unit: ``hash`` is that of its search text."""

    id: int
    document_id: int
    hash: int


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a file that a sentence of a summary was taken from."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """A unit to write, with what ranking needs of its text.

    ``section`` counts from 0 in the document; ``terms`` are its analysed terms with frequencies; ``says`` are the first
    and the last day that the text names;
    ``id`` is set when an indexed unit (with its vector and postings) lives on in it.
    """

    unit: Unit
    section: int
    hash: int
    occurrence: int
    terms: Mapping[str, int]
    time_words: int = 0
    says: tuple[date, date] | None = None
    tokens: float = 0.0
    likeness: int = 0
    script: int = 0
    amount: bool = False
    speaker_key: int = 0
    id: int | None = None
    mentions: Sequence[Mention] = ()
    facts: Sequence[FoundFact] = ()
    cited: Sequence[Cited] = ()


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One file's whole new state; ``replaces`` is the document's id when it is indexed already."""

    file: SourceFile
    sha256: str
    front_matter: Mapping[str, Any]
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What search needs to know of a document of so many ``units``.

    ``generation`` is that of its last change, ``sha256`` of its text.
    """

    id: int
    path: str
    kind: Kind
    grain: Grain
    origin: Origin
    generation: int
    sha256: str = ""
    units: int = 0


@dataclass(frozen=True, slots=True)
class SummaryInfo:
    """A summary among the documents, as its front matter describes it.

    ``sources`` are the files it was made of, with the SHA-256 of their texts where these are notes; ``edited``
    says that a person has changed it since.
    """

    id: int
    path: str
    grain: Grain
    period: str
    digest: str
    sources: tuple[tuple[str, str], ...]
    edited: bool
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """Counts and sizes of the index."""

    path: str
    bytes: int
    schema: int
    generation: int
    documents: int
    sections: int
    units: int
    postings: int
    postings_delta: int
    by_kind: Mapping[str, int]
    by_grain: Mapping[str, int]
