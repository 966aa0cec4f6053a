"""What the rest of the package sees of a store: plain dataclasses and numpy arrays.

Nothing here mentions DuckDB or a local file, so a shared server can stand behind the same protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...model import ExportReport, FoundFact, Grain, Kind, Origin, QueryResult, Section, SourceFile, Unit

if TYPE_CHECKING:
    from ..duckdb.derived import Collect, KeywordSearch

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

#: Splits a text into its terms; given to a store, which knows nothing of languages.
Analyse = Callable[[str], list[str]]

#: ``progress(stage, done, total)``.
ExportProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StoreState:
    """Identity of an index and a number that grows with every write."""

    instance: str
    generation: int


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A file as the index last saw it."""

    id: int
    path: str
    size: int
    mtime_ns: int
    sha256: str
    units: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """How texts are read: another way has them read again.

    ``version`` has a number for each thing that makes texts, mentions and facts, and none of them ever falls; ``allow``
    are hashes of the texts that redaction leaves as they are.
    """

    version: tuple[int, ...] = ()
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Documents:
    """All indexed files by path, as of ``version`` of the texts; ``allow`` is what redaction may leave in them."""

    by_path: Mapping[str, DocumentRow]
    version: int
    allow: frozenset[str] = frozenset()


class TextsChanged(Exception):
    """Another process wrote texts since they were read; read again and plan anew."""


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """Identity of an indexed unit: ``hash`` is that of its search text."""

    id: int
    document_id: int
    hash: int


#: How a mention of a concept was recognised; the store keeps the place in this list.
RULES = ("curated", "link", "tag", "meta", "name", "code", "quoted", "phrase", "start", "file")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a unit may speak of a concept.

    ``key`` is that of :func:`~openclaw_memory.knowledge.concept_keys.concept_key`.

    ``text`` is how it is written there; ``rule`` is one of :data:`RULES`.  Whether a key that is not curated is
    a concept is decided from all its mentions when they are read.
    """

    key: int
    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a file that a sentence of a summary was taken from."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """A unit to write, with what ranking needs of its text.

    ``section`` counts from 0 in the document; ``terms`` are its analysed terms with frequencies;
    ``id`` is set when an indexed unit (with its vector and postings) lives on in it.
    """

    unit: Unit
    section: int
    hash: int
    occurrence: int
    terms: Mapping[str, int]
    question: bool = False
    time_words: int = 0
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
class PendingText:
    """A unit that has no vector of the asked model yet."""

    unit_id: int
    text: str


@dataclass(frozen=True, slots=True)
class VectorModel:
    """Which vectors count: those of this model with this many dimensions."""

    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class VectorStates:
    """How many units have a vector: ``outdated`` ones have a vector of another model."""

    ready: int = 0
    pending: int = 0
    failed: int = 0
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Columns of units in reading order, one array per column, all of the same length *n*.

    ``day`` is a proleptic ordinal (0: none), ``dated`` whether it comes from the text rather than from
    the file's time; ``hash`` and ``occurrence`` (of that hash in its document) identify a unit for good.
    A ``title`` is a heading with nothing but further headings below it.
    """

    unit_id: Ints
    document_id: Ints
    section_id: Ints
    start_line: Ints
    end_line: Ints
    terms: Ints
    chars: Ints
    question: Bools
    time_words: Ints
    heading: Bools
    title: Bools
    speaker: NDArray[np.int64]
    day: Ints
    dated: Bools
    hash: NDArray[np.int64]
    occurrence: Ints


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What search needs to know of a document; ``generation`` is that of its last change, ``sha256`` of its text."""

    id: int
    path: str
    kind: Kind
    grain: Grain
    origin: Origin
    generation: int
    sha256: str = ""


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
class DerivedRows:
    """Lines that sentences of summaries cite, as columns of the same length; ``path[i]`` is the cited file's."""

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


@dataclass(frozen=True, slots=True)
class UnitTraces:
    """How many rows units own beside their own."""

    vectors: int = 0
    mentions: int = 0
    facts: int = 0
    derived: int = 0


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section as it is shown: its heading, date, and exact lines from ``start_line`` on."""

    id: int
    heading: str
    date: date | None
    start_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of the asked terms: term ``i`` owns the slice ``offsets[i]:offsets[i + 1]``.

    Units that no longer exist may be among ``unit_id``; whoever reads drops them.
    """

    offsets: NDArray[np.int64]
    unit_id: Ints
    tf: Floats

    def of(self, i: int) -> tuple[Ints, Floats]:
        """Unit ids and term frequencies of term ``i``."""
        span = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.unit_id[span], self.tf[span]


@dataclass(frozen=True, slots=True)
class MentionRows:
    """Mentions as columns of the same length *m*; ``rule`` is a place in :data:`RULES`."""

    unit_id: Ints
    document_id: Ints
    key: NDArray[np.int64]
    rule: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class MentionName:
    """A spelling of a key and in how many mentions it stands."""

    key: int
    text: str
    rule: str
    count: int


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file of the workspace that is no note (``concepts.yaml``, ``facts.yaml``) as it was last read."""

    name: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CuratedRow:
    """A curated concept as the store keeps it; parents and related ones by key.

    ``keys`` are those of all that it is called by; none in an index that an older version wrote.
    """

    key: int
    slug: str
    name: str
    kind: str | None
    weight: float
    aliases: tuple[str, ...]
    parents: tuple[int, ...]
    related: tuple[int, ...]
    keys: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OntologyRows:
    """All curated concepts, keys that are to be no concepts, and predicates with one value at a time.

    ``version`` grows with every change of them.
    """

    concepts: tuple[CuratedRow, ...] = ()
    ignored: tuple[int, ...] = ()
    single_valued: tuple[str, ...] = ()
    version: int = 0


@dataclass(frozen=True, slots=True)
class FactObservation:
    """A fact as a rule found it in a unit; ``day`` is that of its section, ``dated`` whether the text states it."""

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


class KeywordIndex(Protocol):
    """Finds the units that hold a term."""

    @property
    def name(self) -> str:
        """``postings`` or ``fts``."""

    def refresh(self) -> None:
        """Take over what was written since the last call."""

    def postings(self, terms: Sequence[str]) -> Postings:
        """Occurrences of each of ``terms`` (analysed, distinct), in their order."""


class VectorIndex(Protocol):
    """Finds the units whose vectors are near a query's."""

    @property
    def name(self) -> str:
        """``exact`` or ``vss``."""

    @property
    def exhaustive(self) -> bool:
        """Whether scoring every unit is the cheap way to ask."""

    def refresh(self) -> Ints:
        """Take over what was written or removed since the last call; returns the units whose vectors that was."""

    def has(self, unit_ids: Ints) -> Bools:
        """Whether each unit has a vector: ``bool[n]``."""

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Cosine of ``query`` (``float32[d]``, unit length) with each unit; NaN without a vector."""

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Cosine of unit ``i`` with unit ``i + d`` for ``d = 1..reach``: ``float32[reach, n]``.

        NaN where one of the two has no vector or there is no unit ``i + d``.
        """

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units that have a vector, best first: ids and cosines; fewer where there are no more."""


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


KeywordIndexName = Literal["postings", "fts"]
VectorIndexName = Literal["auto", "exact", "vss"]


class Store(Protocol):
    """The memory's index, as ingest and search use it.

    Every method may raise :class:`~openclaw_memory.errors.StoreError`; each write method is one
    transaction.  ``session`` keeps the underlying resource for several calls.
    """

    def session(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Hold the store for the calls inside; waits up to ``timeout`` seconds for other processes."""

    def patience(self, until: float | None) -> AbstractContextManager[None]:
        """Let no call of this thread wait for other processes beyond ``until`` (``time.monotonic``) in the block."""

    def state(self) -> StoreState:
        """Which index this is and how often it was written, by whichever process."""

    def documents(self) -> Documents:
        """All indexed files, and the version of the texts that this is."""

    def units_of(self, document_ids: Sequence[int]) -> list[StoredUnit]:
        """Indexed units of these documents, in reading order."""

    def apply(self, changes: Sequence[DocumentChange], version: int) -> int:
        """Write the new state of some files in one transaction; returns the new version.

        Raises :class:`TextsChanged` and writes nothing when ``version`` is no longer current.
        """

    def remove(self, document_ids: Sequence[int], keep_units: Sequence[int], version: int) -> int:
        """Remove documents with everything they own, but what the units ``keep_units`` own.

        Returns and raises as :meth:`apply`.
        """

    def touch(self, files: Sequence[tuple[int, SourceFile]], version: int) -> None:
        """Note that documents (by id) have a new time and the old content; raises as :meth:`apply`."""

    def embedding_turn(self, timeout: float) -> AbstractContextManager[bool]:
        """One process embeds at a time: whether it is our turn, after at most ``timeout`` seconds."""

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units without a vector of ``model``, oldest first, at most ``limit``."""

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> None:
        """Store ``float32[n, d]`` vectors of units that still exist."""

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> None:
        """Note that these units cannot be embedded by ``model``."""

    def retry_failed(self, model: VectorModel) -> None:
        """Make failed units pending again."""

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector."""

    def noise(self, model: VectorModel) -> float | None:
        """The cosine that unrelated texts rarely exceed with this model, if it was measured."""

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note what :meth:`noise` returns."""

    def document_infos(self) -> list[DocumentInfo]:
        """All documents, for search."""

    def unit_rows(self, document_ids: Sequence[int] | None) -> UnitRows:
        """Columns of the units of these documents (all when ``None``), in reading order."""

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        """Headings and lines of sections by id."""

    def mention_rows(self, document_ids: Sequence[int] | None) -> MentionRows:
        """Mentions in these documents (all when ``None``)."""

    def mention_names(self, keys: Sequence[int] | None = None) -> list[MentionName]:
        """Spellings of keys (all when ``None``), by key and falling count."""

    def summaries(self) -> list[SummaryInfo]:
        """All summaries, by path."""

    def derived_rows(self) -> DerivedRows:
        """What the sentences of all summaries cite, in order of document and unit."""

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        """What was last read of a file that is no note."""

    def ontology(self) -> OntologyRows:
        """The curated concepts as they were last read."""

    def put_ontology(
        self,
        file: WorkspaceFile,
        rows: OntologyRows,
        changed: Sequence[int],
        links: Callable[[Sequence[PendingText]], Iterable[tuple[int, Mention]]],
    ) -> int:
        """Replace the curated concepts, and link the units anew to those with ``changed`` keys.

        ``links(texts)`` yields the curated mentions in some units' search texts.  One transaction; returns how
        many units lost or got a reference.
        """

    def found_facts(self) -> list[FactObservation]:
        """All facts that rules found, in order of document and unit."""

    def stated_facts(self) -> list[StatedFact]:
        """The entries of ``facts.yaml`` as they were last read."""

    def facts_version(self) -> tuple[str, ...]:
        """Another value after every change that may concern facts: texts, curated concepts, stated facts, times."""

    def put_stated_facts(self, file: WorkspaceFile, facts: Sequence[StatedFact]) -> None:
        """Replace the entries of ``facts.yaml``; one transaction."""

    def keyword_index(self) -> KeywordIndex:
        """The keyword index that the settings name."""

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """The vector index that the settings name, for one model."""

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""

    def maintain(self, force: bool = False) -> bool:
        """Compact postings when their delta has grown; returns whether it did."""

    def unit_texts(self, unit_ids: Sequence[int]) -> list[UnitText]:
        """Units with their texts, in order of document and place."""

    def unit_traces(self, unit_ids: Sequence[int]) -> UnitTraces:
        """How many rows these units own beside their own."""

    def masks(self) -> str:
        """What :meth:`read_again` was last told; empty before."""

    def read_again(self, document_ids: Sequence[int] | None, masks: str) -> None:
        """Have the next ingest read these documents again, as ``masks`` are others now; with ``None`` every file.

        An ingest that is reading meanwhile gets :class:`TextsChanged`.
        """

    def purge(self) -> None:
        """Leave no trace of what was deleted.  Not inside a :meth:`session`."""

    def shrink(self) -> bool:
        """Give back what deleted rows took when that is much of it; whether it did.  Not inside a :meth:`session`."""

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Where in the index any of these texts stands: names of columns and files; empty when nowhere."""

    def leftovers(self) -> list[str]:
        """Where else the same texts may be kept: older copies of this index, indexes of others; in words."""

    def query(
        self, sql: str, collect: Collect, keywords: KeywordSearch, limit: int | None = None, timeout: float = 20.0
    ) -> QueryResult:
        """The answer of one SQL statement that only reads; at most ``limit`` rows, in at most ``timeout`` seconds.

        Raises :class:`~openclaw_memory.errors.RequestError` when it is refused, wrong or takes too long.
        """

    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: ExportProgress) -> ExportReport:
        """Write every table as a Parquet file into a folder that is empty, new, or (``overwrite``) an older export.

        ``progress(stage, done, total)`` is called after each table.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """

    def statistics(self) -> StoreStatistics:
        """Counts and sizes."""

    def beside(self, suffix: str) -> Path | None:
        """A file beside the index, for what is worth no table; ``None`` for a store that is no local file."""

    def warnings(self) -> list[str]:
        """What a person should hear about this store, such as a damaged file moved aside."""

    def close(self) -> None:
        """Let go of everything; calling twice is harmless."""


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """``items`` in runs of at most ``size``."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
