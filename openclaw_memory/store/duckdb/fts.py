"""DuckDB's FTS extension over the terms that our own analysis made.

The extension gets terms joined by line feeds and splits only there, so digits, CJK and dotted
identifiers survive and its frequencies equal ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..api import Analyse, Ints
from .database import count, insert
from .extensions import load_extension

if TYPE_CHECKING:
    import duckdb

_STEP = 20_000


def load(c: duckdb.DuckDBPyConnection) -> None:
    """Load the extension into this connection once."""
    if not count(c, "SELECT count(*) FROM duckdb_extensions() WHERE extension_name = 'fts' AND loaded"):
        load_extension(c, "fts")


def is_current(c: duckdb.DuckDBPyConnection, database: str = "") -> bool:
    """Whether the extension's index was built from the texts as they are now, in the ``database`` that is attached.

    ``database`` ends in a dot.
    """
    return bool(
        count(
            c,
            f"SELECT count(*) FROM {database}counters a JOIN {database}counters b ON a.value = b.value "
            "WHERE a.name = 'texts' AND b.name = 'fts'",
        )
    )


def rebuild(c: duckdb.DuckDBPyConnection, analyse: Analyse) -> None:
    """Build the index again inside the caller's transaction."""
    c.execute("CREATE OR REPLACE TABLE fts_source (id INTEGER, terms VARCHAR)")
    highest = count(c, "SELECT coalesce(max(id), 0) FROM units")
    for low in range(0, highest + 1, _STEP):
        rows = c.execute(
            "SELECT id, coalesce(indexed, text) FROM units WHERE id >= ? AND id < ?", [low, low + _STEP]
        ).fetchall()
        if rows:
            insert(
                c,
                "fts_source",
                {"id": [row[0] for row in rows], "terms": ["\n".join(analyse(row[1])) for row in rows]},
                {"id": "INTEGER", "terms": "VARCHAR"},
            )
    c.execute(
        "PRAGMA create_fts_index('fts_source', 'id', 'terms', stemmer = 'none', stopwords = 'none', "
        "ignore = '(\\n)+', strip_accents = 0, lower = 0, overwrite = 1)"
    )
    c.execute("UPDATE counters SET value = (SELECT value FROM counters WHERE name = 'texts') WHERE name = 'fts'")


def ask(c: duckdb.DuckDBPyConnection, terms: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Columns ``(position of the term, unit id, frequency)`` sorted by position."""
    found = c.execute(
        "WITH asked AS (SELECT unnest(from_json(?, '[\"VARCHAR\"]')) AS term, unnest(range(?::BIGINT)) AS at) "
        "SELECT a.at, d.name AS unit_id, count(*) AS tf FROM asked a "
        "JOIN fts_main_fts_source.dict w ON w.term = a.term "
        "JOIN fts_main_fts_source.terms t ON t.termid = w.termid "
        "JOIN fts_main_fts_source.docs d ON d.docid = t.docid GROUP BY 1, 2 ORDER BY 1, 2",
        [json.dumps(list(terms), ensure_ascii=False), len(terms)],
    ).fetchnumpy()
    at, unit_id, tf = (np.ma.getdata(found[name]).astype(np.int32) for name in ("at", "unit_id", "tf"))
    return at, unit_id, tf
