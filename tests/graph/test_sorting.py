"""Sorting by radix gives the order that numpy's own sorting gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.graph.sorting import falling, stable_order
from openclaw_memory.index.corpus import Splice

numbers = st.one_of(st.integers(0, 3), st.integers(0, 2**16 + 1), st.integers(0, 2**31 - 1))
documents = st.lists(st.integers(0, 9), max_size=12).map(sorted)


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=40))
@examples(200)
def test_the_order_is_that_of_a_lexical_sort(rows: list[tuple[int, int, int]]) -> None:
    keys = [np.array([row[at] for row in rows], np.int32) for at in range(3)]
    assert stable_order(*keys).tolist() == np.lexsort(keys).tolist()
    assert stable_order(keys[0]).tolist() == np.argsort(keys[0], kind="stable").tolist()


@given(st.lists(st.tuples(st.floats(0, width=32, allow_nan=False), numbers), max_size=40))
@examples(200)
def test_numbers_with_fractions_are_sorted_from_the_largest_on(rows: list[tuple[float, int]]) -> None:
    given_, others = np.array([row[0] for row in rows], np.float32), np.array([row[1] for row in rows], np.int32)
    assert stable_order(others, falling(given_)).tolist() == np.lexsort((others, -given_)).tolist()
    assert falling(np.array([-0.0], np.float32)) == falling(np.zeros(1, np.float32))


@given(documents, documents, st.sets(st.integers(0, 9)))
@examples(200)
def test_what_is_spliced_is_what_a_stable_sort_of_all_that_is_left_would_be(
    old: list[int], new: list[int], gone: set[int]
) -> None:
    before, after = np.array(old, np.int32), np.array(new, np.int32)
    splice = Splice(before, after, sorted(gone))
    marks = splice(np.arange(len(old)), -1 - np.arange(len(new))).tolist()
    left = [(document, at) for at, document in enumerate(old) if document not in gone]
    merged = [*left, *((document, -1 - at) for at, document in enumerate(new))]
    assert marks == [mark for _, mark in sorted(merged, key=lambda pair: pair[0])]
