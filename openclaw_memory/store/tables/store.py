"""The store: the answers that both databases give by the same SQL, and the contract for the rest."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ... import arrays as np
from ...config.settings import StoreSettings
from ...model import Grain, Kind, Origin, Progress
from ...system import atomic, mapped
from ...system.deadline import Deadline
from ...system.heap import free_unused_heap
from ..rows import (
    KEPT,
    KEPT_WORDS,
    Analyse,
    Collect,
    DocumentChange,
    DocumentInfo,
    Documents,
    SectionText,
    StoreState,
    StoreStatistics,
    SummaryCitations,
    SummaryInfo,
    UnitDependents,
    UnitRows,
    UnitText,
    batches,
)
from . import writing
from .base import VERSION, Connection, Needles, bump, count, in_list, put_meta
from .graph import GraphTables
from .keywords import KeywordIndex
from .vectors import VectorTables

if TYPE_CHECKING:
    from ...model import ExportReport, QueryResult

#: The day of a section if a name or a text states it.
_STATED = "CASE WHEN date_source <> 'mtime' THEN date END"
#: Members by value, as calling the class of an enum is slow.
_KINDS = {kind.value: kind for kind in Kind}
_GRAINS = {grain.value: grain for grain in Grain}
_ORIGINS = {origin.value: origin for origin in Origin}


class Store(GraphTables, VectorTables, ABC):
    """One agent's index of one workspace, for ingest and search; each database implements the abstract methods.

    Every method may raise :class:`~openclaw_memory.errors.StoreError`; each that writes is one transaction.
    ``name`` is the index's name for people: its file, or its URL.
    """

    #: Seconds that a process which keeps its state for others waits for the database.
    patience: ClassVar[float] = 0.0

    def __init__(
        self, name: str, settings: StoreSettings, analyse: Analyse, extraction: str, beside: Path | None = None
    ) -> None:
        self._name = name
        self._settings = settings
        self._analyse = analyse
        self._extraction = extraction
        self._cache = {}
        #: The file beside which processes of this machine keep what they have read; ``None`` to keep nothing.
        self.beside = beside
        #: The inode of the file of which this process has the arrays mapped.
        self._kept_inode: int | None = None
        #: The instance of the index whose documents were read last, and these by id.
        self._documents: tuple[str, dict[int, DocumentInfo]] = "", {}

    def _check_versions(self, c: Connection) -> None:
        """Have the next ingest read all texts again if the index is of another analysis or extraction."""
        if c.execute("SELECT value FROM meta WHERE key = 'extraction'").fetchone() == (self._extraction,):
            return
        with self._db.change(c):
            writing.mark_for_reread(c)
            put_meta(c, "extraction", self._extraction)

    def state(self) -> StoreState:
        """Return the identity of the index and its write counter."""
        counters = self._cached("state", self._db.counters)
        return StoreState(counters["instance"], int(counters["generation"]))

    # -- life ---------------------------------------------------------------------------------

    def session(self, timeout: float | None = None) -> AbstractContextManager[object]:
        """Hold the store for the calls inside; waits up to ``timeout`` seconds for other processes."""
        return self._db.read(timeout)

    @abstractmethod
    def reading(self) -> AbstractContextManager[object]:
        """Hold the store for reading, mostly from memory: other processes may go on, and write between two calls.

        :meth:`state` shows whether they have.
        """

    @abstractmethod
    def limit_waiting(self, until: Deadline) -> AbstractContextManager[None]:
        """Let no call of this thread wait for other processes beyond ``until`` in the block."""

    @abstractmethod
    def embedding_lock(self, timeout: float) -> AbstractContextManager[bool]:
        """Yield true if this process may embed: only one does at a time; waits up to ``timeout`` seconds."""

    def sidecar(self, suffix: str) -> Path | None:
        """Return the path of a sidecar file of the index; ``None`` for an index on a server."""
        return None

    @abstractmethod
    def files(self) -> list[Path]:
        """Return the index files on this machine that hold this workspace, or held it before it was on a server."""

    @abstractmethod
    def warnings(self) -> list[str]:
        """Return warnings for a person, such as a damaged file that was moved aside."""

    # -- what processes keep for each other -----------------------------------------------------------

    def kept_file(self, suffix: str) -> Path | None:
        """Return the file of this machine in which processes keep for each other what they have read."""
        return None if self.beside is None else Path(f"{self.beside}{suffix}")

    def kept(self, suffix: str) -> Mapping[str, Any]:
        """Return what :meth:`keep` wrote for ``suffix``, its arrays mapped; nothing if it is of another index or build.

        It has the ``state`` of which it was, and is ``unchanged`` if the store has been neither written nor moved.
        """
        if (path := self.kept_file(suffix)) is None:
            return {}
        with self._db.consistent_reads():
            self._kept_inode = None if suffix == KEPT_WORDS else self._kept_inode
            found = mapped.read(path, self._build(), {"index", "graph", "store", "model"})
            if found is None:
                return {}
            unchanged = self._db.adopt(found["stamp"], found["counters"])
            if unchanged:
                token = self._db.change_token
                answers = {key: (token if of is None else of, value) for key, of, value in found["answers"]}
                self._cache = answers | self._cache
            instance, generation = found["state"]
            now = self.state()
            if now.instance != instance or now.generation < generation:
                return {}
            if suffix == KEPT_WORDS:
                self._kept_inode = _inode(path)
            return {**found["parts"], "state": found["state"], "unchanged": unchanged}

    def has_kept(self) -> bool:
        """Return true if what :meth:`kept` returned is still what others get."""
        return self._kept_inode is None or self._kept_inode == _inode(Path(f"{self.beside}{KEPT_WORDS}"))

    def keep(self, suffix: str, state: StoreState, export: Callable[[], Mapping[str, Any]]) -> bool:
        """Write what ``export`` returns for other processes, unless the store is no longer in ``state``.

        Returns true if it was written; where it cannot be, others do without.
        """
        if (path := self.kept_file(suffix)) is None:
            return False
        with self._db.read():
            stamp = self._db.stamp
            if stamp is None or self.state() != state:
                return False
            self.statistics(), self.workspace_file("")  # whose answers every question or status needs
            parts, token, counters = export(), self._db.change_token, dict(self._db.counters())
            answers = [(key, None if of == token else of, value) for key, (of, value) in self._cache.items()]
            value = {"stamp": stamp, "state": tuple(state), "counters": counters, "answers": answers, "parts": parts}
            with suppress(OSError):  # which writing meets too
                atomic.make_folder(path.parent, 0o700)
            return mapped.write(path, self._build(), value)

    def _build(self) -> str:
        """Return what must be the same in a process that reads what this one keeps."""
        return f"{mapped.build_of_package()} {self._extraction} {self._settings.vector_dtype}"

    # -- life -----------------------------------------------------------------------------------------

    def give_back_memory(self) -> None:
        """Return to the operating system the memory that reading the whole index took."""
        free_unused_heap()

    @abstractmethod
    def close(self) -> None:
        """Release everything; calling twice is harmless."""

    # -- ingest -----------------------------------------------------------------------------------

    def documents(self) -> Documents:
        """Return all indexed files by path, and the version of their texts."""
        with self._db.consistent_reads():
            return Documents({info.path: info for info in self.document_infos()}, int(self._db.counters()["texts"]))

    def document_infos(self) -> list[DocumentInfo]:
        """Return all documents in the order of their ids."""
        return self._cached("documents", self._read_documents)

    def _read_documents(self) -> list[DocumentInfo]:
        """Read the documents that have changed since the last call; of thousands of them the others take too long."""
        with self._db.read():
            instance = self._db.counters()["instance"]
            old_instance, old = self._documents
            if old_instance != instance:
                old = {}
            # Whoever has a file read again sets its time, and everything else counts a generation.
            columns = self._db.columns("SELECT id, generation, mtime_ns FROM documents")
            now = sorted(zip(*(column.tolist() for column in columns), strict=True))
            changed = [
                row[0] for row in now if row[0] not in old or (old[row[0]].generation, old[row[0]].mtime_ns) != row[1:]
            ]
            where = f" WHERE id IN {in_list(changed)}" if len(changed) < len(now) else ""
            sql = "SELECT id, path, size, mtime_ns, sha256, units, generation, kind, grain, origin FROM documents"
            read = {
                row[0]: DocumentInfo(*[*row[:7], _KINDS[row[7]], _GRAINS[row[8]], _ORIGINS[row[9]]])
                for row in (self._db.rows(sql + where) if changed else ())
            }
        infos = [read.get(row[0]) or old[row[0]] for row in now]
        self._documents = instance, {info.id: info for info in infos}
        return infos

    def apply(self, changes: Sequence[DocumentChange], version: int) -> tuple[int, Counter[str]]:
        """Write the new state of some files, each as a whole or not at all.

        Returns the new version of the texts, and the numbers of units that were ``added``, ``updated`` and ``deleted``.
        Raises :class:`TextsChanged` and writes none if they are no longer of ``version``.
        """
        with self._db.write() as c:
            writing.check_version(self._db, version)
            replaced = [change.replaces for change in changes if change.replaces is not None]
            facts = self.extracted_facts(replaced)
            counts = writing.apply(self._db, c, changes)
            # The same facts at the same places leave all that follows from facts as it is.
            has_new_facts = any(
                unit.cited or (unit.facts and each.replaces is None) for each in changes for unit in each.units
            )
            bump(c, "texts", *(["facts"] if has_new_facts or facts != self.extracted_facts(replaced) else []))
        return version + 1, counts

    def remove(self, document_ids: Sequence[int], version: int) -> int:
        """Remove documents with everything they own; return the new version.  Raises as :meth:`apply`."""
        with self._db.write() as c:
            writing.check_version(self._db, version)
            bump(c, "texts", *(["facts"] if self.extracted_facts(document_ids) else []))
            writing.remove(c, document_ids)
        return version + 1

    # -- search ---------------------------------------------------------------------------------------

    def unit_rows(self, document_ids: Sequence[int] | None) -> UnitRows:
        """Return the columns of the units of these documents (all for ``None``), in reading order."""
        where = "true" if document_ids is None else f"document_id IN {in_list(document_ids)}"
        # Joined and sorted by numpy, which is quicker than the database.
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
        columns.insert(13, days[by_id[np.searchsorted(sections, columns[2], sorter=by_id)]])
        in_order = np.lexsort((ordinal, columns[1]))
        columns.reverse()  # so that each is given up when it has been put in order
        return UnitRows(*(columns.pop()[in_order].astype(kind, copy=False) for kind in UnitRows.TYPES))

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        """Return headings and lines of sections by id."""
        rows = []
        ids = list(dict.fromkeys(section_ids))
        with self._db.read() as c:
            # A single scan is quicker for many.
            for batch in batches(ids, 50 if len(ids) <= 1_000 else len(ids)):
                rows += c.execute(
                    f"SELECT id, heading, {_STATED}, start_line, body FROM sections WHERE id IN {in_list(batch)}"
                ).fetchall()
        return {row[0]: SectionText(row[0], row[1], row[2], row[3], tuple(row[4].split("\n"))) for row in rows}

    def spellings(self, words: Sequence[str]) -> set[str]:
        """Return words of the notes that share the initial and about half of the letters with one of ``words``."""
        like = []
        for word in filter(str.isidentifier, words):  # in the statement, as DuckDB takes its time to bind values
            half = len(word) // 2
            alike = f"words LIKE '% {word[:half]}%' OR words LIKE '%{word[half + 1 :]} %'"
            like.append(f"(initial = '{word[0]}' AND ({alike}))")
        rows = self._db.rows(f"SELECT words FROM words WHERE {' OR '.join(like) or 'FALSE'}")
        return {word for row in rows for word in row[0].split()}

    def keyword_index(self) -> KeywordIndex:
        """Return a new, empty keyword index as the settings name it; ``refresh`` fills it."""
        return KeywordIndex(self._db.load_postings)

    def summaries(self) -> list[SummaryInfo]:
        """Return all summaries, by path."""
        return self._cached("summaries", self._read_summaries)

    def _read_summaries(self) -> list[SummaryInfo]:
        select = "SELECT id, path, grain, front_matter, sha256, size FROM documents WHERE grain <> 'working'"
        return sorted((_summary_info(*row) for row in self._db.rows(select)), key=lambda info: info.path)

    def summary_citations(self) -> SummaryCitations:
        """Return the lines that the sentences of summaries cite."""
        rows = self._db.rows(
            "SELECT unit_id, document_id, path, start_line, end_line FROM derived_from "
            "ORDER BY document_id, unit_id, path, start_line"
        )
        columns = list(zip(*rows, strict=True)) if rows else [()] * 5
        unit, document, first, last = (np.array(columns[at], np.int32) for at in (0, 1, 3, 4))
        return SummaryCitations(unit, document, tuple(columns[2]), first, last)

    @abstractmethod
    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """Answer one SQL statement that only reads: at most ``limit`` rows, in at most ``timeout`` seconds.

        Raises :class:`~openclaw_memory.errors.RequestError` when it is refused, wrong or takes too long.
        """

    @abstractmethod
    def export(self, folder: Path, collect: Collect, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file into a new or empty folder.

        ``progress(stage, done, total)`` is called after each table.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """

    # -- forgetting -----------------------------------------------------------------------------------

    def unit_texts(self, unit_ids: Sequence[int], containing: str = "") -> list[UnitText]:
        """Return units with their texts, in order of document and place: those whose text has ``containing``."""
        wanted = "AND (strpos(text, ?) > 0 OR strpos(indexed, ?) > 0) " if containing else ""
        rows = self._db.rows(
            "SELECT id, document_id, start_line, end_line, form, speaker, "
            "CASE WHEN form IN ('line', 'turn', 'item', 'quote') THEN coalesce(indexed, text) ELSE text END, "
            "hash, occurrence "
            f"FROM units WHERE id IN {in_list(unit_ids)} {wanted}ORDER BY document_id, ordinal",
            [containing] * wanted.count("?"),
        )
        return [UnitText(*row) for row in rows]

    def count_dependents(self, unit_ids: Sequence[int]) -> UnitDependents:
        """Count the rows that these units own in other tables."""
        with self._db.read() as c:
            numbers = [
                count(c, f"SELECT count(*) FROM {table} WHERE unit_id IN {in_list(unit_ids)}")
                for table in ("vectors", "mentions", "found_facts", "derived_from")
            ]
        return UnitDependents(*numbers)

    def masks(self) -> str:
        """Return the ``masks`` of the last :meth:`schedule_reread`."""
        return self._db.counters().get("masks", "")

    def unpurged(self) -> bool:
        """Return true if :meth:`purge` has not run since :meth:`schedule_reread`."""
        return "unpurged" in self._db.counters()

    def schedule_reread(self, document_ids: Sequence[int] | None, masks: str) -> None:
        """Have the next ingest read these documents again, or with ``None`` every file, under new ``masks``.

        An ingest that is reading meanwhile gets :class:`TextsChanged`.
        """
        with self._db.write() as c:
            writing.mark_for_reread(c, document_ids)
            put_meta(c, "masks", masks)
            c.execute("DELETE FROM meta WHERE key = 'unpurged'")
            c.execute("INSERT INTO meta SELECT 'unpurged', '' WHERE (SELECT count(*) FROM documents) > 0")

    @abstractmethod
    def purge(self) -> None:
        """Leave no trace of deleted texts.  Not inside a :meth:`session`."""

    def _record_purge(self) -> None:
        if self.unpurged():
            with self._db.write() as c:
                c.execute("DELETE FROM meta WHERE key = 'unpurged'")

    @abstractmethod
    def leftovers(self) -> list[str]:
        """Describe the places that may still hold the same texts: older copies of this index, indexes of others."""

    def contains(self, needles: Sequence[str], files: Sequence[Path] = ()) -> list[str]:
        """Return the columns (``units.text``), ``files`` and files of what is kept that hold any of these texts."""
        search = Needles(needles)
        if not search:
            return []
        with self._db.read() as c:
            columns = [name for name, cells in self._db.cells(c) if search.any_in(cells)]
            kept = [file for suffix in KEPT if (file := self.kept_file(suffix)) is not None]
            held = [file.name for file in (*files, *kept) if file.exists() and search.finds(file.read_bytes())]
            return columns + held

    # -- maintenance ----------------------------------------------------------------------------------

    def maintain(self, force: bool = False) -> bool:
        """Fold the postings' delta into their base without dead ones, if it is large; returns true if it did."""
        with self._db.read() as c:
            base, delta = self._db.sizes(c)
            if not force and delta <= max(20_000, base // 8):
                return False
            with self._db.write() as c:
                self._db.fold_postings(c)
                bump(c, "compaction", "texts")
        return True

    def statistics(self) -> StoreStatistics:
        """Return counts and sizes."""
        return self._cached("statistics", self._count)._replace(bytes=self._db.size())

    def _count(self) -> StoreStatistics:
        with self._db.read() as c:
            documents, sections, units = (
                count(c, f"SELECT count(*) FROM {table}") for table in ("documents", "sections", "units")
            )
            groups = [
                dict(c.execute(f"SELECT {column}, sum(units)::BIGINT FROM documents GROUP BY 1 ORDER BY 1").fetchall())
                for column in ("kind", "grain")
            ]
            generation = int(self._db.counters()["generation"])
            sizes = self._db.sizes(c)
        return StoreStatistics(self._name, 0, VERSION, generation, documents, sections, units, *sizes, *groups)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _summary_info(id: int, path: str, grain: str, front_matter: str, sha256: str, size: int) -> SummaryInfo:
    stated: dict[str, Any] = json.loads(front_matter) if front_matter else {}
    sources = []
    for entry in map(str, stated.get("sources") or ()):
        name, _, digest = entry.rpartition(" ") if " " in entry else (entry, "", "")
        sources.append((name, digest))
    period, digest = (str(stated.get(key, "")) for key in ("period", "digest"))
    edited = bool(stated.get("edited", True))
    return SummaryInfo(id, path, Grain(grain), period, digest, tuple(sources), edited, sha256, size)
