"""``sql`` and ``export``: query the memory with SQL that only reads, or write it as Parquet files."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from ..model import QueryResult, counted
from ..system.sanitize import escape_json
from ..system.serialize import to_json
from .context import CliContext, common_options, ingest_progress, say

#: Default number of rows for people.
_ROWS = 100


@click.command()
@click.argument("query", required=False)
@click.option("--limit", "-n", type=click.IntRange(min=1), metavar="N",
              help=f"At most N rows; default {_ROWS} for people, all of them as JSON.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=20.0, show_default=True, metavar="SECONDS",
              help="Stop a query after this long: nobody else can use the index meanwhile.")  # fmt: skip
@common_options
def sql(cli: CliContext, query: str | None, limit: int | None, timeout: float) -> None:
    """Ask the index with SQL; QUERY is read from standard input when it is not given, or is "-".

    Tables: memories, documents, concepts, edges, facts, usage.

    \b
      openclaw-memory sql "SELECT name, units FROM concepts ORDER BY units DESC LIMIT 5"
      openclaw-memory sql "SELECT citation, text FROM memories WHERE text ILIKE '%backup%'"

    Nothing can be written, and no other file can be read.
    """
    text = _text(query)
    with cli.memory() as memory:
        result = memory.sql(text, limit=limit if limit is not None or cli.json else _ROWS, timeout=timeout)
    if cli.json:
        say(_json(result))
        return
    _show(cli, result)
    if result.truncated:
        cli.remark(f"there are more than {len(result.rows)} rows; give --limit")
    cli.remark_on(result)


def _text(query: str | None) -> str:
    if query is None and sys.stdin.isatty():
        raise click.UsageError("no query: give it as an argument, or on standard input")
    try:
        text = sys.stdin.read() if query is None or query == "-" else query
    except UnicodeDecodeError as error:
        raise click.UsageError(f"the query is no text ({error.reason} at byte {error.start})") from error
    if not text.strip():
        raise click.UsageError("the query is empty")
    return text


def _plain(value: Any) -> Any:
    """Return a cell as a JSON value; numbers are not rounded."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _json(result: QueryResult) -> str:
    rows = [[_plain(value) for value in row] for row in result.rows]
    return escape_json(json.dumps({**to_json(replace(result, rows=())), "rows": rows}, ensure_ascii=False))


def _cell(plain: Any) -> Any:
    """Return a JSON value as the cell of a table: lists and mappings stay JSON."""
    if isinstance(plain, (bool, dict, list)):
        return json.dumps(plain, ensure_ascii=False)
    return "" if plain is None else plain


def _show(cli: CliContext, result: QueryResult, most: int = 120) -> None:
    """Print rows for people as a table, with at most ``most`` characters of each cell."""
    rows = [[_plain(value) for value in row] for row in result.rows]
    right = [
        name
        for name, *values in zip(result.columns, *rows, strict=True)
        if {type(value) for value in values if value is not None} in ({int}, {float}, {int, float})
    ]
    if result.columns:
        shown = ([f"{cell:.6g}" if isinstance(cell, float) else _cell(cell) for cell in row] for row in rows)
        cells = ([_shorten(cell, most) for cell in row] for row in shown)
        cli.table(cells, *(_shorten(name, most) for name in result.columns), right=right)
    say(f"({counted(len(rows), 'row')})")


def _shorten(value: Any, most: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@common_options
def export(cli: CliContext, folder: Path) -> None:
    """Write memories, documents, concepts, edges, facts and usage as Parquet files into DIR.

    DIR is new or empty; it is there as a whole or not at all.
    """
    with cli.memory() as memory, ingest_progress(cli) as show:
        report = memory.export(folder, progress=show)
    if cli.json:
        cli.emit(report)
    for table in report.tables:
        cli.say(f"{table.name:<10} {counted(table.rows, 'row'):>12}  {table.bytes / 1e3:>9.1f} kB")
    cli.say(f"{report.folder}: written in {report.seconds:.2f} s")
    cli.remark_on(report)
