"""What a store keeps in memory of its index is what another one reads from it, whoever has written meanwhile."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from indexing import drop, open_store, put, unit_vectors
from markers import both
from properties import examples

from openclaw_memory.store.api import VectorModel

MODELS = VectorModel("one", 16), VectorModel("two", 16)
PATHS = "a.md", "b.md", "c.md"


def write(store: Any, number: int) -> None:
    """A note of some lines, of which some are those of before."""
    path = PATHS[number % 3]
    put(store, {path: [[f"line {number % 4 + at} of {path}" for at in range(1 + number % 9)]]})


def remove(store: Any, number: int) -> None:
    if there := sorted(store.documents().by_path):
        drop(store, there[number % len(there)])


def schedule_reread(store: Any, number: int) -> None:
    store.schedule_reread(None, str(number))


def embed(store: Any, number: int) -> None:
    model = MODELS[number % 5 == 0]
    waiting = [one.unit_id for one in store.pending(model, 1 + number)]
    if waiting and number % 3:
        store.put_vectors(model, waiting, unit_vectors(len(waiting), 16))
    elif waiting:
        store.put_failed(model, waiting[:1])


def retry(store: Any, number: int) -> None:
    store.retry_failed(MODELS[number % 2])


def embed_all(store: Any, number: int) -> None:
    waiting = [one.unit_id for one in store.pending(MODELS[0], 99)]
    store.put_vectors(MODELS[0], waiting, unit_vectors(len(waiting), 16))


def compact(store: Any, number: int) -> None:
    store.maintain(force=True)


ACTS = write, write, remove, schedule_reread, embed, embed_all, retry, compact


def known(store: Any) -> object:
    documents = store.documents()
    states = [store.vector_states(model) for model in (*MODELS, None)]
    return (
        [
            (row.id, row.path, row.size, row.mtime_ns, row.sha256, row.units, row.generation)
            for row in sorted(documents.by_path.values(), key=lambda row: row.id)
        ],
        [(info.id, info.path, info.generation, info.sha256, info.units) for info in store.document_infos()],
        [(one.ready, one.pending, one.failed, one.outdated) for one in states],
        [[one.unit_id for one in store.pending(model, 99)] for model in MODELS],
    )


def assert_same_vectors(store: Any, index: Any, model: VectorModel) -> None:
    """A resident index holds the vectors of a fresh one."""
    index.refresh()
    fresh = store.vector_index(model)
    fresh.refresh()
    ids = store.unit_rows(None).unit_id
    np.testing.assert_array_equal(index.has(ids), fresh.has(ids))
    embedded = ids[index.has(ids)]
    np.testing.assert_allclose(index.vectors(embedded), fresh.vectors(embedded), atol=1e-6)
    query = unit_vectors(1, 16, 77)[0]
    np.testing.assert_allclose(index.similarities(query, ids), fresh.similarities(query, ids), atol=2e-3)
    neighbours = (each.neighbour_similarities(ids, 4) for each in (index, fresh))
    np.testing.assert_allclose(*neighbours, atol=2e-3)


def held(store: Any) -> object:
    """The same, of which nothing is kept."""
    rows = store._db.rows("SELECT id, path, size, mtime_ns, sha256, units, generation FROM documents ORDER BY id")
    names = {tuple(row[1:]): row[0] for row in store._db.rows("SELECT id, name, dimensions FROM models")}
    units = store._db.rows(
        "SELECT u.id, v.model_id, v.status FROM units u LEFT JOIN vectors v ON v.unit_id = u.id "
        "WHERE u.document_id IN (SELECT id FROM documents) ORDER BY u.id"
    )
    ids = [names.get((model.name, model.dimensions), -1) for model in MODELS]
    return (
        rows,
        [(row[0], row[1], row[6], row[4], row[5]) for row in rows],
        [
            (
                sum((model, state) == (one, "ready") for _, model, state in units),
                sum(model is None for _, model, _ in units),
                sum((model, state) == (one, "failed") for _, model, state in units),
                sum(model is not None and model != one for _, model, _ in units),
            )
            for one in (*ids, -1)
        ],
        [[unit for unit, model, _ in units if model != one] for one in ids],
    )


@both
@examples(16)
@example([(write, 8, 0), (embed_all, 0, 0), (embed, 5, 0), (write, 4, 1), (embed, 2, 0), (schedule_reread, 1, 0)])
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 50), st.sampled_from([0] * 9 + [1])), max_size=15))
def test_what_is_known_of_an_index_is_what_it_holds(acts: list[tuple[Callable[[Any, int], None], int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = [open_store(Path(folder) / "index.duckdb") for _ in range(2)]
        indexes = [(stores[0].vector_index(model), model) for model in MODELS]
        try:
            for act, number, which in acts:
                act(stores[which], number)
                assert known(stores[which]) == held(stores[which])
                for index, model in indexes if number % 3 == 0 else ():
                    assert_same_vectors(stores[0], index, model)
            assert known(stores[0]) == held(stores[0])
            for index, model in indexes:
                assert_same_vectors(stores[0], index, model)
                waiting = [text.unit_id for text in stores[1].pending(model, 99)]
                within = np.array([*waiting[::2], 10**6], np.int32)
                assert [text.unit_id for text in stores[0].pending(model, 99, within)] == waiting[::2]
        finally:
            for store in stores:
                store.close()
