"""Everything that can go wrong on the command line: one line that names cause and next step, nothing lost."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from fakes import CountingEmbedder, Notes, open_memory
from serving import heed_signals
from tables import table

from openclaw_memory import Memory
from openclaw_memory.cli import context
from openclaw_memory.cli.main import cli
from openclaw_memory.errors import StoreError, next_step_for
from openclaw_memory.model import Check
from openclaw_memory.system.serialize import to_json

TEXT = "# Lamps\n\n- a green lamp by the door\n- a red lamp in the hall\n"

#: Runs the command line after taking away what makes root special, and with limits where asked.
LAUNCH = """
import ctypes, os, resource, runpy, sys
libc = ctypes.CDLL(None, use_errno=True)
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    getattr(libc, "prctl", lambda *_: 0)(24, capability, 0, 0, 0)
limit = int(os.environ.pop("TEST_FILE_LIMIT", "0"))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.executable, [sys.executable, "-m", "openclaw_memory", *sys.argv[1:]])
"""


@pytest.fixture
def notes(notes: Notes) -> Notes:
    notes.write("MEMORY.md", TEXT)
    return notes


def command(notes: Notes, *arguments: str, model: str = "none") -> list[str]:
    return [sys.executable, "-c", LAUNCH, "--set", f"embedding.model={model}", "-w", str(notes.root), *arguments]


def run(notes: Notes, *arguments: str, code: int, model: str = "none", apart: bool = False, **environment: str) -> Any:
    """Run a command; in a process of its own where permissions, limits or the environment matter."""
    done: Any
    if apart or environment:
        done = subprocess.run(
            command(notes, *arguments, model=model),
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            timeout=60,
        )
        assert "Traceback" not in done.stderr
        returned = done.returncode
    else:
        before = ["--set", f"embedding.model={model}", "-w", str(notes.root)]
        done = CliRunner().invoke(cli, [*before, *arguments], prog_name="openclaw-memory")
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        returned = done.exit_code
    assert returned == code, (done.stdout, done.stderr)
    return done


def failure(notes: Notes, *arguments: str, code: int = 1, **options: Any) -> str:
    """The one line on stderr of a command that fails; stdout stays empty, or has the same as JSON."""
    done = run(notes, *arguments, code=code, **options)
    if "--json" in arguments:
        document = json.loads(done.stdout)
        said = document["error"]["message"]
        assert document == {"error": {"message": said, "next": document["error"]["next"]}, "warning": said}
        assert document["error"]["next"] and done.stderr.startswith(f"error: {said}")
    else:
        assert done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return str(done.stderr)


# -- wrong usage: 2 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "words"), table("cli.tsv", "wrong usage"))
def test_wrong_usage_is_said_on_one_line(notes: Notes, line: str, words: str) -> None:
    arguments = shlex.split(line)
    message = failure(notes, *arguments, code=2)
    assert words in message and "--help" in message
    assert failure(notes, "--json", *arguments, code=2) == message
    assert arguments[-1:] == ["x"] or failure(notes, *arguments, "--json", code=2) == message


def test_without_a_workspace_the_options_are_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_memory", "ingest"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: no workspace") and "--workspace DIR" in done.stderr


def test_no_command_shows_the_help() -> None:
    done = subprocess.run([sys.executable, "-m", "openclaw_memory"], capture_output=True, text=True)
    assert done.returncode == 2 and "Read and ask:" in done.stdout + done.stderr


# -- settings: 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["search", "x"], ["status"], ["sql", "SELECT 1"], ["model", "list"], ["state"]])
def test_a_failure_is_json_where_json_is_read(notes: Notes, tmp_path: Path, command: list[str]) -> None:
    message = failure(notes, "--config", str(tmp_path / "no.yaml"), *command)
    assert "no such configuration file" in message
    assert failure(notes, "--config", str(tmp_path / "no.yaml"), *command, "--json") == message


def test_a_setting_that_is_none_is_named_and_changes_nothing(notes: Notes) -> None:
    done = run(notes, "--set", "search.max_result=3", "status", code=0)
    said = "--set: 'search.max_result' is no setting and changes nothing; did you mean 'search.max_results'?"
    assert done.stderr.count(said) == 1


def test_what_stands_behind_two_dashes_is_no_option(notes: Notes) -> None:
    done = run(notes, "search", "x", "-n", "0", "--", "--json", code=2)
    assert done.stdout == ""


# -- the files --------------------------------------------------------------------------------------


def test_a_note_that_may_not_be_read_is_named_and_breaks_nothing(notes: Notes) -> None:
    notes.write("memory/b.md", "- a note\n").chmod(0)
    run(notes, "ingest", code=0, apart=True)
    shown = run(notes, "doctor", code=0, apart=True).stdout
    assert "! file: memory/b.md is skipped: permission denied" in shown and "make it readable" in shown


def test_an_empty_workspace_is_no_failure_and_says_what_to_do(tmp_path: Path) -> None:
    empty = Notes(tmp_path / "empty")
    done = run(empty, "ingest", code=0)
    assert done.stdout.startswith("0 files, 0 units") and "write a MEMORY.md" in done.stderr
    done = run(empty, "search", "lamp", "--json", code=0)
    assert "write a MEMORY.md" in json.loads(done.stdout)["warning"] and done.stderr == ""
    assert "write a MEMORY.md" in run(empty, "doctor", code=1).stdout


def test_files_that_are_no_notes_are_reported_and_the_others_ingested(notes: Notes) -> None:
    with notes.write("memory/huge.md", "").open("wb") as file:
        file.truncate(100_000_000)
    notes.write("memory/picture.md", b"\x89PNG\r\n\x1a\n\0\0")
    notes.write("memory/latin.md", b"caf\xe9\n")
    done = run(notes, "ingest", code=0)
    assert done.stdout.startswith("3 files, 4 units: 4 added")
    for words in ("memory/huge.md was skipped: 100 MB is more than ingest.max_file_mb allows",
                  "memory/picture.md was skipped: binary", "memory/latin.md: not valid UTF-8 (line 1, byte 0xe9), read as"):  # fmt: skip
        assert f"note: {words}" in done.stderr
    skipped = json.loads(run(notes, "ingest", "--json", code=0).stdout)["skipped"]
    assert [row["path"] for row in skipped] == ["memory/huge.md", "memory/picture.md"]


def test_a_note_without_permission_keeps_its_place_in_the_index(notes: Notes) -> None:
    run(notes, "ingest", code=0)
    notes.write("MEMORY.md", TEXT + "- a blue lamp\n").chmod(0)
    done = run(notes, "ingest", code=0, apart=True)
    assert "MEMORY.md was skipped: permission denied" in done.stderr
    assert "green lamp" in run(notes, "search", "green", code=0, apart=True).stdout
    (notes.root / "MEMORY.md").chmod(0o644)
    assert "1 added" in run(notes, "ingest", code=0).stdout


def test_get_of_what_is_not_there_fails_in_words_and_in_json(notes: Notes) -> None:
    assert "not among the memory files" in failure(notes, "get", "nope.md")
    done = run(notes, "get", "nope.md", "--json", code=1)
    document = json.loads(done.stdout)
    assert {"status": "not_found", "path": "nope.md", "text": ""}.items() <= document.items()
    assert "not among the memory files" in document["warning"] == document["error"]["message"]
    assert document["error"]["next"] == "'openclaw-memory search' names paths as they are"
    outside = json.loads(run(notes, "get", "MEMORY.md", "--from", "9", "--json", code=1).stdout)
    assert outside["error"] in outside["warning"] and outside["status"] == "error"
    assert done.stderr.count("\n") == 1
    assert "there is no line 9" in failure(notes, "get", "MEMORY.md", "--from", "9")
    assert "not inside the workspace" in failure(notes, "ingest", "/etc/passwd")
    assert "no memory file is there" in failure(notes, "ingest", "nope.md")


# -- the index --------------------------------------------------------------------------------------


def test_a_read_only_workspace_is_named(notes: Notes) -> None:
    run(notes, "capture", "We decided to paint the lamp by the door blue.", code=0)  # makes the folder of locks
    places = [notes.root, *notes.root.rglob("*")]
    for place in places:
        place.chmod(place.stat().st_mode & 0o555)
    try:
        done = run(notes, "capture", "We decided to paint the lamp in the hall green.", code=1, apart=True)
    finally:
        for place in places:
            place.chmod(place.stat().st_mode | 0o200)
    assert "cannot be written (Permission denied); make the file and its folder writable" in done.stderr


def test_a_read_only_folder_for_the_index_is_named(notes: Notes, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    for db in (folder / "index.duckdb", folder / "below" / "index.duckdb"):
        message = failure(notes, "--db", str(db), "ingest", apart=True)
        assert str(folder) in message and "permission" in message.lower() and "--db" in message
    assert run(notes, "get", "MEMORY.md", code=0).stdout == TEXT  # needs no index


def test_an_index_in_a_file_or_a_folder_of_that_name_is_refused(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert str(tmp_path / "file") in failure(notes, "--db", str(tmp_path / "file" / "index.duckdb"), "ingest")
    (tmp_path / "folder").mkdir()
    assert str(tmp_path / "folder") in failure(notes, "--db", str(tmp_path / "folder"), "ingest")


def test_a_full_disk_is_said_and_what_was_written_before_stays(notes: Notes, tmp_path: Path) -> None:
    db = tmp_path / "index.duckdb"
    run(notes, "--db", str(db), "ingest", code=0)
    for n in range(8):
        notes.write(f"memory/n{n}.md", "".join(f"- word{n}x{i} and word{n}y{i} in a line\n" for i in range(200)))
    message = failure(notes, "--db", str(db), "ingest", TEST_FILE_LIMIT="150000")
    assert "disk is full" in message and "free some space" in message
    assert "green lamp" in run(notes, "--db", str(db), "search", "green", code=0).stdout
    assert "0 deleted" in run(notes, "--db", str(db), "ingest", code=0).stdout
    assert run(notes, "--db", str(db), "search", "word7x199", code=0).stdout


@pytest.mark.parametrize("how", ["garbage", "overwritten"])
def test_a_damaged_index_is_moved_aside_and_built_anew(notes: Notes, tmp_path: Path, how: str) -> None:
    db = tmp_path / "index.duckdb"
    run(notes, "--db", str(db), "ingest", code=0)
    data = db.read_bytes()
    db.write_bytes(
        {
            "garbage": b"this is no database" * 1000,
            "overwritten": data[:8192] + b"\xff" * 200_000 + data[208_192:],
        }[how]
    )
    done = subprocess.run(command(notes, "--db", str(db), "ingest"), capture_output=True, text=True)
    if done.returncode:  # damage that is only met while reading is moved aside for the next call
        assert done.stderr.count("\n") == 1 and "openclaw-memory ingest" in done.stderr
        done = subprocess.run(command(notes, "--db", str(db), "ingest"), capture_output=True, text=True)
    assert done.returncode == 0 and "3 units" in done.stdout
    assert "green lamp" in run(notes, "--db", str(db), "search", "green", code=0).stdout
    if "3 added" in done.stdout:  # what was damaged is kept for whoever wants to look at it
        assert list(tmp_path.glob("index.duckdb.damaged*"))


@pytest.mark.parametrize(
    ("what", "action"),
    [
        *((what, "ingest") for what in ("accounts", "MEMORY.md", "people.db", "sales.duckdb")),
        *(("accounts", action) for action in ("search lamp", "status", "sql", "doctor")),
    ],
)
def test_what_is_no_index_of_ours_is_neither_moved_nor_written(
    notes: Notes, tmp_path: Path, what: str, action: str
) -> None:
    db = notes.root / what if what == "MEMORY.md" else tmp_path / what
    if what == "people.db":
        with sqlite3.connect(db) as people:
            people.execute("CREATE TABLE people (name TEXT)")
    elif what == "sales.duckdb":
        with duckdb.connect(str(db)) as sales:
            sales.execute("CREATE TABLE sales (amount INTEGER)")
    elif what != "MEMORY.md":
        db.write_bytes(b"root:x:0:0\n" * 9)
    db.chmod(0o644)
    before, beside = db.read_bytes(), sorted(path.name for path in db.parent.iterdir())
    done = run(notes, "--db", str(db), *action.split(), *(["SELECT 1"] if action == "sql" else []), code=1)
    assert "choose another file with --db" in done.stderr + done.stdout
    assert db.read_bytes() == before and db.stat().st_mode & 0o777 == 0o644
    if what != "sales.duckdb":
        assert sorted(path.name for path in db.parent.iterdir()) == beside


def test_a_held_index_names_who_holds_it(notes: Notes, tmp_path: Path) -> None:
    db = tmp_path / "index.duckdb"
    hold = (
        "import sys, time\nfrom openclaw_memory import Memory, Settings\n"
        f"with Memory({str(notes.root)!r}, db={str(db)!r}, settings=Settings().with_values({{'embedding.model': 'none'}})) as m:\n"
        "    with m.store.session():\n        print('held', flush=True)\n        sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        message = failure(notes, "--db", str(db), "--set", "store.lock_timeout=0.2", "ingest")
        assert f"PID {holder.pid}" in message
        holder.communicate("\n")
    assert "3 added" in run(notes, "--db", str(db), "ingest", code=0).stdout


# -- the model --------------------------------------------------------------------------------------


def test_no_network_and_no_model_is_no_failure(notes: Notes) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull,
               "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": ""}  # fmt: skip
    done = run(notes, "ingest", code=0, model="all-minilm-l6-v2", **nowhere)
    assert done.stdout.startswith("1 file, 3 units: 3 added") and done.stderr.count("note: ") == 1
    assert "all-minilm-l6-v2" in done.stderr
    done = run(notes, "ingest", "--offline", "--json", code=0, model="all-minilm-l6-v2")
    assert "switched off" in json.loads(done.stdout)["warning"] and done.stderr == ""
    done = run(notes, "search", "green", code=0, model="all-minilm-l6-v2")
    assert "green lamp" in done.stdout and "model pull all-minilm-l6-v2" in done.stderr


def test_a_file_that_is_no_model_is_named(notes: Notes, tmp_path: Path, tiny_gguf: Path) -> None:
    page, cut = tmp_path / "page.gguf", tmp_path / "cut.gguf"
    page.write_text("<html>")
    cut.write_bytes(tiny_gguf.read_bytes()[:-5000])
    for file in (page, cut):
        for arguments in (["ingest"], ["search", "green"]) if file == cut else (["status"],):
            done = run(notes, *arguments, code=0, model=str(file))
            assert done.stderr.count("\n") == 1 and str(file) in done.stderr, done.stderr
        assert str(file) in run(notes, "doctor", code=1, model=str(file)).stdout


def test_another_models_vectors_are_outdated_and_replaced(notes: Notes, tiny_gguf: Path) -> None:
    with open_memory(notes, CountingEmbedder(), db=None) as memory:
        memory.ingest()
    status = json.loads(run(notes, "status", "--json", code=0, model=str(tiny_gguf)).stdout)
    assert status["vectors"]["outdated"] == 3
    assert "green lamp" in run(notes, "search", "green", code=0, model=str(tiny_gguf)).stdout
    assert json.loads(run(notes, "ingest", "--json", code=0, model=str(tiny_gguf)).stdout)["pending"] == 0


# -- signals and pipes ------------------------------------------------------------------------------


def test_an_interrupt_keeps_what_was_written(notes: Notes, tiny_gguf: Path, tmp_path: Path) -> None:
    for n in range(20):
        notes.write(f"memory/n{n}.md", "".join(f"- line {i} of note {n} about nothing at all\n" for i in range(100)))
    db = tmp_path / "index.duckdb"
    with subprocess.Popen(
        [sys.executable, "-m", "openclaw_memory", "-w", str(notes.root), "--db", str(db), "--set", f"embedding.model={tiny_gguf}", "ingest"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals,
    ) as process:  # fmt: skip
        while not db.exists():  # it has begun to write
            time.sleep(0.01)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and out == ""
    assert err == "error: interrupted: what was written is kept; run it again to go on\n"
    before = json.loads(run(notes, "--db", str(db), "status", "--json", code=0).stdout)["chunks"]
    report = json.loads(run(notes, "--db", str(db), "ingest", "--json", code=0, model=str(tiny_gguf)).stdout)
    assert (report["chunks"], report["added"], report["deleted"]) == (2_003, 2_003 - before, 0)


def test_an_interrupt_ends_a_watch_quietly(notes: Notes) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "openclaw_memory", "-w", str(notes.root), "--set", "embedding.model=none", "--json", "ingest", "--watch"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["added"] == 3
        notes.write("memory/a.md", "- a chair\n")
        assert json.loads(process.stdout.readline())["added"] == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("arguments", [["search", "lamp", "--json"], ["ingest"]])
def test_a_closed_pipe_is_no_traceback(notes: Notes, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(command(notes, *arguments), stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert "Traceback" not in process.stderr and "Exception ignored" not in process.stderr
    assert process.returncode in (0, 1)


def test_a_defect_is_one_line_unless_the_trace_is_asked_for(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(Memory, "ingest", fail)
    arguments = ["--set", "embedding.model=none", "-w", str(notes.root), "ingest"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1
    assert (
        result.stderr
        == "error: a defect of openclaw-memory (ZeroDivisionError: oh no); run it with -v and report what it prints\n"
    )
    assert isinstance(CliRunner().invoke(cli, ["-v", *arguments]).exception, ZeroDivisionError)


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_long_ingest_says_how_far_it_is_without_a_terminal(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def said() -> str:
        command = ["-w", str(notes.root), "--set", "embedding.model=none", "ingest", *arguments]
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 0
        return done.stderr

    assert "reading" not in said()
    notes.write("memory/a.md", TEXT)
    monkeypatch.setattr(context, "_EVERY", 0.0)
    assert said().startswith("reading files: ") != bool(arguments)


@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)])
def test_a_closed_stream_is_no_defect_and_nothing_is_said_into_the_index(
    notes: Notes, tmp_path: Path, closed: tuple[int, ...]
) -> None:
    db = tmp_path / "index.duckdb"
    said = tmp_path / "said"
    with said.open("w") as out:  # a first search reads the notes, writes the index, logs that and prints hits
        done = subprocess.run(
            command(notes, "--db", str(db), "-v", "search", "lamp"), stdout=out, stderr=out, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: [os.close(number) for number in closed], check=False,
        )  # fmt: skip
        assert done.returncode == 0, said.read_text()
    assert "defect" not in said.read_text()
    with duckdb.connect(str(db), read_only=True) as index:
        assert index.execute("SELECT count(*) FROM documents").fetchone() == (1,)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_disk_behind_stdout_is_said(notes: Notes, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as out:
        done = subprocess.run(
            command(notes, "--db", str(tmp_path / "index.duckdb"), "search", "lamp"),
            stdout=out, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1 and "free some space" in done.stderr and "permissions" not in done.stderr


def test_where_no_room_is_left_the_step_is_to_make_some(tmp_path: Path) -> None:
    full, denied = OSError(errno.ENOSPC, "No space left on device"), PermissionError(errno.EACCES, "Permission denied")
    assert "free some space" in next_step_for(full, "make it writable")
    assert next_step_for(denied, "make it writable") == "make it writable"
    assert "free some space" in next_step_for(sqlite3.OperationalError("database or disk is full"), "make it writable")


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        (["forget", "--yes"], "name one thing to forget"),
        (["forget", "--query", "a", "--path", "b"], "name one thing to forget"),
        (["forget", "--since", "2026-03-01", "--until", "2026-02-01", "--yes"], "swap them"),
        (["sql", "SELECT 1; SELECT 2"], "give one"),
        (["sql", "SELECT"], "mend it"),
        (["sql", "FROM nothing"], "mend it"),
        (["sql", "FROM read_csv('/etc/hosts')"], "SHOW TABLES"),
    ],
)
def test_the_next_step_in_json_is_one(notes: Notes, arguments: list[str], step: str) -> None:
    done = run(notes, "--json", *arguments, code=1 if arguments[0] == "sql" else 2)
    assert step in json.loads(done.stdout)["error"]["next"]


def test_commands_are_told_as_they_are_called_here(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["-w", str(notes.root), "--db", str(tmp_path / "i.duckdb"), "--set", "embedding.model=none"]
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp, see 'openclaw-memory search'\n")
    for command in ("openclaw-memory", "openclaw memory"):
        monkeypatch.setenv("OPENCLAW_MEMORY_COMMAND", command)
        missing = CliRunner().invoke(cli, [*arguments, "open", "3"]).stderr
        assert f"run: {command} search" in missing
        assert (
            f"see {command} search --help"
            in CliRunner().invoke(cli, [*arguments, "search"], prog_name="openclaw-memory").stderr
        )
        found = CliRunner().invoke(cli, [*arguments, "search", "lamp", "--json"])
        assert "'openclaw-memory search'" in json.loads(found.stdout)["results"][0]["snippet"], "notes stay as they are"
        assert not found.stderr
    check = Check("vectors", False, "none; see 'openclaw-memory model list'", "run: openclaw-memory ingest")
    assert (
        to_json(check)["fix"] == "run: openclaw memory ingest" and "'openclaw memory model" in to_json(check)["detail"]
    )
    assert str(StoreError("i.duckdb: openclaw-memory of another version uses it")).endswith(
        "openclaw-memory of another version uses it"
    )
