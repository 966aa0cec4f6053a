"""One file that brings to another machine what neither notes nor index hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import commands
import pytest
from click.testing import Result
from fakes import Notes

CONCEPTS = "# mine\nconcepts:\n  stove: {name: Stove, aliases: [печь, 炉子]}\n"


class Machine:
    """Settings, a data folder and a copy of the notes."""

    def __init__(self, folder: Path) -> None:
        self.notes = Notes(folder / "workspace")
        self.config, self.state = folder / "c.yaml", folder / "state"
        self.notes.write("MEMORY.md", "- the stove is cast iron\n- the vault opens with Rosebud\n")

    def run(self, *arguments: str, code: int = 0) -> Result:
        set_ = [
            f"--set=state.folder={self.state}",
            "--set=embedding.model=none",
            f"--set=store.folder={self.state}-index",
        ]
        return commands.run("--config", str(self.config), *set_, "-w", str(self.notes.root), *arguments, code=code)

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture
def old(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "old")
    machine.config.write_text("search: {max_results: 4}  # few\n")
    machine.notes.write("concepts.yaml", CONCEPTS)
    machine.run("ingest")
    machine.run("facts", "add", "stove", "is made by", "Vesta")
    machine.run("forget", "--query", "Rosebud", "--yes")
    return machine


@pytest.fixture
def new(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "new")
    machine.config.write_text("search: {max_results: 4}  # few\n")
    return machine


def test_what_was_kept_forgotten_and_curated_comes_along(old: Machine, new: Machine, tmp_path: Path) -> None:
    file = tmp_path / "b.zip"
    said = old.json("backup", str(file), "--with-key")
    assert said["holds"] == ["settings.yaml", "concepts.yaml", "facts.yaml", "state.sqlite", "state.sqlite.key"]
    assert file.stat().st_mode & 0o777 == 0o600 and said["bytes"] == file.stat().st_size
    assert "is there already" in old.run("backup", str(file), code=1).stderr

    before = sorted(new.notes.root.rglob("*"))
    plan = new.json("restore", str(file), "--dry-run")
    assert [row["action"] for row in plan["entries"]] == ["same", "write", "write", "write", "write"]
    assert sorted(new.notes.root.rglob("*")) == before and not new.state.exists()
    shown = new.run("restore", str(file)).stdout
    assert "concepts.yaml" in shown and "next: openclaw-memory ingest" in shown
    assert all(Path(row.split()[-1]).exists() for row in shown.splitlines() if ".yaml" in row or ".sqlite" in row)
    for name in ("concepts.yaml", "facts.yaml"):
        assert (new.notes.root / name).read_bytes() == (old.notes.root / name).read_bytes()
    new.run("ingest")
    assert "Rosebud" not in new.run("search", "vault Rosebud").stdout  # forgotten there too
    assert new.json("state")["tombstones"] == old.json("state")["tombstones"] > 0


def test_what_is_there_and_differs_is_not_replaced_unasked(old: Machine, new: Machine, tmp_path: Path) -> None:
    file = tmp_path / "b.zip"
    assert "not in it" in old.run("backup", str(file)).stderr  # the key
    new.config.write_text("search: {max_results: 9}\n")
    new.notes.write("facts.yaml", "facts: []\n")
    message = new.run("restore", str(file), code=1).stderr
    assert str(new.config) in message and "facts.yaml" in message and "--overwrite" in message
    assert new.config.read_text() == "search: {max_results: 9}\n" and not (new.notes.root / "concepts.yaml").exists()
    new.run("restore", str(file), "--overwrite")
    assert new.config.read_text() == old.config.read_text()
    assert (new.notes.root / "facts.yaml").read_bytes() == (old.notes.root / "facts.yaml").read_bytes()


def test_an_address_in_its_settings_is_shown_before_it_is_taken(old: Machine, new: Machine, tmp_path: Path) -> None:
    url = "https://someone:{}@vectors.example/v1?key={}"
    old.config.write_text(f"embedding: {{http_url: '{url.format('secretpart', 'othersecret')}', http_model: m}}\n")
    new.config.unlink()
    archive = tmp_path / "b.zip"
    old.run("backup", str(archive), "--with-key")
    shown = "embedding.http_url (https://vectors.example/v1)"
    refused = new.run("restore", str(archive), code=1)
    assert shown in refused.stderr and "--overwrite" in refused.stderr and not new.config.exists()
    assert new.json("restore", str(archive), "--dry-run")["addresses"] == [shown] and not new.config.exists()
    taken = new.run("restore", str(archive), "--overwrite")
    assert shown in taken.stderr and "secret" not in taken.output + refused.output
    assert new.config.read_text() == old.config.read_text()
    assert new.json("restore", str(archive), "--overwrite")["addresses"] == []


def test_of_nothing_the_backup_is_a_backup(new: Machine, tmp_path: Path) -> None:
    assert new.json("backup", str(tmp_path / "b.zip"))["holds"] == ["settings.yaml"]
    assert not new.state.exists()
    assert [row["action"] for row in new.json("restore", str(tmp_path / "b.zip"))["entries"]] == ["same"]


@pytest.mark.parametrize("what", ["text", "cut", "damaged", "another archive", "newer", "no settings", "no state"])
def test_what_is_no_backup_changes_nothing(old: Machine, new: Machine, tmp_path: Path, what: str) -> None:
    file = tmp_path / "b.zip"
    old.run("backup", str(file))
    if what == "text":
        file.write_text("notes")
    elif what == "cut":
        file.write_bytes(file.read_bytes()[:-200])
    elif what == "damaged":
        with ZipFile(file) as archive:
            at = archive.getinfo("state.sqlite").header_offset + 100
        held = file.read_bytes()
        file.write_bytes(held[:at] + bytes(byte ^ 0xFF for byte in held[at : at + 9]) + held[at + 9 :])
    else:
        shutil.move(file, tmp_path / "good.zip")
        with ZipFile(tmp_path / "good.zip") as good, ZipFile(file, "w") as archive:
            if what != "another archive":
                number = 99 if what == "newer" else 1
                archive.writestr("manifest.json", json.dumps({"format": number, "version": "99"}))
            if what == "no settings":
                archive.writestr("settings.yaml", "search: 3\n")
            if what == "no state":
                archive.writestr("state.sqlite", b"notes" * 999)
            archive.writestr("../evil.md", "x")
            archive.writestr("concepts.yaml", good.read("concepts.yaml"))
    message = new.run("restore", str(file), "--overwrite", code=1).stderr
    said = {"cut": ": is damaged (", "damaged": ": is damaged (", "no state": ": nothing was restored: state.sqlite: ",
            "no settings": ": nothing was restored: settings.yaml: "}  # fmt: skip
    assert "; " in message and message.startswith(f"error: {file}{said.get(what, ': ')}"), message
    assert not (new.notes.root / "concepts.yaml").exists() and not list(tmp_path.rglob("evil.md"))


def test_what_was_forgotten_since_stays_so_and_is_said(old: Machine, tmp_path: Path) -> None:
    old.notes.write("memory/captures/2026-01-10.md", "# 2026-01-10\n\n- User: Mallory hid it under the floorboard.\n")
    old.run("facts", "add", "Mallory", "hid it under", "the third floorboard")
    old.run("backup", str(tmp_path / "b.zip"), "--with-key")
    text = old.notes.root / "memory/captures/2026-01-10.md"
    before = text.read_bytes()
    old.run("forget", "--query", "Mallory floorboard", "--yes")
    answer = old.json("restore", str(tmp_path / "b.zip"), "--overwrite")
    assert "forgotten since this backup was made" in answer["warning"]
    text.write_bytes(before)
    old.run("ingest")
    assert "floorboard" not in text.read_text() + (old.notes.root / "facts.yaml").read_text()
    assert old.json("search", "floorboard")["results"] == []
    assert "Vesta" in (old.notes.root / "facts.yaml").read_text()
