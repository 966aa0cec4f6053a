"""Rewriting a DuckDB file: deleted rows leave only free blocks behind, which keep their bytes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import StoreError
from ...system import atomic

if TYPE_CHECKING:
    import duckdb


def rewrite(path: Path, options: Mapping[str, Any]) -> None:
    """Put a copy of all rows of the closed file ``path`` in its place, in one step; the caller is its only owner.

    Killed on the way it leaves the old file as it was, and a folder beside it that the next call takes away.
    Raises :class:`~openclaw_memory.errors.StoreError` when that cannot be done, and DuckDB's own errors.
    """
    folder = Path(f"{path}.rewriting")
    try:
        # Left by who was killed at this, or in a query that did not fit into memory.
        for left in (folder, Path(f"{path}.tmp")):
            shutil.rmtree(left, ignore_errors=True)
        _empty_log(path, options)
        folder.mkdir(mode=0o700)
        try:
            copy = folder / path.name
            _copy(path, copy, {**options, "temp_directory": str(folder / "spill")})
            copy.chmod(0o600)
            atomic.move(copy, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{path}: the index cannot be rewritten ({error.strerror or error}); it is as it was: free some space, "
            "check the permissions of its folder, and run it again"
        ) from error


def _empty_log(path: Path, options: Mapping[str, Any]) -> None:
    """Bring into the file what is only in its log, which would be applied to the copy."""
    import duckdb

    log = Path(f"{path}.wal")
    if log.exists():
        with duckdb.connect(str(path), config=dict(options)) as connection:
            connection.execute("CHECKPOINT")
        if log.exists():
            raise StoreError(f"{log}: the log of the index cannot be emptied; run: openclaw-memory doctor")


def _copy(old: Path, new: Path, options: Mapping[str, Any]) -> None:
    import duckdb

    # Rows are read in runs that depend on their order.
    given = {**options, "threads": 1, "preserve_insertion_order": "true"}
    with duckdb.connect(":memory:", config=given) as connection:
        for file, name, how in ((old, "old", "(READ_ONLY)"), (new, "new", "")):
            quoted = str(file).replace("'", "''")
            connection.execute(f"ATTACH '{quoted}' AS {name} {how}")
        connection.execute("COPY FROM DATABASE old TO new")
        connection.execute("CHECKPOINT new")
        _check(connection, old)
        connection.execute("DETACH new")
    if Path(f"{new}.wal").exists():
        raise StoreError(f"{old}: the copy of the index is not complete; the index is as it was: run it again")


def _check(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'old' AND NOT internal"
    ).fetchall()
    for schema, table in tables:
        counts = {
            connection.execute(f'SELECT count(*) FROM {name}."{schema}"."{table}"').fetchone()
            for name in ("old", "new")
        }
        if len(counts) != 1:
            raise StoreError(
                f"{path}: the copy of the index lacks rows of {table}; the index is as it was: run it again"
            )
