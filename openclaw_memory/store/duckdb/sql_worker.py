"""The child process that runs a person's or a model's SQL: what it takes and how it ends concerns no other process."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...system.child import serve, write_frame
from ..rows.derived import Derived
from . import views

if TYPE_CHECKING:
    import duckdb

#: Rows that are fetched at once.
_ROWS = 2_048


@dataclass(frozen=True, slots=True)
class Question:
    """A statement over an index file that nobody else uses meanwhile, and what its tables are made of.

    ``most`` rows are wanted; ``megabytes`` may be taken beside what the tables take.
    """

    path: str
    options: Mapping[str, Any]
    sql: str
    derived: Derived
    named: frozenset[str]
    most: int | None
    megabytes: int


def main() -> None:
    """Answer one question: a frame that the tables are ready, and one with the rows."""
    import duckdb

    frames, answers = serve()
    question: Question = pickle.loads(frames.get()[1])
    try:
        with duckdb.connect(":memory:", config=dict(question.options)) as c:
            views.define(c, question.path, question.derived)
            if views.HITS in question.named:
                views.put_hits(c)
            c.execute("SET python_enable_replacements = false")
            c.execute("SET enable_external_access = false")
            c.execute("SET lock_configuration = true")
            write_frame(answers, {})
            columns, rows = _answer(c, question.sql, question.most)
        write_frame(answers, {"columns": columns}, pickle.dumps(rows))
    except Exception as error:
        write_frame(answers, {"error": type(error).__name__, "text": str(error)})


def _answer(c: duckdb.DuckDBPyConnection, sql: str, most: int | None) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    c.execute(sql)
    columns = tuple(str(column[0]) for column in c.description or ())
    rows: list[tuple[Any, ...]] = []
    while most is None or len(rows) < most:
        some = c.fetchmany(_ROWS if most is None else min(_ROWS, most - len(rows)))
        if not some:
            break
        rows += some
    return columns, rows
