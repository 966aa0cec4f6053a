"""The file of a state: its tables, and a connection to it however many open it at once."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from ...errors import WorkspaceError
from ...system.deadline import Deadline

#: Grows with the tables below, and with what a word is (forget/words.py): what was forgotten is hashed.
VERSION = 2
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE versions (name TEXT PRIMARY KEY, token TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tombstones (
    hash TEXT, key TEXT, at TEXT NOT NULL, PRIMARY KEY (hash, key)) WITHOUT ROWID;
CREATE TABLE forgetting (id TEXT PRIMARY KEY, todo TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE use (
    unit TEXT PRIMARY KEY, path TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, shown INTEGER NOT NULL,
    used INTEGER NOT NULL, useful INTEGER NOT NULL, irrelevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE retired (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL,
    origin TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE flags (name TEXT PRIMARY KEY, value TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID;
"""
#: Seconds to wait for another process that writes.
PATIENCE = 30.0


class StateError(WorkspaceError):
    """The state cannot be read, written or understood."""


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether others have the file just now."""
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def connected(name: str) -> sqlite3.Connection:
    """A connection to the file ``name``, whose tables are made if it is new.  Raises as SQLite does.

    Of several that open a new file at once SQLite lets one change its mode of writing, and refuses the others without
    waiting as long as it was told to.
    """
    until = Deadline.after(PATIENCE)
    while True:
        try:
            return _connected(name)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or until.passed:
                raise
            time.sleep(0.01)


def _connected(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if not check_version(connection, Path(name)):
            connection.execute("BEGIN IMMEDIATE")
            if not check_version(connection, Path(name)):  # another process was faster
                for statement in filter(str.strip, _TABLES.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """The names of the tables of a file."""
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def check_version(connection: sqlite3.Connection, file: Path) -> int:
    """The version of the tables, 0 where there are none.  Raises :class:`StateError` for another than this one's."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (0, VERSION):
        raise StateError(
            f"{file}: a state of version {version}, and this openclaw-memory knows {VERSION}; use the one that wrote "
            "it, or move the file away to start over: what was forgotten is not known then"
        )
    return version
