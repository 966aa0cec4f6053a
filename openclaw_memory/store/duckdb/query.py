"""SQL of a person or a model: checked here, run in a child process, whose crash or memory cannot harm this one."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ... import patterns as re
from ...errors import RequestError, StoreError
from ...records import NamedTuple
from ...system.child import Child, serve, write_frame
from ...system.deadline import Deadline
from ..rows import ComputedTables
from . import views

if TYPE_CHECKING:
    import _duckdb as duckdb

SqlRows = tuple[tuple[str, ...], list[tuple[Any, ...]]]

#: The first word of a statement, behind parentheses and comments.
_FIRST_WORD = re.compile(r"(?>[\s(]|--[^\n]*|/\*(?>.*?\*/))*+(\w+)", re.DOTALL)
#: Characters of a statement: it is parsed in this process, which takes memory too.
_LONGEST = 100_000
#: Megabytes that a query may take beside ``store.memory_limit_mb``: for rows in transit, and for memory that DuckDB
#: does not count.
SPARE = 256
#: Seconds in which the tables have to be ready.
_READY_SECONDS = 120.0


class SqlRequest(NamedTuple):
    """A statement over an index file that nobody else uses meanwhile, and the rows of the computed tables.

    At most ``max_rows`` rows are returned; ``extra_megabytes`` may be taken beside the memory of the tables.
    """

    path: str
    options: Mapping[str, Any]
    sql: str
    computed: ComputedTables
    named: frozenset[str]
    max_rows: int | None
    extra_megabytes: int


def require_read_only(query: str) -> None:
    """Raise :class:`RequestError` unless ``query`` is one statement that only reads."""
    import _duckdb as duckdb

    try:
        query.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError("the query is not Unicode text; look for a byte that is no character") from None
    if len(query) > _LONGEST:
        raise RequestError(f"the query has {len(query):,} characters; a statement has at most {_LONGEST:,}")
    first = _FIRST_WORD.match(query)
    word = first[1].upper() if first else ""
    allowed = "SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW or SUMMARIZE"
    refused = f"{word} is refused: SQL only reads the index; ask with {allowed}"
    without_access: dict[str, str | bool | int | float | list[str]] = dict.fromkeys(
        ("enable_external_access", "autoinstall_known_extensions", "autoload_known_extensions"), "false"
    )
    with duckdb.connect(config=without_access) as c:
        try:
            statements = c.extract_statements(query)
        except duckdb.PermissionException as error:  # parsing some statements reads files
            raise RequestError(refused) from error
        except duckdb.Error as error:
            raise RequestError(f"the query cannot be read: {_cause(error)}; mend it") from error
    kinds = [statement.type.name for statement in statements]
    if not kinds:
        raise RequestError("the query is empty")
    if word == "PIVOT" and kinds == ["CREATE", "SELECT"]:
        raise RequestError("PIVOT must name its values here: PIVOT … ON column IN (value, …)")
    if len(kinds) > 1:
        raise RequestError(f"these are {len(kinds)} statements; give one at a time")
    if kinds != ["SELECT"] or word == "PRAGMA":
        raise RequestError(refused)


def run_query(request: SqlRequest, timeout: float, is_suspicious: Callable[[BaseException], bool]) -> SqlRows:
    """Return columns and rows.

    Raises :class:`~openclaw_memory.errors.RequestError` for a query that fails, is stopped or ends its process, and
    DuckDB's own error if it ``is_suspicious``: the file may be damaged.
    """
    import _duckdb as duckdb

    try:
        with _Process(request, timeout) as process:
            return process.run_query()
    except duckdb.Error as error:
        if is_suspicious(error):
            raise
        cause = _cause(error)
        if isinstance(error, duckdb.PermissionException):
            raise RequestError(
                f"refused: SQL reads the index and no other file ({cause}); ask the tables that SHOW TABLES names"
            ) from error
        if isinstance(error, duckdb.OutOfMemoryException):
            first = str(error).splitlines()[0]
            raise RequestError(
                f"the query needs too much memory ({first}); narrow it, or raise store.memory_limit_mb"
            ) from error
        if "'pytz'" in cause:
            raise RequestError("a time with a time zone cannot be shown; cast it, as in: now()::TIMESTAMP") from error
        raise RequestError(f"the query failed: {cause}; mend it") from error


def _cause(error: BaseException) -> str:
    """Return DuckDB's message on one line, without the quoted statement."""
    text = str(error).split("\n\nLINE ")[0].split("\nLINE ")[0]
    return " ".join(text.split())


class _Process:
    """A child process that runs one query, ended by a watching thread at its limits, and at the end of the block."""

    def __init__(self, request: SqlRequest, timeout: float) -> None:
        self._timeout = timeout
        self._extra_megabytes = request.extra_megabytes
        try:
            self._child = Child(__name__)
        except OSError as error:
            raise StoreError(f"no process for the query can be started ({error.strerror or error})") from error
        self._until = Deadline.after(_READY_SECONDS)
        self._limit: int | None = None
        self._stop_reason: str | None = None
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="sql", daemon=True)
        self._watcher.start()
        self._child.send({}, pickle.dumps(request))

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._watcher.join()
        self._child.end()

    def run_query(self) -> SqlRows:
        """Return columns and rows; raises DuckDB's error and :class:`~openclaw_memory.errors.RequestError`."""
        self._receive()
        self._until, self._limit = Deadline.after(self._timeout), self._resident() + self._extra_megabytes * 1024 * 1024
        header, body = self._receive()
        return tuple(header["columns"]), pickle.loads(body)

    def _receive(self) -> tuple[dict[str, Any], bytes]:
        import _duckdb as duckdb

        frame = self._child.receive()
        if frame is None:
            cause, _, words = self._child.wait_for_end()
            ended = f"the query ended DuckDB {cause}{words}; nothing was changed: ask in another way"
            raise RequestError(self._stop_reason or ended)
        if "error" not in frame[0]:
            return frame
        name, text = frame[0]["error"], frame[0]["text"]
        kind = getattr(duckdb, name, None)
        if isinstance(kind, type) and issubclass(kind, duckdb.Error):
            raise kind(text)
        raise RequestError(f"the query failed: {name}: {' '.join(text.split())}")

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            if self._until.passed:
                seconds = self._timeout if self._limit is not None else _READY_SECONDS
                self._stop_reason = (
                    f"the query was stopped after {seconds:g} s, as nobody else can use the index meanwhile; narrow "
                    "it, allow more with --timeout, or run it over the files of: openclaw-memory export DIR"
                )
            elif self._limit is not None and self._resident() > self._limit:
                self._stop_reason = (
                    f"the query needs too much memory (more than {self._extra_megabytes} MB); narrow it, or raise "
                    "store.memory_limit_mb"
                )
            else:
                continue
            self._child.kill()
            return

    def _resident(self) -> int:
        import psutil

        try:
            return int(psutil.Process(self._child.pid).memory_info().rss)
        except psutil.Error:  # it has just ended
            return 0


def main() -> None:
    """Run one query in the child process and write two frames: one when the tables are ready, one with the rows."""
    import _duckdb as duckdb

    frames, answers = serve()
    request: SqlRequest = pickle.loads(frames.get()[1])
    try:
        with duckdb.connect(":memory:", config=dict(request.options)) as c:
            views.define(c, request.path, request.computed)
            if views.HITS in request.named:
                views.put_hits(c)
            c.execute("SET python_enable_replacements = false")
            c.execute("SET enable_external_access = false")
            c.execute("SET lock_configuration = true")
            write_frame(answers, {})
            columns, rows = _run(c, request.sql, request.max_rows)
        write_frame(answers, {"columns": columns}, pickle.dumps(rows))
    except Exception as error:
        write_frame(answers, {"error": type(error).__name__, "text": str(error)})


def _run(c: duckdb.DuckDBPyConnection, sql: str, max_rows: int | None) -> SqlRows:
    c.execute(sql)
    columns = tuple(str(column[0]) for column in c.description or ())
    return columns, c.fetchall() if max_rows is None else c.fetchmany(max_rows)
