"""The PostgreSQL store: the tables and SQL of the file, one memory among many on a server."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...config.settings import StoreSettings
from ...errors import StoreUnreachable
from ...model import ExportReport, Progress, QueryResult
from ...system.deadline import Deadline
from ..rows import Analyse, Collect, Documents, Ints, ModelChoice, PendingText, SectionText, VectorModel
from ..tables.base import T
from ..tables.store import Store
from .database import PostgresDatabase
from .schema import INDEX_TABLES

if TYPE_CHECKING:
    from ..duckdb.store import DuckStore


class PostgresStore(Store):
    """One agent's index of one workspace in a database.

    ``workspace`` is a name that is the same on every machine with the same notes; ``files`` are the index files of it
    on this machine, if there are any; beside the file ``beside`` lies what processes of this machine keep for each
    other.  Raises :class:`~openclaw_memory.errors.StoreError` from every method when the server does not answer as it
    should.  While the server is away, the methods that every question needs repeat their last answers, so that a
    resident index goes on; writing fails, and the next ingest catches up.
    """

    patience = 1.0
    _db: PostgresDatabase

    def __init__(
        self,
        url: str,
        agent: str,
        workspace: str,
        settings: StoreSettings,
        analyse: Analyse,
        extraction: str = "",
        files: Sequence[Path] = (),
        beside: Path | None = None,
    ) -> None:
        self._db = PostgresDatabase(url, agent, workspace, settings.lock_timeout, self._check_versions)
        super().__init__(self._db.server.name, settings, analyse, extraction, beside)
        self._closed = False
        self._local_files = tuple(files)
        self._lines: dict[int, SectionText] = {}
        self._highest = 0

    # -- answers while the server is away ---------------------------------------------------------

    def _cached(self, name: Hashable, read: Callable[[], T], *counters: str) -> T:
        try:
            return super()._cached(name, read, *counters)
        except StoreUnreachable:
            # Documents and summaries are not repeated: changes of the notes must not go unnoticed.
            if name not in self._cache or name in ("documents", "summaries"):
                raise
            answer: T = self._cache[name][1]
            return answer

    def warnings(self) -> list[str]:
        self._db.open()
        superuser = (
            "this role is a superuser or bypasses row-level security, so the server does not keep it from the memories "
            "of others (every statement still names the memory); take another role: SELECT "
            "openclaw_memory.permit('role', true)"
        )
        return [*([superuser] if self._db.is_superuser else []), *self._db.server.remarks()]

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        try:
            with self._db.read():
                self._keep_lines()
                return super().section_texts(section_ids)
        except StoreUnreachable:
            if not self._lines.keys() >= set(section_ids):
                raise
            return {section_id: self._lines[section_id] for section_id in section_ids}

    def _keep_lines(self) -> None:
        """Keep the lines of all sections in memory, unless there are many."""
        counters = self._db.counters()
        highest = int(counters["section"])
        if highest > self._highest and self._db.rows("SELECT count(*) FROM units")[0][0] <= 50_000:
            new = [row[0] for row in self._db.rows("SELECT id FROM sections WHERE id > ?", [self._highest])]
            self._lines |= super().section_texts(new)
        self._highest = highest

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Open a :meth:`session` and begin its snapshot if the server is there.

        The caller takes a lock of the process next.  With a connection first, the thread that has the lock never waits
        for the connections of those that wait for the lock.
        """
        with self._db.read() as session:
            with contextlib.suppress(StoreUnreachable):
                _ = session.connection
            yield

    def limit_waiting(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        return self._db.server.limit_waiting(until)

    def files(self) -> list[Path]:
        return [file for file in self._local_files if file.exists()]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._db.server.close()

    def documents(self) -> Documents:
        """Return all indexed files by path, after a check for another version of the text analysis or extraction."""
        self._db.check()
        return super().documents()

    def _build(self) -> str:
        # Whoever forgets has the postings folded: what another machine has kept from before is void.
        return f"{super()._build()} {self._db.counters()['compaction']}"

    # -- vectors: a role that only reads cannot store any, and keeps its measures to itself -------

    def _may_write(self) -> bool:
        self._db.open()
        return self._db.may_write

    @contextlib.contextmanager
    def embedding_lock(self, timeout: float) -> Iterator[bool]:
        """Yield true if this role may store vectors; of two that embed at once one is kept."""
        yield self._may_write()

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        return super().pending(model, limit, unit_ids) if self._may_write() else []

    def put_noise(self, model: VectorModel, noise: float) -> None:
        if self._may_write():
            super().put_noise(model, noise)

    def put_model_choice(self, choice: ModelChoice) -> None:
        if self._may_write():
            super().put_model_choice(choice)

    # -- maintenance: a role that only reads leaves it to others ----------------------------------

    def maintain(self, force: bool = False) -> bool:
        return self._may_write() and super().maintain(force)

    def purge(self) -> None:
        """Leave no row of deleted texts, nor postings; :meth:`leftovers` lists the copies that the server keeps."""
        self.maintain(True)
        self._record_purge()

    def unpurged(self) -> bool:
        return self._db.may_write and super().unpurged()

    def leftovers(self) -> list[str]:
        return [
            f"{self._name} (deleted rows stay in the server's files until VACUUM FULL has run, in its write-ahead log "
            "until that is recycled, in replicas, archives and backups for as long as these are kept, and in what "
            "other machines have kept of it until one of them keeps it anew)",
            *(f"{file} (an index of this workspace in a file, which no server changes)" for file in self.files()),
        ]

    # -- SQL and exports --------------------------------------------------------------------------

    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """Answer in DuckDB's SQL, over a copy of this memory's rows."""
        from ..duckdb.query import require_read_only

        require_read_only(sql)
        with self._copied() as copy:
            return copy.query(sql, collect, limit, timeout)

    def export(self, folder: Path, collect: Collect, progress: Progress) -> ExportReport:
        with self._copied() as copy:
            return copy.export(folder, collect, progress)

    @contextlib.contextmanager
    def _copied(self) -> Iterator[DuckStore]:
        """Yield a temporary DuckDB file with the rows of one snapshot: the same tables and views, one dialect."""
        from ..duckdb.database import insert_postings, insert_rows
        from ..duckdb.store import DuckStore

        columns_of = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index"
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-") as folder:
            store = DuckStore(Path(folder) / "copy.duckdb", self._settings, self._analyse, self._extraction)
            try:
                with self._db.read() as session, store._db.write() as c:
                    for table in INDEX_TABLES:
                        if table in ("vectors", "postings", "postings_delta"):  # read by no view
                            continue
                        columns = c.execute(columns_of, [table]).fetchall()
                        # As texts if the file has a type that JSON lacks.
                        names = ", ".join(f"{name}::TEXT" if kind == "DATE" else name for name, kind in columns)
                        c.execute(f"DELETE FROM {table}" + (" WHERE key <> 'schema'" if table == "meta" else ""))
                        rows = session.execute(f"SELECT {names} FROM {table}").fetchall()
                        insert_rows(c, table, " ".join(kind for _, kind in columns), rows)
                    for table, postings in {
                        "postings": self._db.term_postings(session),
                        "postings_delta": self._db.new_postings(session),
                    }.items():
                        insert_postings(c, table, *(part.tolist() for part in postings))
                yield store
            finally:
                store.close()
