"""A PostgreSQL server: its URL without the password, pooled transactions, tables, roles.

Usage::

    server = Server.for_url("postgresql://gateway@db/memories")   # one pool a process and URL; connects when first used
    server.prepare("state", STATE)                            # SQL; returns at once if the tables exist
    with server.transaction() as c:                           # psycopg.Connection; committed, or undone by an exception
        memory = memory_id(c, agent, workspace)               # made if it is new; the agent "" is the workspace itself
        c.execute("INSERT INTO uses VALUES (%s, %s)", [memory, "…"])
    with server.transaction(read=True, timeout=2.0) as c:     # REPEATABLE READ, READ ONLY, one snapshot
        ...
    server.close()                                            # the last one of this process closes the pool

The tables are in :mod:`.schema`.  A role reads and writes the memories that it made itself, and those that the owner
of the schema shared with it::

    SELECT openclaw_memory.permit('gateway', true);                       -- a role that may write; false: only read
    SELECT openclaw_memory.share('gateway', 'agent', 'workspace', false); -- may read that memory too

Locks and settings are bound to a transaction, so that PgBouncer may pool transactions.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ...config.store_url import redact_url
from ...errors import LeaseTimeout, StoreError, StoreUnreachable, TextRefused
from ...system.deadline import Deadline, WaitLimit
from ..tables.base import VERSION
from .schema import CORE, SCHEMA, VIEWS

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

#: Seconds for which a server that could not be reached is not tried again.
_PAUSE = 1.0
#: Connections of a process to one server for its index, and as many for its state.
_MOST = 8


class Server:
    """The pool of connections to a URL, shared by the whole process."""

    _all: ClassVar[dict[str, Server]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = redact_url(url)
        #: The pool for the index, and with the key ``True`` that for the state: a thread that holds a connection of one
        #: waits for one of the other, but never for a second one of its own.
        self._pools: dict[bool, ConnectionPool[psycopg.Connection[Any]]] = {}
        self._uses = 0
        self._opening, self._trying = threading.Lock(), threading.Lock()
        self._prepared: set[str] = set()
        #: End of the pause after a failure, with its reason, and the time of the last connection.
        self._away: tuple[float, str] | None = None
        self._reached = float("-inf")
        self._wait_limit = WaitLimit()

    @classmethod
    def for_url(cls, url: str) -> Server:
        """Return the server at ``url``, not yet connected.  Each caller closes it once."""
        with cls._lock:
            server = cls._all.setdefault(url, cls(url))
            server._uses += 1
            return server

    def close(self) -> None:
        """Close the connections when every caller of :meth:`for_url` has closed the server."""
        with self._lock:
            self._uses -= 1
            if self._uses > 0:
                return
            self._all.pop(self._url, None)
        with self._opening:
            pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()

    @contextlib.contextmanager
    def transaction(
        self,
        read: bool = False,
        timeout: float | None = None,
        wait: float = 30.0,
        memory: int | None = None,
        of_state: bool = False,
    ) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection in a transaction: committed at the end of the block, undone by an exception.

        With ``read`` it has one snapshot and cannot write.  No statement takes longer than ``timeout`` seconds, no
        lock is waited for longer than ``wait``.  With ``memory`` its views are in front of the tables.
        The connection is one of those for the state if it is ``of_state``.
        Raises :class:`StoreUnreachable` without a connection, :class:`LeaseTimeout` at a limit, and
        :class:`StoreError` for other errors of the server.
        """
        import psycopg

        if self._away is not None and time.monotonic() < self._away[0]:
            raise StoreUnreachable(self._away[1])
        try:
            connection = self._begin(read, timeout, wait, memory, of_state)
            try:
                self._away = None
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._give_back(connection, of_state)
        except psycopg.Error as error:
            raise self.translate(error) from error

    def limit_waiting(self, until: Deadline) -> contextlib.AbstractContextManager[None]:
        """Let this thread wait for the server no longer than ``until`` in the block."""
        return self._wait_limit.limited(until)

    def left(self) -> float | None:
        """Return the seconds that this thread may wait; ``None`` without a limit."""
        return self._wait_limit.until.left()

    def remarks(self) -> list[str]:
        """Return the warnings for answers that are given while the server cannot be reached."""
        return [] if self._away is None else [f"answered from memory, which may be out of date: {self._away[1]}"]

    def prepare(self, part: str, tables: str) -> None:
        """Make the missing tables of ``part`` by the SQL in ``tables``, under a lock.

        Raises :class:`StoreError`, and changes nothing, if there are tables of another version.
        """
        import psycopg

        parts = {"core": CORE, part: tables}
        if self._prepared.issuperset(parts):
            return
        with self.transaction() as c:
            present = self._parts(c)
        if not present.issuperset(parts):
            with self.transaction(wait=60.0) as c:
                c.execute("SELECT pg_advisory_xact_lock(x'6F636D67'::INTEGER)")
                try:
                    self._make(c, parts)
                except psycopg.errors.InsufficientPrivilege as error:
                    first = str(error).strip().splitlines()[0]
                    raise StoreError(
                        f"{self.name}: the tables cannot be made by this role ({first}); let the role that owns the "
                        "database run a command first, such as: openclaw-memory ingest"
                    ) from error
        self._prepared.update(parts)

    def _parts(self, c: psycopg.Connection[Any]) -> set[str]:
        """Return the parts that have their tables."""
        if c.execute("SELECT to_regclass('openclaw_memory.schemas') IS NOT NULL").fetchone() != (True,):
            return set()
        versions = dict(c.execute("SELECT part, version FROM openclaw_memory.schemas").fetchall())
        for name, version in versions.items():
            if version != VERSION:
                raise StoreError(
                    f"{self.name}: the tables of {name} have the version {version}, and this openclaw-memory knows "
                    f"{VERSION}; use the one that made them, or choose another database"
                )
        return set(versions)

    def _make(self, c: psycopg.Connection[Any], parts: dict[str, str]) -> None:
        encoding = c.execute("SHOW server_encoding").fetchone()
        if encoding != ("UTF8",):
            raise StoreError(
                f"{self.name}: the database cannot hold every character (its encoding is {encoding and encoding[0]}); "
                "create another one: CREATE DATABASE memories ENCODING 'UTF8' TEMPLATE template0"
            )
        c.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; CREATE SCHEMA IF NOT EXISTS {VIEWS}")
        c.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.schemas (part TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        present = self._parts(c)
        for name, tables in parts.items():
            if name not in present:
                c.execute(tables)
                c.execute("INSERT INTO schemas VALUES (%s, %s) ON CONFLICT DO NOTHING", [name, VERSION])
        c.execute("SELECT permit(role, writes) FROM roles WHERE to_regrole(quote_ident(role)) IS NOT NULL")

    def _begin(
        self, read: bool, timeout: float | None, wait: float, memory: int | None, of_state: bool
    ) -> psycopg.Connection[Any]:
        """Return a connection in a transaction; one that the server has closed meanwhile is replaced."""
        import psycopg

        begin = f"BEGIN {'ISOLATION LEVEL REPEATABLE READ READ ONLY' if read else ''}; "
        begin += _settings(timeout, wait, memory)
        until = time.monotonic() + (wait if timeout is None else min(wait, timeout))
        for attempt in range(_MOST + 1):
            doubtful = attempt > 0 or self._away is not None
            connection = self._take(max(until - time.monotonic(), 0.1), doubtful, of_state)
            try:
                connection.execute(begin)
            except psycopg.OperationalError:
                self._give_back(connection, of_state)
                if attempt == _MOST:
                    raise
            except BaseException:
                self._give_back(connection, of_state)
                raise
            else:
                return connection
        raise AssertionError("unreachable")

    def _take(self, seconds: float, doubtful: bool, of_state: bool) -> psycopg.Connection[Any]:
        from psycopg_pool import PoolTimeout

        pool = self._open_pool(seconds, doubtful, of_state)
        try:
            return pool.getconn(timeout=seconds)
        except PoolTimeout as error:
            raise LeaseTimeout(f"{self.name}: no free connection in {seconds:.0f} s; try again") from error

    def _give_back(self, connection: psycopg.Connection[Any], of_state: bool) -> None:
        with self._opening:
            if of_state in self._pools:
                self._pools[of_state].putconn(connection)
            else:
                connection.close()

    def _open_pool(self, seconds: float, doubtful: bool, of_state: bool) -> ConnectionPool[psycopg.Connection[Any]]:
        """Return the pool; a connection is tried first if the pool may have none, as it would wait long in silence.

        One thread tries at a time, and the threads that waited for it share its outcome.
        """
        psycopg, pools = _driver()
        started = time.monotonic()
        if of_state in self._pools and not doubtful:
            return self._pools[of_state]
        if not self._trying.acquire(timeout=seconds):
            raise StoreUnreachable(f"{self.name}: the server has not answered yet; check store.url and the server")
        try:
            if self._away is not None and self._away[0] - _PAUSE >= started:
                raise StoreUnreachable(self._away[1])
            if of_state in self._pools and self._reached >= started:
                return self._pools[of_state]
            defaults = {"application_name": "openclaw-memory", "connect_timeout": max(int(min(seconds, 10)), 2)}
            try:
                options = {**defaults, **psycopg.conninfo.conninfo_to_dict(self._url)}
            except psycopg.ProgrammingError:
                raise StoreError(
                    f"{self.name}: this is no URL of PostgreSQL; it is to look like "
                    "postgresql://user@host:5432/database, with special characters as %40"
                ) from None  # libpq's message may hold the password
            try:
                psycopg.connect(**options).close()
            except psycopg.Error as error:
                raise self.translate(error) from error
            self._reached = time.monotonic()
            with self._opening:
                if of_state not in self._pools:
                    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # its warnings are raised here
                    self._pools[of_state] = pools.ConnectionPool(
                        kwargs={**options, "autocommit": True, "prepare_threshold": None},
                        min_size=0, max_size=_MOST, max_idle=60.0, num_workers=1, reconnect_timeout=1.0, open=True,
                    )  # fmt: skip
                return self._pools[of_state]
        finally:
            self._trying.release()

    def translate(self, error: psycopg.Error) -> StoreError:
        """Translate an error of the driver for a person."""
        import psycopg

        lines = str(error).strip().splitlines()
        first = lines[0] if lines else type(error).__name__
        if isinstance(error, (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled)):
            return LeaseTimeout(f"{self.name}: the server took too long ({first}); try again")
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return StoreError(
                f"{self.name}: this role may not do that ({first}); "
                f"its owner runs in SQL: SELECT {SCHEMA}.permit('role', true)"
            )
        gone = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown, psycopg.errors.CannotConnectNow)
        lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
        # A pool in between answers with an error of the class 08 while its server is away.
        if lost or isinstance(error, gone) or (error.sqlstate or "").startswith("08"):
            message = f"{self.name}: the server cannot be reached ({first}); check store.url and the server"
            self._away = time.monotonic() + _PAUSE, message
            return StoreUnreachable(message)
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreError(f"{self.name}: the server's disk is full ({first}); nothing was lost: free some space")
        kind = TextRefused if isinstance(error, (psycopg.DataError, psycopg.IntegrityError)) else StoreError
        return kind(f"{self.name}: the server refused ({first}); run: openclaw-memory doctor")


def memory_id(c: psycopg.Connection[Any], agent: str, workspace: str) -> int:
    """Return the number of a memory; a new one is made, and belongs to this role.

    Raises :class:`StoreError` if it is another role's, or new and this role may only read, and ``LookupError`` if
    it is new to a reading transaction.
    """
    select = "SELECT memory FROM memories WHERE agent = %s AND workspace = %s"
    row = c.execute(select, [agent, workspace]).fetchone()
    if row is None:
        if c.execute("SELECT current_setting('transaction_read_only')").fetchone() == ("on",):
            raise LookupError(f"{agent} {workspace}")
        if c.execute("SELECT has_table_privilege('memories', 'INSERT')").fetchone() != (True,):
            raise StoreError(
                f"the agent {agent!r} has no memory in the workspace {workspace!r} yet, and this role may only read; "
                f"let a role that writes ingest first, or the owner of the tables runs in SQL: "
                f"SELECT {SCHEMA}.permit('role', true)"
            )
        c.execute("INSERT INTO memories (agent, workspace) VALUES (%s, %s) ON CONFLICT DO NOTHING", [agent, workspace])
        row = c.execute(select, [agent, workspace]).fetchone()
    if row is None:
        raise StoreError(
            f"the memory of the agent {agent!r} in the workspace {workspace!r} is another role's; "
            f"its owner runs in SQL: SELECT {SCHEMA}.share('role', '{agent}', '{workspace}', true)"
        )
    return int(row[0])


def _settings(timeout: float | None, wait: float, memory: int | None) -> str:
    return (
        f"SET LOCAL search_path TO {'' if memory is None else f'{VIEWS}, '}{SCHEMA}; "
        f"SET LOCAL openclaw_memory.memory TO '{'' if memory is None else int(memory)}'; "
        f"SET LOCAL lock_timeout TO {_milliseconds(wait)}; "
        f"SET LOCAL statement_timeout TO {_milliseconds(timeout)}"
    )


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else max(int(seconds * 1000), 1)


def _driver() -> tuple[Any, Any]:
    try:
        import psycopg
        import psycopg_pool
    except ImportError as error:
        raise StoreError(
            f"PostgreSQL needs a driver ({error}); run: pip install 'openclaw-memory-graph[postgres]'"
        ) from error
    return psycopg, psycopg_pool
