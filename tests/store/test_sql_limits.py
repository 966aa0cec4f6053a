"""SQL stays within its time and memory, and what crashes DuckDB crashes a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from click.testing import CliRunner
from fakes import Notes, ingested
from indexing import python

from openclaw_memory import Memory
from openclaw_memory.cli.main import cli
from openclaw_memory.errors import RequestError
from openclaw_memory.store.duckdb.query import require_read_only

#: What DuckDB computes while it plans, where neither its memory limit nor an interrupt reaches it.
FOLDED = [
    "SELECT length(repeat(repeat('x', 1000000), 4000))",
    "SELECT len(range(2000000000))",
]
CRASH = "SELECT * FROM pandas_scan(NULL)"


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    notes.write("MEMORY.md", "- a green lamp\n")
    with ingested(notes) as memory:
        yield memory


def test_no_query_takes_a_gigabyte_and_a_constant_that_would_is_refused(notes: Notes) -> None:
    notes.write("MEMORY.md", "- a green lamp\n")
    long = ["FROM range(10000000000)", "SELECT list(range) FROM range(1000000000)"]
    code = (
        "import resource, sys; from fakes import Notes, open_memory; from pathlib import Path\n"
        "from openclaw_memory.errors import RequestError\n"
        "with open_memory(Notes(Path(sys.argv[1]))) as memory:\n"
        f"    for query, options in {[*((query, {}) for query in FOLDED), *((query, {'timeout': 0.7}) for query in long)]!r}:\n"
        "        try: memory.sql(query, **options)\n"
        "        except RequestError as error: print(error)\n"
        "    print(*memory.sql('SELECT text FROM memories').rows)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    out, err = python(code, str(notes.root)).communicate()
    *refused, found, most = out.splitlines()
    assert len(refused) == len(FOLDED) + len(long), err
    for words in refused[: len(FOLDED)]:
        assert words.startswith("the query needs too much memory ") and words.endswith("raise store.memory_limit_mb")
    assert all("stopped" in words or "memory" in words for words in refused)
    assert found == "('- a green lamp',)"
    assert int(most) < 1_000_000  # kilobytes


def test_a_constant_that_takes_too_long_is_stopped(memory: Memory) -> None:
    with pytest.raises(RequestError, match=r"stopped after 0\.2 s.*--timeout"):
        memory.sql("SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))", timeout=0.2)
    assert memory.sql("SELECT 1").rows == ((1,),)


@pytest.mark.skipif(os.name == "nt", reason="signals have other names there")
def test_a_crash_of_the_database_is_one_line(notes: Notes, memory: Memory) -> None:
    with pytest.raises(RequestError, match=r"^the query ended DuckDB by SIG\w+ \(.*\); nothing was changed: ask in"):
        memory.sql(CRASH)
    assert memory.sql("SELECT 1").rows == ((1,),)
    memory.close()
    options = ["-w", str(notes.root), "--db", str(notes.root.parent / "index.duckdb"), "--set", "embedding.model=none"]
    done = CliRunner().invoke(cli, [*options, "sql", CRASH])
    assert done.exit_code == 1 and done.stdout == ""
    assert done.stderr.startswith("error: the query ended DuckDB by SIG") and done.stderr.count("\n") == 1


def test_a_statement_has_a_length() -> None:
    with pytest.raises(RequestError, match=r"^the query has 200,007 characters; a statement has at most 100,000$"):
        require_read_only("SELECT " + "1" * 200_000)
    with pytest.raises(RequestError, match=r"^the query cannot be read: "):
        require_read_only("SELECT " + "(" * 45_000)


def test_values_come_through_as_they_are(memory: Memory) -> None:
    rows = memory.sql(
        "SELECT 1.50::DECIMAL(4, 2), DATE '2026-03-01', TIMESTAMP '2026-03-01 10:00:00', TIME '10:00:00', "
        "INTERVAL 3 DAYS, '\\xAA'::BLOB, [1, NULL], {'a': 'x'}, MAP {'k': 1}, NULL, true, 170141183460469231731::HUGEINT, "
        "'00000000-0000-0000-0000-000000000001'::UUID"
    ).rows  # fmt: skip
    assert rows == (
        (
            Decimal("1.50"), date(2026, 3, 1), datetime(2026, 3, 1, 10), time(10), timedelta(3), b"\xaa", [1, None],
            {"a": "x"}, {"k": 1}, None, True, 170141183460469231731, UUID(int=1),
        ),
    )  # fmt: skip
