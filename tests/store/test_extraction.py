"""Programs of another version, or with another ``redaction.allow``, on one index: each is right, none reads in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fakes import Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st
from indexing import both, file_only

from openclaw_memory import Memory
from openclaw_memory.ingest.notes import NoteReader
from openclaw_memory.knowledge import linking
from openclaw_memory.store.api import Extraction
from openclaw_memory.store.tables import extraction

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
            patch.setattr(linking, "EXTRACTION_VERSION", (1, version))
            return open_memory(notes, redaction__allow=list(allow), store__idle_close=0, **values)

    return opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day in the store, in seconds."""
    now = [1_800_000_000.0]
    monkeypatch.setattr("openclaw_memory.store.tables.store.time.time", lambda: now[0])
    return now


def found(memory: Memory) -> str:
    return repr(memory.search("harbour boat password", mode="keyword").results)


def said(memory: Memory) -> list[str]:
    """What the index has to say after an ingest, which says it too."""
    warning = memory.ingest().warning or ""
    assert all(remark in warning for remark in memory.store.warnings())
    return memory.store.warnings()


def test_a_newer_program_reads_again_once_and_an_older_one_leaves_it(
    program: Callable[..., Memory], reads: Reads, notes: Notes
) -> None:
    with program(version=1) as old, program(version=2) as new:
        old.ingest()
        assert len(reads.taken()) == 2
        new.ingest()
        assert len(reads.taken()) == 2
        for _ in range(3):
            assert said(old) == [extraction.BEHIND]
            assert said(new) == []
        assert reads.taken() == []
        # What the older one reads for itself the newer one reads again, and nothing else.
        notes.write("memory/2026-02-18.md", "- The bridge is open.\n")
        old.ingest()
        assert old.search("bridge").results
        assert reads.taken() == ["memory/2026-02-18.md"]
        for _ in range(3):
            new.ingest()
            old.ingest()
        assert reads.taken() == ["memory/2026-02-18.md"]
        assert extraction.BEHIND in old.remarks()


def test_the_log_says_once_that_the_program_is_older(
    program: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    with program(version=2) as new:
        new.ingest()
    with program(version=1) as old:
        for _ in range(4):
            old.ingest()
    assert sum(extraction.BEHIND in record.message for record in caplog.records) == 1


@pytest.mark.parametrize("written", ["2.2.1.1", "2.2.1.1.0123456789abcdef", "older", "{}", "[1]", '{"version": "x"}'])
def test_an_index_of_an_earlier_release_is_read_again_once(
    program: Callable[..., Memory], reads: Reads, written: str
) -> None:
    with program() as memory:
        memory.ingest()
        store: Any = memory.store
        with store._db.write() as c:
            c.execute("UPDATE meta SET value = ? WHERE key = 'extraction'", [written])
    reads.taken()
    with program() as memory:
        memory.ingest()
        assert len(reads.taken()) == 2
        memory.ingest()
        assert reads.taken() == [] and said(memory) == []


def test_a_setting_that_one_person_changes_counts_at_once(
    program: Callable[..., Memory], reads: Reads, clock: list[float]
) -> None:
    expected = {(): (), (SECRET,): (SECRET,), (OTHER,): (OTHER,), (SECRET, OTHER): (SECRET, OTHER)}
    for allow, shown in expected.items():
        with program(*allow) as memory:
            assert said(memory) == []
            assert len(reads.taken()) == 2
            assert {word for word in (SECRET, OTHER) if word in found(memory)} == set(shown)
        clock[0] += 60


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


def test_two_settings_on_one_index_agree_on_what_both_allow(
    program: Callable[..., Memory], reads: Reads, clock: list[float]
) -> None:
    with program(SECRET, OTHER) as wide, program(SECRET) as narrow:
        wide.ingest()
        narrow.ingest()
        wide.ingest()
        reads.taken()
        for _ in range(4):
            clock[0] += 700
            assert said(narrow) == []
            (warning,) = said(wide)
            assert warning.startswith("redaction.allow: 1 of its 2 texts") and OTHER not in warning
            assert SECRET in found(wide) and OTHER not in found(wide)
            assert SECRET in found(narrow) and OTHER not in found(narrow)
        assert reads.taken() == []


def test_settings_of_which_neither_holds_the_other_leave_what_both_do(
    program: Callable[..., Memory], reads: Reads, clock: list[float]
) -> None:
    with program(SECRET) as one, program(OTHER) as other:
        for _ in range(2):
            one.ingest()
            other.ingest()
        reads.taken()
        for _ in range(3):
            for memory in (one, other):
                assert "redaction.allow: 1 of its 1 texts" in (memory.ingest().warning or "")
                assert SECRET not in found(memory) and OTHER not in found(memory)
        assert reads.taken() == []


def test_a_setting_counts_again_when_who_differed_is_gone(
    program: Callable[..., Memory], notes: Notes, clock: list[float]
) -> None:
    with program(SECRET) as wide:
        wide.ingest()
        with program() as narrow:
            narrow.ingest()
        assert "redaction.allow" in (wide.ingest().warning or "")
        # A file that is written meanwhile is read as all of them want it.
        notes.write("memory/2026-02-18.md", f"- The quay password: {SECRET}\n")
        wide.ingest()
        assert SECRET not in repr(wide.search("quay password", mode="keyword").results)
        clock[0] += 3700
        assert said(wide) == []
        assert SECRET in found(wide)


allowed = st.frozensets(st.sampled_from("abc"), max_size=3)
programs = st.lists(st.tuples(st.integers(1, 3), allowed).map(lambda of: Extraction((of[0],), of[1])), min_size=1)


@given(programs, st.data())
def test_programs_that_stay_soon_agree(ways: list[Extraction], data: st.DataObject) -> None:
    """However they take turns: the newest version, and nothing that one of them does not allow."""
    known: extraction.Noted | None = None
    now, reread = 0.0, 0
    for _ in range(3):
        for mine in data.draw(st.permutations(ways)):
            now += 1
            new = extraction.decided(known, mine, now)
            assert extraction.noted(new.text()) == new
            reread += known is None or known.extraction != new.extraction
            known = new
    assert known is not None
    # Each setting may count once when it is new here, and is narrowed once by each of the others.
    assert reread <= 2 * len(set(ways)) + 3
    assert known.extraction.version == max(mine.version for mine in ways)
    agreed = known.extraction.allow
    assert all(agreed <= mine.allow for mine in ways)
    for mine in ways:
        assert extraction.decided(known, mine, now).extraction == known.extraction


@given(allowed, allowed, st.integers(1, 3), st.integers(1, 3), st.floats(0, 1e5))
def test_nothing_is_left_that_the_last_reader_does_not_allow(
    first: frozenset[str], second: frozenset[str], one: int, two: int, later: float
) -> None:
    known = extraction.decided(None, Extraction((one,), first), 0)
    new = extraction.decided(known, Extraction((two,), second), later)
    assert new.extraction.allow <= second
