"""Vectors on a server: one connection for everything, and two processes that embed at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes
from indexing import closed_later, put, unit_vectors
from postgres_server import Postgres

from openclaw_memory import Memory, Settings
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import VectorModel
from openclaw_memory.store.postgres import connections
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.text import analysis

pytestmark = pytest.mark.postgres

D = 24
MODELS = VectorModel("one", D), VectorModel("two", D)


def opened(postgres: Postgres, name: str, **values: Any) -> PostgresStore:
    settings = StoreSettings(lock_timeout=10.0, vector_dtype="float32", **values)
    given = postgres.url("owner"), "main", name, settings, analysis.terms
    store: PostgresStore = closed_later(PostgresStore(*given))
    return store


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
        with store.embedding_lock(5) as ours:
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
