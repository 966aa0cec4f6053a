"""The DuckDB store: the index of one agent and workspace in one file."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ... import arrays as np
from ...config.settings import StoreSettings
from ...model import Progress
from ...system.deadline import Deadline
from ..rows import Analyse, Collect, Floats, VectorModel
from ..tables.base import count
from ..tables.keywords import KeywordIndex
from ..tables.store import Store
from ..tables.vectors import VectorIndex
from .database import DuckDatabase, rewrite
from .lease import is_read_only, lock_error, make_folder

if TYPE_CHECKING:
    from ...model import ExportReport, QueryResult

log = logging.getLogger("openclaw_memory")

#: Seconds of idleness after which the file is closed.
IDLE = 0.25


class DuckStore(Store):
    """One agent's index of one workspace in the file ``path``.

    Raises :class:`~openclaw_memory.errors.StoreError` from every method when the file cannot be
    used.  Opening is lazy: nothing is created before the first call.
    """

    _db: DuckDatabase

    def __init__(
        self,
        path: Path,
        settings: StoreSettings,
        analyse: Analyse,
        extraction: str = "",
        idle: float | None = None,
    ) -> None:
        self.path = path
        super().__init__(str(path), settings, analyse, extraction, path)
        self._db = DuckDatabase(path, settings, IDLE if idle is None else idle, self._check_versions)

    # -- life ---------------------------------------------------------------------------------

    def reading(self) -> contextlib.AbstractContextManager[object]:
        """Keep other threads from the file; the first call that memory cannot answer opens it.

        If another thread holds the file for too long, the block goes on with what is in memory.
        """
        return self._db.lease.reading()

    def limit_waiting(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        return self._db.lease.limit_waiting(until)

    def sidecar(self, suffix: str) -> Path | None:
        return Path(f"{self.path}{suffix}")

    def files(self) -> list[Path]:
        return [self.path]

    def warnings(self) -> list[str]:
        return list(self._db.warnings)

    def close(self) -> None:
        self._db.lease.close()

    @contextlib.contextmanager
    def embedding_lock(self, timeout: float) -> Iterator[bool]:
        from filelock import FileLock, Timeout

        if is_read_only(self.path):
            yield False  # a process that can write the index embeds
            return
        lock = FileLock(f"{self.path}.embedding", mode=0o600)
        try:
            make_folder(self.path)
            lock.acquire(timeout=timeout, poll_interval=0.02)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise lock_error(self.path, error) from error
        try:
            yield True
        finally:
            lock.release()

    # -- search ---------------------------------------------------------------------------------------

    def keyword_index(self) -> KeywordIndex:
        if self._settings.keyword_index == "fts":
            from .extensions import FtsIndex

            return FtsIndex(self._db, self._analyse)
        return super().keyword_index()

    def vector_index(self, model: VectorModel) -> VectorIndex:
        if self._settings.vector_index != "vss":
            return super().vector_index(model)
        from .extensions import VssIndex

        return VssIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)

    def _build(self) -> str:
        return f"{super()._build()} {self._settings.keyword_index}"

    def take_over_vectors(self, model: VectorModel) -> int:
        old = max(
            (path for path in self._put_aside() if path.suffix != ".wal"),
            key=lambda path: path.stat().st_mtime,
            default=None,
        )
        if old is None:
            return 0
        with self._db.read() as c:
            units_by_hash = c.execute(
                "SELECT hash, list(id) FROM units WHERE (SELECT model_id FROM vectors WHERE unit_id = id) "
                f"IS DISTINCT FROM {self._model_id(c, model):d} GROUP BY hash"
            ).fetchall()
        unit_ids, vectors = _read_vectors(old, model, dict(units_by_hash))
        return self.put_vectors(model, unit_ids, vectors)

    def give_back_memory(self) -> None:
        with self._db.read() as c:
            with contextlib.suppress(Exception):  # refused when that much is in use
                c.execute("SET memory_limit = '16MB'")  # drops the cached blocks
            c.execute(f"SET memory_limit = '{self._settings.memory_limit_mb}MB'")
        super().give_back_memory()

    # -- SQL and exports ------------------------------------------------------------------------------

    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        from ...model import QueryResult
        from . import views
        from .query import SPARE, SqlRequest, require_read_only, run_query

        started = time.monotonic()
        require_read_only(sql)
        names = views.named_tables(sql)
        computed = collect(names & views.COMPUTED)
        with self._db.exclusive() as options:
            request = SqlRequest(
                str(self.path), {**options, "temp_directory": ""}, sql, computed, names,
                None if limit is None else limit + 1, self._settings.memory_limit_mb + SPARE,
            )  # fmt: skip
            # An error that a damaged file may cause is raised, so that the file is examined.
            columns, rows = run_query(request, timeout, self._db.is_suspicious)
        kept = rows if limit is None else rows[:limit]
        took = (time.monotonic() - started) * 1000
        return QueryResult(columns, tuple(kept), round(took, 1), truncated=len(kept) < len(rows))

    def export(self, folder: Path, collect: Collect, progress: Progress) -> ExportReport:
        import _duckdb as duckdb

        from ...model import ExportReport
        from . import views

        started = time.monotonic()
        with views.new_folder(folder) as temporary:
            computed = collect(views.COMPUTED)
            with self._db.exclusive() as options:
                options["temp_directory"] = str(temporary / views.SPILL)
                with duckdb.connect(":memory:", config=options) as c:
                    views.define(c, str(self.path), computed)
                    views.put_hits(c)
                    progress("export", 0, len(views.TABLES))
                    written = views.export_tables(c, temporary, folder, progress)
        return ExportReport(str(folder), tuple(written), time.monotonic() - started)

    # -- forgetting -----------------------------------------------------------------------------------

    def purge(self) -> None:
        """Compact everything derived from texts, and write the whole file again: no trace of deleted rows is left."""
        self.maintain(True)
        with self._db.read() as c:
            fts = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'fts_source' AND NOT internal"
            if count(c, fts):  # it is rebuilt when it is needed
                with self._db.write():
                    c.execute("DROP SCHEMA IF EXISTS fts_main_fts_source CASCADE")
                    c.execute("DROP TABLE IF EXISTS fts_source")
                    c.execute("UPDATE counters SET value = -1 WHERE name = 'fts'")
        with self._db.exclusive() as options:
            rewrite(self.path, options)
        self._record_purge()

    def contains(self, needles: Sequence[str], files: Sequence[Path] = ()) -> list[str]:
        with self._db.read():
            return super().contains(needles, (*self._db.files, *files))

    def _put_aside(self) -> list[Path]:
        """Return the files of this index that were put aside, and their logs."""
        prefixes = tuple(f"{self.path.name}.{reason}-" for reason in ("damaged", "outdated"))
        folder = self.path.parent
        return [path for path in folder.iterdir() if path.name.startswith(prefixes)] if folder.is_dir() else []

    def leftovers(self) -> list[str]:
        folder, name = self.path.parent, self.path.name
        try:
            aside = self._put_aside()
            # In the default folder the name of an index identifies the workspace, its folder the agent.
            others = folder.parent.glob(f"*/{name}") if re.search(r"-[0-9a-f]{12}\.duckdb$", name) else ()
            siblings = [path for path in others if path != self.path]
        except OSError:
            return []
        return [
            *(f"{path} (an older index, put aside)" for path in sorted(aside)),
            *(f"{path} (the index of another agent)" for path in sorted(siblings)),
        ]


def _read_vectors(old: Path, model: VectorModel, units_by_hash: dict[int, list[int]]) -> tuple[list[int], Floats]:
    """Read the vectors of texts from an index that was put aside: unit ids and ``float32[n, d]``.

    Hashes with a vector are removed from ``units_by_hash``; unreadable vectors are left out.
    """
    import _duckdb as duckdb

    unit_ids: list[int] = []
    blobs: list[bytes] = []
    try:
        with duckdb.connect(str(old), read_only=True) as connection:
            cursor = connection.execute(
                "SELECT u.hash, v.v FROM vectors v JOIN units u ON u.id = v.unit_id JOIN models m ON m.id = v.model_id "
                "WHERE v.status = 'ready' AND m.name = ? AND m.dimensions = ?",
                [model.name, model.dimensions],
            )
            while rows := cursor.fetchmany(1000):
                for text_hash, blob in rows:
                    units = units_by_hash.pop(text_hash, [])
                    unit_ids += units
                    blobs += [blob] * len(units)
    except duckdb.Error as error:
        log.info("%s: not all of its vectors can be read (%s)", old, error)
    return unit_ids, np.frombuffer(b"".join(blobs), np.float16).reshape(-1, model.dimensions).astype(np.float32)
