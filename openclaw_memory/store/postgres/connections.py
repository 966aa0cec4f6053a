"""A PostgreSQL server: its URL without the password, pooled transactions, tables, roles.

How to use it::

    server = Server.of("postgresql://gateway@db/memories")    # one pool a process and URL; connects when first used
    server.prepare("state", STATE_TABLES)                     # SQL; at once where the tables are there
    with server.transaction() as c:                           # psycopg.Connection; committed, or undone by an exception
        memory = memory_id(c, agent, workspace)               # made if it is new; an agent "" is the workspace itself
        c.execute("INSERT INTO uses VALUES (%s, %s)", [memory, "…"])
    with server.transaction(read=True, timeout=2.0) as c:     # REPEATABLE READ, READ ONLY, one snapshot
        ...
    server.close()                                            # the last one of this process closes the pool

Tables lie in the schema ``openclaw_memory``, which is the search path; each has a column ``memory INTEGER`` and is
given to :func:`protect` where it is made (``SELECT protect('uses')``): from then on a role reads and writes the
memories it made itself, and those that the owner of the schema shared with it::

    SELECT openclaw_memory.permit('gateway', true);                       -- a role that may write; false: only read
    SELECT openclaw_memory.share('gateway', 'agent', 'workspace', false); -- may read that memory too

What may last (locks, settings) is bound to a transaction, so that PgBouncer may pool transactions.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ...config.store_url import shown
from ...errors import LeaseTimeout, Refused, StoreError, StoreUnreachable
from ...system.deadline import NEVER, Deadline
from ..tables.schema import VERSION

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

#: The schema of all tables.
SCHEMA = "openclaw_memory"
#: The schema of the views that hold one memory; see :mod:`.schema`.
VIEWS = "openclaw_memory_view"
#: Seconds for which a server that could not be reached is not tried again.
_PAUSE = 1.0
#: Connections of a process to one server.
_MOST = 8
#: Advisory locks are numbers; this one is of who makes the tables.
_MAKING = 0x6F636D67

#: What the other parts stand on: whose memory is whose, and which role may do what.  A function that is not said to be
#: safe keeps the server from scanning with several processes, and these are in every policy.  The memory of a view is
#: a subquery: looked up once rather than for each row, and unknown when the server plans.  By its number it would be
#: taken to be empty until the server counts, and joined row by row.
_CORE = """
    CREATE TABLE memories (
        memory INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent TEXT NOT NULL, workspace TEXT NOT NULL,
        role TEXT NOT NULL DEFAULT current_user, made TIMESTAMPTZ NOT NULL DEFAULT now(), UNIQUE (agent, workspace));
    CREATE TABLE roles (role TEXT PRIMARY KEY, writes BOOLEAN NOT NULL);
    CREATE TABLE shares (
        role TEXT, memory INTEGER REFERENCES memories ON DELETE CASCADE, writes BOOLEAN NOT NULL,
        PRIMARY KEY (role, memory));

    CREATE FUNCTION is_mine(role TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE PARALLEL SAFE AS
        $$ SELECT coalesce(pg_has_role(to_regrole(quote_ident(role)), 'MEMBER'), false) $$;
    CREATE FUNCTION asked() RETURNS INTEGER LANGUAGE sql STABLE PARALLEL SAFE AS
        $$ SELECT nullif(current_setting('openclaw_memory.memory', true), '')::INTEGER $$;
    CREATE FUNCTION readable() RETURNS INTEGER[] LANGUAGE sql STABLE PARALLEL SAFE AS
        $$ SELECT coalesce(array_agg(memory), '{}') FROM openclaw_memory.memories m
           WHERE memory = coalesce(openclaw_memory.asked(), memory) AND (openclaw_memory.is_mine(m.role) OR EXISTS (
               SELECT FROM openclaw_memory.shares s
               WHERE s.memory = m.memory AND openclaw_memory.is_mine(s.role))) $$;
    CREATE FUNCTION writable() RETURNS INTEGER[] LANGUAGE sql STABLE PARALLEL SAFE AS
        $$ SELECT coalesce(array_agg(memory), '{}') FROM openclaw_memory.memories m
           WHERE memory = coalesce(openclaw_memory.asked(), memory) AND (openclaw_memory.is_mine(m.role) OR EXISTS (
               SELECT FROM openclaw_memory.shares s
               WHERE s.memory = m.memory AND s.writes AND openclaw_memory.is_mine(s.role))) $$;

    ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
    CREATE POLICY mine ON memories FOR ALL USING (is_mine(role)) WITH CHECK (role = current_user);
    CREATE POLICY shared ON memories FOR SELECT USING (
        EXISTS (SELECT FROM shares s WHERE s.memory = memories.memory AND is_mine(s.role)));

    CREATE FUNCTION protect(name TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('ALTER TABLE openclaw_memory.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE openclaw_memory.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY readable ON openclaw_memory.%I FOR SELECT
            USING (memory = ANY ((SELECT openclaw_memory.readable())::int[]))', name);
        EXECUTE format('CREATE POLICY writable ON openclaw_memory.%I FOR ALL
            USING (memory = ANY ((SELECT openclaw_memory.writable())::int[]))', name);
    END $$;
    CREATE FUNCTION show(name TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE (
            SELECT format('CREATE OR REPLACE VIEW openclaw_memory_view.%I WITH (security_invoker) AS SELECT %s
                FROM openclaw_memory.%I WHERE memory = (SELECT current_setting(''openclaw_memory.memory'')::INTEGER)',
                name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position), name)
            FROM information_schema.columns
            WHERE table_schema = 'openclaw_memory' AND table_name = name AND column_name <> 'memory');
    END $$;
    CREATE FUNCTION permit(name TEXT, write BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
    DECLARE each TEXT;
    BEGIN
        INSERT INTO openclaw_memory.roles VALUES (name, write) ON CONFLICT (role) DO UPDATE SET writes = write;
        FOREACH each IN ARRAY '{openclaw_memory,openclaw_memory_view}'::TEXT[] LOOP
            EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', each, name);
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', each, name);
            EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', each, name);
            IF write THEN
                EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I', each, name);
            END IF;
        END LOOP;
        IF write THEN
            EXECUTE format('REVOKE INSERT, UPDATE, DELETE
                ON openclaw_memory.schemas, openclaw_memory.roles, openclaw_memory.shares FROM %I', name);
        END IF;
    END $$;
    CREATE FUNCTION share(name TEXT, agent_name TEXT, workspace_name TEXT, write BOOLEAN) RETURNS VOID
        LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO openclaw_memory.shares
            SELECT name, memory, write FROM openclaw_memory.memories
            WHERE agent = agent_name AND workspace = workspace_name
            ON CONFLICT (role, memory) DO UPDATE SET writes = write;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no memory of the agent % in the workspace %', agent_name, workspace_name;
        END IF;
    END $$;
    """

#: What holds for all functions and tables, whatever part they are of: nobody's search path is that of a function, and
#: the rows of a memory go with it.  Rows of memories that went before are nobody's to see.
_GUARDS = """
    DO $$
    DECLARE each TEXT;
    BEGIN
        FOR each IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'openclaw_memory'::regnamespace
        LOOP
            EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', each);
        END LOOP;
        FOR each IN
            SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'memory'
            WHERE c.relnamespace = 'openclaw_memory'::regnamespace AND c.relkind IN ('r', 'p')
                AND c.relname <> 'memories' AND NOT c.relispartition AND NOT EXISTS (
                    SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f')
        LOOP
            EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', each);
            EXECUTE format('DELETE FROM %s WHERE memory NOT IN (SELECT memory FROM openclaw_memory.memories)', each);
            EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY, ADD FOREIGN KEY (memory)
                REFERENCES openclaw_memory.memories ON DELETE CASCADE', each);
        END LOOP;
    END $$;
    """


class Server:
    """One pool of connections to a URL, shared by all that this process opens there."""

    _all: ClassVar[dict[str, Server]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = shown(url)
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None
        self._uses = 0
        self._opening, self._trying = threading.Lock(), threading.Lock()
        self._prepared: set[str] = set()
        #: Until when it is not tried again and why, and when a connection was had last.
        self._away: tuple[float, str] | None = None
        self._reached = float("-inf")
        #: The connections by which a thread reads, innermost last, and until when it waits.
        self._local = threading.local()

    @classmethod
    def of(cls, url: str) -> Server:
        """The server at ``url``; nothing is connected yet.  Each caller closes it once."""
        with cls._lock:
            server = cls._all.setdefault(url, cls(url))
            server._uses += 1
            return server

    def close(self) -> None:
        """Let go of it; the connections are closed when all who asked for it have."""
        with self._lock:
            self._uses -= 1
            if self._uses > 0:
                return
            self._all.pop(self._url, None)
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    @contextlib.contextmanager
    def transaction(
        self,
        read: bool = False,
        timeout: float | None = None,
        wait: float = 30.0,
        memory: int | None = None,
        joins: bool = False,
    ) -> Iterator[psycopg.Connection[Any]]:
        """A transaction that is committed at the end of the block and undone by an exception.

        With ``read`` it has one snapshot and cannot write.  No statement takes longer than ``timeout`` seconds, no
        lock is waited for longer than ``wait``.  With ``memory`` the views of that one are in front of the tables.
        What reads and ``joins`` is a part of the snapshot that this thread reads already, unless it has written since:
        who holds a connection and waits for another one would wait for ever once all threads do.
        Raises :class:`StoreUnreachable` where there is no connection, :class:`LeaseTimeout` where a limit was met,
        :class:`StoreError` for whatever else the server says.
        """
        import psycopg

        if self._away is not None and time.monotonic() < self._away[0]:
            raise StoreUnreachable(self._away[1])
        reading: list[psycopg.Connection[Any]] = self._local.__dict__.setdefault("reading", [])
        try:
            if read and joins and reading:
                with _within(reading[-1], _settings(timeout, wait, memory)):
                    yield reading[-1]
                return
            connection = self._begun(read, timeout, wait, memory)
            try:
                self._away = None
                with _listed(reading, connection) if read else contextlib.nullcontext():
                    yield connection
                connection.execute("COMMIT")
                if not read:
                    reading.clear()  # their snapshots lack what was written
            except BaseException:
                with contextlib.suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._give_back(connection)
        except psycopg.Error as error:
            raise self.translated(error) from error

    @contextlib.contextmanager
    def patience(self, until: Deadline) -> Iterator[None]:
        """Let this thread wait for the server no longer than ``until`` in the block."""
        before: Deadline = getattr(self._local, "until", NEVER)
        self._local.until = min(before, until)
        try:
            yield
        finally:
            self._local.until = before

    def left(self) -> float | None:
        """The seconds that this thread may wait; ``None`` for as long as it takes."""
        until: Deadline = getattr(self._local, "until", NEVER)
        return until.left()

    def remarks(self) -> list[str]:
        """What there is to say while the server is away."""
        return [] if self._away is None else [f"answered from memory, which may be out of date: {self._away[1]}"]

    def prepare(self, part: str, tables: str) -> None:
        """Make the tables of ``part``, which is SQL, where they are not there yet; under a lock.

        Raises :class:`StoreError` where those of another version are there, and changes nothing then.
        """
        parts = {"core": _CORE, part: tables, "guards": _GUARDS}
        if self._prepared.issuperset(parts):
            return
        with self.transaction() as c:
            there = self._parts(c)
        if not there.issuperset(parts):
            with self.transaction(wait=60.0) as c:
                c.execute("SELECT pg_advisory_xact_lock(%s)", [_MAKING])
                with self._owning():
                    self._make(c, parts)
        self._prepared.update(parts)

    def _parts(self, c: psycopg.Connection[Any]) -> set[str]:
        """The parts whose tables are there."""
        there = c.execute("SELECT to_regclass('openclaw_memory.schemas') IS NOT NULL").fetchone()
        if not there or not there[0]:
            return set()
        found = dict(c.execute("SELECT part, version FROM openclaw_memory.schemas").fetchall())
        for name, version in found.items():
            if version != VERSION:
                raise StoreError(
                    f"{self.name}: the tables of {name} have the version {version}, and this openclaw-memory knows "
                    f"{VERSION}; use the one that made them, or choose another database"
                )
        return set(found)

    @contextlib.contextmanager
    def _owning(self) -> Iterator[None]:
        """Say who has to run what makes the tables, where this role may not."""
        import psycopg

        try:
            yield
        except psycopg.errors.InsufficientPrivilege as error:
            first = str(error).strip().splitlines()[0]
            raise StoreError(
                f"{self.name}: the tables cannot be made by this role ({first}); let the role that owns the database "
                "run a command first, such as: openclaw-memory ingest"
            ) from error

    def _make(self, c: psycopg.Connection[Any], parts: dict[str, str]) -> None:
        encoding = c.execute("SHOW server_encoding").fetchone()
        if encoding != ("UTF8",):
            raise StoreError(
                f"{self.name}: the database cannot hold every character (its encoding is {encoding and encoding[0]}); "
                "create another one: CREATE DATABASE memories ENCODING 'UTF8' TEMPLATE template0"
            )
        c.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; CREATE SCHEMA IF NOT EXISTS {VIEWS}")
        c.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.schemas (part TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        there = self._parts(c)
        for name, tables in parts.items():
            if name not in there or name == "guards":  # which are for what is new, too
                c.execute(tables)
                c.execute("INSERT INTO schemas VALUES (%s, %s) ON CONFLICT DO NOTHING", [name, VERSION])
        c.execute("SELECT permit(role, writes) FROM roles WHERE to_regrole(quote_ident(role)) IS NOT NULL")

    def _begun(self, read: bool, timeout: float | None, wait: float, memory: int | None) -> psycopg.Connection[Any]:
        """A connection in a transaction; one that the server has closed since its last use is replaced."""
        import psycopg

        begin = f"BEGIN {'ISOLATION LEVEL REPEATABLE READ READ ONLY' if read else ''}; "
        begin += _settings(timeout, wait, memory)
        until = time.monotonic() + (wait if timeout is None else min(wait, timeout))
        for attempt in range(_MOST + 1):
            connection = self._taken(max(until - time.monotonic(), 0.1), attempt > 0 or self._away is not None)
            try:
                connection.execute(begin)
            except psycopg.OperationalError:
                self._give_back(connection)
                if attempt == _MOST:
                    raise
            except BaseException:
                self._give_back(connection)
                raise
            else:
                return connection
        raise AssertionError("unreachable")

    def _taken(self, seconds: float, doubtful: bool) -> psycopg.Connection[Any]:
        from psycopg_pool import PoolTimeout

        pool = self._opened(seconds, doubtful)
        try:
            return pool.getconn(timeout=seconds)
        except PoolTimeout as error:
            raise LeaseTimeout(f"{self.name}: no free connection in {seconds:.0f} s; try again") from error

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._opening:
            if self._pool is None:
                connection.close()
            else:
                self._pool.putconn(connection)

    def _opened(self, seconds: float, doubtful: bool) -> ConnectionPool[psycopg.Connection[Any]]:
        """The pool; a connection is tried first where it may have none: it would wait for long, and say nothing.

        One thread tries at a time, and its outcome is that of all who have waited for it.
        """
        psycopg, pools = _driver()
        asked = time.monotonic()
        if self._pool is not None and not doubtful:
            return self._pool
        if not self._trying.acquire(timeout=seconds):
            raise StoreUnreachable(f"{self.name}: the server has not answered yet; check store.url and the server")
        try:
            if self._away is not None and self._away[0] - _PAUSE >= asked:
                raise StoreUnreachable(self._away[1])
            if self._pool is not None and self._reached >= asked:
                return self._pool
            given = {"application_name": "openclaw-memory", "connect_timeout": max(int(min(seconds, 10)), 2)}
            try:
                options = {**given, **psycopg.conninfo.conninfo_to_dict(self._url)}
            except psycopg.ProgrammingError:
                raise StoreError(
                    f"{self.name}: this is no URL of PostgreSQL; it is to look like "
                    "postgresql://user@host:5432/database, with special characters as %40"
                ) from None  # what libpq says of it may hold the password
            try:
                psycopg.connect(**options).close()
            except psycopg.Error as error:
                raise self.translated(error) from error
            self._reached = time.monotonic()
            with self._opening:
                if self._pool is None:
                    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what it warns of is raised here
                    self._pool = pools.ConnectionPool(
                        kwargs={**options, "autocommit": True, "prepare_threshold": None},
                        min_size=0, max_size=_MOST, max_idle=60.0, num_workers=1, reconnect_timeout=1.0, open=True,
                    )  # fmt: skip
                return self._pool
        finally:
            self._trying.release()

    def translated(self, error: psycopg.Error) -> StoreError:
        """What a person is told of an error of the driver."""
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
        # A pool in between answers by an error of the class 08 while its server is away.
        if lost or isinstance(error, gone) or (error.sqlstate or "").startswith("08"):
            said = f"{self.name}: the server cannot be reached ({first}); check store.url and the server"
            self._away = time.monotonic() + _PAUSE, said
            return StoreUnreachable(said)
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreError(f"{self.name}: the server's disk is full ({first}); nothing was lost: free some space")
        kind = Refused if isinstance(error, (psycopg.DataError, psycopg.IntegrityError)) else StoreError
        return kind(f"{self.name}: the server refused ({first}); run: openclaw-memory doctor")


def memory_id(c: psycopg.Connection[Any], agent: str, workspace: str) -> int:
    """The number of a memory in a transaction; made where it is new, and then this role's.

    Raises :class:`StoreError` when it is another role's, or new and this role may only read, and ``LookupError`` when
    it is new to a reading transaction.
    """
    find = "SELECT memory FROM memories WHERE agent = %s AND workspace = %s"
    row = c.execute(find, [agent, workspace]).fetchone()
    if row is None:
        if c.execute("SELECT current_setting('transaction_read_only')").fetchone() == ("on",):
            raise LookupError(f"{agent} {workspace}")
        if c.execute("SELECT has_table_privilege('memories', 'INSERT')").fetchone() != (True,):
            raise StoreError(
                f"the agent {agent!r} has no memory in the workspace {workspace!r} yet, and this role may only read; "
                f"let a role that writes ingest first, or the owner of the tables runs in SQL: "
                f"SELECT {SCHEMA}.permit('role', true)"
            )
        made = "INSERT INTO memories (agent, workspace) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        c.execute(made, [agent, workspace])
        row = c.execute(find, [agent, workspace]).fetchone()
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


@contextlib.contextmanager
def _within(connection: psycopg.Connection[Any], settings: str) -> Iterator[None]:
    """Other settings for the block, within the transaction there is, which goes on as it was whatever happens here."""
    connection.execute(f"SAVEPOINT part; {settings}")
    try:
        yield
    finally:
        connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")


@contextlib.contextmanager
def _listed(reading: list[psycopg.Connection[Any]], connection: psycopg.Connection[Any]) -> Iterator[None]:
    reading.append(connection)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            reading.remove(connection)


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
