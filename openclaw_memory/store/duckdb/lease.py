"""One owner of the index file at a time: short leases between processes.

Two lock files stand beside the database.  Whoever wants it passes the *queue* lock and then waits
for the *owner* lock; an owner that finishes a call and sees the queue taken lets go at once, and
otherwise keeps the file open for ``idle`` seconds, as opening costs 15-30 ms.  The operating system
drops both locks when a process dies.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import os
import random
import re
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from filelock import FileLock, Timeout

from ...errors import LeaseTimeout, StoreError
from ...system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    import duckdb

_POLL = 0.004
#: Seconds between two looks at an open file by the thread that closes it.
_LOOK = 0.02

log = logging.getLogger("openclaw_memory.store")

#: Seconds that somebody without any time waits all the same: closing an idle file takes this process a moment.
_PASSING = 0.25
#: Nanoseconds from which on two writes have different times everywhere.
_COARSE = 2_500_000_000

#: Inode, size and time of the index file and of its log; ``None`` for one that is not there.
_Stamp = tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]


class Leased(Protocol):
    """What a lease opens; every method is called by the one owner of the file."""

    def prepare(self) -> None:
        """Make the folder that the lock files lie in."""

    def is_read_only(self) -> bool:
        """Whether the file is there and may not be written."""

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file."""

    def doubts(self, error: BaseException) -> bool:
        """Whether the connection is of no more use after this error."""

    def examine(self, error: BaseException) -> None:
        """Look at the file, which is closed, after an error that raised doubts."""

    def rest(self) -> None:
        """Give back what the file took: it is closed, as nobody asked for a while."""


class Lease:
    """Shares one DuckDB connection among threads, and the file among processes."""

    def __init__(self, path: Path, leased: Leased, timeout: float, idle: float) -> None:
        self.path = path
        #: Grows when the file is opened and is not as this process left it: somebody else may have written.
        self.epoch = 0
        self._leased = leased
        self._timeout = timeout
        self._idle = idle
        self._holder = Path(f"{path}.holder")
        self._closed = threading.Event()
        self._inherited = False
        self._patience = threading.local()
        self._start_afresh()
        _open_leases.add(self)

    def _start_afresh(self) -> None:
        self._queue = FileLock(f"{self.path}.queue", mode=0o600)
        self._owner = FileLock(f"{self.path}.lock", mode=0o600, thread_local=False)
        self._mutex = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._depth = 0
        #: Whether locks are taken: whoever only can read keeps nobody out, and writes nothing.
        self._locks = True
        #: The files as this process closed them; ``None`` where a later write might leave them looking the same.
        self._left: _Stamp | None = None
        self._untouched = False
        #: Whether the file may be another one since this process had it open.
        self._strange = False
        self._doubt: BaseException | None = None
        self._close_at: float | None = None
        #: Looks at the file for as long as it is open.
        self._closer: threading.Thread | None = None

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection, ours alone for the duration of the block; re-entrant in a thread.

        Raises :class:`LeaseTimeout` naming the holder after ``timeout`` seconds.
        """
        with self.turn(timeout) as (deadline, patience):
            if self._connection is None:
                self._open(deadline, patience)
            assert self._connection is not None
            yield self._connection

    @contextlib.contextmanager
    def turn(self, timeout: float | None = None) -> Iterator[tuple[Deadline, float]]:
        """Keep other threads out for the block, in which the first :meth:`hold` opens the file; re-entrant in a thread.

        Raises as :meth:`hold`; yields until when there is time, and how many seconds there were.
        """
        until: Deadline = getattr(self._patience, "until", NEVER)
        patience = min(self._timeout if timeout is None else timeout, max(_PASSING, until.within()))
        deadline = Deadline.after(patience)
        if not self._mutex.acquire(timeout=max(0.0, patience)):
            raise LeaseTimeout(
                f"{self.path}: another thread of this process (PID {os.getpid()}) is using the index; try again"
            )
        try:
            self._close_at = None
            if not self._depth:
                self._untouched = self._left is not None and _stamp(self.path) == self._left
            self._depth += 1
            try:
                yield deadline, patience
            except BaseException as error:
                if self._connection is not None and self._leased.doubts(error):
                    self._doubt = error
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._let_go()
        finally:
            self._mutex.release()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """As :meth:`turn`, for who may do with what is known.

        Where another thread keeps its turn for half of the time that there is, the block goes on without one, and
        whatever needs the file in it raises :class:`LeaseTimeout` soon.
        """
        until: Deadline = getattr(self._patience, "until", NEVER)
        with contextlib.ExitStack() as block:
            try:
                block.enter_context(self.turn(until.left(0.5)))
            except LeaseTimeout:
                block.enter_context(self.patience(Deadline.after(0.0)))
            yield

    @property
    def untouched(self) -> bool:
        """Whether the file is open, or was as this process left it when this turn began; for who has the turn."""
        return self._connection is not None or self._untouched

    @contextlib.contextmanager
    def patience(self, until: Deadline) -> Iterator[None]:
        """Let no :meth:`hold` of this thread wait beyond ``until`` within the block."""
        before = getattr(self._patience, "until", NEVER)
        self._patience.until = min(before, until)
        try:
            yield
        finally:
            self._patience.until = before

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Own the file while it is closed, to open it in another way; not inside a :meth:`hold` of the same thread.

        Raises as :meth:`hold`.
        """
        with self.hold():
            if self._depth > 1:
                raise StoreError(f"{self.path}: the index is in use by the caller itself; close that session first")
            self._disconnect()
            try:
                yield
            finally:
                self._left, self._strange = None, True

    def release(self) -> None:
        """Close the file now; the next :meth:`hold` opens it again."""
        with self._mutex:
            self._close()

    def close(self) -> None:
        """Close the file, which ends the closing thread."""
        self._closed.set()
        closer = self._closer
        self.release()
        if closer is not None:
            closer.join(timeout=2)
        _open_leases.discard(self)

    def _open(self, deadline: Deadline, patience: float) -> None:
        if self._inherited:
            raise StoreError(
                f"{self.path}: this process was forked while the index was in use, and must not share its parent's "
                "open file; make a new Memory after the fork, in a process started with 'spawn'"
            )
        self._locks = not self._leased.is_read_only()
        if self._locks:
            self._leased.prepare()
        try:
            if self._locks:
                self._queue.acquire(timeout=deadline.within(patience), poll_interval=_POLL)
                try:
                    self._owner.acquire(timeout=deadline.within(patience), poll_interval=_POLL)
                finally:
                    self._queue.release()
            left, found = self._left, _stamp(self.path)
            self._connection = self._connect_patiently(deadline, patience)
            self._left, self._strange = None, False
            if left is None or left != found or found != _stamp(self.path):
                self.epoch += 1
        except Timeout:
            raise LeaseTimeout(self._busy(self._holder_text(), patience)) from None
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot create a lock beside the index ({error.strerror or error}); "
                "check the folder's permissions and free space, or choose another file with --db"
            ) from error
        finally:
            if self._connection is None and self._owner.is_locked:
                self._owner.release()
        if self._locks:
            with contextlib.suppress(OSError):  # a link there, or a file of somebody's, is not written through
                self._holder.unlink(missing_ok=True)
                with open(os.open(self._holder, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(f"PID {os.getpid()}")

    def _connect_patiently(self, deadline: Deadline, patience: float) -> duckdb.DuckDBPyConnection:
        import duckdb

        delay = 0.01
        while True:
            try:
                return self._leased.connect()
            except duckdb.IOException as error:
                if not is_conflict(error):
                    raise
                # A program that is not ours has the file open; it knows nothing of our queue.
                if deadline.within() < delay:
                    pid = re.search(r"PID \d+", str(error).replace(str(self.path), ""))
                    raise LeaseTimeout(self._busy(pid[0] if pid else "another program", patience)) from None
                time.sleep(delay * random.uniform(0.7, 1.3))
                delay = min(0.25, delay * 1.6)

    def _busy(self, holder: str, patience: float) -> str:
        whose = "store.lock_timeout " if patience == self._timeout else "there was time for "
        return (
            f"{self.path}: the index is in use by {holder} for longer than {whose}"
            f"({patience:.2g} s); wait for that process or end it, then try again"
        )

    def _holder_text(self) -> str:
        with contextlib.suppress(OSError, UnicodeError):
            if holder := re.match(r"PID \d+", self._holder.read_text(encoding="ascii")):  # whatever a link leads to
                return holder[0]
        return "another process"

    def _let_go(self) -> None:
        doubt, self._doubt = self._doubt, None
        if doubt is not None:
            # Still the owner: nobody else may open, move or mend the file meanwhile.
            self._disconnect()
            self._strange = True
            try:
                self._leased.examine(doubt)
            finally:
                self._close()
            return
        if self._idle <= 0 or self._closed.is_set() or self._connection is None or self._somebody_waits():
            self._close()
            return
        self._close_at = time.monotonic() + self._idle
        if self._closer is None or not self._closer.is_alive():
            self._closer = threading.Thread(
                target=_close_when_idle, args=(weakref.ref(self), self._closed), name="lease-closer", daemon=True
            )
            self._closer.start()

    def _somebody_waits(self) -> bool:
        if not self._locks:
            return False
        try:
            self._queue.acquire(timeout=0)
        except (Timeout, OSError):  # without a queue to look at it is polite to let go
            return True
        self._queue.release()
        return False

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            import duckdb

            try:
                connection.close()
            except duckdb.Error as error:  # what was committed is in the log and is not lost
                log.warning("%s: closing the index failed: %s", self.path, error)

    def _close(self) -> None:
        self._close_at = None
        opened = self._connection is not None
        try:
            self._disconnect()
        finally:
            if opened or self._owner.is_locked:
                self._left = None if self._strange else _settled(_stamp(self.path))
            if self._owner.is_locked:
                with contextlib.suppress(OSError):
                    self._holder.unlink()
                self._owner.release()

    def _close_if_idle(self) -> bool:
        """Close if idle for long enough; whether the file is closed."""
        # Looked at often enough that a waiting process is not kept for the whole idle time.
        if not self._mutex.acquire(blocking=False):
            return False
        try:
            if self._connection is not None:
                if self._close_at is None or (time.monotonic() < self._close_at and not self._somebody_waits()):
                    return False
                self._close()
                self._leased.rest()
            self._closer = None
            return True
        finally:
            self._mutex.release()

    # -- fork: a child must neither use nor close what it inherits ---------------------------------

    def _before_fork(self) -> bool:
        """Close the file unless somebody is using it; the mutex stays taken when it could be had."""
        if not self._mutex.acquire(timeout=1):
            return False
        if self._depth == 0:
            self._close()
        return True

    def _after_fork(self, taken: bool, child: bool) -> None:
        if not child:
            if taken:
                self._mutex.release()
            return
        for thing in (self._connection, self._queue, self._owner):
            # Never finalised: that would write to the parent's file, or drop the parent's lock.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        self._inherited |= self._connection is not None or not taken
        self._start_afresh()


def _stamp(path: Path) -> _Stamp:
    """What the index file and its log look like from outside; DuckDB changes neither where it only reads."""
    return _look(path), _look(Path(f"{path}.wal"))


def _look(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _settled(stamp: _Stamp) -> _Stamp | None:
    """``stamp``, unless a write that comes now could leave the same one: some file systems count in two seconds."""
    newest = max((file[2] for file in stamp if file is not None), default=0)
    return stamp if stamp[0] is not None and time.time_ns() - newest > _COARSE else None


def is_conflict(error: BaseException) -> bool:
    """Whether DuckDB could not open a file because another process has it open."""
    return "could not set lock on file" in str(error).lower()


def _close_when_idle(lease: weakref.ref[Lease], closed: threading.Event) -> None:
    while not closed.wait(_LOOK):
        target = lease()
        if target is None or target._close_if_idle():
            return
        del target


_open_leases: weakref.WeakSet[Lease] = weakref.WeakSet()
_forking = threading.local()


def _prepare_fork() -> None:
    _forking.leases = [(lease, lease._before_fork()) for lease in list(_open_leases)]


def _forked(child: bool) -> None:
    for lease, taken in _forking.leases:
        lease._after_fork(taken, child)
    _forking.leases = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_prepare_fork,
        after_in_parent=lambda: _forked(child=False),
        after_in_child=lambda: _forked(child=True),
    )


@atexit.register
def _close_all() -> None:
    for lease in list(_open_leases):
        with contextlib.suppress(Exception):
            lease.close()
