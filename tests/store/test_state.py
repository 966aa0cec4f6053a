"""The state: what was written is there, whatever happens to the machine, the workspace, the file or other processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from commands import run_command
from fakes import Notes, ingested, open_memory, snippets
from indexing import python, without_root
from states import content, noted, state_file, state_in

from openclaw_memory.config.settings import data_dir
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.store.state import State, StateError, database
from openclaw_memory.store.state.opening import state_keys
from openclaw_memory.system.atomic import OWN_FOLDER as FOLDER

SECRET = "The vault of the bakery opens with 7714 zebra"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


def filled(notes: Notes) -> None:
    notes.write("MEMORY.md", f"- {SECRET}.\n- The attic has a lamp.\n")


def shows_zebra(notes: Notes) -> bool:
    with ingested(notes) as memory:
        return any("zebra" in text for text in snippets(memory, "vault zebra bakery"))


# -- the file ---------------------------------------------------------------------------------------


def test_however_many_open_a_new_file_at_once_all_have_it(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    def work(use: Callable[[State], object], file: Path) -> None:
        state = state_in(file)
        together.wait()
        for _ in range(5):
            use(state)

    uses: list[Callable[[State], object]] = [lambda state: state.set_flag("x", 1), *[State.check] * 3]
    with ThreadPoolExecutor(4) as pool:
        for turn in range(40):
            list(pool.map(work, uses, [tmp_path / f"{turn}.sqlite"] * 4))


def test_what_was_written_survives_a_kill(file: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom states import state_in\nstate = state_in(Path(sys.argv[1]))\n"
        "for n in range(10_000):\n    state.set_flag('n', n)\n    print(n, flush=True)\n"
    )
    child = python(code, str(file))
    assert child.stdout is not None
    for _ in range(30):
        said = child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    assert state_in(file).flag("n") >= int(said)


@pytest.mark.parametrize("spoilt", [b"no database at all " * 100, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_named_and_stays(file: Path, spoilt: bytes) -> None:
    file.write_bytes(spoilt)
    state = state_in(file)
    for ask in (state.check, lambda: state.set_flag("x", 1), lambda: state.flag("x")):
        with pytest.raises(StateError, match="put it back from a backup"):
            ask()
    assert len(state.warnings()) == 1
    assert file.read_bytes() == spoilt


def test_a_file_of_another_version_is_refused(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match="a state of version 99"):
        state_in(file).check()


def test_a_file_that_was_put_in_its_place_is_read(file: Path, tmp_path: Path) -> None:
    state, other = state_in(file), state_in(tmp_path / "other.sqlite")
    state.set_flag("x", 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other.set_flag("x", 2)
    other.close()
    state.wipe()
    os.replace(tmp_path / "other.sqlite", file)
    assert state.flag("x") == 2


def test_a_folder_that_cannot_be_written_can_be_read() -> None:
    # pytest's own folders are closed to others, nobody included.
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "state.sqlite"
        state = state_in(file)
        state.set_flag("x", 1)
        state.close()
        file.chmod(0o444)
        file.parent.chmod(0o555)
        with without_root():
            assert state_in(file).flag("x") == 1
            with pytest.raises(StateError, match="make the file and its folder writable"):
                state_in(file).set_flag("x", 2)
        file.parent.chmod(0o755)


# -- whose it is ------------------------------------------------------------------------------------


def test_other_agents_know_it_and_it_moves_with_the_workspace(notes: Notes, tmp_path: Path) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
    with ingested(notes, name="other", agent="ops") as memory:
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))
    moved = Notes(tmp_path / "elsewhere" / "workspace")
    shutil.rmtree(moved.root)
    notes.root.rename(moved.root)
    assert not shows_zebra(moved)
    assert state_file().is_file(), "there is one state"


def test_it_is_known_by_its_path_when_the_identity_was_deleted(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
    shutil.rmtree(notes.root / FOLDER)  # as git clean does
    assert not shows_zebra(notes)


def test_a_copy_on_this_machine_takes_it_along_and_goes_its_own_way(notes: Notes, tmp_path: Path) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
        memory.upkeep.enable(True)
    copy = Notes(tmp_path / "copy" / "workspace")
    shutil.copytree(notes.root, copy.root, dirs_exist_ok=True)
    assert not shows_zebra(copy)
    with open_memory(copy) as memory, open_memory(notes) as original:
        assert not memory.upkeep.enabled, "that was said of the original alone"
        memory.forget(query="attic lamp")
        assert snippets(original, "attic lamp") and not snippets(memory, "attic lamp")
        assert original.state.file != memory.state.file


def test_a_clone_elsewhere_is_empty_until_it_is_restored(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
        memory.state.backup(tmp_path / "backup.sqlite")
        key = memory.state.key()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "machine" / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "machine" / "config"))
    clone = Notes(tmp_path / "clone" / "workspace")
    shutil.copytree(notes.root, clone.root, dirs_exist_ok=True)
    assert shows_zebra(clone)
    with open_memory(clone) as memory:
        memory.state.restore(tmp_path / "backup.sqlite")
        with pytest.raises(WorkspaceError, match="the key of what was forgotten is missing"):
            memory.ingest()
        memory.state.add_key(key)
        memory.ingest()
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))


def test_a_workspace_that_cannot_be_written_goes_by_its_path(notes: Notes) -> None:
    filled(notes)
    (notes.root / FOLDER).write_text("in the way")  # nothing can be put there, by root either
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
    assert state_file().name.startswith("path-")
    assert not shows_zebra(notes)
    (notes.root / FOLDER).unlink()
    with open_memory(notes) as memory:
        memory.forget(query="attic lamp")  # the identity is given as soon as that is possible
    assert not state_file().name.startswith("path-")
    assert not shows_zebra(notes)


def test_who_only_looks_leaves_nothing_in_the_workspace(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        assert snippets(memory, "vault zebra")
        memory.heartbeat()
    assert sorted(path.name for path in notes.root.iterdir()) == ["MEMORY.md"]
    with open_memory(notes) as memory:
        assert noted(memory) >= {"use"}
        memory.feedback(memory.search("attic lamp").results[0].id, "useful")
        assert (notes.root / FOLDER / "id").is_file() and memory.usage.rows()[0].shown
    assert state_file().is_file(), "what went by the path goes by the identity now"


# -- the key ----------------------------------------------------------------------------------------


def test_the_key_lies_elsewhere_for_its_owner_alone(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
        key = memory.state.key()
    file = state_keys().location(state_file().stem)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert not Path(file).is_relative_to(data_dir())
    assert key.hex().encode() not in content(state_file()) and key not in content(state_file())


def test_without_the_key_nothing_is_read(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
    key = Path(state_keys().location(state_file().stem))
    kept = key.read_bytes()
    key.unlink()
    with open_memory(notes) as memory:
        notes.write("memory/copy.md", f"- {SECRET}.\n")
        with pytest.raises(StateError, match=r"the key of what was forgotten is missing.*purge --forgotten"):
            memory.ingest()
        with pytest.raises(StateError, match="the key"):
            memory.get("MEMORY.md")
        assert memory.search("vault zebra", mode="keyword").stale
        assert any("the key of what was forgotten is missing" in remark for remark in memory.remarks())
        key.write_bytes(kept)
        memory.ingest()
        assert memory.remarks() == [] and not any("zebra" in text for text in snippets(memory, "vault zebra"))


# -- the command ------------------------------------------------------------------------------------


def test_a_backup_with_its_key_brings_everything_to_another_machine(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(notes)
    assert "forgot" in run_command(notes, "forget", "--query", "vault zebra", "--yes").stdout
    before = json.loads(run_command(notes, "state", "--json").stdout)
    assert before["tombstones"] and before["keyPresent"] and not before["automatic"]
    run_command(notes, "backup", str(tmp_path / "kept.zip"), "--with-key")
    assert "is there already" in run_command(notes, "backup", str(tmp_path / "kept.zip"), code=1).stderr
    assert stat.S_IMODE((tmp_path / "kept.zip").stat().st_mode) == 0o600
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "machine" / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "machine" / "config"))
    assert json.loads(run_command(notes, "state", "--json").stdout)["exists"] is False
    run_command(notes, "restore", str(tmp_path / "kept.zip"))
    after = json.loads(run_command(notes, "state", "--json").stdout)
    assert {**after, "path": "", "key": "", "bytes": 0} == {**before, "path": "", "key": "", "bytes": 0}
    assert not shows_zebra(notes)


def test_what_was_forgotten_can_be_given_up_and_the_state_deleted(notes: Notes) -> None:
    filled(notes)
    run_command(notes, "forget", "--query", "vault zebra", "--yes")
    Path(state_keys().location(state_file().stem)).unlink()
    assert "(MISSING)" in run_command(notes, "state").stdout
    assert "state purge --forgotten" in run_command(notes, "ingest", code=1).stderr
    assert "give --yes" in run_command(notes, "state", "purge", code=2).stderr
    run_command(notes, "state", "purge", "--forgotten", "--yes")
    assert shows_zebra(notes)
    run_command(notes, "state", "purge", "--yes")
    assert (
        not [file for file in (data_dir() / "state").iterdir() if file.suffix != ".lock"]
        and not (notes.root / FOLDER / "id").exists()
    )


@pytest.mark.parametrize("what", ["empty", "garbage", "another database", "newer"])
def test_what_is_no_backup_replaces_nothing(tmp_path: Path, what: str) -> None:
    state, source = state_in(tmp_path / "state.sqlite"), tmp_path / "backup.sqlite"
    state.set_flag("x", 1)
    source.write_bytes(b"no database at all " * 100 if what == "garbage" else b"")
    if what in ("another database", "newer"):
        with closing(sqlite3.connect(source)) as connection:
            connection.execute("CREATE TABLE mine (a)")
            connection.execute(f"PRAGMA user_version = {database.VERSION if what == 'another database' else 99}")
    with pytest.raises(StateError, match=r"backup\.sqlite"):
        state.restore(source)
    assert state.flag("x") == 1


def test_a_backup_is_one_file_that_can_be_read_where_nothing_may_be_written(tmp_path: Path) -> None:
    state = state_in(tmp_path / "state.sqlite")
    state.set_flag("x", 1)
    with tempfile.TemporaryDirectory() as name:
        kept = Path(name) / "kept.sqlite"
        state.backup(kept)
        assert [file.name for file in kept.parent.iterdir()] == ["kept.sqlite"]
        with pytest.raises(StateError, match="cannot be used"):
            state.backup(Path(name) / "nowhere" / "kept.sqlite")
        state.set_flag("x", 2)
        state.restore(kept)
    assert state.flag("x") == 1


def test_who_was_stopped_while_the_identity_was_given_loses_nothing(notes: Notes) -> None:
    filled(notes)
    (notes.root / FOLDER).write_text("in the way")
    with open_memory(notes) as memory:
        memory.forget(query="vault zebra")
    (notes.root / FOLDER).unlink()
    (notes.root / FOLDER).mkdir()
    (notes.root / FOLDER / "id").write_text(f"{'0' * 32}\n")  # given, and the state not moved yet
    assert not shows_zebra(notes)
