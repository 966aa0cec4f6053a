"""Export every table as a Parquet file, into a folder that appears as a whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import WorkspaceError
from ...model import ExportedTable, Progress
from ...system import atomic
from ...version import __version__
from .views import TABLES

if TYPE_CHECKING:
    import duckdb

MANIFEST = "manifest.json"
#: Subfolder for data that does not fit into memory while files are written.
SPILL = "spill"
_MADE_BY = "openclaw-memory"
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


def write(
    c: duckdb.DuckDBPyConnection, temporary: Path, folder: Path, progress: Progress
) -> list[tuple[ExportedTable, dict[str, str]]]:
    """Write every table into ``temporary``, on its way to ``folder``; returns the tables with their columns' types.

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
        columns = {name: kind for name, kind, *_ in c.execute(f"DESCRIBE {ordered}").fetchall()}
        written.append((ExportedTable(table, str(folder / file.name), rows, file.stat().st_size), columns))
        progress("export", done, len(TABLES))
    return written


class ExportFolder:
    """The folder of an export.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` if it is not empty and ``overwrite`` is false, or if a file
    in it has the name of an exported one and is none: other files are never touched.
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
    def staging_folder(self) -> Iterator[Path]:
        """Yield a temporary folder beside the target, for its owner only; the rest of it is removed."""
        parent = self.folder.parent
        atomic.make_folder(parent)
        # Inside a folder that stays, otherwise beside it: a rename must not cross file systems.
        temporary = Path(
            tempfile.mkdtemp(prefix=f".{self.folder.name}-", dir=self.folder if self._replaced else parent)
        )
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def publish(self, temporary: Path, written: Sequence[tuple[ExportedTable, dict[str, str]]]) -> None:
        """Put the finished files in place, at once if the target is new, otherwise one by one, the manifest last."""
        manifest = {
            "madeBy": _MADE_BY,
            "version": __version__,
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tables": [
                {**asdict(table), "file": Path(table.file).name, "columns": columns} for table, columns in written
            ],
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=2)
        (temporary / MANIFEST).write_text(text + "\n", encoding="utf-8")
        (temporary / MANIFEST).chmod(0o600)
        shutil.rmtree(temporary / SPILL, ignore_errors=True)
        names = [*(f"{table}.parquet" for table in TABLES), MANIFEST]
        if self._replaced:
            for name in names:
                atomic.replace_file(temporary / name, self.folder / name)
        else:
            for name in names:
                with (temporary / name).open("r+b") as file:
                    os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                self.folder.rmdir()  # an empty one; fails when something has been put there meanwhile
            os.replace(temporary, self.folder)


def _ours(folder: Path) -> set[str]:
    """Return the names of the files of an earlier export."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["madeBy"] != _MADE_BY:
            return set()
        return {MANIFEST, *(str(table["file"]) for table in manifest["tables"])}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
