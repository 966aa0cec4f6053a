"""Fixtures for tests of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import commands
import pytest
from click.testing import Result
from fakes import Notes
from indexing import STORES


@pytest.fixture(autouse=True)
def _closed_stores() -> Iterator[None]:
    """Close the stores that a test has opened."""
    before = set(STORES)
    yield
    for store in set(STORES) - before:
        store.close()


@pytest.fixture
def run(notes: Notes) -> Callable[..., Result]:
    """Run a command over a small note."""
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp by the door\n- a red, old lamp in the hall\n")
    return partial(commands.run, "--set", "embedding.model=none", "-w", str(notes.root))
