"""A large change is taken over beside the questions with a deadline, which the state from before it answers."""

from __future__ import annotations

import threading
import time

import pytest
from fakes import CountingEmbedder, Notes, open_memory

from openclaw_memory import Memory, SearchRequest
from openclaw_memory.search import ahead


class Gate:
    """Holds back what is taken over in a thread until :attr:`open` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ahead, "_LARGE", 30)
        self.open = threading.Event()
        real = ahead.Resident.refresh

        def refresh(resident: ahead.Resident, store: object) -> None:
            if threading.current_thread().name == "large-change":
                assert self.open.wait(120)
            real(resident, store)  # type: ignore[arg-type]

        monkeypatch.setattr(ahead.Resident, "refresh", refresh)


def cellar(notes: Notes, what: str) -> None:
    lines = (
        f"- the {what} number {at} stands by Old Harbour Street in the crate of Mara Lindqvist" for at in range(60)
    )
    notes.write("memory/cellar.md", "# Cellar\n\n" + "\n".join(lines) + "\n")


def found(memory: Memory, query: str, deadline: float | None = None) -> tuple[set[str], bool, str | None]:
    result = memory.search(SearchRequest(query, mode="keyword", max_results=99, deadline=deadline))
    return {hit.path for hit in result.results}, result.stale, result.warning


@pytest.mark.parametrize("again", [False, True])
def test_questions_with_a_deadline_do_not_wait_for_a_large_change(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    gate = Gate(monkeypatch)
    notes.write("MEMORY.md", "- the lantern is in the shed\n- the lantern of Mara Lindqvist is on Old Harbour Street\n")
    if again:
        cellar(notes, "barrel")
    with (
        open_memory(notes, embedder, idle=0.0) as memory,
        open_memory(notes, embedder, ingest__fresh_seconds=1e9) as other,
    ):
        other.ingest()
        assert other.search("lantern shed").mode == "hybrid"
        cellar(notes, "lantern")
        notes.write("memory/later.md", "- the gate squeaks\n")
        memory.ingest()
        for _ in range(2):
            assert found(other, "lantern shed", deadline=3.0) == (
                {"MEMORY.md"},
                True,
                "still being taken over: memory/cellar.md, memory/later.md",
            )
            assert found(other, "gate", deadline=3.0)[0] == set()
            context = other.context("where is the lantern of Mara Lindqvist?", budget=200, deadline=20.0)
            assert context.warning is not None and "still being taken over: memory/cellar.md" in context.warning
        with other._questions.graph(3.0, remarks := []) as view:
            assert len(view.corpus) < 70 if not again else True
        assert remarks == ["still being taken over: memory/cellar.md, memory/later.md"]
        gate.open.set()
        assert found(other, "lantern shed", deadline=20.0) == ({"MEMORY.md", "memory/cellar.md"}, False, None)
        assert found(other, "gate") == ({"memory/later.md"}, False, None)
        with open_memory(notes, embedder, name="fresh") as fresh:
            fresh.ingest()
            for query in ("lantern shed", "gate", "Mara Lindqvist", "barrel"):
                asked = SearchRequest(query, max_results=99)
                answers = [memory.search(asked).results for memory in (other, fresh)]
                assert [(hit.citation, hit.score, hit.concepts) for hit in answers[0]] == [
                    (hit.citation, hit.score, hit.concepts) for hit in answers[1]
                ]
            assert [row.name for row in other.concepts.list().rows] == [row.name for row in fresh.concepts.list().rows]


def test_a_question_without_a_deadline_takes_a_large_change_over(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert found(memory, "lantern")[0] == {"MEMORY.md"}
        cellar(notes, "lantern")
        memory.ingest()
        assert found(memory, "lantern shed", deadline=3.0)[1]
        assert found(memory, "lantern shed") == ({"MEMORY.md", "memory/cellar.md"}, False, None)
        gate.open.set()
        memory._questions.engine().caught_up(20)
        assert found(memory, "lantern shed") == ({"MEMORY.md", "memory/cellar.md"}, False, None)


def test_a_question_is_answered_from_before_while_others_have_the_index(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with open_memory(notes) as memory, open_memory(notes) as other:
        other.ingest()
        assert found(other, "lantern")[0] == {"MEMORY.md"}
        memory.ingest()  # has the file, and somebody may have written since
        other.store.close()
        with memory.store.session():
            paths, stale, warning = found(other, "lantern shed", deadline=4.0)
        assert (paths, stale) == ({"MEMORY.md"}, True)
        assert warning is not None and "the index is in use; answered from before that" in warning
        assert not found(other, "lantern shed", deadline=20.0)[1]


def test_a_question_is_answered_from_before_while_another_thread_writes(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with open_memory(notes, ingest__fresh_seconds=0.0) as memory:
        memory.ingest()
        assert found(memory, "lantern")[0] == {"MEMORY.md"}
        writing, go_on = threading.Event(), threading.Event()

        def write() -> None:
            with memory.store._db.write():  # type: ignore[attr-defined]
                writing.set()
                go_on.wait(20)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert writing.wait(20)
            started = time.monotonic()
            paths, stale, warning = found(memory, "lantern shed", deadline=4.0)
            took = time.monotonic() - started
        finally:
            go_on.set()
            writer.join()
        assert (paths, stale) == ({"MEMORY.md"}, True) and took < 4.5
        assert warning is not None and "the index is in use; answered from before that" in warning
        assert not found(memory, "lantern shed", deadline=20.0)[1]
