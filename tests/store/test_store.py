"""The store's file: transactions, ids, permissions, damage, a full disk, other versions, upkeep."""

from __future__ import annotations

import os
import random
import stat
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from indexing import drop, note, open_store, put, python, texts_of, unit_vectors, without_root
from markers import both

from benchmarks import crash
from openclaw_memory.errors import StoreError
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.search import bm25
from openclaw_memory.store.api import OntologyRows, TextsChanged, VectorModel, WorkspaceFile
from openclaw_memory.store.duckdb.database import DuckDatabase
from openclaw_memory.store.duckdb.store import DuckStore
from openclaw_memory.store.tables.base import VERSION
from openclaw_memory.text import analysis

MODEL = VectorModel("test", 16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index" / "i.duckdb"


@pytest.fixture
def store(path: Path) -> Any:
    return open_store(path)


def filled(path: Path, files: int = 40) -> None:
    """A closed index of some size."""
    store = open_store(path)
    put(store, {f"{n}.md": [[f"line {i} of note {n} about the fox {i * n}" for i in range(40)]] for n in range(files)})
    ids = store.unit_rows(None).unit_id.tolist()
    store.put_vectors(MODEL, ids, unit_vectors(len(ids), 16))
    store.maintain(force=True)
    store.close()


def kept(path: Path) -> list[Path]:
    """Damaged files that were moved aside, their logs left out."""
    return [file for file in path.parent.glob(f"{path.name}.damaged-*") if file.suffix != ".wal"]


def read_all(store: DuckStore) -> None:
    """Ask for everything that search asks for."""
    with store.session():
        rows = store.unit_rows(None)
        store.documents()
        store.document_infos()
        store.section_texts(rows.section_id.tolist())
        store.keyword_index().refresh()
        store.vector_index(MODEL).refresh()
        store.vector_states(MODEL)


# -- transactions and ids ------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, BrokenPipeError])
def test_an_exception_inside_a_write_leaves_nothing(
    store: DuckStore, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    put(store, {"a.md": [["one", "two"]]})
    before = (texts_of(store), store.state(), store.documents(), store.statistics())
    with monkeypatch.context() as patch:
        patch.setattr(DuckDatabase, "insert_postings", lambda *a: (_ for _ in ()).throw(error("stop")))
        with pytest.raises(error):
            put(store, {"a.md": [["two", "three"]], "b.md": [["four"]]})
    after = (texts_of(store), store.state(), store.documents(), store.statistics())
    assert after == before
    put(store, {"a.md": [["two", "three"]]})
    assert sorted(texts_of(store).values()) == ["three", "two"]


def test_an_error_of_duckdb_inside_a_write_leaves_nothing(store: DuckStore) -> None:
    put(store, {"a.md": [["one"]]})
    before = store.state()
    with pytest.raises(StoreError, match="openclaw-memory doctor"), store._db.write() as c:
        c.execute("DELETE FROM units; SELECT 'corrupt checksum'::INTEGER")
    assert store.state() == before
    assert len(texts_of(store)) == 1
    assert store.warnings() == []


@both
def test_a_stale_version_of_a_document_is_refused_and_writes_nothing(store: DuckStore) -> None:
    stale = store.documents().version
    put(store, {"a.md": [["one"]], "b.md": [["two"]]})
    with pytest.raises(TextsChanged):
        store.apply([note("a.md", [["another"]])], stale)
    with pytest.raises(TextsChanged):
        store.remove([1], stale)
    (a, b) = (store.documents().by_path[path] for path in ("a.md", "b.md"))
    assert len(texts_of(store)) == 2
    version, _ = store.apply([replace(note("b.md", [["three"]]), replaces=b.id)], store.documents().version)
    version = store.remove([a.id], version)
    assert version == store.documents().version and list(texts_of(store).values()) == ["three"]


@both
@pytest.mark.parametrize("change", ["masks", "concepts"])
def test_what_concerns_all_texts_voids_every_plan(store: DuckStore, change: str) -> None:
    version = store.documents().version
    if change == "masks":
        store.schedule_reread((), "another")
    else:
        store.put_ontology(WorkspaceFile("concepts.yaml", 1, 1, "x"), OntologyRows(), (), lambda units: ())
    with pytest.raises(TextsChanged):
        store.apply([note("b.md", [["two"]])], version)
    assert not store.documents().by_path


@both
def test_ids_are_never_reused(path: Path) -> None:
    used: set[int] = set()
    for turn in range(4):
        store = open_store(path)
        put(store, {"a.md": [[f"turn {turn} {i}" for i in range(5)]]})
        ids = set(store.unit_rows(None).unit_id.tolist())
        assert not ids & used
        used |= ids
        if turn % 2:
            drop(store, "a.md")
            store.maintain(force=True)
        store.close()


@both
def test_units_that_stay_keep_their_ids_and_vectors(store: DuckStore) -> None:
    put(store, {"a.md": [["one", "two", "two", "three"]]})
    before = {text: unit_id for unit_id, text in texts_of(store).items() if text != "two"}
    ids = list(texts_of(store))
    store.put_vectors(MODEL, ids, unit_vectors(4, 16))
    put(store, {"a.md": [["three"], ["zero", "one", "two"]]})
    after = {text: unit_id for unit_id, text in texts_of(store).items()}
    assert after["one"] == before["one"] and after["three"] == before["three"]
    assert after["two"] in ids and after["zero"] not in ids
    assert [p.text for p in store.pending(MODEL, 9)] == ["zero"]
    assert store.vector_states(MODEL).ready == 3


@both
def test_a_write_that_was_undone_is_not_remembered(store: DuckStore) -> None:
    put(store, {"a.md": [["fox"]]})
    before = store.state()
    with store.session():
        with pytest.raises(RuntimeError), store._db.write() as c:  # noqa: PT012
            c.execute("UPDATE counters SET value = value + 5 WHERE name = 'generation'")
            assert store.state().generation == before.generation + 5
            raise RuntimeError
        assert store.state() == before


@both
def test_a_text_that_is_there_in_another_place_has_its_vector(store: DuckStore) -> None:
    put(store, {"a.md": [["stays", "moves"]]})
    store.put_vectors(MODEL, list(texts_of(store)), unit_vectors(2, 16))
    put(store, {"a.md": [["stays"]], "b.md": [["moves", "moves", "new"]]})
    assert [p.text for p in store.pending(MODEL, 9)] == ["new"]
    assert store.vector_states(MODEL).ready == 3


@pytest.mark.parametrize("text", ["", " ", "\x00", 'a "quoted" \\ text', "\u2028 \ufeff 🦊", "'; DROP TABLE units; --"])
def test_any_text_comes_back_as_it_was(store: DuckStore, text: str) -> None:
    put(store, {"a.md": [[text, "fox"]]})
    assert list(texts_of(store).values()) == [text, "fox"]


# -- permissions and places ---------------------------------------------------------------------------------


def test_only_the_owner_may_read_the_index(path: Path) -> None:
    old = os.umask(0)
    try:
        store = open_store(path)
        put(store, {"a.md": [["secret"]]})
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(old)
    assert "i.duckdb.wal" in modes
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {name: mode for name, mode in modes.items() if "holder" not in name} == {
        name: 0o600 for name in modes if "holder" not in name
    }
    path.chmod(0o644)
    store.close()
    store = open_store(path)
    store.state()
    store.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_in_the_files_place_and_a_file_in_the_folders_are_named(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "precious").write_text("x")
    with pytest.raises(StoreError, match="choose another file with --db"):
        open_store(path).state()
    store = open_store(path / "precious" / "deep" / "i.duckdb")
    with pytest.raises(StoreError, match=r"cannot be created .*--db"):
        store.state()
    with pytest.raises(StoreError, match=r"cannot be created .*--db"), store.embedding_lock(0):
        pass
    assert (path / "precious").read_text() == "x"


def test_a_read_only_folder_is_said_so_and_the_index_stays() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "i"
        folder.mkdir()
        path = folder / "i.duckdb"
        filled(path, 2)
        content = path.read_bytes()
        folder.chmod(0o555)
        Path(name).chmod(0o755)
        try:
            with without_root():
                store = open_store(path)
                with pytest.raises(StoreError, match="permissions"):
                    store.state()
                store.close()
        finally:
            folder.chmod(0o755)
        assert path.read_bytes() == content
        assert kept(path) == []


def test_an_unreadable_file_is_not_taken_for_a_damaged_one() -> None:
    with tempfile.TemporaryDirectory(prefix="corrupt-checksum") as name:  # nor is a file with such a name
        path = Path(name) / "corrupt.duckdb"
        filled(path, 2)
        Path(name).chmod(0o777)
        for other in Path(name).iterdir():
            other.chmod(0o666)
        path.chmod(0)
        with without_root():
            store = open_store(path)
            with pytest.raises(StoreError, match="permissions"):
                store.state()
            store.close()
        path.chmod(0o600)
        assert kept(path) == []
        store = open_store(path)
        assert store.statistics().documents == 2
        store.close()


@both
def test_nothing_is_created_before_the_first_call(path: Path) -> None:
    store = open_store(path)
    store.close()
    assert not path.parent.exists()


# -- versions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0", "7"])
def test_an_index_of_another_version_is_moved_aside_and_begun_anew(path: Path, version: str, caplog: Any) -> None:
    filled(path, 2)
    with duckdb.connect(str(path)) as c:
        c.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [version])
    content = path.read_bytes()
    store = open_store(path)
    assert store.statistics().documents == 0
    [aside] = path.parent.glob(f"{path.name}.outdated-*")
    assert aside.read_bytes() == content
    assert f"of another version ({version})" in store.warnings()[0] and str(aside) in caplog.text
    assert str(aside) in store.leftovers()[0], "forgetting names what is in the older one still"
    put(store, {"a.md": [["x"]]})
    store.close()
    with duckdb.connect(str(path)) as c:
        c.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [version])
    with pytest.raises(StoreError, match=r"another version uses the index too.*restart"):
        store.state()  # not in turns with a program that has been running for long


def checksum(block: bytes) -> bytes:
    """DuckDB's sum of a block of whole 64-bit words."""
    total = 5381
    for word in np.frombuffer(block, "<u8").tolist():
        total ^= word * 0xBF58476D1CE4E5B9 % 2**64
    return total.to_bytes(8, "little")


def test_a_file_of_a_newer_duckdb_is_refused_and_left_untouched(path: Path) -> None:
    filled(path, 2)
    content = bytearray(path.read_bytes())
    assert content[:8] == checksum(content[8:4096])
    at = content.index(b"DUCK") + 4
    content[at : at + 8] = (200).to_bytes(8, "little")
    content[:8] = checksum(content[8:4096])
    path.write_bytes(content)
    store = open_store(path)
    with pytest.raises(StoreError, match=r"newer DuckDB.*upgrade"):
        store.state()
    store.close()
    assert path.read_bytes() == content
    assert kept(path) == []


@both
def test_another_analysis_has_notes_read_again_and_keeps_their_vectors(path: Path) -> None:
    store = open_store(path, "first")
    put(store, {"a.md": [["Fox Fox wolf", "the end"]]})
    ids = list(texts_of(store))
    store.put_vectors(MODEL, ids, unit_vectors(2, 16))
    store.close()
    store = open_store(path, "second")
    assert [row.sha256 for row in store.document_infos()] == [""]
    put(store, {"a.md": [["Fox Fox wolf", "the end"]]})
    new = list(texts_of(store))
    assert not {*new} & {*ids}
    index = store.keyword_index()
    index.refresh()
    assert new[0] in index.postings(["fox"]).unit_id
    assert store.vector_states(MODEL).ready == 2
    before = store.state()
    store.close()
    assert open_store(path, "second").state() == before


# -- damage ------------------------------------------------------------------------------------------------------


def damage_header(content: bytearray) -> bytes:
    return b"garbage!" * 512 + bytes(content[4096:])


def damage_middle(content: bytearray) -> bytes:
    """Spoil what one table holds, and no other: DuckDB 1.5.5 itself crashes on some damage to several at once."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.duckdb"
        copy.write_bytes(content)
        with duckdb.connect(str(copy), read_only=True) as c:
            blocks = c.execute(
                "SELECT DISTINCT block_id FROM pragma_storage_info('units') WHERE block_id >= 0"
            ).fetchall()
    assert blocks
    for (block,) in blocks:
        start = 3 * 4096 + block * 262_144  # behind the three headers of the file
        for at in range(start, start + 262_144, 4096):
            content[at] ^= 0xFF
    return bytes(content)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a file of some size holds."""
    path = tmp_path_factory.mktemp("sound") / "index.duckdb"
    filled(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "broken",
    [
        damage_header,
        damage_middle,
        lambda content: bytes(content[: len(content) // 2]),
        lambda content: bytes(content[:100]),
        lambda content: b"",
    ],
    ids=["header", "middle", "half", "stub", "empty"],
)
def test_a_damaged_file_is_moved_aside_and_the_index_works_again(
    path: Path, sound: bytes, broken: Any, caplog: Any
) -> None:
    content = broken(bytearray(sound))
    path.parent.mkdir()
    path.write_bytes(content)
    store = open_store(path)
    try:
        read_all(store)
    except StoreError as error:  # seen only while reading: the next call finds it mended
        assert "ingest" in str(error)  # noqa: PT017
    read_all(store)
    (aside,) = kept(path)
    assert aside.read_bytes() == content
    (warning,) = store.warnings()
    assert str(aside) in warning and "Markdown" in warning
    assert warning in caplog.text
    assert store.documents().by_path == {}
    put(store, {"a.md": [["alive"]]})
    assert list(texts_of(store).values()) == ["alive"]
    store.close()
    store = open_store(path)
    assert list(texts_of(store).values()) == ["alive"]
    assert store.warnings() == []


@pytest.fixture(scope="module")
def crash_left(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """An index whose last writes are in the log only, and that log."""
    path = tmp_path_factory.mktemp("crashed") / "index.duckdb"
    filled(path, 3)
    child = python(
        "import os, sys\nfrom pathlib import Path\nfrom indexing import open_store, put\n"
        "put(open_store(Path(sys.argv[1])), {'new.md': [['new line', 'and another']]})\n"
        "os.kill(os.getpid(), 9)",
        str(path),
    )
    child.communicate(timeout=60)
    return path.read_bytes(), Path(f"{path}.wal").read_bytes()


@pytest.fixture
def crashed(path: Path, crash_left: tuple[bytes, bytes]) -> bytes:
    """Such an index at ``path``; its log."""
    path.parent.mkdir()
    path.write_bytes(crash_left[0])
    Path(f"{path}.wal").write_bytes(crash_left[1])
    return crash_left[1]


@pytest.mark.usefixtures("crashed")
def test_what_is_in_the_log_only_is_there_after_a_crash(path: Path) -> None:
    store = open_store(path)
    assert "new.md" in store.documents().by_path
    assert store.warnings() == []


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_log_never_stops_the_index(path: Path, crashed: bytes, seed: int) -> None:
    rnd = random.Random(seed)
    log = bytearray(crashed)
    if seed == 0:
        log = bytearray(rnd.randbytes(5000))
    elif seed == 1:
        log = log[: len(log) // 2]
    else:
        log[rnd.randrange(len(log))] ^= 0x5A
    Path(f"{path}.wal").write_bytes(log)
    store = open_store(path)
    read_all(store)
    if store.warnings():
        (aside,) = kept(path)
        assert Path(f"{aside}.wal").read_bytes() == log
    else:
        assert set(store.documents().by_path) >= {"0.md", "1.md", "2.md"}
    put(store, {"again.md": [["alive"]]})
    assert "again.md" in store.documents().by_path


def test_kill_9_at_random_moments_of_an_ingest_loses_nothing() -> None:
    rounds = 3
    result = crash.run(rounds, seed=20, longest=0.3)
    assert result.failures == []
    assert result.acknowledged >= rounds


@pytest.mark.usefixtures("crashed")
def test_a_log_without_its_file_does_no_harm(path: Path) -> None:
    path.unlink()
    store = open_store(path)
    read_all(store)
    put(store, {"again.md": [["alive"]]})
    assert list(store.documents().by_path) == ["again.md"]


def test_flipped_bytes_anywhere_never_give_a_wrong_answer(path: Path, sound: bytes) -> None:
    """Either the answer is the old one, or the file is moved aside."""
    path.parent.mkdir()
    path.write_bytes(sound)
    store = open_store(path)
    texts = texts_of(store)
    store.close()
    rnd = random.Random(5)
    for _ in range(12):
        for file in path.parent.iterdir():
            file.unlink()
        content = bytearray(sound)
        content[rnd.randrange(len(content))] ^= 1 << rnd.randrange(8)
        path.write_bytes(content)
        store = open_store(path)
        try:
            found = texts_of(store)
        except StoreError:
            found = texts_of(store)
        assert found == (texts if not store.warnings() else {})
        assert bool(kept(path)) == bool(store.warnings())
        store.close()


@pytest.mark.parametrize(
    "error",
    [
        duckdb.FatalException("FATAL Error: database has been invalidated. Original error: Out of Memory Error: no"),
        duckdb.InternalException("INTERNAL Error: a bug"),
        duckdb.IOException('IO Error: Failure while replaying WAL file "x": Could not write file: No space left'),
        duckdb.IOException("IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2"),
        duckdb.ConversionException("Conversion Error: Could not convert string 'corrupt checksum' to INT32"),
    ],
    ids=lambda error: str(error)[:60],
)
def test_a_healthy_file_is_never_moved_aside(path: Path, error: duckdb.Error) -> None:
    filled(path, 3)
    store = open_store(path)
    with pytest.raises(StoreError), store.session(), store._db.read():
        raise error
    with pytest.raises(StoreError), store._db.write() as c:  # noqa: PT012
        c.execute("DELETE FROM units")
        raise error
    assert store.statistics().documents == 3
    assert store.statistics().units == 120
    assert kept(path) == [] and store.warnings() == []
    # The same error while the file is being opened.
    store.close()
    opened = store._db._opened

    def fails_once(connection: duckdb.DuckDBPyConnection) -> None:
        store._db._opened = opened
        raise error

    store._db._opened = fails_once
    with pytest.raises(StoreError):
        store.state()
    assert store.statistics().documents == 3
    assert kept(path) == []


# -- a full disk -------------------------------------------------------------------------------------------------

_FULL = """
import resource, signal, sys
from pathlib import Path
from indexing import open_store, put, texts_of
from openclaw_memory.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, room = Path(sys.argv[1]), int(sys.argv[2])
store = open_store(path, idle=float(sys.argv[3]))
store.state()
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
done = 0
for n in range(60):
    try:
        put(store, {f"new {n}.md": [[f"line {i} {n} {i * n * 7919} of some length" for i in range(1500)]]})
        done += 1
    except StoreError as error:
        print("refused:", error)
        break
assert len(store.documents().by_path) == 3 + done, "reading must go on, and hold what was acknowledged"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(store, {"after.md": [["room again"]]})
assert len(store.documents().by_path) == 4 + done
assert not store.warnings(), store.warnings()
store.close()
print("done", done)
"""


@pytest.mark.parametrize(("extra", "idle"), [(20_000, 5), (150_000, 0)])
def test_a_full_disk_loses_nothing_and_is_said_so(path: Path, idle: int, extra: int) -> None:
    filled(path, 3)
    child = python(_FULL, str(path), str(path.stat().st_size + extra if extra > 50_000 else extra), str(idle))
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, out + err
    lines = out.splitlines()
    assert lines[0].startswith("refused:") and "disk is full" in lines[0] and "free some space" in lines[0], out
    assert kept(path) == []
    store = open_store(path)
    assert len(store.documents().by_path) == 4 + int(lines[-1].split()[1])
    read_all(store)
    assert store.warnings() == []


# -- upkeep and figures --------------------------------------------------------------------------------------------


@both
def test_maintenance_keeps_every_score(store: DuckStore) -> None:
    for turn in range(4):
        put(store, {f"{n}.md": [[f"fox {i * n + turn} wolf", f"v1.{n}.{i}"] for i in range(5)] for n in range(6)})
    put(store, {"3.md": [["fox alone"]]})
    drop(store, "4.md")

    def scores() -> list[Any]:
        corpus = Corpus()
        corpus.refresh(store)
        index = store.keyword_index()
        index.refresh()
        found = bm25.score(corpus, index, analysis.query_terms("fox wolf v1.2.3 alone"))
        return [corpus.rows.unit_id, found.unit, found.window, found.idf]

    before = scores()
    assert store.statistics().postings == 0
    assert store.maintain() is False
    assert store.maintain(force=True) is True
    after = store.statistics()
    assert after.postings_delta == 0
    assert after.postings == sum(len(set(analysis.terms(text))) for text in texts_of(store).values())
    for a, b in zip(before, scores(), strict=True):
        assert np.array_equal(a, b)


@both
def test_maintenance_comes_by_itself_once_the_delta_is_large(store: DuckStore) -> None:
    put(store, {f"{n}.md": [[" ".join(f"w{n}x{i}x{j}" for j in range(21)) for i in range(100)]] for n in range(10)})
    assert store.statistics().postings_delta > 20_000
    assert store.maintain() is True
    assert store.maintain() is False


@both
def test_vectors_of_units_that_vanished_are_not_kept(store: DuckStore) -> None:
    put(store, {"a.md": [["one", "two"]], "b.md": [["three"]]})
    ids = list(texts_of(store))
    drop(store, "b.md")
    store.put_vectors(MODEL, [*ids, 987_654], unit_vectors(4, 16))
    store.put_failed(MODEL, [987_655])
    store.put_vectors(MODEL, [], unit_vectors(0, 16))
    with store._db.read() as c:
        assert c.execute("SELECT count(*) FROM vectors").fetchall() == [(2,)]
    assert store.vector_states(MODEL).ready == 2
    assert store.vector_states(None).outdated == 2


@both
def test_pending_texts_come_in_order_within_the_asked_ones(store: DuckStore) -> None:
    put(store, {"a.md": [[f"t{i}" for i in range(10)]]})
    ids = list(texts_of(store))
    store.put_vectors(MODEL, ids[2:4], unit_vectors(2, 16))
    store.put_failed(MODEL, ids[5:6])
    assert [p.text for p in store.pending(MODEL, 4)] == ["t0", "t1", "t4", "t6"]
    asked = np.array([ids[9], ids[3], ids[0], ids[5], 99_999], np.int32)
    assert [p.text for p in store.pending(MODEL, 9, asked)] == ["t0", "t9"]
    assert store.pending(MODEL, 9, np.zeros(0, np.int32)) == []
    store.retry_failed(MODEL)
    assert [p.text for p in store.pending(MODEL, 99)] == ["t0", "t1", "t4", "t5", "t6", "t7", "t8", "t9"]


def test_statistics_count_what_is_there(store: DuckStore, path: Path) -> None:
    put(store, {"a.md": [["one fox", "two"], ["three"]]})
    from openclaw_memory.model import Grain, Kind

    put(store, {"memory/2024-05-01.md": [["four"]]}, kind=Kind.DAILY, grain=Grain.DAILY)
    found = store.statistics()
    assert (found.documents, found.sections, found.units) == (2, 3, 4)
    assert found.by_kind == {"note": 3, "daily": 1}
    assert found.by_grain == {"working": 3, "daily": 1}
    assert (found.postings, found.postings_delta) == (0, 5)
    assert found.schema == VERSION and found.path == str(path)
    assert found.bytes >= path.stat().st_size
    assert found.generation == store.state().generation


def test_giving_back_memory_changes_no_answer(store: DuckStore) -> None:
    put(store, {"a.md": [[f"line {i}" for i in range(3000)]]})
    store.give_back_memory()
    assert len(texts_of(store)) == 3000
    with store._db.read() as c:
        (limit,) = c.execute("SELECT current_setting('memory_limit')").fetchone()  # type: ignore[misc]
    assert limit.startswith("366")  # 384 MB in MiB
