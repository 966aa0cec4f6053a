"""Helpers over one DuckDB connection: the tables, transactions and bulk inserts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import StoreError
from ..tables.base import COLUMNS, COUNTERS, VERSION, count

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

#: Columns of the tables of postings with their types.
POSTINGS = {"term": "BIGINT", "unit_id": "INTEGER", "tf": "SMALLINT"}


class OtherVersion(Exception):
    """The index file has the tables of another version."""


def table_version(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the version of the tables of an open file; empty without an index."""
    if not count(connection, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta' AND NOT internal"):
        return ""
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return str(row[0]) if row else ""


def make_tables(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Make the tables in a new file.

    Only sections have a primary key, as hits fetch a few long texts by id; everything else is read in runs that zone
    maps prune, so that inserts stay fast and a unit's row may be deleted and inserted again in one transaction.
    Raises :class:`OtherVersion`, or :class:`StoreError` for another program's database, and changes nothing then.
    """
    version = table_version(connection)
    if version == str(VERSION):
        return
    if version:
        raise OtherVersion(version)
    if connection.execute("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1").fetchone():
        raise StoreError(f"{path}: holds another database, and is left as it is; choose another file with --db")
    postings = ", ".join(f"{name} {kind}" for name, kind in POSTINGS.items())
    tables = COLUMNS | {"postings": postings, "postings_delta": postings}
    with transaction(connection):
        for name, columns in tables.items():
            keyed = columns.replace("KEY (", "PRIMARY KEY (") if name == "sections" else columns.partition(", KEY (")[0]
            connection.execute(f"CREATE TABLE {name} ({keyed})")
        connection.execute(f"INSERT INTO counters VALUES {COUNTERS}")
        connection.execute(f"INSERT INTO meta VALUES ('instance', uuid()::VARCHAR), ('schema', '{VERSION}')")


@contextlib.contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit at the end of the block, undo on an exception."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(Exception):
            connection.execute("ROLLBACK")
        raise


def insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, Sequence[Any]],
    types: Mapping[str, str],
    select: str = "*",
) -> None:
    """Append rows by columns, bound as one JSON text; ``types`` are the DuckDB types of ``columns``.

    Binding Python values one by one is fifty times slower, and numpy columns of objects make DuckDB
    try to import pandas for each value.
    """
    shape = json.dumps({name: [kind] for name, kind in types.items()})
    lists = ", ".join(f"unnest(given.{name}) AS {name}" for name in types)
    connection.execute(
        f"INSERT INTO {table} SELECT {select} FROM (SELECT {lists} FROM (SELECT from_json(?, ?) AS given))",
        [json.dumps({name: list(columns[name]) for name in types}, ensure_ascii=False, default=date.isoformat), shape],
    )


def insert_rows(
    connection: duckdb.DuckDBPyConnection, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*"
) -> None:
    """Append ``rows``, bound as one JSON text; ``types`` are the DuckDB types of their places, with blanks between."""
    if rows:
        kinds = {f"c{at}": kind for at, kind in enumerate(types.split())}
        insert(connection, table, dict(zip(kinds, zip(*rows, strict=True), strict=True)), kinds, select)


def insert_numbers(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[list[int]], types: Mapping[str, str]
) -> None:
    """Append whole numbers by columns; ``types`` are the names of ``columns`` with their DuckDB types.

    Many go as numpy columns, which DuckDB reads in place; few as JSON, as registering columns makes
    DuckDB look for pandas and other libraries for some milliseconds.
    """
    named = dict(zip(types, columns, strict=True))
    if len(columns[0]) < 20_000:
        insert(connection, table, named, types)
        return
    import numpy as np

    with incoming(connection, {name: np.array(values, np.int64) for name, values in named.items()}):
        cast = ", ".join(f"{name}::{kind}" for name, kind in types.items())
        connection.execute(f"INSERT INTO {table} SELECT {cast} FROM incoming")


@contextlib.contextmanager
def incoming(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:
    """Register numpy columns of numbers, which DuckDB reads in place, as the table ``incoming`` for the block."""
    import numpy as np

    connection.register("incoming", {name: np.ascontiguousarray(column) for name, column in columns.items()})
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # refused in a transaction that has failed, which raises itself
            connection.unregister("incoming")


def attach(connection: duckdb.DuckDBPyConnection, path: Path | str, name: str, options: str = "") -> None:
    """Attach the database file at ``path`` as ``name``."""
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {name} {options}")
