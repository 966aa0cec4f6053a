"""Taking texts out for good: what they own, having their files read again, and proof that they are gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..tables.needles import Needles
from ..tables.sql import count
from .database import Database

if TYPE_CHECKING:
    import duckdb

_OF_WORKSPACE = re.compile(r"-[0-9a-f]{12}\.duckdb$")
#: Free bytes of a file from which it is rewritten.
_WORTH_IT = 8_000_000
#: Cells that are read at once.
_CELLS = 2_000


class PurgeTables:
    """The part of the DuckDB store that forgets: methods of the store's protocol."""

    _db: Database
    path: Path
    maintain: Callable[[bool], bool]
    _note_purged: Callable[[], None]

    def purge(self) -> None:
        """Leave no trace of deleted rows: compact what is derived from texts, and write the whole file again."""
        self.maintain(True)
        with self._db.read() as c:
            if _has_fts(c):  # it is rebuilt when it is asked
                with self._db.write():
                    c.execute("DROP SCHEMA IF EXISTS fts_main_fts_source CASCADE")
                    c.execute("DROP TABLE IF EXISTS fts_source")
                    c.execute("UPDATE counters SET value = -1 WHERE name = 'fts'")
        self._db.rewrite()
        self._note_purged()

    def shrink(self) -> bool:
        """Write the file again when a third of it is free; whether it did.

        DuckDB gives nothing back, and what deleted rows took is free only where nothing else is beside them.
        """
        ((total, free, size),) = self._db.rows(
            "SELECT total_blocks, free_blocks, block_size FROM pragma_database_size()"
        )
        if free * size < _WORTH_IT or 3 * free < total:
            return False
        self._db.rewrite()
        return True

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Where any of ``needles`` stands: columns (``units.text``) by a scan of each, files by their bytes."""
        search = Needles(needles)
        if not search:
            return []
        with self._db.read() as c:
            found = [f"{table}.{column}" for table, column in _columns(c) if _in_column(c, table, column, search)]
            files = [self.path, Path(f"{self.path}.wal")]
            return found + [file.name for file in files if file.exists() and search.finds(file.read_bytes())]

    def leftovers(self) -> list[str]:
        """Files that were this index once, and those of other agents on the same workspace, and what they are."""
        folder, name = self.path.parent, self.path.name
        try:
            aside = [path for path in folder.iterdir() if path.name.startswith(_aside(name))]
            # By its name an index of the default folder tells the workspace, by its folder the agent.
            others = folder.parent.glob(f"*/{name}") if _OF_WORKSPACE.search(name) else ()
            siblings = [path for path in others if path != self.path]
        except OSError:
            return []
        return [
            *(f"{path} (an older index, put aside)" for path in sorted(aside)),
            *(f"{path} (the index of another agent)" for path in sorted(siblings)),
        ]


def _aside(name: str) -> tuple[str, str]:
    """How the names of indexes begin that were moved aside."""
    return f"{name}.damaged-", f"{name}.outdated-"


def _has_fts(c: duckdb.DuckDBPyConnection) -> bool:
    return bool(count(c, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'fts_source' AND NOT internal"))


def _columns(c: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Every column of texts or bytes, with its table."""
    rows = c.execute(
        "SELECT t.schema_name, c.table_name, c.column_name FROM duckdb_columns() c "
        "JOIN duckdb_tables() t USING (table_oid, database_name) WHERE NOT t.internal "
        "AND (c.data_type LIKE 'VARCHAR%' OR c.data_type LIKE 'BLOB%') ORDER BY ALL"
    ).fetchall()
    return [(f'"{row[0]}"."{row[1]}"' if row[0] != "main" else row[1], row[2]) for row in rows]


def _in_column(c: duckdb.DuckDBPyConnection, table: str, column: str, search: Needles) -> bool:
    cells = c.execute(f'SELECT DISTINCT "{column}" FROM {table} WHERE "{column}" IS NOT NULL')
    while some := cells.fetchmany(_CELLS):
        for (cell,) in some:
            said = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
            if search.finds(said):
                return True
    return False
