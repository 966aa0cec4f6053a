"""Folding postings on a server while others write: one process does it, nobody waits, and nothing is lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from indexing import drop, note, put
from postgres_server import Postgres

from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import KeywordIndex
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.text import analysis

pytestmark = pytest.mark.postgres

NOTES: dict[str, Any] = {
    f"{name}.md": [[f"the {name} sleeps", f"a {name} and a fox"]] for name in ("fox", "wolf", "owl")
}


@pytest.fixture
def stores(
    postgres: Postgres, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[PostgresStore]]:
    """Two gateways on one memory, in which few new postings are worth folding."""
    given = StoreSettings(lock_timeout=10.0), analysis.terms, analysis.ANALYSIS_VERSION
    stores = [PostgresStore(postgres.url("owner"), "main", request.node.name, *given) for _ in range(2)]
    monkeypatch.setattr("openclaw_memory.store.postgres.store._NEW", 0)
    put(stores[0], NOTES)
    yield stores
    for store in stores:
        store.close()


def meanwhile(store: PostgresStore, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something happen, once, when the rows to be have been computed and not been written."""
    fold = store._db.folded

    def folded(c: Any) -> Any:
        found = fold(c)
        monkeypatch.setattr(store._db, "folded", fold)
        act()
        return found

    monkeypatch.setattr(store._db, "folded", folded)


def check(store: PostgresStore, index: KeywordIndex) -> None:
    """Every term is found in the living units that hold it, once in each."""
    index.refresh()
    wanted = defaultdict(list)
    texts = dict(store._db.rows("SELECT id, coalesce(indexed, text) FROM units ORDER BY id"))
    for unit, text in texts.items():
        for term in set(analysis.terms(text)):
            wanted[term].append(unit)
    found = index.postings(list(wanted))
    for at, units in enumerate(wanted.values()):
        assert sorted(unit for unit in found.of(at)[0].tolist() if unit in texts) == units


def test_what_others_write_while_it_is_folded_is_kept(
    stores: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores
    known = other.keyword_index()
    known.refresh()

    def write() -> None:
        put(other, {"heron.md": [["a heron and a fox", "the pond"]], "owl.md": [["the owl woke up"]]})
        drop(other, "wolf.md")

    meanwhile(store, write, monkeypatch)
    assert store.maintain()
    for each in stores:
        check(each, each.keyword_index())
    check(other, known)
    assert store.statistics().postings and store.statistics().postings_delta
    assert store.maintain()
    assert store.statistics().postings_delta == 0
    check(store, store.keyword_index())
    check(other, known)


def test_one_process_folds_at_a_time_and_nobody_waits_for_it(
    stores: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores
    done: list[bool] = []
    meanwhile(store, lambda: done.append(other.maintain()), monkeypatch)
    assert store.maintain() and done == [False]
    put(store, {"heron.md": NOTES["fox.md"]})
    meanwhile(store, lambda: done.append(other.maintain(force=True)), monkeypatch)  # as forgetting does
    assert not store.maintain() and done == [False, True]
    put(store, {"pond.md": NOTES["owl.md"]})
    assert other.maintain()  # the turn was given back
    check(store, store.keyword_index())


def test_a_question_leaves_a_large_memory_to_who_has_the_time(
    stores: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores
    monkeypatch.setattr("openclaw_memory.store.postgres.store._LARGE", 10)
    assert store.maintain()
    put(other, {"heron.md": [["a heron and a fox"]]})
    with store.patience(Deadline.after(30)):
        assert not store.maintain()
    with other.patience(Deadline.after(30)):
        put(other, {f"{name}.md": [[f"the {name} swims"]] for name in ("eel", "carp", "pike", "roach", "bream")})
        assert other.maintain()  # that much is new
    assert not other.maintain()
    put(other, {"perch.md": [["the perch swims over there"]]})
    assert store.maintain()
    check(other, other.keyword_index())


def test_a_unit_that_comes_back_meanwhile_keeps_its_postings(
    stores: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores
    documents = store.documents()
    row = documents.by_path["wolf.md"]
    units = [unit.id for unit in store.units_of([row.id])]
    other.remove([row.id], units, documents.version)  # the file has another name now

    def come_back() -> None:
        change = note("dog.md", NOTES["wolf.md"])
        again = [replace(planned, id=unit) for planned, unit in zip(change.units, units, strict=True)]
        other.apply([replace(change, units=again)], other.documents().version)

    meanwhile(store, come_back, monkeypatch)
    assert not store.maintain()
    for each in stores:
        check(each, each.keyword_index())
    assert store.maintain()
    check(store, store.keyword_index())
