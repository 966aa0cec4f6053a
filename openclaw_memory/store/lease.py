"""One owner of the index file at a time: short leases between processes.

Two lock files stand beside the database.  Whoever wants it passes the *queue* lock and then waits
for the *owner* lock; an owner that finishes a call and sees the queue taken lets go at once, and
otherwise keeps the file open for ``idle`` seconds, as opening costs 15-30 ms.  The operating system
drops both locks when a process dies.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ..errors import LeaseTimeout, StoreError

if TYPE_CHECKING:
    import duckdb

_POLL = 0.004


class Lease:
    """Shares one DuckDB connection among threads, and the file among processes."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[], duckdb.DuckDBPyConnection],
        timeout: float,
        idle: float,
    ) -> None:
        self.path = path
        self.epoch = 0
        self._connect = connect
        self._timeout = timeout
        self._idle = idle
        self._queue = FileLock(f"{path}.queue", mode=0o600)
        self._owner = FileLock(f"{path}.lock", mode=0o600, thread_local=False)
        self._holder = Path(f"{path}.holder")
        self._mutex = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._depth = 0
        self._close_at: float | None = None
        self._wake = threading.Condition()
        self._closer: threading.Thread | None = None
        self._closed = False
        _open_leases.add(self)

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection, ours alone for the duration of the block; re-entrant in a thread.

        Raises :class:`LeaseTimeout` naming the holder after ``timeout`` seconds.
        """
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        if not self._mutex.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise LeaseTimeout(
                f"{self.path}: another thread of this process (PID {os.getpid()}) is using the index; try again"
            )
        try:
            self._close_at = None
            if self._connection is None:
                self._open(deadline)
            assert self._connection is not None
            self._depth += 1
            try:
                yield self._connection
            except BaseException as error:
                if type(error).__name__ in ("FatalException", "InternalException"):
                    self._close()  # DuckDB refuses every further call on an invalidated database
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._let_go()
        finally:
            self._mutex.release()

    def release(self) -> None:
        """Close the file now; the next :meth:`hold` opens it again."""
        with self._mutex:
            self._close()

    def close(self) -> None:
        """Close the file and stop the closing thread."""
        self._closed = True
        self.release()
        with self._wake:
            self._wake.notify_all()
        if self._closer is not None and self._closer is not threading.current_thread():
            self._closer.join(timeout=2)
        _open_leases.discard(self)

    def _open(self, deadline: float) -> None:
        try:
            self._queue.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=_POLL)
            try:
                self._owner.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=_POLL)
            finally:
                self._queue.release()
        except Timeout:
            raise LeaseTimeout(self._busy(self._holder_text())) from None
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot create a lock beside the index ({error.strerror or error}); "
                "check the folder's permissions and free space, or choose another file with --db"
            ) from error
        try:
            self._connection = self._connect_patiently(deadline)
        except BaseException:
            self._owner.release()
            raise
        self.epoch += 1
        with contextlib.suppress(OSError):
            self._holder.write_text(f"PID {os.getpid()}", encoding="ascii")

    def _connect_patiently(self, deadline: float) -> duckdb.DuckDBPyConnection:
        import duckdb

        delay = 0.01
        while True:
            try:
                return self._connect()
            except duckdb.IOException as error:
                text = str(error)
                if "lock" not in text.lower() or "PID" not in text:
                    raise
                # A program that is not ours has the file open; it knows nothing of our queue.
                if time.monotonic() + delay > deadline:
                    pid = re.search(r"PID \d+", text)
                    raise LeaseTimeout(self._busy(pid[0] if pid else "another program")) from None
                time.sleep(delay * random.uniform(0.7, 1.3))
                delay = min(0.25, delay * 1.6)

    def _busy(self, holder: str) -> str:
        return (
            f"{self.path}: the index is in use by {holder} for longer than store.lock_timeout "
            f"({self._timeout:g} s); wait for that process or end it, then try again"
        )

    def _holder_text(self) -> str:
        with contextlib.suppress(OSError):
            return self._holder.read_text(encoding="ascii").strip() or "another process"
        return "another process"

    def _let_go(self) -> None:
        if self._idle <= 0 or self._closed or self._somebody_waits():
            self._close()
            return
        with self._wake:
            self._close_at = time.monotonic() + self._idle
            if self._closer is None or not self._closer.is_alive():
                self._closer = threading.Thread(
                    target=_close_when_idle, args=(weakref.ref(self), self._wake), name="lease-closer", daemon=True
                )
                self._closer.start()
            else:
                self._wake.notify_all()

    def _somebody_waits(self) -> bool:
        try:
            self._queue.acquire(timeout=0)
        except Timeout:
            return True
        self._queue.release()
        return False

    def _close(self) -> None:
        self._close_at = None
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            finally:
                with contextlib.suppress(OSError):
                    self._holder.unlink()
                self._owner.release()

    def _tick(self) -> float | None:
        """Close if idle for long enough; the seconds until the next look, ``None`` to stop."""
        if self._closed:
            return None
        due = self._close_at
        if due is None:
            return 1.0
        left = due - time.monotonic()
        if left > 0:
            # Look often enough that a waiting process is not kept for the whole idle time.
            if self._mutex.acquire(blocking=False):
                try:
                    if self._depth == 0 and self._connection is not None and self._somebody_waits():
                        self._close()
                        return 1.0
                finally:
                    self._mutex.release()
            return min(left, 0.02)
        if self._mutex.acquire(blocking=False):
            try:
                if self._depth == 0 and self._close_at is not None:
                    self._close()
            finally:
                self._mutex.release()
        return 0.02


def _close_when_idle(lease: weakref.ref[Lease], wake: threading.Condition) -> None:
    while True:
        target = lease()
        wait = target._tick() if target is not None else None
        if wait is None:
            return
        del target
        with wake:
            wake.wait(wait)


_open_leases: weakref.WeakSet[Lease] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for lease in list(_open_leases):
        with contextlib.suppress(Exception):
            lease.close()
