"""What is much to write goes in slices: others have their turn between them, and see all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, open_memory, snippets
from indexing import note, open_store, put, unit_vectors

from openclaw_memory.errors import StoreError
from openclaw_memory.store.api import TextsChanged, VectorModel
from openclaw_memory.store.duckdb import slices
from openclaw_memory.store.duckdb.database import Database
from openclaw_memory.store.duckdb.duck import DuckStore

#: As many things as there are in the large note of a test, six sections of them.
THINGS = [[f"the crate number {section * 20 + at} holds a lantern" for at in range(20)] for section in range(6)]
TABLES = ("units", "sections", "mentions", "found_facts", "derived_from")


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_LARGE", 50)
    monkeypatch.setattr(slices, "_SLICE", 30)
    monkeypatch.setattr(slices, "_GROWTH", 1)
    monkeypatch.setattr(slices, "_DELETED", 60)
    monkeypatch.setattr(slices, "_FOLDED", 400)


def between(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> list[int]:
    """Have ``call`` made after every transaction of whoever writes; the list grows by one with each."""
    real, made, busy = Database.write, [], [False]

    @contextmanager
    def write(self: Database, *args: Any, **options: Any) -> Iterator[Any]:
        with real(self, *args, **options) as c:
            yield c
        if not busy[0] and self.lease._depth == 0:
            busy[0] = True
            try:
                call()
            finally:
                busy[0] = False
            made.append(1)

    monkeypatch.setattr(Database, "write", write)
    return made


def left(store: DuckStore) -> dict[str, int]:
    """Rows without their document."""
    found = {
        table: store._db.rows(f"SELECT count(*) FROM {table} WHERE document_id NOT IN (SELECT id FROM documents)")[0][0]
        for table in TABLES
    }
    return {table: rows for table, rows in found.items() if rows}


def markdown(things: list[list[str]]) -> str:
    parts = ("\n".join(f"- {text}" for text in texts) for texts in things)
    return "# Cellar\n" + "".join(f"\n## Shelf {at}\n\n{part}\n" for at, part in enumerate(parts))


def test_questions_are_answered_while_a_large_note_is_written(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with open_memory(notes, store__idle_close=0.0) as memory, open_memory(notes, ingest__fresh_seconds=1e9) as other:
        other.ingest()
        notes.write("memory/cellar.md", markdown(THINGS))
        seen: list[int] = []

        def ask() -> None:
            result = other.search("lantern", mode="keyword", max_results=200, deadline=20.0)
            assert any(hit.path == "MEMORY.md" for hit in result.results)
            units = other.store.statistics().units
            assert units == sum(row.units for row in other.store.documents().by_path.values())
            seen.append(len([hit for hit in result.results if hit.path == "memory/cellar.md"]))

        turns = between(monkeypatch, ask)
        report = memory.ingest()
        monkeypatch.undo()
        assert report.added > 120 and len(turns) > 3
        whole = len([hit for hit in other.search("lantern", max_results=200).results if hit.path != "MEMORY.md"])
        assert set(seen) == {0, whole}, "all of it or nothing"
        assert not left(memory.store)
        with open_memory(notes, name="fresh") as fresh:
            fresh.ingest()
            assert snippets(other, "crate lantern", max_results=200) == snippets(
                fresh, "crate lantern", max_results=200
            )


def test_units_of_a_note_that_is_being_written_wait_for_their_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have lower numbers than those of the notes that come, and are embedded, before theirs is whole."""
    store, model = open_store(tmp_path / "index.duckdb"), VectorModel("test", 8)

    def write() -> None:
        put(store, {f"b{len(made)}.md": [[f"a rope of {len(made)} metres"]]})
        waiting = [one.unit_id for one in store.pending(model, 999)]
        store.put_vectors(model, waiting, unit_vectors(len(waiting), 8))
        assert store.vector_states(model).pending == 0

    made = between(monkeypatch, write)
    store.apply([note("large.md", THINGS)], store.documents().version)
    assert len(made) > 4 and len(store.documents().by_path) > 4
    fresh = open_store(tmp_path / "index.duckdb")
    with monkeypatch.context() as alone:
        alone.setattr(Database, "write", Database.write)
        assert store.vector_states(model) == fresh.vector_states(model)
        assert store.pending(model, 999) == fresh.pending(model, 999)


def test_a_large_note_that_changes_keeps_its_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "i.duckdb")
    put(store, {"a.md": THINGS, "b.md": [["a boat"]]})
    before = {unit.hash: unit.id for unit in store.units_of([store.documents().by_path["a.md"].id])}
    other = open_store(tmp_path / "i.duckdb", idle_close=0.0)
    store._db.lease._idle = 0.0
    counts: list[int] = []
    turns = between(monkeypatch, lambda: counts.append(len(other.unit_rows(None).unit_id)))
    put(store, {"a.md": [["one more"], *THINGS[1:]]})
    monkeypatch.undo()
    assert len(turns) > 3 and set(counts) == {121, 102}
    after = {unit.hash: unit.id for unit in store.units_of([store.documents().by_path["a.md"].id])}
    assert len(after) == 101 and sum(before.get(text) == unit for text, unit in after.items()) == 100
    assert not left(store)
    assert len(store.unit_texts(sorted(after.values()))) == 101
    store.close(), other.close()


def test_of_a_note_that_was_not_written_to_its_end_nothing_is_seen_or_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "i.duckdb")
    put(store, {"b.md": [["a boat"]]})
    version = store.documents().version
    monkeypatch.setattr(DuckStore, "_sweep", lambda self: None)  # as it is when a process is killed
    monkeypatch.setattr(slices.writing, "put_whole", raising := lambda *given: (_ for _ in ()).throw(StoreError("no")))
    with pytest.raises(StoreError, match="no"):
        store.apply([note("a.md", THINGS)], version)
    monkeypatch.undo()
    assert raising and left(store) == {"units": 120, "sections": 6}
    assert len(store.unit_rows(None).unit_id) == 1 and store.statistics().units == 1
    assert not store.maintain() and not left(store), "whoever looks after the index next sweeps"
    store.apply([note("a.md", THINGS)], version)
    assert len(store.unit_rows(None).unit_id) == 121
    store.close()


def test_forgetting_leaves_nothing_of_what_was_not_written_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where as many units are on their way between two files, so that their number tells nothing."""
    store = open_store(tmp_path / "i.duckdb")
    put(store, {"b.md": [["a boat"]]})
    monkeypatch.setattr(DuckStore, "_sweep", lambda self: None)
    monkeypatch.setattr(slices.writing, "put_whole", lambda *given: (_ for _ in ()).throw(StoreError("no")))
    with pytest.raises(StoreError, match="no"):
        store.apply([note("a.md", THINGS)], store.documents().version)
    monkeypatch.undo()
    with store._db.write() as c:
        c.execute("UPDATE documents SET units = units + 120")
    store.purge()
    assert not left(store) and not store.contains(["holds a lantern"])
    store.close()


def test_who_writes_the_same_note_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = (open_store(tmp_path / "i.duckdb", idle_close=0.0) for _ in range(2))
    put(store, {"a.md": THINGS, "b.md": [["a boat"]]})
    done: list[int] = []

    def intrude() -> None:
        if not done:
            done.append(1)
            put(other, {"a.md": [["an anchor"]]})

    between(monkeypatch, intrude)
    with pytest.raises(TextsChanged):
        put(store, {"a.md": [["one more"], *THINGS]})
    monkeypatch.undo()
    assert len(store.unit_rows(None).unit_id) == 2 and not left(store)
    store.close(), other.close()


def test_a_large_note_that_is_gone_is_gone_at_once_and_its_rows_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = (open_store(tmp_path / "i.duckdb", idle_close=0.0) for _ in range(2))
    put(store, {"a.md": THINGS, "b.md": [["a boat"]]})
    counts: list[int] = []
    between(monkeypatch, lambda: counts.append(len(other.unit_rows(None).unit_id)))
    documents = store.documents()
    store.remove([documents.by_path["a.md"].id], (), documents.version)
    monkeypatch.undo()
    assert set(counts) == {1} and len(counts) > 3 and not left(store)
    store.close(), other.close()


def test_postings_are_folded_in_parts_while_others_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = (open_store(tmp_path / "i.duckdb", idle_close=0.0) for _ in range(2))
    put(store, {"a.md": THINGS, "b.md": [["a boat"]]})
    index = other.keyword_index()
    index.refresh()
    turns: list[int] = []

    def write() -> None:
        turns.append(1)
        put(other, {f"new-{len(turns)}.md": [[f"a heron by the boat {len(turns)}"]]})
        index.refresh()

    between(monkeypatch, write)
    assert store.maintain(force=True)
    monkeypatch.undo()
    assert len(turns) > 3
    anew = store.keyword_index()
    for one in (index, anew):
        one.refresh()
        found = one.postings(["boat", "heron", "lantern"])
        assert [len(found.of(at)[0]) for at in range(3)] == [len(turns) + 1, len(turns), 120]
    assert not store.maintain()
    store.close(), other.close()


def test_a_plan_from_before_a_compaction_is_void(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = (open_store(tmp_path / "i.duckdb", idle_close=0.0) for _ in range(2))
    put(store, {"a.md": THINGS})
    version = other.documents().version
    refused: list[int] = []

    def write() -> None:
        with pytest.raises(TextsChanged):
            other.apply([note("c.md", [["a heron"]])], version)
        refused.append(1)

    between(monkeypatch, write)
    assert store.maintain(force=True)
    monkeypatch.undo()
    assert len(refused) > 3
    store.close(), other.close()


def test_nobody_folds_while_a_large_note_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = (open_store(tmp_path / "i.duckdb", idle_close=0.0) for _ in range(2))
    tried: list[bool] = []
    between(monkeypatch, lambda: tried.append(other.maintain()))
    put(store, {"a.md": THINGS})
    monkeypatch.undo()
    assert len(tried) > 3 and not any(tried)
    store.close(), other.close()
