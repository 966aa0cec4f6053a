"""The state of a workspace in a database: the tables of the SQLite file, with who wrote a row last.

All agents of a workspace share it: it is the memory of nobody, the agent ``""``, in that workspace.  The keys of what
was forgotten are on no server: they lie where those of a file do, by a name that the database gives the state, so that
it is the same on every machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import LeaseTimeout, StoreError, StoreUnreachable
from ..state import StateError
from ..state.database import Row, State, StateReport, Transaction, renew
from ..state.keys import Keys
from ..state.schema import PATIENCE
from .connections import Server, memory_id

if TYPE_CHECKING:
    import psycopg

#: The class of the advisory lock of who writes a state; its object is the memory.
_WRITING = 0x6F636D73
#: Seconds that a question to the state may take at most.
_READING = 10.0

_TABLES = {
    "versions": "name TEXT, token TEXT NOT NULL, KEY (name)",
    "tombstones": "hash TEXT, key TEXT, at TEXT NOT NULL, KEY (hash, key)",
    "forgetting": "id TEXT, todo TEXT NOT NULL, at TEXT NOT NULL, KEY (id)",
    "use": """unit TEXT, path TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, shown BIGINT NOT NULL,
        used BIGINT NOT NULL, useful BIGINT NOT NULL, irrelevant BIGINT NOT NULL, KEY (unit)""",
    "retired": """path TEXT, size BIGINT NOT NULL, mtime_ns BIGINT NOT NULL, sha256 TEXT NOT NULL,
        origin TEXT NOT NULL, KEY (path)""",
    "flags": "name TEXT, value TEXT NOT NULL, at TEXT NOT NULL, KEY (name)",
    "state_identity": "id TEXT, KEY (id)",
}


def _table(name: str, columns: str) -> str:
    body, _, key = columns.rpartition(", KEY (")
    body = body.replace(" TEXT", ' TEXT COLLATE "C"')
    return (
        f"CREATE TABLE {name} (memory INTEGER NOT NULL DEFAULT current_setting('openclaw_memory.memory')::INTEGER, "
        f"{body}, "
        "author TEXT NOT NULL DEFAULT coalesce(current_setting('openclaw_memory.author', true), ''), "
        f"PRIMARY KEY (memory, {key}); SELECT protect('{name}'); SELECT show('{name}');"
    )


#: Given to :meth:`Server.prepare` as the part ``state``.
TABLES_OF_STATE = "\n".join(_table(*each) for each in _TABLES.items())


class ServerState(State):
    """The state of the ``workspace``, written by ``agent``; otherwise as :class:`~openclaw_memory.store.state.State`.

    What is deleted is gone for every question, and stays in the server's log, its replicas and its backups for as long
    as these are kept.
    """

    def __init__(self, url: str, workspace: str, agent: str, keys: Keys) -> None:
        super().__init__(None)
        self._server = Server.of(url)
        self._workspace = workspace
        self._agent = agent
        self._kept = keys
        self._memory: int | None = None
        self._closed = False

    # -- reading and writing ------------------------------------------------------------------------

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query; none where nothing was ever written.  Raises :class:`StateError`."""
        with self._asking(_READING):
            memory = self._known(write=False)
            if memory is None:
                return []
            left = self._server.left()
            seconds = _READING if left is None else min(left, _READING)
            with self._server.transaction(read=True, timeout=seconds, memory=memory, joins=True) as c:
                return c.execute(_marked(query), list(values)).fetchall()

    @contextmanager
    def writing(self, *changed: str, patience: float = PATIENCE, lasting: bool = True) -> Iterator[Transaction]:
        """A transaction in which nobody else writes; what goes by the names in ``changed`` gets another version.

        Raises :class:`StateError`, also after ``patience`` seconds of another one's writing; nothing is written then.
        """
        with self._asking(patience):
            memory = self._known(write=True)
            assert memory is not None
            with self._server.transaction(wait=patience, memory=memory) as c:
                c.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_WRITING, memory])
                c.execute("SELECT set_config('openclaw_memory.author', %s, true)", [self._agent])
                connection = _Statements(c)
                yield connection
                renew(connection, changed)

    def check(self) -> None:
        """As for a file, and raise where the state is there and another role's: it is not known then what it holds."""
        import psycopg

        try:
            self._known(write=True)
        except StoreError as error:
            if not isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
                self._problem = str(error)
                raise _of(error) from error
        super().check()

    def wipe(self) -> None:
        """Nothing: the server overwrites what was deleted when it needs the room."""

    @property
    def file(self) -> Path | None:
        """It is in no file."""
        return None

    @property
    def where(self) -> str:
        """The server, for people; without the password."""
        return self._server.name

    # -- keys ---------------------------------------------------------------------------------------

    def keys(self) -> Mapping[str, bytes]:
        """The keys of tombstones by their ids, as they are on this machine."""
        name = self._identity()
        return {} if name is None else self._kept.all(name)

    def add_key(self, key: bytes) -> None:
        """Keep a key on this machine."""
        name = self._identity()
        if name is None:
            with self.writing() as connection:
                if not connection.execute("SELECT id FROM state_identity").fetchall():
                    connection.execute("INSERT INTO state_identity VALUES (?)", [secrets.token_hex(16)])
            name = self._identity()
        assert name is not None
        self._kept.add(name, key)

    def where_keys(self) -> str:
        """Where the keys are on this machine, for people."""
        name = None
        with suppress(StateError):
            name = self._identity()
        return "nowhere yet" if name is None else self._kept.where(name)

    def _identity(self) -> str | None:
        rows = self.read("SELECT id FROM state_identity")
        return f"server-{rows[0][0]}" if rows else None

    # -- as a whole -----------------------------------------------------------------------------------

    def report(self) -> StateReport:
        """What it holds and where.  Never raises for what cannot be read: ``warning`` says so."""
        exists = False
        with suppress(StateError):
            exists = bool(self.read("SELECT 1 FROM versions LIMIT 1"))
        return self._report(None, exists, 0, self.where)

    def purge(self) -> None:
        """Delete everything, the index of the agent that writes here, and the keys on this machine."""
        name = self._identity()
        with self.writing() as connection:
            for table in _TABLES:
                connection.execute(f"DELETE FROM {table}")
            connection.execute("DELETE FROM memories WHERE agent = ? AND workspace = ?", [self._agent, self._workspace])
        if name is not None:
            self._kept.remove(name)

    def close(self) -> None:
        """Let go of the server."""
        if not self._closed:
            self._closed = True
            self._server.close()

    # -- the server -----------------------------------------------------------------------------------

    def _known(self, write: bool) -> int | None:
        """The number of this memory; ``None`` where there is none, and nothing is to be written."""
        if self._memory is None:
            self._server.prepare("state", TABLES_OF_STATE)
            with suppress(LookupError), self._server.transaction(read=not write, joins=True) as c:
                self._memory = memory_id(c, "", self._workspace)
        return self._memory

    @contextmanager
    def _asking(self, patience: float) -> Iterator[None]:
        """Raise :class:`StateError` for what the server says."""
        try:
            yield
        except LeaseTimeout as error:
            raise StateError(
                f"{self.where}: another process has been writing the state for {patience:g} s, or the server is slow; "
                "try again when that has ended"
            ) from error
        except StoreError as error:
            raise _of(error) from error


class StateUnreachable(StateError, StoreUnreachable):
    """The server that holds the state does not answer."""


def _of(error: StoreError) -> StateError:
    return (StateUnreachable if isinstance(error, StoreUnreachable) else StateError)(str(error))


class _Statements:
    """Statements of SQLite, run by PostgreSQL."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run one statement."""
        return self._connection.execute(_marked(sql), list(values))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> object:
        """Run a statement once for each row of values."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(sql), [list(row) for row in rows])
        return None


def _marked(sql: str) -> Any:
    return sql.replace("%", "%%").replace("?", "%s")
