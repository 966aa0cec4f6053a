"""Read-only SQL over the index: what is asked, what is refused, and how a file that nobody may write is opened."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import RequestError
from ...model import ExportReport, Progress, QueryResult
from ..rows.derived import Collect
from ..tables.store import Store
from . import export, views
from .postings import PostingsFile
from .sql_process import Answer, SqlProcess
from .sql_worker import Question

if TYPE_CHECKING:
    import duckdb

#: What is in front of the first word of a statement.
_FIRST_WORD = re.compile(r"(?>[\s(]|--[^\n]*|/\*(?>.*?\*/))*+(\w+)", re.DOTALL)
#: Characters of a statement: reading it is done here and takes memory too.
_LONGEST = 100_000
#: Megabytes that a query may take beside ``store.memory_limit_mb``: rows on their way, and what DuckDB does not count.
_SPARE = 256
#: A connection that reaches nothing outside of it.
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def checked(query: str) -> None:
    """Raise :class:`RequestError` unless ``query`` is one statement that only reads."""
    import duckdb

    try:
        query.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError("the query is not Unicode text; look for a byte that is no character") from None
    if len(query) > _LONGEST:
        raise RequestError(f"the query has {len(query):,} characters; a statement has at most {_LONGEST:,}")
    found = _FIRST_WORD.match(query)
    word = found[1].upper() if found else ""
    allowed = "SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW or SUMMARIZE"
    refused = f"{word} is refused: SQL only reads the index; ask with {allowed}"
    with duckdb.connect(config=_CLOSED) as c:
        try:
            statements = c.extract_statements(query)
        except duckdb.PermissionException as error:  # reading some statements takes reading files
            raise RequestError(refused) from error
        except duckdb.Error as error:
            raise RequestError(f"the query cannot be read: {cause(error)}; mend it") from error
    kinds = [statement.type.name for statement in statements]
    if not kinds:
        raise RequestError("the query is empty")
    if word == "PIVOT" and kinds == ["CREATE", "SELECT"]:
        raise RequestError("PIVOT must name its values here: PIVOT … ON column IN (value, …)")
    if len(kinds) > 1:
        raise RequestError(f"these are {len(kinds)} statements; give one at a time")
    if kinds != ["SELECT"] or word == "PRAGMA":
        raise RequestError(refused)


def cause(error: BaseException) -> str:
    """What DuckDB says, on one line, without the quoted statement."""
    text = str(error).split("\n\nLINE ")[0].split("\nLINE ")[0]
    return " ".join(text.split())


def _explained(error: duckdb.Error) -> RequestError:
    import duckdb

    said = cause(error)
    if isinstance(error, duckdb.PermissionException):
        return RequestError(
            f"refused: SQL reads the index and no other file ({said}); ask the tables that SHOW TABLES names"
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        first = str(error).splitlines()[0]
        return RequestError(f"the query needs too much memory ({first}); narrow it, or raise store.memory_limit_mb")
    if "'pytz'" in said:
        return RequestError("a time with a time zone cannot be shown; cast it, as in: now()::TIMESTAMP")
    return RequestError(f"the query failed: {said}; mend it")


class Queries(Store):
    """The part of the DuckDB store that answers SQL and exports: methods of the store's protocol."""

    _db: PostingsFile

    def query(self, sql: str, collect: Collect, limit: int | None = None, timeout: float = 20.0) -> QueryResult:
        """The answer of one statement that only reads."""
        started = time.monotonic()
        checked(sql)
        named = views.named(sql)
        derived = collect(named & views.DERIVED)
        with self._db.apart() as options:
            question = Question(
                str(self._db.path), {**options, "temp_directory": ""}, sql, derived, named,
                None if limit is None else limit + 1, self._settings.memory_limit_mb + _SPARE,
            )  # fmt: skip
            columns, rows = self._asked(question, timeout)
        kept = rows if limit is None else rows[:limit]
        took = (time.monotonic() - started) * 1000
        return QueryResult(columns, tuple(kept), round(took, 1), truncated=len(kept) < len(rows))

    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file."""
        import duckdb

        started = time.monotonic()
        target = export.Target(folder, overwrite)
        with target.filling() as temporary:
            derived = collect(views.DERIVED)
            with self._db.apart() as options:
                options["temp_directory"] = str(temporary / export.SPILL)
                with duckdb.connect(":memory:", config=options) as c:
                    views.define(c, str(self._db.path), derived)
                    views.put_hits(c)
                    progress("export", 0, len(views.TABLES))
                    written = export.write(c, temporary, folder, progress)
            target.take(temporary, written)
        return ExportReport(str(folder), tuple(table for table, _ in written), time.monotonic() - started)

    def _asked(self, question: Question, timeout: float) -> Answer:
        import duckdb

        try:
            with SqlProcess(question, timeout) as process:
                return process.answer()
        except duckdb.Error as error:
            if self._db.doubts(error):
                raise  # perhaps it is not the query: the file is looked at
            raise _explained(error) from error
