"""Vectors on a server: what waits for one, what an index takes over, and what it leaves with the server."""

from __future__ import annotations

import gc
import random
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from fakes import CountingEmbedder, Notes
from indexing import drop, put, unit_vectors
from postgres_server import Postgres

from benchmarks import postgres_graph
from openclaw_memory import Memory, Settings
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import VectorIndex, VectorModel
from openclaw_memory.store.postgres import connections
from openclaw_memory.store.postgres import vectors as stored
from openclaw_memory.store.postgres.growing_index import GrowingIndex
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


@pytest.mark.parametrize(("seed", "resident"), [(0, 10**6), (1, 10**6), (2, 0), (3, 0)])
def test_after_any_history_what_waits_and_what_an_index_has_is_what_the_tables_say(
    postgres: Postgres, seed: int, resident: int
) -> None:
    chance = random.Random(seed)
    store, other = (opened(postgres, f"history {seed}") for _ in range(2))
    held = opened(postgres, f"history {seed}", resident_vectors=resident)
    indexes = [held.vector_index(model) for model in MODELS]
    assert {index.name for index in indexes} == {"exact"}  # nothing is there yet
    if not resident:
        put(store, {"first.md": [["one line"]]})
        for index in indexes:
            index.refresh()
        assert {index.name for index in indexes} == {"server"}
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
    store.close(), other.close(), held.close()  # type: ignore[func-returns-value]


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


# -- an index that the server scores ------------------------------------------------------------------


def test_the_best_512_of_the_server_are_those_of_the_vectors_it_holds(postgres: Postgres) -> None:
    store = opened(postgres, "recall", resident_vectors=100)
    put(store, {"a.md": [[f"line {i}" for i in range(4_000)]]})
    vectors = unit_vectors(4_000, D, 5)
    store.put_vectors(MODELS[0], list(range(1, 4_001)), vectors)
    index = store.vector_index(MODELS[0])
    index.refresh()
    assert index.name == "server" and index.exhaustive
    ids = np.arange(1, 4_001, dtype=np.int32)
    stored = vectors.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(index.vectors(ids[[7, 3, 3_999]]), stored[[7, 3, 3_999]])
    for query in unit_vectors(20, D, 6):
        given = query.astype(np.float16).astype(np.float32)
        best = set((np.argsort(-(stored @ given), kind="stable")[:512] + 1).tolist())
        found, scores = index.search(query, 512)
        assert len(best & set(found.tolist())) / 512 == 1.0
        assert (np.diff(scores) <= 0).all()
        np.testing.assert_allclose(scores, stored[found - 1] @ query, atol=2e-3)
        few = np.array([1, 9, 4_000, 10**7], np.int32)
        np.testing.assert_allclose(index.similarities(query, few)[:3], stored[few[:3] - 1] @ query, atol=2e-3)
    assert index.neighbour_similarities(ids, 4)[3, 10] == pytest.approx(float(stored[10] @ stored[14]), abs=1e-3)
    store.close()


def test_hits_are_the_same_whoever_scores_and_late_vectors_mean_keywords(own_server: Postgres, notes: Notes) -> None:
    for day in range(1, 13):
        lines = "".join(f"- bed {day} row {row} was dug by Birgit Olsen in the rain\n" for row in range(20))
        notes.write(f"memory/2026-01-{day:02d}.md", f"# Day {day}\n\n{lines}\n## Visitors\n\n- a heron number {day}\n")

    def memory(resident: int) -> Memory:
        given = {
            "ingest.embed": "eager", "ingest.fresh_seconds": 1e6, "store.workspace": "same",
            "store.resident_vectors": resident, "store.vector_dtype": "float32",
        }  # fmt: skip
        settings = Settings().with_values(given)
        return Memory(notes.root, settings=settings, store=own_server.url("owner"), embedder=CountingEmbedder())

    with memory(10**6) as held, memory(0) as asked:
        held.ingest()
        for mode in ("hybrid", "vector", "graph"):
            for question in ("heron number seven", "who dug bed 4?", "rain", "a visitor", "nothing of this"):
                one, two = (each.search(question, mode=mode, deadline=30.0).results for each in (held, asked))
                assert [hit.id for hit in one] == [hit.id for hit in two]
                assert [hit.score for hit in one] == pytest.approx([hit.score for hit in two], abs=2e-3)
        assert [each._questions.engine().index_names()[1] for each in (held, asked)] == ["exact", "server"]
        with psycopg.connect(own_server.url()) as locked:
            locked.execute("LOCK TABLE openclaw_memory.vectors IN ACCESS EXCLUSIVE MODE")
            for mode in ("hybrid", "vector"):
                late = asked.search("heron number seven", mode=mode, deadline=2.0)
                assert late.results and late.mode == "keyword"
                assert "searching by keywords" in str(late.fallback) and "took too long" in str(late.fallback)
        assert asked.search("heron number seven", deadline=30.0).fallback is None
        own_server.stop()
        away = asked.search("heron number seven", deadline=30.0)
        assert away.results and away.mode == "keyword"
        assert "cannot be reached" in str(away.fallback) and "cannot be reached" in str(away.warning)
        own_server.start()
        for _ in range(100):
            if asked.search("heron number seven", deadline=30.0).mode == "hybrid":
                return
            time.sleep(0.1)
        pytest.fail("it did not come back")


def test_a_memory_that_outgrows_a_running_gateway_is_left_to_the_server(postgres: Postgres, notes: Notes) -> None:
    def memory(resident: int) -> Memory:
        given = {
            "ingest.embed": "eager", "ingest.fresh_seconds": 1e6, "store.workspace": "grows",
            "store.resident_vectors": resident, "store.vector_dtype": "float32",
        }  # fmt: skip
        settings = Settings().with_values(given)
        return Memory(notes.root, settings=settings, store=postgres.url("owner"), embedder=CountingEmbedder())

    def asked(one: Memory) -> list[tuple[str, float]]:
        hits = [
            hit for mode in ("hybrid", "vector", "graph") for question in ("heron number seven", "who dug bed 4?", "rain")
            for hit in one.search(question, mode=mode, deadline=30.0).results
        ]  # fmt: skip
        return [(hit.id, round(hit.score, 2)) for hit in hits]

    def names(one: Memory) -> str | None:
        return one._questions.engine().index_names()[1]

    notes.write("memory/2026-01-01.md", "# Day\n\n- a heron number seven\n- bed 4 was dug in the rain\n")
    with memory(20) as running, memory(10**6) as holding:
        running.ingest()
        assert asked(running) == asked(holding) and names(running) == "exact"
        index = running._questions.engine()._vector
        assert isinstance(index, GrowingIndex)
        matrix = weakref.ref(index._index._matrix)  # type: ignore[union-attr]
        for day in range(2, 9):
            lines = "".join(f"- bed {day} row {row} was dug in the rain\n" for row in range(6))
            notes.write(f"memory/2026-01-{day:02d}.md", f"# Day {day}\n\n{lines}- a heron number {day}\n")
        notes.write("memory/2026-01-01.md", "# Day\n\n- a heron number seven\n")  # one of those held goes
        holding.ingest()
        assert asked(running) == asked(holding)
        assert (names(running), names(holding)) == ("server", "exact")
        gc.collect()
        assert matrix() is None and running._questions.engine()._vector is index
        notes.write("memory/2026-01-09.md", "# Day\n\n- a heron number nine was seen in the rain\n")
        holding.ingest()
        assert asked(running) == asked(holding)


def test_what_a_graph_would_find_is_measured_beside_every_vector(postgres: Postgres) -> None:
    store = opened(postgres, "graph")
    put(store, {"a.md": [[f"line {i}" for i in range(1_000)]]})
    store.put_vectors(MODELS[0], list(range(1, 1_001)), unit_vectors(1_000, D, 5))
    store.close()
    figures = postgres_graph.run(postgres.url(), 10**6, 2, 4, 64, [1_000], 64)
    assert figures["vectors"] >= 2 * 996  # the largest memory there is, but for those that ask
    share, least = figures["share of the best 512, ef_search 1000"].split(", least ")
    assert 0.9 < float(least) <= float(share) <= 1
    with psycopg.connect(postgres.url()) as c:
        assert c.execute("SELECT to_regnamespace('benchmark')").fetchone() == (None,)


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


def test_a_turn_to_embed_ends_with_its_time_where_nobody_gives_it_back(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = opened(postgres, "lost turn"), opened(postgres, "lost turn")
    put(store, {"a.md": [["the fox", "the wolf"]]})
    monkeypatch.setattr(stored, "TURN", 0.3)
    with store.embedding_turn(1) as ours:
        assert ours
        time.sleep(0.2)
        store.put_vectors(MODELS[0], [1], unit_vectors(1, D))  # who gets on with it keeps it
        time.sleep(0.2)
        with other.embedding_turn(0) as theirs:
            assert not theirs
        with other.embedding_turn(5) as theirs:  # who does not loses it
            assert theirs
            with store.embedding_turn(0) as again:
                assert not again
    with other.embedding_turn(0) as free:
        assert free
    store.close(), other.close()  # type: ignore[func-returns-value]


def test_two_that_embed_the_same_at_once_lose_nothing(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [opened(postgres, "both") for _ in range(2)]
    put(stores[0], {"a.md": [[f"line {i}" for i in range(60)]]})
    vectors = unit_vectors(60, D, 3)
    monkeypatch.setattr(stored, "TURN", 0.0)
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
    assert stores[0]._turn is None
    ids = np.arange(1, 61, dtype=np.int32)
    for store in stores:
        assert store.pending(MODELS[0], 99) == [] and store.vector_states(MODELS[0]).ready == 60
        index = store.vector_index(MODELS[0])
        index.refresh()
        np.testing.assert_array_equal(index.vectors(ids), vectors.astype(np.float16).astype(np.float32))
        store.close()
