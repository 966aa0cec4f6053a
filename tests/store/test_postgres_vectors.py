"""Vectors on a server: what waits for one, what an index takes over, and what it leaves with the server."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from indexing import drop, put, unit_vectors
from postgres_server import Postgres

from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import VectorIndex, VectorModel
from openclaw_memory.store.postgres import database
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.text import analysis

pytestmark = pytest.mark.postgres

D = 24
MODELS = VectorModel("one", D), VectorModel("two", D)


def opened(postgres: Postgres, name: str, **values: Any) -> PostgresStore:
    settings = StoreSettings(lock_timeout=10.0, vector_dtype="float32", **values)
    return PostgresStore(postgres.url("owner"), "main", name, settings, analysis.terms, analysis.ANALYSIS_VERSION)


def waiting(store: PostgresStore, model: VectorModel) -> tuple[list[int], tuple[int, ...]]:
    """Units without a vector of ``model``, and the states, from the tables as they are."""
    rows = store._db.rows(
        "SELECT u.id, m.name, v.status FROM units u LEFT JOIN vectors v ON v.unit_id = u.id "
        "LEFT JOIN models m ON m.id = v.model_id ORDER BY u.id"
    )
    states = [sum(name == model.name and status == "ready" for _, name, status in rows)]
    states.append(sum(name is None for _, name, _ in rows))
    states.append(sum(name == model.name and status == "failed" for _, name, status in rows))
    states.append(sum(name not in (None, model.name) for _, name, _ in rows))
    return [unit_id for unit_id, name, _ in rows if name != model.name], tuple(states)


def same(index: VectorIndex, other: VectorIndex, store: PostgresStore) -> None:
    """Both hold the same vectors of the units there are."""
    ids = store.unit_rows(None).unit_id
    np.testing.assert_array_equal(index.has(ids), other.has(ids))
    known = ids[index.has(ids)]
    np.testing.assert_allclose(index.vectors(known), other.vectors(known), atol=1e-6)
    query = unit_vectors(1, D, 77)[0]
    np.testing.assert_allclose(index.similarities(query, ids), other.similarities(query, ids), atol=2e-3)
    np.testing.assert_allclose(
        index.neighbour_similarities(ids, 4), other.neighbour_similarities(ids, 4), atol=2e-3
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_after_any_history_what_waits_and_what_an_index_has_is_what_the_tables_say(
    postgres: Postgres, seed: int
) -> None:
    chance = random.Random(seed)
    store, other = (opened(postgres, f"history {seed}") for _ in range(2))
    indexes = [store.vector_index(model) for model in MODELS]
    for step in range(40):
        one, model = chance.choice([store, other]), chance.choice([*MODELS, MODELS[0], MODELS[0]])
        what = chance.choice(
            ["write", "write", "edit", "embed", "embed", "embed", "some", "fail", "retry", "drop", "fold"]
        )
        paths = sorted(one.documents().by_path)
        if what == "write" or not paths:
            put(one, {f"{step}.md": [[f"line {i} of {step}" for i in range(chance.randint(1, 9))]]})
        elif what == "edit":
            put(one, {chance.choice(paths): [[f"line {chance.randint(0, 9)} of {step}", f"more {step}"]]})
        elif what == "drop":
            drop(one, chance.choice(paths))
        elif what == "fold":
            one.maintain(force=True)
        elif what == "retry":
            one.retry_failed(model)
        else:
            ids = [text.unit_id for text in one.pending(model, 6)]
            ids = ids if what == "embed" else [i for i in ids if chance.random() < 0.5]
            if what == "fail":
                one.put_failed(model, ids)
            else:
                one.put_vectors(model, ids, unit_vectors(len(ids), D, step))
        for model in MODELS:
            expected, states = waiting(store, model)
            for each in (store, other):
                assert [text.unit_id for text in each.pending(model, 1000)] == expected
                found = each.vector_states(model)
                assert (found.ready, found.pending, found.failed, found.outdated) == states
                some = np.array([*expected[::2], 10**6], np.int32)
                assert [text.unit_id for text in each.pending(model, 1000, some)] == expected[::2]
        if chance.random() < 0.5:
            for index, model in zip(indexes, MODELS, strict=True):
                index.refresh()
                fresh = other.vector_index(model)
                fresh.refresh()
                same(index, fresh, store)
    store.close(), other.close()  # type: ignore[func-returns-value]


def test_what_all_units_have_is_not_looked_through_again(postgres: Postgres) -> None:
    store = opened(postgres, "marked")
    put(store, {"a.md": [[f"line {i}" for i in range(50)]]})
    model_id = 1
    store.put_vectors(MODELS[0], list(range(1, 51)), unit_vectors(50, D))
    assert store._reached(model_id)[0] == 50
    put(store, {"a.md": [[f"line {i}" for i in range(49)] + ["another"]]})
    assert [text.unit_id for text in store.pending(MODELS[0], 99)] == [51]
    store.put_vectors(MODELS[0], [51], unit_vectors(1, D))
    assert store._reached(model_id) == (51, store.state().generation)
    store.maintain(force=True)
    assert store._reached(model_id) == (51, store.state().generation)
    assert store._db.rows("SELECT count(*) FROM gone") == [(0,)]
    index = store.vector_index(MODELS[0])
    index.refresh()
    put(store, {"a.md": [[f"line {i}" for i in range(48)] + ["another"]]})
    store.put_vectors(MODELS[0], [3], unit_vectors(1, D, 9))
    assert sorted(set(index.refresh().tolist())) == [3, 49]
    assert len(index.refresh()) == 0
    store.close()


def test_a_memory_of_before_is_brought_up(own_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", database.MIGRATIONS[:1])
        store = opened(own_server, "older")
        put(store, {"a.md": [["the fox", "the wolf", "the owl"]]})
        store._db.rows("SELECT 1")
        with store._db.write() as c:
            c.execute("INSERT INTO models VALUES (1, 'one', ?, NULL)", [D])
            c.execute("INSERT INTO vectors SELECT 1, 1, 'ready', 2, ?::HALFVEC", [str(unit_vectors(1, D)[0].tolist())])
        store.close()
    store = opened(own_server, "older")
    assert [text.unit_id for text in store.pending(MODELS[0], 9)] == [2, 3]
    index = store.vector_index(MODELS[0])
    assert index.refresh().tolist() == [1]
    store.put_vectors(MODELS[0], [2, 3], unit_vectors(2, D, 3))
    assert index.refresh().tolist() == [2, 3] and store.vector_states(MODELS[0]).ready == 3
    drop(store, "a.md")
    store.maintain(force=True)
    index.refresh()
    assert not index.has(np.array([1, 2, 3], np.int32)).any()
    store.close()
