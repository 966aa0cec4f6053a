"""Writing the index anew: what is deleted leaves no byte behind, and nothing else is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import drop, embed, open_store, put, python, texts_of
from markers import both
from properties import examples

from benchmarks.hashing import HashingEmbedder
from openclaw_memory.errors import StoreError
from openclaw_memory.store.api import TextsChanged
from openclaw_memory.store.duckdb.database import rewrite
from openclaw_memory.store.duckdb.store import DuckStore

SECRET = "the vault opens with 7714 zebra"


def filled(path: Path, **settings: object) -> DuckStore:
    """An index of some notes, one of which has held the secret and does not any more."""
    store = open_store(path, **settings)
    lines = [[f"note {n} line {line} about the garden and the router" for line in range(10)] for n in range(10)]
    notes = {f"memory/{n}.md": [texts] for n, texts in enumerate(lines)}
    put(store, {**notes, "memory/7.md": [[*lines[7], SECRET]]})
    embed(store, HashingEmbedder(16))
    put(store, {"memory/7.md": [lines[7]]})
    return store


def bytes_of(path: Path) -> bytes:
    files = [path, Path(f"{path}.wal")]
    return b"".join(file.read_bytes() for file in files if file.exists())


def test_deleted_bytes_are_gone_in_the_file_and_beside_it_and_rows_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = filled(path)
    before, statistics = texts_of(store), store.statistics()
    store.close()
    files = {name for name in os.listdir(tmp_path) if "wal" not in name and "holder" not in name}
    for folder, file in (("rewriting", "a.duckdb"), ("tmp", "duckdb_temp_block-1.block")):
        (tmp_path / f"a.duckdb.{folder}").mkdir()
        (tmp_path / f"a.duckdb.{folder}" / file).write_text(SECRET)
    assert SECRET.encode() in bytes_of(path)
    store.purge()
    assert store.contains([SECRET]) == []
    assert texts_of(store) == before
    after = store.statistics()
    assert (after.units, after.documents, after.sections) == (
        statistics.units,
        statistics.documents,
        statistics.sections,
    )
    assert after.postings_delta == 0
    store.close()
    assert SECRET.encode() not in bytes_of(path)
    assert b"zebra" not in bytes_of(path)
    assert set(os.listdir(tmp_path)) == files
    assert path.stat().st_mode & 0o077 == 0


def test_what_is_only_in_the_log_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom indexing import open_store, put\n"
        "store = open_store(Path(sys.argv[1]))\nput(store, {'memory/a.md': [['kept in the log alone']]})\n"
        "os.kill(os.getpid(), 9)"
    )
    child = python(code, str(path))
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert Path(f"{path}.wal").stat().st_size
    rewrite(path, {})
    assert not Path(f"{path}.wal").exists()
    store = open_store(path)
    assert list(texts_of(store).values()) == ["kept in the log alone"]


def test_keys_and_order_outlive_it(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = filled(path)
    store.purge()
    put(store, {"memory/new.md": [["one more"]]})  # ids go on, the primary key still refuses doubles
    store.close()
    with duckdb.connect(str(path)) as c:
        terms = [row[0] for row in c.execute("SELECT term FROM postings").fetchall()]
        assert terms == sorted(terms)
        kinds = c.execute("SELECT constraint_type FROM duckdb_constraints() WHERE table_name = 'sections'").fetchall()
        assert ("PRIMARY KEY",) in kinds
        section = c.execute("SELECT min(id) FROM sections").fetchone()
        assert section is not None
        with pytest.raises(duckdb.ConstraintException):
            c.execute("INSERT INTO sections (id) VALUES (?)", [section[0]])


def test_the_index_of_the_extension_goes_and_comes_back_without_it(tmp_path: Path) -> None:
    store = filled(tmp_path / "a.duckdb", keyword_index="fts")
    put(store, {"memory/x.md": [[SECRET]]})
    index = store.keyword_index()
    index.refresh()
    drop(store, "memory/x.md")
    assert any("fts" in place for place in store.contains(["zebra"]))
    store.purge()
    assert store.contains(["zebra", SECRET]) == []
    index.refresh()
    assert len(index.postings(["router"]).unit_id) == 100
    assert not len(index.postings(["zebra"]).unit_id)


@both
def test_vectors_of_the_lost_go_and_those_of_the_rest_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = open_store(path)
    put(store, {"memory/a.md": [["kept", "lost"]]})
    model = embed(store, HashingEmbedder(8))
    index = store.vector_index(model)
    index.refresh()
    query = HashingEmbedder(8).embed_documents(["lost"])[0]
    ids = np.array(sorted(texts_of(store)), np.int32)
    blob = query.astype(np.float16).tobytes()
    put(store, {"memory/a.md": [["kept"]]})
    store.purge()
    assert store.vector_states(model).ready == 1
    again = store.vector_index(model)
    again.refresh()
    assert np.isnan(again.similarities(query, ids)[1]) and not np.isnan(again.similarities(query, ids)[0])
    store.close()
    assert blob not in bytes_of(path)


def test_contains_looks_into_columns_bytes_and_blobs(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = open_store(path)
    put(store, {"memory/a.md": [['said "so" äöü 你好 \\ x']]})
    with store._db.write() as c:
        c.execute("INSERT INTO models VALUES (1, 'm', 4, NULL)")
        c.execute("INSERT INTO vectors VALUES (1, 1, 'ready', 1, encode('hidden in a blob'))")
    assert store.contains(['said "so" äöü 你好 \\ x'])[:2] == ["sections.body", "units.text"]
    assert "vectors.v" in store.contains(["den in a bl"])
    assert store.contains(["nothing of the kind", ""]) == []
    assert store.contains([]) == []
    many = [f"no such text number {n}" for n in range(3000)]
    assert store.contains(many) == []
    store.close()
    at = bytes_of(path)
    for start in range(len(at) - 30, len(at) - 20):  # at every alignment
        needle = at[start : start + 12]
        if needle.isascii() and b"\0" not in needle:
            assert path.name in store.contains([*many, needle.decode()])
    store.purge()
    found = store.contains([*many, "hidden in a blob"])
    assert "vectors.v" in found


@both
@given(st.lists(st.text(max_size=20), max_size=5), st.binary(max_size=40), st.data())
def test_a_text_is_found_among_bytes_where_it_is(needles: list[str], data: bytes, draw: st.DataObject) -> None:
    from openclaw_memory.store.tables.base import Needles

    search = Needles(needles)
    wanted = [needle.encode() for needle in needles if needle]
    assert bool(search) is bool(wanted)
    if wanted:
        assert search.finds(data) is any(needle in data for needle in wanted)
        place = draw.draw(st.integers(0, len(data)))
        assert search.finds(data[:place] + draw.draw(st.sampled_from(wanted)) + data[place:])


@both
@examples(8)
@given(
    st.lists(st.lists(st.text(min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=4), max_size=4),
    st.data(),
)
def test_whatever_the_texts_are_they_stay(
    tmp_path_factory: pytest.TempPathFactory, sections: list[list[str]], data: st.DataObject
) -> None:
    texts = [[line.replace("\n", " ").replace("\r", " ") for line in section] for section in sections]
    path = tmp_path_factory.mktemp("purge") / "a.duckdb"
    store = open_store(path)
    put(store, {"memory/a.md": texts, "memory/b.md": [["always here"]]})
    if texts and data.draw(st.booleans()):
        put(store, {"memory/a.md": texts[:-1]})
    before = texts_of(store)
    store.purge()
    assert texts_of(store) == before
    store.close()


def test_other_processes_wait_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = filled(path, idle=0.0)
    code = (
        "import sys\nfrom pathlib import Path\nfrom indexing import open_store, put\n"
        "from openclaw_memory.store.api import TextsChanged\n"
        "store = open_store(Path(sys.argv[1]), idle=0.0, lock_timeout=60)\n"
        "left = [0, 1]\n"
        "print(flush=True)\n"
        "while left:\n"
        "    try:\n"
        "        put(store, {f'memory/{sys.argv[2]}-{left[0]}.md': [[f'{sys.argv[2]} wrote {left[0]}']]})\n"
        "        del left[0]\n"
        "    except TextsChanged:\n"
        "        pass"
    )
    writers = [python(code, str(path), name) for name in ("first", "second")]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    while any(writer.poll() is None for writer in writers):
        store.purge()
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
    store.purge()
    texts = set(texts_of(store).values())
    assert {f"{name} wrote {n}" for name in ("first", "second") for n in range(2)} <= texts
    assert store.contains([SECRET]) == []


@pytest.mark.parametrize("step", ["half a copy", "before", "after"])
def test_killed_on_the_way_it_loses_nothing(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a.duckdb"
    store = filled(path)
    before = texts_of(store)
    store.close()
    code = (
        "import os, sys\nfrom pathlib import Path\nimport openclaw_memory.store.duckdb.database as rewriting\n"
        "step, replace, copy = sys.argv[2], os.replace, rewriting._copy\n"
        "def replaced(*given, **how):\n"
        "    if step == 'before': os.kill(os.getpid(), 9)\n"
        "    replace(*given, **how)\n"
        "    os.kill(os.getpid(), 9)\n"
        "def copied(old, new, options):\n"
        "    copy(old, new, options)\n"
        "    if step == 'half a copy':\n"
        "        os.truncate(new, new.stat().st_size // 2)\n"
        "        os.kill(os.getpid(), 9)\n"
        "os.replace, rewriting._copy = replaced, copied\n"
        "from indexing import open_store\nopen_store(Path(sys.argv[1])).purge()"
    )
    child = python(code, str(path), step)
    _, err = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL, err
    assert texts_of(store) == before
    store.purge()
    assert store.contains([SECRET]) == []
    assert texts_of(store) == before
    store.close()
    assert not Path(f"{path}.rewriting").exists()


def test_a_folder_that_cannot_take_the_copy_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    store = filled(path)
    before = texts_of(store)
    (tmp_path / "a.duckdb.rewriting").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot be rewritten"):
        store.purge()
    assert texts_of(store) == before
    (tmp_path / "a.duckdb.rewriting").unlink()
    with store.session(), pytest.raises(StoreError, match="in use by the caller itself"):
        store.purge()
    store.purge()


@both
def test_reading_again_is_noted_and_makes_planners_begin_anew(tmp_path: Path) -> None:
    store = filled(tmp_path / "a.duckdb")
    documents = store.documents()
    chosen = documents.by_path["memory/3.md"]
    assert store.masks() == ""
    store.schedule_reread([chosen.id], "first")
    assert store.masks() == "first"
    now = store.documents()
    assert [row.path for row in now.by_path.values() if not row.sha256] == ["memory/3.md"]
    with pytest.raises(TextsChanged):
        store.apply([], documents.version)
    store.schedule_reread(None, "second")
    assert store.masks() == "second"
    assert all(row.mtime_ns == -1 for row in store.documents().by_path.values())
    store.purge()
    assert store.masks() == "second"


def test_traces_and_leftovers(tmp_path: Path) -> None:
    store = filled(tmp_path / "a.duckdb")
    ids = sorted(texts_of(store))[:5]
    assert store.count_dependents(ids).vectors == 5
    assert [unit.id for unit in store.unit_texts(ids)] == ids
    assert store.leftovers() == []
    aside = tmp_path / f"a.duckdb.damaged-{time.strftime('%Y%m%d')}-000000"
    aside.write_text(SECRET)
    assert store.leftovers() == [f"{aside} (an older index, put aside)"]
    store.close()
    for agent in ("main", "scout"):
        own = open_store(tmp_path / agent / "notes-0123456789ab.duckdb")
        put(own, {"memory/a.md": [["text"]]})
        own.close()
    assert own.leftovers() == [f"{tmp_path}/main/notes-0123456789ab.duckdb (the index of another agent)"]
