"""DuckDB's FTS extension over the terms that our own analysis made.

The extension gets terms joined by line feeds and splits only there, so digits, CJK and dotted
identifiers survive and its frequencies equal ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rows.arrays import Analyse
from ..rows.texts import Postings
from ..tables.sql import count, unit_texts
from .database import Database, insert_rows
from .extensions import load_extension

if TYPE_CHECKING:
    import duckdb


def load(c: duckdb.DuckDBPyConnection) -> None:
    """Load the extension into this connection once."""
    if not count(c, "SELECT count(*) FROM duckdb_extensions() WHERE extension_name = 'fts' AND loaded"):
        load_extension(c, "fts")


def rebuild(c: duckdb.DuckDBPyConnection, analyse: Analyse) -> None:
    """Build the index again inside the caller's transaction."""
    c.execute("CREATE OR REPLACE TABLE fts_source (id INTEGER, terms VARCHAR)")
    for units in unit_texts(c):
        insert_rows(c, "fts_source", "INTEGER VARCHAR", [(row[0], "\n".join(analyse(row[1]))) for row in units])
    c.execute(
        "PRAGMA create_fts_index('fts_source', 'id', 'terms', stemmer = 'none', stopwords = 'none', "
        "ignore = '(\\n)+', strip_accents = 0, lower = 0, overwrite = 1)"
    )
    c.execute("UPDATE counters SET value = (SELECT value FROM counters WHERE name = 'texts') WHERE name = 'fts'")


class FtsIndex:
    """DuckDB's FTS extension over our own terms, rebuilt whenever texts have changed."""

    name = "fts"

    def __init__(self, db: Database, analyse: Analyse) -> None:
        self._db = db
        self._analyse = analyse

    def refresh(self) -> None:
        """Rebuild the extension's index if texts have changed since it was built."""
        with self._db.read() as c:
            load(c)
            current = "SELECT count(DISTINCT value) = 1 FROM counters WHERE name IN ('texts', 'fts')"
            if not count(c, current):
                with self._db.write():
                    rebuild(c, self._analyse)

    def postings(self, terms: Sequence[str]) -> Postings:
        """Occurrences of each term, from the extension's own tables."""
        if not terms:
            return Postings(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
        with self._db.read() as c:
            load(c)
            at, unit_id, tf = self._db.columns(
                "WITH asked AS (SELECT unnest(from_json(?, '[\"VARCHAR\"]')) AS term, unnest(range(?::BIGINT)) AS at) "
                "SELECT a.at, d.name AS unit_id, count(*) AS tf FROM asked a "
                "JOIN fts_main_fts_source.dict w ON w.term = a.term "
                "JOIN fts_main_fts_source.terms t ON t.termid = w.termid "
                "JOIN fts_main_fts_source.docs d ON d.docid = t.docid GROUP BY 1, 2 ORDER BY 1, 2",
                [json.dumps(list(terms), ensure_ascii=False), len(terms)],
            )
        offsets = np.searchsorted(at, np.arange(len(terms) + 1)).astype(np.int64)
        return Postings(offsets, unit_id.astype(np.int32), tf.astype(np.float32))
