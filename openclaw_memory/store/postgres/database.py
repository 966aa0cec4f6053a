"""One memory in the database: sessions with one snapshot, transactions that count a generation, arrays in and out."""

from __future__ import annotations

import contextlib
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StoreError
from ...system.deadline import Deadline
from ..rows import batches
from ..tables.base import Database, count
from ..tables.keywords import Columns, Loaded, posting_columns, run_lengths
from .connections import Server, memory_id
from .schema import INDEX, INDEX_TABLES, SCHEMA, postgres_types

if TYPE_CHECKING:
    import psycopg

#: numpy's type of a number and the server's function that writes it, by the oid of its type.
_NUMBERS = {
    16: ("?", "boolsend"), 20: (">i8", "int8send"), 21: (">i2", "int2send"), 23: (">i4", "int4send"),
    700: (">f4", "float4send"), 701: (">f8", "float8send"), 17: ("u1", ""),
}  # fmt: skip
_TERM, _UNIT, _TF = np.dtype("<i8"), np.dtype("<i4"), np.dtype("<i2")


class OnlyRead(Exception):
    """A write was attempted in a snapshot."""


class Session:
    """The connection of a thread: a snapshot that begins with the first statement, or a transaction."""

    def __init__(
        self,
        begin: Callable[[bool], contextlib.AbstractContextManager[psycopg.Connection[Any]]],
        translate: Callable[[psycopg.Error], StoreError],
        left: Callable[[], float | None],
    ) -> None:
        self._begin = begin
        self._translate = translate
        self._left = left
        #: Seconds that each statement of a snapshot may take.
        self._granted = math.inf
        self._stack: contextlib.ExitStack | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self.depth = 0
        self.writing = False
        self.counters: dict[str, str] | None = None

    def begin(self, writing: bool) -> None:
        """Begin a transaction of one kind; the snapshot so far is over."""
        self.end()
        left = self._left()
        self._granted = math.inf if left is None else left
        self._stack = contextlib.ExitStack()
        self._connection = self._stack.enter_context(self._begin(writing))
        self.writing, self.counters = writing, None

    def end(self, *error: Any) -> None:
        """Commit the transaction, or undo it for an error, which may be raised as another one."""
        stack, self._stack, self._connection = self._stack, None, None
        self.writing, self.counters = False, None
        if stack is not None:
            stack.__exit__(*(error or (None, None, None)))

    def leave(self, *error: Any) -> None:
        """Leave a block; the outermost ends the transaction."""
        self.depth -= 1
        if not self.depth:
            self.end(*error)

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The connection in its transaction."""
        if self._connection is None:
            self.begin(writing=False)
        assert self._connection is not None
        return self._connection

    def execute(self, query: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement with ``?`` or ``$1`` for its values; a snapshot in which one fails is over."""
        from psycopg import Error, RawCursor

        cursor = RawCursor(self.connection)
        try:
            if not self.writing:
                self._limit()
            return cursor.execute(_numbered(query), list(parameters) or None, binary=True)
        except Error as error:
            translated = self._translate(error)
            if not self.writing:
                with contextlib.suppress(StoreError):
                    self.end(StoreError, translated, None)
            raise translated from error

    def _limit(self) -> None:
        """Limit a statement to the time that is left, unless the limit of the last one is about the same."""
        left = self._left()
        seconds = math.inf if left is None else left
        if not 0.8 * self._granted <= seconds <= self._granted:
            milliseconds = 0 if left is None else max(int(left * 1000), 1)
            self.connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
            self._granted = seconds


class PostgresDatabase(Database):
    """The tables of one memory.

    ``opened`` is called with a connection before anything else; its changes run in a transaction of their own.
    """

    blob = "decode({}, 'base64')"

    def __init__(self, url: str, agent: str, workspace: str, timeout: float, opened: Callable[[Any], None]) -> None:
        self.server = Server.for_url(url)
        self._owner = agent, workspace
        self._timeout = timeout
        self._opened = opened
        self._opening = threading.RLock()
        self._local = threading.local()
        self._ready = False
        self.memory: int | None = None
        self.may_write = True
        self.is_superuser = False

    # -- sessions -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def read(self, timeout: float | None = None) -> Iterator[Session]:
        """Yield a session; inner ones share its snapshot."""
        session = self._session()
        session.depth += 1
        with contextlib.ExitStack() as stack:
            stack.push(session.leave)
            stack.enter_context(self.server.limit_waiting(Deadline.after(timeout)))
            self.open()
            yield session

    def consistent_reads(self) -> contextlib.AbstractContextManager[object]:
        return self.read()

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """Yield a session in a transaction under the lock of the memory, so that its writers follow each other."""
        with self.read() as session, self._writing(session):
            yield session
            session.execute("UPDATE counters SET value = value + 1 WHERE name = 'generation'")

    @contextlib.contextmanager
    def change(self, session: Session) -> Iterator[None]:
        """Raise :class:`OnlyRead` in a snapshot: the caller repeats the check under the lock."""
        if not session.writing:
            raise OnlyRead
        yield

    @contextlib.contextmanager
    def _writing(self, session: Session) -> Iterator[None]:
        if not self.may_write:
            raise StoreError(
                f"{self.server.name}: this role may only read the memory of the agent {self._owner[0]!r}; let a role "
                f"that writes ingest, or its owner runs in SQL: SELECT {SCHEMA}.share('role', '{self._owner[0]}', "
                f"'{self._owner[1]}', true)"
            )
        session.begin(writing=True)
        with contextlib.ExitStack() as stack:
            stack.push(session.end)
            session.execute("SELECT value FROM counters WHERE name = 'generation' FOR UPDATE").fetchone()
            yield

    def _session(self) -> Session:
        session: Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = Session(self._begin, self.server.translate, self.server.left)
        return session

    def _begin(self, writing: bool) -> contextlib.AbstractContextManager[psycopg.Connection[Any]]:
        left = self.server.left()
        wait = self._timeout if left is None else max(min(left, self._timeout), 0.001)
        return self.server.transaction(not writing, None if writing else left, wait, self.memory)

    # -- opening --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Find or make the memory, the first time, and have it checked by ``opened``."""
        if self._ready or getattr(self._local, "opening", False):
            return
        with self._opening:
            if self._ready:
                return
            self._local.opening = True
            try:
                self._find()
                self._check()
                self._ready = True
            finally:
                self._local.opening = False

    def _find(self) -> None:
        self.server.prepare("index", INDEX)
        with self.server.transaction() as c:
            self.memory = memory_id(c, *self._owner)
            rights = c.execute(
                "SELECT %s = ANY (writable()) AND has_table_privilege('openclaw_memory.units', 'INSERT'), "
                "(SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)",
                [self.memory],
            ).fetchone()
            assert rights is not None
            self.may_write, self.is_superuser = rights

    def check(self) -> None:
        """Have the memory checked by ``opened`` again, unless a session is in use."""
        if not self._session().depth:
            with self.read():
                self._check()

    def _check(self) -> None:
        session = self._session()
        if session.execute("SELECT count(*) FROM meta WHERE key = 'instance'").fetchone() == (0,) and self.may_write:
            with self._writing(session):
                session.execute("SELECT begin_memory()")
        try:
            self._opened(session)
        except OnlyRead:
            if self.may_write:
                with self._writing(session):
                    self._opened(session)
        session.end()

    # -- rows -------------------------------------------------------------------------------------------

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        # Each column is transferred as one value: a row for each number would take ten times as long.
        with self.read() as c:
            described = c.execute(f"SELECT * FROM ({sql}) q LIMIT 0", parameters).description or ()
            kinds = [_NUMBERS[column.type_code] for column in described]
            names = ", ".join(f"c{at}" for at in range(len(kinds)))
            whole = ", ".join(f"string_agg({send}(c{at}), '')" for at, (_, send) in enumerate(kinds))
            row = c.execute(f"SELECT {whole} FROM ({sql}) q ({names})", parameters).fetchone()
        assert row is not None
        columns = [np.frombuffer(data or b"", kind) for data, (kind, _) in zip(row, kinds, strict=True)]
        return [column.astype(column.dtype.newbyteorder("=")) for column in columns]

    def size(self) -> int:
        """Return the bytes of the memory's rows, without indexes."""
        with self.read() as c:
            return sum(count(c, f"SELECT sum(pg_column_size(t)) FROM {table} t") for table in INDEX_TABLES)

    def cells(self, c: Session) -> Iterator[tuple[str, Any]]:
        columns = c.execute(
            "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns "
            "WHERE table_schema = 'openclaw_memory_view' AND data_type IN ('text', 'bytea') ORDER BY 1, 2"
        ).fetchall()
        for table, column in columns:
            cells = c.execute(f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')
            yield f"{table}.{column}", cells

    def counters(self) -> Mapping[str, str]:
        with self.read() as c:
            if c.counters is not None:
                return c.counters
            rows = c.execute("SELECT name, value::TEXT FROM counters UNION ALL SELECT key, value FROM meta").fetchall()
            counters = dict(rows)
            if not c.writing:
                c.counters = counters
            return counters

    @property
    def change_token(self) -> tuple[Any, ...]:
        # All counters, as changes while a memory is opened count no generation.
        return tuple(sorted(self.counters().items())), self._session().writing and object()

    @property
    def stamp(self) -> str:
        return ""  # the counters say all

    def adopt(self, stamp: str, counters: Mapping[str, str]) -> bool:
        return self.counters() == counters

    def insert_rows(
        self, c: Session, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*"
    ) -> None:
        """Append ``rows``, bound as an array a column; ``COPY`` takes a sixth less time, and a table in between."""
        kinds = postgres_types(types).split()
        if rows:
            arrays = ", ".join(f"${at}::{kind}[]" for at, kind in enumerate(kinds, 1))
            names = ", ".join(f"c{at}" for at in range(len(kinds)))
            columns = [_array(kind, column) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]
            c.execute(f"INSERT INTO {table} SELECT {select} FROM unnest({arrays}) g ({names})", columns)

    # -- postings -----------------------------------------------------------------------------------------

    def insert_postings(self, c: Session, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        terms, unit_ids, tfs = posting_columns(units)
        if terms:
            c.execute(
                "INSERT INTO postings_delta VALUES (?, ?, ?, ?, ?)",
                [max(unit_ids), len(terms), _bytes(terms, _TERM), _bytes(unit_ids, _UNIT), _bytes(tfs, _TF)],
            )

    def fold_postings(self, c: Session) -> None:
        (living,) = self.columns("SELECT id FROM units")
        base, delta = self.term_postings(c), self.new_postings(c)
        term, unit_id, tf = (np.concatenate([base[at], delta[at]]) for at in range(3))
        order = np.lexsort((unit_id, term))
        order = order[np.isin(unit_id[order], living)]
        term, unit_id, tf = term[order], unit_id[order], tf[order]
        starts = np.flatnonzero(np.r_[True, term[1:] != term[:-1]]) if len(term) else np.zeros(0, np.int64)
        ends = [*starts[1:].tolist(), len(term)][: len(starts)]  # of no postings none
        ids, frequencies = unit_id.astype(_UNIT).view(np.uint8), tf.astype(_TF).view(np.uint8)
        c.execute("DELETE FROM postings_delta")
        c.execute("DELETE FROM postings")
        rows = [
            (key, end - start, ids[4 * start : 4 * end].tobytes(), frequencies[2 * start : 2 * end].tobytes())
            for key, start, end in zip(term[starts].tolist(), starts.tolist(), ends, strict=True)
        ]
        for batch in batches(rows, 50_000):
            self.insert_rows(c, "postings", "BIGINT INTEGER BLOB BLOB", batch)

    def load_postings(self, unit: int, compaction: int) -> Loaded:
        with self.read() as c:
            highest, reached = (int(self.counters()[name]) for name in ("unit", "compaction"))
            base = None
            if reached != compaction:
                term, unit_id, tf = self.term_postings(c)
                unit, base = 0, (*run_lengths(term), unit_id, tf)
            return base, self.new_postings(c, unit), highest, reached

    def sizes(self, c: Session) -> tuple[int, int]:
        return (
            count(c, "SELECT coalesce(sum(n), 0) FROM postings"),
            count(c, "SELECT coalesce(sum(n), 0) FROM postings_delta"),
        )

    def term_postings(self, c: Session) -> Columns:
        """Return the base, sorted by term."""
        rows = c.execute("SELECT term, n, unit_id, tf FROM postings ORDER BY term").fetchall()
        terms, lengths, ids, frequencies = zip(*rows, strict=True) if rows else ((), (), (), ())
        return (
            np.repeat(np.array(terms, np.int64), np.array(lengths, np.int64)),
            _joined(ids, _UNIT),
            _joined(frequencies, _TF),
        )

    def new_postings(self, c: Session, unit: int = 0) -> Columns:
        """Return the delta of units above ``unit``."""
        select = "SELECT term, unit_id, tf FROM postings_delta WHERE unit > ? ORDER BY unit"
        rows = c.execute(select, [unit]).fetchall()
        terms, ids, frequencies = zip(*rows, strict=True) if rows else ((), (), ())
        term, unit_id, tf = _joined(terms, _TERM), _joined(ids, _UNIT), _joined(frequencies, _TF)
        new = unit_id > unit
        return term[new], unit_id[new], tf[new]


def _array(kind: str, values: Sequence[Any]) -> list[Any]:
    """Return values that the driver binds as an array of one type."""
    if kind == "TEXT":  # PostgreSQL stores no NUL
        return [value if value is None else value.replace("\0", "\ufffd") for value in values]
    return [None if value is None else float(value) for value in values] if kind == "REAL" else list(values)


def _numbered(query: str) -> str:
    numbers = iter(range(1, query.count("?") + 1))
    return re.sub(r"\?", lambda _: f"${next(numbers)}", query)


def _bytes(numbers: Sequence[int], kind: np.dtype[Any]) -> bytes:
    return np.array(numbers, kind).tobytes()


def _joined(parts: Sequence[bytes], kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(b"".join(parts), kind).astype(kind.newbyteorder("="))
