"""Dataclasses that a store takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from .. import arrays as np
from ..model import ExtractedFact, Grain, Kind, Origin, Section, SourceFile, Unit
from ..records import NamedTuple, dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int32]"
Floats: TypeAlias = "NDArray[np.float32]"
Bools: TypeAlias = "NDArray[np.bool_]"


#: Splits a text into its terms; a store knows nothing of languages.
Analyse = Callable[[str], list[str]]


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different ``values``, ascending, as ``np.unique`` does, which loads masked arrays for that: 25 ms."""
    return np.unique(values, return_counts=True)[0]


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield ``items`` in runs of at most ``size``."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


# -- texts, vectors, postings ------------------------------------------------------------------------------------------


class PendingText(NamedTuple):
    """A unit that has no vector of a model yet."""

    unit_id: int
    text: str


class VectorModel(NamedTuple):
    """An embedding model and the dimensions of its vectors."""

    name: str
    dimensions: int


class ModelChoice(NamedTuple):
    """The model chosen for the notes, by its name in the registry, and the number of ``units`` at the time."""

    name: str
    units: int


@dataclass(frozen=True, slots=True)
class VectorStates:
    """Numbers of units by the state of their vector; ``outdated`` ones have a vector of another model."""

    ready: int = 0
    pending: int = 0
    failed: int = 0
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Columns of units in reading order, one array per column, all of the same length *n*.

    ``day`` is the section's as a proleptic ordinal, 0 if neither a name nor a text states it (a file's time does not
    count).  ``first_day`` and ``last_day`` are the days in the unit's own text, 0 for none.  ``hash`` and
    ``occurrence`` (of that hash in its document) identify a unit for good.  ``likeness`` is equal for units that differ
    in days and times only; ``script`` comes from :func:`~openclaw_memory.model.size.script_of`; ``amount`` marks a
    figure that may answer "how much".  A ``title`` is a heading with nothing but further headings below it, a
    ``machine`` unit was written by a program, and ``meta`` is front matter.
    """

    unit_id: Ints
    document_id: Ints
    section_id: Ints
    start_line: Ints
    end_line: Ints
    terms: Ints
    chars: Ints
    time_words: Ints
    heading: Bools
    title: Bools
    machine: Bools
    meta: Bools
    speaker: NDArray[np.int64]
    day: Ints
    first_day: Ints
    last_day: Ints
    hash: NDArray[np.int64]
    occurrence: Ints
    tokens: Floats
    likeness: NDArray[np.int64]
    script: NDArray[np.int8]
    amount: Bools

    #: numpy's types of the columns, in their order.
    TYPES: ClassVar = (
        *["int32"] * 8, *["bool"] * 4, "int64", *["int32"] * 3, "int64", "int32", "float32", "int64", "int8", "bool",
    )  # fmt: skip

    @property
    def dated(self) -> Bools:
        """Mask of the units that have a day."""
        return self.day > 0


class SummaryCitations(NamedTuple):
    """Lines cited by sentences of summaries, as columns of the same length; ``path[i]`` is the cited file."""

    unit_id: Ints
    document_id: Ints
    path: tuple[str, ...]
    start_line: Ints
    end_line: Ints


@dataclass(frozen=True, slots=True)
class UnitText:
    """A unit with its text; ``hash`` and ``occurrence`` identify it for good in its document."""

    id: int
    document_id: int
    start_line: int
    end_line: int
    form: str
    speaker: str | None
    text: str
    hash: int
    occurrence: int


class UnitDependents(NamedTuple):
    """Numbers of rows that units own in other tables."""

    vectors: int = 0
    mentions: int = 0
    facts: int = 0
    summary_citations: int = 0


class SectionText(NamedTuple):
    """A section: its heading, date, and exact lines from ``start_line`` on."""

    id: int
    heading: str
    date: date | None
    start_line: int
    lines: tuple[str, ...]


class Postings(NamedTuple):
    """Occurrences of some terms: term ``i`` owns the slice ``offsets[i]:offsets[i + 1]``.

    Units that no longer exist may be among ``unit_id``; the reader drops them.
    """

    offsets: NDArray[np.int64]
    unit_id: Ints
    tf: Floats

    def for_term(self, i: int) -> tuple[Ints, Floats]:
        """Return unit ids and term frequencies of term ``i``."""
        span = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.unit_id[span], self.tf[span]


#: Suffixes of the files beside an index in which processes keep for each other what they have read of it: what a
#: question for words needs, the vectors, and the numbers of ``status``.
KEPT = KEPT_WORDS, KEPT_VECTORS, KEPT_STATUS = ".words.kept", ".vectors.kept", ".status.kept"


# -- mentions and concepts ---------------------------------------------------------------------------------------------


#: Rules that recognise a mention of a concept; the store keeps the place in this list.
RULES = ("curated", "link", "tag", "meta", "name", "code", "quoted", "phrase", "start", "file", "part", "plain")


class Mention(NamedTuple):
    """A place where a unit may speak of a concept.

    ``key`` comes from :func:`~openclaw_memory.knowledge.concept_keys.concept_key`, ``text`` is the spelling there, and
    ``rule`` one of :data:`RULES`.  All mentions of a key that is not curated decide together if it is a concept.
    """

    key: int
    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class MentionRows:
    """Mentions as columns of the same length *m*; ``rule`` is a place in :data:`RULES`."""

    unit_id: Ints
    document_id: Ints
    key: NDArray[np.int64]
    rule: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class MentionName:
    """A spelling of a key and the number of its mentions."""

    key: int
    text: str
    rule: str
    count: int


class WorkspaceFile(NamedTuple):
    """The state of a file that is no note (``concepts.yaml``, ``facts.yaml``) when it was last read."""

    name: str
    size: int
    mtime_ns: int
    sha256: str


class CuratedRow(NamedTuple):
    """A curated concept as stored; ``keys`` are those of its name and aliases, parents and related ones are keys."""

    key: int
    slug: str
    name: str
    kind: str | None
    weight: float
    aliases: tuple[str, ...]
    parents: tuple[int, ...]
    related: tuple[int, ...]
    keys: tuple[int, ...] = ()


class OntologyRows(NamedTuple):
    """All curated concepts, keys that must be no concepts, and predicates with one value at a time.

    ``version`` grows with every change.
    """

    concepts: tuple[CuratedRow, ...] = ()
    ignored: tuple[int, ...] = ()
    single_valued: tuple[str, ...] = ()
    version: int = 0


# -- facts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FactObservation:
    """A fact that a rule extracted from a unit.

    ``day`` and ``heading`` (a path) are the section's; ``dated`` is true if a text or name states the day.
    """

    unit_id: int
    path: str
    start_line: int
    end_line: int
    kind: Kind
    origin: Origin
    day: date | None
    dated: bool
    hash: int
    occurrence: int
    subject: str
    predicate: str
    object: str
    rule: str
    confidence: float
    heading: str = ""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """An entry of the workspace's ``facts.yaml``, in the order of the file.

    ``replaces`` and ``retracts`` name facts by id; an entry with ``retracts`` states nothing itself.
    """

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    origin: Origin
    source: str | None
    valid_from: date | None
    valid_to: date | None
    recorded: str
    replaces: tuple[str, ...] = ()
    retracts: str | None = None


# -- documents ---------------------------------------------------------------------------------------------------------


class StoreState(NamedTuple):
    """The identity of an index and a number that grows with every write."""

    instance: str
    generation: int


class DocumentInfo(NamedTuple):
    """An indexed file; ``generation`` is that of its last change."""

    id: int
    path: str
    size: int
    mtime_ns: int
    sha256: str
    units: int
    generation: int
    kind: Kind
    grain: Grain
    origin: Origin


class Documents(NamedTuple):
    """All indexed files by path, and the ``version`` of the texts: changes that were planned with another are void."""

    by_path: Mapping[str, DocumentInfo]
    version: int


class TextsChanged(Exception):
    """Another process wrote texts since they were read: read and plan again."""


class CitedLines(NamedTuple):
    """Lines of a file from which a sentence of a summary was taken."""

    path: str
    start_line: int
    end_line: int


class PlannedUnit(NamedTuple):
    """A unit to write, with the features of its text for ranking.

    ``section`` counts from 0 in the document; ``terms`` are its analysed terms with frequencies; ``stated_days`` are
    the first and the last day in its text.
    """

    unit: Unit
    section: int
    hash: int = 0
    occurrence: int = 0
    terms: Mapping[str, int] = {}
    time_words: int = 0
    stated_days: tuple[date, date] | None = None
    tokens: float = 0.0
    likeness: int = 0
    script: int = 0
    amount: bool = False
    speaker_key: int = 0
    mentions: Sequence[Mention] = ()
    facts: Sequence[ExtractedFact] = ()
    cited: Sequence[CitedLines] = ()


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The whole new state of one file; ``replaces`` is the document's id when it is indexed already."""

    file: SourceFile
    sha256: str
    front_matter: Mapping[str, Any]
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]
    replaces: int | None = None


class SummaryInfo(NamedTuple):
    """A summary among the documents, as its front matter describes it.

    ``sources`` are its source files, for notes with the SHA-256 of their texts; ``edited`` means that a person has
    changed it since.
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


class StoreStatistics(NamedTuple):
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


# -- tables for SQL ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ComputedTables:
    """Rows for tables that are computed above the store; see their columns in :mod:`.duckdb.views`.

    ``rows`` are those of ``concepts``, ``facts`` and ``usage`` by the name of the table.  ``edges`` are columns by
    the kind of edge, with units as ids and concepts as places among the rows.
    """

    rows: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    edges: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)


#: Collects the rows of the named tables from the store at the time of the call.
Collect = Callable[[frozenset[str]], ComputedTables]
