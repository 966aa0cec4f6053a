"""The DuckDB store: the index of one agent and workspace in one file."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...config.settings import StoreSettings
from ...model import Progress
from ...system import mapped
from ...system.deadline import Deadline
from ..rows import KEPT_VECTORS, KEPT_WORDS, Analyse, Collect, Floats, KeywordIndex, StoreState, VectorModel
from ..tables.base import Needles, count
from ..tables.store import Store
from ..tables.vectors import VectorIndex
from .database import DuckDatabase
from .lease import is_read_only, lock_error, make_folder

if TYPE_CHECKING:
    from ...model import ExportReport, QueryResult

log = logging.getLogger("openclaw_memory")

#: Seconds of idleness after which the file is closed.
IDLE = 0.25
#: Folders of this package whose classes may be in what is kept.
_KEPT_ROOMS = frozenset({"index", "graph", "store", "model"})


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
        super().__init__(str(path), settings, analyse, extraction)
        #: The inode of the file of which this process has the arrays mapped.
        self._kept_inode: int | None = None
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

    # -- what processes keep for each other -----------------------------------------------------------

    def kept(self, suffix: str) -> Mapping[str, Any]:
        path = Path(f"{self.path}{suffix}")
        with self._db.consistent_reads():
            self._kept_inode = None if suffix == KEPT_WORDS else self._kept_inode
            found = mapped.read(path, self._build, _KEPT_ROOMS)
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
        return self._kept_inode in (None, _inode(Path(f"{self.path}{KEPT_WORDS}")))

    def keep(self, suffix: str, state: StoreState, export: Callable[[], Mapping[str, Any]]) -> bool:
        with self._db.read():
            stamp = self._db.lease.settled_stamp
            if stamp is None or self.state() != state:
                return False
            self.statistics(), self.workspace_file("")  # whose answers every question or status needs
            parts, token, counters = export(), self._db.change_token, self._db.counters()
            answers = [(key, None if of == token else of, value) for key, (of, value) in self._cache.items()]
            value = {"stamp": stamp, "state": tuple(state), "counters": counters, "answers": answers, "parts": parts}
            return mapped.write(Path(f"{self.path}{suffix}"), self._build, value)

    @cached_property
    def _build(self) -> str:
        dtype, keywords = self._settings.vector_dtype, self._settings.keyword_index
        return f"{mapped.build_of_package()} {self._extraction} {dtype} {keywords}"

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
        import duckdb

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
        self._db.rewrite()
        self._record_purge()

    def contains(self, needles: Sequence[str]) -> list[str]:
        search = Needles(needles)
        with self._db.read():
            columns = super().contains(needles)
            kept = [Path(f"{self.path}{suffix}") for suffix in (KEPT_WORDS, KEPT_VECTORS)]
            files = [file for file in (*self._db.files, *kept) if search and file.exists()]
            return columns + [file.name for file in files if search.finds(file.read_bytes())]

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


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _read_vectors(old: Path, model: VectorModel, units_by_hash: dict[int, list[int]]) -> tuple[list[int], Floats]:
    """Read the vectors of texts from an index that was put aside: unit ids and ``float32[n, d]``.

    Hashes with a vector are removed from ``units_by_hash``; unreadable vectors are left out.
    """
    import duckdb

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
