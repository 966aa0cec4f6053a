"""A memory's rows in a DuckDB file of their own, for SQL and exports: the same tables, the same views, one dialect."""

from __future__ import annotations

from collections.abc import Iterator

from ..duckdb.database import insert_numbers, insert_rows
from ..duckdb.duck import DuckStore
from .postings import PostingsTables
from .schema import TABLES

#: What no view reads.
_LEFT_OUT = {"vectors", "postings", "postings_delta"}
_POSTING = {"term": "BIGINT", "unit_id": "INTEGER", "tf": "SMALLINT"}


def copied(db: PostingsTables, store: DuckStore) -> Iterator[DuckStore]:
    """Yield ``store``, over a new file, with the rows of one snapshot; vectors are left out."""
    try:
        with db.read() as given, store._db.write() as c:
            for table in TABLES:
                if table in _LEFT_OUT:
                    continue
                columns = c.execute(
                    "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index",
                    [table],
                ).fetchall()
                # By their texts where the file has a type that JSON has none for.
                named = ", ".join(f"{name}::TEXT" if kind == "DATE" else name for name, kind in columns)
                c.execute(f"DELETE FROM {table}" + (" WHERE key <> 'schema'" if table == "meta" else ""))
                rows = given.execute(f"SELECT {named} FROM {table}").fetchall()
                insert_rows(c, table, " ".join(kind for _, kind in columns), rows)
            for table, found in {"postings": db.term_postings(given), "postings_delta": db.new_postings(given)}.items():
                lists = [part.tolist() for part in found]
                if lists[0]:
                    values = zip(lists, _POSTING.values(), strict=True)
                    insert_numbers(c, table, dict(zip(_POSTING, values, strict=True)))
        yield store
    finally:
        store.close()
