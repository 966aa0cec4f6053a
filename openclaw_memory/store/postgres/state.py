"""The state of a workspace in a database: the tables of the SQLite file, with the agent that wrote a row last.

All agents of a workspace share it: it belongs to the agent ``""`` of that workspace.  The keys of forgotten texts are
on no server: they lie in the same folder as those of a file, by a name that the database gives the state, so that it
is the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import LeaseTimeout, StoreError, StoreUnreachable
from ..state import StateError
from ..state.database import LOCK_TIMEOUT, Row, State, StateReport, Transaction, renew_versions
from ..state.location import Keys
from .connections import Server, memory_id
from .schema import STATE, STATE_TABLES

if TYPE_CHECKING:
    import psycopg

#: Seconds that a query of the state may take.
_READING = 10.0


class ServerState(State):
    """The state of the ``workspace``, written by ``agent``, in the contract of :class:`~..state.database.State`.

    Deleted rows are gone for every query, and stay in the server's log, its replicas and its backups for as long as
    these are kept.
    """

    def __init__(self, url: str, workspace: str, agent: str, keys: Keys) -> None:
        self._problem: str | None = None
        self._server = Server.for_url(url)
        self._workspace = workspace
        self._agent = agent
        self._keys_here = keys
        self._memory: int | None = None
        self._closed = False

    # -- reading and writing ------------------------------------------------------------------------

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._translating_server(_READING):
            memory = self._find_memory(write=False)
            if memory is None:
                return []
            left = self._server.left()
            seconds = _READING if left is None else min(left, _READING)
            with self._server.transaction(read=True, timeout=seconds, memory=memory, of_state=True) as c:
                return c.execute(_with_marks(query), list(values)).fetchall()

    @contextmanager
    def writing(self, *changed: str, timeout: float = LOCK_TIMEOUT, lasting: bool = True) -> Iterator[Transaction]:
        with self._translating_server(timeout):
            memory = self._find_memory(write=True)
            assert memory is not None
            with self._server.transaction(wait=timeout, memory=memory, of_state=True) as c:
                c.execute("SELECT pg_advisory_xact_lock(x'6F636D73'::INTEGER, %s)", [memory])
                c.execute("SELECT set_config('openclaw_memory.author', %s, true)", [self._agent])
                connection = _Statements(c)
                yield connection
                renew_versions(connection, changed)

    def check(self) -> None:
        """Raise :class:`StateError` if the state cannot be read, a key is missing, or the state is another role's."""
        import psycopg

        try:
            self._find_memory(write=True)
        except StoreError as error:
            if not isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
                self._problem = str(error)
                raise _state_error(error) from error
        super().check()

    def wipe(self) -> None:
        """Do nothing: the server overwrites deleted rows when it needs the space."""

    @property
    def file(self) -> Path | None:
        return None

    @property
    def where(self) -> str:
        """The server's URL for people, without the password."""
        return self._server.name

    # -- keys ---------------------------------------------------------------------------------------

    def keys(self) -> Mapping[str, bytes]:
        name = self._identity()
        return {} if name is None else self._keys_here.all(name)

    def add_key(self, key: bytes) -> None:
        name = self._identity()
        if name is None:
            with self.writing() as connection:
                if not connection.execute("SELECT id FROM state_identity").fetchall():
                    connection.execute("INSERT INTO state_identity VALUES (?)", [os.urandom(16).hex()])
            name = self._identity()
        assert name is not None
        self._keys_here.add(name, key)

    def keys_place(self) -> str:
        name = None
        with suppress(StateError):
            name = self._identity()
        return "nowhere yet" if name is None else self._keys_here.location(name)

    def _identity(self) -> str | None:
        rows = self.read("SELECT id FROM state_identity")
        return f"server-{rows[0][0]}" if rows else None

    # -- as a whole -----------------------------------------------------------------------------------

    def report(self) -> StateReport:
        exists = False
        with suppress(StateError):
            exists = bool(self.read("SELECT 1 FROM versions LIMIT 1"))
        return self._report(None, exists, 0, self.where)

    def purge(self) -> None:
        """Delete everything, the index of this agent, and the keys on this machine."""
        name = self._identity()
        with self.writing() as connection:
            for table in STATE_TABLES:
                connection.execute(f"DELETE FROM {table}")
            connection.execute("DELETE FROM memories WHERE agent = ? AND workspace = ?", [self._agent, self._workspace])
        if name is not None:
            self._keys_here.remove(name)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._server.close()

    # -- the server -----------------------------------------------------------------------------------

    def _find_memory(self, write: bool) -> int | None:
        """Return the number of this memory; ``None`` if there is none and ``write`` is false."""
        if self._memory is None:
            self._server.prepare("state", STATE)
            with suppress(LookupError), self._server.transaction(read=not write, of_state=True) as c:
                self._memory = memory_id(c, "", self._workspace)
        return self._memory

    @contextmanager
    def _translating_server(self, timeout: float) -> Iterator[None]:
        """Raise :class:`StateError` for errors of the server."""
        try:
            yield
        except LeaseTimeout as error:
            raise StateError(
                f"{self.where}: another process has been writing the state for {timeout:g} s, or the server is slow; "
                "try again when that has ended"
            ) from error
        except StoreError as error:
            raise _state_error(error) from error


class StateUnreachable(StateError, StoreUnreachable):
    """The server that holds the state does not answer."""


def _state_error(error: StoreError) -> StateError:
    return (StateUnreachable if isinstance(error, StoreUnreachable) else StateError)(str(error))


class _Statements:
    """Statements of SQLite, run by PostgreSQL."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run one statement."""
        return self._connection.execute(_with_marks(sql), list(values))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> object:
        """Run a statement once for each row of values."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_marks(sql), [list(row) for row in rows])
        return None


def _with_marks(sql: str) -> Any:
    return sql.replace("%", "%%").replace("?", "%s")
