"""Export every table as a Parquet file, into a folder that appears as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import WorkspaceError
from ...model import ExportedTable, Progress
from ...system import atomic
from .views import TABLES

if TYPE_CHECKING:
    import duckdb

#: Subfolder for data that does not fit into memory while files are written.
SPILL = "spill"
#: Sources of files with more than their table.
_SOURCES = {"memories": "(SELECT m.*, h.hit FROM memories m JOIN hits h ON h.id = m.id)"}
#: Order of the rows, so that equal notes give equal files.
_ORDER = {
    "memories": "path, start_line, id",
    "documents": "path",
    "concepts": "slug",
    "edges": "kind, source, target, via",
    "facts": "subject, predicate, valid_from, object, id",
    "usage": "path, hit",
}


def write(c: duckdb.DuckDBPyConnection, temporary: Path, folder: Path, progress: Progress) -> list[ExportedTable]:
    """Write every table into ``temporary``, on its way to ``folder``; returns the tables.

    The connection must be allowed to write files.
    """
    import duckdb

    written = []
    for done, table in enumerate(TABLES, 1):
        file = temporary / f"{table}.parquet"
        path = str(file).replace("'", "''")
        ordered = f"FROM {_SOURCES.get(table, table)} ORDER BY {_ORDER[table]}"
        try:
            row = c.execute(f"COPY ({ordered}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)").fetchone()
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            raise WorkspaceError(
                f"{temporary.parent}: the table {table} cannot be written ({reason}); "
                "check free space and permissions there, or choose another folder"
            ) from error
        file.chmod(0o600)
        rows = int(row[0]) if row else 0
        written.append(ExportedTable(table, str(folder / file.name), rows, file.stat().st_size))
        progress("export", done, len(TABLES))
    return written


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder, for its owner only, that becomes ``folder`` at the end of the block.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` if ``folder`` is neither new nor empty.
    """
    try:
        empty = not any(folder.iterdir())
    except FileNotFoundError:
        empty = True
    except NotADirectoryError as error:
        raise WorkspaceError(f"{folder}: not a folder; choose another one") from error
    if not empty:
        raise WorkspaceError(f"{folder}: not empty; choose a new or empty folder")
    atomic.make_folder(folder.parent)
    # Beside it, as a rename must not cross file systems.
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield temporary
        shutil.rmtree(temporary / SPILL, ignore_errors=True)
        for path in temporary.iterdir():
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()  # an empty one; fails when something has been put there meanwhile
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
