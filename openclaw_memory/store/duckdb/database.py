"""The DuckDB file itself: opening, moving a damaged one aside, transactions, errors in words."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused, StoreError
from ...system import atomic
from ..rows.arrays import batches
from ..tables.needles import Cells
from ..tables.schema import VERSION
from . import schema
from .lease import Lease, is_conflict
from .transaction import transaction

if TYPE_CHECKING:
    import duckdb

#: Rows below which JSON is the faster way to bind numbers.
_FEW = 20_000

log = logging.getLogger("openclaw_memory.store")

#: How a file of DuckDB's begins, and what an index is called where nobody says how.
_MAGIC_AT, _MAGIC, _SUFFIX = 8, b"DUCK", ".duckdb"

#: What DuckDB says of a file whose content is wrong.
_DAMAGE = (
    "not a valid duckdb database",
    "corrupt",
    "checksum",
    "failed to deserialize",
    "serialization error",
    "free block",
    "failure while replaying wal",
    "unexpected end of file",
    "could not read enough bytes",
    "could not read all bytes",
)
_FULL = (
    "no space left",
    "disk full",
    "disk quota",
    "file too large",
    "could not write",
    "max_temp_directory_size",
)
_MEMORY = ("out of memory", "failed to allocate", "could not allocate", "bad_alloc")
#: What says nothing of the content, whatever else is said: it may well work the next time.
_PASSING = (
    *_FULL,
    *_MEMORY,
    "could not set lock",
    "permission denied",
    "operation not permitted",
    "read-only",
    "too many open files",
    "input/output error",
    "interrupt",
    "is a directory",
    "version number",
)


class Database:
    """A DuckDB file behind a :class:`Lease`, moved aside and begun anew where it is damaged or of another version."""

    texts = "(SELECT unnest(from_json(?, '[\"VARCHAR\"]')))"
    blob = "from_base64({})"

    def __init__(
        self,
        path: Path,
        *,
        timeout: float,
        idle: float,
        memory_limit_mb: int,
        opened: Callable[[duckdb.DuckDBPyConnection], None],
    ) -> None:
        self.path = path
        self._opened = opened
        self.warnings: list[str] = []
        self._options: dict[str, Any] = {
            "threads": 1,
            "memory_limit": f"{memory_limit_mb}MB",
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        self.lease = Lease(path, self, timeout, idle)
        #: Whether a file of another version was moved aside: two versions on one index must not do so in turns.
        self._replaced = False
        self._writes = 0
        self._counted: tuple[tuple[int, int], dict[str, str]] | None = None

    @contextlib.contextmanager
    def read(self, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection for queries; DuckDB's errors come out as :class:`StoreError`."""
        import duckdb

        try:
            with self.lease.hold(timeout) as connection:
                yield connection
        except duckdb.Error as error:
            raise self._translated(error) from error
        except RuntimeError as error:
            if str(error) == "Query interrupted":  # so DuckDB says that there was a Ctrl-C
                raise KeyboardInterrupt from error
            raise

    def turn(self, timeout: float | None = None) -> contextlib.AbstractContextManager[object]:
        """This thread's turn, within which the first query opens the file."""
        return self.lease.turn(timeout)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.read() as connection:
            return connection.execute(sql, list(parameters)).fetchall()

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        """The columns of a query, as numpy arrays in its order."""
        with self.read() as connection:
            found = connection.execute(sql, list(parameters)).fetchnumpy()
        return [np.ma.getdata(column) for column in found.values()]

    def vectors(self, sql: str) -> tuple[NDArray[Any], bytes]:
        """The ids of a query, and the bytes that it has for each, one after the other."""
        ids, found = self.columns(sql)
        return ids, b"".join(found)

    @contextlib.contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A transaction that is committed at the end of the block and undone by an exception."""
        with self.read() as connection:
            self._writes += 1  # also for what is read within
            try:
                with transaction(connection):
                    yield connection
                    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'generation'")
            finally:
                self._writes += 1
            self._protect()

    @property
    def moment(self) -> tuple[int, int]:
        """For who has the turn: another value whenever somebody may have written since; opens what was touched."""
        if not self.lease.untouched:
            with self.read():
                pass
        return self.lease.epoch, self._writes

    def counters(self) -> Mapping[str, str]:
        """All counters and what is noted of the file, read once for as long as nobody can have changed them."""
        with self.turn():
            at = self.moment
            if self._counted is None or self._counted[0] != at:
                rows = self.rows("SELECT name, value::VARCHAR FROM counters UNION ALL SELECT key, value FROM meta")
                self._counted = at, dict(rows)
            return self._counted[1]

    @contextlib.contextmanager
    def apart(self) -> Iterator[dict[str, Any]]:
        """The file closed and left alone by everybody else, to be read in another way; DuckDB's options for that."""
        import duckdb

        try:
            with self.lease.aside():
                yield dict(self._options)
        except duckdb.Error as error:
            raise self._translated(error) from error

    def rewrite(self) -> None:
        """Put a copy of what the file holds in its place, so that no byte of what was deleted is left in it.

        Others wait meanwhile.  It takes as much free space as the content.
        """
        import duckdb

        from .rewriting import rewrite

        try:
            with self.lease.aside():
                rewrite(self.path, self._options)
        except duckdb.Error as error:
            raise self._translated(error) from error

    def change(self, c: duckdb.DuckDBPyConnection) -> contextlib.AbstractContextManager[None]:
        """A transaction while the file is being opened."""
        return transaction(c)

    def insert_rows(
        self,
        c: duckdb.DuckDBPyConnection,
        table: str,
        types: str,
        rows: Sequence[tuple[Any, ...]],
        select: str = "*",
    ) -> None:
        """Append ``rows``, bound as one JSON text."""
        insert_rows(c, table, types, rows, select)

    def size(self, c: duckdb.DuckDBPyConnection) -> int:
        """What the file and its log take."""
        return sum(file.stat().st_size for file in self.files if file.exists())

    @property
    def files(self) -> tuple[Path, Path]:
        """The file and its log."""
        return self.path, Path(f"{self.path}.wal")

    def cells(self, c: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Cells]]:
        """Every column of texts or bytes by its name, with its different values."""
        rows = c.execute(
            "SELECT t.schema_name, c.table_name, c.column_name FROM duckdb_columns() c "
            "JOIN duckdb_tables() t USING (table_oid, database_name) WHERE NOT t.internal "
            "AND (c.data_type LIKE 'VARCHAR%' OR c.data_type LIKE 'BLOB%') ORDER BY ALL"
        ).fetchall()
        for schema_name, table_name, column in rows:
            table = table_name if schema_name == "main" else f'"{schema_name}"."{table_name}"'
            cells = c.execute(f'SELECT DISTINCT "{column}" FROM {table} WHERE "{column}" IS NOT NULL')
            yield f"{table}.{column}", cells

    def close(self) -> None:
        """Let go of the file."""
        self.lease.close()

    # -- what the lease calls as the owner of the file ------------------------------------------------

    def prepare(self) -> None:
        """Make the folder, for its owner only.  Raises :class:`StoreError` for a file that is somebody else's."""
        self._check_own()
        folder = self.path.parent
        try:
            atomic.make_folder(folder, 0o700)
        except OSError as error:
            raise StoreError(
                f"{folder}: the index's folder cannot be created ({error.strerror}); "
                "check its permissions, or choose another file with --db"
            ) from error

    def _check_own(self) -> None:
        """What has another form than DuckDB's is a damaged index only where it is called as one: it would be moved."""
        if self.path.suffix == _SUFFIX:
            return
        try:
            with self.path.open("rb") as file:
                begin = file.read(_MAGIC_AT + len(_MAGIC))
        except OSError:
            return
        if begin and not begin.endswith(_MAGIC):
            raise StoreError(f"{self.path}: is no index, and is left as it is; choose another file with --db")

    def is_read_only(self) -> bool:
        """Whether the file is there and cannot be written, or no log beside it: it is opened to be read then."""
        places = (self.path, self.path.parent) if os.path.exists(self.path) else ()
        return not all(
            os.access(each, os.W_OK, effective_ids=os.access in os.supports_effective_ids) for each in places
        )

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file; one that is damaged, or of another version, is moved aside first."""
        import duckdb

        try:
            connection = self._open()
        except schema.OtherVersion as other:
            if self._replaced:
                raise StoreError(
                    f"{self.path}: openclaw-memory of another version uses the index too (its tables have the version "
                    f"{other}, these {VERSION}); restart what runs the older one, or choose another file with "
                    "--db"
                ) from None
            self._move_aside(f"of another version ({other})", other, "outdated")
            self._replaced = True
            connection = self._open()
        except duckdb.Error as error:
            if is_conflict(error) or not self.doubts(error):
                raise
            damage = self._find_damage()
            if damage is None:
                raise
            self._move_aside(f"damaged ({_first_line(damage)})", damage)
            connection = self._open()
        self._protect()
        return connection

    def doubts(self, error: BaseException) -> bool:
        """Whether an error may come from damage, or has left DuckDB refusing every further call."""
        import duckdb

        if isinstance(error, (duckdb.FatalException, duckdb.InternalException)):
            return True
        return isinstance(error, duckdb.Error) and self._speaks_of_damage(error)

    def examine(self, error: BaseException) -> None:
        """Move the file aside if it really is damaged."""
        damage = self._find_damage()
        if damage is not None:
            self._move_aside(f"damaged ({_first_line(damage)})", damage)

    def rest(self) -> None:
        """Give memory back: a millisecond for what may be some megabytes."""
        free_unused_heap()

    def _open(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        connection = duckdb.connect(str(self.path), read_only=self.is_read_only(), config=dict(self._options))
        try:
            schema.prepare(connection, str(self.path))
            self._opened(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _protect(self) -> None:
        """Only the owner may read the index: it holds the agent's memory."""
        for file in self.files:
            with contextlib.suppress(OSError):
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)

    def _move_aside(self, why: str, error: Exception, called: str = "damaged") -> None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        target = Path(f"{self.path}.{called}-{stamp}")
        number = 1
        while target.exists():
            number += 1
            target = Path(f"{self.path}.{called}-{stamp}-{number}")
        try:
            os.replace(self.path, target)
            wal = Path(f"{self.path}.wal")
            if wal.exists():
                os.replace(wal, f"{target}.wal")
        except OSError as failed:
            raise StoreError(
                f"{self.path}: the index is {why} and cannot be moved aside ({failed.strerror}); "
                "move it yourself and run: openclaw-memory ingest"
            ) from error
        message = f"the index was {why}; it was moved to {target} and is being rebuilt from the Markdown files"
        log.warning(message)
        self.warnings.append(message)

    def _speaks_of_damage(self, error: duckdb.Error) -> bool:
        import duckdb

        # Other errors may quote a note's text, which may speak of anything.
        if not isinstance(error, (duckdb.IOException, duckdb.SerializationException)):
            return False
        text = self._plain(error)
        if any(word in text for word in _PASSING):
            return False
        return isinstance(error, duckdb.SerializationException) or any(word in text for word in _DAMAGE)

    def _plain(self, error: BaseException) -> str:
        """A message in lower case without the names in it: a folder may be called ``corrupt``."""
        return re.sub(r'"[^"]*"', "", str(error).replace(str(self.path), "")).lower()

    def _find_damage(self) -> duckdb.Error | None:
        """Read the whole closed file, index included; the error that its content causes, if any.

        A healthy index must never be moved aside, so one bad message is not enough.
        """
        import duckdb

        try:
            with duckdb.connect(str(self.path), config=dict(self._options)) as connection:
                for (table,) in connection.execute(
                    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal"
                ).fetchall():
                    connection.execute(f'SELECT max(hash(t)) FROM "{table}" t').fetchall()
                if schema.version_of(connection):
                    keys = [row[0] for row in connection.execute("SELECT id FROM sections").fetchall()]
                    for some in batches(keys, 50):
                        asked = ", ".join("?" * len(some))
                        connection.execute(f"SELECT count(id) FROM sections WHERE id IN ({asked})", some).fetchall()
        except duckdb.Error as error:
            broken = isinstance(error, (duckdb.FatalException, duckdb.InternalException))
            passing = any(word in self._plain(error) for word in _PASSING)
            return error if self._speaks_of_damage(error) or (broken and not passing) else None
        return None

    def _translated(self, error: duckdb.Error) -> StoreError:
        import duckdb

        first = _first_line(error)
        text = self._plain(error)
        if any(word in text for word in _FULL):
            return StoreError(
                f"{self.path}: the disk is full ({first}); the index is as it was before and nothing is lost: "
                "free some space and run it again"
            )
        if "version number" in text and "read" in text:
            return StoreError(
                f"{self.path}: written by a newer DuckDB ({first}); upgrade openclaw-memory, "
                "or choose another file with --db"
            )
        if any(word in text for word in _MEMORY):
            return StoreError(f"{self.path}: DuckDB ran out of memory ({first}); raise store.memory_limit_mb")
        if self._speaks_of_damage(error):
            return StoreError(
                f"{self.path}: the index cannot be read ({first}); a damaged file is moved aside and kept: "
                "run openclaw-memory ingest to rebuild it from the Markdown files"
            )
        if any(word in text for word in ("permission denied", "read-only", "cannot open file", "is a directory")):
            return StoreError(
                f"{self.path}: the index cannot be opened for writing ({first}); "
                "check the permissions of the file and its folder, or choose another file with --db"
            )
        given = isinstance(error, (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError))
        return (Refused if given else StoreError)(
            f"{self.path}: the index failed ({first}); run: openclaw-memory doctor"
        )


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, Sequence[Any]],
    types: Mapping[str, str],
    select: str = "*",
) -> None:
    """Append rows given by columns, bound as one JSON text.

    Binding Python values one by one is fifty times slower, and numpy columns of objects make DuckDB
    try to import pandas for each value.  ``types`` are the DuckDB types of ``columns``.
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
    connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, tuple[list[int], str]]
) -> None:
    """Append rows of whole numbers: ``columns`` are lists with their DuckDB types.

    Many go as numpy columns, which DuckDB reads in place; few as JSON, as registering columns makes
    DuckDB look for pandas and other libraries for some milliseconds.
    """
    rows = len(next(iter(columns.values()))[0])
    if rows < _FEW:
        given = {name: values for name, (values, _) in columns.items()}
        insert(connection, table, given, {name: kind for name, (_, kind) in columns.items()})
        return
    with incoming(connection, {name: np.array(values, np.int64) for name, (values, _) in columns.items()}):
        cast = ", ".join(f"{name}::{kind}" for name, (_, kind) in columns.items())
        connection.execute(f"INSERT INTO {table} SELECT {cast} FROM incoming")


@contextlib.contextmanager
def incoming(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:
    """Numpy columns of numbers, which DuckDB reads in place, as the table ``incoming`` for the block."""
    connection.register("incoming", dict(columns))
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # refused in a transaction that has failed, which says why itself
            connection.unregister("incoming")


def free_unused_heap() -> None:
    """Ask glibc to return freed memory: many small blobs leave its heap full of holes."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)
