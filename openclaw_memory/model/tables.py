"""Answers of SQL, and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer of an SQL query: names of columns, and rows of plain values; ``truncated`` by a limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    took_ms: float = 0.0
    truncated: bool = False
    stale: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """A file of an export: the table, where it is, and its size in rows and bytes."""

    name: str
    file: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote."""

    folder: str
    tables: tuple[ExportedTable, ...]
    seconds: float = 0.0
    stale: bool = False
    warning: str | None = None
