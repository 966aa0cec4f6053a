"""Everyday commands: settings changed and edited, hits opened, completion, help and other names."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import run
from fakes import Notes, open_memory

from openclaw_memory.cli.main import ALIASES, COMMANDS
from openclaw_memory.cli.open import save_hits
from openclaw_memory.model import LAST_SHOWN


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings" / "c.yaml"


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes down what it is given, and ends with the code $ENDS."""
    script, said = tmp_path / "editor.py", tmp_path / "said.json"
    script.write_text(
        "import json, os, pathlib, sys\n"
        f"pathlib.Path({str(said)!r}).write_text(json.dumps(sys.argv[1:]))\n"
        "sys.exit(int(os.environ.get('ENDS', '0')))\n"
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")
    return said


# -- settings ---------------------------------------------------------------------------------------


def test_a_setting_is_changed_and_the_rest_of_the_file_stays(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("# mine\nsearch:\n  max_results: 3  # few\nplugins: {disabled: []}\n")
    run("--config", str(file), "config", "set", "search.max_results", "10")
    assert file.read_text() == "# mine\nsearch:\n  max_results: 10 # few\nplugins: {disabled: []}\n"
    said = json.loads(run("--config", str(file), "config", "set", "embedding.gpu", "no", "--json").stdout)
    assert said == {"file": str(file), "key": "embedding.gpu", "value": False, "inForce": False, "source": str(file)}
    assert "# mine" in file.read_text() and "# few" in file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("search.min_score", "0.25", 0.25),
        ("consolidate.automatic", "off", "off"),
        ("store.folder", "~/memory: mine # here", "~/memory: mine # here"),
        ("plugins.disabled", "[sessions, 'a, b']", ["sessions", "a, b"]),
        ("search.weights", "{bm25_unit: 2}", {"bm25_unit": 2.0}),
        ("retention.plan", "pro", "pro"),
        ("ingest.extra_paths", "[{path: /notes, name: more}]",
         [{"path": "/notes", "name": "more", "origin": "untrusted", "workspace": "", "kind": "note"}]),
    ],
)  # fmt: skip
def test_every_kind_of_value_is_written_so_that_it_is_read_again(
    file: Path, key: str, value: str, written: Any
) -> None:
    file.parent.mkdir()
    file.write_text("")
    run("--config", str(file), "config", "set", key, value)
    group, _, name = key.partition(".")
    assert yaml.safe_load(file.read_text()) == {group: {name: written}}
    shown = json.loads(run("--config", str(file), "config", "show", key, "--json").stdout)["settings"][0]
    value = shown["value"] if shown["key"] == key else shown["value"][name]
    assert (value, shown["source"]) == (written, str(file))


def test_an_entry_of_a_mapping_is_set_and_taken_out_by_its_own_key(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("search:\n  weights: {date: 1}  # mine\n")
    before = ["--config", str(file), "config"]
    run(*before, "set", "search.weights.bm25_unit", "2")
    run(*before, "set", "retention", "{plan: custom, daily_days: 9}")
    assert yaml.safe_load(file.read_text()) == {
        "search": {"weights": {"date": 1, "bm25_unit": 2.0}}, "retention": {"plan": "custom", "daily_days": 9},
    }  # fmt: skip
    assert "did you mean 'retention.daily_days'?" in run(*before, "set", "retention.dayly_days", "1", code=2).stderr
    assert json.loads(run(*before, "unset", "search.weights.date", "--json").stdout)["removed"] is True
    assert json.loads(run(*before, "unset", "retention.daily_days", "--json").stdout)["inForce"] is None
    run(*before, "unset", "search.weights.bm25_unit")
    assert yaml.safe_load(file.read_text()) == {"retention": {"plan": "custom"}}
    run(*before, "unset", "retention")
    assert "# mine" not in file.read_text() and not yaml.safe_load(file.read_text())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# mine\nsearch:\n  mode: keyword # why\n  max_results: 3\nplugins: {disabled: []}\n",
         "# mine\nsearch:\n  max_results: 3\nplugins: {disabled: []}\n"),
        ("search:\n  mode: keyword\n# last\nplugins: {disabled: []}\n", "# last\nplugins: {disabled: []}\n"),
        ("search: {max_results: 3, mode: keyword}\n", "search: {max_results: 3}\n"),
        ("search: {mode: keyword}\r\nplugins: {disabled: []}\r\n", "plugins: {disabled: []}\r\n"),
        ("search:\n  mode: nonsense\n", ""), ("search: &a {mode: keyword, max_results: 3}\n", "search: {max_results: 3}\n"),
    ],
)  # fmt: skip
def test_a_setting_is_taken_out_and_the_rest_of_the_file_stays(file: Path, before: str, after: str) -> None:
    file.parent.mkdir()
    file.write_bytes(before.encode())
    said = json.loads(run("--config", str(file), "config", "unset", "search.mode", "--json").stdout)
    assert file.read_bytes().decode() == after
    assert said == {
        "file": str(file), "key": "search.mode", "removed": True, "inForce": "hybrid", "source": "default",
    }  # fmt: skip
    assert "is not in it" in run("--config", str(file), "config", "unset", "search.mode").stdout
    assert file.read_bytes().decode() == after
    assert "did you mean" in run("--config", str(file), "config", "unset", "search.mod", code=2).stderr


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("search.max_result", "3", "search.max_results"), ("search.max_results", "many", "a whole number"),
        ("search.min_score", "2", "between 0 and 1"), ("search.weights", "{dat: 1}", "no feature 'dat'"),
        ("consolidate.time_zone", "Mars/Base", "no time zone"),
        ("store.url", "mysql://x", "no URL of PostgreSQL"),
    ],
)  # fmt: skip
def test_what_the_file_may_not_hold_is_wrong_usage_and_writes_nothing(
    file: Path, key: str, value: str, words: str
) -> None:
    file.parent.mkdir()
    file.write_text("search: {}\n")
    assert words in run("--config", str(file), "config", "set", key, value, code=2).stderr
    assert file.read_text() == "search: {}\n"


def test_a_setting_that_something_else_overrides_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_SEARCH_MAX_RESULTS", "7")
    file.parent.mkdir()
    file.write_text("search: {}\n")
    said = run("--config", str(file), "config", "set", "search.max_results", "3").stderr
    assert "does not count here" in said and "OPENCLAW_MEMORY_SEARCH_MAX_RESULTS" in said


# -- opening ----------------------------------------------------------------------------------------


def test_a_hit_is_opened_at_its_line_by_whatever_a_search_shows(notes: Notes, editor: Path) -> None:
    notes.write("memory/öfen und mehr.md", "# Ovens\n\n- a brick oven\n\nthe plum jam is on the shelf\n")
    before = ["--set", "embedding.model=none", "-w", str(notes.root)]
    (hit,) = json.loads(run(*before, "search", "plum jam", "-n", "1", "--json").stdout)["results"]
    file = str(notes.root / "memory/öfen und mehr.md")
    run(*before, "open", hit["id"])
    assert json.loads(editor.read_text()) == ["+5", file]
    for named, line in ((hit["citation"], hit["startLine"]), (f"{hit['path']}:3-4", 3), (hit["path"], 1)):
        said = json.loads(run(*before, "open", named, "--json").stdout)
        assert said == {"path": hit["path"], "file": file, "line": line}
        assert json.loads(editor.read_text()) == [f"+{line}", file]


def test_what_is_no_hit_is_not_opened(notes: Notes, editor: Path) -> None:
    notes.write("MEMORY.md", "- a note\n")
    (notes.root / "secret.txt").write_text("x")
    for named in ("nope.md", "secret.txt", "../x.md", "0123456789abcdef", "MEMORY.md:9"):
        assert "search" in run("--set", "embedding.model=none", "-w", str(notes.root), "open", named, code=1).stderr
    assert not editor.exists()


def test_an_editor_that_fails_is_named(notes: Notes, editor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- a note\n")
    before = ["--set", "embedding.model=none", "-w", str(notes.root)]
    monkeypatch.setenv("ENDS", "3")
    assert "exit code 3" in run(*before, "open", "MEMORY.md", code=1).stderr
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "set EDITOR" in run(*before, "open", "MEMORY.md", code=1).stderr


def test_a_hit_of_the_last_search_is_opened_by_its_number(notes: Notes, editor: Path) -> None:
    notes.write("memory/2026-02-13.md", "# Shelf\n\nthe plum jam is on the shelf\n")
    notes.write("MEMORY.md", "- the lamp is green\n- a second lamp hangs in the attic\n")
    index = notes.root.parent / "i.duckdb"
    before = ["--set", "embedding.model=none", "-w", str(notes.root), "--db", str(index)]
    assert "no search was made here" in run(*before, "open", "1", code=1).stderr
    run(*before, "search", "plum jam")
    run(*before, "open", "1")
    assert json.loads(editor.read_text()) == ["+3", str(notes.root / "memory/2026-02-13.md")]
    assert "showed 1; run: openclaw-memory search" in run(*before, "open", "2", code=1).stderr
    assert "useful" in run(*before, "feedback", "1", "useful").stdout
    assert "there is no hit 99" in run(*before, "feedback", "99", "useful", code=1).stderr
    assert "there is no hit 0" in run(*before, "open", "0", code=1).stderr
    run(*before, "search", "lamp", "--json")  # what a program asks is not what a person saw
    file = notes.root.parent / "i.duckdb.shown.json"
    kept = file.read_text()
    ((path, line, unit),) = json.loads(kept)
    assert (path, line) == ("memory/2026-02-13.md", 1) and len(unit) == 16 and "jam" not in kept
    assert os.name == "nt" or file.stat().st_mode & 0o777 == 0o600
    # The line moves along with its text; where the text is another one, it is said.
    notes.write("memory/2026-02-13.md", "# Shelf\n\n- more\n- of it\n\nthe plum jam is on the shelf\n")
    run(*before, "open", "1")
    assert json.loads(editor.read_text())[0] == "+6"
    notes.write("memory/2026-02-13.md", "# Shelf\n\nthe pear jam is on the shelf\n")
    assert "has changed since that search" in run(*before, "open", "1").stderr
    assert json.loads(editor.read_text())[0] == "+1"
    # What is forgotten leaves no hash.
    run(*before, "search", "pear jam")
    run(*before, "forget", "--query", "pear jam", "--yes")
    assert not file.exists()
    run(*before, "timeline", "lamp")
    run(*before, "open", "1")
    assert json.loads(editor.read_text())[1] == str(notes.root / "MEMORY.md")


def test_hits_that_are_forgotten_while_they_are_shown_leave_nothing(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the plum jam is on the shelf\n- the lamp is green\n")
    with open_memory(notes) as memory, open_memory(notes) as other:
        file = memory.store.sidecar(LAST_SHOWN)
        assert file is not None
        as_of = memory.usage.forget_version()
        hits = memory.search("plum jam").results
        other.forget(query="plum jam")
        save_hits(memory, hits, as_of)
        assert not file.exists()
        save_hits(memory, memory.search("lamp").results, memory.usage.forget_version())
        assert file.exists()
        left = file.with_name(f".{file.name}.4711-0badcafe.tmp")  # of a process that was killed
        left.write_text("[]")
        other.forget(query="lamp")
        assert not file.exists() and not left.exists()


# -- names and help ---------------------------------------------------------------------------------


def test_other_names_mean_the_same_command(notes: Notes) -> None:
    for other, name in ALIASES.items():
        assert name in COMMANDS and other not in COMMANDS
        usage = run(other, "--help").stdout
        assert usage.partition("\n")[2] == run(name, "--help").stdout.partition("\n")[2]
    notes.write("MEMORY.md", "- a note\n")
    assert "1 added" in run("--set", "embedding.model=none", "-w", str(notes.root), "index").stdout
