"""``migrate-store`` from what is no store."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import Notes

from openclaw_memory.cli.main import cli


@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 4096, b"SQLite format 3\0" + b"\0" * 4096])
def test_a_source_that_is_no_index_stays_as_it_is(notes: Notes, tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "source.duckdb"
    source.write_bytes(content)
    before = {path.name for path in tmp_path.iterdir()}
    words = ["-w", str(notes.root), "--set", "embedding.model=none", "migrate-store", str(source), "duckdb"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2 and "is no DuckDB file" in done.output
    assert source.read_bytes() == content and {path.name for path in tmp_path.iterdir()} == before
