"""The PostgreSQL store: the same tables and the same SQL as the file's, one memory among many."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...config.settings import StoreSettings
from ...model import ExportReport, Progress, QueryResult
from ...system.deadline import Deadline
from ..api import (
    Analyse,
    Documents,
    Extraction,
    Floats,
    Ints,
    KeywordIndex,
    PendingText,
    StoreStatistics,
    VectorIndex,
    VectorModel,
)
from ..tables import writing
from ..tables.keywords import PostingsIndex
from ..tables.needles import Needles
from ..tables.sql import IDS, count, id_list
from ..tables.store import NO_WAY, TableStore
from ..tables.vectors import ExactIndex
from .halfvec import bound
from .postings import PostingsTables
from .schema import MIGRATIONS, TABLES

if TYPE_CHECKING:
    from ..api.derived import Collect, KeywordSearch
    from ..duckdb.duck import DuckStore

#: The class of the advisory lock of who embeds; its object is the memory.
_EMBEDDING = 0x6F636D65
#: Cells that are searched at once.
_CELLS = 2_000

_SUPERUSER = (
    "this role is a superuser or bypasses row-level security, so the server does not keep it from the memories of "
    "others (every statement still names the memory); take another role: SELECT openclaw_memory.permit('role', true)"
)


class PostgresStore(TableStore):
    """One agent's index of one workspace in a database; implements :class:`~openclaw_memory.store.api.Store`.

    ``workspace`` is a name that is the same wherever the same notes are.  Raises
    :class:`~openclaw_memory.errors.StoreError` from every method when the server does not answer as it should.
    """

    _db: PostingsTables

    def __init__(
        self,
        url: str,
        agent: str,
        workspace: str,
        settings: StoreSettings,
        analyse: Analyse,
        analysis_version: int = 0,
        read_as: Extraction = NO_WAY,
    ) -> None:
        self._db = PostingsTables(url, agent, workspace, settings.lock_timeout, self._check_versions)
        super().__init__(self._db.server.name, settings, analyse, analysis_version, read_as)
        self._closed = False

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[None]:
        """One snapshot for the calls inside the block."""
        with self._db.read(timeout):
            yield

    def reading(self, timeout: float | None = None) -> contextlib.AbstractContextManager[object]:
        """As :meth:`session`, whose snapshot begins with the first question."""
        return self.session(timeout)

    def patience(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Wait for the server and for others no longer than ``until`` inside the block."""
        return self._db.patience(until)

    def beside(self, suffix: str) -> Path | None:
        """Nothing lies beside a server."""
        return None

    def warnings(self) -> list[str]:
        """What a person should hear of the role and of the index."""
        with self._db.read():
            return [*([_SUPERUSER] if self._db.is_superuser else []), *self._remarks]

    def close(self) -> None:
        """Let go of the server."""
        if not self._closed:
            self._closed = True
            self._db.close()

    def documents(self) -> Documents:
        """All indexed files by path; and whether they must be read another way than this process did the last time."""
        self._db.look()
        return super().documents()

    # -- vectors ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def embedding_turn(self, timeout: float) -> Iterator[bool]:
        """One process of all machines embeds at a time, so that several do not compute the same vectors."""
        self._db.open()
        until = Deadline.after(timeout)
        with self._db.server.transaction() as c:
            asked = "SELECT pg_try_advisory_xact_lock(%s, %s)"
            while True:
                row = c.execute(asked, [_EMBEDDING, self._db.memory]).fetchone()
                ours = bool(row and row[0])
                if ours or until.passed:
                    break
                time.sleep(0.02)
            yield ours

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units that have neither a vector of ``model`` nor failed with it, oldest first."""
        with self._db.read() as c:
            rows = c.execute(
                "SELECT id, coalesce(indexed, text) FROM units u WHERE NOT EXISTS "
                "(SELECT FROM vectors v WHERE v.unit_id = u.id AND v.model_id = ?) "
                + ("" if unit_ids is None else f"AND id IN {IDS} ")
                + "ORDER BY id LIMIT ?",
                [self._model_id(c, model), *([] if unit_ids is None else [id_list(unit_ids)]), limit],
            ).fetchall()
        return [PendingText(*row) for row in rows]

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> None:
        """Store vectors of units that still exist, in place of any older model's."""
        self._put(model, unit_ids, "ready", vectors)

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> None:
        """Note that these units cannot be embedded by ``model``."""
        self._put(model, unit_ids, "failed", None)

    def _put(self, model: VectorModel, unit_ids: Sequence[int], status: str, vectors: Floats | None) -> None:
        if not len(unit_ids):
            return
        with self._db.write() as c:
            model_id = self._model_id(c, model, create=True)
            ids = [int(unit_id) for unit_id in unit_ids]
            c.execute("DELETE FROM vectors WHERE unit_id = ANY ($1::INTEGER[])", [ids])
            given, values = (
                ("NULL", []) if vectors is None else ("unnest($4::HALFVEC[])", [bound(c.connection, vectors)])
            )
            c.execute(
                "INSERT INTO vectors SELECT unit_id, $2::INTEGER, $3::TEXT, "
                "(SELECT value FROM counters WHERE name = 'generation') + 1, v "
                f"FROM (SELECT unnest($1::INTEGER[]) AS unit_id, {given}::HALFVEC AS v) g "
                "WHERE unit_id IN (SELECT id FROM units)",
                [ids, model_id, status, *values],
            )

    def _load_vectors(self, model: VectorModel, since: int) -> tuple[list[tuple[Ints, NDArray[np.float16]]], Ints, int]:
        with self._db.read() as c:
            where = f"FROM vectors WHERE model_id = {self._model_id(c, model):d} AND status = 'ready'"
            reached = int(self._db.counters()["generation"])
            (ready,) = self._db.columns(f"SELECT unit_id {where}")
            new = f"SELECT unit_id, v {where} AND generation > {since:d} ORDER BY unit_id"
            unit_ids, data = self._db.columns(new)
        rows = data.reshape(len(unit_ids), 4 + 2 * model.dimensions)[:, 4:].copy().view(">f2").astype(np.float16)
        return ([(unit_ids, rows)] if len(unit_ids) else []), ready, reached

    # -- what search reads --------------------------------------------------------------------------

    def keyword_index(self) -> KeywordIndex:
        """A new, empty keyword index; ``refresh`` fills it."""
        return PostingsIndex(self._db.load_postings)

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """A new, empty vector index; ``refresh`` fills it."""
        return ExactIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)

    # -- upkeep -----------------------------------------------------------------------------------

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""
        from ..duckdb.database import free_unused_heap

        free_unused_heap()

    def maintain(self, force: bool = False) -> bool:
        """Fold the delta into the base, and drop what is dead, once either has grown."""
        if not force and not (self._db.may_write and self._is_due()):
            return False
        with self._db.write() as c:
            if not force and not self._is_due():
                return False  # another process was faster
            writing.compact(self._db, c)
        return True

    def _is_due(self) -> bool:
        with self._db.read() as c:
            base, delta = (
                count(c, f"SELECT coalesce(sum(n), 0) FROM {table}") for table in ("postings", "postings_delta")
            )
            return delta > max(20_000, base // 8) or writing.many_dead(c)

    def purge(self) -> None:
        """Leave no row of what was deleted, nor postings of it; what the server keeps of it say :meth:`leftovers`."""
        self.maintain(True)

    def shrink(self) -> bool:
        """The server does that itself: autovacuum."""
        return False

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Which columns of this memory hold any of ``needles``: ``units.text``."""
        search, found = Needles(needles), []
        with self._db.read() as c:
            columns = c.execute(
                "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns "
                "WHERE table_schema = 'openclaw_memory_view' AND data_type IN ('text', 'bytea') ORDER BY 1, 2"
            ).fetchall()
            for table, column in columns if search else ():
                cells = c.execute(f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')
                while some := cells.fetchmany(_CELLS):
                    if any(search.finds(one if isinstance(one, bytes) else one.encode()) for (one,) in some):
                        found.append(f"{table}.{column}")
                        break
        return found

    def leftovers(self) -> list[str]:
        """What a server keeps of deleted rows, and this store cannot take out."""
        return [
            f"{self._name} (deleted rows stay in the server's files until VACUUM FULL has run, in its write-ahead log "
            "until that is recycled, and in replicas, archives and backups for as long as these are kept)"
        ]

    def statistics(self) -> StoreStatistics:
        """Counts and sizes; bytes are those of the memory's rows, without indexes."""
        with self._db.read() as c:
            documents, sections, units = (
                count(c, f"SELECT count(*) FROM {table}") for table in ("documents", "sections", "units")
            )
            base, delta = (
                count(c, f"SELECT coalesce(sum(n), 0) FROM {table}") for table in ("postings", "postings_delta")
            )
            groups: list[dict[Any, Any]] = [
                dict(c.execute(f"SELECT {column}, sum(units)::BIGINT FROM documents GROUP BY 1 ORDER BY 1").fetchall())
                for column in ("kind", "grain")
            ]
            size = sum(count(c, f"SELECT sum(pg_column_size(t)) FROM {table} t") for table in TABLES)
            generation = int(self._db.counters()["generation"])
        return StoreStatistics(
            self._name, size, len(MIGRATIONS), generation, documents, sections, units, base, delta, *groups
        )

    # -- as tables ----------------------------------------------------------------------------------

    def query(
        self, sql: str, collect: Collect, keywords: KeywordSearch, limit: int | None = None, timeout: float = 20.0
    ) -> QueryResult:
        """The answer of one statement that only reads, in DuckDB's SQL: over a copy of this memory's rows."""
        from ..duckdb.query import checked

        checked(sql)
        with self._copied() as copy:
            return copy.query(sql, collect, keywords, limit, timeout)

    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file."""
        with self._copied() as copy:
            return copy.export(folder, collect, overwrite, progress)

    @contextlib.contextmanager
    def _copied(self) -> Iterator[DuckStore]:
        from ..duckdb.duck import DuckStore
        from .copying import copied

        given = self._settings, self._analyse, int(self._analysis_version), self._extraction
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-") as folder:
            yield from copied(self._db, DuckStore(Path(folder) / "copy.duckdb", *given))
