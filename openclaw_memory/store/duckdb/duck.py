"""The DuckDB store: documents, sections, units, vectors and postings in one file."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from ...config.settings import StoreSettings
from ...errors import SchemaTooNew, StoreError
from ...model import Grain, Kind, Origin, SourceFile
from ...system.deadline import Deadline
from ..api import (
    Analyse,
    DocumentChange,
    DocumentInfo,
    DocumentRow,
    Documents,
    Extraction,
    Floats,
    Ints,
    KeywordIndex,
    PendingText,
    SectionText,
    StoredUnit,
    StoreState,
    StoreStatistics,
    UnitRows,
    VectorIndex,
    VectorModel,
    VectorStates,
    Version,
    batches,
)
from . import extraction, schema, writing
from .database import IDS, Database, count, free_unused_heap, id_list, insert
from .fts import FtsIndex
from .graph import GraphTables
from .keywords import PostingsIndex
from .purge import PurgeTables
from .query import Queries
from .summaries import SummaryTables
from .transaction import transaction
from .vectors import ExactIndex, VssIndex, pack

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger("openclaw_memory.store")

#: For an index that nobody has read texts into.
_NO_WAY = Extraction()
#: A section's day, where a name or a text states it.
_STATED = "CASE WHEN date_source <> 'mtime' THEN date END"
#: By their values, as calling the class of an enum is slow.
_KINDS = {kind.value: kind for kind in Kind}
_GRAINS = {grain.value: grain for grain in Grain}
_ORIGINS = {origin.value: origin for origin in Origin}
#: Sections asked by key in one statement.
_KEYS = 50
#: Vectors are read in ranges of this many unit ids, which bounds the Python objects alive at once.
_RANGE = 8_192


class DuckStore(GraphTables, SummaryTables, PurgeTables, Queries):
    """One agent's index of one workspace; implements :class:`~openclaw_memory.store.api.Store`.

    Raises :class:`~openclaw_memory.errors.StoreError` from every method when the file cannot be
    used.  Opening is lazy: nothing is created before the first call.
    """

    def __init__(
        self,
        path: Path,
        settings: StoreSettings,
        analyse: Analyse,
        analysis_version: int = 0,
        read_as: Extraction = _NO_WAY,
    ) -> None:
        self.path = path
        self._settings = settings
        self._analyse = analyse
        self._analysis_version = str(analysis_version)
        self._extraction = read_as
        self._left: frozenset[str] = frozenset()
        self._remarks: list[str] = []
        self._models: dict[VectorModel, int] = {}
        self._models_epoch = -1
        self._db = Database(
            path,
            timeout=settings.lock_timeout,
            idle=settings.idle_close,
            memory_limit_mb=settings.memory_limit_mb,
            threads=settings.threads,
            opened=self._check_versions,
        )

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the file for the calls inside the block."""
        with self._db.read(timeout):
            yield

    def patience(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Wait for others no longer than ``until`` inside the block."""
        return self._db.lease.patience(until)

    def _check_versions(self, c: duckdb.DuckDBPyConnection) -> None:
        self._check_analysis(c)
        self._check_extraction(c)

    def _check_extraction(self, c: duckdb.DuckDBPyConnection) -> None:
        """Have texts read again that were read another way; see :mod:`openclaw_memory.store.duckdb.extraction`."""
        meta = dict(c.execute("SELECT key, value FROM meta WHERE key IN ('extraction', 'older')").fetchall())
        known = extraction.noted(meta.get("extraction"))
        new = extraction.decided(known, self._extraction, time.time())
        behind = self._extraction.version < new.extraction.version
        due = extraction.is_due(known, new, self._extraction)
        if due or behind != ("older" in meta):
            generation = count(c, "SELECT value FROM counters WHERE name = 'generation'")
            since = int(meta.get("older", generation))
            with transaction(c):
                if known is None or known.extraction != new.extraction:
                    writing.read_anew(c)
                    c.execute("UPDATE workspace_files SET mtime_ns = -1")  # what is curated has its keys made again
                elif not behind and since < generation:
                    writing.read_anew(c, since)
                c.execute("DELETE FROM meta WHERE key IN ('extraction', 'older')")
                c.execute("INSERT INTO meta VALUES ('extraction', ?)", [new.text()])
                if behind:  # a newer program reads again what is written from here on
                    c.execute("INSERT INTO meta VALUES ('older', ?)", [str(since)])
        self._left = new.extraction.allow
        remarks = extraction.remarks(new, self._extraction)
        for remark in remarks:
            if remark not in self._remarks:
                log.warning("%s: %s", self.path, remark)
        self._remarks = remarks

    def _check_analysis(self, c: duckdb.DuckDBPyConnection) -> None:
        """Make postings again when they were made by another version of the text analysis."""
        row = c.execute("SELECT value FROM meta WHERE key = 'analysis'").fetchone()
        if row is not None and row[0] == self._analysis_version:
            return
        if row is not None and int(row[0]) > int(self._analysis_version):
            # Two programs of different age would otherwise make all postings again in turns.
            raise SchemaTooNew(
                f"{self.path}: its texts were analysed by a newer openclaw-memory; upgrade or restart this one, "
                "or choose another file with --db"
            )
        with transaction(c):
            writing.analyse_anew(c, self._analyse)
            c.execute("DELETE FROM meta WHERE key = 'analysis'")
            c.execute("INSERT INTO meta VALUES ('analysis', ?)", [self._analysis_version])

    def state(self) -> StoreState:
        """Identity of the file and its write counter."""
        known = self._db.counters()
        return StoreState(known["instance"], int(known["generation"]))

    def beside(self, suffix: str) -> Path | None:
        """The index file's own name with ``suffix`` behind it."""
        return Path(f"{self.path}{suffix}")

    def warnings(self) -> list[str]:
        """What happened to the file that a person should hear."""
        return [*self._db.warnings, *self._remarks]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    # -- what ingest reads and writes -----------------------------------------------------------

    def documents(self) -> Documents:
        """All indexed files by path."""
        with self._db.read() as c:
            rows = c.execute("SELECT id, path, size, mtime_ns, sha256, units FROM documents").fetchall()
            version = writing.version_of(c, self._db.counters())
            return Documents({row[1]: DocumentRow(*row) for row in rows}, version, self._left)

    def units_of(self, document_ids: Sequence[int]) -> list[StoredUnit]:
        """Indexed units of these documents, in reading order."""
        rows = self._db.rows(
            f"SELECT id, document_id, hash FROM units WHERE document_id IN {IDS} ORDER BY document_id, ordinal",
            [id_list(document_ids)],
        )
        return [StoredUnit(*row) for row in rows]

    def apply(self, changes: Sequence[DocumentChange], version: Version) -> Version:
        """Write the new state of some files in one transaction."""
        replaced = [change.replaces for change in changes if change.replaces is not None]
        new = [change.file.path for change in changes if change.replaces is None]
        living = [planned.id for change in changes for planned in change.units if planned.id is not None]
        with self._db.write() as c:
            known = writing.check_version(c, version, self._db.counters(), replaced, new, living)
            writing.apply(c, changes)
            return writing.next_version(c, version, known)

    def remove(self, document_ids: Sequence[int], keep_units: Sequence[int], version: Version) -> Version:
        """Remove documents with everything they own."""
        with self._db.write() as c:
            writing.check_version(c, version, self._db.counters(), document_ids)
            writing.remove(c, document_ids, keep_units)
            return writing.next_version(c, version, ())

    def touch(self, files: Sequence[tuple[int, SourceFile]], version: Version) -> None:
        """Note the new times of files, and the days of sections that take theirs from them."""
        with self._db.write() as c:
            writing.check_version(c, version, self._db.counters(), [document_id for document_id, _ in files])
            writing.touch(c, files)

    @contextlib.contextmanager
    def embedding_turn(self, timeout: float) -> Iterator[bool]:
        """One process embeds at a time, so that several do not compute the same vectors."""
        turn = FileLock(f"{self.path}.embedding", mode=0o600)
        try:
            self._db.prepare()
            turn.acquire(timeout=timeout, poll_interval=0.02)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot create a lock beside the index ({error.strerror or error}); "
                "check the folder's permissions and free space, or choose another file with --db"
            ) from error
        try:
            yield True
        finally:
            turn.release()

    # -- vectors ----------------------------------------------------------------------------------

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units that have neither a vector of ``model`` nor failed with it, oldest first."""
        with self._db.read() as c:
            model_id = self._model_id(c, model)
            asked = "" if unit_ids is None else f"WHERE u.id IN {IDS} "
            span = c.execute(
                "SELECT min(id), max(id) FROM (SELECT u.id FROM units u ANTI JOIN "
                f"(SELECT unit_id FROM vectors WHERE model_id = {model_id:d}) v ON v.unit_id = u.id "
                f"{asked}ORDER BY u.id LIMIT {limit:d})",
                [] if unit_ids is None else [id_list(unit_ids)],
            ).fetchone()
            if span is None or span[0] is None:
                return []
            # Two steps, as the texts of all units are much to read for a few; new units are neighbours.
            low, high = span
            between = f"BETWEEN {low:d} AND {high:d}"
            rows = c.execute(
                f"SELECT u.id, coalesce(u.indexed, u.text) FROM units u ANTI JOIN (SELECT unit_id FROM vectors "
                f"WHERE model_id = {model_id:d} AND unit_id {between}) v ON v.unit_id = u.id "
                f"WHERE u.id {between} "
                + ("" if unit_ids is None else f"AND u.id IN {IDS} ")
                + f"ORDER BY u.id LIMIT {limit:d}",
                [] if unit_ids is None else [id_list(unit_ids)],
            ).fetchall()
        return [PendingText(*row) for row in rows]

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> None:
        """Store vectors of units that still exist, in place of any older model's."""
        self._put(model, unit_ids, "ready", pack(vectors))

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> None:
        """Note that these units cannot be embedded by ``model``."""
        self._put(model, unit_ids, "failed", [None] * len(unit_ids))

    def _put(self, model: VectorModel, unit_ids: Sequence[int], status: str, packed: list[str | None]) -> None:
        if not len(unit_ids):
            return
        with self._db.write() as c:
            model_id = self._model_id(c, model, create=True)
            c.execute(f"DELETE FROM vectors WHERE unit_id IN {IDS}", [id_list(unit_ids)])
            insert(
                c,
                "vectors",
                {"unit_id": [int(unit_id) for unit_id in unit_ids], "v": packed},
                {"unit_id": "INTEGER", "v": "VARCHAR"},
                f"unit_id, {model_id}, '{status}', (SELECT value FROM counters WHERE name = 'generation') + 1, "
                "from_base64(v)",
                where="unit_id IN (SELECT id FROM units)",
            )

    def retry_failed(self, model: VectorModel) -> None:
        """Make failed units pending again."""
        with self._db.write() as c:
            c.execute("DELETE FROM vectors WHERE status = 'failed' AND model_id = ?", [self._model_id(c, model)])

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        with self._db.read() as c:
            model_id = -1 if model is None else self._model_id(c, model)
            rows = self._db.rows(
                "SELECT count(*) FILTER (v.model_id = $1 AND v.status = 'ready'), "
                "count(*) FILTER (v.unit_id IS NULL), "
                "count(*) FILTER (v.model_id = $1 AND v.status = 'failed'), "
                "count(*) FILTER (v.model_id <> $1) "
                "FROM units u LEFT JOIN vectors v ON v.unit_id = u.id",
                [model_id],
            )
        return VectorStates(*rows[0])

    def noise(self, model: VectorModel) -> float | None:
        """What was noted of a model's unrelated texts."""
        with self._db.read() as c:
            row = c.execute("SELECT noise FROM models WHERE id = ?", [self._model_id(c, model)]).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note the cosine that unrelated texts rarely exceed."""
        with self._db.write() as c:
            c.execute("UPDATE models SET noise = ? WHERE id = ?", [noise, self._model_id(c, model, create=True)])

    def _model_id(self, c: duckdb.DuckDBPyConnection, model: VectorModel, create: bool = False) -> int:
        # Ids never change while one connection is open; another process may have moved the file since.
        if self._models_epoch != self._db.lease.epoch:
            self._models_epoch = self._db.lease.epoch
            self._models.clear()
        if model not in self._models:
            row = c.execute(
                "SELECT id FROM models WHERE name = ? AND dimensions = ?", [model.name, model.dimensions]
            ).fetchone()
            if row is None:
                # A new id is not remembered: its transaction may yet be undone.
                return self._new_model(c, model) if create else -1
            self._models[model] = int(row[0])
        return self._models[model]

    def _new_model(self, c: duckdb.DuckDBPyConnection, model: VectorModel) -> int:
        new = count(c, "SELECT coalesce(max(id), 0) + 1 FROM models")
        c.execute("INSERT INTO models VALUES (?, ?, ?, NULL)", [new, model.name, model.dimensions])
        return new

    # -- what search reads --------------------------------------------------------------------------

    def document_infos(self) -> list[DocumentInfo]:
        """All documents, for search."""
        rows = self._db.rows("SELECT id, path, kind, grain, origin, generation, sha256 FROM documents ORDER BY id")
        return [DocumentInfo(r[0], r[1], _KINDS[r[2]], _GRAINS[r[3]], _ORIGINS[r[4]], r[5], r[6]) for r in rows]

    def unit_rows(self, document_ids: Sequence[int] | None) -> UnitRows:
        """Columns of units in reading order."""
        where = "" if document_ids is None else f"WHERE u.document_id IN {IDS}"
        columns = self._db.columns(
            "SELECT u.id, u.document_id, section_id, u.start_line, u.end_line, terms, chars, question, time_words, "
            "u.form IN ('heading', 'title') AS heading, u.form = 'title' AS title, "
            "u.form = 'machine' AS machine, speaker_key, "
            f"coalesce({_STATED} - DATE '0001-01-01' + 1, 0) AS day, "
            "said_first, said_last, hash, occurrence, tokens, likeness, script "
            f"FROM units u JOIN sections s ON s.id = u.section_id {where} ORDER BY u.document_id, u.ordinal",
            [] if document_ids is None else [id_list(document_ids)],
        )
        # In the order of the fields of UnitRows.
        numbers = (np.int64, *[np.int32] * 3, np.int64, np.int32, np.float32, np.int64, np.int8)
        types = (*[np.int32] * 7, bool, np.int32, *[bool] * 3, *numbers)
        return UnitRows(*(np.ascontiguousarray(column, kind) for column, kind in zip(columns, types, strict=True)))

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        """Headings and lines of sections by id."""
        with self._db.read() as c:
            rows = []
            for some in batches(list(dict.fromkeys(section_ids)), _KEYS):
                # Numbers: a subquery or a bound list would not use the primary key, and binding each number is slow.
                keys = ", ".join(str(int(one)) for one in some)
                rows += c.execute(
                    f"SELECT id, heading, {_STATED}, start_line, body FROM sections WHERE id IN ({keys})"
                ).fetchall()
        return {row[0]: SectionText(row[0], row[1], row[2], row[3], tuple(row[4].split("\n"))) for row in rows}

    def keyword_index(self) -> KeywordIndex:
        """A new, empty keyword index; ``refresh`` fills it."""
        if self._settings.keyword_index == "fts":
            return FtsIndex(self._db, self._analyse)
        return PostingsIndex(self._db)

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """A new, empty vector index; ``refresh`` fills it."""
        choice = self._settings.vector_index
        if choice == "auto":
            with self._db.read() as c:
                large = count(c, "SELECT count(*) FROM units") >= self._settings.vss_threshold
            choice = "vss" if large else "exact"
        load = partial(self._load_vectors, model)
        kind = VssIndex if choice == "vss" else ExactIndex
        return kind(model, load, self._settings.vector_dtype)

    def _load_vectors(self, model: VectorModel, since: int) -> tuple[list[tuple[Ints, NDArray[np.float16]]], Ints, int]:
        parts: list[tuple[Ints, NDArray[np.float16]]] = []
        with self._db.read() as c:
            reached = count(c, "SELECT value FROM counters WHERE name = 'generation'")
            where = f"model_id = {self._model_id(c, model):d} AND status = 'ready'"
            known = c.execute(f"SELECT unit_id, generation > ? AS new FROM vectors WHERE {where}", [since]).fetchnumpy()
            ready, new = (np.ma.getdata(known[name]) for name in ("unit_id", "new"))
            ready = ready.astype(np.int32, copy=False)
            fresh = ready[new.astype(bool)]
            for low in range(int(fresh.min()), int(fresh.max()) + 1, _RANGE) if len(fresh) else ():
                found = c.execute(
                    f"SELECT unit_id, v FROM vectors WHERE {where} AND generation > ? AND unit_id BETWEEN ? AND ?",
                    [since, low, low + _RANGE - 1],
                ).fetchnumpy()
                if len(found["unit_id"]):
                    blob = b"".join(np.ma.getdata(found["v"]))
                    rows = np.frombuffer(blob, np.float16).reshape(-1, model.dimensions)
                    parts.append((np.asarray(found["unit_id"], np.int32), rows))
        return parts, ready, reached

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""
        with self._db.read() as c:
            with contextlib.suppress(Exception):  # refused when that much is in use
                c.execute("SET memory_limit = '16MB'")  # drops the cached blocks
            c.execute(f"SET memory_limit = '{self._settings.memory_limit_mb}MB'")
        free_unused_heap()

    # -- upkeep -----------------------------------------------------------------------------------

    def maintain(self, force: bool = False) -> bool:
        """Fold the delta into the term-sorted base, and drop what is dead, once either has grown."""
        with self._db.read() as c:
            base = count(c, "SELECT count(*) FROM postings")
            delta = count(c, "SELECT count(*) FROM postings_delta")
            if not force and delta <= max(20_000, base // 8) and not writing.many_dead(c):
                return False
            with self._db.write():
                writing.compact(c)
        return True

    def statistics(self) -> StoreStatistics:
        """Counts and sizes."""
        with self._db.read() as c:
            numbers = [
                count(c, f"SELECT count(*) FROM {table}")
                for table in ("documents", "sections", "units", "postings", "postings_delta")
            ]
            groups = [
                dict(c.execute(f"SELECT {column}, sum(units)::BIGINT FROM documents GROUP BY 1 ORDER BY 1").fetchall())
                for column in ("kind", "grain")
            ]
            generation = count(c, "SELECT value FROM counters WHERE name = 'generation'")
        files = [self.path, Path(f"{self.path}.wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        documents, sections, units, postings, delta = numbers
        return StoreStatistics(
            str(self.path), size, schema.CURRENT, generation, documents, sections, units, postings, delta, *groups
        )
