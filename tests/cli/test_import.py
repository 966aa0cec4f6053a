"""The command ``import``: it shows what it would write, asks, and says what is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commands
import pytest
import yaml
from click.testing import Result
from fakes import Notes

from openclaw_memory.config.settings import config_path

Run = Callable[..., Result]


@pytest.fixture
def run(notes: Notes) -> Run:
    notes.write("memory/own.md", "# Mine\n\nThe roof was painted.\n")

    before = ["-w", str(notes.root), "--db", str(notes.root.parent / "i.duckdb"), "--set", "embedding.model=none"]
    return partial(commands.run, *before)


@pytest.fixture
def export(tmp_path: Path) -> str:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "El tejado tiene goteras.", "date": "2024-03-05"}\nno\n', encoding="utf-8")
    return str(file)


def test_it_shows_writes_finds_and_takes_out(run: Run, notes: Notes, export: str) -> None:
    folder = notes.root / "memory/imported"
    shown = run("import", "jsonl", export, "--dry-run")
    assert shown.stdout.startswith("would write 1 note\n  memory/imported/jsonl/2024-03/") and not folder.exists()
    assert "passed over a.jsonl, line 2: not valid JSON" in shown.stderr
    done = run("import", "jsonl", export, "--yes")
    assert done.stdout.startswith("wrote 1 note\n") and done.stdout.endswith("next: openclaw-memory ingest\n")
    run("ingest")
    [hit] = json.loads(run("search", "goteras", "--json").stdout)["results"]
    assert hit["origin"] == "untrusted" and hit["date"] == "2024-03-05"
    assert "1 note as before" in run("import", "jsonl", export, "--yes").stdout
    assert run("import", "--undo", "jsonl", "--yes").stdout.startswith("removed 1 note\n")
    assert not folder.exists()
    assert run("import", "--undo", "jsonl", "--yes").stdout == "nothing to change\n"


def test_a_file_of_which_nothing_can_be_read_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\x89PNG\r\n" * 99)
    said = run("import", "mem0", str(tmp_path / "x.json"), "--yes", code=1).stderr
    assert said.startswith("error: x.json") and "nothing was imported" in said


def test_nobody_is_asked_where_nobody_is(run: Run, notes: Notes, export: str) -> None:
    assert "give --yes" in run("import", "jsonl", export, code=2).stderr
    assert "name the export: import jsonl PATH" in run("import", "jsonl", code=2).stderr
    assert "no such file or folder; name the export" in run("import", "jsonl", "/none", "--yes", code=1).stderr
    assert not (notes.root / "memory/imported").exists()


def test_a_vault_is_read_where_it_is(run: Run, notes: Notes, tmp_path: Path) -> None:
    vault = tmp_path / "Meine Notizen"
    vault.mkdir()
    (vault / "Garten.md").write_text("Die [[Hecke]] wird im Oktober geschnitten. #garten\n", encoding="utf-8")
    (vault / "Werkzeug.md").write_text("Die Schere ist für die [[Hecke]]. #garten\n", encoding="utf-8")
    config_path().parent.mkdir(parents=True)
    config_path().write_text("# mine\nsearch:\n  max_results: 4 # few\n", encoding="utf-8")
    before = config_path().read_text(encoding="utf-8")
    assert "would be\n" in run("import", "folder", str(vault), "--dry-run").stdout
    assert config_path().read_text(encoding="utf-8") == before
    run("import", "folder", str(vault), "--yes")
    text = config_path().read_text(encoding="utf-8")
    assert text.startswith(before)
    assert yaml.safe_load(text)["ingest"] == {
        "extra_paths": [
            {"path": str(vault.resolve()), "name": "Meine-Notizen", "origin": "owner", "workspace": str(notes.root)}
        ]
    }
    run("ingest")
    hit = json.loads(run("search", "Oktober geschnitten", "--json").stdout)["results"][0]
    assert hit["path"] == "@Meine-Notizen/Garten.md" and hit["origin"] == "owner"
    listed = run("concepts", "list", "--json").stdout
    assert "Hecke" in listed and "garten" in listed
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    run("-w", str(other), "ingest")
    assert json.loads(run("-w", str(other), "search", "Oktober geschnitten", "--json").stdout)["results"] == []
    assert config_path().read_text(encoding="utf-8") == text
    again = json.loads(run("import", "folder", str(vault), "--yes", "--trust", "owner", "--json").stdout)
    assert again["changed"] is False
    run("import", "folder", str(vault), "--undo", "--yes")
    assert yaml.safe_load(config_path().read_text(encoding="utf-8"))["ingest"] == {"extra_paths": []}
    assert (vault / "Garten.md").exists()


def test_two_vaults_of_one_name_have_two(run: Run, tmp_path: Path) -> None:
    for parent in "ab":
        (tmp_path / parent / "Notes").mkdir(parents=True)
        run("import", "folder", str(tmp_path / parent / "Notes"), "--yes")
    shown = json.loads(run("config", "show", "ingest.extra_paths", "--json").stdout)["settings"][0]["value"]
    assert [(one["name"], one["origin"]) for one in shown] == [("Notes", "owner"), ("Notes-2", "owner")]


def test_a_setting_that_would_not_count_is_not_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_INGEST_EXTRA_PATHS", "[]")
    failed = run("import", "folder", str(tmp_path), "--yes", code=1)
    assert "counts above" in failed.stderr and not config_path().exists()
