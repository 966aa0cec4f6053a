"""DuckDB's HNSW built in memory, never persisted, beside the exact index.

A persisted HNSW index was measured to corrupt its database when a process is killed, so the file
holds only the float16 blobs and the graph is rebuilt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..rows.arrays import Floats, Ints
from ..rows.texts import VectorModel
from ..tables.vectors import BLOCK, DEAD, Dtype, ExactIndex, Load
from .database import incoming

if TYPE_CHECKING:
    import duckdb


class VssIndex(ExactIndex):
    """DuckDB's HNSW graph in a database of its own in memory, with the same rows as :class:`ExactIndex` to score by.

    The graph only marks what is deleted: it is made again when that is more than a third of what is left.
    """

    name = "vss"
    exhaustive = False

    def __init__(self, model: VectorModel, load: Load, dtype: Dtype = "float32") -> None:
        super().__init__(model, load, dtype)
        self._dimensions = model.dimensions
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._deleted = 0

    def _put(self, unit_ids: Ints, vectors: NDArray[np.float16]) -> None:
        overwritten = unit_ids[self.has(unit_ids)]
        super()._put(unit_ids, vectors)
        if self._connection is not None:
            self._delete(self._connection, overwritten)
            self._insert(self._connection, unit_ids, vectors)

    def _drop(self, unit_ids: Ints) -> None:
        super()._drop(unit_ids)
        if self._connection is not None:
            self._delete(self._connection, unit_ids)
            if self._deleted > DEAD * (self._matrix.used - self._matrix.dead):
                self._connection.close()
                self._connection = None

    def _graph(self) -> duckdb.DuckDBPyConnection:
        """The graph over all rows; made again, in one go, which costs less and finds more than row by row."""
        if self._connection is None:
            import duckdb

            from .extensions import load_extension

            connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
            load_extension(connection, "vss")
            connection.execute("SET enable_external_access = false")
            connection.execute(f"CREATE TABLE v (id INTEGER, e FLOAT[{self._dimensions}])")
            unit_ids = self._matrix.unit_ids
            for at in range(0, len(unit_ids), BLOCK):
                some = unit_ids[at : at + BLOCK]
                self._insert(connection, some, self._matrix.rows(self._matrix.slots(some)))
            connection.execute("CREATE INDEX graph ON v USING HNSW (e) WITH (metric = 'cosine')")
            self._connection, self._deleted = connection, 0
        return self._connection

    def _insert(self, connection: duckdb.DuckDBPyConnection, unit_ids: Ints, vectors: NDArray[Any]) -> None:
        names = [f"c{i}" for i in range(self._dimensions)]
        for at in range(0, len(unit_ids), BLOCK):
            rows = vectors[at : at + BLOCK].astype(np.float32)
            columns = {name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(names)}
            with incoming(connection, {"id": np.ascontiguousarray(unit_ids[at : at + BLOCK])} | columns):
                connection.execute(f"INSERT INTO v SELECT id, array_value({', '.join(names)}) FROM incoming")

    def _delete(self, connection: duckdb.DuckDBPyConnection, unit_ids: Ints) -> None:
        if len(unit_ids):
            with incoming(connection, {"id": np.ascontiguousarray(unit_ids)}):
                connection.execute("DELETE FROM v WHERE id IN (SELECT id FROM incoming)")
            self._deleted += len(unit_ids)

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units that the graph finds, best first, scored exactly."""
        if self._matrix.used == self._matrix.dead:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        connection = self._graph()
        connection.execute(f"SET hnsw_ef_search = {max(64, k)}")
        literal = "[" + ",".join(f"{x:.7g}" for x in query.tolist()) + "]"
        found = connection.execute(
            f"SELECT id FROM v ORDER BY array_cosine_distance(e, ?::VARCHAR::FLOAT[{self._dimensions}]) LIMIT {k:d}",
            [literal],
        ).fetchnumpy()["id"]
        unit_ids = np.asarray(found, np.int32)
        scores = self.similarities(query, unit_ids)
        best = np.argsort(-scores, kind="stable")
        return unit_ids[best], scores[best]
