"""The DuckDB store: documents, sections, units, vectors and postings in one file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...config.settings import StoreSettings
from ...system.deadline import Deadline
from ..api import (
    Analyse,
    Floats,
    Ints,
    KeywordIndex,
    PendingText,
    StoreStatistics,
    VectorIndex,
    VectorModel,
    VectorStates,
)
from ..tables.keywords import PostingsIndex
from ..tables.sql import WHOLE, among, count
from ..tables.vectors import ExactIndex, Written
from . import schema
from .database import free_unused_heap, insert
from .fts import FtsIndex
from .postings import PostingsFile
from .purge import PurgeTables
from .query import Queries
from .slices import SlicedStore
from .vectors import VssIndex, pack

log = logging.getLogger("openclaw_memory.store")

#: Vectors are read in ranges of this many unit ids, which bounds the Python objects alive at once.
_RANGE = 8_192


class DuckStore(SlicedStore, PurgeTables, Queries):
    """One agent's index of one workspace; implements :class:`~openclaw_memory.store.api.Store`.

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
    ) -> None:
        self.path = path
        super().__init__(str(path), settings, analyse, analysis_version, read_as)
        self._db = PostingsFile(
            path,
            timeout=settings.lock_timeout,
            idle=settings.idle_close,
            memory_limit_mb=settings.memory_limit_mb,
            threads=settings.threads,
            opened=self._check_versions,
        )
        #: Of which model all units up to which one have a vector, as of an epoch of the file.
        self._embedded: tuple[int, int, int] = 0, -1, 0

    # -- life ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the file for the calls inside the block."""
        with self._db.read(timeout):
            yield

    def reading(self, timeout: float | None = None) -> contextlib.AbstractContextManager[object]:
        """This thread's turn at the file, which the first call opens that needs more than is known of it."""
        return self._db.turn(timeout)

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

    def embedding_turn(self, timeout: float) -> contextlib.AbstractContextManager[bool]:
        """One process embeds at a time, so that several do not compute the same vectors."""
        return self._alone("embedding", timeout)

    # -- vectors ----------------------------------------------------------------------------------

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units that have neither a vector of ``model`` nor failed with it, oldest first."""
        with self._db.read() as c:
            model_id = self._model_id(c, model)
            asked = "" if unit_ids is None else f"AND u.id IN {among(unit_ids)} "
            above = self._embedded_up_to(model_id)
            span = c.execute(
                "SELECT min(id), max(id) FROM (SELECT u.id FROM units u ANTI JOIN "
                f"(SELECT unit_id FROM vectors WHERE model_id = {model_id:d} AND unit_id > {above:d}) v "
                f"ON v.unit_id = u.id WHERE u.id > {above:d} {asked}AND u.{WHOLE} ORDER BY u.id LIMIT {limit:d})"
            ).fetchone()
            if span is None or span[0] is None:
                return []
            # Two steps, as the texts of all units are much to read for a few; new units are neighbours.
            low, high = span
            between = f"BETWEEN {low:d} AND {high:d}"
            rows = c.execute(
                f"SELECT u.id, coalesce(u.indexed, u.text) FROM units u ANTI JOIN (SELECT unit_id FROM vectors "
                f"WHERE model_id = {model_id:d} AND unit_id {between}) v ON v.unit_id = u.id "
                f"WHERE u.id {between} {asked}AND u.{WHOLE} ORDER BY u.id LIMIT {limit:d}"
            ).fetchall()
        return [PendingText(*row) for row in rows]

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        with self._db.read() as c:
            model_id = -1 if model is None else self._model_id(c, model)
            above = self._embedded_up_to(model_id)
            pending, failed, outdated = c.execute(
                "SELECT count(*) FILTER (WHERE v.unit_id IS NULL), "
                f"count(*) FILTER (WHERE v.model_id = {model_id:d} AND v.status = 'failed'), "
                f"count(*) FILTER (WHERE v.model_id <> {model_id:d}) "
                f"FROM (SELECT id FROM units WHERE id > {above:d} AND {WHOLE}) u LEFT JOIN "
                f"(SELECT unit_id, model_id, status FROM vectors WHERE unit_id > {above:d}) v ON v.unit_id = u.id"
            ).fetchone() or (0, 0, 0)
            every, last, whole = c.execute(
                f"SELECT count(*), coalesce(max(id), 0), count(*) FILTER (WHERE {WHOLE}) FROM units"
            ).fetchone() or (0, 0, 0)
            # Units of a document that is being written have lower numbers than others that come meanwhile.
            if whole == every and not (pending or failed or outdated):
                self._embedded = self._db.epoch, model_id, last
        return VectorStates(whole - pending - failed - outdated, pending, failed, outdated)

    def _embedded_up_to(self, model_id: int) -> int:
        """Up to which unit all have a vector of the model, as far as is known: most need not be looked at again."""
        epoch, known, unit = self._embedded
        return unit if (epoch, known) == (self._db.epoch, model_id) else 0

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
            if min(unit_ids) <= self._embedded[2]:
                self._embedded = 0, -1, 0
            c.execute(f"DELETE FROM vectors WHERE unit_id IN {among(unit_ids)}")
            insert(
                c,
                "vectors",
                {"unit_id": [int(unit_id) for unit_id in unit_ids], "v": packed},
                {"unit_id": "INTEGER", "v": "VARCHAR"},
                f"unit_id, {model_id}, '{status}', (SELECT value FROM counters WHERE name = 'generation') + 1, "
                "from_base64(v)",
                where="unit_id IN (SELECT id FROM units)",
            )

    # -- what search reads --------------------------------------------------------------------------

    def keyword_index(self) -> KeywordIndex:
        """A new, empty keyword index; ``refresh`` fills it."""
        if self._settings.keyword_index == "fts":
            return FtsIndex(self._db, self._analyse)
        return PostingsIndex(self._db.load_postings)

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

    def _load_vectors(self, model: VectorModel, since: int) -> Written:
        parts: list[tuple[Ints, NDArray[np.float16]]] = []
        with self._db.read() as c:
            reached = int(self._db.counters()["generation"])
            where = f"model_id = {self._model_id(c, model):d} AND status = 'ready'"
            # Numbers in the statement: for a value that is bound DuckDB looks through the path for pandas.
            new = f"generation > {since:d}"
            known = c.execute(f"SELECT unit_id, {new} AS new FROM vectors WHERE {where}").fetchnumpy()
            ready = np.ma.getdata(known["unit_id"]).astype(np.int32, copy=False)
            fresh = ready[np.ma.getdata(known["new"]).astype(bool)]
            for low in range(int(fresh.min()), int(fresh.max()) + 1, _RANGE) if len(fresh) else ():
                some = f"unit_id BETWEEN {low:d} AND {low + _RANGE - 1:d}"
                found = c.execute(f"SELECT unit_id, v FROM vectors WHERE {where} AND {new} AND {some}").fetchnumpy()
                if len(found["unit_id"]):
                    blob = b"".join(np.ma.getdata(found["v"]))
                    rows = np.frombuffer(blob, np.float16).reshape(-1, model.dimensions)
                    parts.append((np.asarray(found["unit_id"], np.int32), rows))
        return Written(parts, reached, ready)

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""
        with self._db.read() as c:
            with contextlib.suppress(Exception):  # refused when that much is in use
                c.execute("SET memory_limit = '16MB'")  # drops the cached blocks
            c.execute(f"SET memory_limit = '{self._settings.memory_limit_mb}MB'")
        free_unused_heap()

    # -- upkeep -----------------------------------------------------------------------------------

    def statistics(self) -> StoreStatistics:
        """Counts and sizes."""
        with self._db.read() as c:
            numbers = [
                count(c, f"SELECT count(*) FROM {table}{f' WHERE {WHOLE}' if table in ('sections', 'units') else ''}")
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
            str(self.path), size, schema.VERSION, generation, documents, sections, units, postings, delta, *groups
        )
