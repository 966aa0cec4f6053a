"""One memory in the database: sessions with one snapshot, transactions that count a generation, arrays in and out."""

from __future__ import annotations

import contextlib
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StoreError
from ...system.deadline import Deadline
from ..tables.needles import Cells
from ..tables.schema import of_postgres
from ..tables.sql import count
from .connections import SCHEMA, Server, memory_id
from .schema import INDEX, TABLES

if TYPE_CHECKING:
    import psycopg

#: How numpy reads a number, and what the server writes it by, by the type's oid.
_NUMBERS = {
    16: ("?", "boolsend"), 20: (">i8", "int8send"), 21: (">i2", "int2send"), 23: (">i4", "int4send"),
    700: (">f4", "float4send"), 701: (">f8", "float8send"), 17: ("u1", ""),
}  # fmt: skip
#: From so many rows on they are copied: a table for them costs more than it saves for fewer.
_MANY = 200
#: The share of the time that a statement was granted at which the next one is granted less.
_ABOUT = 0.8


class OnlyRead(Exception):
    """Something is to be written, and this is a snapshot."""


class Session:
    """What a thread does with the memory now: a snapshot that begins with the first question, or a transaction."""

    def __init__(
        self,
        begin: Callable[[bool], contextlib.AbstractContextManager[psycopg.Connection[Any]]],
        translated: Callable[[psycopg.Error], StoreError],
        left: Callable[[], float | None],
    ) -> None:
        self._begin = begin
        self._translated = translated
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
        """End what there is: commit it, or undo it for an error, which may come out in other words."""
        stack, self._stack, self._connection = self._stack, None, None
        self.writing, self.counters = False, None
        if stack is not None:
            stack.__exit__(*(error or (None, None, None)))

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
            told = self._translated(error)
            if not self.writing:
                with contextlib.suppress(StoreError):
                    self.end(StoreError, told, None)
            raise told from error

    def _limit(self) -> None:
        """Let a statement take no more than what is left, where that is not about what the one before was granted."""
        left = self._left()
        seconds = math.inf if left is None else left
        if not _ABOUT * self._granted <= seconds <= self._granted:
            milliseconds = 0 if left is None else max(int(left * 1000), 1)
            self.connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
            self._granted = seconds


class MemoryTables:
    """The tables of one memory; implements :class:`~openclaw_memory.store.tables.sql.Sql` but for the postings.

    ``opened`` is called with a connection before anything else; what it changes runs in a transaction of its own.
    """

    texts = "(SELECT json_array_elements_text(?::JSON))"
    blob = "decode({}, 'base64')"

    def __init__(self, url: str, agent: str, workspace: str, timeout: float, opened: Callable[[Any], None]) -> None:
        self.server = Server.of(url)
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
        """A session; the ones within it share its snapshot."""
        session = self._session()
        session.depth += 1
        try:
            with self.patience(Deadline.after(timeout)):
                self.open()
                yield session
        except BaseException as error:
            session.depth -= 1
            if not session.depth:
                session.end(type(error), error, error.__traceback__)
            raise
        else:
            session.depth -= 1
            if not session.depth:
                session.end()

    def turn(self, timeout: float | None = None) -> contextlib.AbstractContextManager[object]:
        """As :meth:`read`."""
        return self.read(timeout)

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction under the lock of the memory, so that its writers follow each other; counts a generation."""
        with self.read() as session, self._writing(session):
            yield session
            session.execute("UPDATE counters SET value = value + 1 WHERE name = 'generation'")

    @contextlib.contextmanager
    def change(self, session: Session) -> Iterator[None]:
        """Raise :class:`OnlyRead` in a snapshot: what is being opened is looked at again under the lock."""
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
        try:
            session.execute("SELECT value FROM counters WHERE name = 'generation' FOR UPDATE").fetchone()
            yield
        except BaseException as error:
            session.end(type(error), error, error.__traceback__)
            raise
        else:
            session.end()

    def patience(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Wait for the server and for others no longer than ``until`` in the block of this thread."""
        return self.server.patience(until)

    def _session(self) -> Session:
        found: Session | None = getattr(self._local, "session", None)
        if found is None:
            found = self._local.session = Session(self._begin, self.server.translated, self.server.left)
        return found

    def _begin(self, writing: bool) -> contextlib.AbstractContextManager[psycopg.Connection[Any]]:
        left = self.server.left()
        wait = self._timeout if left is None else max(min(left, self._timeout), 0.001)
        return self.server.transaction(not writing, None if writing else left, wait, self.memory)

    # -- opening --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Find the memory, or make it, the first time; then have it looked at by ``opened``."""
        if self._ready or getattr(self._local, "opening", False):
            return
        with self._opening:
            if self._ready:
                return
            self._local.opening = True
            try:
                self._find()
                self._look()
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

    def look(self) -> None:
        """Have the memory looked at by ``opened`` again, unless a session is in use."""
        if not self._session().depth:
            with self.read():
                self._look()

    def _look(self) -> None:
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

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.read() as c:
            return c.execute(sql, parameters).fetchall()

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        """The columns of a query for numbers that are not null, as numpy arrays in its order.

        A column of bytes comes as all of them, one after the other.
        Each column is one value on its way here, as a row a number would take ten times as long.
        """
        with self.read() as c:
            described = c.execute(f"SELECT * FROM ({sql}) q LIMIT 0", parameters).description or ()
            kinds = [_NUMBERS[column.type_code] for column in described]
            names = ", ".join(f"c{at}" for at in range(len(kinds)))
            whole = ", ".join(f"string_agg({send}(c{at}), '')" for at, (_, send) in enumerate(kinds))
            row = c.execute(f"SELECT {whole} FROM ({sql}) q ({names})", parameters).fetchone()
        assert row is not None
        found = [np.frombuffer(data or b"", kind) for data, (kind, _) in zip(row, kinds, strict=True)]
        return [column.astype(column.dtype.newbyteorder("=")) for column in found]

    def vectors(self, sql: str) -> tuple[NDArray[Any], bytes]:
        """The ids of a query, and the bytes that it has for each, one after the other."""
        ids, data = self.columns(sql)
        return ids, data.tobytes()

    def size(self, c: Session) -> int:
        """Bytes of the memory's rows, without indexes."""
        return sum(count(c, f"SELECT sum(pg_column_size(t)) FROM {table} t") for table in TABLES)

    def cells(self, c: Session) -> Iterator[tuple[str, Cells]]:
        """Every column of texts or bytes by its name, with its different values."""
        columns = c.execute(
            "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns "
            "WHERE table_schema = 'openclaw_memory_view' AND data_type IN ('text', 'bytea') ORDER BY 1, 2"
        ).fetchall()
        for table, column in columns:
            cells = c.execute(f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')
            yield f"{table}.{column}", cells

    def counters(self) -> Mapping[str, str]:
        """All counters and what is noted of the memory, read once a snapshot."""
        with self.read() as c:
            if c.counters is not None:
                return c.counters
            found = dict(
                c.execute("SELECT name, value::TEXT FROM counters UNION ALL SELECT key, value FROM meta").fetchall()
            )
            if not c.writing:
                c.counters = found
            return found

    @property
    def moment(self) -> tuple[Any, ...]:
        """Another value whenever somebody may have written since."""
        # What is noted as a memory is opened counts no generation.
        return tuple(sorted(self.counters().items())), self._session().writing and object()

    def insert_rows(
        self, c: Session, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*"
    ) -> None:
        """Append ``rows``, bound as an array a column, or copied; ``types`` are DuckDB's types of their places."""
        kinds = of_postgres(types).split()
        if len(rows) >= _MANY:
            copied(c, table, kinds, rows, select)
        elif rows:
            given = ", ".join(f"${at}::{kind}[]" for at, kind in enumerate(kinds, 1))
            names = ", ".join(f"c{at}" for at in range(len(kinds)))
            columns = [_array(kind, column) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]
            c.execute(f"INSERT INTO {table} SELECT {select} FROM unnest({given}) g ({names})", columns)

    def close(self) -> None:
        """Let go of the server."""
        self.server.close()


def copied(
    c: Session, table: str, kinds: Sequence[str], rows: Iterable[Sequence[Any]], select: str = "*", binary: bool = False
) -> None:
    """Append ``rows`` by ``COPY``, by way of a table without row-level security: the server takes it for no other.

    With ``binary`` their values are numbers and bytes of just these ``kinds``, which is quicker.
    """
    columns = ", ".join(f"c{at} {kind}" for at, kind in enumerate(kinds))
    c.execute(f"CREATE TEMP TABLE incoming ({columns}) ON COMMIT DROP")
    how = f"COPY incoming FROM STDIN{' (FORMAT BINARY)' if binary else ''}"
    with c.connection.cursor() as cursor, cursor.copy(how) as copy:
        if binary:
            copy.set_types([kind.lower() for kind in kinds])
        for row in rows:
            copy.write_row([_held(value) if isinstance(value, str) else value for value in row])
    c.execute(f"INSERT INTO {table} SELECT {select} FROM incoming")
    c.execute("DROP TABLE incoming")


def _held(text: str) -> str:
    """``text`` without the character that no text there may hold."""
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _array(kind: str, values: Sequence[Any]) -> list[Any]:
    """Values that the driver takes for an array, of one type."""
    if kind == "TEXT":
        return [value if value is None else _held(value) for value in values]
    return [None if value is None else float(value) for value in values] if kind == "REAL" else list(values)


def _numbered(query: str) -> str:
    numbers = iter(range(1, query.count("?") + 1))
    return re.sub(r"\?", lambda _: f"${next(numbers)}", query)
