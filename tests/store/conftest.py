"""Stores are closed at the end of the test that opened them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from indexing import STORES


@pytest.fixture(autouse=True)
def _closed_stores() -> Iterator[None]:
    before = set(STORES)
    yield
    for store in set(STORES) - before:
        store.close()
