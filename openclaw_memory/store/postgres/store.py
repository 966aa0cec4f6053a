"""The PostgreSQL store: the same tables and the same SQL as the file's, one memory among many."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...config.settings import StoreSettings
from ...errors import StoreUnreachable
from ...model import ExportReport, Progress, QueryResult
from ...system.deadline import Deadline
from ..rows.arrays import Analyse, Ints
from ..rows.catalog import Documents
from ..rows.texts import KeywordIndex, ModelChoice, PendingText, VectorModel
from ..tables.keywords import PostingsIndex
from ..tables.store import Store
from .postings import PostingsTables
from .schema import TABLES

if TYPE_CHECKING:
    from ..duckdb.duck import DuckStore
    from ..rows.derived import Collect

_POSTING = {"term": "BIGINT", "unit_id": "INTEGER", "tf": "SMALLINT"}

_SUPERUSER = (
    "this role is a superuser or bypasses row-level security, so the server does not keep it from the memories of "
    "others (every statement still names the memory); take another role: SELECT openclaw_memory.permit('role', true)"
)


class PostgresStore(Store):
    """One agent's index of one workspace in a database; see :class:`~openclaw_memory.store.api.Store`.

    ``workspace`` is a name that is the same wherever the same notes are, ``files`` are where indexes of it would lie on
    this machine.  Raises
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
        read_as: str = "",
        files: Sequence[Path] = (),
    ) -> None:
        self._db = PostingsTables(url, agent, workspace, settings.lock_timeout, self._check_versions)
        super().__init__(self._db.server.name, settings, analyse, analysis_version, read_as)
        self._closed = False
        self._local_files = tuple(files)

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[None]:
        """One snapshot for the calls inside the block."""
        with self._db.read(timeout):
            yield

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """As :meth:`session`, with its snapshot begun where the server is there.

        Who asks takes a lock of the process next.  With a connection first, the one that has the lock never waits for
        the connections of those that wait for the lock.
        """
        with self._db.read() as session:
            with contextlib.suppress(StoreUnreachable):
                _ = session.connection
            yield

    def patience(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Wait for the server and for others no longer than ``until`` inside the block."""
        return self._db.patience(until)

    def beside(self, suffix: str) -> Path | None:
        """Nothing lies beside a server."""
        return None

    def files(self) -> list[Path]:
        """Index files that are on this machine still."""
        return [file for file in self._local_files if file.exists()]

    def warnings(self) -> list[str]:
        """What a person should hear of the role and of the index."""
        with self._db.read():
            return [_SUPERUSER] if self._db.is_superuser else []

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
        """Whether this role may store what it embeds; of what two embed at once one is kept."""
        self._db.open()
        yield self._db.may_write

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units without a vector of ``model``; none for a role that only reads, which could not store any."""
        self._db.open()
        return super().pending(model, limit, unit_ids) if self._db.may_write else []

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note the cosine that unrelated texts rarely exceed; a role that only reads keeps it to itself."""
        self._db.open()
        if self._db.may_write:
            super().put_noise(model, noise)

    def put_model_choice(self, choice: ModelChoice) -> None:
        """Note the model for the notes; a role that only reads keeps it to itself."""
        self._db.open()
        if self._db.may_write:
            super().put_model_choice(choice)

    # -- what search reads --------------------------------------------------------------------------

    def keyword_index(self) -> KeywordIndex:
        """A new, empty keyword index; ``refresh`` fills it."""
        return PostingsIndex(self._db.load_postings)

    # -- upkeep -----------------------------------------------------------------------------------

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""
        from ..duckdb.database import free_unused_heap

        free_unused_heap()

    def maintain(self, force: bool = False) -> bool:
        """Fold the postings' delta into their base, and drop what is dead; a role that only reads leaves it."""
        self._db.open()
        return self._db.may_write and super().maintain(force)

    def purge(self) -> None:
        """Leave no row of what was deleted, nor postings of it; what the server keeps of it say :meth:`leftovers`."""
        self.maintain(True)
        self._note_purged()

    def unpurged(self) -> bool:
        """Whether :meth:`purge` has not run since :meth:`read_again`; a role that only reads leaves it to others."""
        return self._db.may_write and super().unpurged()

    def shrink(self) -> bool:
        """The server does that itself: autovacuum."""
        return False

    def leftovers(self) -> list[str]:
        """What a server keeps of deleted rows, and this store cannot take out."""
        return [
            f"{self._name} (deleted rows stay in the server's files until VACUUM FULL has run, in its write-ahead log "
            "until that is recycled, and in replicas, archives and backups for as long as these are kept)",
            *(f"{file} (an index of this workspace in a file, which no server changes)" for file in self.files()),
        ]

    # -- as tables ----------------------------------------------------------------------------------

    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """The answer of one statement that only reads, in DuckDB's SQL: over a copy of this memory's rows."""
        from ..duckdb.query import checked

        checked(sql)
        with self._copied() as copy:
            return copy.query(sql, collect, limit, timeout)

    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file."""
        with self._copied() as copy:
            return copy.export(folder, collect, overwrite, progress)

    @contextlib.contextmanager
    def _copied(self) -> Iterator[DuckStore]:
        """Yield a DuckDB file of its own with the rows of one snapshot: the same tables and views, one dialect."""
        from ..duckdb.database import insert_numbers, insert_rows
        from ..duckdb.duck import DuckStore

        columns_of = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index"
        given = self._settings, self._analyse, int(self._analysis_version), self._read_as
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-") as folder:
            store = DuckStore(Path(folder) / "copy.duckdb", *given)
            try:
                with self._db.read() as session, store._db.write() as c:
                    for table in TABLES:
                        if table in ("vectors", "postings", "postings_delta"):  # which no view reads
                            continue
                        columns = c.execute(columns_of, [table]).fetchall()
                        # By their texts where the file has a type that JSON has none for.
                        named = ", ".join(f"{name}::TEXT" if kind == "DATE" else name for name, kind in columns)
                        c.execute(f"DELETE FROM {table}" + (" WHERE key <> 'schema'" if table == "meta" else ""))
                        rows = session.execute(f"SELECT {named} FROM {table}").fetchall()
                        insert_rows(c, table, " ".join(kind for _, kind in columns), rows)
                    for table, found in {
                        "postings": self._db.term_postings(session),
                        "postings_delta": self._db.new_postings(session),
                    }.items():
                        lists = [part.tolist() for part in found]
                        if lists[0]:
                            values = zip(lists, _POSTING.values(), strict=True)
                            insert_numbers(c, table, dict(zip(_POSTING, values, strict=True)))
                yield store
            finally:
                store.close()
