"""An export is whole or not there, and equals what SQL shows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import Result
from fakes import Notes

from openclaw_memory import Memory, Settings, example
from openclaw_memory.errors import WorkspaceError

TABLES = ("memories", "documents", "concepts", "edges", "facts", "usage")
FILES = sorted(f"{table}.parquet" for table in TABLES)
SHOWN = {"memories": "SELECT m.*, h.hit FROM memories m JOIN hits h ON h.id = m.id"}
QUIET = {"embedding.model": "none", "embedding.offline": True}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("export")
    example.copy_to(folder / "workspace")
    (folder / "workspace" / "concepts.yaml").write_text(
        "concepts:\n  minilm: {name: all-MiniLM-L6-v2, parents: [model]}\n  model: {name: model}\n", encoding="utf-8"
    )
    with Memory(folder / "workspace", settings=Settings().with_values(QUIET), db=folder / "i.duckdb") as memory:
        memory.ingest()
        memory.feedback("MEMORY.md#L3", "useful")
        yield memory


def read(folder: Path, table: str) -> list[tuple[Any, ...]]:
    """Rows of a file as DuckDB without any extension beside its built-in ones reads them."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    }  # fmt: skip
    with duckdb.connect(config=config) as c:
        return c.execute("SELECT * FROM read_parquet(?)", [str(folder / f"{table}.parquet")]).fetchall()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_files_hold_what_sql_shows(memory: Memory, tmp_path: Path) -> None:
    report = memory.export(tmp_path / "out")
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == FILES
    assert [table.name for table in report.tables] == list(TABLES)
    for table in report.tables:
        rows = read(tmp_path / "out", table.name)
        shown = memory.sql(SHOWN.get(table.name, f"FROM {table.name}")).rows
        assert len(rows) == table.rows == len(shown) > 0
        assert sorted(map(repr, rows)) == sorted(map(repr, shown))
        assert table.bytes == Path(table.file).stat().st_size


def test_equal_notes_give_equal_files_with_progress_table_by_table(memory: Memory, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        steps: list[tuple[str, int, int]] = []
        memory.export(tmp_path / folder, progress=lambda *step: steps.append(step))  # noqa: B023
        assert steps == [("export", done, len(TABLES)) for done in range(len(TABLES) + 1)]
    for table in TABLES:
        assert read(tmp_path / "a", table) == read(tmp_path / "b", table)


def test_an_empty_folder_is_taken_and_parents_are_made(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    memory.export(tmp_path / "empty")
    memory.export(tmp_path / "new" / "it's" / "out")
    assert names(tmp_path / "empty") == names(tmp_path / "new" / "it's" / "out") == FILES
    if os.name != "nt":  # only the owner may read it
        made = [tmp_path / "new" / "it's" / "out", *(tmp_path / "empty").iterdir()]
        assert not any(entry.stat().st_mode & 0o077 for entry in made)


def test_a_folder_that_is_not_empty_or_a_file_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(WorkspaceError, match="not empty; choose a new or empty folder"):
        memory.export(tmp_path)
    with pytest.raises(WorkspaceError, match=r"note\.txt: not a folder"):
        memory.export(tmp_path / "note.txt")
    assert names(tmp_path) == ["note.txt"] and (tmp_path / "note.txt").read_text(encoding="utf-8") == "mine"


def test_an_export_that_fails_leaves_nothing(memory: Memory, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "out", progress=stop)
    assert names(tmp_path) == []


def test_an_empty_memory_has_empty_tables(notes: Notes, tmp_path: Path) -> None:
    with Memory(notes.root, settings=Settings().with_values(QUIET), db=tmp_path / "i.duckdb") as memory:
        report = memory.export(tmp_path / "out")
    assert [table.rows for table in report.tables] == [0] * len(TABLES)
    assert all(read(tmp_path / "out", table) == [] for table in TABLES)


# -- the command ------------------------------------------------------------------------------------------


def test_the_command(run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run("export", str(tmp_path / "out")).stdout.splitlines()
    assert [line.split()[0] for line in lines[:6]] == list(TABLES)
    assert lines[0].split()[1:3] == ["3", "rows"]
    assert lines[6].startswith(f"{tmp_path / 'out'}: written in ")
    monkeypatch.chdir(tmp_path)
    run("export", "relative")
    assert names(tmp_path / "out") == names(tmp_path / "relative") == FILES


def test_the_command_as_json(run: Callable[..., Result], tmp_path: Path) -> None:
    value = json.loads(run("export", str(tmp_path / "out"), "--json").stdout)
    assert value["folder"] == str(tmp_path / "out") and set(value) == {"folder", "tables", "seconds"}
    assert [set(table) for table in value["tables"]] == [{"name", "file", "rows", "bytes"}] * len(TABLES)
    again = run("export", str(tmp_path / "out"), code=1)
    assert again.stderr.startswith("error: ") and again.stderr.count("\n") == 1
