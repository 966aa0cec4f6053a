"""What a state holds as plain rows: to copy it from one kind of database to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

Row = tuple[Any, ...]


class Cursor(Protocol):
    """What a statement gave."""

    def fetchone(self) -> Any:
        """The next row; ``None`` behind the last one."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...


class Transaction(Protocol):
    """What the state is changed by: statements that SQLite and PostgreSQL both understand, values as ``?``."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement once for each row of values."""
        ...


#: Columns by table, in the order of the key first.
TABLES = {
    "tombstones": ("hash", "key", "at"),
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


def _select(table: str) -> str:
    return f"SELECT {', '.join(TABLES[table])} FROM {table}"
