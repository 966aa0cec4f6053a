"""What processes keep for each other beside an index: it never changes an answer, and is thrown away when in doubt."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fakes import Notes, open_memory
from forgetting import traces
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from indexing import python
from properties import examples
from test_resident import Months, all_answers

from benchmarks.hashing import HashingEmbedder
from openclaw_memory.cli.main import cli
from openclaw_memory.memory import Memory
from openclaw_memory.store.api import KEPT
from openclaw_memory.store.duckdb import lease
from openclaw_memory.system import mapped

TEXTS = {
    "MEMORY.md": "# Household\n\n- Die Heizung läuft mit 42 Grad.\n- 王さん keeps the spare key.\n",
    "memory/2026-01-05.md": "# Garden\n\n- Zorblatt mends the fence.\n- The editor is Vim.\n",
    "memory/2026-02-07.md": "# Visit\n\n- Zorblatt has a boat at the harbour.\n- The editor is now Helix.\n",
}
STATUS = """
import sys
from openclaw_memory.cli.main import cli
try:
    cli(sys.argv[1:])
finally:
    print(*{"_duckdb", "numpy"} & set(sys.modules), file=sys.stderr)
"""
QUESTION = "who mends the fence?"


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    notes = Notes(tmp_path / "notes")
    for name, text in TEXTS.items():
        notes.write(name, text)
    with process(notes) as memory:
        memory.ingest()
    settle(notes)
    return notes


def process(notes: Notes) -> Memory:
    return open_memory(notes, HashingEmbedder(64))


def database(notes: Notes) -> Path:
    return notes.root.parent / "index.duckdb"


def settle(notes: Notes) -> None:
    """Let the last write of the index be so long ago that another one shows."""
    for file in (database(notes), Path(f"{database(notes)}.wal")):
        if file.exists():
            os.utime(file, (1_700_000_000, 1_700_000_000))


def files(notes: Notes) -> list[Path]:
    return [Path(f"{database(notes)}{suffix}") for suffix in KEPT]


def answers(notes: Notes) -> list[Any]:
    """What a new process answers, which keeps its state when it ends."""
    with process(notes) as memory:
        return all_answers(memory, QUESTION)


def is_restored(notes: Notes) -> bool:
    with process(notes) as memory:
        return memory._questions.index().has_state()


def alone(notes: Notes) -> list[Any]:
    """What a new process answers without what others have kept."""
    for file in files(notes):
        file.unlink(missing_ok=True)
    return answers(notes)


def test_a_second_process_answers_the_same_and_opens_no_database(notes: Notes) -> None:
    first = answers(notes)
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files(notes))
    times = [file.stat().st_mtime_ns for file in files(notes)]
    assert is_restored(notes) and answers(notes) == first
    assert [file.stat().st_mtime_ns for file in files(notes)] == times  # nothing was new
    assert needs_no_database(notes)


def test_a_server_that_begins_opens_no_database_either(notes: Notes) -> None:
    with open_memory(notes) as memory:
        memory.load()
    assert needs_no_database(notes, "memory.load(); memory.freshen(); memory.warm(); memory.ingest(); memory.warm()")


def needs_no_database(notes: Notes, first: str = "") -> bool:
    """Return true if another process answers without DuckDB, and does without it what it does ``first``."""
    code = f"""
import sys
from pathlib import Path
from fakes import open_memory
class Notes: root = Path(sys.argv[1])
with open_memory(Notes) as memory:
    {first or "pass"}
    print(memory.search("who mends the fence?").results[0].snippet, "_duckdb" in sys.modules)
"""
    with python(code, str(notes.root)) as child:
        line = child.communicate()[0]
    assert "Zorblatt mends the fence." in line
    return line.endswith("False\n")


def test_status_of_another_process_needs_neither_database_nor_numpy(notes: Notes) -> None:
    def status() -> tuple[dict[str, Any], str]:
        arguments = ["--workspace", str(notes.root), "--db", str(database(notes)), "--set", "embedding.model=none"]
        command = [sys.executable, "-c", STATUS, *arguments, "--json", "status"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout), done.stderr.strip()

    first, _ = status()  # which keeps what it has read
    assert first["grains"][0]["files"] == 3 and status() == (first, "")
    files(notes)[-1].write_bytes(b"torn")
    again, loaded = status()
    assert again == first and "numpy" in loaded


def test_numbers_that_are_kept_hold_until_a_fact_ends(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(notes)
    with open_memory(notes) as memory:
        grains = memory.status().grains
        assert "_questions" not in memory._parts
        monkeypatch.setattr(memory, "today", lambda: date.max)
        assert memory.status().grains == grains and "_questions" in memory._parts


def test_an_ingest_of_a_new_index_reads_it_for_the_first_question(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_COARSE", 0)  # the time that an index of some thousand units takes to be read
    for file in notes.root.parent.glob("index.duckdb*"):
        file.unlink()

    def ingest() -> None:
        arguments = ["--workspace", str(notes.root), "--db", str(database(notes)), "--set", "embedding.model=none"]
        assert CliRunner().invoke(cli, [*arguments, "ingest"]).exit_code == 0

    ingest()
    assert is_restored(notes)
    read = files(notes)[0].stat().st_mtime_ns
    notes.write("memory/2026-02-08.md", "# Shed\n\n- The shed is green.\n")
    ingest()
    assert files(notes)[0].stat().st_mtime_ns == read  # the next question reads the little that is new


def test_whatever_a_process_was_asked_what_it_keeps_is_enough_for_a_question(notes: Notes) -> None:
    with process(notes) as memory:
        assert memory.status().chunks
    assert is_restored(notes) and needs_no_database(notes)


def test_what_was_written_since_is_read_from_the_index(notes: Notes) -> None:
    answers(notes)
    notes.write("memory/2026-03-01.md", "# Fence\n\n- Now Quendrix mends the fence, not Zorblatt.\n- 42 Grad.\n")
    notes.remove("memory/2026-01-05.md")
    with process(notes) as memory:
        memory.ingest()
    settle(notes)
    restored = answers(notes)
    assert "Quendrix" in restored[0][0].snippet
    assert is_restored(notes) and answers(notes) == restored == alone(notes)


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(at: float) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        place = int(at * (len(data) - 1))
        return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]

    return flip


@pytest.mark.parametrize(
    "damage",
    [truncated, *map(flipped, (0, 1e-3, 0.7, 1)), lambda data: b""],
)
def test_a_damaged_file_is_as_none(notes: Notes, damage: Callable[[bytes], bytes]) -> None:
    first = answers(notes)
    for file in files(notes):
        file.write_bytes(damage(file.read_bytes()))
    assert not is_restored(notes)
    assert answers(notes) == first
    assert is_restored(notes)


def test_what_another_build_or_machine_has_kept_is_as_none(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answers(notes)
    for owner, name, value in (
        (mapped, "build_of_package", lambda: "another"),
        (sys, "byteorder", "middle"),
        (sys.implementation, "cache_tag", "another"),
    ):
        assert is_restored(notes)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert not is_restored(notes)
    monkeypatch.setattr(mapped, "build_of_package", lambda: "another")
    assert answers(notes) == first


def test_an_index_that_was_rebuilt_or_put_back_is_read_anew(notes: Notes) -> None:
    shutil.copy(database(notes), older := notes.root.parent / "older")
    notes.write("memory/2026-03-01.md", "# Fence\n\n- Quendrix mends the fence.\n")
    with process(notes) as memory:
        memory.ingest()
    settle(notes)
    newer = answers(notes)
    os.replace(older, database(notes))  # of an earlier generation
    notes.remove("memory/2026-03-01.md")
    assert answers(notes) != newer and "Quendrix" not in str(answers(notes))
    database(notes).unlink()  # another instance
    notes.write("memory/2026-03-02.md", "# Fence\n\n- Quendrix mends the fence.\n")
    assert "Quendrix" in str(answers(notes))


def test_nothing_else_than_arrays_and_our_own_values_is_unpickled(notes: Notes, tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "made"),)

    assert mapped.write(tmp_path / "a", "build", Harmful())
    assert mapped.read(tmp_path / "a", "build", {"store"}) is None and not (tmp_path / "made").exists()
    assert mapped.write(tmp_path / "a", "build", Memory)
    assert mapped.read(tmp_path / "a", "build", {"store"}) is None


def test_a_folder_that_takes_no_file_means_that_nothing_is_kept(notes: Notes) -> None:
    for file in files(notes):
        Path(f"{file}{mapped.UNFINISHED}").mkdir()
    assert "Zorblatt" in str(answers(notes)) and not is_restored(notes)


def test_a_full_disk_means_that_nothing_is_kept(notes: Notes) -> None:
    code = """
import resource, sys
from pathlib import Path
from fakes import open_memory
class Notes: root = Path(sys.argv[1])
with open_memory(Notes) as memory:
    print(memory.search("who mends the fence?").results[0].snippet)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, resource.RLIM_INFINITY))
"""
    with python(code, str(notes.root)) as child:
        assert "Zorblatt" in child.communicate()[0]
    assert child.returncode == 0 and not any(file.exists() for file in files(notes))
    assert not [file for file in notes.root.parent.iterdir() if mapped.UNFINISHED in file.name]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_what_is_forgotten_is_in_no_file_and_mapped_by_nobody(notes: Notes) -> None:
    answers(notes)
    assert traces(database(notes), "zorblatt mends") and files(notes)[0].name in traces(database(notes), "zorblatt")
    Path(f"{files(notes)[0]}{mapped.UNFINISHED}").write_bytes(files(notes)[0].read_bytes())  # of a killed process
    with process(notes) as other:
        assert other.search("fence").results
        with process(notes) as memory:
            assert memory.forget(query="Zorblatt").verified
        assert traces(database(notes), "zorblatt") == []
        assert "Zorblatt" not in str(all_answers(other, QUESTION))
        if (maps := Path("/proc/self/maps")).exists():
            assert str(files(notes)[0]) not in maps.read_text()
    assert traces(database(notes), "zorblatt") == []


def test_a_state_from_before_is_not_kept(notes: Notes) -> None:
    with process(notes) as older:
        older.search("fence")
        with process(notes) as memory:
            memory.forget(query="Zorblatt")
        settle(notes)
        older._questions.keep()
    assert traces(database(notes), "zorblatt") == []


def test_processes_that_keep_at_the_same_time_leave_one_whole_file(notes: Notes) -> None:
    code = """
import sys
from pathlib import Path
from fakes import open_memory
class Notes: root = Path(sys.argv[1])
with open_memory(Notes) as memory:
    print(memory.search("who mends the fence?").results[0].snippet)
"""
    children = [python(code, str(notes.root)) for _ in range(2)]
    assert all("Zorblatt mends" in child.communicate()[0] for child in children)
    restored = answers(notes)  # kept now, if each of them had to wait for another one
    assert is_restored(notes) and restored == alone(notes)


def test_a_process_of_any_age_answers_as_one_that_begins_with_what_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_COARSE", -1)  # however short ago
    monkeypatch.setattr(lease, "_SHORT_LOG", 1e9)  # what was written last is in the log alone
    run_state_machine_as_test(Months, settings=settings(examples(12), stateful_step_count=14))
