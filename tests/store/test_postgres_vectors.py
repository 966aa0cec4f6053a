"""Vectors on a server: what waits for one, and what an index takes over."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes
from indexing import closed_later, drop, put, unit_vectors
from postgres_server import Postgres

from openclaw_memory import Memory, Settings
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import VectorIndex, VectorModel
from openclaw_memory.store.postgres import connections
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.text import analysis

pytestmark = pytest.mark.postgres

D = 24
MODELS = VectorModel("one", D), VectorModel("two", D)


def opened(postgres: Postgres, name: str, **values: Any) -> PostgresStore:
    settings = StoreSettings(lock_timeout=10.0, vector_dtype="float32", **values)
    given = postgres.url("owner"), "main", name, settings, analysis.terms, analysis.ANALYSIS_VERSION
    store: PostgresStore = closed_later(PostgresStore(*given))
    return store


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


@pytest.mark.parametrize("seed", [0, 1])
def test_after_any_history_what_waits_and_what_an_index_has_is_what_the_tables_say(
    postgres: Postgres, seed: int
) -> None:
    chance = random.Random(seed)
    store, other = (opened(postgres, f"history {seed}") for _ in range(2))
    held = opened(postgres, f"history {seed}")
    indexes = [held.vector_index(model) for model in MODELS]
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


# -- who embeds, and connections ------------------------------------------------------------------------


def test_all_works_over_one_connection(postgres: Postgres, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_MOST", 1)
    notes.write("memory/2026-01-02.md", "# Day\n\n- the heron stood at the quay\n- Birgit Olsen has the attic key\n")
    given = {
        "ingest.embed": "eager", "store.workspace": "narrow", "store.lock_timeout": 2.0, "ingest.fresh_seconds": 0.0,
    }  # fmt: skip
    settings = Settings().with_values(given)
    url = f"{postgres.url('owner')}&application_name=narrow"
    with Memory(notes.root, settings=settings, store=url, embedder=CountingEmbedder()) as memory:
        report = memory.ingest()
        assert report.embedded and not report.pending
        assert memory.search("heron", deadline=30.0).fallback is None
        notes.write("memory/2026-01-03.md", "# Day\n\n- a swan slept under the bridge\n")
        found = memory.search("swan", deadline=30.0)
        assert found.results and found.fallback is None
        assert memory.status().vectors["pending"] == 0
        memory.feedback(found.results[0].id, "useful")
        assert memory.context("who has the attic key?").tokens
        assert memory.forget(query="swan").units == 1
        said = [Message("user", "We decided to keep the boat at the quay until May 2026.")]
        assert memory.capture(Turn(said)).captured
        done = memory.consolidate(older_than_days=0, now=datetime(2026, 6, 1, tzinfo=UTC))
        assert done.created and done.complete and not done.warning
    settings = settings.with_values({"ingest.fresh_seconds": 1e6})
    with Memory(notes.root, settings=settings, store=url, embedder=CountingEmbedder()) as memory:
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(memory.search, "heron", deadline=30.0) for _ in range(12)]
        assert all(one.result().results and one.result().fallback is None for one in asked)


def test_two_that_embed_the_same_at_once_lose_nothing(postgres: Postgres) -> None:
    stores = [opened(postgres, "both") for _ in range(2)]
    put(stores[0], {"a.md": [[f"line {i}" for i in range(60)]]})
    vectors = unit_vectors(60, D, 3)
    both = threading.Barrier(2)

    def embed(store: PostgresStore) -> None:
        with store.embedding_turn(5) as ours:
            assert ours
            both.wait(30)
            for at in range(0, 60, 5):
                ids = [text.unit_id for text in store.pending(MODELS[0], 5)] or list(range(at + 1, at + 6))
                store.put_vectors(MODELS[0], ids, vectors[np.array(ids) - 1])
            both.wait(30)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(embed, stores))
    with ThreadPoolExecutor(2) as threads:  # and two of one process
        list(threads.map(embed, [stores[0], stores[0]]))
    ids = np.arange(1, 61, dtype=np.int32)
    for store in stores:
        assert store.pending(MODELS[0], 99) == [] and store.vector_states(MODELS[0]).ready == 60
        index = store.vector_index(MODELS[0])
        index.refresh()
        np.testing.assert_array_equal(index.vectors(ids), vectors.astype(np.float16).astype(np.float32))
        store.close()
