"""An open umask, a workspace that is gone, a full disk, Ctrl-C: what happens around the memory does it no harm."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested, open_memory
from indexing import open_store

from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.errors import StoreError, WorkspaceError
from openclaw_memory.knowledge import facts_file


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def said(text: str) -> Turn:
    return Turn([Message("user", text)])


def test_no_folder_of_ours_is_everybodys(notes: Notes, tmp_path: Path, open_umask: None) -> None:
    notes.root.chmod(0o777)
    notes.write("MEMORY.md", "- The heron moved.\n")
    state, db = tmp_path / "x" / "state" / "s.sqlite", tmp_path / "y" / "index" / "i.duckdb"
    with ingested(notes, db=db, state=state) as memory:
        memory.facts.add("Anna", "works at", "Acme")
        memory.capture(said("We decided that kumquats go to dock 7."), everything=True)
        memory.export(tmp_path / "z" / "export")
        memory.forget(query="heron")
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and path != notes.root]
    assert {"captures", "locks", "index", "state", "export"} <= {path.name for path in folders}
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in folders}
    assert [path for path, mode in modes.items() if mode & 0o002 and not mode & stat.S_ISVTX] == []


def test_a_workspace_that_was_moved_is_not_made_anew(notes: Notes) -> None:
    with ingested(notes) as memory:
        notes.root.rename(notes.root.with_name("moved"))
        for write in (
            lambda: memory.capture(said("We decided that kumquats go to dock 7."), everything=True),
            lambda: memory.facts.add("Anna", "works at", "Acme"),
            lambda: memory.concepts.add("Acme"),
            lambda: memory.consolidate(),
        ):
            with pytest.raises(WorkspaceError):
                write()
        assert not notes.root.exists()


def test_a_fact_that_is_written_is_not_said_to_be_undone(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def full(*_: Any) -> None:
        taken.append(1)
        if len(taken) > 1:
            raise StoreError("the disk is full; the index is as it was before")

    with open_memory(notes) as memory:
        monkeypatch.setattr(facts_file, "take_over", full)
        report = memory.facts.add("Anna", "works at", "Acme")
    assert "Acme" in (notes.root / "facts.yaml").read_text()
    assert report.added == 1 and "not read into the index yet: the disk is full" in str(report.warning)


def test_ctrl_c_in_the_database_is_ctrl_c(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is started without
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        store._db.rows("SELECT count(*) FROM range(1000000) a, range(1000000) b")
    store.close()
