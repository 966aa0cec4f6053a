"""Another version of reading, or another ``redaction.allow``, has files read again: nothing is left that is not allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fakes import Notes, open_memory
from markers import both, file_only

from openclaw_memory import Memory
from openclaw_memory.ingest.notes import NoteReader
from openclaw_memory.knowledge import versions

pytestmark = both

SECRET, OTHER = "swordfish", "marlin"
NOTE = f"- The harbour password: {SECRET}\n- The boat password: {OTHER}\n- The harbour opens in May.\n"


class Reads:
    """Counts the files that are read and parsed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        read = NoteReader.read

        def counted(reader: NoteReader, file: Any, *rest: Any) -> Any:
            self.paths.append(file.path)
            return read(reader, file, *rest)

        monkeypatch.setattr(NoteReader, "read", counted)

    def taken(self) -> list[str]:
        paths, self.paths = self.paths, []
        return sorted(paths)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


@pytest.fixture
def program(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Memory]:
    """Opens the memory as a program of a version and with a setting does."""
    notes.write("memory/2026-02-16.md", NOTE)
    notes.write("memory/2026-02-17.md", "- The ferry is late.\n")

    def opened(*allow: str, version: int = 2, **values: Any) -> Memory:
        with monkeypatch.context() as patch:
            patch.setattr(versions, "EXTRACTION", (1, version))
            return open_memory(notes, redaction__allow=list(allow), idle=0, **values)

    return opened


def found(memory: Memory) -> str:
    return repr(memory.search("harbour boat password", mode="keyword").results)


def test_another_version_reads_again_once(program: Callable[..., Memory], reads: Reads) -> None:
    with program(version=1) as old:
        old.ingest()
    assert len(reads.taken()) == 2
    with program(version=2) as new:
        new.ingest()
        assert len(reads.taken()) == 2
        new.ingest()
        assert reads.taken() == []


def test_a_setting_that_one_person_changes_counts_at_once(program: Callable[..., Memory], reads: Reads) -> None:
    expected = {(): (), (SECRET,): (SECRET,), (OTHER,): (OTHER,)}
    for allow, shown in expected.items():
        with program(*allow) as memory:
            memory.ingest()
            assert len(reads.taken()) == 2
            assert {word for word in (SECRET, OTHER) if word in found(memory)} == set(shown)


def tables_with(memory: Memory, text: str) -> set[str]:
    """The tables of the index that hold a text."""
    store: Any = memory.store
    with store._db.read() as c:
        names = [row[0] for row in c.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()]
        return {name for name in names if text in repr(c.execute(f"SELECT * FROM {name}").fetchall())}


@file_only
def test_what_is_no_longer_allowed_is_redacted_everywhere(program: Callable[..., Memory], notes: Notes) -> None:
    notes.write("facts.yaml", f"- {{subject: harbour, predicate: sign, object: 'password: {SECRET}'}}\n")
    with program(SECRET) as memory:
        memory.ingest()
        assert SECRET in found(memory)
        assert {"units", "sections", "stated_facts"} <= tables_with(memory, SECRET)
    with program() as memory:
        memory.ingest()
        assert SECRET not in found(memory)
        assert tables_with(memory, SECRET) == set()
