"""The DuckDB store: documents, sections, units, vectors and postings in one file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from ...config.settings import StoreSettings
from ...errors import StoreError
from ...system.deadline import Deadline
from ..rows.arrays import Analyse
from ..rows.texts import KeywordIndex, VectorIndex, VectorModel
from ..tables.keywords import PostingsIndex
from .aside import last_aside, vectors_aside
from .database import free_unused_heap
from .fts import FtsIndex
from .postings import PostingsFile
from .purge import PurgeTables
from .query import Queries
from .vectors import VssIndex

#: Seconds of idleness after which the file is let go.
IDLE = 0.25


class DuckStore(PurgeTables, Queries):
    """One agent's index of one workspace; see :class:`~openclaw_memory.store.api.Store`.

    Raises :class:`~openclaw_memory.errors.StoreError` from every method when the file cannot be
    used.  Opening is lazy: nothing is created before the first call.
    """

    _db: PostingsFile

    def __init__(
        self,
        path: Path,
        settings: StoreSettings,
        analyse: Analyse,
        analysis_version: int = 0,
        read_as: str = "",
        idle: float | None = None,
    ) -> None:
        self.path = path
        super().__init__(str(path), settings, analyse, analysis_version, read_as)
        self._db = PostingsFile(
            path,
            timeout=settings.lock_timeout,
            idle=IDLE if idle is None else idle,
            memory_limit_mb=settings.memory_limit_mb,
            opened=self._check_versions,
        )

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the file for the calls inside the block."""
        with self._db.read(timeout):
            yield

    def reading(self) -> contextlib.AbstractContextManager[object]:
        """This thread's turn at the file, which the first call opens that needs more than is known of it.

        Where another thread keeps its turn for too long, the block goes on with what is known.
        """
        return self._db.lease.reading()

    def patience(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Wait for others no longer than ``until`` inside the block."""
        return self._db.lease.patience(until)

    def beside(self, suffix: str) -> Path | None:
        """The index file's own name with ``suffix`` behind it."""
        return Path(f"{self.path}{suffix}")

    def files(self) -> list[Path]:
        """The index file."""
        return [self.path]

    def warnings(self) -> list[str]:
        """What happened to the file that a person should hear."""
        return list(self._db.warnings)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @contextlib.contextmanager
    def embedding_turn(self, timeout: float) -> Iterator[bool]:
        """One process embeds at a time, so that several do not compute the same vectors."""
        if self._db.is_read_only():
            yield False  # whoever can write the index embeds
            return
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

    # -- what search reads --------------------------------------------------------------------------

    def keyword_index(self) -> KeywordIndex:
        """A new, empty keyword index; ``refresh`` fills it."""
        if self._settings.keyword_index == "fts":
            return FtsIndex(self._db, self._analyse)
        return PostingsIndex(self._db.load_postings)

    def take_over_vectors(self, model: VectorModel) -> int:
        """Give units the vectors that the index which was put aside last has of their texts; how many got one."""
        if (old := last_aside(self.path)) is None:
            return 0
        with self._db.read() as c:
            wanted = c.execute(
                "SELECT hash, list(id) FROM units WHERE (SELECT model_id FROM vectors WHERE unit_id = id) "
                f"IS DISTINCT FROM {self._model_id(c, model):d} GROUP BY hash"
            ).fetchall()
        unit_ids, vectors = vectors_aside(old, model, dict(wanted))
        self.put_vectors(model, unit_ids, vectors)
        return len(unit_ids)

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """A new, empty vector index; ``refresh`` fills it."""
        if self._settings.vector_index != "vss":
            return super().vector_index(model)
        return VssIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""
        with self._db.read() as c:
            with contextlib.suppress(Exception):  # refused when that much is in use
                c.execute("SET memory_limit = '16MB'")  # drops the cached blocks
            c.execute(f"SET memory_limit = '{self._settings.memory_limit_mb}MB'")
        free_unused_heap()
