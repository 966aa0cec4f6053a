"""The state of a workspace in SQLite: on disk before a write returns, shared by all who use the workspace."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ...errors import WorkspaceError, remedy
from .keys import Keys, key_id
from .place import Place, beside, read_only, remove
from .schema import PATIENCE, StateError, check_version, connected, is_busy, tables_of

log = logging.getLogger("openclaw_memory")

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

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]


class Transaction(Protocol):
    """What the state is changed by: statements that SQLite and PostgreSQL both understand, values as ``?``."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Any:
        """Run one statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement once for each row of values."""
        ...


@dataclass(frozen=True, slots=True)
class StateReport:
    """What a state holds and where; ``path`` is ``None`` in memory or on a ``server``, ``key`` is where they are."""

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


class _Side:
    """A connection, and what it was opened of."""

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
    """What outlives the index of one workspace, at a ``place``; without one in memory only.

    Safe to use from several threads and processes.  The file is made by the first write.  What a write has returned
    from survives a power cut; what is deleted is overwritten.
    """

    def __init__(self, place: Place | None) -> None:
        self._place = place
        # Nobody who reads waits for who writes; what is in memory has one connection only.
        self._writer = _Side()
        self._reader = self._writer if place is None else _Side()
        self._keys: dict[str, bytes] = {}
        self._problem: str | None = None

    # -- reading ----------------------------------------------------------------------------------

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query; none where nothing was ever written.  Raises :class:`StateError`."""
        with self._reader.lock:
            connection = self._open(self._reader)
            if connection is None:
                return []
            with self._told():
                return connection.execute(query, values).fetchall()

    def version(self, name: str, connection: Transaction | None = None) -> str:
        """Another text after each change of what goes by ``name``, in whichever process; empty before the first.

        ``connection`` is that of a transaction.  Raises as :meth:`read`.
        """
        query, values = "SELECT token FROM versions WHERE name = ?", [name]
        rows = self.read(query, values) if connection is None else connection.execute(query, values).fetchall()
        return str(rows[0][0]) if rows else ""

    def check(self) -> None:
        """Raise :class:`StateError` when the file is there and cannot be read, or a key is missing.

        For those who must not go on without it.
        """
        try:
            missing = {row[0] for row in self.read("SELECT DISTINCT key FROM tombstones")} - self.keys().keys()
        except StateError as problem:
            self._problem = str(problem)
            raise
        if missing:
            self._problem = (
                f"{self.where_keys()}: the key of what was forgotten is missing, so nothing is read; put it back from "
                "a backup, or give up what was forgotten: openclaw-memory state purge --forgotten"
            )
            raise StateError(self._problem)
        self._problem = None

    def warnings(self) -> list[str]:
        """Why it cannot be read, with the next step."""
        with suppress(WorkspaceError):
            self.check()
        return [] if self._problem is None else [self._problem]

    @property
    def file(self) -> Path | None:
        """The file as things are; it need not be there."""
        return None if self._place is None else self._place.find()

    def flag(self, name: str) -> Any:
        """What :meth:`set_flag` has noted last; ``None`` when nothing.  Raises as :meth:`read`."""
        rows = self.read("SELECT value FROM flags WHERE name = ?", [name])
        return json.loads(rows[0][0]) if rows else None

    # -- writing ----------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *changed: str, patience: float = PATIENCE, lasting: bool = True) -> Iterator[Transaction]:
        """A transaction in which nobody else writes; what goes by the names in ``changed`` gets another version.

        What is not ``lasting`` may be lost when the workspace moves.

        Raises :class:`StateError`, also after ``patience`` seconds of another process' writing; nothing is written.
        """
        with self._writer.lock:
            connection = self._open(self._writer, lasting)
            assert connection is not None
            with self._told(patience):
                connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    renew(connection, changed)
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                    raise

    def set_flag(self, name: str, value: Any, patience: float = PATIENCE, lasting: bool = True) -> None:
        """Note something that JSON can say.  Raises as :meth:`writing`."""
        self.change_flag(name, lambda _: value, patience, lasting)

    def change_flag(
        self, name: str, change: Callable[[Any], Any], patience: float = PATIENCE, lasting: bool = True
    ) -> bool:
        """Note what ``change`` makes of what was noted, unless that is ``None``; whether anything was noted.

        Nobody else notes meanwhile.  Raises as :meth:`writing`.
        """
        with self.writing("flags", patience=patience, lasting=lasting) as connection:
            rows = connection.execute("SELECT value FROM flags WHERE name = ?", [name]).fetchall()
            value = change(json.loads(rows[0][0]) if rows else None)
            if value is not None:
                connection.execute("DELETE FROM flags WHERE name = ?", [name])
                connection.execute("INSERT INTO flags VALUES (?, ?, ?)", [name, json.dumps(value), now()])
        return value is not None

    def wipe(self) -> None:
        """Take what was deleted out of SQLite's log too; what another process reads just now stays until it is done."""
        with self._writer.lock:
            if self._writer.connection is not None:
                with suppress(sqlite3.Error):
                    self._writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- keys -------------------------------------------------------------------------------------

    def keys(self) -> Mapping[str, bytes]:
        """The keys of tombstones by their ids.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        if self._place is None:
            return self._keys
        return self._place.keys.all(self._place.find().stem)

    def key(self) -> bytes:
        """The key for new tombstones: the first that is kept, else 32 new random bytes.  Raises as :meth:`keys`."""
        return next(iter(self.keys().values()), None) or secrets.token_bytes(32)

    def add_key(self, key: bytes) -> None:
        """Keep a key, as is due before tombstones made with it are written.  Raises as :meth:`keys`."""
        if self._place is None:
            self._keys[key_id(key)] = key
        else:
            with self._told():
                file = self._place.claim()
            self._place.keys.add(file.stem, key)

    def where_keys(self) -> str:
        """Where the keys are, for people."""
        return "memory" if self._place is None else self._place.keys.where(self._place.find().stem)

    # -- backups ----------------------------------------------------------------------------------

    def report(self) -> StateReport:
        """What it holds and where.  Never raises for what cannot be read: ``warning`` says so."""
        file = self.file
        size = sum(each.stat().st_size for each in beside(file) if each.exists()) if file is not None else 0
        return self._report(file, file is not None and file.exists(), size)

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
            key=self.where_keys(),
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
        """Write everything to the new file ``target``, the keys beside it if told.  Raises :class:`StateError`."""
        Keys(target.parent).check_new(target.name, with_key)
        rows = all_of(self.read)
        with self._told(file=target):
            try:
                os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                raise StateError(f"{target}: is there already; name a new file") from None
            try:
                with closing(connected(os.fspath(target))) as new:
                    new.execute("BEGIN")
                    put(new, rows)
                    renew(new, CHANGED)
                    new.execute("COMMIT")
                    new.execute("PRAGMA journal_mode = DELETE")  # so that it is one file
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        if with_key:
            for key in self.keys().values():
                Keys(target.parent).add(target.name, key)

    def restore(self, source: Path) -> int:
        """Put what :meth:`backup` wrote in the place of what is here; the keys beside it are added to those here.

        What was forgotten here stays so: returns how many phrases of these the backup does not know.
        Raises :class:`StateError`, before anything is changed, for what is no backup.
        """
        try:
            with closing(read_only(source)) as old:
                if not check_version(old, source) or not TABLES.keys() <= tables_of(old):
                    raise StateError(f"{source}: is no backup of a state; name one that 'backup' wrote")
                rows = all_of(lambda query: old.execute(query).fetchall())
        except sqlite3.Error as error:
            raise StateError(f"{source}: cannot be read ({error}); name one that 'backup' wrote") from error
        for key in Keys(source.parent).all(source.name).values():
            self.add_key(key)
        here: Sequence[Row] = ()
        with suppress(StateError):  # what is restored may be what mends it
            here = all_of(self.read)["tombstones"]
        known = {row[:2] for row in rows["tombstones"]}
        since = [row for row in map(tuple, here) if row[:2] not in known]
        with self.writing(*CHANGED) as connection:
            put(connection, {**rows, "tombstones": [*rows["tombstones"], *since]})
        return len(since)

    def purge(self) -> None:
        """Delete everything, the keys and the identity of the workspace too.  Raises :class:`StateError`."""
        self.close()
        if self._place is not None:
            with self._told():
                file = self._place.find()
                remove(file)
                self._place.keys.remove(file.stem)
                self._place.disown()

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        for side in (self._reader, self._writer):
            with side.lock:
                side.close()

    # -- the file -----------------------------------------------------------------------------------

    def _open(self, side: _Side, lasting: bool = True) -> sqlite3.Connection | None:
        """The connection of a side, whose lock the caller holds; ``None`` where there is no file to read."""
        if self._place is None:
            if side.connection is None:
                side.connection = connected(":memory:")
            return side.connection
        if side.connection is not None:
            owned = side is self._reader or side.lasting or not lasting
            if owned and side.stamp == self._stamp(side.stamp[0]):
                return side.connection
            side.close()
        with self._told():
            file = self._place.find()
            if side is self._writer:
                file = self._place.claim(lasting)
            elif file.exists():
                with suppress(OSError, WorkspaceError):  # it goes by what it is called now
                    file = self._place.claim(lasting=False)
            if not file.exists():
                if side is self._reader:
                    return None
                os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
            try:
                connection = connected(os.fspath(file))
                self._at_home(connection)
            except sqlite3.OperationalError as error:
                if side is self._writer or is_busy(error):
                    raise
                # In a folder that cannot be written it can be read all the same.
                connection = sqlite3.connect(
                    f"{file.as_uri()}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
                )
            side.connection, side.stamp, side.lasting = connection, self._stamp(file), lasting
        return side.connection

    def _stamp(self, file: Path) -> tuple[Any, ...]:
        assert self._place is not None
        try:
            inode: object = os.stat(file).st_ino
        except OSError:
            inode = None
        return file, inode, self._place.stamp()

    def _at_home(self, connection: Transaction) -> None:
        """Note which workspace the state was last used for."""
        root = None if self._place is None else self._place.root
        if root is None:
            return
        row = connection.execute("SELECT value FROM meta WHERE name = 'home'").fetchone()
        if row is None or row[0] != os.fspath(root):
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('home', ?)", [os.fspath(root)])

    @contextmanager
    def _told(self, patience: float = PATIENCE, file: Path | None = None) -> Iterator[None]:
        """Raise :class:`StateError` for what SQLite and the file system raise."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if is_busy(error):
                raise StateError(
                    f"{file or self.file}: another process has been writing it for {patience:g} s; try again when "
                    "that has ended"
                ) from error
            raise StateError(
                f"{file or self.file}: cannot be used ({error}); "
                f"{remedy(error, 'make the file and its folder writable')}"
            ) from error
        except sqlite3.DatabaseError as error:
            raise StateError(
                f"{file or self.file}: is damaged ({error}); put it back from a backup, or move it away to start over: "
                "what was forgotten is not known then"
            ) from error
        except OSError as error:
            raise StateError(
                f"{error.filename or file or self.file}: cannot be used ({error.strerror or error}); "
                f"{remedy(error, 'make the file and its folder writable')}"
            ) from error


def all_of(read: Callable[[str], Sequence[Row]]) -> Rows:
    """The rows of every table, in order; ``read`` answers a query."""
    return {
        table: sorted(map(tuple, read(f"SELECT {', '.join(columns)} FROM {table}")))
        for table, columns in TABLES.items()
    }


def put(connection: Transaction, rows: Rows) -> None:
    """Put ``rows`` in the place of all that is there, within a transaction."""
    for table, columns in TABLES.items():
        connection.execute(f"DELETE FROM {table}")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows[table])


def renew(connection: Transaction, changed: Iterable[str]) -> None:
    """Give what goes by the names in ``changed`` another version."""
    for name in changed:
        connection.execute("DELETE FROM versions WHERE name = ?", [name])
        connection.execute("INSERT INTO versions VALUES (?, ?)", [name, secrets.token_hex(8)])


def now() -> str:
    """The time, as the state notes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
