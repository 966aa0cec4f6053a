"""Where things stand on a map: in its bounds, the same each time, and near what they hang together with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import open_store, put
from properties import examples

from openclaw_memory.map.layout import find_communities, place_nodes, place_texts
from openclaw_memory.store.api import VectorModel

MODEL = VectorModel("test", 24)


@examples(8)
@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39), st.floats(0.01, 1)), max_size=60))
def test_every_node_is_in_the_square_and_always_in_the_same_place(
    nodes: int, edges: list[tuple[int, int, float]]
) -> None:
    edges = [edge for edge in edges if edge[0] < nodes and edge[1] < nodes and edge[0] != edge[1]]
    ends = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2)
    weight = np.array([edge[2] for edge in edges], np.float64)
    given = nodes, ends[:, 0], ends[:, 1], weight, np.ones(nodes)
    at = place_nodes(*given)
    assert at.shape == (nodes, 2) and np.isfinite(at).all()
    assert (at >= -1e-9).all() and (at <= 1 + 1e-9).all()
    assert np.array_equal(at, place_nodes(*given))
    assert len(np.unique(at.round(9), axis=0)) == nodes


def test_groups_that_hang_together_stand_apart_from_others() -> None:
    groups, size = 6, 15
    rng = np.random.default_rng(3)
    inside = rng.integers(0, size, (400, 2)) + size * rng.integers(0, groups, 400)[:, None]
    between = rng.integers(0, groups * size, (20, 2))
    ends = np.concatenate([inside, between])
    ends = ends[ends[:, 0] != ends[:, 1]]
    at = place_nodes(groups * size, ends[:, 0], ends[:, 1], np.ones(len(ends)), np.ones(groups * size))
    group = np.arange(groups * size) // size
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    same = group[:, None] == group[None]
    assert apart[same].mean() < 0.5 * apart[~same].mean()


@pytest.mark.parametrize(
    ("most", "settings"),
    [
        (3_000, {"vector_index": "exact"}),
        (60, {"vector_index": "exact"}),
        (60, {"vector_index": "exact", "vector_dtype": "int8"}),
        (60, {"vector_index": "vss"}),
    ],
)
def test_texts_of_like_meaning_lie_together_and_apart_from_others(
    most: int, settings: dict[str, str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    subject = np.arange(120) // 30
    vectors = rng.standard_normal((4, 24))[subject] * 3 + rng.standard_normal((120, 24))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    store = open_store(tmp_path / "i.duckdb", **settings)
    put(store, {"a.md": [[f"line {i}" for i in range(121)]]})
    ids = store.unit_rows(None).unit_id
    store.put_vectors(MODEL, ids[:120].tolist(), vectors)
    index = store.vector_index(MODEL)
    index.refresh()
    at = place_texts(index, ids, most)
    again = place_texts(index, ids, most)
    store.close()
    assert np.isnan(at[120]).all() and np.array_equal(at, again, equal_nan=True)
    assert ((at[:120] >= 0) & (at[:120] <= 1)).all()
    apart = np.linalg.norm(at[:120, None] - at[None, :120], axis=2)
    np.fill_diagonal(apart, np.inf)
    closest = apart.argmin(axis=1)
    assert (subject[closest] == subject).mean() > 0.95
    same = subject[:, None] == subject[None]
    np.fill_diagonal(apart, 0)
    assert apart[same].mean() < 0.6 * apart[~same].mean()


def test_too_few_vectors_make_no_plane(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    put(store, {"a.md": [["one", "two"]]})
    index = store.vector_index(MODEL)
    index.refresh()
    at = place_texts(index, store.unit_rows(None).unit_id)
    store.close()
    assert np.isnan(at).all()


def test_communities_are_the_groups_of_a_network() -> None:
    groups = [range(12), range(12, 20), range(20, 25)]
    ends = [(a, b) for group in groups for a in group for b in group if a < b]
    ends += [(0, 12), (13, 20)]
    source, target = np.array(ends).T
    community = find_communities(26, source, target, np.ones(len(ends)))
    assert community.tolist() == [0] * 12 + [1] * 8 + [2] * 5 + [-1]
    assert find_communities(0, source[:0], target[:0], np.ones(0)).tolist() == []
    assert find_communities(2, source[:0], target[:0], np.ones(0)).tolist() == [-1, -1]
