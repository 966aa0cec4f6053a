"""The parent's side of SQL: a child process asked, watched and ended."""

from __future__ import annotations

import pickle
import threading
from types import TracebackType
from typing import Any

from ...errors import RequestError, StoreError
from ...system.child import Child
from ...system.deadline import Deadline
from .sql_worker import Question

#: Seconds in which the tables have to be ready, and between two looks at a query that runs.
_READY, _LOOK = 120.0, 0.02

Answer = tuple[tuple[str, ...], list[tuple[Any, ...]]]


class SqlProcess:
    """One question in a child process, which has ended when the block is left."""

    def __init__(self, question: Question, timeout: float) -> None:
        self._timeout = timeout
        self._most = question.megabytes
        try:
            self._child = Child(f"{__package__}.sql_worker")
        except OSError as error:
            raise StoreError(f"no process for the query can be started ({error.strerror or error})") from error
        self._until = Deadline.after(_READY)
        self._resident: int | None = None
        self._why: str | None = None
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._watching, name="sql", daemon=True)
        self._watch.start()
        self._child.send({}, pickle.dumps(question))

    def __enter__(self) -> SqlProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._watch.join()
        self._child.end()

    def answer(self) -> Answer:
        """Columns and rows.

        Raises DuckDB's error, and :class:`~openclaw_memory.errors.RequestError` for a query that was stopped or has
        ended the process.
        """
        self._frame()
        self._until, self._resident = Deadline.after(self._timeout), self._takes() + self._most * 1024 * 1024
        header, body = self._frame()
        return tuple(header["columns"]), pickle.loads(body)

    def _frame(self) -> tuple[dict[str, Any], bytes]:
        frame = self._child.receive()
        if frame is None:
            raise RequestError(self._ended())
        if "error" in frame[0]:
            raise self._error(**frame[0])
        return frame

    def _error(self, error: str, text: str, **_: Any) -> Exception:
        import duckdb

        kind = getattr(duckdb, error, None)
        if isinstance(kind, type) and issubclass(kind, duckdb.Error):
            return kind(text)
        return RequestError(f"the query failed: {error}: {' '.join(text.split())}")

    def _ended(self) -> str:
        how, _, words = self._child.ended()
        return self._why or f"the query ended DuckDB {how}{words}; nothing was changed: ask in another way"

    def _watching(self) -> None:
        while not self._done.wait(_LOOK):
            if self._until.passed:
                seconds = self._timeout if self._resident is not None else _READY
                self._why = (
                    f"the query was stopped after {seconds:g} s, as nobody else can use the index meanwhile; narrow "
                    "it, allow more with --timeout, or run it over the files of: openclaw-memory export DIR"
                )
            elif self._resident is not None and self._takes() > self._resident:
                self._why = (
                    f"the query needs too much memory (more than {self._most} MB); narrow it, or raise "
                    "store.memory_limit_mb"
                )
            else:
                continue
            self._child.kill()
            return

    def _takes(self) -> int:
        import psutil

        try:
            return int(psutil.Process(self._child.pid).memory_info().rss)
        except psutil.Error:  # it has just ended
            return 0
