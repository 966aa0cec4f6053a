"""An export is whole or not there, equals what SQL shows, and touches no file of anybody else."""

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

from openclaw_memory import Memory, Settings, __version__, example
from openclaw_memory.errors import WorkspaceError

TABLES = ("memories", "documents", "concepts", "edges", "facts", "usage")
FILES = sorted([*(f"{table}.parquet" for table in TABLES), "manifest.json"])
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


def test_the_manifest_says_what_is_there(memory: Memory, tmp_path: Path) -> None:
    report = memory.export(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["madeBy"], manifest["version"]) == ("openclaw-memory", __version__)
    assert manifest["created"].endswith("Z")
    assert {t["file"]: (t["rows"], t["bytes"]) for t in manifest["tables"]} == {
        Path(t.file).name: (t.rows, t.bytes) for t in report.tables
    }
    columns = {t["name"]: list(t["columns"]) for t in manifest["tables"]}
    assert columns == {table: list(memory.sql(SHOWN.get(table, f"FROM {table}")).columns) for table in TABLES}


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
    with pytest.raises(WorkspaceError, match="not empty; choose an empty folder, or give --overwrite"):
        memory.export(tmp_path)
    with pytest.raises(WorkspaceError, match=r"note\.txt: not a folder"):
        memory.export(tmp_path / "note.txt", overwrite=True)
    assert names(tmp_path) == ["note.txt"] and (tmp_path / "note.txt").read_text(encoding="utf-8") == "mine"


def test_an_older_export_is_replaced_and_other_files_stay(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    out = tmp_path / "out"
    settings = Settings().with_values({**QUIET, "ingest.fresh_seconds": 0.0})
    with Memory(notes.root, settings=settings, db=tmp_path / "i.duckdb") as memory:
        memory.export(out)
        (out / "mine.txt").write_text("mine", encoding="utf-8")
        with pytest.raises(WorkspaceError, match="holds an export; choose an empty folder, or give --overwrite"):
            memory.export(out)
        notes.write("MEMORY.md", "- a lamp\n- a chair\n")
        memory.export(out, overwrite=True)
    assert names(out) == sorted([*FILES, "mine.txt"])
    assert (out / "mine.txt").read_text(encoding="utf-8") == "mine"
    assert [row[-2] for row in read(out, "memories")] == ["- a lamp", "- a chair"]


def test_files_of_somebody_else_are_never_replaced(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "facts.parquet").write_bytes(b"theirs")
    with pytest.raises(WorkspaceError, match=r"facts\.parquet: not a file of an export; move it"):
        memory.export(tmp_path, overwrite=True)
    (tmp_path / "manifest.json").write_text('{"madeBy": "another tool", "tables": []}', encoding="utf-8")
    with pytest.raises(WorkspaceError, match="not a file of an export"):
        memory.export(tmp_path, overwrite=True)
    assert names(tmp_path) == ["facts.parquet", "manifest.json"]
    assert (tmp_path / "facts.parquet").read_bytes() == b"theirs"


def test_an_export_that_fails_leaves_nothing(memory: Memory, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "out", progress=stop)
    assert names(tmp_path) == []
    memory.export(tmp_path / "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in FILES}
    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "out", overwrite=True, progress=stop)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")} == before


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
    run("export", str(tmp_path / "out"), "--overwrite")
