"""What a state promises, in a file and on a server: versions, transactions, keys, backups from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import psycopg
import pytest
from fakes import Notes, snippets
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import Postgres
from states import state_in

from openclaw_memory import Memory, Settings
from openclaw_memory.errors import StoreError, StoreUnreachable
from openclaw_memory.forget.tombstones import Tombstones, insert_tombstones
from openclaw_memory.model import Origin
from openclaw_memory.store.postgres.state import ServerState
from openclaw_memory.store.state import State, StateError
from openclaw_memory.store.state.database import read_tables
from openclaw_memory.store.state.location import Keys
from openclaw_memory.store.state.opening import state_keys
from openclaw_memory.store.state.use import UnitUsage, add_usage, usage_by_unit
from openclaw_memory.summarise.inventory import DayNote, RetiredNotes

server = pytest.mark.postgres
Make = Callable[..., State]


@pytest.fixture(scope="session")
def owner(postgres: Postgres) -> str:
    """The URL of a role that owns what it makes, and is no superuser."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        for role in ("keeper", "gateway", "stranger", "auditor"):
            connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute("CREATE DATABASE states OWNER keeper")
    return postgres.url("keeper", "states")


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.postgres)])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Opens the state of a workspace, as each process does for itself."""
    with ExitStack() as stack:

        def made(workspace: str = "w", agent: str = "main") -> State:
            keys = Keys(tmp_path / "keys")
            if request.param == "file":
                state = state_in(tmp_path / f"{workspace}.sqlite")
            else:
                state = ServerState(request.getfixturevalue("owner"), f"{tmp_path}/{workspace}", agent, keys)
            stack.callback(state.close)
            return state

        yield made


def rows_of(state: State) -> dict[str, list[tuple[object, ...]]]:
    return {table: list(rows) for table, rows in read_tables(state.read).items()}


def test_nothing_is_there_until_something_is_written(make: Make) -> None:
    state = make()
    assert state.flag("automatic") is None and state.version("flags") == "" and not any(rows_of(state).values())
    state.check()
    assert not state.report().exists and state.warnings() == []
    state.set_flag("automatic", {"on": "ünïcode % ? ' \" 🦆"})
    assert make().flag("automatic") == state.flag("automatic") == {"on": "ünïcode % ? ' \" 🦆"}
    assert state.report().exists


def test_a_version_changes_with_what_goes_by_its_name(make: Make) -> None:
    ours, theirs = make(), make()
    with ours.writing("a", "b"):
        pass
    before = [theirs.version(name) for name in ("a", "b", "c")]
    assert before[0] and before[1] and not before[2]
    with theirs.writing("a") as connection:
        assert theirs.version("a", connection) == before[0]
    assert ours.version("a") != before[0] and ours.version("b") == before[1]


def test_nothing_is_written_of_what_fails(make: Make) -> None:
    state = make()

    def fail() -> None:
        with state.writing("a") as connection:
            connection.execute("INSERT INTO flags VALUES ('x', '1', '')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert state.flag("x") is None and state.version("a") == ""
    state.set_flag("x", 2)
    assert state.flag("x") == 2


def test_who_waits_too_long_is_told(make: Make) -> None:
    state = make()
    state.set_flag("x", 0)
    with make().writing(), pytest.raises(StateError, match="another process has been writing"):
        state.set_flag("x", 1, timeout=0.05)
    assert state.flag("x") == 0


def test_a_change_of_a_flag_sees_what_others_noted(make: Make) -> None:
    def work(state: State) -> None:
        for _ in range(20):
            state.change_flag("n", lambda known: (known or 0) + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [make() for _ in range(4)]))
    assert make().flag("n") == 80
    assert not make().change_flag("n", lambda known: None)


def test_the_states_of_two_workspaces_know_nothing_of_each_other(make: Make) -> None:
    one, other = make("one"), make("other")
    one.set_flag("x", 1)
    other.set_flag("x", 2)
    with other.writing() as connection:
        connection.execute("DELETE FROM flags")
    assert one.flag("x") == 1 and other.flag("x") is None


def test_counts_of_use_add_up_and_notes_are_retired_once(make: Make) -> None:
    state = make()
    for day in (1, 2):
        with state.writing("use") as connection:
            add_usage(connection, "u", UnitUsage.for_day("memory/a.md", date(2026, 3, day), {"shown": 2, "useful": 1}))
    found = usage_by_unit(make())["u"]
    assert found.counts == {"shown": 4, "used": 0, "useful": 2, "irrelevant": 0}
    assert found.boost == pytest.approx(0.875, abs=0.01)
    for size in (1, 1 << 40):
        RetiredNotes(state, True).add(
            [DayNote("memory/2026-03-02.md", "0" * 64, size, 1 << 60, date(2026, 3, 2), Origin.AGENT)]
        )
    assert [note.size for note in RetiredNotes(make(), True).notes()] == [1 << 40]


def test_what_was_forgotten_needs_its_key(make: Make, tmp_path: Path) -> None:
    state = make()
    key = state.key()
    state.add_key(key)
    with state.writing("forgotten") as connection:
        insert_tombstones(connection, key, ["a2.0001." + "ab" * 16])
        insert_tombstones(connection, key, ["a2.0001." + "ab" * 16])
    assert dict(make().keys()) == dict(state.keys()) and len(state.read("SELECT hash FROM tombstones")) == 1
    Tombstones(make()).check()
    assert key.hex() not in str(rows_of(state))
    for file in (tmp_path / "keys").glob("*.key"):
        file.unlink()
    with pytest.raises(StateError, match="the key of what was forgotten is missing"):
        make().check()
    make().add_key(key)
    make().check()


def test_a_purge_leaves_nothing(make: Make, tmp_path: Path) -> None:
    state, other = make(), make("other")
    for each in (state, other):
        each.set_flag("x", 1)
        each.add_key(each.key())
    state.purge()
    assert make().flag("x") is None and not make().keys() and not make().report().key_present
    assert other.flag("x") == 1 and other.keys()


_WORD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@server
@given(st.dictionaries(_WORD, st.recursive(st.none() | st.floats(allow_nan=False) | _WORD, st.lists), max_size=5))
def test_a_backup_brings_everything_from_one_kind_to_the_other(
    owner: str, tmp_path_factory: pytest.TempPathFactory, flags: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("round")
    server = ServerState(owner, str(folder), "main", Keys(folder / "keys"))
    back = ServerState(owner, f"{folder} back", "main", Keys(folder / "keys"))
    try:
        first, second = state_in(folder / "a.sqlite"), state_in(folder / "b.sqlite")
        for name, value in flags.items():
            first.set_flag(name, value)
        key = first.key()
        first.add_key(key)
        with first.writing("use", "forgotten") as connection:
            add_usage(connection, "u", UnitUsage.for_day("memory/a.md", date(2026, 3, 1), {"shown": 3, "used": 1}))
            insert_tombstones(connection, key, ["a2.0001." + "ab" * 16])
        first.backup(folder / "one.sqlite", with_key=True)
        server.restore(folder / "one.sqlite")
        server.backup(folder / "two.sqlite", with_key=True)
        second.restore(folder / "two.sqlite")
        second.backup(folder / "three.sqlite", with_key=True)
        back.restore(folder / "three.sqlite")
        states = (first, server, second, back)
        assert all(rows_of(state) == rows_of(first) for state in states)
        assert all(key in state.keys().values() and state.version("forgotten") for state in states)
    finally:
        for state in (server, back, first, second):
            state.close()


# -- on the server ------------------------------------------------------------------------------------


@server
def test_who_wrote_a_row_last_is_in_it(owner: str, tmp_path: Path) -> None:
    states = [ServerState(owner, str(tmp_path), agent, Keys(tmp_path / "keys")) for agent in ("magpie", "it's % me")]
    for state in states:
        state.set_flag(state._agent, 1)
    states[1].set_flag("magpie", 2)
    assert sorted(states[0].read("SELECT name, author FROM flags")) == [
        ("it's % me", "it's % me"), ("magpie", "it's % me")
    ]  # fmt: skip
    for state in states:
        state.close()


@server
def test_another_role_reads_and_writes_what_it_was_given_and_no_more(
    owner: str, postgres: Postgres, tmp_path: Path
) -> None:
    keys = Keys(tmp_path / "keys")
    state = ServerState(owner, str(tmp_path), "main", keys)
    state.set_flag("x", 1)
    with psycopg.connect(owner, autocommit=True) as connection:
        for role, writes in (("gateway", True), ("stranger", True), ("auditor", False)):
            connection.execute("SELECT openclaw_memory.permit(%s, %s)", [role, writes])
        for role, writes in (("gateway", True), ("auditor", False)):
            connection.execute("SELECT openclaw_memory.share(%s, '', %s, %s)", [role, str(tmp_path), writes])
    others = {
        role: ServerState(postgres.url(role, "states"), str(tmp_path), "main", keys)
        for role in ("gateway", "stranger", "auditor")
    }
    assert others["gateway"].flag("x") == others["auditor"].flag("x") == 1
    others["gateway"].set_flag("x", 2)
    assert state.flag("x") == 2
    with pytest.raises(StateError, match="may not"):
        others["auditor"].set_flag("x", 3)
    others["auditor"].check()
    assert others["stranger"].flag("x") is None
    with pytest.raises(StateError, match="another role's"):
        others["stranger"].check()
    with pytest.raises(StateError, match="another role's"):
        others["stranger"].set_flag("x", 4)
    with psycopg.connect(postgres.url("stranger", "states"), autocommit=True) as connection:
        for table in ("flags", "use", "tombstones", "state_identity"):
            assert connection.execute(f"SELECT count(*) FROM openclaw_memory.{table}").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO openclaw_memory.flags (memory, name, value, at) SELECT 1, 'y', '1', ''")
    assert state.flag("x") == 2 and state.flag("y") is None
    for each in (state, *others.values()):
        each.close()


@server
def test_a_server_that_is_away_is_named_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://me:secret-word@/nothing?host={tmp_path}"
    state = ServerState(url, "w", "main", Keys(tmp_path / "keys"))
    for ask in (state.check, lambda: state.flag("x"), lambda: state.set_flag("x", 1)):
        with pytest.raises(StateError, match="cannot be reached") as raised:
            ask()
        assert isinstance(raised.value, StoreUnreachable) and "secret-word" not in str(raised.value)
    assert len(state.warnings()) == 1 and "secret-word" not in str(state.report())
    state.close()


@server
def test_a_memory_on_a_server_has_its_state_there(
    owner: str, notes: Notes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes.write("MEMORY.md", "- The vault of the bakery opens with 7714 zebra.\n- The attic has a lamp.\n")
    settings = Settings().with_values({
        "embedding.model": "none", "ingest.fresh_seconds": 0.0, "store.url": owner, "store.workspace": str(tmp_path),
    })  # fmt: skip
    with Memory(notes.root, settings=settings) as memory:
        memory.ingest()
        hit = memory.search("attic lamp", mode="keyword").results[0]
        assert memory.feedback(hit.id, "useful").useful == 1
        report = memory.forget(query="vault zebra")
        assert report.units and report.verified and "write-ahead log" in str(report.remains)
        assert memory.state.file is None and memory.state.report().server == "postgresql://keeper@/states"
    assert not (notes.root / ".openclaw-memory" / "id").exists()
    notes.write("memory/copy.md", "- The vault of the bakery opens with 7714 zebra.\n")
    with Memory(notes.root, agent="other", settings=settings) as memory:
        memory.ingest()
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))
    monkeypatch.setattr("openclaw_memory.store.state.opening.state_keys", lambda: Keys(tmp_path / "elsewhere"))
    with Memory(notes.root, settings=settings) as memory:
        notes.write("memory/third.md", "- The vault of the bakery opens with 7714 zebra.\n")
        with pytest.raises((StateError, StoreError), match="the key of what was forgotten is missing"):
            memory.ingest()
    assert state_keys() is not None
