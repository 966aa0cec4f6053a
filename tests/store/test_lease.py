"""One owner of the file at a time, with real processes and threads."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from indexing import drop, open_store, put, python, texts_of, without_root

from benchmarks import corpus
from openclaw_memory.errors import LeaseTimeout, StoreError
from openclaw_memory.store.api import TextsChanged

HOLD = """
import sys, time
from pathlib import Path
from indexing import open_store
store = open_store(Path(sys.argv[1]), idle=float(sys.argv[2]))
with store.session():
    store.state()
    print("held", flush=True)
    if sys.argv[3] == "session":
        sys.stdin.readline()
print("let go", flush=True)
sys.stdin.readline()
store.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "i.duckdb"


@pytest.fixture
def children() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts children and ends them with the test, however it ends."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: Any) -> subprocess.Popen[str]:
        started.append(python(code, *map(str, arguments)))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.communicate()


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def tell(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def closers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lease-closer"]


# -- processes ---------------------------------------------------------------------------------------------

EVERYBODY = """
import json, sys
from openclaw_memory.memory import Memory
from openclaw_memory.config.settings import Settings
from benchmarks.hashing import HashingEmbedder
workspace, db, me = sys.argv[1:]
settings = Settings.load(overrides={"ingest.embed": "eager", "search.max_results": 5})
with Memory(workspace, settings=settings, db=db, embedder=HashingEmbedder(48)) as memory:
    report = memory.ingest()
    print("ready", flush=True)
    sys.stdin.readline()
    found = []
    for query in ("who met about the invoice", "10.0.0.17", "deploy pipeline", "the fox"):
        hits = memory.search(query).results
        found.append([(h.path, h.start_line, h.end_line, round(h.score, 3)) for h in hits])
    status = memory.status()
    print(json.dumps({"added": report.added, "chunks": status.chunks, "vectors": status.vectors, "found": found}))
"""


def test_processes_at_once_all_succeed_and_agree(
    tmp_path: Path, path: Path, children: Callable[..., subprocess.Popen[str]]
) -> None:
    workspace = tmp_path / "workspace"
    corpus.write_workspace(workspace, 50)
    everybody = [children(EVERYBODY, workspace, path, n) for n in range(2)]
    for child in everybody:
        assert line(child) == "ready", child.communicate()[1]
    for child in everybody:
        tell(child)
    answers = []
    for child in everybody:
        out, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
        answers.append(json.loads(out))
    first = answers[0]
    assert first["vectors"]["ready"] == first["chunks"] > 40
    assert first["vectors"]["pending"] == 0
    for answer in answers:
        assert answer["chunks"] == first["chunks"] and answer["vectors"] == first["vectors"]
        assert answer["found"] == first["found"]
    # Every unit was added once, by whichever process.
    assert sum(answer["added"] for answer in answers) == first["chunks"]
    store = open_store(path)
    assert len(store.documents().by_path) == len({info.path for info in store.document_infos()})
    rows = store.unit_rows(None)
    assert len(set(rows.unit_id.tolist())) == len(rows.unit_id) == first["chunks"]


def test_the_timeout_names_the_holder(path: Path, children: Callable[..., subprocess.Popen[str]]) -> None:
    holder = children(HOLD, path, 5, "session")
    assert line(holder) == "held"
    store = open_store(path, lock_timeout=0.3)
    with pytest.raises(LeaseTimeout, match=rf"in use by PID {holder.pid} .*0\.3 s.*try again"):
        store.state()
    with pytest.raises(LeaseTimeout, match=rf"PID {holder.pid} .*0\.1 s"), store.session(timeout=0.1):
        pass
    assert store._db.lease._depth == 0 and not store._db.lease._owner.is_locked
    tell(holder)
    assert line(holder) == "let go"
    store.state()


@pytest.mark.parametrize("ends", ["a session", "the process"])
def test_a_holder_makes_others_wait_until_it_is_done_or_killed(
    path: Path, children: Callable[..., subprocess.Popen[str]], ends: str
) -> None:
    holder = children(HOLD, path, 60, "session")
    assert line(holder) == "held"
    store = open_store(path)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.state)
        time.sleep(0.3)
        assert not waiting.done()
        if ends == "a session":
            # It keeps the file for a minute when nobody wants it, but somebody does.
            tell(holder)
        else:
            holder.send_signal(signal.SIGKILL)
        waiting.result(timeout=10)
    put(store, {"a.md": [["one"]]})


def test_an_idle_holder_lets_go_at_once_when_somebody_comes(
    path: Path, children: Callable[..., subprocess.Popen[str]]
) -> None:
    holder = children(HOLD, path, 60, "idle")
    assert line(holder) == "held" and line(holder) == "let go"
    store = open_store(path, lock_timeout=10)
    store.state()


def test_the_file_is_let_go_when_idle(path: Path) -> None:
    store = open_store(path, idle=0.05)
    store.state()
    for _ in range(200):
        if not store._db.lease._owner.is_locked:
            break
        time.sleep(0.02)
    assert store._db.lease._connection is None
    assert not store._db.lease._owner.is_locked
    assert not Path(f"{path}.holder").exists()
    with duckdb.connect(str(path)) as c:  # DuckDB's own lock is gone too
        c.execute("SELECT count(*) FROM units")
    epoch = store._db.lease.epoch
    store.state()
    assert store._db.lease.epoch == epoch + 1


FOREIGN = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
connection.close()
print("let go", flush=True)
sys.stdin.readline()
"""


def test_memory_is_given_back_when_the_file_is_let_go_idle(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = threading.Event()
    monkeypatch.setattr("openclaw_memory.store.duckdb.lease.free_unused_heap", given.set)
    store = open_store(path, idle=0.05)
    with store.session():
        store.state()
        assert not given.wait(0.2)
    assert given.wait(20)


def test_a_foreign_program_that_has_the_file_open_is_named(
    tmp_path: Path, children: Callable[..., subprocess.Popen[str]]
) -> None:
    path = tmp_path / "corrupt checksum (PID 1)" / "i.duckdb"  # the name must not confuse anything
    store = open_store(path, lock_timeout=0.4)
    put(store, {"a.md": [["one"]]})
    store.close()
    foreign = children(FOREIGN, path)
    assert line(foreign) == "held"
    with pytest.raises(LeaseTimeout, match=rf"in use by PID {foreign.pid} "):
        store.state()
    assert store.warnings() == []
    patient = open_store(path, lock_timeout=20)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(patient.documents)
        tell(foreign)
        assert list(waiting.result(timeout=20).by_path) == ["a.md"]
    patient.close()
    store.close()
    assert not list(path.parent.glob("*.damaged*"))


NEW_FILES = """
import sys
from openclaw_memory.memory import Memory
from openclaw_memory.config.settings import Settings
workspace, db = sys.argv[1:]
settings = Settings.load(overrides={"embedding.model": "none", "embedding.offline": True})
with Memory(workspace, settings=settings, db=db) as memory:
    memory.status()
    print("ready", flush=True)
    for _ in range(3):
        sys.stdin.readline()
        memory.ingest()
        print("done", flush=True)
"""


def test_two_processes_that_ingest_the_same_new_files_make_no_duplicates(
    tmp_path: Path, path: Path, children: Callable[..., subprocess.Popen[str]]
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\n- seed\n")
    both = [children(NEW_FILES, workspace, path) for _ in range(2)]
    for child in both:
        assert line(child) == "ready", child.communicate()[1]
    expected = 2
    for turn in range(3):
        for n in range(12):
            (workspace / "memory" / f"{turn}-{n}.md").write_text(
                f"# Note {turn} {n}\n\n- a fact {n}\n- b fact {turn}\n"
            )
            expected += 3
        for child in both:
            tell(child)
        for child in both:
            assert line(child) == "done", child.communicate()[1]
    store = open_store(path)
    rows = store.unit_rows(None)
    assert len(store.document_infos()) == len(store.documents().by_path) == 37
    assert len(rows.unit_id) == len(set(rows.unit_id.tolist())) == expected
    index = store.keyword_index()
    index.refresh()
    assert len(index.postings(["fact"]).unit_id) == 72


def test_a_forked_child_neither_uses_nor_harms_its_parents_file(path: Path) -> None:
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from indexing import open_store, put
from openclaw_memory.errors import StoreError
store = open_store(Path(sys.argv[1]), idle=60)
put(store, {"a.md": [["one"]]})

def child(work):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def writes():
    put(store, {"child.md": [["two"]]})
    store.close()
    return 0

assert child(writes) == 0
put(store, {"b.md": [["three"]]})
assert sorted(store.documents().by_path) == ["a.md", "b.md", "child.md"]

def refuses():
    try:
        store.state()
    except StoreError as error:
        return 0 if "forked" in str(error) else 3
    return 2

with store.session():
    assert child(refuses) == 0
    put(store, {"c.md": [["four"]]})
    other = open_store(Path(sys.argv[1]), lock_timeout=0.2)
    try:
        with other.session():
            raise SystemExit("the child took the lock with it")
    except StoreError:
        pass
assert len(store.documents().by_path) == 4
store.close()
print("fine")
"""
    child = python(code, str(path))
    out, err = child.communicate(timeout=60)
    assert out == "fine\n", err


# -- threads ----------------------------------------------------------------------------------------------------


def test_threads_get_the_right_rows(path: Path) -> None:
    store = open_store(path)
    put(store, {f"{n}.md": [[f"note {n} line {i}" for i in range(n + 1)]] for n in range(12)})
    ids = {row.path: row.id for row in store.documents().by_path.values()}
    stop = time.monotonic() + 0.5

    def reader(n: int) -> int:
        turns = 0
        while time.monotonic() < stop:
            rows = store.unit_rows([ids[f"{n}.md"]])
            assert len(rows.unit_id) == n + 1
            sections = store.section_texts([int(rows.section_id[0])])
            assert next(iter(sections.values())).lines == tuple(f"note {n} line {i}" for i in range(n + 1))
            assert set(rows.document_id.tolist()) == {ids[f"{n}.md"]}
            turns += 1
        return turns

    def writer() -> int:
        turns = 0
        while time.monotonic() < stop:
            put(store, {"w.md": [[f"turn {turns}"]]})
            turns += 1
        return turns

    with ThreadPoolExecutor(7) as pool:
        jobs = [pool.submit(reader, n) for n in (0, 3, 5, 7, 9, 11)] + [pool.submit(writer)]
        assert all(job.result(timeout=60) > 0 for job in jobs)


def test_a_search_and_a_warm_up_at_once_do_not_wait_for_each_other(tmp_path: Path, path: Path) -> None:
    from benchmarks.hashing import HashingEmbedder
    from openclaw_memory.config.settings import Settings
    from openclaw_memory.memory import Memory

    workspace = tmp_path / "workspace"
    corpus.write_workspace(workspace, 20)
    settings = Settings.load(overrides={"store.lock_timeout": 5.0}, environ={})
    with Memory(workspace, settings=settings, db=path, embedder=HashingEmbedder(16)) as memory:
        memory.ingest()

        def many(work: Callable[[], Any]) -> None:
            for _ in range(15):
                work()

        with ThreadPoolExecutor(4) as pool:
            works = [memory.warm, lambda: memory.search("fox")] * 2
            for job in [pool.submit(many, work) for work in works]:
                job.result(timeout=60)


def test_two_stores_of_one_process_take_turns(path: Path) -> None:
    stores = [open_store(path, idle=idle) for idle in (0, 0.01, 5)]

    def work(number: int) -> None:
        for turn in range(2):
            written = False
            while not written:
                with contextlib.suppress(TextsChanged):
                    put(stores[number], {f"{number}-{turn}.md": [["a text"]]})
                    written = True

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert [len(store.documents().by_path) for store in stores] == [6, 6, 6]


def test_a_busy_thread_is_said_so(path: Path) -> None:
    store = open_store(path)
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store.session():
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(20)
    with pytest.raises(LeaseTimeout, match=rf"another thread .*PID {os.getpid()}"), store.session(timeout=0.05):
        pass
    leave.set()
    thread.join()
    store.state()


def test_a_session_is_re_entrant(path: Path) -> None:
    store = open_store(path, idle=0)
    with store.session():
        with store.session(timeout=0):
            put(store, {"a.md": [["one"]]})
            epoch = store._db.lease.epoch
        assert store._db.lease._connection is not None
        store.maintain(force=True)
        assert store._db.lease.epoch == epoch
    assert store._db.lease._connection is None
    with pytest.raises(StoreError), store._db.write(), store._db.write():
        pass
    assert list(store.documents().by_path) == ["a.md"]


def test_an_error_in_a_session_lets_the_file_go(path: Path) -> None:
    store = open_store(path, idle=0)
    with pytest.raises(KeyboardInterrupt), store.session():
        raise KeyboardInterrupt
    assert store._db.lease._connection is None and not store._db.lease._owner.is_locked
    put(store, {"a.md": [["one"]]})
    drop(store, "a.md")
    assert texts_of(store) == {}


def test_closing_twice_is_harmless_and_leaves_no_thread(path: Path) -> None:
    before = set(closers())
    store = open_store(path)
    store.close()  # before it was ever opened
    store = open_store(path)
    store.state()
    assert set(closers()) - before
    store.close()
    store.close()
    assert set(closers()) <= before
    store.state()  # opens once more and keeps nothing
    assert store._db.lease._connection is None
    assert set(closers()) <= before


def test_a_forgotten_store_lets_go_of_its_file_and_thread(path: Path) -> None:
    import gc

    before = set(closers())
    store = open_store(path, idle=0.05)
    store.state()
    del store
    gc.collect()
    for _ in range(300):
        if set(closers()) <= before:
            break
        time.sleep(0.02)
        gc.collect()
    assert set(closers()) <= before
    other = open_store(path, lock_timeout=5)
    other.state()


def test_a_folder_that_vanishes_does_not_keep_a_result_from_its_caller(tmp_path: Path) -> None:
    import shutil

    path = tmp_path / "deep" / "i.duckdb"
    store = open_store(path)
    with store.session():
        put(store, {"a.md": [["one"]]})
        shutil.rmtree(path.parent)
        assert list(store.documents().by_path) == ["a.md"]
    store.close()
    put(store, {"b.md": [["two"]]})
    assert list(store.documents().by_path) == ["b.md"]


def test_one_process_embeds_at_a_time(path: Path) -> None:
    first, second = open_store(path), open_store(path)
    with first.embedding_lock(0) as ours, second.embedding_lock(0.05) as theirs:
        assert ours and not theirs
    with second.embedding_lock(0) as ours:
        assert ours
    assert re.fullmatch(r"0o100600", oct(os.stat(f"{path}.embedding").st_mode))
    first.close()
    second.close()


# -- who may only read -----------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["folder", "file"])
def test_who_may_only_read_is_answered_without_a_lock_and_writes_nothing(closed: str) -> None:
    with tempfile.TemporaryDirectory() as name, contextlib.closing(open_store(Path(name) / "i.duckdb")) as store:
        put(store, {"memory/a.md": [["a lamp"]]})
        store.close()
        folder, path = Path(name), store.path
        for file in folder.glob("i.duckdb.*"):
            file.unlink()
        path.chmod(0o444 if closed == "file" else 0o666)
        folder.chmod(0o555 if closed == "folder" else 0o777)
        before = sorted(os.listdir(folder)), path.read_bytes()
        with without_root(), contextlib.closing(open_store(path, idle=5)) as reader:
            assert list(texts_of(reader).values()) == ["a lamp"]
            with contextlib.closing(open_store(path)) as another:
                assert list(texts_of(another).values()) == ["a lamp"]
            with reader.embedding_lock(0) as ours:
                assert not ours
            with pytest.raises(StoreError, match=r"cannot be opened for writing .*read-only"):
                put(reader, {"memory/b.md": [["a chair"]]})
            assert list(texts_of(reader).values()) == ["a lamp"]
        assert before == (sorted(os.listdir(folder)), path.read_bytes())
        folder.chmod(0o700)


def test_the_holder_is_noted_in_a_file_of_its_own_and_in_no_other(path: Path) -> None:
    victim = path.parent / "victim"
    victim.write_text("PID 1, but mine\n")
    holder = Path(f"{path}.holder")
    holder.symlink_to(victim)
    with contextlib.closing(open_store(path)) as store, store.session():
        store.state()
        assert not holder.is_symlink() and holder.read_text() == f"PID {os.getpid()}"
    assert victim.read_text() == "PID 1, but mine\n"
