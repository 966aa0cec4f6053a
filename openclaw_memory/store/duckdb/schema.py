"""The tables of an index file.

Ids are never reused.  Only sections have a primary key, as hits fetch a few long texts by id; everything
else is read in runs that zone maps prune, so that inserts stay fast and a unit's row may be deleted and
inserted again in one transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import StoreError
from ..tables.schema import COLUMNS, COUNTERS, VERSION
from .transaction import transaction

if TYPE_CHECKING:
    import duckdb

_POSTINGS = "term BIGINT, unit_id INTEGER, tf SMALLINT"


def _made() -> str:
    """The statements that make the tables."""
    columns = {
        name: types.replace("KEY (", "PRIMARY KEY (") if name == "sections" else types.partition(", KEY (")[0]
        for name, types in COLUMNS.items()
    }
    columns |= {"postings": _POSTINGS, "postings_delta": _POSTINGS}
    return (
        "".join(f"CREATE TABLE {name} ({types}); " for name, types in columns.items())
        + f"INSERT INTO meta VALUES ('instance', uuid()::VARCHAR); INSERT INTO counters VALUES {COUNTERS};"
    )


class OtherVersion(Exception):
    """The index file has the tables of another version."""


def version_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The version of the tables of an open file; empty where there is no index."""
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta' AND NOT internal"
    ).fetchone()
    if not found or not found[0]:
        return ""
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return str(row[0]) if row else ""


def prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Make the tables in a new file.

    Raises :class:`OtherVersion`, or :class:`StoreError` for somebody else's database, and changes nothing then.
    """
    version = version_of(connection)
    if not version:
        if connection.execute("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1").fetchone():
            raise StoreError(f"{path}: holds another database, and is left as it is; choose another file with --db")
        with transaction(connection):
            connection.execute(_made())
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", [str(VERSION)])
    elif version != str(VERSION):
        raise OtherVersion(version)
