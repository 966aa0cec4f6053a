"""An index on a server: who may read it, what is never shown, and what is lost when something dies: nothing."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from fakes import Notes
from hypothesis import example, given
from hypothesis import strategies as st
from indexing import closed_later, note, put, texts_of, unit_vectors
from postgres_server import Postgres, role

from benchmarks import crash, postgres_crowd
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.cli.main import cli
from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.config.store_url import has_password, redact_url
from openclaw_memory.errors import LeaseTimeout, OpenClawMemoryError, StoreError, StoreUnreachable
from openclaw_memory.store.api import TextsChanged, VectorModel
from openclaw_memory.store.postgres.connections import Server, memory_id
from openclaw_memory.store.postgres.state import ServerState
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.store.state.location import Keys
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.text import analysis

server = pytest.mark.postgres

MODEL = VectorModel("test", 16)
GARDEN = "# Garden\n\n- Ana Ruiz plants tulips in the autumn\n- the ferns are watered on Monday\n- 東京の庭は静かです\n"
HOUSE = "# House\n\n- the boiler was serviced in March 2026\n- Ana Ruiz has the attic key\n"


def opened(url: str, agent: str, workspace: str = "garden") -> PostgresStore:
    given = StoreSettings(lock_timeout=10.0), analysis.terms
    store: PostgresStore = closed_later(PostgresStore(url, agent, workspace, *given))
    return store


# -- the URL ----------------------------------------------------------------------------------------


@given(
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20), st.sampled_from(["", "?x=1", ":1"])
)
@example("@", "")
@example("@/?", "?x=1")
def test_a_password_is_never_shown(password: str, more: str) -> None:
    for url in (
        f"postgresql://ana:§{password}§@db{more}",
        f"postgres://db/memories?user=ana&password=§{password}§",
        f"postgres://ana:§@db/memories{more or '?x=1'}&password={password}§",
    ):
        assert "§" not in redact_url(url)
        assert has_password(url)


def test_hosts_and_ports_are_shown() -> None:
    assert (
        redact_url("postgres://ana@db:5432,other:1/memories?sslmode=require")
        == "postgresql://ana@db:5432,other:1/memories"
    )
    assert not has_password("postgresql://ana@db:5432/memories")


@pytest.mark.parametrize("url", ["postgresql://ana:s3%zz@db/m", "postgresql://ana:s3cret@localhost:1/m"])
def test_an_error_says_what_is_wrong_and_no_password(url: str) -> None:
    with pytest.raises(StoreError, match="postgresql://ana@") as raised, Server.for_url(url).transaction():
        pass
    assert "s3" not in str(raised.value)


@pytest.mark.parametrize(
    "arguments", [["--db", "postgresql://ana:x@db/m", "status"], ["config", "set", "store.url", "postgresql://ana:x@db/m"],
                  ["--set", "store.url=postgresql://ana:x@db/m", "status"], ["--db", "postgresql://ana:x@db/m", "serve"]]
)  # fmt: skip
def test_a_password_on_the_command_line_is_refused(arguments: list[str]) -> None:
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert "seen by everybody" in done.output and "ana:x" not in done.output


def test_the_settings_are_shown_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_STORE_URL", "postgresql://ana:s3cret@db/m")
    for arguments in (["config", "show", "store"], ["--json", "config", "show"]):
        done = CliRunner().invoke(cli, arguments)
        assert "postgresql://ana@db/m" in done.output and "s3cret" not in done.output


# -- whose memory it is -----------------------------------------------------------------------------


@server
def test_two_memories_never_see_each_other(postgres: Postgres) -> None:
    url = postgres.url("owner")
    ours, theirs = opened(url, "ours"), opened(url, "theirs")
    put(ours, {"a.md": [["the fox"], ["the wolf"]]})
    put(theirs, {"a.md": [["the heron"]]})
    theirs.put_vectors(MODEL, [1], unit_vectors(1, 16))
    assert sorted(texts_of(ours).values()) == ["the fox", "the wolf"]
    assert list(texts_of(theirs).values()) == ["the heron"]
    assert ours.vector_states(MODEL).ready == 0 and ours.state().instance != theirs.state().instance
    ours.remove([1], ours.documents().version)
    ours.maintain(force=True)
    assert (
        list(texts_of(theirs).values()) == ["the heron"] and theirs.contains(["heron"]) and not ours.contains(["heron"])
    )


@server
def test_a_role_reads_and_writes_its_own_and_what_is_shared_with_it(postgres: Postgres) -> None:
    owner = opened(postgres.url("owner"), "shared")
    put(owner, {"a.md": [["the fox"]]})
    writer, reader = role(postgres, "writer", True), role(postgres, "reader", False)
    own = opened(writer, "own")
    put(own, {"b.md": [["the heron"]]})
    with pytest.raises(StoreError, match=r"share\('role', 'shared'"):
        opened(writer, "shared").state()
    name = reader.split("//")[1].split("@")[0]
    with Server.for_url(postgres.url("owner")).transaction() as c:
        c.execute("SELECT share(%s, 'shared', 'garden', false)", [name])
    shared = opened(reader, "shared")
    assert list(texts_of(shared).values()) == ["the fox"]
    with pytest.raises(StoreError, match="may only read"):
        put(shared, {"b.md": [["mine"]]})
    with pytest.raises(StoreError, match="no memory in the workspace 'garden' yet, and this role may only read"):
        opened(reader, "new").state()


@server
def test_no_statement_of_a_role_reaches_another_memory(postgres: Postgres) -> None:
    owner = opened(postgres.url("owner"), "secret")
    put(owner, {"a.md": [["the fox sleeps"]]})
    owner.put_vectors(MODEL, [1], unit_vectors(1, 16))
    with Server.for_url(postgres.url("owner")).transaction() as c:
        memory = memory_id(c, "secret", "garden")
    tables = [table for table in database_tables(postgres) if table not in ("schemas", "roles")]
    assert {"units", "sections", "memories", "postings_delta"} <= set(tables)
    for url in (role(postgres, "writer", True), role(postgres, "reader", False), role(postgres, "stranger", None)):
        with psycopg.connect(url, autocommit=True) as c:
            for told in ("", str(memory)):
                c.execute(f"SET openclaw_memory.memory TO '{told}'")
                for table in tables:
                    with _refused():
                        assert (
                            c.execute(f"SELECT * FROM openclaw_memory.{table} WHERE memory = {memory}").fetchall() == []
                        )
                    with _refused():
                        found = c.execute(f"UPDATE openclaw_memory.{table} SET memory = memory WHERE memory = {memory}")
                        assert found.rowcount == 0
                    with _refused():
                        assert c.execute(f"DELETE FROM openclaw_memory.{table} WHERE memory = {memory}").rowcount == 0
                for statement in (
                    f"INSERT INTO openclaw_memory.mentions VALUES ({memory}, 1, 1, 1, 1, 'x')",
                    "INSERT INTO openclaw_memory.shares SELECT current_user, memory, true FROM openclaw_memory.memories",
                    "SELECT openclaw_memory.permit(current_user::text, true)",
                    "SELECT openclaw_memory.share(current_user::text, 'secret', 'garden', true)",
                    f"UPDATE openclaw_memory.memories SET role = current_user WHERE memory = {memory}",
                    "ALTER TABLE openclaw_memory.units DISABLE ROW LEVEL SECURITY",
                ):
                    with _refused():
                        c.execute(statement)
    with psycopg.connect(postgres.url()) as c:
        assert c.execute(f"SELECT role FROM openclaw_memory.memories WHERE memory = {memory}").fetchall() == [
            ("owner",)
        ]
        assert c.execute(f"SELECT role FROM openclaw_memory.shares WHERE memory = {memory}").fetchall() == []
    assert list(texts_of(owner).values()) == ["the fox sleeps"]


@server
def test_no_function_of_a_role_stands_in_for_one_of_the_server(postgres: Postgres) -> None:
    owner = opened(postgres.url("owner"), "kept")
    put(owner, {"a.md": [["the fox sleeps"]]})
    with psycopg.connect(postgres.url()) as c:
        loose = "SELECT proname FROM pg_proc WHERE pronamespace = 'openclaw_memory'::regnamespace AND proconfig IS NULL"
        assert c.execute(loose).fetchall() == []
    for writes in (True, False):
        url = role(postgres, "hostile", writes)
        name = url.split("//")[1].split("@")[0]
        postgres.sql(f"CREATE SCHEMA {name} AUTHORIZATION {name}; SET ROLE {name}; " + HOSTILE.format(name))
        with psycopg.connect(url, autocommit=True) as c:
            c.execute(f"SET search_path TO {name}, openclaw_memory, pg_catalog")
            for table in ("units", "memories", "sections"):
                assert c.execute(f"SELECT * FROM openclaw_memory.{table}").fetchall() == []


#: What the policies and functions call, as somebody else would have it.
HOSTILE = """
    CREATE FUNCTION {0}.pg_has_role(regrole, text) RETURNS boolean LANGUAGE sql STABLE AS 'select true';
    CREATE FUNCTION {0}.to_regrole(text) RETURNS regrole LANGUAGE sql STABLE AS 'select current_user::regrole';
    CREATE FUNCTION {0}.quote_ident(text) RETURNS text LANGUAGE sql STABLE AS 'select current_user::text';
    CREATE FUNCTION {0}.is_mine(text) RETURNS boolean LANGUAGE sql STABLE AS 'select true';
    CREATE FUNCTION {0}.always(integer, integer) RETURNS boolean LANGUAGE sql STABLE AS 'select true';
    CREATE OPERATOR {0}.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = {0}.always);
    CREATE TABLE {0}.shares AS SELECT current_user::text AS role, n AS memory, true AS writes FROM generate_series(1, 99) n
"""


@server
def test_a_memory_takes_its_rows_along(own_server: Postgres) -> None:
    url = own_server.url("owner")
    kept, gone = opened(url, "kept"), opened(url, "gone")
    for store in (kept, gone):
        put(store, {"a.md": [["the fox sleeps"]]})
    own_server.sql("DELETE FROM openclaw_memory.memories WHERE agent = 'gone'")
    assert list(texts_of(kept).values()) == ["the fox sleeps"]
    state = ServerState(url, "garden", "kept", Keys(own_server.folder / "keys"))
    state.purge()
    with psycopg.connect(own_server.url()) as c:
        for table in set(database_tables(own_server)) - {"schemas", "roles", "memories"}:
            assert c.execute(f"SELECT * FROM openclaw_memory.{table}").fetchall() == [], table
    state.close()


def test_of_threads_that_wait_for_a_server_that_says_nothing_one_finds_out(tmp_path: Path) -> None:
    tries = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Server.for_url(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x")

        def ask(_: int) -> bool:
            with (
                server.limit_waiting(Deadline.after(2.0)),
                pytest.raises(StoreUnreachable),
                server.transaction(read=True),
            ):
                pass
            return True

        with ThreadPoolExecutor(6) as threads:
            assert all(threads.map(ask, range(6)))
        silent.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                tries.append(silent.accept()[0])
    for each in tries:
        each.close()
    server.close()
    assert len(tries) == 1


def database_tables(postgres: Postgres) -> list[str]:
    with psycopg.connect(postgres.url()) as c:
        rows = c.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'openclaw_memory'").fetchall()
    return [row[0] for row in rows]


class _refused:  # noqa: N801
    """A block that may be refused."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, psycopg.Error)


@server
def test_a_superuser_is_warned_once_and_reads_one_memory(postgres: Postgres) -> None:
    owner, root = opened(postgres.url("owner"), "owned"), opened(postgres.url(), "rooted")
    put(owner, {"a.md": [["the fox"]]})
    put(root, {"a.md": [["the heron"]]})
    assert list(texts_of(root).values()) == ["the heron"]
    (warning,) = root.warnings()
    assert "superuser" in warning and "permit" in warning
    assert owner.warnings() == []


# -- schema, texts, connections ----------------------------------------------------------------------


@server
def test_tables_of_another_version_are_refused_and_left_as_they_are(own_server: Postgres) -> None:
    url = own_server.url("owner")
    first = opened(url, "main")
    put(first, {"a.md": [["the fox"]]})
    first.close()
    own_server.sql("UPDATE openclaw_memory.schemas SET version = 99 WHERE part = 'index'")
    again = opened(url, "main")
    with pytest.raises(StoreError, match=r"have the version 99, .*choose another database"):
        again.state()
    again.close()
    own_server.sql("UPDATE openclaw_memory.schemas SET version = 1 WHERE part = 'index'")
    later = opened(url, "main")
    assert list(texts_of(later).values()) == ["the fox"]


@server
def test_who_may_not_make_the_tables_is_told_who_does(own_server: Postgres) -> None:
    own_server.sql("CREATE ROLE other LOGIN")
    own_server.sql("CREATE DATABASE others OWNER other ENCODING 'UTF8' TEMPLATE template0")
    with pytest.raises(StoreError, match="let the role that owns the database run a command first"):
        opened(own_server.url("owner", "others"), "main").state()
    store = opened(own_server.url("other", "others"), "main")
    assert store.state().generation == 0


@server
def test_a_character_that_no_text_there_may_hold_is_replaced(postgres: Postgres) -> None:
    store = opened(postgres.url("owner"), "nul")
    put(store, {"a.md": [["a\0b", "plain"]]})
    assert sorted(texts_of(store).values()) == ["a\ufffdb", "plain"]


@server
def test_rows_come_back_as_they_were(postgres: Postgres) -> None:
    kinds = "INTEGER VARCHAR BIGINT SMALLINT BOOLEAN FLOAT DATE TINYINT"
    rows: list[tuple[Any, ...]] = [
        (1, "a\tb\\n\n\\.", 2**62, -3, True, 0.1, "2026-02-13", 1), (2, None, None, None, None, None, None, None),
        (3, "", 0, 0, False, 2, "0001-01-01", 0), (4, "\\N 東京 '\"{}", -1, 1, True, -1e-9, "9999-12-31", 127),
    ]  # fmt: skip
    store = opened(postgres.url("owner"), "brought")
    with store._db.write() as c:
        c.execute(
            "CREATE TEMP TABLE brought (a INT, b TEXT, c BIGINT, d SMALLINT, e BOOL, f REAL, g DATE, h SMALLINT, i TEXT)"
        )
        store._db.insert_rows(c, "brought", kinds, rows, "*, 'x'")
        stored = c.execute("SELECT a, b, c, d, e, f::FLOAT8, g::TEXT, h, i FROM brought").fetchall()
        c.execute("DROP TABLE brought")
    assert [pytest.approx((*row, "x")) if row[5] is not None else (*row, "x") for row in rows] == stored


@server
def test_a_connection_that_the_server_has_closed_is_replaced(postgres: Postgres) -> None:
    store = opened(postgres.url("owner"), "dropped")
    put(store, {"a.md": [["the fox"]]})
    postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'owner'")
    assert list(texts_of(store).values()) == ["the fox"]


@server
def test_one_snapshot_a_session_and_own_writes_are_read(postgres: Postgres) -> None:
    url = postgres.url("owner")
    store, other = opened(url, "snapshot"), opened(url, "snapshot")
    put(store, {"a.md": [["the fox"]]})
    with store.session():
        before = store.state()
        put(other, {"b.md": [["the heron"]]})
        assert store.state() == before and len(texts_of(store)) == 1
        with pytest.raises(TextsChanged):
            put(store, {"c.md": [["the owl"]]})  # planned in the snapshot
        put(store, {"c.md": [["the owl"]]})
        assert len(texts_of(store)) == 3


@server
def test_a_statement_that_fails_ends_its_snapshot_and_no_more(postgres: Postgres) -> None:
    store = opened(postgres.url("owner"), "failing")
    put(store, {"a.md": [["the fox"]]})
    with store.session():
        with pytest.raises(StoreError, match="refused"):
            store._db.rows("SELECT nothing FROM units")
        assert list(texts_of(store).values()) == ["the fox"]


@server
def test_no_statement_of_a_question_takes_longer_than_what_is_left_of_its_time(postgres: Postgres) -> None:
    store = opened(postgres.url("owner"), "timed")
    put(store, {"a.md": [["the fox"]]})
    state = ServerState(postgres.url("owner"), "timed", "main", Keys(Path(postgres.folder)))
    with state.writing() as connection:
        connection.execute("INSERT INTO versions VALUES ('x', 'y')")
    sleeps = "SELECT 1 FROM (SELECT pg_sleep(0.7)) q"  # shorter than the whole time, and twice it is longer

    def refused(ask: Callable[[str], object]) -> None:
        with store.session(1.0), pytest.raises(OpenClawMemoryError, match=r"too long|slow"):
            ask(sleeps), ask(sleeps)

    refused(store._db.rows)
    refused(state.read)
    with store.session():
        assert store._db.rows(sleeps)
    with store.session(30.0):
        with store.limit_waiting(Deadline.after(0.3)), pytest.raises(LeaseTimeout):
            store._db.rows(sleeps)
        assert list(texts_of(store).values()) == ["the fox"] and store._db.rows(sleeps)
    state.close()


# -- every day ---------------------------------------------------------------------------------------

EVERYDAY: list[list[str]] = [
    ["ingest"], ["search", "attic key"], ["search", "boiler", "--mode", "graph"],
    ["recall", "Ana Ruiz"], ["timeline", "boiler"], ["context", "who has the attic key?"], ["concepts", "list"],
    ["concepts", "add", "Tulips"], ["search", "tulips"], ["facts"], ["facts", "add", "Ana Ruiz", "lives in", "Bergen"],
    ["facts", "--about", "Ana Ruiz"], ["sql", "SELECT path, text FROM memories ORDER BY id"],
    ["sql", "SELECT id, text FROM memories WHERE text ILIKE '%attic%' ORDER BY 1"], ["consolidate"],
    ["forget", "--query", "attic key", "--yes"], ["search", "attic key"], ["status"], ["doctor"],
]  # fmt: skip
_VARIES = re.compile(
    r'"(took_?[mM]s|seconds|ms|recordedAt|bytes|stateBytes|elapsed_?[mM]s|warning)": [^\n]*|\d{4}-\d\d-\d\dT[\d:.]+Z?|f-[0-9a-f]{12}|,?\s*"postgresql:[^\n]*'
)


@server
def test_the_everyday_commands_say_the_same_over_a_file_and_over_a_server(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, list[Any]] = {}
    for name in ("file", "server"):
        for variable in ("DATA", "CONFIG", "STATE", "CACHE"):
            monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / name / variable))
        root = tmp_path / name / "notes"
        notes = Notes(root)
        notes.write("MEMORY.md", GARDEN)
        for day in range(1, 9):
            notes.write(f"memory/2026-01-{day:02d}.md", HOUSE + f"- bed {day} was dug by Birgit Olsen\n")
        url = ["--db", postgres.url("owner")] if name == "server" else []
        said[name] = []
        for arguments in EVERYDAY:
            given = ["--json", "--set", "embedding.model=none", "-w", str(root), *url, *arguments]
            done = CliRunner().invoke(cli, given, prog_name="openclaw-memory")
            assert done.exit_code in (0, 2), (arguments, done.output)
            told = (
                "" if arguments[0] in ("status", "doctor") else _VARIES.sub("", done.stdout.replace(str(root), "ROOT"))
            )
            said[name].append((arguments, done.exit_code, [line for line in told.splitlines() if line.strip()]))
    for file, over in zip(said["file"], said["server"], strict=True):
        assert over == file


@server
def test_hits_on_a_server_have_no_numbers_and_leave_no_file(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / variable))
    notes = Notes(tmp_path / "notes")
    notes.write("MEMORY.md", GARDEN)
    for day in range(1, 9):
        notes.write(f"memory/2026-01-{day:02d}.md", HOUSE + f"- bed {day} was dug by Birgit Olsen\n")
    before = ["--set", "embedding.model=none", "-w", str(notes.root)]
    given = [*before, "--db", postgres.url("owner")]
    run = CliRunner().invoke
    assert "attic" in run(cli, [*before, "search", "attic key"]).stdout  # in a file, before there was a server
    assert run(cli, [*before, "map"]).exit_code == 0
    (index,) = tmp_path.rglob("notes-*.duckdb")
    assert {f"{index.name}.map.html", f"{index.name}.shown.json"} <= {file.name for file in index.parent.iterdir()}
    assert "attic" in run(cli, [*given, "search", "attic key"]).stdout
    for asked in (["open", "1"], ["feedback", "1", "useful"]):
        done = run(cli, [*given, *asked])
        assert done.exit_code == 1 and "no numbers while the index is on a server" in done.stderr
    forgot = run(cli, [*given, "forget", "--query", "attic key", "--yes", "--json"])
    assert any(str(index) in one for one in json.loads(forgot.stdout)["remains"])
    assert not [file for file in index.parent.iterdir() if file.name.endswith((".json", ".html"))]


@server
def test_no_command_log_or_file_holds_the_password(
    own_server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for variable in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / variable))
    url = own_server.url("owner:s3cr%40et")
    monkeypatch.setenv("OPENCLAW_MEMORY_STORE_URL", url)
    caplog.set_level(logging.DEBUG)
    notes = Notes(tmp_path / "notes")
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/2026-01-01.md", HOUSE)
    given = ["-v", "--set", "embedding.model=none", "-w", str(notes.root)]
    more = [
        ["state"], ["state", "--json"], ["status", "--json"], ["doctor", "--json"], ["config", "show", "--json"],
        ["export", str(tmp_path / "out")], ["map", "--out", str(tmp_path / "m.html")],
        ["backup", str(tmp_path / "backup.zip")],
    ]  # fmt: skip
    said = ""
    for away in (False, True):
        if away:
            own_server.stop()
        for arguments in (*(EVERYDAY[:2] if away else EVERYDAY), *more):
            said += CliRunner().invoke(cli, [*given, *arguments], prog_name="openclaw-memory").output
    assert "cannot be reached" in said and redact_url(url) in said and "attic key" in said
    assert "s3cr" not in said + caplog.text
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert kept and not [file for file in kept if b"s3cr" in file.read_bytes()]
    own_server.start()


@server
def test_hits_scores_and_threads_are_those_of_a_file(postgres: Postgres, notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/2026-02-13.md", HOUSE)
    settings = Settings().with_values({"embedding.model": "none"})
    with (
        Memory(notes.root, settings=settings, store=postgres.url("owner")) as one,
        Memory(notes.root, settings=settings, db=tmp_path / "b.duckdb") as two,
    ):
        for question in ("attic key", "who plants tulips?", "庭", "nothing of this"):
            ours, theirs = (memory.search(question).results for memory in (one, two))
            assert [hit.id for hit in ours] == [hit.id for hit in theirs]
            assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-6)
            assert [hit.id for hit in one.recall(question).results] == [hit.id for hit in two.recall(question).results]
        before = one.store.state()
        one.ingest()
        assert one.store.state() == before  # the same text again


def test_a_new_process_takes_over_what_another_has_read_of_the_server(
    postgres: Postgres, notes: Notes, tmp_path: Path
) -> None:
    settings = Settings().with_values(
        {"embedding.model": "none", "store.folder": str(tmp_path / "kept"), "store.workspace": str(tmp_path)}
    )
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/2026-01-05.md", HOUSE)

    def process() -> Memory:
        return Memory(notes.root, settings=settings, store=postgres.url("owner"))

    def kept() -> list[Path]:
        return [file for file in tmp_path.rglob("*.kept") if file.stat().st_size]

    def hits(memory: Memory) -> list[tuple[str, int, float]]:
        return [(hit.path, hit.start_line, hit.score) for hit in memory.search(SearchRequest("attic key")).results]

    with process() as memory:
        memory.ingest()
        memory.warm()
        first = hits(memory)
    assert {file.suffixes[-2] for file in kept()} == {".words", ".status"}
    assert {file.stat().st_mode & 0o777 for file in kept()} == {0o600}
    with process() as memory:
        assert memory._questions.index().has_state()
        assert hits(memory) == first
        memory.store.maintain(force=True)  # as whoever forgets on another machine
    with process() as memory:
        assert not memory._questions.index().has_state()
        hits(memory)
    assert kept()
    with process() as memory:
        report = memory.forget(query="attic key")
        assert report.verified
    assert not [file for file in kept() if b"attic" in file.read_bytes()]


@server
# -- what dies ----------------------------------------------------------------------------------------


def test_kill_9_of_a_client_at_random_moments_loses_nothing(postgres: Postgres) -> None:
    result = crash.run(2, seed=7, longest=0.3, store=postgres.url("owner"))
    assert result.failures == []
    assert result.acknowledged >= 2


@server
def test_kill_9_of_the_server_loses_nothing_that_was_acknowledged(own_server: Postgres) -> None:
    store = opened(own_server.url("owner"), "main")
    put(store, {"a.md": [["the fox"]]})
    version = store.documents().version
    own_server.kill()
    with pytest.raises(StoreError):
        store.apply([note("b.md", [["the heron"]])], version)
    own_server.start()
    _until(lambda: store.state().generation == 1)
    assert list(texts_of(store).values()) == ["the fox"]
    put(store, {"b.md": [["the heron"]]})
    assert sorted(texts_of(store).values()) == ["the fox", "the heron"]


@server
def test_while_the_server_is_away_it_answers_from_memory_and_catches_up(own_server: Postgres, notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    given = {"embedding.model": "none", "ingest.fresh_seconds": 0.0, "capture.enabled": True}
    with Memory(notes.root, settings=Settings().with_values(given), store=own_server.url("owner")) as memory:
        before = memory.search("tulips").results
        assert memory.recall("tulips").results and before
        own_server.stop()
        notes.write("memory/2026-02-13.md", HOUSE)
        for _ in range(2):
            found = memory.search("tulips")
            assert found.results == before and found.stale
            assert "cannot be reached" in (found.warning or "")
        with pytest.raises(OpenClawMemoryError, match="cannot be reached"):
            memory.ingest()
        own_server.start()
        _until(lambda: not memory.search("tulips").stale)
        assert memory.search("boiler").results[0].path == "memory/2026-02-13.md"


@server
@pytest.mark.parametrize("code", ["08P01", "08006", "08003"])
def test_a_pool_that_has_no_connection_is_a_server_that_is_away(postgres: Postgres, code: str) -> None:
    """PgBouncer is there when its server is not, and says so by an error of its own."""
    pool = Server.for_url(f"{postgres.url('owner')}&application_name=pool{code}")
    says = f"DO $$ BEGIN RAISE EXCEPTION 'server login has been failing' USING ERRCODE = '{code}'; END $$"
    with (
        pytest.raises(StoreUnreachable, match=r"cannot be reached \(server login has been failing"),
        pool.transaction() as c,
    ):
        c.execute(says)
    assert any("out of date" in remark for remark in pool.remarks())
    pool.close()


@server
def test_what_is_captured_while_the_server_is_away_is_in_the_file(own_server: Postgres, notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    settings = Settings().with_values({"embedding.model": "none", "ingest.fresh_seconds": 0.0})
    with Memory(notes.root, settings=settings, store=own_server.url("owner")) as memory:
        memory.search("tulips")
        own_server.stop()
        turn = Turn((Message("user", "Remember: Birgit Olsen keeps the key of the boat house in Bergen."),))
        memory.capture(turn, everything=True)
        (file,) = notes.root.glob("memory/**/*.md")
        assert "boat house" in file.read_text()
        own_server.start()
        _until(lambda: not memory.search("tulips").stale)
        assert memory.search("boat house key").results[0].path == file.relative_to(notes.root).as_posix()


@server
def test_writers_and_readers_at_once_lose_nothing(postgres: Postgres, tmp_path: Path) -> None:
    # Two processes that write, each with four threads, on more memories than a process has connections.
    result = postgres_crowd.crowd(postgres.url("owner"), tmp_path, 12, 8, 2, 1.0)
    assert (result["errors"], result["lost"], result["failed"]) == ([], [], 0)
    assert result["written"] and result["asked"]


@server
def test_kill_9_of_a_gateway_and_of_the_server_in_mid_write_loses_nothing(own_server: Postgres, tmp_path: Path) -> None:
    crowd = postgres_crowd.Crowd(own_server.url("owner"), tmp_path, 2, 300.0, patient=True)
    for _ in range(2):
        crowd.start("write", 1)
    _until(lambda: all(crowd.said()))
    crowd.children[0].kill()
    _until(lambda: all(len(said) > 2 for said in crowd.said()[1:]))
    own_server.kill()
    own_server.start()
    again = time.time()
    crowd.start("write", 1)  # the gateway that was killed
    # Nobody has to be told.
    _until(lambda: all(any(of[3] > again for what, *of in said if what == "written") for said in crowd.said()[1:]))
    crowd.stop()
    result = crowd.result()
    assert (result["errors"], result["lost"], result["failed"]) == ([], [], 0)
    for agent in range(2):
        with postgres_crowd.opened(tmp_path, agent, own_server.url("owner"), "eager") as memory:
            memory.ingest()  # what the killed one had begun
            files = sorted((tmp_path / f"agent-{agent}").rglob("*.md"))
            assert len(memory.store.documents().by_path) == len(files)
            assert memory.status().vectors["ready"] == memory.status().chunks
            hits = memory.search(files[-1].read_text().splitlines()[2], mode="keyword", max_results=50).results
            assert hits


def _until(true: Callable[[], bool]) -> None:
    for _ in range(2400):
        try:
            if true():
                return
        except OpenClawMemoryError:
            pass
        time.sleep(0.05)
    pytest.fail("it did not come back")
