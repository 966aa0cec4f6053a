"""Which files the index holds, and their units; writing a change of theirs in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple, Protocol

from ...model import FoundFact, Grain, Kind, Origin, Section, SourceFile, Unit
from ...system.deadline import Deadline
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
    """One file's whole new state; applied in one transaction.

    ``replaces`` is the document's id when it is indexed already; ``lost`` are the ids of units
    whose vectors and postings go with this change.
    """

    file: SourceFile
    sha256: str
    front_matter: Mapping[str, Any]
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]
    replaces: int | None = None
    lost: Sequence[int] = ()


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


class Catalog(Protocol):
    """Which files the index holds, and their units; writing a change of theirs in one transaction."""

    def session(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Hold the store for the calls inside; waits up to ``timeout`` seconds for other processes."""

    def reading(self, timeout: float | None = None) -> AbstractContextManager[object]:
        """As :meth:`session` for who only reads, and mostly what is known: other processes may go on meanwhile.

        They may write between two calls of the block; :meth:`state` tells.
        """

    def patience(self, until: Deadline) -> AbstractContextManager[None]:
        """Let no call of this thread wait for other processes beyond ``until`` in the block."""

    def state(self) -> StoreState:
        """Which index this is and how often it was written, by whichever process."""

    def documents(self) -> Documents:
        """All indexed files, and the version of the texts that this is."""

    def units_of(self, document_ids: Sequence[int]) -> list[StoredUnit]:
        """Indexed units of these documents, in reading order."""

    def apply(self, changes: Sequence[DocumentChange], version: Version) -> Version:
        """Write the new state of some files, each as a whole or not at all; returns the new version.

        Raises :class:`TextsChanged` and does not write a file when ``version`` is no longer its own, or that of one
        that a unit of it comes from; what becomes of other files is no matter.
        """

    def remove(self, document_ids: Sequence[int], keep_units: Sequence[int], version: Version) -> Version:
        """Remove documents with everything they own, but what the units ``keep_units`` own.

        Returns and raises as :meth:`apply`.
        """

    def touch(self, files: Sequence[tuple[int, SourceFile]], version: Version) -> None:
        """Note that documents (by id) have a new time and the old content; raises as :meth:`apply`."""

    def masks(self) -> str:
        """What :meth:`read_again` was last told; empty before."""

    def unpurged(self) -> bool:
        """Whether something had to be read again and ``purge()`` has not ended since."""

    def read_again(self, document_ids: Sequence[int] | None, masks: str) -> None:
        """Have the next ingest read these documents again, as ``masks`` are others now; with ``None`` every file.

        An ingest that is reading meanwhile gets :class:`TextsChanged`.
        """

    def summaries(self) -> list[SummaryInfo]:
        """All summaries, by path."""

    def document_infos(self) -> list[DocumentInfo]:
        """All documents, for search."""
