"""The file's postings: a table sorted by term, and a delta beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..tables.keywords import Columns, Loaded, posting_columns
from ..tables.sql import count
from .database import Database, insert_numbers

if TYPE_CHECKING:
    import duckdb

_COLUMNS = {"term": "BIGINT", "unit_id": "INTEGER", "tf": "SMALLINT"}


class PostingsFile(Database):
    """The index file with what reads and writes its postings."""

    def insert_postings(self, c: duckdb.DuckDBPyConnection, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        """Add the terms of new units, with how often each stands there."""
        given = posting_columns(units)
        if given[0]:
            named = zip(_COLUMNS.items(), given, strict=True)
            insert_numbers(c, "postings_delta", {name: (values, kind) for (name, kind), values in named})

    def fold_postings(self, c: duckdb.DuckDBPyConnection) -> None:
        """Make the table that is sorted by term again, from the postings of the units that are there."""
        c.execute(
            "CREATE OR REPLACE TABLE postings_next AS SELECT term, unit_id, tf FROM "
            "(SELECT * FROM postings UNION ALL SELECT * FROM postings_delta) "
            "WHERE unit_id IN (SELECT id FROM units) ORDER BY term, unit_id"
        )
        c.execute("DROP TABLE postings")
        c.execute("ALTER TABLE postings_next RENAME TO postings")
        c.execute("DELETE FROM postings_delta")
        # Those of one initial are read together.
        c.execute("CREATE OR REPLACE TABLE words AS SELECT * FROM words ORDER BY initial")

    def sizes(self, c: duckdb.DuckDBPyConnection) -> tuple[int, int]:
        """How many postings the base has, and the delta."""
        return count(c, "SELECT count(*) FROM postings"), count(c, "SELECT count(*) FROM postings_delta")

    def load_postings(self, unit: int, compaction: int) -> Loaded:
        """What :class:`~openclaw_memory.store.tables.keywords.PostingsIndex` takes over."""
        with self.read() as c:
            reached, highest = (int(self.counters()[name]) for name in ("compaction", "unit"))
            base, rows = None, 0
            if reached != compaction:
                base = self._postings("postings", unit, "ORDER BY term")
                rows = sum(self.sizes(c))
            return base, self._postings("postings_delta", unit), highest, reached, rows

    def _postings(self, table: str, unit: int, order: str = "") -> Columns:
        term, unit_id, tf = self.columns(f"SELECT term, unit_id, tf FROM {table} WHERE unit_id > {unit:d} {order}")
        return (
            term.astype(np.int64, copy=False),
            unit_id.astype(np.int32, copy=False),
            tf.astype(np.int16, copy=False),
        )
