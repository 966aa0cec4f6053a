"""The state of a workspace in SQLite: on disk before a write returns, shared by all agents of the workspace."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ...errors import WorkspaceError, next_step_for
from ...records import dataclass
from ...system.deadline import Deadline
from .location import Keys, StateLocation, read_only, remove, sqlite_files

log = logging.getLogger("openclaw_memory")

#: Version of the tables below, and of the words that tombstones hash (forget/words.py).
VERSION = 2
#: Columns by table; ``KEY`` is the primary key.  PostgreSQL has the same tables.
COLUMNS = {
    "meta": "name TEXT, value TEXT NOT NULL, KEY (name)",
    "versions": "name TEXT, token TEXT NOT NULL, KEY (name)",
    "tombstones": "hash TEXT, key TEXT, at TEXT NOT NULL, KEY (hash, key)",
    "forgetting": "id TEXT, todo TEXT NOT NULL, at TEXT NOT NULL, KEY (id)",
    "use": """unit TEXT, path TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, shown INTEGER NOT NULL,
        used INTEGER NOT NULL, useful INTEGER NOT NULL, irrelevant INTEGER NOT NULL, KEY (unit)""",
    "retired": """path TEXT, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL,
        origin TEXT NOT NULL, KEY (path)""",
    "flags": "name TEXT, value TEXT NOT NULL, at TEXT NOT NULL, KEY (name)",
}
#: Names of the columns of the tables that a backup holds.
TABLES = {
    table: tuple(column.split()[0] for column in columns.partition(", KEY")[0].split(","))
    for table, columns in COLUMNS.items()
    if table not in ("meta", "versions")
}
#: Seconds to wait for another process that writes.
LOCK_TIMEOUT = 30.0
#: Names that get another version when all rows are replaced.
CHANGED = ("forgotten", "use", "retired", "flags")

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]


class StateError(WorkspaceError):
    """The state cannot be read, written or understood."""


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Return true if another connection has locked the file."""
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def connect(name: str) -> sqlite3.Connection:
    """Connect to the file ``name``, and make the tables of a new one.  Raises SQLite's errors.

    When several connections open a new file at once, SQLite lets one change its journal mode, and refuses the others
    before their timeout.
    """
    until = Deadline.after(LOCK_TIMEOUT)
    while True:
        try:
            return _connect(name)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or until.passed:
                raise
            time.sleep(0.01)


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if not check_version(connection, Path(name)):
            connection.execute("BEGIN IMMEDIATE")
            if not check_version(connection, Path(name)):  # another process was faster
                for table, columns in COLUMNS.items():
                    connection.execute(f"CREATE TABLE {table} ({columns.replace('KEY', 'PRIMARY KEY')}) WITHOUT ROWID")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def check_version(connection: sqlite3.Connection, file: Path) -> int:
    """Return the version of the tables, 0 for none.  Raises :class:`StateError` for an unknown one."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (0, VERSION):
        raise StateError(
            f"{file}: a state of version {version}, and this openclaw-memory knows {VERSION}; use the one that wrote "
            "it, or move the file away to start over: what was forgotten is not known then"
        )
    return version


class Transaction(Protocol):
    """A connection in a transaction; SQLite and PostgreSQL take the same statements, with ``?`` for values."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Any:
        """Run one statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement once for each row of values."""
        ...


@dataclass(frozen=True, slots=True)
class StateReport:
    """Counts and places of a state; ``path`` is ``None`` on a ``server``, ``key`` is the keys' file."""

    path: Path | None
    exists: bool
    bytes: int
    key: str
    key_present: bool
    tombstones: int
    units: int
    verdicts: int
    retired: int
    automatic: bool
    warning: str | None
    server: str | None = None


class _StampedConnection:
    """A connection for reading or writing, and the stamp of its file."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: sqlite3.Connection | None = None
        self.stamp: tuple[Any, ...] = ()
        self.lasting = False

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection, self.stamp = None, ()


class State:
    """The records of one workspace that outlive its index, at a ``location``.

    Several threads and processes may use it.  The first write makes the file.  A finished write survives a power cut;
    deleted content is overwritten.
    """

    def __init__(self, location: StateLocation) -> None:
        self._location = location
        self._writer, self._reader = _StampedConnection(), _StampedConnection()  # readers do not wait for a writer
        self._problem: str | None = None

    # -- reading ----------------------------------------------------------------------------------

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query; none if nothing was ever written.  Raises :class:`StateError`."""
        with self._reader.lock:
            connection = self._open(self._reader)
            if connection is None:
                return []
            with self._translating():
                return connection.execute(query, values).fetchall()

    def version(self, name: str, connection: Transaction | None = None) -> str:
        """Return a token that differs after each change under ``name`` in any process; empty before the first.

        ``connection`` is that of a transaction.  Raises as :meth:`read`.
        """
        query, values = "SELECT token FROM versions WHERE name = ?", [name]
        rows = self.read(query, values) if connection is None else connection.execute(query, values).fetchall()
        return str(rows[0][0]) if rows else ""

    def check(self) -> None:
        """Raise :class:`StateError` if the file exists and cannot be read, or a key is missing."""
        try:
            missing = {row[0] for row in self.read("SELECT DISTINCT key FROM tombstones")} - self.keys().keys()
        except StateError as problem:
            self._problem = str(problem)
            raise
        if missing:
            self._problem = (
                f"{self.keys_place()}: the key of what was forgotten is missing, so nothing is read; put it back from "
                "a backup, or give up what was forgotten: openclaw-memory state purge --forgotten"
            )
            raise StateError(self._problem)
        self._problem = None

    def warnings(self) -> list[str]:
        """Return the reason why it cannot be read, with the next step."""
        with suppress(WorkspaceError):
            self.check()
        return [] if self._problem is None else [self._problem]

    @property
    def file(self) -> Path | None:
        """The path of the file, which may not exist yet."""
        return self._location.find()

    def flag(self, name: str) -> Any:
        """Return the last value of :meth:`set_flag`; ``None`` for none.  Raises as :meth:`read`."""
        rows = self.read("SELECT value FROM flags WHERE name = ?", [name])
        return json.loads(rows[0][0]) if rows else None

    # -- writing ----------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *changed: str, timeout: float = LOCK_TIMEOUT, lasting: bool = True) -> Iterator[Transaction]:
        """Yield a transaction in which nobody else writes; the names in ``changed`` get another version.

        Rows that are not ``lasting`` may be lost when the workspace moves.

        Raises :class:`StateError`, also after ``timeout`` seconds of waiting for others; nothing is written then.
        """
        with self._writer.lock:
            connection = self._open(self._writer, lasting)
            assert connection is not None
            with self._translating(timeout):
                connection.execute(f"PRAGMA busy_timeout = {int(timeout * 1000)}")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    renew_versions(connection, changed)
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                    raise

    def set_flag(self, name: str, value: Any, timeout: float = LOCK_TIMEOUT, lasting: bool = True) -> None:
        """Store a JSON value under a name.  Raises as :meth:`writing`."""
        self.change_flag(name, lambda _: value, timeout, lasting)

    def change_flag(
        self, name: str, change: Callable[[Any], Any], timeout: float = LOCK_TIMEOUT, lasting: bool = True
    ) -> bool:
        """Store the result of ``change`` on the stored value, unless it is ``None``; returns true if it was stored.

        Nobody else writes meanwhile.  Raises as :meth:`writing`.
        """
        with self.writing("flags", timeout=timeout, lasting=lasting) as connection:
            rows = connection.execute("SELECT value FROM flags WHERE name = ?", [name]).fetchall()
            value = change(json.loads(rows[0][0]) if rows else None)
            if value is not None:
                connection.execute("DELETE FROM flags WHERE name = ?", [name])
                connection.execute("INSERT INTO flags VALUES (?, ?, ?)", [name, json.dumps(value), now()])
        return value is not None

    def wipe(self) -> None:
        """Remove deleted content from SQLite's log too, except rows that another process is reading."""
        with self._writer.lock:
            if self._writer.connection is not None:
                with suppress(sqlite3.Error):
                    self._writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- keys -------------------------------------------------------------------------------------

    def keys(self) -> Mapping[str, bytes]:
        """Return the keys of tombstones by their ids.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        return self._location.keys.all(self._location.find().stem)

    def key(self) -> bytes:
        """Return the key for new tombstones: the first stored one or 32 new random bytes.  Raises as :meth:`keys`."""
        return next(iter(self.keys().values()), None) or os.urandom(32)

    def add_key(self, key: bytes) -> None:
        """Store a key, which must happen before tombstones made with it are written.  Raises as :meth:`keys`."""
        with self._translating():
            file = self._location.file_for_writing()
        self._location.keys.add(file.stem, key)

    def keys_place(self) -> str:
        """Return the place of the keys, for people."""
        return self._location.keys.location(self._location.find().stem)

    # -- backups ----------------------------------------------------------------------------------

    def report(self) -> StateReport:
        """Describe the state.  An unreadable one raises nothing: it is in ``warning``."""
        file = self._location.find()
        size = sum(each.stat().st_size for each in sqlite_files(file) if each.exists())
        return self._report(file, file.exists(), size)

    def _report(self, file: Path | None, exists: bool, size: int, server: str | None = None) -> StateReport:
        warnings = self.warnings()

        def count(query: str) -> int:
            with suppress(StateError):
                return int((self.read(query) or [(0,)])[0][0] or 0)
            return 0

        key_present = automatic = False
        with suppress(WorkspaceError):
            key_present = bool(self.keys())
            automatic = self.flag("automatic") is True
        return StateReport(
            path=file,
            exists=exists,
            bytes=size,
            key=self.keys_place(),
            key_present=key_present,
            tombstones=count("SELECT count(*) FROM tombstones"),
            units=count("SELECT count(*) FROM use"),
            verdicts=count("SELECT sum(useful + irrelevant) FROM use"),
            retired=count("SELECT count(*) FROM retired"),
            automatic=automatic,
            warning="; ".join(warnings) or None,
            server=server,
        )

    def backup(self, target: Path, with_key: bool = False) -> None:
        """Write everything to the file ``target``, and the keys beside it if asked.  Raises :class:`StateError`."""
        rows = read_tables(self.read)
        with self._translating(file=target):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
            with closing(connect(os.fspath(target))) as new:
                new.execute("BEGIN")
                put(new, rows)
                renew_versions(new, CHANGED)
                new.execute("COMMIT")
                new.execute("PRAGMA journal_mode = DELETE")  # so that it is one file
        if with_key:
            for key in self.keys().values():
                Keys(target.parent).add(target.name, key)

    def restore(self, source: Path) -> int:
        """Replace everything by a file of :meth:`backup`; the keys beside it are added to the present ones.

        Present tombstones stay: returns how many of them the backup lacks.
        Raises :class:`StateError`, before anything is changed, for another kind of file.
        """
        try:
            with closing(read_only(source)) as old:
                tables = {row[0] for row in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if not check_version(old, source) or not TABLES.keys() <= tables:
                    raise StateError(f"{source}: is no backup of a state; name one that 'backup' wrote")
                rows = read_tables(lambda query: old.execute(query).fetchall())
        except sqlite3.Error as error:
            raise StateError(f"{source}: cannot be read ({error}); name one that 'backup' wrote") from error
        for key in Keys(source.parent).all(source.name).values():
            self.add_key(key)
        present: Sequence[Row] = ()
        with suppress(StateError):  # a damaged state is mended by the restored one
            present = read_tables(self.read)["tombstones"]
        stored = {row[:2] for row in rows["tombstones"]}
        newer = [row for row in map(tuple, present) if row[:2] not in stored]
        with self.writing(*CHANGED) as connection:
            put(connection, {**rows, "tombstones": [*rows["tombstones"], *newer]})
        return len(newer)

    def purge(self) -> None:
        """Delete everything, the keys and the identity of the workspace too.  Raises :class:`StateError`."""
        self.close()
        with self._translating():
            file = self._location.find()
            remove(file)
            self._location.keys.remove(file.stem)
            self._location.remove_identity()

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        for side in (self._reader, self._writer):
            with side.lock:
                side.close()

    # -- the file -----------------------------------------------------------------------------------

    def _open(self, side: _StampedConnection, lasting: bool = True) -> sqlite3.Connection | None:
        """Return the connection of a side, whose lock the caller holds; ``None`` without a file to read."""
        if side.connection is not None:
            owned = side is self._reader or side.lasting or not lasting
            if owned and side.stamp == self._stamp(side.stamp[0]):
                return side.connection
            side.close()
        with self._translating():
            file = self._location.find()
            if side is self._writer:
                file = self._location.file_for_writing(lasting)
            elif file.exists():
                with suppress(OSError, WorkspaceError):  # under its present name
                    file = self._location.file_for_writing(lasting=False)
            if not file.exists():
                if side is self._reader:
                    return None
                os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
            try:
                connection = connect(os.fspath(file))
                self._store_workspace(connection)
            except sqlite3.OperationalError as error:
                if side is self._writer or is_busy(error):
                    raise
                # A file in a read-only folder can be read nevertheless.
                connection = sqlite3.connect(
                    f"{file.as_uri()}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
                )
            side.connection, side.stamp, side.lasting = connection, self._stamp(file), lasting
        return side.connection

    def _stamp(self, file: Path) -> tuple[Any, ...]:
        try:
            inode: object = os.stat(file).st_ino
        except OSError:
            inode = None
        return file, inode, self._location.stamp()

    def _store_workspace(self, connection: Transaction) -> None:
        """Store the workspace that used the state last."""
        root = self._location.root
        if root is None:
            return
        row = connection.execute("SELECT value FROM meta WHERE name = 'home'").fetchone()
        if row is None or row[0] != os.fspath(root):
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('home', ?)", [os.fspath(root)])

    @contextmanager
    def _translating(self, timeout: float = LOCK_TIMEOUT, file: Path | None = None) -> Iterator[None]:
        """Raise :class:`StateError` for errors of SQLite and the file system."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            if isinstance(error, sqlite3.OperationalError) and is_busy(error):
                raise StateError(
                    f"{file or self.file}: another process has been writing it for {timeout:g} s; try again when "
                    "that has ended"
                ) from error
            raise StateError(
                f"{getattr(error, 'filename', None) or file or self.file}: cannot be used "
                f"({getattr(error, 'strerror', None) or error}); "
                f"{next_step_for(error, 'make the file and its folder writable')}"
            ) from error
        except sqlite3.DatabaseError as error:
            raise StateError(
                f"{file or self.file}: is damaged ({error}); put it back from a backup, or move it away to start over: "
                "what was forgotten is not known then"
            ) from error


def read_tables(read: Callable[[str], Sequence[Row]]) -> Rows:
    """Return the sorted rows of every table; ``read`` runs a query."""
    return {
        table: sorted(map(tuple, read(f"SELECT {', '.join(columns)} FROM {table}")))
        for table, columns in TABLES.items()
    }


def put(connection: Transaction, rows: Rows) -> None:
    """Replace all rows by ``rows``, within a transaction."""
    for table, columns in TABLES.items():
        connection.execute(f"DELETE FROM {table}")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows[table])


def renew_versions(connection: Transaction, changed: Iterable[str]) -> None:
    """Give the names in ``changed`` another version."""
    for name in changed:
        connection.execute("DELETE FROM versions WHERE name = ?", [name])
        connection.execute("INSERT INTO versions VALUES (?, ?)", [name, os.urandom(8).hex()])


def now() -> str:
    """Return the time in the state's format."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
