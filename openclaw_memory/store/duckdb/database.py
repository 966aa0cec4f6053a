"""The DuckDB file: open it, move a damaged one aside, run transactions, rewrite it, translate DuckDB's errors."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import arrays as np
from ...config.settings import StoreSettings
from ...errors import StoreError, TextRefused
from ...system import atomic
from ..rows import batches
from ..tables.base import COLUMNS, COUNTERS, VERSION, Database, count
from ..tables.keywords import Base, Columns, Loaded, posting_columns, run_lengths
from .lease import Lease, Stamp, is_conflict, is_read_only

if TYPE_CHECKING:
    import _duckdb as duckdb
    from numpy.typing import NDArray

log = logging.getLogger("openclaw_memory.store")

#: Postings that are read at once: 20 MB.
_POSTINGS_AT_ONCE = 1 << 20
#: Columns of the tables of postings.
_POSTINGS = "term BIGINT, unit_id INTEGER, tf SMALLINT"

#: Parts of DuckDB's messages about a file with wrong content.
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
_FULL = ("no space left", "disk full", "disk quota", "file too large", "could not write", "max_temp_directory_size")
_MEMORY = ("out of memory", "failed to allocate", "could not allocate", "bad_alloc")
#: Parts of messages that prove nothing about the content: the same call may work the next time.
_TEMPORARY = (
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
#: Parts of messages, the cause in words, and a person's next step.
_CAUSES = (
    (_FULL, "the disk is full", "the index is as it was before and nothing is lost: free some space and run it again"),
    (
        ("version number",), "written by a newer DuckDB",
        "upgrade openclaw-memory, or choose another file with --db",
    ),
    (_MEMORY, "DuckDB ran out of memory", "raise store.memory_limit_mb"),
    (
        ("permission denied", "read-only", "cannot open file", "is a directory"),
        "the index cannot be opened for writing",
        "check the permissions of the file and its folder, or choose another file with --db",
    ),
)  # fmt: skip


class DuckDatabase(Database):
    """A DuckDB file behind a :class:`Lease`; a damaged one, or one of another version, is moved aside and made anew."""

    blob = "from_base64({})"

    def __init__(
        self, path: Path, settings: StoreSettings, idle: float, opened: Callable[[duckdb.DuckDBPyConnection], None]
    ) -> None:
        self.path = path
        self._opened = opened
        self.warnings: list[str] = []
        self._options: dict[str, Any] = {
            "threads": 1,
            "memory_limit": f"{settings.memory_limit_mb}MB",
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        self.lease = Lease(path, self._connect, self.is_suspicious, self._examine, settings.lock_timeout, idle)
        #: True after a file of another version was moved aside; a second one is refused, as two versions of this
        #: package would otherwise keep moving each other's file.
        self._replaced = False
        self._writes = 0
        self._counters: tuple[tuple[int, int] | None, dict[str, str]] = None, {}

    @contextlib.contextmanager
    def read(self, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        import _duckdb as duckdb

        try:
            with self.lease.hold(timeout) as connection:
                yield connection
        except duckdb.Error as error:
            raise self._translate(error) from error
        except RuntimeError as error:
            if str(error) == "Query interrupted":  # DuckDB's way to report Ctrl-C
                raise KeyboardInterrupt from error
            raise

    def consistent_reads(self) -> contextlib.AbstractContextManager[object]:
        return self.lease.exclude_threads()

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> list[NDArray[Any]]:
        with self.read() as connection:
            columns = map(np.ma.getdata, connection.execute(sql, list(parameters)).fetchnumpy().values())
        return [np.frombuffer(b"".join(each), np.uint8) if each.dtype == object else each for each in columns]

    @contextlib.contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self.read() as connection:
            self._writes += 1  # also for reads within
            self.lease.wrote()
            try:
                with transaction(connection):
                    yield connection
                    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'generation'")
            finally:
                self._writes += 1
            self._protect()

    @property
    def change_token(self) -> tuple[int, int]:
        if not self.lease.unchanged_since_close:
            with self.read():
                pass
        return self.lease.epoch, self._writes

    def counters(self) -> Mapping[str, str]:
        with self.consistent_reads():
            token = self.change_token
            if self._counters[0] != token:
                rows = self.rows("SELECT name, value::VARCHAR FROM counters UNION ALL SELECT key, value FROM meta")
                self._counters = token, dict(rows)
            return self._counters[1]

    @property
    def stamp(self) -> Stamp | None:
        return self.lease.settled_stamp

    def adopt(self, stamp: Stamp, counters: Mapping[str, str]) -> bool:
        """Return true if the file has this ``stamp``, and so need not be opened."""
        if not self.lease.adopt(stamp):
            return False
        if self._counters[0] is None:
            self._counters = self.change_token, dict(counters)
        return True

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[dict[str, Any]]:
        """Close the file and keep everybody else out, to open it in another way; yields DuckDB's options for that."""
        import _duckdb as duckdb

        try:
            with self.lease.exclusive():
                yield dict(self._options)
        except duckdb.Error as error:
            raise self._translate(error) from error

    def change(self, c: duckdb.DuckDBPyConnection) -> contextlib.AbstractContextManager[None]:
        return transaction(c)

    def insert_rows(
        self, c: duckdb.DuckDBPyConnection, table: str, types: str, rows: Sequence[tuple[Any, ...]], select: str = "*"
    ) -> None:
        insert_rows(c, table, types, rows, select)

    def size(self) -> int:
        return sum(file.stat().st_size for file in self.files if file.exists())

    @property
    def files(self) -> tuple[Path, Path]:
        """The file and its log."""
        return self.path, Path(f"{self.path}.wal")

    def cells(self, c: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Any]]:
        rows = c.execute(
            "SELECT t.schema_name, c.table_name, c.column_name FROM duckdb_columns() c "
            "JOIN duckdb_tables() t USING (table_oid, database_name) WHERE NOT t.internal "
            "AND (c.data_type LIKE 'VARCHAR%' OR c.data_type LIKE 'BLOB%') ORDER BY ALL"
        ).fetchall()
        for schema_name, table_name, column in rows:
            table = table_name if schema_name == "main" else f'"{schema_name}"."{table_name}"'
            cells = c.execute(f'SELECT DISTINCT "{column}" FROM {table} WHERE "{column}" IS NOT NULL')
            yield f"{table}.{column}", cells

    def insert_postings(self, c: duckdb.DuckDBPyConnection, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        insert_postings(c, "postings_delta", *posting_columns(units))

    def fold_postings(self, c: duckdb.DuckDBPyConnection) -> None:
        c.execute(
            "CREATE OR REPLACE TABLE postings_next AS SELECT term, unit_id, tf FROM "
            "(SELECT * FROM postings UNION ALL SELECT * FROM postings_delta) "
            "WHERE unit_id IN (SELECT id FROM units) ORDER BY term, unit_id"
        )
        c.execute("DROP TABLE postings")
        c.execute("ALTER TABLE postings_next RENAME TO postings")
        c.execute("DELETE FROM postings_delta")
        # Words of one initial are read together.
        c.execute("CREATE OR REPLACE TABLE words AS SELECT * FROM words ORDER BY initial")

    def sizes(self, c: duckdb.DuckDBPyConnection) -> tuple[int, int]:
        return count(c, "SELECT count(*) FROM postings"), count(c, "SELECT count(*) FROM postings_delta")

    def load_postings(self, unit: int, compaction: int) -> Loaded:
        with self.read():
            reached, highest = (int(self.counters()[name]) for name in ("compaction", "unit"))
            base = None
            if reached != compaction:
                unit, base = 0, self._load_base()
            return base, self._postings(f"postings_delta WHERE unit_id > {unit:d}"), highest, reached

    def _load_base(self) -> Base:
        """Read the base range by range of its terms, which are hashes: at once it takes several times its size."""
        n = int(self.rows("SELECT count(*) FROM postings")[0][0])
        ranges = n // _POSTINGS_AT_ONCE + 1
        unit_ids, tfs, runs, at = np.empty(n, np.int32), np.empty(n, np.int16), [], 0
        ends = [(1 << 63) * number // ranges for number in range(ranges + 1)]
        for first, last in itertools.pairwise(ends):
            where = f"postings WHERE term BETWEEN {first} AND {last - 1} ORDER BY term"
            term, unit_id, tf = self._postings(where)
            unit_ids[at : at + len(term)], tfs[at : at + len(term)] = unit_id, tf
            runs.append(run_lengths(term))
            at += len(term)
        terms, lengths = map(np.concatenate, zip(*runs, strict=True))
        return terms, lengths, unit_ids, tfs

    def _postings(self, part: str) -> Columns:
        term, unit_id, tf = self.columns(f"SELECT term, unit_id, tf FROM {part}")
        return (
            term.astype(np.int64, copy=False),
            unit_id.astype(np.int32, copy=False),
            tf.astype(np.int16, copy=False),
        )

    # -- called by the lease, as the owner of the file ------------------------------------------------

    def _connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file; a damaged one, or one of another version, is moved aside first."""
        import _duckdb as duckdb

        try:
            connection = self._open()
        except OtherVersion as other:
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
            if is_conflict(error) or not self.is_suspicious(error):
                raise
            damage = self._find_damage()
            if damage is None:
                raise
            self._move_aside(f"damaged ({_first_line(damage)})", damage)
            connection = self._open()
        self._protect()
        return connection

    def is_suspicious(self, error: BaseException) -> bool:
        """Return true if an error may come from a damaged file, or makes DuckDB refuse every later call."""
        import _duckdb as duckdb

        if isinstance(error, (duckdb.FatalException, duckdb.InternalException)):
            return True
        return isinstance(error, duckdb.Error) and self._mentions_damage(error)

    def _examine(self) -> None:
        """Move the file aside if reading all of it proves the damage."""
        damage = self._find_damage()
        if damage is not None:
            self._move_aside(f"damaged ({_first_line(damage)})", damage)

    def _open(self) -> duckdb.DuckDBPyConnection:
        import _duckdb as duckdb

        connection = duckdb.connect(str(self.path), read_only=is_read_only(self.path), config=dict(self._options))
        try:
            make_tables(connection, str(self.path))
            self._opened(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _protect(self) -> None:
        """Let only the owner read the index: it holds the agent's memory."""
        for file in self.files:
            with contextlib.suppress(OSError):
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)

    def _move_aside(self, why: str, error: Exception, called: str = "damaged") -> None:
        name = f"{self.path}.{called}-{time.strftime('%Y%m%d-%H%M%S')}"
        names = (f"{name}-{number}" if number > 1 else name for number in itertools.count(1))
        target = next(target for target in map(Path, names) if not target.exists())
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

    def _mentions_damage(self, error: duckdb.Error) -> bool:
        import _duckdb as duckdb

        # Other errors may quote a note's text, which may speak of anything.
        if not isinstance(error, (duckdb.IOException, duckdb.SerializationException)):
            return False
        text = self._plain(error)
        if any(word in text for word in _TEMPORARY):
            return False
        return isinstance(error, duckdb.SerializationException) or any(word in text for word in _DAMAGE)

    def _plain(self, error: BaseException) -> str:
        """Return a message in lower case without the names in it: a folder may be called ``corrupt``."""
        return re.sub(r'"[^"]*"', "", str(error).replace(str(self.path), "")).lower()

    def _find_damage(self) -> duckdb.Error | None:
        """Read the whole closed file, index included, and return the error that its content causes, if any.

        A healthy index must never be moved aside, so one bad message is not enough.
        """
        import _duckdb as duckdb

        try:
            with duckdb.connect(str(self.path), config=dict(self._options)) as connection:
                for (table,) in connection.execute(
                    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal"
                ).fetchall():
                    connection.execute(f'SELECT max(hash(t)) FROM "{table}" t').fetchall()
                if table_version(connection):
                    keys = [row[0] for row in connection.execute("SELECT id FROM sections").fetchall()]
                    for batch in batches(keys, 50):
                        marks = ", ".join("?" * len(batch))
                        connection.execute(f"SELECT count(id) FROM sections WHERE id IN ({marks})", batch).fetchall()
        except duckdb.Error as error:
            broken = isinstance(error, (duckdb.FatalException, duckdb.InternalException))
            temporary = any(word in self._plain(error) for word in _TEMPORARY)
            return error if self._mentions_damage(error) or (broken and not temporary) else None
        return None

    def _translate(self, error: duckdb.Error) -> StoreError:
        import _duckdb as duckdb

        first, text = _first_line(error), self._plain(error)
        if self._mentions_damage(error):
            return StoreError(
                f"{self.path}: the index cannot be read ({first}); a damaged file is moved aside and kept: "
                "run openclaw-memory ingest to rebuild it from the Markdown files"
            )
        for marks, what, next_step in _CAUSES:
            if any(mark in text for mark in marks):
                return StoreError(f"{self.path}: {what} ({first}); {next_step}")
        bad_value = isinstance(error, (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError))
        return (TextRefused if bad_value else StoreError)(
            f"{self.path}: the index failed ({first}); run: openclaw-memory doctor"
        )


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def rewrite(path: Path, options: Mapping[str, Any]) -> None:
    """Replace the closed file ``path`` by a copy of all its rows, in one step; the caller is its only owner.

    No byte of deleted rows is left in it.  It takes as much free space as the content.
    A process killed meanwhile leaves the old file, and a folder beside it that the next call removes.
    Raises :class:`~openclaw_memory.errors.StoreError` if that fails, and DuckDB's own errors.
    """
    folder = Path(f"{path}.rewriting")
    try:
        # Left by a process that was killed here, or in a query that did not fit into memory.
        for leftover in (folder, Path(f"{path}.tmp")):
            shutil.rmtree(leftover, ignore_errors=True)
        _empty_log(path, options)
        folder.mkdir(mode=0o700)
        try:
            copy = folder / path.name
            _copy(path, copy, {**options, "temp_directory": str(folder / "spill")})
            copy.chmod(0o600)
            atomic.replace_file(copy, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{path}: the index cannot be rewritten ({error.strerror or error}); it is as it was: free some space, "
            "check the permissions of its folder, and run it again"
        ) from error


def _empty_log(path: Path, options: Mapping[str, Any]) -> None:
    """Write the log into the file: it would be applied to the copy."""
    import _duckdb as duckdb

    wal = Path(f"{path}.wal")
    if wal.exists():
        with duckdb.connect(str(path), config=dict(options)) as connection:
            connection.execute("CHECKPOINT")
        if wal.exists():
            raise StoreError(f"{wal}: the log of the index cannot be emptied; run: openclaw-memory doctor")


def _copy(old: Path, new: Path, options: Mapping[str, Any]) -> None:
    import _duckdb as duckdb

    # Rows are read in runs that depend on their order.
    with duckdb.connect(":memory:", config={**options, "threads": 1, "preserve_insertion_order": "true"}) as connection:
        attach(connection, old, "old", "(READ_ONLY)")
        attach(connection, new, "new")
        connection.execute("COPY FROM DATABASE old TO new")
        connection.execute("CHECKPOINT new")
        connection.execute("DETACH new")
    if Path(f"{new}.wal").exists():
        raise StoreError(f"{old}: the copy of the index is not complete; the index is as it was: run it again")


# -- tables and rows of an open file -----------------------------------------------------------------------------------


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
    tables = COLUMNS | {"postings": _POSTINGS, "postings_delta": _POSTINGS}
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


def insert_rows(
    connection: duckdb.DuckDBPyConnection, table: str, types: str, rows: Sequence[Sequence[Any]], select: str = "*"
) -> None:
    """Append ``rows``, bound as one JSON text; ``types`` are the DuckDB types of their places, with blanks between.

    Binding Python values one by one is fifty times slower, and numpy columns of objects make DuckDB
    try to import pandas for each value.
    """
    if not rows:
        return
    kinds = {f"c{at}": kind for at, kind in enumerate(types.split())}
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True))
    lists = ", ".join(f"unnest(given.{name}) AS {name}" for name in kinds)
    connection.execute(
        f"INSERT INTO {table} SELECT {select} FROM (SELECT {lists} FROM (SELECT from_json(?, ?) AS given))",
        [
            json.dumps(columns, ensure_ascii=False, default=date.isoformat),
            json.dumps({name: [kind] for name, kind in kinds.items()}),
        ],
    )


def insert_postings(connection: duckdb.DuckDBPyConnection, table: str, *columns: Sequence[int]) -> None:
    """Append postings by columns: terms, unit ids and frequencies.

    Many go as numpy columns, which DuckDB reads in place; few as JSON, as registering columns makes
    DuckDB look for pandas and other libraries for some milliseconds.
    """
    if len(columns[0]) < 20_000:
        insert_rows(connection, table, "BIGINT INTEGER SMALLINT", list(zip(*columns, strict=True)))
        return
    names = "term", "unit_id", "tf"
    with incoming(connection, {name: np.array(part, np.int64) for name, part in zip(names, columns, strict=True)}):
        connection.execute(f"INSERT INTO {table} SELECT term, unit_id, tf FROM incoming")


@contextlib.contextmanager
def incoming(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:
    """Register numpy columns of numbers, which DuckDB reads in place, as the table ``incoming`` for the block."""
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
