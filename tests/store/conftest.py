"""Fixtures for tests of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result
from fakes import Notes
from indexing import STORES

from openclaw_memory.cli.main import cli


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

    def invoke(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
        before = ["--set", "embedding.model=none", "-w", str(notes.root)]
        result = CliRunner().invoke(cli, [*before, *arguments], input=stdin, prog_name="openclaw-memory")
        assert result.exit_code == code, result.output
        return result

    return invoke
