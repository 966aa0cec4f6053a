"""Indexes by DuckDB's FTS and VSS extensions, which are loaded from their PyPI wheels: offline and signed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import arrays as np
from ...errors import StoreError
from ..rows import Analyse, Floats, Ints, Postings, VectorModel
from ..tables.base import count, unit_texts
from ..tables.keywords import KeywordIndex
from ..tables.vectors import BLOCK, DEAD, Dtype, Load, VectorIndex
from .database import DuckDatabase, incoming, insert_rows

if TYPE_CHECKING:
    import _duckdb as duckdb
    from numpy.typing import NDArray


def extension_file(name: str) -> Path | None:
    """Return the extension's file in the installed wheel, or ``None`` when it is not installed."""
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or not spec.submodule_search_locations:
        return None
    for folder in spec.submodule_search_locations:
        for file in sorted(Path(folder).glob(f"extensions/*/{name}.duckdb_extension")):
            return file
    return None


def load_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load ``fts`` or ``vss``; raises :class:`StoreError` naming the wheel that is missing."""
    import _duckdb as duckdb

    file = extension_file(name)
    wheel = f"duckdb-extension-{name}=={duckdb.__version__}"
    if file is None:
        raise StoreError(f"the DuckDB extension {name} is not installed; run: pip install {wheel}")
    try:
        connection.execute(f"LOAD '{str(file).replace(chr(39), chr(39) * 2)}'")
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise StoreError(
            f"the DuckDB extension {name} cannot be loaded ({reason}); run: pip install {wheel}"
        ) from error


class FtsIndex(KeywordIndex):
    """DuckDB's FTS extension over the terms of our own analysis, rebuilt whenever texts have changed.

    The extension gets terms joined by line feeds and splits only there, so digits, CJK and dotted identifiers survive
    and its frequencies equal ours.
    """

    transient = ("_db", "_analyse")

    def __init__(self, db: DuckDatabase, analyse: Analyse) -> None:
        self._db = db
        self._analyse = analyse

    def refresh(self) -> None:
        """Rebuild the extension's index if texts have changed since it was built."""
        with self._db.read() as c:
            self._load_extension(c)
            current = "SELECT count(DISTINCT value) = 1 FROM counters WHERE name IN ('texts', 'fts')"
            if not count(c, current):
                with self._db.write():
                    self._rebuild(c)

    def _load_extension(self, c: duckdb.DuckDBPyConnection) -> None:
        if not count(c, "SELECT count(*) FROM duckdb_extensions() WHERE extension_name = 'fts' AND loaded"):
            load_extension(c, "fts")

    def _rebuild(self, c: duckdb.DuckDBPyConnection) -> None:
        c.execute("CREATE OR REPLACE TABLE fts_source (id INTEGER, terms VARCHAR)")
        for units in unit_texts(c):
            rows = [(row[0], "\n".join(self._analyse(row[1]))) for row in units]
            insert_rows(c, "fts_source", "INTEGER VARCHAR", rows)
        c.execute(
            "PRAGMA create_fts_index('fts_source', 'id', 'terms', stemmer = 'none', stopwords = 'none', "
            "ignore = '(\\n)+', strip_accents = 0, lower = 0, overwrite = 1)"
        )
        c.execute("UPDATE counters SET value = (SELECT value FROM counters WHERE name = 'texts') WHERE name = 'fts'")

    def postings(self, terms: Sequence[str]) -> Postings:
        """Return the occurrences of each term, from the extension's own tables."""
        if not terms:
            return Postings(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
        with self._db.read() as c:
            self._load_extension(c)
            at, unit_id, tf = self._db.columns(
                "WITH query AS (SELECT unnest(from_json(?, '[\"VARCHAR\"]')) AS term, unnest(range(?::BIGINT)) AS at) "
                "SELECT q.at, d.name AS unit_id, count(*) AS tf FROM query q "
                "JOIN fts_main_fts_source.dict w ON w.term = q.term "
                "JOIN fts_main_fts_source.terms t ON t.termid = w.termid "
                "JOIN fts_main_fts_source.docs d ON d.docid = t.docid GROUP BY 1, 2 ORDER BY 1, 2",
                [json.dumps(list(terms), ensure_ascii=False), len(terms)],
            )
        offsets = np.searchsorted(at, np.arange(len(terms) + 1)).astype(np.int64)
        return Postings(offsets, unit_id.astype(np.int32), tf.astype(np.float32))


class VssIndex(VectorIndex):
    """DuckDB's HNSW graph in a database in memory, beside the rows of :class:`VectorIndex`, which give the scores.

    The graph only marks deleted rows: it is rebuilt when they are more than a third of the others.  It is never stored:
    a persisted HNSW index was measured to corrupt its database when a process is killed.
    """

    name = "vss"
    transient = (*VectorIndex.transient, "_connection", "_deleted")
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
        """Return the graph over all rows; it is rebuilt at once, which costs less and finds more than row by row."""
        if self._connection is None:
            import _duckdb as duckdb

            connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
            load_extension(connection, "vss")
            connection.execute("SET enable_external_access = false")
            connection.execute(f"CREATE TABLE v (id INTEGER, e FLOAT[{self._dimensions}])")
            unit_ids = self._matrix.unit_ids
            for at in range(0, len(unit_ids), BLOCK):
                block = unit_ids[at : at + BLOCK]
                self._insert(connection, block, self._matrix.rows(self._matrix.slots(block)))
            connection.execute("CREATE INDEX graph ON v USING HNSW (e) WITH (metric = 'cosine')")
            self._connection, self._deleted = connection, 0
        return self._connection

    def _insert(self, connection: duckdb.DuckDBPyConnection, unit_ids: Ints, vectors: NDArray[Any]) -> None:
        names = [f"c{i}" for i in range(self._dimensions)]
        for at in range(0, len(unit_ids), BLOCK):
            rows = vectors[at : at + BLOCK].astype(np.float32)
            columns = {name: rows[:, i] for i, name in enumerate(names)}
            with incoming(connection, {"id": unit_ids[at : at + BLOCK]} | columns):
                connection.execute(f"INSERT INTO v SELECT id, array_value({', '.join(names)}) FROM incoming")

    def _delete(self, connection: duckdb.DuckDBPyConnection, unit_ids: Ints) -> None:
        if len(unit_ids):
            with incoming(connection, {"id": unit_ids}):
                connection.execute("DELETE FROM v WHERE id IN (SELECT id FROM incoming)")
            self._deleted += len(unit_ids)

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """Return the ``k`` nearest units that the graph finds, best first, with exact cosines."""
        if self._matrix.used == self._matrix.dead:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        connection = self._graph()
        connection.execute(f"SET hnsw_ef_search = {max(64, k)}")
        literal = "[" + ",".join(f"{x:.7g}" for x in query.tolist()) + "]"
        rows = connection.execute(
            f"SELECT id FROM v ORDER BY array_cosine_distance(e, ?::VARCHAR::FLOAT[{self._dimensions}]) LIMIT {k:d}",
            [literal],
        ).fetchnumpy()["id"]
        unit_ids = np.asarray(rows, np.int32)
        scores = self.similarities(query, unit_ids)
        best = np.argsort(-scores, kind="stable")
        return unit_ids[best], scores[best]
