"""Where things stand on a map: in its bounds, the same each time, and near what they hang together with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import open_store, put
from properties import examples

from openclaw_memory.map.layout import place_nodes, project
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
    "settings", [{"vector_index": "exact"}, {"vector_index": "exact", "vector_dtype": "int8"}, {"vector_index": "vss"}]
)
def test_the_plane_has_the_two_main_directions(settings: dict[str, str], tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    scale = np.array([4.0, 2.5, *[0.5] * 22])
    vectors = (rng.standard_normal((90, 24)) * scale + 1).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = open_store(tmp_path / "i.duckdb", **settings)
    put(store, {"a.md": [[f"line {i}" for i in range(91)]]})
    ids = store.unit_rows(None).unit_id
    store.put_vectors(MODEL, ids[:90].tolist(), vectors)
    index = store.vector_index(MODEL)
    index.refresh()
    assert np.allclose(index.vectors(ids[[3, 1]]), vectors[[3, 1]], atol=1e-2)
    at, kept = project(index, ids)
    store.close()
    assert np.isnan(at[90]).all() and not np.isnan(at[:90]).any()
    centred = vectors - vectors.mean(axis=0)
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    assert kept == pytest.approx(float((values[:2] ** 2).sum() / (values**2).sum()), abs=0.02)
    found = at[:90] - at[:90].mean(axis=0)
    for place in (0, 1):
        expected = centred @ directions[place]
        assert abs(np.corrcoef(found[:, place], expected)[0, 1]) > 0.99


def test_too_few_vectors_make_no_plane(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    put(store, {"a.md": [["one", "two"]]})
    index = store.vector_index(MODEL)
    index.refresh()
    at, kept = project(index, store.unit_rows(None).unit_id)
    store.close()
    assert np.isnan(at).all() and kept == 0
