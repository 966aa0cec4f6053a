"""A search sees what changed in the files without an ingest, or says that it could not look."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory, snippets

from openclaw_memory import Memory, hookimpl
from openclaw_memory.errors import LeaseTimeout
from openclaw_memory.ingest import freshness
from openclaw_memory.ingest import notes as notes_reader
from openclaw_memory.model import SourceFile


def test_a_search_without_any_ingest_finds_what_is_written(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with open_memory(notes, embedder) as memory:
        result = memory.search("tent")
        assert result.results[0].snippet == "- the tent leaks"
        assert (result.stale, result.warning, result.mode) == (False, None, "hybrid")
        assert result.results[0].vector_score is not None


def test_a_search_sees_changes_additions_and_deletions(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes, embedder) as memory:
        notes.write("MEMORY.md", "- the tent is dry\n")
        notes.write("memory/a.md", "- the stove smokes\n")
        assert snippets(memory, "tent") == ["- the tent is dry"]
        assert snippets(memory, "stove") == ["- the stove smokes"]
        notes.remove("memory/a.md")
        assert snippets(memory, "stove") == []


def test_a_recent_look_is_trusted(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes, ingest__fresh_seconds=5.0) as memory:
        now = time.monotonic()
        notes.write("MEMORY.md", "- the tent is dry\n")
        monkeypatch.setattr(time, "monotonic", lambda: now + 4)
        assert snippets(memory, "tent") == ["- the tent leaks"]
        monkeypatch.setattr(time, "monotonic", lambda: now + 6)
        assert snippets(memory, "tent") == ["- the tent is dry"]


def test_a_clock_set_back_or_forth_changes_nothing(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        for clock in (0.0, 4e9):
            monkeypatch.setattr(time, "time", lambda clock=clock: clock)
            notes.write("MEMORY.md", f"- the tent costs {clock:.0f}\n")
            assert snippets(memory, "tent") == [f"- the tent costs {clock:.0f}"]


def test_an_ingest_of_one_path_does_not_count_as_a_look_at_all(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    notes.write("memory/a.md", "- the stove smokes\n")
    with open_memory(notes, ingest__fresh_seconds=1000.0) as memory:
        memory.ingest(["MEMORY.md"])
        assert snippets(memory, "stove") == ["- the stove smokes"]


def test_what_does_not_fit_into_the_deadline_makes_the_answer_stale(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "LOOK_SECONDS", 0.0)
    for number in range(5):
        notes.write(f"memory/{number}.md", f"- stove {number}\n")
    with open_memory(notes) as memory:
        result = memory.search("stove")
        assert result.stale
        assert result.warning is not None and "openclaw-memory ingest" in result.warning
        for _ in range(5):  # every search gets a little further
            result = memory.search("stove", max_results=10)
        assert (len(result.results), result.stale, result.warning) == (5, False, None)


def test_a_slow_file_costs_one_search_and_no_more(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    real = notes_reader.read_note
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def slow(file: SourceFile, most: int) -> str:
        clock[0] += 10
        return real(file, most)

    monkeypatch.setattr(notes_reader, "read_note", slow)
    for number in range(3):
        notes.write(f"memory/{number}.md", f"- stove {number}\n")
    monkeypatch.setattr(freshness, "LOOK_SECONDS", 5.0)
    with open_memory(notes) as memory:
        result = memory.search("stove", deadline=30.0)
        assert (len(result.results), result.stale) == (1, True)


def test_a_running_ingest_makes_the_answer_stale_and_does_not_hold_it_up(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        notes.write("memory/a.md", "- the stove smokes\n")
        reading, go = threading.Event(), threading.Event()
        real = notes_reader.read_note

        def read(file: SourceFile, most: int) -> str:
            reading.set()
            assert go.wait(20)
            return real(file, most)

        monkeypatch.setattr(notes_reader, "read_note", read)
        thread = threading.Thread(target=memory.ingest)
        thread.start()
        assert reading.wait(20)
        result = memory.search("tent")
        assert (result.stale, result.warning) == (True, "an ingest is running")
        assert result.results[0].snippet == "- the tent leaks"
        go.set()
        thread.join()
        assert snippets(memory, "stove")


class Held:
    """A large note whose reading waits until :attr:`go` is set."""

    def __init__(self, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(freshness, "_LARGE", 100)
        self.reading, self.go, self.path = threading.Event(), threading.Event(), "memory/large.md"
        real = notes_reader.read_note

        def read(file: SourceFile, most: int) -> str:
            if file.path == self.path and not self.go.is_set():
                self.reading.set()
                assert self.go.wait(20)
            return real(file, most)

        monkeypatch.setattr(notes_reader, "read_note", read)
        self.text = "# Yard\n\n" + "".join(f"- the stove smokes on day {day}\n" for day in range(20))
        notes.write(self.path, self.text)


def test_a_question_with_a_deadline_does_not_wait_for_a_large_file(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        held = Held(notes, monkeypatch)
        notes.write("memory/small.md", "- the gate squeaks\n")
        result = memory.search("gate", deadline=20.0)
        assert result.results[0].snippet == "- the gate squeaks"
        assert (result.stale, result.warning) == (True, "still being read: memory/large.md")
        assert held.reading.wait(20)
        result = memory.search("tent", deadline=20.0)  # the index as it was answers meanwhile
        assert result.results[0].snippet == "- the tent leaks"
        assert (result.stale, result.warning) == (True, "an ingest is running")
        held.go.set()
        memory.ingest()  # waits for its turn
        result = memory.search("stove", deadline=20.0)
        assert (result.stale, result.warning) == (False, None)
        assert result.results[0].path == held.path


@pytest.mark.parametrize("content", [b"\0" * 200, b"\xff" * 200])
def test_a_large_file_that_cannot_be_read_is_tried_once(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(freshness, "_LARGE", 100)
    notes.write("MEMORY.md", "- The stove is blue.\n")
    notes.write("memory/old.md", "- The shed is red.\n")
    with ingested(notes, None) as memory:
        path = notes.write("memory/large.md", content)
        assert memory.search("stove", deadline=20.0).stale
        for thread in threading.enumerate():
            if thread.name == "large-notes":
                thread.join()
        (notes.root / "memory" / "old.md").unlink()
        result = memory.search("shed", deadline=20.0)
        assert not result.stale and not result.results, "what is gone is gone"
        path.write_text("- The large stove is green.\n" * 9, encoding="utf-8")
        assert memory.search("stove", deadline=20.0).stale, "another text is tried again"


def test_a_question_without_a_deadline_reads_a_large_file(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory(notes) as memory:
        Held(notes, monkeypatch).go.set()
        result = memory.search("stove")
        assert result.results and (result.stale, result.warning) == (False, None)


def test_a_large_file_under_a_new_name_is_found_under_the_old_one_until_it_is_read(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(notes) as memory:
        held = Held(notes, monkeypatch)
        held.go.set()
        memory.ingest()
        held.go.clear()
        (notes.root / held.path).rename(notes.root / "memory/moved.md")
        held.path = "memory/moved.md"
        assert memory.search("stove", deadline=20.0).results[0].path == "memory/large.md"
        held.go.set()
        memory.ingest()
        assert memory.search("stove", deadline=20.0).results[0].path == "memory/moved.md"


def test_what_is_being_read_when_a_memory_closes_is_written(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        held = Held(notes, monkeypatch)
        assert memory.search("tent", deadline=20.0).stale
        assert held.reading.wait(20)
        held.go.set()
    with open_memory(notes) as memory:
        monkeypatch.setattr(freshness, "_LARGE", 0)
        result = memory.search("stove", deadline=20.0)
        assert result.results and (result.stale, result.warning) == (False, None)


def test_a_broken_ignore_file_is_said_and_the_old_answer_given(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        notes.write(".memoryignore", b"\xff\xfe")
        result = memory.search("tent")
        assert result.results and result.stale
        assert result.warning is not None and ".memoryignore" in result.warning


def test_a_workspace_that_vanished_is_said_and_nothing_is_forgotten(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        notes.root.rename(notes.root.with_name("away"))
        result = memory.search("tent")
        assert result.results and result.stale
        assert result.warning is not None and "no such folder" in result.warning
        notes.root.with_name("away").rename(notes.root)
        assert not memory.search("tent").stale


def test_an_empty_workspace_is_said(notes: Notes) -> None:
    with open_memory(notes) as memory:
        for result in (memory.ingest(), memory.search("tent"), memory.search("tent")):
            assert result.warning is not None and "no notes in" in result.warning
        notes.write("MEMORY.md", "- the tent leaks\n")
        assert memory.search("tent").warning is None


def test_a_search_with_a_deadline_gives_up_a_held_index_in_time(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with open_memory(notes, store__lock_timeout=600.0) as memory, open_memory(notes) as other:
        memory.ingest()
        memory.store.close()
        with other.store.session(), pytest.raises(LeaseTimeout):
            memory.search("tent", deadline=0.3)


class Intruder:
    """Takes the index away while a file is read: after the first look at it, and before it is written."""

    def __init__(self, takes: list[Callable[[], object]]) -> None:
        self.takes = takes

    @hookimpl
    def openclaw_memory_prepare_lines(self, path: str, lines: list[str]) -> None:
        if self.takes:
            self.takes.pop()()


@pytest.mark.parametrize("ask", ["search", "recall", "timeline", "ingest"])
def test_a_deadline_holds_when_the_index_is_taken_in_the_middle(notes: Notes, ask: str) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with contextlib.ExitStack() as held, open_memory(notes) as other:
        other.ingest()
        other.store.close()
        intruder = Intruder([lambda: held.enter_context(other.store.session())])
        with open_memory(notes, plugins=[intruder], store__lock_timeout=600.0) as memory:
            notes.write("memory/a.md", "- the stove smokes\n")
            asked = () if ask == "ingest" else ("tent",)
            with pytest.raises(LeaseTimeout, match="for longer than there was time for"):
                getattr(memory, ask)(*asked, deadline=0.5)
            assert not intruder.takes
            held.close()
            assert memory.search("stove", deadline=60.0).results


def test_slow_questions_leave_few_threads(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes, embedder) as memory:
        memory.search("warm")
        embedder.gate.clear()
        for n in range(40):
            assert memory.search(f"tent {n}", deadline=0.05).mode == "keyword"
        late = [thread for thread in threading.enumerate() if thread.name == "deadline"]
        embedder.gate.set()
        assert len(late) <= 8
        for thread in late:
            thread.join(20)
        assert memory.search("the tent", deadline=20.0).mode == "hybrid"


def test_a_model_that_is_silent_does_not_outlast_the_deadline(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes, embedder) as memory:
        embedder.gate.clear()
        result = memory.search("tent", deadline=1.0)
        embedder.gate.set()
        assert result.results[0].snippet == "- the tent leaks"
        assert result.mode == "keyword" and result.provider == "none"
        assert result.fallback is not None and "did not answer within" in result.fallback
        assert memory.search("tent", deadline=20.0).mode == "hybrid"


def test_two_memories_on_one_index_see_each_others_work(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    first: Any
    second: Memory
    with open_memory(notes) as first, open_memory(notes) as second:
        assert snippets(first, "tent") == snippets(second, "tent") == ["- the tent leaks"]
        notes.write("MEMORY.md", "- the tent is dry\n")
        first.ingest()
        assert second.ingest().unchanged == 1
        assert snippets(second, "tent") == ["- the tent is dry"]


def test_how_large_a_note_a_question_waits_for_goes_by_its_time(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with ingested(notes) as memory:
        held = Held(notes, monkeypatch)
        monkeypatch.setattr(freshness, "_LARGE", 10_000)
        monkeypatch.setattr(freshness, "_A_SECOND", 1)
        assert memory.search("tent", deadline=20.0).stale
        held.go.set()
        memory.ingest()
        assert memory.search("stove", deadline=20.0).results[0].path == held.path


def test_an_ingest_takes_over_what_it_wrote_so_that_the_next_question_reads_nothing(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    notes.write("memory/2026-03-01.md", "- the lamp is green\n")
    with ingested(notes, embedder) as memory:
        unit_rows = memory.store.unit_rows
        monkeypatch.setattr(memory.store, "unit_rows", lambda ids: (read.append(ids), unit_rows(ids))[1])
        memory.ingest()
        assert read == []  # nobody has asked, so that nothing is held
        memory.search("lamp")
        notes.write("memory/2026-03-02.md", "- the kettle is blue\n")
        memory.ingest()
        assert len(read) == 2
        assert snippets(memory, "kettle") == ["- the kettle is blue"]
        assert len(read) == 2
