"""Vectors of texts that this user's memories have embedded before.

An index that is made anew, a workspace that has moved and a second agent on the same notes do not compute them again.
The cache holds no text: a vector goes by a digest of its model and its text.  It tells as much of a text as the
vectors of an index do, though, and of earlier wordings too, so all of it goes when anything is forgotten.  What cannot
be read or written costs time and nothing else.
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

log = logging.getLogger("openclaw_memory")

NAME = "vectors.sqlite"
#: Of the file's make; 10 rows of 384 numbers fit into a page.
_VERSION, _PAGE = 1, 16_384
_SCHEMA = (
    "CREATE TABLE made (token TEXT NOT NULL)",
    "CREATE TABLE vectors (digest BLOB PRIMARY KEY, used INTEGER NOT NULL, vector BLOB NOT NULL)",
    "CREATE INDEX vectors_used ON vectors (used)",
)
#: Seconds to wait for another process that writes.
_PATIENCE = 2.0
#: Digests asked for at once; SQLite allows 999 values in a statement everywhere.
_ASKED = 500
#: Share of a full cache that is kept.
_KEPT = 0.8
#: Tries to delete the file while another process has it open, where that is not allowed, and seconds between them.
_TRIES, _PAUSE = 20, 0.05
_DAY = 86_400

T = TypeVar("T")


class VectorCache:
    """The cache in ``folder``, of at most about ``most_mb``; safe in several processes and threads.

    ``readers`` is the version of what takes secrets out of texts: another one makes the cache anew.
    No method raises for what cannot be read or written; a damaged file is deleted.
    """

    def __init__(self, folder: Path, most_mb: float, readers: int = 0) -> None:
        self._file = folder / NAME
        self._most = most_mb * 1e6
        self._version = 1000 * _VERSION + readers

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self._file

    def token(self) -> str:
        """Another text after :meth:`clear`; to be had before the texts are, and given to :meth:`put`."""
        return self._ask(_token, "")

    def known(self, embedder: Embedder, texts: Sequence[str]) -> dict[int, Vectors]:
        """The vectors ``float32[d]`` of those of ``texts`` that are there, by their place."""
        digests = _digests(embedder, texts)
        today = int(time.time() // _DAY)

        def look(connection: sqlite3.Connection) -> dict[bytes, bytes]:
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
            return found

        nothing: dict[bytes, bytes] = {}
        rows = {
            digest: row
            for digest, blob in self._ask(look, nothing).items()
            if (row := _row(digest, blob, embedder.dimensions)) is not None
        }
        return {at: rows[digest] for at, digest in enumerate(digests) if digest in rows}

    def put(self, token: str, embedder: Embedder, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors ``float32[n, d]`` of ``texts``, unless the cache was cleared since ``token``.

        Of a full cache those go that were not used for longest.
        """
        today = int(time.time() // _DAY)
        blobs = [row.tobytes() for row in vectors.astype("<f4")]
        rows = [
            (digest, today, _sum(digest, blob) + blob)
            for digest, blob in zip(_digests(embedder, texts), blobs, strict=True)
        ]

        def add(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            if _token(connection) != token:
                return
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            page, pages, free = (
                connection.execute(f"PRAGMA {what}").fetchone()[0]
                for what in ("page_size", "page_count", "freelist_count")
            )
            held = page * (pages - free)
            if held > self._most:
                (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
                oldest = "SELECT digest FROM vectors ORDER BY used, rowid LIMIT ?"
                too_many = int(count * (1 - _KEPT * self._most / held)) + 1
                connection.execute(f"DELETE FROM vectors WHERE digest IN ({oldest})", [too_many])

        self._ask(add, None)

    def clear(self) -> bool:
        """Let go of everything, with what a writer that was killed has left beside it; whether nothing is there now."""
        beside = [self._file.with_name(f"{NAME}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
        for _ in range(_TRIES):
            try:
                for file in (self._file, *beside):
                    file.unlink(missing_ok=True)
                return True
            except OSError as problem:
                log.debug("%s: %s", self._file, problem)
                time.sleep(_PAUSE)

        def empty(connection: sqlite3.Connection) -> bool:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("DELETE FROM vectors")
            connection.execute("UPDATE made SET token = ?", [secrets.token_hex(8)])
            return True

        return self._ask(empty, False)

    def use(self) -> VectorCacheUse:
        """How much it holds; a cache that is not there is not made."""
        try:
            size = self._file.stat().st_size
        except OSError:
            return VectorCacheUse()
        count = self._ask(lambda connection: connection.execute("SELECT count(*) FROM vectors").fetchone()[0], 0)
        return VectorCacheUse(count, size)

    def _ask(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            with closing(self._connected()) as connection:
                out = work(connection)
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

    def _connected(self) -> sqlite3.Connection:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._file, timeout=_PATIENCE)
        # What a loss of power leaves half written is found by its checksum.
        connection.execute("PRAGMA synchronous = OFF")
        if _made(connection) != self._version:
            connection.execute(f"PRAGMA page_size = {_PAGE}")
            connection.execute("BEGIN IMMEDIATE")
            if _made(connection) != self._version:
                connection.execute("PRAGMA secure_delete = ON")
                for name in ("made", "vectors"):
                    connection.execute(f"DROP TABLE IF EXISTS {name}")
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO made VALUES (?)", [secrets.token_hex(8)])
                connection.execute(f"PRAGMA user_version = {self._version}")
            connection.commit()
        return connection


def _made(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _token(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT token FROM made").fetchone()[0])


def _digests(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    model = f"{embedder.model}\0{embedder.dimensions}\0{embedder.context}\0"
    return [blake2b((model + text).encode("utf-8", "surrogatepass"), digest_size=20).digest() for text in texts]


def _sum(digest: bytes, data: bytes) -> bytes:
    return zlib.crc32(data, zlib.crc32(digest)).to_bytes(4, "little")


def _row(digest: bytes, blob: bytes, dimensions: int) -> Vectors | None:
    """The vector in a blob; ``None`` where that is no whole one."""
    data = blob[4:]
    if len(data) != 4 * dimensions or blob[:4] != _sum(digest, data):
        return None
    return np.frombuffer(data, "<f4").astype(np.float32)
