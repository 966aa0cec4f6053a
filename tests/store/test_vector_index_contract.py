"""What every vector index promises, for each of them; and what the store does with vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from indexing import drop, open_store, put, python, unit_vectors
from markers import both, file_only

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from openclaw_memory.errors import StoreError
from openclaw_memory.store.api import VectorModel
from openclaw_memory.store.duckdb import extensions
from openclaw_memory.store.duckdb.store import DuckStore
from openclaw_memory.store.tables.vectors import Matrix

pytestmark = both

D = 48
MODEL = VectorModel("test", D)

KINDS: dict[str, dict[str, str]] = {
    "exact-float32": {"vector_index": "exact", "vector_dtype": "float32"},
    "exact-int8": {"vector_index": "exact", "vector_dtype": "int8"},
    "vss": {"vector_index": "vss", "vector_dtype": "float32"},
}
#: How far a cosine may be off: float16 rows, or rows of 127 steps.
OFF = {"exact-float32": 2e-3, "exact-int8": 2e-2, "vss": 2e-3}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Any:
    return open_store(tmp_path / "i.duckdb", **KINDS[kind])


def written(store: DuckStore, n: int, path: str = "a.md") -> list[int]:
    """Ids of ``n`` new units."""
    before = set(store.unit_rows(None).unit_id.tolist())
    put(store, {path: [[f"{path} line {i}" for i in range(n)]]})
    return [i for i in store.unit_rows(None).unit_id.tolist() if i not in before]


def test_an_empty_index_answers_nothing(store: DuckStore) -> None:
    index = store.vector_index(MODEL)
    index.refresh()
    query = unit_vectors(1, D)[0]
    ids, scores = index.search(query, 5)
    assert len(ids) == len(scores) == 0
    assert np.isnan(index.similarities(query, np.array([1, 7], np.int32))).all()
    assert len(index.similarities(query, np.zeros(0, np.int32))) == 0
    assert index.neighbour_similarities(np.zeros(0, np.int32), 4).shape == (4, 0)
    assert np.isnan(index.neighbour_similarities(np.array([3, 4], np.int32), 4)).all()


def test_similarities_are_cosines_and_nan_without_a_vector(store: DuckStore, kind: str) -> None:
    ids = written(store, 40)
    vectors = unit_vectors(30, D, 1)
    store.put_vectors(MODEL, ids[:30], vectors)
    store.put_failed(MODEL, ids[30:35])
    index = store.vector_index(MODEL)
    index.refresh()
    query = unit_vectors(1, D, 2)[0]
    asked = np.array([*ids[::-1], 999_999], np.int32)
    found = index.similarities(query, asked)
    assert found.dtype == np.float32
    assert np.isnan(found[0:10]).all() and np.isnan(found[-1])
    np.testing.assert_allclose(found[10:-1], (vectors @ query)[::-1], atol=OFF[kind])
    few = index.similarities(query, asked[12:14])  # few of many go another way
    np.testing.assert_allclose(few, found[12:14], atol=1e-6)


def test_search_returns_the_nearest_in_order(store: DuckStore, kind: str) -> None:
    ids = np.array(written(store, 1000), np.int32)
    embedder = HashingEmbedder(D)
    vectors = embedder.embed_documents(list(corpus.units(1000)))
    store.put_vectors(MODEL, ids.tolist(), vectors)
    index = store.vector_index(MODEL)
    index.refresh()
    hit = wanted = 0
    for query in embedder.embed_query([q.text for q in corpus.queries(25)]):
        found, scores = index.search(query, 20)
        assert len(found) == len(set(found.tolist())) == 20
        assert (np.diff(scores) <= 0).all()
        np.testing.assert_allclose(scores, index.similarities(query, found), atol=1e-6)
        true = vectors.astype(np.float16).astype(np.float32) @ query
        # A unit as near as the twentieth is as good an answer as the twentieth.
        edge = np.sort(true)[-20] - OFF[kind]
        hit += int((true[np.searchsorted(ids, found)] >= edge).sum())
        wanted += 20
    assert hit / wanted >= 0.95
    if index.exhaustive:
        assert hit == wanted
    assert len(index.search(query, 10_000)[0]) >= 950


@file_only
@pytest.mark.parametrize("size", [1e-6, 1.0, 40.0])
def test_int8_rounds_rows_and_not_the_query(size: float) -> None:
    matrix, rows = Matrix(D, "int8"), unit_vectors(200, D, 3)
    matrix.put(np.arange(200, dtype=np.int32), rows)
    query = unit_vectors(1, D, 4)[0] * np.float32(size)
    slots = np.arange(200, dtype=np.int32)
    exact = matrix.rows(slots) @ query
    np.testing.assert_allclose(matrix.dots(query), exact, atol=5e-5 * size)
    np.testing.assert_array_equal(matrix.dots(query, slots[50:60]), matrix.dots(query)[50:60])
    assert not matrix.dots(np.zeros(D, np.float32)).any()


@file_only
def test_vss_asks_its_graph_rather_than_scanning(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb", vector_index="vss")
    ids = written(store, 50)
    store.put_vectors(MODEL, ids, unit_vectors(50, D))
    index: Any = store.vector_index(MODEL)
    index.refresh()
    plan = index._graph().execute(
        f"EXPLAIN SELECT id FROM v ORDER BY array_cosine_distance(e, ?::VARCHAR::FLOAT[{D}]) LIMIT 5",
        [str(unit_vectors(1, D)[0].tolist())],
    ).fetchall()  # fmt: skip
    store.close()
    assert "HNSW_INDEX_SCAN" in str(plan)


def test_neighbour_similarities_equal_brute_force(store: DuckStore, kind: str) -> None:
    ids = written(store, 2050)
    vectors = unit_vectors(2050, D, 1)
    have = np.arange(2050) % 7 != 3
    store.put_vectors(MODEL, [i for i, h in zip(ids, have, strict=True) if h], vectors[have])
    index = store.vector_index(MODEL)
    index.refresh()
    for n in (1, 2, 5, 1023, 1025, 2050):
        found = index.neighbour_similarities(np.array(ids[:n], np.int32), 4)
        expected = np.full((4, n), np.nan, np.float32)
        for d in range(1, min(4, n - 1) + 1):
            dots = np.einsum("ij,ij->i", vectors[: n - d], vectors[d:n])
            expected[d - 1, : n - d] = np.where(have[: n - d] & have[d:n], dots, np.nan)
        assert (np.isnan(found) == np.isnan(expected)).all()
        np.testing.assert_allclose(np.nan_to_num(found), np.nan_to_num(expected), atol=OFF[kind])


@file_only
def test_refresh_takes_over_new_and_overwritten_vectors(store: DuckStore, kind: str, tmp_path: Path) -> None:
    ids = written(store, 200)
    vectors = unit_vectors(200, D, 3)
    index = store.vector_index(MODEL)
    index.refresh()
    store.put_vectors(MODEL, ids[:100], vectors[:100])
    index.refresh()
    other = open_store(tmp_path / "i.duckdb", idle=0, **KINDS[kind])  # as another process would
    store._db.lease.release()
    other.put_vectors(MODEL, ids[100:], vectors[100:])
    swapped = unit_vectors(20, D, 4)
    other.put_vectors(MODEL, ids[:20], swapped)
    other.close()
    index.refresh()
    vectors[:20] = swapped
    for at in (0, 19, 20, 150):
        found, scores = index.search(vectors[at], 1)
        assert found.tolist() == [ids[at]]
        assert scores[0] == pytest.approx(1, abs=OFF[kind])
    np.testing.assert_allclose(
        index.similarities(vectors[5], np.array(ids, np.int32)), vectors @ vectors[5], atol=OFF[kind]
    )


def test_search_still_finds_everything_after_many_overwrites(store: DuckStore) -> None:
    ids = written(store, 300)
    index = store.vector_index(MODEL)
    for turn in range(3):
        vectors = unit_vectors(300, D, turn)
        store.put_vectors(MODEL, ids, vectors)
        index.refresh()
    hits = sum(ids[at] in index.search(vectors[at], 3)[0] for at in range(300))
    assert hits >= 285


def test_a_fresh_index_has_no_vectors_of_removed_units(store: DuckStore) -> None:
    ids = written(store, 10)
    more = written(store, 10, "b.md")
    store.put_vectors(MODEL, [*ids, *more], unit_vectors(20, D, 5))
    drop(store, "a.md")
    index = store.vector_index(MODEL)
    index.refresh()
    found, _ = index.search(unit_vectors(1, D)[0], 100)
    assert set(found.tolist()) <= set(more)
    assert np.isnan(index.similarities(unit_vectors(1, D)[0], np.array(ids, np.int32))).all()


@pytest.mark.parametrize("other", [VectorModel("other", 16), VectorModel("test", 16)], ids=["name", "dimensions"])
def test_vectors_of_another_model_are_outdated_and_not_searched(store: DuckStore, other: VectorModel) -> None:
    ids = written(store, 12)
    store.put_vectors(MODEL, ids[:8], unit_vectors(8, D))
    store.put_vectors(other, ids[4:10], unit_vectors(6, 16))
    store.put_failed(other, ids[10:11])
    states = store.vector_states(other)
    assert (states.ready, states.outdated, states.failed, states.pending) == (6, 4, 1, 1)
    states = store.vector_states(MODEL)
    assert (states.ready, states.outdated, states.failed, states.pending) == (4, 7, 0, 1)
    assert [p.unit_id for p in store.pending(other, 99)] == [*ids[:4], ids[11]]
    for model, expected in ((MODEL, ids[:4]), (other, ids[4:10])):
        index = store.vector_index(model)
        index.refresh()
        query = unit_vectors(1, model.dimensions, 9)[0]
        assert sorted(index.search(query, 99)[0].tolist()) == expected
        known = ~np.isnan(index.similarities(query, np.array(ids, np.int32)))
        assert np.array(ids)[known].tolist() == expected


@file_only
def test_a_model_whose_first_write_failed_shares_no_id_with_the_next(
    store: DuckStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = written(store, 4)
    with monkeypatch.context() as patch:
        patch.setattr(store._db, "insert_rows", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("stop")))
        with pytest.raises(RuntimeError, match="stop"):
            store.put_vectors(MODEL, ids, unit_vectors(4, D))
    store.put_vectors(MODEL, ids[:2], unit_vectors(2, D))
    store.put_vectors(VectorModel("next", D), ids[2:], unit_vectors(2, D))
    assert store.vector_states(MODEL).ready == 2
    assert store.vector_states(MODEL).outdated == 2


@file_only
def test_stored_vectors_come_back_bit_for_bit(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    ids = written(store, 9000)  # more than one range of ids
    vectors = unit_vectors(9000, D, 8)
    store.put_vectors(MODEL, ids, vectors)
    parts = list(store._load_vectors(MODEL, -1).parts)
    store.close()
    assert len(parts) == 2
    got = {int(i): row.tobytes() for unit_ids, rows in parts for i, row in zip(unit_ids, rows, strict=True)}
    assert got == {i: row.tobytes() for i, row in zip(ids, vectors.astype(np.float16), strict=True)}


@file_only
@pytest.mark.parametrize(("chosen", "expected"), [("auto", "exact"), ("exact", "exact"), ("vss", "vss")])
def test_auto_is_exact_and_the_graph_a_choice(tmp_path: Path, chosen: str, expected: str) -> None:
    store = open_store(tmp_path / "i.duckdb", vector_index=chosen)
    written(store, 10)
    assert store.vector_index(MODEL).name == expected


@file_only
@pytest.mark.parametrize("name", ["fts", "vss"])
def test_an_extension_loads_from_its_wheel_offline(name: str) -> None:
    child = python(
        "import socket, sys, duckdb\n"
        "def no(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = socket.create_connection = no\n"
        "from openclaw_memory.store.duckdb.extensions import extension_file, load_extension\n"
        "c = duckdb.connect(config={'autoinstall_known_extensions': 'false', 'extension_directory': '/nonexistent'})\n"
        "load_extension(c, sys.argv[1])\n"
        "print(c.execute('SELECT loaded FROM duckdb_extensions() WHERE extension_name = ?', sys.argv[1:]).fetchone())\n"
        "assert 'site-packages' in str(extension_file(sys.argv[1]))",
        name,
    )
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, "(True,)\n"), err


@file_only
def test_a_missing_extension_names_the_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extensions, "extension_file", lambda name: None)
    with duckdb.connect() as c, pytest.raises(StoreError, match=r"pip install duckdb-extension-vss==1\.5\.5"):
        extensions.load_extension(c, "vss")
    broken = tmp_path / "vss.duckdb_extension"
    broken.write_bytes(b"no extension")
    monkeypatch.setattr(extensions, "extension_file", lambda name: broken)
    with duckdb.connect() as c, pytest.raises(StoreError, match="cannot be loaded"):
        extensions.load_extension(c, "vss")
