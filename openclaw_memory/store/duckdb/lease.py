"""One owner of the index file at a time: short leases between processes.

Two lock files lie beside the database.  A process passes the *queue* lock and then waits for the *owner* lock; an
owner that finishes a call and sees the queue taken closes the file at once, and otherwise keeps it open for ``idle``
seconds, as opening costs 15-30 ms.  The operating system drops both locks when a process dies.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import LeaseTimeout, StoreError
from ...system import atomic
from ...system.deadline import Deadline, WaitLimit
from ...system.heap import free_unused_heap

if TYPE_CHECKING:
    import _duckdb as duckdb
    from filelock import BaseFileLock

log = logging.getLogger("openclaw_memory.store")

#: Seconds between two tries of a lock.
_POLL = 0.004
#: Share of the file up to which its log stays at closing; writing that into the file takes as long for any few rows.
_SHORT_LOG = 1 / 64
#: Nanoseconds after which two writes have different times on every file system.
_COARSE = 2_500_000_000

#: Inode, size and time of the index file and of its log; ``None`` for a missing one.
Stamp = tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]


class Lease:
    """Shares one DuckDB connection among threads, and the file among processes.

    ``connect()`` opens the file, ``is_suspicious(error)`` is true if the connection is useless after an error, and
    ``examine()`` checks the closed file then.
    """

    def __init__(
        self,
        path: Path,
        connect: Callable[[], duckdb.DuckDBPyConnection],
        is_suspicious: Callable[[BaseException], bool],
        examine: Callable[[], None],
        timeout: float,
        idle: float,
    ) -> None:
        self.path = path
        #: Grows when the file is opened and has changed since this process closed it: another process may have written.
        self.epoch = 0
        self._connect, self._is_suspicious, self._examine = connect, is_suspicious, examine
        self._timeout = timeout
        self._idle = idle
        self._holder = Path(f"{path}.holder")
        self._closed = threading.Event()
        self._inherited = False
        self._wait_limit = WaitLimit()
        self._start_afresh()
        _open_leases.add(self)

    def _start_afresh(self) -> None:
        vars(self).pop("_queue", None)
        vars(self).pop("_owner", None)
        self._mutex = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._depth = 0
        #: False for a process that can only read: it keeps nobody out, and writes nothing.
        self._locks = True
        #: The files as this process closed them; ``None`` if a later write might leave the same stamp.
        self._closed_stamp: Stamp | None = None
        self._was_unchanged = False
        #: The files as this process opened them, while it has written nothing.
        self._opened_stamp: Stamp | None = None
        #: True if the file may have been replaced since this process had it open.
        self._maybe_replaced = False
        self._doubtful = False
        self._close_at: float | None = None
        #: The thread that closes the idle file.
        self._closer: threading.Thread | None = None

    # The locks are made when the file is opened, which what other processes keep may save.

    @cached_property
    def _queue(self) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(f"{self.path}.queue", mode=0o600)

    @cached_property
    def _owner(self) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(f"{self.path}.lock", mode=0o600, thread_local=False)

    @property
    def _is_owned(self) -> bool:
        return "_owner" in vars(self) and self._owner.is_locked

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the connection, for this thread alone during the block; re-entrant in a thread.

        Raises :class:`LeaseTimeout` naming the holder after ``timeout`` seconds.
        """
        with self.exclude_threads(timeout) as (deadline, wait_seconds):
            if self._connection is None:
                self._open(deadline, wait_seconds)
            assert self._connection is not None
            yield self._connection

    @contextlib.contextmanager
    def exclude_threads(self, timeout: float | None = None) -> Iterator[tuple[Deadline, float]]:
        """Keep other threads out for the block, in which the first :meth:`hold` opens the file; re-entrant in a thread.

        Raises as :meth:`hold`; yields the deadline, and its seconds from the beginning.
        """
        # Also past its deadline each caller waits as long as another process needs to close an idle file.
        wait_seconds = min(self._timeout if timeout is None else timeout, max(0.25, self._wait_limit.until.within()))
        deadline = Deadline.after(wait_seconds)
        if not self._mutex.acquire(timeout=max(0.0, wait_seconds)):
            raise LeaseTimeout(
                f"{self.path}: another thread of this process (PID {os.getpid()}) is using the index; try again"
            )
        try:
            self._close_at = None
            if not self._depth:
                self._was_unchanged = self._closed_stamp is not None and _stamp(self.path) == self._closed_stamp
            self._depth += 1
            try:
                yield deadline, wait_seconds
            except BaseException as error:
                self._doubtful |= self._connection is not None and self._is_suspicious(error)
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._let_go()
        finally:
            self._mutex.release()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Exclude other threads for the block, unless one of them keeps this one out for half of the remaining time.

        If that thread holds the file for longer, the block runs all the same, and a call in it that needs the file
        raises :class:`LeaseTimeout` soon.
        """
        with contextlib.ExitStack() as block:
            try:
                block.enter_context(self.exclude_threads(self._wait_limit.until.left(0.5)))
            except LeaseTimeout:
                block.enter_context(self.limit_waiting(Deadline.after(0.0)))
            yield

    @property
    def unchanged_since_close(self) -> bool:
        """True if the file is open, or was still as this process closed it when :meth:`exclude_threads` began."""
        return self._connection is not None or self._was_unchanged

    def adopt(self, stamp: Stamp) -> bool:
        """Return true if the files have ``stamp``: this process need not open them to know that nothing is new."""
        with self.exclude_threads():
            if self._connection is not None:
                return self._opened_stamp == stamp
            if self._closed_stamp is None and not self.epoch and stamp == _stamp(self.path):
                self._closed_stamp, self._was_unchanged = stamp, True
            return self._was_unchanged and self._closed_stamp == stamp

    def wrote(self) -> None:
        """Note that this process has changed the open file."""
        self._opened_stamp = None

    @property
    def settled_stamp(self) -> Stamp | None:
        """The stamp by which others know the open file for as it is; ``None`` if a write might leave the same one."""
        return _settled(self._opened_stamp) if self._opened_stamp is not None and self._locks else None

    def limit_waiting(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Let no :meth:`hold` of this thread wait beyond ``until`` within the block."""
        return self._wait_limit.limited(until)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
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
                self._closed_stamp, self._maybe_replaced = None, True

    def release(self) -> None:
        """Close the file now; the next :meth:`hold` opens it again."""
        with self._mutex:
            self._close()

    def close(self) -> None:
        """Close the file and end the closing thread; a later :meth:`hold` opens the file once more."""
        self._closed.set()
        closer = self._closer
        self.release()
        if closer is not None:
            closer.join(timeout=2)
        _open_leases.discard(self)

    def _open(self, deadline: Deadline, wait_seconds: float) -> None:
        if self._inherited:
            raise StoreError(
                f"{self.path}: this process was forked while the index was in use, and must not share its parent's "
                "open file; make a new Memory after the fork, in a process started with 'spawn'"
            )
        self._locks = not is_read_only(self.path)
        if self._locks:
            make_folder(self.path)
        try:
            if self._locks:
                self._queue.acquire(timeout=deadline.within(wait_seconds), poll_interval=_POLL)
                try:
                    self._owner.acquire(timeout=deadline.within(wait_seconds), poll_interval=_POLL)
                finally:
                    self._queue.release()
            before, now = self._closed_stamp, _stamp(self.path)
            self._connection = self._connect_patiently(deadline, wait_seconds)
            self._closed_stamp, self._maybe_replaced = None, False
            if before is None or before != now or now != _stamp(self.path):
                self.epoch += 1
            self._opened_stamp = now if now == _stamp(self.path) else None
        except TimeoutError:
            raise LeaseTimeout(self._busy(self._holder_text(), wait_seconds)) from None
        except OSError as error:
            raise lock_error(self.path, error) from error
        finally:
            if self._connection is None and self._is_owned:
                self._owner.release()
        if self._locks:
            with contextlib.suppress(OSError):  # never writes through a link or into another file
                self._holder.unlink(missing_ok=True)
                with open(os.open(self._holder, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(f"PID {os.getpid()}")

    def _connect_patiently(self, deadline: Deadline, wait_seconds: float) -> duckdb.DuckDBPyConnection:
        import _duckdb as duckdb

        delay = 0.01
        while True:
            try:
                return self._connect()
            except duckdb.IOException as error:
                if not is_conflict(error):
                    raise
                # Another program has the file open; it does not use the queue.
                if deadline.within() < delay:
                    pid = re.search(r"PID \d+", str(error).replace(str(self.path), ""))
                    raise LeaseTimeout(self._busy(pid[0] if pid else "another program", wait_seconds)) from None
                time.sleep(delay * random.uniform(0.7, 1.3))
                delay = min(0.25, delay * 1.6)

    def _busy(self, holder: str, wait_seconds: float) -> str:
        limit = "store.lock_timeout " if wait_seconds == self._timeout else "there was time for "
        return (
            f"{self.path}: the index is in use by {holder} for longer than {limit}"
            f"({wait_seconds:.2g} s); wait for that process or end it, then try again"
        )

    def _holder_text(self) -> str:
        with contextlib.suppress(OSError, UnicodeError):
            if holder := re.match(r"PID \d+", self._holder.read_text(encoding="ascii")):  # a link may lead anywhere
                return holder[0]
        return "another process"

    def _let_go(self) -> None:
        doubtful, self._doubtful = self._doubtful, False
        if doubtful:
            # The lock is kept: nobody else may open, move or mend the file meanwhile.
            self._disconnect()
            self._maybe_replaced = True
            try:
                self._examine()
            finally:
                self._close()
            return
        if self._idle <= 0 or self._closed.is_set() or self._connection is None or self._is_awaited():
            self._close()
            return
        self._close_at = time.monotonic() + self._idle
        if self._closer is None or not self._closer.is_alive():
            self._closer = threading.Thread(
                target=_close_when_idle, args=(weakref.ref(self), self._closed), name="lease-closer", daemon=True
            )
            self._closer.start()

    def _is_awaited(self) -> bool:
        if not self._locks:
            return False
        try:
            self._queue.acquire(timeout=0)
        except OSError:  # too long, or unknown: let go
            return True
        self._queue.release()
        return False

    def _disconnect(self) -> None:
        connection, self._connection, self._opened_stamp = self._connection, None, None
        if connection is not None:
            import _duckdb as duckdb

            file, log_file = _stamp(self.path)
            try:
                with contextlib.closing(connection):
                    if file is not None and log_file is not None and log_file[1] < _SHORT_LOG * file[1]:
                        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            except duckdb.Error as error:  # committed rows are in the log
                log.warning("%s: closing the index failed: %s", self.path, error)

    def _close(self) -> None:
        self._close_at = None
        opened = self._connection is not None
        try:
            self._disconnect()
        finally:
            if opened or self._is_owned:
                self._closed_stamp = None if self._maybe_replaced else _settled(_stamp(self.path))
            if self._is_owned:
                with contextlib.suppress(OSError):
                    self._holder.unlink()
                self._owner.release()

    def _close_if_idle(self) -> bool:
        """Close the file if it was idle for long enough, or another process waits; returns true if it is closed."""
        if not self._mutex.acquire(blocking=False):
            return False
        try:
            if self._connection is not None:
                if self._close_at is None or (time.monotonic() < self._close_at and not self._is_awaited()):
                    return False
                self._close()
                free_unused_heap()  # some megabytes, in about a millisecond
            self._closer = None
            return True
        finally:
            self._mutex.release()

    # -- fork: a child must neither use nor close what it inherits ---------------------------------

    def _before_fork(self) -> bool:
        """Close the file unless it is in use; returns true if the mutex was taken, which it stays."""
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
        import ctypes

        for inherited in map(vars(self).get, ("_connection", "_queue", "_owner")):
            # Never finalised: that would write to the parent's file, or drop the parent's lock.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))
        self._inherited |= self._connection is not None or not taken
        self._start_afresh()


def _stamp(path: Path) -> Stamp:
    """Return the stamps of the index file and its log; DuckDB changes neither when it only reads."""
    stamps: list[tuple[int, int, int] | None] = []
    for file in (path, Path(f"{path}.wal")):
        try:
            status = file.stat()
            stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return stamps[0], stamps[1]


def _settled(stamp: Stamp) -> Stamp | None:
    """Return ``stamp``, unless a write now could leave the same one: some file systems count in two seconds."""
    newest = max((file[2] for file in stamp if file is not None), default=0)
    return stamp if stamp[0] is not None and time.time_ns() - newest > _COARSE else None


def make_folder(path: Path) -> None:
    """Make the folder of an index, for its owner only.  Raises :class:`StoreError` for another program's file.

    A file in another format is a damaged index only if its name is an index's: such a file would be moved.
    """
    if path.suffix != ".duckdb":
        with contextlib.suppress(OSError), path.open("rb") as file:
            begin = file.read(12)  # a checksum, and the magic bytes
            if begin and not begin.endswith(b"DUCK"):
                raise StoreError(f"{path}: is no index, and is left as it is; choose another file with --db")
    try:
        atomic.make_folder(path.parent, 0o700)
    except OSError as error:
        raise StoreError(
            f"{path.parent}: the index's folder cannot be created ({error.strerror}); "
            "check its permissions, or choose another file with --db"
        ) from error


def is_read_only(path: Path) -> bool:
    """Return true if the file exists, and it or a log beside it cannot be written: it is opened for reading."""
    places = (path, path.parent) if os.path.exists(path) else ()
    return not all(os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids) for place in places)


def lock_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a lock file that cannot be created."""
    return StoreError(
        f"{path}: cannot create a lock beside the index ({error.strerror or error}); "
        "check the folder's permissions and free space, or choose another file with --db"
    )


def is_conflict(error: BaseException) -> bool:
    """Return true if DuckDB could not open a file because another process has it open."""
    return "could not set lock on file" in str(error).lower()


def _close_when_idle(lease: weakref.ref[Lease], closed: threading.Event) -> None:
    while not closed.wait(0.02):
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
        before=_prepare_fork, after_in_parent=lambda: _forked(child=False), after_in_child=lambda: _forked(child=True)
    )


@atexit.register
def _close_all() -> None:
    for lease in list(_open_leases):
        with contextlib.suppress(Exception):
            lease.close()
