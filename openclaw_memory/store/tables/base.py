"""The tables of an index, the contract of a database that holds them, and what all statements share.

A statement has ``?`` for each value, and names tables and columns alike in both databases; in PostgreSQL the names
are those of views that hold one memory.
"""

from __future__ import annotations

import contextlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...config.settings import StoreSettings
    from .keywords import Loaded

T = TypeVar("T")

#: Version of the tables below: a file of another version is put aside and made anew.
VERSION = 1
#: Columns by table, in one order and with DuckDB's types, so that both databases run the same SQL; ``KEY`` is what
#: identifies a row.  Postings are stored differently: see the two databases.
COLUMNS = {
    "meta": "key VARCHAR, value VARCHAR, KEY (key)",
    "counters": "name VARCHAR, value BIGINT, KEY (name)",
    "documents": """id INTEGER, path VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR, kind VARCHAR, grain VARCHAR,
        origin VARCHAR, front_matter VARCHAR, units INTEGER, generation BIGINT, KEY (id)""",
    "sections": """id INTEGER, document_id INTEGER, heading VARCHAR, start_line INTEGER, end_line INTEGER, date DATE,
        date_source VARCHAR, body VARCHAR, KEY (id)""",
    "units": """id INTEGER, document_id INTEGER, section_id INTEGER, ordinal INTEGER, start_line INTEGER,
        end_line INTEGER, form VARCHAR, speaker VARCHAR, speaker_key BIGINT, text VARCHAR, indexed VARCHAR, hash BIGINT,
        occurrence INTEGER, terms SMALLINT, chars INTEGER, time_words TINYINT, said_first INTEGER,
        said_last INTEGER, tokens FLOAT, likeness BIGINT, script TINYINT, amount BOOLEAN, KEY (id)""",
    "words": "document_id INTEGER, initial VARCHAR, words VARCHAR",
    "models": "id INTEGER, name VARCHAR, dimensions INTEGER, noise FLOAT, KEY (id)",
    "vectors": "unit_id INTEGER, model_id INTEGER, status VARCHAR, generation BIGINT, v BLOB, KEY (unit_id)",
    "mentions": "unit_id INTEGER, document_id INTEGER, key BIGINT, rule TINYINT, text VARCHAR",
    "found_facts": """unit_id INTEGER, document_id INTEGER, subject VARCHAR, predicate VARCHAR, object VARCHAR,
        rule VARCHAR, confidence FLOAT""",
    "derived_from": "unit_id INTEGER, document_id INTEGER, path VARCHAR, start_line INTEGER, end_line INTEGER",
    "stated_facts": """ordinal INTEGER, id VARCHAR, subject VARCHAR, predicate VARCHAR, object VARCHAR,
        confidence FLOAT, origin VARCHAR, source VARCHAR, valid_from DATE, valid_to DATE, recorded VARCHAR,
        replaces VARCHAR, retracts VARCHAR, KEY (ordinal)""",
    "curated": "key BIGINT, slug VARCHAR, name VARCHAR, kind VARCHAR, weight FLOAT, aliases VARCHAR",
    "curated_edges": "kind VARCHAR, source BIGINT, target BIGINT",
    "ignored": "key BIGINT",
    "workspace_files": "name VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR, KEY (name)",
}
#: Counters of a new index.  The version of the texts starts at a random number, so that what was read from one index
#: is never mistaken for the state of another that took its place.
COUNTERS = """('generation', 0), ('texts', (random() * 1e12)::BIGINT), ('fts', -1), ('document', 0), ('section', 0),
    ('unit', 0), ('compaction', 0), ('ontology', 0), ('facts', 0), ('stated', 0)"""


def column_types(table: str) -> str:
    """Return DuckDB's types of a table's columns, with blanks between."""
    return " ".join(column.split()[1] for column in COLUMNS[table].partition(", KEY (")[0].split(","))


class Connection(Protocol):
    """A connection to either database."""

    def execute(self, query: Any, parameters: Any = ..., /) -> Any:
        """Run one statement; the cursor has ``fetchone`` and ``fetchall``."""


class Database(ABC):
    """A database that holds the tables of one index."""

    #: An expression for the bytes of the base64 text in ``{}``.
    blob: str

    @abstractmethod
    def read(self, timeout: float | None = None) -> contextlib.AbstractContextManager[Any]:
        """Yield a :class:`Connection` for queries."""

    @abstractmethod
    def consistent_reads(self) -> contextlib.AbstractContextManager[object]:
        """Keep :attr:`change_token` and :meth:`counters` valid for the block, in which queries may follow."""

    @abstractmethod
    def write(self) -> contextlib.AbstractContextManager[Any]:
        """Yield a connection in a transaction: committed at the end of the block, undone by an exception.

        It counts a generation.
        """

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.read() as c:
            rows: list[tuple[Any, ...]] = c.execute(sql, list(parameters)).fetchall()
            return rows

    @abstractmethod
    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        """Return the columns of a query as numpy arrays: of numbers, none of them null, or of all bytes, joined."""

    @abstractmethod
    def counters(self) -> Mapping[str, str]:
        """Return all counters and the rows of ``meta``."""

    @property
    @abstractmethod
    def change_token(self) -> tuple[Any, ...]:
        """A value that differs whenever another process may have written; valid within :meth:`consistent_reads`."""

    @property
    @abstractmethod
    def stamp(self) -> Any:
        """A value by which other processes know the index as it is; ``None`` if a write might leave the same one."""

    @abstractmethod
    def adopt(self, stamp: Any, counters: Mapping[str, str]) -> bool:
        """Return true if the index is as it was with this ``stamp`` and these ``counters``, which are taken over."""

    @abstractmethod
    def change(self, c: Any) -> contextlib.AbstractContextManager[None]:
        """Open a transaction while the index is being opened; it counts no generation."""

    @abstractmethod
    def insert_rows(self, c: Any, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*") -> None:
        """Append ``rows``; ``types`` are DuckDB's types of their places, with blanks between."""

    def append(self, c: Any, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append whole rows to one of the tables in :data:`COLUMNS`."""
        self.insert_rows(c, table, column_types(table), rows)

    @abstractmethod
    def fold_postings(self, c: Any) -> None:
        """Rebuild the base of the postings from those of the living units, and empty the delta."""

    @abstractmethod
    def sizes(self, c: Any) -> tuple[int, int]:
        """Return the number of postings of the base, and of the delta."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that the index takes."""

    @abstractmethod
    def cells(self, c: Any) -> Iterator[tuple[str, Any]]:
        """Yield every column of texts or bytes: its name, and a cursor over its distinct values."""

    @abstractmethod
    def insert_postings(self, c: Any, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        """Add the terms of new units with their frequencies; the ids are above all before."""

    @abstractmethod
    def load_postings(self, unit: int, compaction: int) -> Loaded:
        """Return what is new to a :class:`~.keywords.KeywordIndex` that knows the units up to ``unit``."""


class Tables:
    """The base of the parts of a store: its database, and answers that are kept until something was written."""

    _db: Database
    _settings: StoreSettings
    _cache: dict[Hashable, tuple[Any, Any]]

    def _cached(self, name: Hashable, read: Callable[[], T], *counters: str) -> T:
        """Return the answer of ``read``, from memory while the named ``counters`` (or the whole index) are the same."""
        with self._db.consistent_reads():
            if counters:
                values = self._db.counters()
                token: tuple[Any, ...] = tuple(values.get(counter) for counter in counters)
            else:
                token = self._db.change_token
            entry: tuple[Any, T] | None = self._cache.get(name)
            if entry is None or entry[0] != token:
                entry = self._cache[name] = token, read()
            return entry[1]


def in_list(ids: Iterable[int]) -> str:
    """Return the right side of ``IN`` for rows with one of these ids, of which there may be none."""
    listed = [str(int(each)) for each in ids]
    if 0 < len(listed) <= 100:  # for literals the database uses an index or the ranges of its blocks
        return f"({', '.join(listed)})"
    return f"(SELECT unnest(string_to_array(nullif('{','.join(listed)}', ''), ',')::BIGINT[]))"


def count(connection: Connection, sql: str, parameters: list[Any] | None = None) -> int:
    """Return the single number that a query yields; 0 for none."""
    row = connection.execute(sql, parameters or []).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def unit_texts(connection: Connection, run: int = 20_000) -> Iterator[list[tuple[int, str, int]]]:
    """Yield ids, search texts and document ids of all units, in runs that bound what is in memory at once."""
    highest = count(connection, "SELECT coalesce(max(id), 0) FROM units")
    for low in range(0, highest + 1, run):
        rows = connection.execute(
            "SELECT id, coalesce(indexed, text), document_id FROM units WHERE id >= ? AND id < ?", [low, low + run]
        ).fetchall()
        if rows:
            yield rows


def next_ids(connection: Connection, **numbers: int) -> dict[str, Iterator[int]]:
    """Reserve so many new ids of each kind; returns iterators over them by kind.  Ids are never reused."""
    more = " ".join(f"WHEN '{name}' THEN {number:d}" for name, number in numbers.items())
    names = ", ".join(f"'{name}'" for name in numbers)
    connection.execute(f"UPDATE counters SET value = value + CASE name {more} END WHERE name IN ({names})")
    rows = connection.execute(f"SELECT name, value FROM counters WHERE name IN ({names})").fetchall()
    return {name: itertools.count(reached - numbers[name] + 1) for name, reached in rows}


def bump(connection: Connection, *counters: str) -> None:
    """Increase counters, so that other processes see the change."""
    names = ", ".join(f"'{name}'" for name in counters)
    connection.execute(f"UPDATE counters SET value = value + 1 WHERE name IN ({names})")


def put_meta(connection: Connection, key: str, value: str) -> None:
    """Replace a row of ``meta``."""
    connection.execute("DELETE FROM meta WHERE key = ?", [key])
    connection.execute("INSERT INTO meta VALUES (?, ?)", [key, value])


class Needles:
    """Search for any of some texts among bytes, however many they are, in one pass: by their first 12 bytes first."""

    def __init__(self, needles: Sequence[str]) -> None:
        import ahocorasick

        self._by_head: dict[str, list[bytes]] = {}
        for needle in filter(None, needles):
            data = needle.encode("utf-8", "surrogatepass")
            # The automaton knows characters only: each byte is read as one.
            self._by_head.setdefault(data[:12].decode("latin-1"), []).append(data)
        self._heads: Any = ahocorasick.Automaton()
        for head in self._by_head:
            self._heads.add_word(head, head)
        if self._by_head:
            self._heads.make_automaton()

    def __bool__(self) -> bool:
        return bool(self._by_head)

    def any_in(self, cursor: Any) -> bool:
        """Return true if one of the texts stands in the single column of a query's answer."""
        while rows := cursor.fetchmany(2_000):
            for (cell,) in rows:
                if self.finds(cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")):
                    return True
        return False

    def finds(self, data: bytes) -> bool:
        """Return true if one of the texts stands in ``data``."""
        return any(
            data.startswith(needle, last + 1 - len(head))
            for last, head in self._heads.iter(data.decode("latin-1"))
            for needle in self._by_head[head]
        )
