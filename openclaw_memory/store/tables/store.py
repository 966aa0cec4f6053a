"""The store: what both databases answer with the same SQL, and what each has its own way for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...config.settings import StoreSettings
from ...model import ExportReport, Grain, Kind, Origin, Progress, QueryResult, SourceFile
from ...system.deadline import Deadline
from ..rows.arrays import Analyse, batches
from ..rows.catalog import (
    DocumentChange,
    DocumentInfo,
    DocumentRow,
    Documents,
    StoredUnit,
    StoreState,
    StoreStatistics,
    Version,
)
from ..rows.texts import KeywordIndex, SectionText, UnitRows, UnitText, UnitTraces
from . import writing
from .embedded import VectorTables
from .graph import GraphTables
from .needles import Needles
from .schema import VERSION
from .sql import Connection, Sql, among, count
from .summaries import SummaryTables

if TYPE_CHECKING:
    from ..rows.derived import Collect

#: A section's day, where a name or a text states it.
_STATED = "CASE WHEN date_source <> 'mtime' THEN date END"
#: By their values, as calling the class of an enum is slow.
_KINDS = {kind.value: kind for kind in Kind}
_GRAINS = {grain.value: grain for grain in Grain}
_ORIGINS = {origin.value: origin for origin in Origin}
#: Where the days of sections stand in the fields of UnitRows.
_DAY = 13
#: Sections asked by key in one statement.
_KEYS = 50
#: A document as ingest and as search know it, and what its next writer must find of it.
_Document = tuple[DocumentRow, DocumentInfo, tuple[int, str, int]]


class Store(GraphTables, SummaryTables, VectorTables, ABC):
    """One agent's index of one workspace, as ingest and search use it; what is abstract each database does its own way.

    Every method may raise :class:`~openclaw_memory.errors.StoreError`; each that writes is one transaction.
    ``name`` is how a person knows the index: its file, or its URL.
    """

    _db: Sql

    def __init__(
        self, name: str, settings: StoreSettings, analyse: Analyse, analysis_version: int, read_as: str
    ) -> None:
        self._name = name
        self._settings = settings
        self._analyse = analyse
        self._analysis_version = str(analysis_version)
        self._read_as = read_as
        #: Documents by id as of a moment and of an index: thousands of them take longer to read than what a change
        #: needs of the rest.
        self._documents: tuple[Any, str, dict[int, _Document]] = None, "", {}
        #: The same documents by path, and what the next writer of each must find of it.
        self._by_path: tuple[Any, dict[str, DocumentRow], dict[int, tuple[int, str, int]]] = None, {}, {}

    def _check_versions(self, c: Connection) -> None:
        """Make postings again of another text analysis, and have texts read again that were read another way."""
        known = dict(c.execute("SELECT key, value FROM meta WHERE key IN ('analysis', 'extraction')").fetchall())
        mine = {"analysis": self._analysis_version, "extraction": self._read_as}
        if known == mine:
            return
        with self._db.change(c):
            if known.get("analysis") != mine["analysis"]:
                writing.analyse_anew(self._db, c, self._analyse)
            if known.get("extraction") != mine["extraction"]:
                writing.read_anew(c)
            for name, value in mine.items():
                c.execute("DELETE FROM meta WHERE key = ?", [name])
                c.execute("INSERT INTO meta VALUES (?, ?)", [name, value])

    def state(self) -> StoreState:
        """Identity of the file and its write counter."""
        known = self._db.counters()
        return StoreState(known["instance"], int(known["generation"]))

    # -- life ---------------------------------------------------------------------------------

    @abstractmethod
    def session(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Hold the store for the calls inside; waits up to ``timeout`` seconds for other processes."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[object]:
        """As :meth:`session` for who only reads, and mostly what is known: other processes may go on meanwhile.

        They may write between two calls of the block; :meth:`state` tells.
        """

    @abstractmethod
    def patience(self, until: Deadline) -> AbstractContextManager[None]:
        """Let no call of this thread wait for other processes beyond ``until`` in the block."""

    @abstractmethod
    def embedding_turn(self, timeout: float) -> AbstractContextManager[bool]:
        """One process embeds at a time: whether it is our turn, after at most ``timeout`` seconds."""

    @abstractmethod
    def beside(self, suffix: str) -> Path | None:
        """A file beside the index, for what is worth no table; ``None`` for a store that is no local file."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Index files on this machine that hold this workspace, or held it before it was on a server."""

    @abstractmethod
    def warnings(self) -> list[str]:
        """What a person should hear about this store, such as a damaged file moved aside."""

    @abstractmethod
    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; calling twice is harmless."""

    # -- what ingest reads and writes -----------------------------------------------------------

    def documents(self) -> Documents:
        """All indexed files by path, and the version of the texts that this is."""
        with self._db.turn():
            there = self._all_documents()
            if self._by_path[0] is not there:
                by_path = {row.path: row for row, _, _ in there.values()}
                written = {row.id: state for row, _, state in there.values()}
                self._by_path = there, by_path, written
            version = writing.version_of(self._db.counters(), self._by_path[2])
            return Documents(self._by_path[1], version)

    def _all_documents(self) -> dict[int, _Document]:
        """All documents by id; what is known of one that is as it was is not read again."""
        at = self._db.moment
        if self._documents[0] != at:
            _, instance, known = self._documents
            with self._db.read():
                if self._db.counters()["instance"] != instance:
                    instance, known = self._db.counters()["instance"], {}
                # Whoever has a file read again sets its time, and everything else counts a generation.
                columns = self._db.columns("SELECT id, generation, mtime_ns FROM documents")
                now = sorted(zip(*(column.tolist() for column in columns), strict=True))
                changed = [row[0] for row in now if row[0] not in known or known[row[0]][2][::2] != row[1:]]
                where = f" WHERE id IN {among(changed)}" if len(changed) < len(now) else ""
                sql = "SELECT id, path, size, mtime_ns, sha256, units, generation, kind, grain, origin FROM documents"
                read = {row[0]: _document(*row) for row in (self._db.rows(sql + where) if changed else ())}
            self._documents = at, instance, {row[0]: read.get(row[0]) or known[row[0]] for row in now}
        return self._documents[2]

    def units_of(self, document_ids: Sequence[int]) -> list[StoredUnit]:
        """Indexed units of these documents, in reading order."""
        rows = self._db.rows(
            f"SELECT id, document_id, hash FROM units WHERE document_id IN {among(document_ids)} "
            "ORDER BY document_id, ordinal"
        )
        return [StoredUnit(*row) for row in rows]

    def apply(self, changes: Sequence[DocumentChange], version: Version) -> Version:
        """Write the new state of some files, each as a whole or not at all; returns the new version.

        Raises :class:`TextsChanged` and writes none when ``version`` is no longer that of one of them; what becomes of
        other files is no matter.
        """
        replaced = [change.replaces for change in changes if change.replaces is not None]
        new = [change.file.path for change in changes if change.replaces is None]
        with self._db.write() as c:
            writing.check_version(self._db, c, version, self._db.counters(), replaced, new)
            writing.apply(self._db, c, changes)
            return writing.next_version(c, version, replaced)

    def remove(self, document_ids: Sequence[int], version: Version) -> Version:
        """Remove documents with everything they own; returns and raises as :meth:`apply`."""
        with self._db.write() as c:
            writing.check_version(self._db, c, version, self._db.counters(), document_ids)
            writing.remove(c, document_ids)
            return writing.next_version(c, version, ())

    def touch(self, files: Sequence[tuple[int, SourceFile]], version: Version) -> None:
        """Note the new times of files, and the days of sections that take theirs from them; raises as :meth:`apply`."""
        with self._db.write() as c:
            writing.check_version(self._db, c, version, self._db.counters(), [document_id for document_id, _ in files])
            writing.touch(self._db, c, files)

    # -- what search reads --------------------------------------------------------------------------

    def document_infos(self) -> list[DocumentInfo]:
        """All documents, for search."""
        with self._db.turn():
            return [info for _, info, _ in self._all_documents().values()]

    def unit_rows(self, document_ids: Sequence[int] | None) -> UnitRows:
        """Columns of the units of these documents (all when ``None``), in reading order."""
        where = "true" if document_ids is None else f"document_id IN {among(document_ids)}"
        # Joined and put in order here, which takes the database longer.
        with self._db.read():
            *columns, ordinal = self._db.columns(
                "SELECT id, document_id, section_id, start_line, end_line, terms, chars, time_words, "
                "form IN ('heading', 'title') AS heading, form = 'title' AS title, "
                "form IN ('machine', 'struck') AS machine, "
                "form = 'meta' AS meta, speaker_key, said_first, said_last, hash, occurrence, tokens, likeness, "
                "script, amount, ordinal "
                f"FROM units WHERE {where}"
            )
            day = f"coalesce({_STATED} - DATE '0001-01-01' + 1, 0) AS day"
            sections, days = self._db.columns(f"SELECT id, {day} FROM sections WHERE {where}")
        by_id = np.argsort(sections)
        columns.insert(_DAY, days[by_id[np.searchsorted(sections, columns[2], sorter=by_id)]])
        in_order = np.lexsort((ordinal, columns[1]))
        # In the order of the fields of UnitRows.
        numbers = (np.int64, *[np.int32] * 3, np.int64, np.int32, np.float32, np.int64, np.int8, bool)
        types = (*[np.int32] * 8, *[bool] * 4, *numbers)
        return UnitRows(
            *(column[in_order].astype(kind, copy=False) for column, kind in zip(columns, types, strict=True))
        )

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        """Headings and lines of sections by id."""
        with self._db.read() as c:
            rows = []
            wanted = list(dict.fromkeys(section_ids))
            # Of many, reading through all of them is quicker.
            for some in batches(wanted, _KEYS if len(wanted) <= 1_000 else len(wanted)):
                rows += c.execute(
                    f"SELECT id, heading, {_STATED}, start_line, body FROM sections WHERE id IN {among(some)}"
                ).fetchall()
        return {row[0]: SectionText(row[0], row[1], row[2], row[3], tuple(row[4].split("\n"))) for row in rows}

    def spellings(self, words: Sequence[str]) -> set[str]:
        """Words with the initial of one of ``words``, of the notes that have one with about half of its letters."""
        like = []
        for word in filter(str.isidentifier, words):  # in the statement, as DuckDB takes its time to bind values
            half = len(word) // 2
            alike = f"words LIKE '% {word[:half]}%' OR words LIKE '%{word[half + 1 :]} %'"
            like.append(f"(initial = '{word[0]}' AND ({alike}))")
        rows = self._db.rows(f"SELECT words FROM words WHERE {' OR '.join(like) or 'FALSE'}")
        return {word for row in rows for word in row[0].split()}

    @abstractmethod
    def keyword_index(self) -> KeywordIndex:
        """The keyword index that the settings name, empty; ``refresh`` fills it."""

    @abstractmethod
    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """The answer of one SQL statement that only reads; at most ``limit`` rows, in at most ``timeout`` seconds.

        Raises :class:`~openclaw_memory.errors.RequestError` when it is refused, wrong or takes too long.
        """

    @abstractmethod
    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file into a folder that is empty, new, or (``overwrite``) an older export.

        ``progress(stage, done, total)`` is called after each table.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """

    # -- what forgetting reads and writes -------------------------------------------------------------

    def unit_texts(self, unit_ids: Sequence[int]) -> list[UnitText]:
        """Units with their texts, in order of document and place."""
        rows = self._db.rows(
            "SELECT id, document_id, start_line, end_line, form, speaker, "
            "CASE WHEN form IN ('line', 'turn', 'item', 'quote') THEN coalesce(indexed, text) ELSE text END, "
            "hash, occurrence "
            f"FROM units WHERE id IN {among(unit_ids)} ORDER BY document_id, ordinal"
        )
        return [UnitText(*row) for row in rows]

    def unit_traces(self, unit_ids: Sequence[int]) -> UnitTraces:
        """How many rows these units own beside their own."""
        with self._db.read() as c:
            numbers = [
                count(c, f"SELECT count(*) FROM {table} WHERE unit_id IN {among(unit_ids)}")
                for table in ("vectors", "mentions", "found_facts", "derived_from")
            ]
        return UnitTraces(*numbers)

    def masks(self) -> str:
        """What :meth:`read_again` was last told."""
        return self._db.counters().get("masks", "")

    def unpurged(self) -> bool:
        """Whether :meth:`purge` has not run since :meth:`read_again`."""
        return "unpurged" in self._db.counters()

    def read_again(self, document_ids: Sequence[int] | None, masks: str) -> None:
        """Have the next ingest read these documents again, as ``masks`` are others now; with ``None`` every file.

        An ingest that is reading meanwhile gets :class:`TextsChanged`.
        """
        with self._db.write() as c:
            writing.read_anew(c, document_ids)
            c.execute("DELETE FROM meta WHERE key = 'masks'")
            c.execute("INSERT INTO meta VALUES ('masks', ?)", [masks])
            c.execute("DELETE FROM meta WHERE key = 'unpurged'")
            c.execute("INSERT INTO meta SELECT 'unpurged', '' WHERE (SELECT count(*) FROM documents) > 0")

    @abstractmethod
    def purge(self) -> None:
        """Leave no trace of what was deleted.  Not inside a :meth:`session`."""

    @abstractmethod
    def leftovers(self) -> list[str]:
        """Where else the same texts may be kept: older copies of this index, indexes of others; in words."""

    # -- upkeep -----------------------------------------------------------------------------------

    @abstractmethod
    def shrink(self) -> bool:
        """Give back what deleted rows took when that is much of it; whether it did.  Not inside a :meth:`session`."""

    def maintain(self, force: bool = False) -> bool:
        """Fold the postings' delta into their base, and drop what is dead, once either has grown; whether it did."""
        with self._db.read() as c:
            base, delta = self._db.sizes(c)
            if not force and delta <= max(20_000, base // 8) and not writing.many_dead(c):
                return False
            with self._db.write() as c:
                self._db.fold_postings(c)
                writing.note_compacted(c)
        return True

    def statistics(self) -> StoreStatistics:
        """Counts and sizes."""
        with self._db.read() as c:
            documents, sections, units = (
                count(c, f"SELECT count(*) FROM {table}") for table in ("documents", "sections", "units")
            )
            groups = [
                dict(c.execute(f"SELECT {column}, sum(units)::BIGINT FROM documents GROUP BY 1 ORDER BY 1").fetchall())
                for column in ("kind", "grain")
            ]
            generation = int(self._db.counters()["generation"])
            size, sizes = self._db.size(c), self._db.sizes(c)
        return StoreStatistics(self._name, size, VERSION, generation, documents, sections, units, *sizes, *groups)

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Where in the index any of these texts stands: names of columns (``units.text``) and files."""
        search = Needles(needles)
        if not search:
            return []
        with self._db.read() as c:
            return [name for name, cells in self._db.cells(c) if search.any_in(cells)]

    def _note_purged(self) -> None:
        if self.unpurged():
            with self._db.write() as c:
                c.execute("DELETE FROM meta WHERE key = 'unpurged'")


def _document(
    document_id: int,
    path: str,
    size: int,
    mtime_ns: int,
    sha256: str,
    units: int,
    generation: int,
    kind: str,
    grain: str,
    origin: str,
) -> _Document:
    info = DocumentInfo(document_id, path, _KINDS[kind], _GRAINS[grain], _ORIGINS[origin], generation, sha256, units)
    return DocumentRow(document_id, path, size, mtime_ns, sha256, units), info, (generation, sha256, mtime_ns)
