"""SQL reads the index and nothing else: its tables agree with search and graph, and nothing can be written by it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from fakes import Notes
from indexing import ROOT, open_store, python
from tables import table

from openclaw_memory import Memory, Settings, example
from openclaw_memory.errors import RequestError, StoreError
from openclaw_memory.store.duckdb.query import require_read_only
from openclaw_memory.store.rows import ComputedTables

SETTINGS = {"embedding.model": "none", "embedding.offline": True}
CONCEPTS = """
concepts:
  memory-search: {name: Memory search, aliases: [recall engine], kind: project}
  minilm: {name: all-MiniLM-L6-v2, parents: [memory-search], related: [bge-m3]}
  bge-m3: {name: bge-m3}
"""
FACTS = """\
- {id: f-old, subject: JR, predicate: lives in, object: Delft, from: 2026-01-01, recorded: "2026-01-01T00:00:00Z"}
- {id: f-new, subject: JR, predicate: lives in, object: Utrecht, from: 2026-03-01, recorded: "2026-03-01T00:00:00Z"}
"""


def memory_of(workspace: Path, **settings: Any) -> Memory:
    return Memory(
        workspace, settings=Settings().with_values({**SETTINGS, **settings}), db=workspace.parent / "index" / "i.duckdb"
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql") / "workspace"
    example.copy_to(folder)
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    (folder / "facts.yaml").write_text(FACTS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def memory(workspace: Path) -> Iterator[Memory]:
    with memory_of(workspace) as memory:
        memory.ingest()
        memory.sql("SELECT 1 FROM memories, concepts, edges, facts LIMIT 1")
        memory.store.close()
        before = digests(workspace.parent / "index")
        yield memory
        memory.store.close()
        assert digests(workspace.parent / "index") == before, "no query of these tests changes a byte of the index"


def digests(folder: Path) -> dict[str, str]:
    files = (file for file in folder.glob("i.duckdb*") if file.stat().st_size)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def ask(memory: Memory, query: str, **options: Any) -> list[tuple[Any, ...]]:
    return list(memory.sql(query, **options).rows)


# -- the tables agree with what the rest of the package says ------------------------------------------


def test_memories_are_the_units_with_their_places(memory: Memory) -> None:
    rows = ask(memory, "SELECT id, path, start_line, end_line, citation, text FROM memories ORDER BY id")
    units = memory.store.unit_rows(None)
    assert [row[0] for row in rows] == sorted(units.unit_id.tolist())
    for _, path, first, last, citation, text in rows:
        assert citation == f"{path}#L{first}" + (f"-L{last}" if last > first else "")
        found = memory.get(path, first, last - first + 1)
        assert text.split("\n")[0].strip() in found.text.replace("\n", " ")


def test_the_id_of_a_hit_leads_to_its_unit(memory: Memory) -> None:
    for hit in memory.search("embedding model", max_results=3).results:
        rows = ask(memory, f"SELECT path, start_line FROM memories JOIN hits USING (id) WHERE hit = '{hit.id}'")
        assert len(rows) == 1
        assert rows[0][0] == hit.path and hit.start_line <= rows[0][1] <= hit.end_line


def test_documents_are_the_files(memory: Memory) -> None:
    rows = ask(memory, "SELECT path, units, bytes FROM documents ORDER BY path")
    assert [row[0] for row in rows] == sorted(memory.store.documents().by_path)
    assert sum(row[1] for row in rows) == memory.status().chunks


def test_concepts_are_those_of_the_list(memory: Memory) -> None:
    listed = {row.slug: row for row in memory.concepts.list().rows}
    rows = ask(memory, "SELECT slug, name, kind, curated, units, aliases, first_day, last_day FROM concepts")
    assert {row[0] for row in rows} == set(listed) and len(rows) == len(listed)
    for slug, name, kind, curated, units, aliases, first, last in rows:
        row = listed[slug]
        assert (name, kind, curated, units) == (row.name, row.kind, row.curated, row.units)
        assert (tuple(aliases), first, last) == (row.aliases, row.first, row.last)
    assert ask(memory, "SELECT parents, weight FROM concepts WHERE slug = 'minilm'") == [(["memory-search"], 1.0)]
    edge = "SELECT source, target, curated FROM edges WHERE kind = 'parent_of'"
    assert ask(memory, edge) == [("memory-search", "minilm", True)]


def test_references_join_memories_and_concepts(memory: Memory) -> None:
    found = ask(
        memory,
        "SELECT c.slug, count(*), count(m.id), bool_and(e.source = m.citation) FROM concepts c "
        "LEFT JOIN edges e ON e.kind = 'references' AND e.target = c.slug LEFT JOIN memories m ON m.id = e.source_id "
        "WHERE c.units > 0 GROUP BY 1",
    )
    units = {row.slug: row.units for row in memory.concepts.list().rows if row.units}
    assert {slug: edges for slug, edges, _, _ in found} == units
    assert all(edges == joined and same for _, edges, joined, same in found)


def test_relations_are_those_of_the_graph(memory: Memory) -> None:
    rows = ask(memory, "SELECT source, target, weight, curated FROM edges WHERE kind = 'related_to'")
    with memory._questions.graph() as view:
        labels, lists = view.labels(), view.network.related
        expected = {
            (labels[place].slug, labels[other].slug): round(float(weight), 4)
            for place in labels
            for other, weight in zip(*(part.tolist() for part in lists.row(place)), strict=True)
        }
    assert {(a, b): weight for a, b, weight, _ in rows} == expected
    assert {(a, b) for a, b, _, curated in rows if curated} == {("minilm", "bge-m3"), ("bge-m3", "minilm")}


def test_a_sequel_is_later_and_both_ends_mention_the_thread(memory: Memory) -> None:
    rows = ask(
        memory,
        "SELECT e.via, a.date, b.date, a.citation = e.source, b.citation = e.target, e.source_id, e.target_id "
        "FROM edges e JOIN memories a ON a.id = e.source_id JOIN memories b ON b.id = e.target_id "
        "WHERE e.kind = 'follows'",
    )
    with memory._questions.graph() as view:
        assert len(rows) == len(view.network.after.target) > 10
        for via, later, earlier, *same, source, target in rows:
            assert later >= earlier and all(same)
            concept = view.index.find(via)
            assert concept is not None
            mentioning = view.corpus.rows.unit_id[view.index.rows_of([concept])].tolist()
            assert source in mentioning and target in mentioning


def test_facts_are_all_of_history(memory: Memory) -> None:
    rows = ask(memory, "SELECT id, subject, object, current, valid_from, valid_to, superseded_by FROM facts")
    known = memory.facts.query(history=True).rows
    assert sorted(row[0] for row in rows) == sorted(row.id for row in known)
    old = next(row for row in rows if row[0] == "f-old")
    assert old[1:] == ("JR", "Delft", False, date(2026, 1, 1), date(2026, 3, 1), "f-new")


# -- what is refused --------------------------------------------------------------------------------------

WRITES, FILES = dict(table("store.tsv", "refused")), table("store.tsv", "files")


@pytest.mark.parametrize("query", WRITES)
def test_what_does_not_only_read_is_refused(query: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=rf"^{WRITES[query]} is refused: SQL only reads the index; ask with SELECT"):
        require_read_only(query.replace("{folder}", str(tmp_path)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("query", FILES)
def test_no_other_file_can_be_read_or_written(memory: Memory, query: str, tmp_path: Path) -> None:
    secret = tmp_path / "a.csv"
    secret.write_text("a,b\nhush,hush\n", encoding="utf-8")
    asked = query.replace("{file}", str(secret)).replace("{folder}", str(tmp_path))
    with pytest.raises(RequestError) as caught:
        ask(memory, asked)
    assert "\n" not in str(caught.value) and "hush" not in str(caught.value)
    assert "SQL reads the index and no other file" in str(caught.value)
    assert list(tmp_path.iterdir()) == [secret]


def test_no_log_is_written_and_variables_of_the_program_are_no_tables(memory: Memory, tmp_path: Path) -> None:
    ask(memory, f"FROM enable_logging(storage = 'file', storage_path = '{tmp_path}/logs')")
    assert list(tmp_path.iterdir()) == []
    frame = {"x": np.arange(3)}
    with pytest.raises(RequestError, match="Table with name frame does not exist"):
        ask(memory, "SELECT * FROM frame")
    del frame


def test_what_would_write_beside_the_index_leaves_it_as_it_is(memory: Memory) -> None:
    """The fixture compares every byte afterwards, also for what other tests ask."""
    for query in (
        "SUMMARIZE memories", "FROM checkpoint('internals')", "FROM force_checkpoint('internals')",
        "FROM enable_logging('QueryLog')", "SELECT write_log('x')",
    ):  # fmt: skip
        ask(memory, query)


@pytest.mark.parametrize(("query", "message"), table("store.tsv", "errors"))
def test_an_error_is_one_line_with_its_cause(memory: Memory, query: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        ask(memory, query)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and "LINE 1" not in str(caught.value)


@pytest.mark.parametrize("query", table("store.tsv", "forms"))
def test_comments_and_other_forms_of_a_query(memory: Memory, query: str) -> None:
    assert ask(memory, query) == [(1,)]


def test_a_query_that_is_no_text_is_refused(memory: Memory) -> None:
    with pytest.raises(RequestError, match="not Unicode"):
        memory.sql("select '\udcff'")


def test_a_pivot_that_names_its_values_and_a_table_whose_name_the_query_makes(memory: Memory) -> None:
    found = memory.sql("PIVOT (SELECT kind FROM documents) ON kind IN ('daily', 'note') USING count(*)")
    assert found.columns == ("daily", "note") and found.rows == ((5, 1),)
    (direct,) = ask(memory, "SELECT count(*) FROM concepts")
    (made,) = ask(memory, "SELECT count(*) FROM query('FROM con' || 'cepts')")
    assert made == direct and direct[0] > 0


# -- limits, time, other users ------------------------------------------------------------------------------


def test_a_limit_says_that_there_is_more(memory: Memory) -> None:
    found = memory.sql("SELECT * FROM range(10)", limit=3)
    assert (len(found.rows), found.truncated) == (3, True)
    assert not memory.sql("SELECT * FROM range(3)", limit=3).truncated
    assert len(memory.sql("SELECT * FROM range(5000)").rows) == 5000


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(1000000000) a, range(1000) b WHERE a.range * b.range % 7 = 3",
        "FROM range(10000000000)",
    ],
)
def test_a_query_that_takes_too_long_is_stopped(memory: Memory, query: str) -> None:
    with pytest.raises(RequestError, match=r"stopped after 0\.2 s.*--timeout"):
        memory.sql(query, timeout=0.2)
    assert ask(memory, "SELECT 1") == [(1,)]


def test_the_index_is_free_again_after_a_query_and_after_a_failed_one(memory: Memory, workspace: Path) -> None:
    for query in ("SELECT 1", "SELECT nope"):
        with contextlib.suppress(RequestError):
            ask(memory, query)
        code = (
            "import sys; from pathlib import Path; from indexing import open_store\n"
            "store = open_store(Path(sys.argv[1]), sys.argv[2], lock_timeout=2.0); print(store.statistics().units); store.close()\n"
        )
        out, err = python(code, str(workspace.parent / "index" / "i.duckdb"), memory.store._extraction).communicate()
        assert int(out) > 100, err


def test_sql_inside_a_session_of_the_same_thread_says_so(memory: Memory) -> None:
    with memory.store.session(), pytest.raises(StoreError, match="in use by the caller itself"):
        ask(memory, "SELECT 1")
    assert ask(memory, "SELECT 1") == [(1,)]


def test_search_and_sql_take_turns(memory: Memory) -> None:
    def search(_: int) -> bool:
        return all(memory.search("embedding model").results for _ in range(5))

    with ThreadPoolExecutor(2) as pool:
        searches = pool.map(search, range(2))
        for _ in range(3):
            assert ask(memory, "SELECT count(*) > 10 FROM edges, facts LIMIT 1") == [(True,)]
        assert all(searches)


def test_only_what_is_named_is_collected(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    seen: list[frozenset[str]] = []

    def collect(named: frozenset[str]) -> ComputedTables:
        seen.append(named)
        return ComputedTables()

    for query in ("FROM memories", "SELECT 1 FROM Concepts", 'FROM "edges" JOIN facts USING (source)'):
        store.query(query, collect)
    assert seen == [frozenset(), {"concepts"}, {"edges", "facts"}]


def test_an_empty_workspace_has_empty_tables(notes: Notes) -> None:
    with memory_of(notes.root) as memory:
        result = memory.sql(
            "SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM edges), count(*) FROM concepts"
        )
        assert result.rows == ((0, 0, 0),)
        assert result.warning is not None and "no notes in" in result.warning


def test_a_folder_with_a_quote_in_its_name(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "it's" / "workspace")
    notes.write("MEMORY.md", "- a lamp\n")
    with memory_of(notes.root) as memory:
        assert ask(memory, "SELECT text FROM memories") == [("- a lamp",)]


QUERIES = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "sql.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("query", QUERIES)
def test_the_queries_of_the_documentation_find_something(memory: Memory, query: str) -> None:
    assert ask(memory, query)


@pytest.mark.parametrize("table", ["memories", "hits", "documents", "concepts", "edges", "facts", "usage"])
def test_every_column_is_documented(memory: Memory, table: str) -> None:
    text = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8").split(f"**`{table}`**")[1].split("\n**")[0]
    for column in memory.sql(f"FROM {table} LIMIT 0").columns:
        assert f"`{column}`" in text, column


# -- the command ------------------------------------------------------------------------------------------


QUERY = "SELECT start_line AS line, text FROM memories WHERE form = 'item' ORDER BY line"


def test_a_table_for_people(run: Callable[..., Result]) -> None:
    assert [line.rstrip() for line in run("sql", QUERY).stdout.splitlines()] == [
        "line  text",
        "   3  - a green lamp by the door",
        "   4  - a red, old lamp in the hall",
        "(2 rows)",
    ]
    assert run("sql", 'SELECT 1 AS "a\nb"').stdout.splitlines()[0].rstrip() == "a b"
    assert run("sql", "SELECT repeat('x', 500) AS x").stdout.splitlines()[1].rstrip() == "x" * 119 + "…"
    query = "SELECT true AS a, NULL AS b, [1, 2] AS c, {'k': 'v'} AS d, 'x\ny[bold]' AS e, 0.1 + 0.2 AS f, 1e0 / 3 AS g"
    assert run("sql", query).stdout.splitlines()[1].split() == [
        "true", "[1,", "2]", '{"k":', '"v"}', "x", "y[bold]", "0.3", "0.333333",
    ]  # fmt: skip


def test_many_rows_are_announced(run: Callable[..., Result]) -> None:
    done = run("sql", "FROM range(101)")
    assert "(100 rows)" in done.stdout and "more than 100 rows; give --limit" in done.stderr
    assert "(101 rows)" in run("sql", "FROM range(101)", "--limit", "200").stdout


def test_json(run: Callable[..., Result]) -> None:
    value = json.loads(run("sql", QUERY, "--json").stdout)
    assert value["columns"] == ["line", "text"]
    assert value["rows"] == [[3, "- a green lamp by the door"], [4, "- a red, old lamp in the hall"]]
    assert set(value) == {"columns", "rows", "took_ms"}
    assert json.loads(run("--json", "sql", "FROM range(9)", "-n", "2").stdout)["truncated"] is True


def test_json_keeps_numbers_and_types(run: Callable[..., Result]) -> None:
    query = (
        "SELECT 0.000012345::DOUBLE, 1.5, 'nan'::DOUBLE, DATE '2026-02-03', TIMESTAMP '2026-02-03 04:05:06', "
        "INTERVAL 1 DAY, 'ab'::BLOB, uuid() IS NOT NULL, [DATE '2026-02-03'], {'a': NULL}, 2::HUGEINT ** 1, TIME '04:05'"
    )
    [row] = json.loads(run("sql", query, "--json").stdout)["rows"]
    assert row[:6] == [0.000012345, 1.5, None, "2026-02-03", "2026-02-03T04:05:06", "1 day, 0:00:00"]
    assert row[6:10] == ["6162", True, ["2026-02-03"], {"a": None}]
    assert row[11] == "04:05:00"


def test_a_query_on_standard_input(run: Callable[..., Result]) -> None:
    assert "(2 rows)" in run("sql", given=QUERY).stdout
    assert "(2 rows)" in run("sql", "-", given=QUERY).stdout
    assert "the query is empty" in run("sql", given=" ", code=2).stderr


def test_a_terminal_without_a_query_is_wrong_usage(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    from openclaw_memory.cli import sql

    with pytest.raises(Exception, match="no query"):
        sql._text(None)


def test_a_failure_is_one_line(run: Callable[..., Result]) -> None:
    found = run("sql", "DELETE FROM memories", code=1)
    assert found.stdout == ""
    assert found.stderr.startswith("error: DELETE is refused") and found.stderr.count("\n") == 1
    assert run("sql", "SELECT\nx\nFROM memories", code=1).stderr.count("\n") == 1
