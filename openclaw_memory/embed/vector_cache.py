"""Vectors of texts that this user's memories have embedded before.

An index that is made anew, a workspace that has moved and a second agent on the same notes do not compute them again.
The cache holds no text: a vector goes by a digest of what makes it and its text, keyed by a random number in a file
beside it, so that texts cannot be guessed from a copy of the cache alone.  With its key it tells as much of a text as
the vectors of an index do, and of earlier wordings too, so all of it goes when anything is forgotten, and the key too.
What cannot be read or written costs time and nothing else.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..model import VectorCacheUse
from ..model.embedder import Embedder, Vectors
from ..store.state.keys import key_id
from ..system import atomic

log = logging.getLogger("openclaw_memory")

NAME, KEY = "vectors.sqlite", "vectors.key"
#: Bytes of a key.
_SECRET = 32
#: Of the file's make; 10 rows of 384 numbers fit into a page.
_VERSION, _PAGE = 2, 16_384
_SCHEMA = (
    "CREATE TABLE made (key TEXT NOT NULL)",
    "CREATE TABLE vectors (digest BLOB PRIMARY KEY, used INTEGER NOT NULL, vector BLOB NOT NULL)",
    "CREATE INDEX vectors_used ON vectors (used)",
)
#: Seconds to wait for another process that writes.
_PATIENCE = 2.0
#: Digests asked for at once; SQLite allows 999 values in a statement everywhere.
_ASKED = 500
#: Share of a full cache that is kept, and what goes in one step: rows and pages, in a few hundredths of a second.
_KEPT, _ROWS, _PAGES = 0.8, 4096, 1000
#: Steps of one write: so many let go of 50 MB.
_STEPS = 8
#: Tries to delete the file while another process has it open, where that is not allowed, and seconds between them.
_TRIES, _PAUSE = 20, 0.05
_DAY = 86_400

T = TypeVar("T")


class VectorCache:
    """The cache in ``folder``, of at most about ``most_mb``; safe in several processes and threads.

    ``readers`` is the version of what takes secrets out of texts: another one makes the cache anew, as does a key that
    is lost.  ``recipe`` says what else than a text makes its vector; where it raises ``OSError`` nothing is there.
    No method raises for what cannot be read or written; a damaged file is deleted.
    """

    def __init__(self, folder: Path, most_mb: float, readers: int = 0, recipe: Callable[[], str] = str) -> None:
        self._file, self._secret = folder / NAME, folder / KEY
        self._most = most_mb * 1e6
        self._recipe = recipe
        self._version = 1000 * _VERSION + readers

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self._file

    def token(self) -> str:
        """Another text after :meth:`clear`; to be had before the texts are, and given to :meth:`put`."""
        return self._ask(lambda _, key: key_id(key), "")

    def known(self, embedder: Embedder, texts: Sequence[str], numbers: int | None = None) -> dict[int, Vectors]:
        """The vectors ``float32[d]`` of those of ``texts`` that are there, by their place.

        ``numbers`` is *d* where that is another one than the dimensions of ``embedder``.
        """
        today = int(time.time() // _DAY)

        def look(connection: sqlite3.Connection, key: bytes) -> tuple[list[bytes], dict[bytes, bytes]]:
            digests = self._digests(key, embedder, texts)
            found: dict[bytes, bytes] = {}
            stale: list[tuple[int, bytes]] = []
            distinct = list(dict.fromkeys(digests))
            for first in range(0, len(distinct), _ASKED):
                some = distinct[first : first + _ASKED]
                asked = f"SELECT digest, vector, used FROM vectors WHERE digest IN ({','.join('?' * len(some))})"
                for digest, vector, used in connection.execute(asked, some):
                    found[digest] = vector
                    stale += [(today, digest)] if used < today else []
            if stale:  # once a day: who only reads waits for no writer
                connection.executemany("UPDATE vectors SET used = ? WHERE digest = ?", stale)
            return digests, found

        nothing: tuple[list[bytes], dict[bytes, bytes]] = ([], {})
        digests, found = self._ask(look, nothing)
        rows = {
            digest: row
            for digest, blob in found.items()
            if (row := _row(digest, blob, numbers or embedder.dimensions)) is not None
        }
        return {at: rows[digest] for at, digest in enumerate(digests) if digest in rows}

    def put(self, token: str, embedder: Embedder, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors ``float32[n, d]`` of ``texts``, unless the cache was cleared since ``token``.

        Of a full cache those go that were not used for longest, and the file becomes shorter: in small steps, between
        which others have their turn.
        """
        today = int(time.time() // _DAY)
        blobs = [row.tobytes() for row in vectors.astype("<f4")]

        def add(connection: sqlite3.Connection, key: bytes) -> None:
            rows = [
                (digest, today, _sum(digest, blob) + blob)
                for digest, blob in zip(self._digests(key, embedder, texts), blobs, strict=True)
            ]
            connection.execute("BEGIN IMMEDIATE")
            if not token == key_id(key) == _owner(connection):
                return
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            connection.commit()
            for _ in range(_STEPS):
                if not _shorten(connection, self._most):
                    break

        self._ask(add, None)

    def clear(self) -> bool:
        """Let go of everything, with the key and what a killed writer has left beside; whether nothing is there now."""
        beside = [self._file.with_name(f"{NAME}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
        for _ in range(_TRIES):
            try:
                for file in (self._secret, self._file, *beside):  # without its key the rest tells nothing
                    file.unlink(missing_ok=True)
                return True
            except OSError as problem:
                log.debug("%s: %s", self._file, problem)
                time.sleep(_PAUSE)

        def empty(connection: sqlite3.Connection, _: bytes) -> bool:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            self._make(connection)
            return True

        return self._ask(empty, False)

    def use(self) -> VectorCacheUse:
        """How much it holds; a cache that is not there is not made."""
        try:
            size = self._file.stat().st_size
        except OSError:
            return VectorCacheUse()
        count = self._ask(lambda connection, _: connection.execute("SELECT count(*) FROM vectors").fetchone()[0], 0)
        return VectorCacheUse(count, size)

    def _ask(self, work: Callable[[sqlite3.Connection, bytes], T], otherwise: T) -> T:
        """What ``work`` makes of the file and its key, or ``otherwise``."""
        try:
            with closing(self._connected()) as connection:
                out = work(connection, self._owned(connection))
                connection.commit()
                return out
        except sqlite3.OperationalError as problem:
            log.debug("%s: %s", self._file, problem)
        except sqlite3.DatabaseError as problem:
            log.debug("%s is damaged and goes: %s", self._file, problem)
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
        except OSError as problem:
            log.debug("%s: %s", self._file, problem)
        return otherwise

    def _digests(self, key: bytes, embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
        made_by = repr((self._recipe(), embedder.model, embedder.dimensions)) + "\0"
        said = ((made_by + text).encode("utf-8", "surrogatepass") for text in texts)
        return [blake2b(each, digest_size=20, key=key).digest() for each in said]

    def _connected(self) -> sqlite3.Connection:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._file, timeout=_PATIENCE)
        # What a loss of power leaves half written is found by its checksum.
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def _owned(self, connection: sqlite3.Connection) -> bytes:
        """The key of the file, which is made anew where it is of another make or the key is lost."""
        if (key := self._key(connection)) is not None:
            return key
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        if (key := self._key(connection)) is None:  # still: no other process has made it meanwhile
            key = self._make(connection)
        connection.commit()
        if not connection.execute("PRAGMA auto_vacuum").fetchone()[0]:  # of another make: now it can become shorter
            connection.execute("VACUUM")
        return key

    def _make(self, connection: sqlite3.Connection) -> bytes:
        """Begin with nothing and a new key, which is returned; the file is ours alone meanwhile."""
        for name in ("made", "vectors"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in _SCHEMA:
            connection.execute(statement)
        key = secrets.token_bytes(_SECRET)
        with suppress(OSError):  # it may be readable by others, which would stay so
            self._secret.unlink(missing_ok=True)
        atomic.swap(self._secret, key, 0o600)
        connection.execute("INSERT INTO made VALUES (?)", [key_id(key)])
        connection.execute(f"PRAGMA user_version = {self._version}")
        return key

    def _key(self, connection: sqlite3.Connection) -> bytes | None:
        """The key; ``None`` where the file is of another make or none of this key's."""
        if connection.execute("PRAGMA user_version").fetchone()[0] != self._version:
            return None
        try:
            key = self._secret.read_bytes()
        except OSError:
            return None
        return key if key_id(key) == _owner(connection) else None


def _shorten(connection: sqlite3.Connection, most: float) -> bool:
    """Take a step towards a file of at most ``most`` bytes; whether it was longer."""
    page, pages, free = (
        connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_size", "page_count", "freelist_count")
    )
    if page * pages <= most:
        return False
    held = page * (pages - free)
    if held > most:
        (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        too_many = min(_ROWS, int(count * (1 - _KEPT * most / held)) + 1)
        oldest = "SELECT rowid FROM vectors ORDER BY used, rowid LIMIT ?"
        connection.execute(f"DELETE FROM vectors WHERE rowid IN ({oldest})", [too_many])
        connection.commit()
    # Not by execute(), which takes one step of a statement that gives no rows, and with it one page.
    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
    return True


def _owner(connection: sqlite3.Connection) -> str:
    """The id of the key by which the rows go."""
    return str(connection.execute("SELECT key FROM made").fetchone()[0])


def _sum(digest: bytes, data: bytes) -> bytes:
    return zlib.crc32(data, zlib.crc32(digest)).to_bytes(4, "little")


def _row(digest: bytes, blob: bytes, dimensions: int) -> Vectors | None:
    """The vector in a blob; ``None`` where that is no whole one."""
    data = blob[4:]
    if len(data) != 4 * dimensions or blob[:4] != _sum(digest, data):
        return None
    return np.frombuffer(data, "<f4").astype(np.float32)
