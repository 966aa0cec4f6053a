"""An export: every table as a Parquet file, in a folder that is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import WorkspaceError
from ...model import ExportedTable, Progress
from ...system import atomic
from ...version import __version__
from .views import TABLES

if TYPE_CHECKING:
    import duckdb

MANIFEST = "manifest.json"
#: What does not fit into memory while files are written goes here, below the temporary folder.
SPILL = "spill"
_MADE_BY = "openclaw-memory"
#: What a file holds, where that is more than its table.
_SOURCES = {"memories": "(SELECT m.*, h.hit FROM memories m JOIN hits h ON h.id = m.id)"}
#: Rows are written in this order, so that equal notes give equal files.
_ORDER = {
    "memories": "path, start_line, id",
    "documents": "path",
    "concepts": "slug",
    "edges": "kind, source, target, via",
    "facts": "subject, predicate, valid_from, object, id",
    "usage": "path, hit",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A file of an export: its table, its rows, and its columns with their types in DuckDB's words."""

    table: str
    rows: int
    columns: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.table}.parquet"


def write(c: duckdb.DuckDBPyConnection, folder: Path, progress: Progress) -> list[Written]:
    """Write every table into ``folder``; the connection must be allowed to write files."""
    import duckdb

    written = []
    for done, table in enumerate(TABLES, 1):
        path = str(folder / f"{table}.parquet").replace("'", "''")
        ordered = f"FROM {_SOURCES.get(table, table)} ORDER BY {_ORDER[table]}"
        try:
            found = c.execute(f"COPY ({ordered}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)").fetchone()
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            raise WorkspaceError(
                f"{folder.parent}: the table {table} cannot be written ({reason}); "
                "check free space and permissions there, or choose another folder"
            ) from error
        columns = tuple((row[0], row[1]) for row in c.execute(f"DESCRIBE {ordered}").fetchall())
        written.append(Written(table, int(found[0]) if found else 0, columns))
        progress("export", done, len(TABLES))
    return written


class Target:
    """The folder of an export.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` when it is not empty and ``overwrite`` is not given, or
    when a file in it bears the name of one of ours and is not ours: what is not ours is never touched.
    """

    def __init__(self, folder: Path, overwrite: bool) -> None:
        self.folder = folder
        try:
            present = {entry.name for entry in folder.iterdir()}
        except FileNotFoundError:
            present = set()
        except NotADirectoryError as error:
            raise WorkspaceError(f"{folder}: not a folder; choose another one") from error
        ours = _ours(folder)
        if present and not overwrite:
            what = "holds an export" if ours else "not empty"
            raise WorkspaceError(f"{folder}: {what}; choose an empty folder, or give --overwrite")
        foreign = sorted(present & {MANIFEST, *(f"{table}.parquet" for table in TABLES)} - ours)
        if foreign:
            raise WorkspaceError(f"{folder / foreign[0]}: not a file of an export; move it, or choose another folder")
        self._replaced = bool(present)

    @contextlib.contextmanager
    def filling(self) -> Iterator[Path]:
        """A temporary folder beside the target, for its owner only; whatever is left of it is removed."""
        parent = self.folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        # Inside a folder that stays, else beside it: a rename must not cross file systems.
        temporary = Path(
            tempfile.mkdtemp(prefix=f".{self.folder.name}-", dir=self.folder if self._replaced else parent)
        )
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def take(self, temporary: Path, written: Sequence[Written]) -> tuple[ExportedTable, ...]:
        """Put the finished files in place, at once where the target is new, else one by one, the manifest last."""
        tables = []
        for one in written:
            file = temporary / one.file
            file.chmod(0o600)
            tables.append(ExportedTable(one.table, str(self.folder / one.file), one.rows, file.stat().st_size))
        text = json.dumps(_manifest(written, tables), ensure_ascii=False, indent=2)
        (temporary / MANIFEST).write_text(text + "\n", encoding="utf-8")
        (temporary / MANIFEST).chmod(0o600)
        shutil.rmtree(temporary / SPILL, ignore_errors=True)
        names = [*(one.file for one in written), MANIFEST]
        if self._replaced:
            for name in names:
                atomic.move(temporary / name, self.folder / name)
        else:
            for name in names:
                _to_disk(temporary / name)
            with contextlib.suppress(FileNotFoundError):
                self.folder.rmdir()  # an empty one; fails when something has been put there meanwhile
            os.replace(temporary, self.folder)
        return tuple(tables)


def _manifest(written: Sequence[Written], tables: Sequence[ExportedTable]) -> dict[str, Any]:
    return {
        "madeBy": _MADE_BY,
        "version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tables": [
            {"name": one.table, "file": one.file, "rows": one.rows, "bytes": table.bytes, "columns": dict(one.columns)}
            for one, table in zip(written, tables, strict=True)
        ],
    }


def _ours(folder: Path) -> set[str]:
    """Names of the files of an earlier export."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["madeBy"] != _MADE_BY:
            return set()
        return {MANIFEST, *(str(table["file"]) for table in manifest["tables"])}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _to_disk(file: Path) -> None:
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())
