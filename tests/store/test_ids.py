"""Rows by their ids: any number of them, and none, in either database; and ids that were never given before."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import duckdb
import psycopg
import pytest
from indexing import open_store
from postgres_server import Postgres

from openclaw_memory.store.tables.sql import among, next_ids

_ROWS = 300
_MANY = range(2, 2 * _ROWS, 2)


@pytest.mark.parametrize("wanted", [(), (7,), range(100), range(101), _MANY], ids=len)
def test_a_file_finds_the_rows_with_some_ids_and_those_without(wanted: tuple[int, ...]) -> None:
    with duckdb.connect() as c:
        c.execute(f"CREATE TABLE t AS SELECT range::INTEGER AS id FROM range({_ROWS})")
        inside = {row[0] for row in c.execute(f"SELECT id FROM t WHERE id IN {among(wanted)}").fetchall()}
        outside = {row[0] for row in c.execute(f"SELECT id FROM t WHERE id NOT IN {among(wanted)}").fetchall()}
    assert inside == set(range(_ROWS)) & set(wanted)
    assert outside == set(range(_ROWS)) - set(wanted)


@pytest.mark.postgres
@pytest.mark.parametrize("wanted", [(), (7,), range(100), range(101), _MANY], ids=len)
def test_a_server_finds_them_too(postgres: Postgres, wanted: tuple[int, ...]) -> None:
    with psycopg.connect(postgres.url()) as c:
        ids = f"FROM generate_series(0, {_ROWS - 1}) AS t (id) WHERE id"
        inside = {row[0] for row in psycopg.RawCursor(c).execute(f"SELECT id {ids} IN {among(wanted)}".encode())}
        outside = {row[0] for row in psycopg.RawCursor(c).execute(f"SELECT id {ids} NOT IN {among(wanted)}".encode())}
    assert inside == set(range(_ROWS)) & set(wanted)
    assert outside == set(range(_ROWS)) - set(wanted)


def test_what_is_no_number_is_no_id() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        among(["1) OR (1 = 1"])  # type: ignore[list-item]


def test_ids_are_given_once_each(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    seen: dict[str, list[int]] = {"unit": [], "section": []}
    for units, sections in ((3, 1), (0, 2), (5, 0)):
        with store._db.write() as c:
            given = next_ids(c, unit=units, section=sections)
        seen["unit"] += islice(given["unit"], units)
        seen["section"] += islice(given["section"], sections)
    store.close()
    assert seen == {"unit": list(range(1, 9)), "section": list(range(1, 4))}
