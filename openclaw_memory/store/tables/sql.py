"""What the tables need of a database, and what all statements share.

A statement has ``?`` for each value, and names tables and columns alike in both databases; in PostgreSQL the names
are those of views that hold one memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from numpy.typing import NDArray

from .needles import Cells

#: Units whose texts are in memory at once.
_RUN = 20_000
#: So many ids are written as numbers, for which an index or the ranges of blocks can be asked.
_FEW = 100


class Cursor(Protocol):
    """The answer of a statement."""

    def fetchone(self) -> Any:
        """The next row, a tuple, or ``None``."""

    def fetchall(self) -> list[Any]:
        """All rows, as tuples."""


class Connection(Protocol):
    """A connection to either database."""

    def execute(self, query: Any, parameters: Any = ..., /) -> Cursor:
        """Run one statement."""


class Sql(Protocol):
    """A database that holds the tables."""

    #: A subquery of the texts that are bound as one JSON list.
    texts: str
    #: What makes bytes of the base64 in ``{}``.
    blob: str

    def read(self, timeout: float | None = None) -> AbstractContextManager[Any]:
        """A :class:`Connection` for queries."""

    def turn(self, timeout: float | None = None) -> AbstractContextManager[object]:
        """What :attr:`moment` and :meth:`counters` say holds for the block, in which queries may follow."""

    def write(self) -> AbstractContextManager[Any]:
        """A transaction that is committed at the end of the block and undone by an exception; counts a generation."""

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        """The columns of a query for numbers, as numpy arrays in its order."""

    def vectors(self, sql: str) -> tuple[NDArray[Any], bytes]:
        """The ids of a query, and the bytes that it has for each, one after the other."""

    def counters(self) -> Mapping[str, str]:
        """All counters and what is noted of the index."""

    @property
    def moment(self) -> tuple[Any, ...]:
        """Another value whenever somebody may have written since; within a :meth:`turn`."""

    def change(self, c: Any) -> AbstractContextManager[None]:
        """A transaction while the index is being opened; counts no generation."""

    def insert_rows(self, c: Any, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*") -> None:
        """Append ``rows``; ``types`` are DuckDB's types of their places, with blanks between."""

    def fold_postings(self, c: Any) -> None:
        """Make the base of the postings again, from those of the units that are there, and empty the delta."""

    def sizes(self, c: Any) -> tuple[int, int]:
        """How many postings the base has, and the delta."""

    def size(self, c: Any) -> int:
        """What all of it takes."""

    def cells(self, c: Any) -> Iterator[tuple[str, Cells]]:
        """Every column of texts or bytes by its name, with its different values."""

    def insert_postings(self, c: Any, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        """Add the terms of new units, with how often each stands there; ids above all before."""


def among(ids: Iterable[int]) -> str:
    """What follows ``IN`` in a statement for the rows with one of these ids, of which there may be none."""
    listed = [str(int(one)) for one in ids]
    if 0 < len(listed) <= _FEW:
        return f"({', '.join(listed)})"
    return f"(SELECT unnest(string_to_array(nullif('{','.join(listed)}', ''), ',')::BIGINT[]))"


def count(connection: Connection, sql: str, parameters: list[Any] | None = None) -> int:
    """The single number that a query returns."""
    row = connection.execute(sql, parameters or []).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def unit_texts(connection: Connection, run: int = _RUN) -> Iterator[list[tuple[int, str, int]]]:
    """Ids, search texts and document ids of all units, in runs that bound what is in memory at once."""
    highest = count(connection, "SELECT coalesce(max(id), 0) FROM units")
    for low in range(0, highest + 1, run):
        rows = connection.execute(
            "SELECT id, coalesce(indexed, text), document_id FROM units WHERE id >= ? AND id < ?",
            [low, low + run],
        ).fetchall()
        if rows:
            yield rows


def next_ids(connection: Connection, **wanted: int) -> dict[str, Iterator[int]]:
    """Reserve so many ids of each kind that were never used: those from the first one on, by kind."""
    more = " ".join(f"WHEN '{name}' THEN {n:d}" for name, n in wanted.items())
    which = ", ".join(f"'{name}'" for name in wanted)
    connection.execute(f"UPDATE counters SET value = value + CASE name {more} END WHERE name IN ({which})")
    rows = connection.execute(f"SELECT name, value FROM counters WHERE name IN ({which})").fetchall()
    return {name: itertools.count(reached - wanted[name] + 1) for name, reached in rows}
