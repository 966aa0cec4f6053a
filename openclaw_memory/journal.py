"""The journal beside the database: what people and agents did that outlives it, one JSON record a line."""

from __future__ import annotations

import glob
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from . import workfiles
from .errors import OpenClawMemoryError, WorkspaceError

log = logging.getLogger("openclaw_memory")

#: The kind of the record that holds the key of keyed hashes.
KEY = "key"
_KEY_BYTES = 32
_MODE = 0o600

Record = dict[str, Any]


class JournalError(OpenClawMemoryError):
    """The journal cannot be read."""


class Journal:
    """Records of one memory, kept in ``file`` by any number of threads and processes; without a file in memory only.

    A record is a mapping with a ``kind`` and the time at which it was made (``at``, ISO 8601).  What :meth:`append` has
    returned from survives a power cut.  A last line that was never written to its end does not count, nor does a
    damaged one before it, which :meth:`warnings` names; reading never raises.  Kinds that nobody knows are kept.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._content = _Content()
        self._stamp: tuple[int, int, int] | None = None
        self._problem: str | None = None
        self._told: set[bytes] = set()
        self._lock = threading.RLock()

    # -- reading ----------------------------------------------------------------------------------

    def records(self, kind: str | None = None) -> list[Record]:
        """The records of a ``kind``, or all but the key, in the order in which they were written; not to be changed."""
        with self._lock:
            content = self._current()
            return list(content.records if kind is None else content.kinds.get(kind, ()))

    @property
    def version(self) -> str:
        """Another text whenever the records are others, the same for the same ones wherever they lie."""
        with self._lock:
            return self._current().whole.hexdigest()

    def version_of(self, *kinds: str) -> str:
        """As :attr:`version`, of the records of some kinds only."""
        with self._lock:
            content = self._current()
            return "-".join(content.hashes[kind].hexdigest() if kind in content.hashes else "" for kind in kinds)

    @property
    def size(self) -> int:
        """Bytes of the journal."""
        with self._lock:
            return self._current().offset

    def warnings(self) -> list[str]:
        """What of the file does not count, and why, with the next step."""
        with self._lock:
            content = self._current()
            said = [] if self._problem is None else [self._problem]
            return said + [_damaged(self._file, number) for number, _ in content.damaged]

    def check(self) -> None:
        """Raise :class:`JournalError` when the file is there and cannot be read.

        For those who must not go on without its records, as reading goes on with what was read before.
        """
        with self._lock:
            self._current()
            if self._problem is not None:
                raise JournalError(self._problem)

    def key(self) -> bytes:
        """The 32 random bytes of this journal for keyed hashes, made at the first call.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when they cannot be written.
        """
        with self._lock:
            key = self._current().key
        if key is None:
            self._write(list, key=True)
            with self._lock:
                key = self._current().key
        if key is None:
            raise JournalError(f"{self._file}: the key that was just written cannot be read; check the disk")
        return key

    # -- writing ----------------------------------------------------------------------------------

    def append(self, records: Sequence[Mapping[str, Any]], patience: float = workfiles.LOCK_TIMEOUT) -> None:
        """Add ``records``, each with its ``kind``; ``at`` is the time now unless given.

        They are on disk when this returns, and none is there when it raises: a
        :class:`~openclaw_memory.errors.WorkspaceError` when the file cannot be written, or when another process has
        been writing it for ``patience`` seconds.  A power cut on the way may leave the first of them.
        """
        lines = [_line(record) for record in records]
        if lines:
            self._write(lambda: lines, patience)

    def extend(self, make: Callable[[], Iterable[Mapping[str, Any]]], patience: float = workfiles.LOCK_TIMEOUT) -> None:
        """Add what ``make`` returns, as :meth:`append` does; nobody else writes between its call and that.

        ``make`` may read the journal and must not write to it.
        """
        self._write(lambda: [_line(record) for record in make()], patience)

    def rewrite(self, keep: Callable[[Record], Mapping[str, Any] | None]) -> int:
        """Put what ``keep`` makes of each record in its place, in one step; how many it dropped with ``None``.

        The key stays.  Raises as :meth:`append` does, and :class:`JournalError` when the file cannot be read.
        """
        return self.remake(lambda records: [kept for record in records if (kept := keep(record)) is not None])

    def remake(self, make: Callable[[list[Record]], Iterable[Mapping[str, Any]]]) -> int:
        """Put what ``make`` makes of all records in their place, in one step; by how many they became fewer.

        As :meth:`rewrite` otherwise; nobody can append meanwhile, ``make`` neither.  Lines that are damaged stay as
        they are.
        """
        if self._file is None:
            with self._lock:
                return self._remade(make)[1]
        with workfiles.locked(self._file):
            with self._lock:
                data, fewer = self._remade(make)
            if data is not None:
                self._put(data)
        return fewer

    def _remade(self, make: Callable[[list[Record]], Iterable[Mapping[str, Any]]]) -> tuple[bytes | None, int]:
        """The bytes of the journal after ``make``, ``None`` where that changes nothing; in memory it is done."""
        before = self._current()
        if self._problem is not None:
            raise JournalError(self._problem)
        made = [_line(record) for record in make(list(before.records))]
        data = b"".join([*before.keys, *made, *(line for _, line in before.damaged)])
        after = _Content()
        after.feed(data)
        if self._file is None:
            self._content = after
        same = after.whole.digest() == before.whole.digest()
        return None if same else data, len(before.records) - len(made)

    def _write(
        self, make: Callable[[], list[bytes]], patience: float = workfiles.LOCK_TIMEOUT, key: bool = False
    ) -> None:
        """Add the lines that are made, and before them a key where there is none; only that with ``key``."""
        if self._file is None:
            lines = make()
            with self._lock:
                if lines or key:
                    self._content.feed(b"".join(self._with_key(lines)))
            return
        with workfiles.locked(self._file, patience):
            lines = make()
            if not lines and not key:
                return
            with self._lock:
                rest = self._mended()
                self._current()
                if self._problem is not None:
                    raise WorkspaceError(self._problem)
                data = b"".join(self._with_key(lines))
                fresh = not self._content.offset
            if not data:
                return
            if fresh and not rest:
                self._put(data)
            else:
                workfiles.append(self._file, (rest + data).decode("ascii"))

    def _with_key(self, lines: list[bytes]) -> list[bytes]:
        if self._content.key is not None:
            return lines
        return [_dumped({"kind": KEY, "at": _now(), KEY: secrets.token_hex(_KEY_BYTES)}), *lines]

    def _put(self, data: bytes) -> None:
        assert self._file is not None
        workfiles.check(self._file)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            for left in self._file.parent.glob(f".{glob.escape(self._file.name)}.*.tmp"):
                left.unlink(missing_ok=True)  # of a writer that was killed: nobody else writes now
            workfiles.swap(Path(os.path.realpath(self._file)), data, _MODE)
        except OSError as error:
            raise WorkspaceError(
                f"{self._file}: cannot be written ({error.strerror or error}); make the file and its folder writable"
            ) from error

    def _mended(self) -> bytes:
        """Take away a last line that was never written to its end; what has to come before the next record."""
        assert self._file is not None
        workfiles.check(self._file)
        try:
            with open(self._file, "r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 1))
                if file.read(1) in (b"\n", b""):
                    return b""
                file.seek(0)
                whole, _, last = file.read().rpartition(b"\n")
                if _record(last) is not None:
                    return b"\n"
                file.truncate(len(whole) + 1 if whole else 0)
                return b""
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise WorkspaceError(
                f"{self._file}: cannot be written ({error.strerror or error}); make the file and its folder writable"
            ) from error

    # -- the file ---------------------------------------------------------------------------------

    def _current(self) -> _Content:
        """What the file holds now, read again only where it changed; the caller holds the lock."""
        if self._file is None:
            return self._content
        try:
            found = os.stat(self._file)
            stamp = found.st_ino, found.st_size, found.st_mtime_ns
            if stamp != self._stamp:
                workfiles.check(self._file)
                self._read()
            self._problem = None
        except FileNotFoundError:
            self._content, self._stamp, self._problem = _Content(), None, None
        except WorkspaceError as error:
            self._problem = str(error)
        except OSError as error:
            self._problem = f"{self._file}: cannot be read ({error.strerror or error}); make the file readable"
        return self._content

    def _read(self) -> None:
        assert self._file is not None
        known = self._content
        with open(self._file, "rb") as file:
            found = os.fstat(file.fileno())
            stamp = found.st_ino, found.st_size, found.st_mtime_ns
            grown = False
            if known.last and self._stamp is not None and stamp[0] == self._stamp[0] and stamp[1] >= known.offset:
                file.seek(known.offset - len(known.last))
                grown = file.read(len(known.last)) == known.last
            if not grown:
                file.seek(0)
                known = _Content()
            known.feed(file.read())
        self._content, self._stamp = known, stamp
        for number, line in known.damaged:
            if line not in self._told:
                self._told.add(line)
                log.warning("%s", _damaged(self._file, number))


class _Content:
    """What the lines of a journal say, read on as they grow."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.kinds: dict[str, list[Record]] = {}
        self.keys: list[bytes] = []
        self.key: bytes | None = None
        self.damaged: list[tuple[int, bytes]] = []
        self.whole = blake2b(digest_size=16)
        self.hashes: dict[str, blake2b] = {}
        #: Bytes that were read, and the last line of them: by it a file that only grew is known.
        self.offset = 0
        self.last = b""
        self._lines = 0

    def feed(self, data: bytes) -> None:
        """Take in whole lines; a last one without its end counts if it is a record, and must then be the last ever."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._take(line + b"\n")
        if _record(rest) is not None:
            self._take(rest + b"\n")
            self.last = b""  # read all of it again when it changes

    def _take(self, line: bytes) -> None:
        self.offset += len(line)
        self.last = line
        self._lines += 1
        if not line.strip():
            return
        record = _record(line)
        key = None if record is None or record["kind"] != KEY else _key(record)
        if record is None or (record["kind"] == KEY and key is None):
            self.damaged.append((self._lines, line))
            return
        self.whole.update(line)
        if key is not None:
            self.keys.append(line)
            self.key = self.key or key
            return
        kind = record["kind"]
        self.records.append(record)
        self.kinds.setdefault(kind, []).append(record)
        self.hashes.setdefault(kind, blake2b(digest_size=16)).update(line)


def _line(record: Mapping[str, Any]) -> bytes:
    kind = record.get("kind")
    if not isinstance(kind, str) or kind == KEY:
        raise ValueError(f"a record of the journal needs a kind of its own, not {kind!r}")
    rest = {name: value for name, value in record.items() if name not in ("kind", "at")}
    return _dumped({"kind": kind, "at": record.get("at") or _now(), **rest})


def _dumped(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _record(line: bytes) -> Record | None:
    """The record of a line; ``None`` for what is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("kind"), str) else None


def _key(record: Record) -> bytes | None:
    try:
        key = bytes.fromhex(record[KEY])
    except (KeyError, TypeError, ValueError):
        return None
    return key if len(key) == _KEY_BYTES else None


def _damaged(file: Path | None, number: int) -> str:
    return f"{file}, line {number}: damaged, so it does not count; put that line right, the others do count"
