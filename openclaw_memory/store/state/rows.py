"""What a state holds as plain rows: to copy it from one kind of database to another, and to compare two."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

from .database import Row, State, Transaction

#: Columns by table, in the order of the key first.
TABLES = {
    "tombstones": ("hash", "key", "words", "at"),
    "forgetting": ("id", "todo", "at"),
    "use": ("unit", "path", "first", "last", "shown", "used", "useful", "irrelevant"),
    "retired": ("path", "size", "mtime_ns", "sha256", "origin"),
    "flags": ("name", "value", "at"),
}
#: What goes by these names is another after all rows are.
CHANGED = ("forgotten", "use", "retired", "flags")

Rows = Mapping[str, Sequence[Row]]


def all_of(read: Callable[[str], Sequence[Row]]) -> Rows:
    """The rows of every table, in order; ``read`` answers a query."""
    return {table: sorted(map(tuple, read(_select(table)))) for table in TABLES}


def put(connection: Transaction, rows: Rows) -> None:
    """Put ``rows`` in the place of all that is there, within a transaction."""
    for table, columns in TABLES.items():
        connection.execute(f"DELETE FROM {table}")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows[table])


def replace(state: State, rows: Rows) -> None:
    """Put ``rows`` in the place of all that ``state`` holds, or nothing.  Raises as its ``writing``."""
    with state.writing(*CHANGED) as connection:
        put(connection, rows)


def digest(rows: Rows) -> str:
    """32 hexadecimal digits that are the same for the same rows in any database."""
    made = blake2b(digest_size=16)
    for table in TABLES:
        made.update(repr((table, rows[table])).encode())
    return made.hexdigest()


def of_file(connection: sqlite3.Connection) -> Rows:
    """The rows of a state in SQLite."""
    return all_of(lambda query: connection.execute(query).fetchall())


def _select(table: str) -> str:
    return f"SELECT {', '.join(TABLES[table])} FROM {table}"
