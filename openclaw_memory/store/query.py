"""Read-only SQL over the index: what is asked, what is refused, and how a file that nobody may write is opened."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from ..types import ExportReport, QueryResult
from . import export, views
from .database import Database
from .derived import Collect, KeywordSearch

if TYPE_CHECKING:
    import duckdb

    from ..settings import StoreSettings
    from .protocol import ExportProgress, KeywordIndex

#: What is in front of the first word of a statement.
_FIRST_WORD = re.compile(r"(?>[\s(]|--[^\n]*|/\*(?>.*?\*/))*+(\w+)", re.DOTALL)
#: So often rows are collected anew when another process writes meanwhile; the last time they are taken as they are.
_ATTEMPTS = 4
#: Rows that are fetched at once.
_ROWS = 2_048
#: A connection that reaches nothing outside of it.
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_ALLOWED = "SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW or SUMMARIZE"


def checked(query: str) -> None:
    """Raise :class:`RequestError` unless ``query`` is one statement that only reads."""
    import duckdb

    try:
        query.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError("the query is not Unicode text; look for a byte that is no character") from None
    found = _FIRST_WORD.match(query)
    word = found[1].upper() if found else ""
    refused = f"{word} is refused: SQL only reads the index; ask with {_ALLOWED}"
    with duckdb.connect(config=_CLOSED) as c:
        try:
            statements = c.extract_statements(query)
        except duckdb.PermissionException as error:  # reading some statements takes reading files
            raise RequestError(refused) from error
        except duckdb.Error as error:
            raise RequestError(f"the query cannot be read: {cause(error)}") from error
    kinds = [statement.type.name for statement in statements]
    if not kinds:
        raise RequestError("the query is empty")
    if word == "PIVOT" and kinds == ["CREATE", "SELECT"]:
        raise RequestError("PIVOT must name its values here: PIVOT … ON column IN (value, …)")
    if len(kinds) > 1:
        raise RequestError(f"one statement at a time: this is {len(kinds)}")
    if kinds != ["SELECT"] or word == "PRAGMA":
        raise RequestError(refused)


def cause(error: BaseException) -> str:
    """What DuckDB says, on one line, without the quoted statement."""
    text = str(error).split("\n\nLINE ")[0].split("\nLINE ")[0]
    return " ".join(text.split())


def _explained(error: duckdb.Error, timeout: float) -> RequestError:
    import duckdb

    said = cause(error)
    if isinstance(error, duckdb.InterruptException):
        return RequestError(
            f"the query was stopped after {timeout:g} s, as nobody else can use the index meanwhile; narrow it, "
            "allow more with --timeout, or run it over the files of: openclaw-memory export DIR"
        )
    if isinstance(error, duckdb.PermissionException):
        return RequestError(f"refused: SQL reads the index and no other file ({said})")
    if isinstance(error, duckdb.OutOfMemoryException):
        first = str(error).splitlines()[0]
        return RequestError(f"the query needs too much memory ({first}); narrow it, or raise store.memory_limit_mb")
    if "'pytz'" in said:
        return RequestError("a time with a time zone cannot be shown; cast it, as in: now()::TIMESTAMP")
    return RequestError(f"the query failed: {said}")


class Queries:
    """The part of the DuckDB store that answers SQL and exports: methods of the store's protocol."""

    _db: Database
    _settings: StoreSettings
    keyword_index: Callable[[], KeywordIndex]

    def query(
        self, sql: str, collect: Collect, keywords: KeywordSearch, limit: int | None = None, timeout: float = 20.0
    ) -> QueryResult:
        """The answer of one statement that only reads."""
        started = time.monotonic()
        checked(sql)
        named = views.named(sql)
        if "match_bm25" in named and self._uses_fts():
            self.keyword_index().refresh()  # builds the extension's index anew where texts have changed
        with self._reading(named, collect, keywords) as c:
            for setting in (
                "python_enable_replacements = false",
                "enable_external_access = false",
                "lock_configuration = true",
            ):
                c.execute(f"SET {setting}")
            columns, rows = _answer(c, sql, None if limit is None else limit + 1, timeout, self._db.doubts)
        kept = rows if limit is None else rows[:limit]
        took = (time.monotonic() - started) * 1000
        return QueryResult(columns, tuple(kept), round(took, 1), truncated=len(kept) < len(rows))

    def export(
        self, folder: Path, collect: Collect, overwrite: bool = False, progress: ExportProgress = export.silent
    ) -> ExportReport:
        """Write every table as a Parquet file."""
        started = time.monotonic()
        target = export.Target(folder, overwrite)
        with target.filling() as temporary:
            with self._reading(views.DERIVED | {views.HITS}, collect, None, temporary / export.SPILL) as c:
                progress("export", 0, len(views.TABLES))
                written = export.write(c, temporary, progress)
            tables = target.take(temporary, written)
        return ExportReport(str(folder), tables, time.monotonic() - started)

    def _uses_fts(self) -> bool:
        return self._settings.keyword_index == "fts"

    @contextlib.contextmanager
    def _reading(
        self,
        named: frozenset[str],
        collect: Collect,
        keywords: KeywordSearch | None,
        spill: Path | None = None,
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with every table, in step with what ``collect`` said."""
        wanted = named & views.DERIVED
        for attempt in range(1, _ATTEMPTS + 1):
            before = self._version() if wanted else []
            derived = collect(wanted)
            with self._db.read_only(views.INDEX, spill) as c:
                if wanted and attempt < _ATTEMPTS and _version(c, f"{views.INDEX}.") != before:
                    continue
                fts = "match_bm25" in named and self._uses_fts() and views.has_fts(c)
                views.define(c, derived, keywords, fts)
                if views.HITS in named:
                    views.put_hits(c)
                yield c
                return

    def _version(self) -> list[Any]:
        with self._db.read() as c:
            return _version(c)


def _version(c: duckdb.DuckDBPyConnection, schema: str = "") -> list[Any]:
    """What units, concepts and facts follow from; embedding changes nothing of it."""
    return c.execute(
        f"SELECT value FROM {schema}meta WHERE key = 'instance' UNION ALL "
        f"(SELECT value::VARCHAR FROM {schema}counters WHERE name IN ('texts', 'ontology') ORDER BY name) UNION ALL "
        f"(SELECT sha256 FROM {schema}workspace_files ORDER BY name)"
    ).fetchall()


def _answer(
    c: duckdb.DuckDBPyConnection,
    sql: str,
    most: int | None,
    timeout: float,
    doubts: Callable[[BaseException], bool],
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    import duckdb

    def stop() -> None:
        with contextlib.suppress(duckdb.Error):  # it has ended by itself meanwhile
            c.interrupt()

    clock = threading.Timer(timeout, stop)
    clock.daemon = True
    clock.start()
    rows: list[tuple[Any, ...]] = []
    try:
        c.execute(sql)
        columns = tuple(str(column[0]) for column in c.description or ())
        while most is None or len(rows) < most:
            some = c.fetchmany(_ROWS if most is None else min(_ROWS, most - len(rows)))
            if not some:
                break
            rows += some
    except duckdb.Error as error:
        if doubts(error):
            raise  # perhaps it is not the query: the file is looked at
        raise _explained(error, timeout) from error
    finally:
        clock.cancel()
    return columns, rows
