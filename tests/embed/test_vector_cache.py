"""The vectors that a user's memories share: never another one than the model's, and none of what was forgotten."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_gguf import make_tiny_gguf

from openclaw_memory import Memory, Settings
from openclaw_memory.config.settings import cache_dir
from openclaw_memory.embed import registry
from openclaw_memory.embed.bindings import BINDINGS, Binding, ModelOptions
from openclaw_memory.embed.llama import LlamaCppEmbedder
from openclaw_memory.embed.models import Models
from openclaw_memory.embed.process import Worker
from openclaw_memory.embed.vector_cache import KEY, NAME, VectorCache
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.plugins.manager import Plugins

TEXTS = st.lists(st.text(max_size=40), min_size=1, max_size=20)
GARDEN = "# Garden\n\n- Ana Ruiz plants tulips in the autumn\n- the ferns are watered on Monday\n"


def filled(folder: Path, texts: list[str], most_mb: float = 10.0) -> tuple[VectorCache, CountingEmbedder]:
    cache, embedder = VectorCache(folder, most_mb), CountingEmbedder()
    cache.put(cache.token(), embedder, texts, embedder.embed_documents(texts))
    return cache, embedder


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(put=TEXTS, asked=TEXTS)
def test_what_is_known_is_what_the_model_made_of_the_same_text(
    tmp_path: Path, put: list[str], asked: list[str]
) -> None:
    (tmp_path / NAME).unlink(missing_ok=True)
    cache, embedder = filled(tmp_path, put)
    every = [*asked, *put]
    known = cache.known(embedder, every)
    assert set(known) == {at for at, text in enumerate(every) if text in put}
    made = embedder.embed_documents(every)
    assert all(np.array_equal(row, made[at]) and row.dtype == np.float32 for at, row in known.items())


def digests(folder: Path) -> set[bytes]:
    with closing(sqlite3.connect(folder / NAME)) as connection:
        return {digest for (digest,) in connection.execute("SELECT digest FROM vectors")}


def test_who_has_a_copy_of_the_file_alone_cannot_guess_its_texts(tmp_path: Path) -> None:
    cache, _ = filled(tmp_path / "a", ["PIN 4711"])
    filled(tmp_path / "b", ["PIN 4711"])
    mine, key = digests(tmp_path / "a"), (tmp_path / "a" / KEY).read_bytes()
    assert len(mine) == 1 and mine.isdisjoint(digests(tmp_path / "b"))
    held = (tmp_path / "a" / NAME).read_bytes()
    assert len(key) == 32 and key not in held and key.hex().encode() not in held
    cache.clear()
    filled(tmp_path / "a", ["PIN 4711"])
    assert mine.isdisjoint(digests(tmp_path / "a"))  # nor does a key of now tell what was copied before


@pytest.mark.parametrize("spoil", [None, b"", b"short", b"x" * 32], ids=["lost", "empty", "short", "another"])
def test_rows_whose_key_is_lost_go(tmp_path: Path, spoil: bytes | None) -> None:
    cache, embedder = filled(tmp_path, ["tulips", "ferns"])
    before = cache.token()
    (tmp_path / KEY).unlink()
    if spoil is not None:
        (tmp_path / KEY).write_bytes(spoil)
    assert not cache.known(embedder, ["tulips"]) and cache.use().vectors == 0
    cache.put(before, embedder, ["tulips"], embedder.embed_documents(["tulips"]))
    assert not cache.known(embedder, ["tulips"]) and cache.token() not in ("", before)
    cache.put(cache.token(), embedder, ["tulips"], embedder.embed_documents(["tulips"]))
    made = (tmp_path / KEY).stat()
    assert cache.known(embedder, ["tulips"]) and made.st_size == 32
    assert sys.platform == "win32" or stat.S_IMODE(made.st_mode) == 0o600  # whoever could read the one before


def test_where_no_key_can_be_kept_there_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / KEY / "in the way").mkdir(parents=True)
    cache, embedder = filled(tmp_path, ["tulips"])
    assert cache.token() == "" and not cache.known(embedder, ["tulips"]) and cache.use().vectors == 0


def test_a_file_of_another_make_begins_anew(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / NAME)) as connection:
        connection.execute("CREATE TABLE made (token TEXT NOT NULL)")
        connection.execute("INSERT INTO made VALUES ('0123456789abcdef')")
        connection.execute("CREATE TABLE vectors (digest BLOB PRIMARY KEY, used INTEGER, vector BLOB)")
        connection.execute("INSERT INTO vectors VALUES (x'00', 1, zeroblob(900000))")
        connection.execute("PRAGMA user_version = 1000")
        connection.commit()
    cache, embedder = filled(tmp_path, ["tulips"])
    assert cache.known(embedder, ["tulips"]) and cache.use().vectors == 1 and cache.use().bytes < 300_000


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    cache, embedder = filled(tmp_path, ["tulips"])
    assert cache.known(embedder, ["tulips"])
    assert not cache.known(CountingEmbedder("other"), ["tulips"])


def test_a_newer_way_of_taking_secrets_out_begins_anew(tmp_path: Path) -> None:
    _, embedder = filled(tmp_path, ["tulips"])
    newer = VectorCache(tmp_path, 10.0, readers=1)
    assert newer.use().vectors == 0 and not newer.known(embedder, ["tulips"])
    newer.put(newer.token(), embedder, ["ferns"], embedder.embed_documents(["ferns"]))
    assert newer.known(embedder, ["ferns"]) and newer.use().vectors == 1


def test_what_was_cleared_is_gone_and_is_not_put_back_by_who_began_before(tmp_path: Path) -> None:
    cache, embedder = filled(tmp_path, ["tulips", "ferns"])
    before = cache.token()
    VectorCache(tmp_path, 1.0).clear()
    cache.put(before, embedder, ["tulips"], embedder.embed_documents(["tulips"]))
    assert not cache.known(embedder, ["tulips", "ferns"]) and cache.use().vectors == 0
    cache.put(cache.token(), embedder, ["ferns"], embedder.embed_documents(["ferns"]))
    assert list(cache.known(embedder, ["tulips", "ferns"])) == [1]


def test_a_file_that_cannot_be_deleted_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, embedder = filled(tmp_path, ["tulips"])
    before = cache.token()

    def refuse(file: Path, missing_ok: bool = False) -> None:
        if file.exists() or not missing_ok:
            raise PermissionError("another process has it open")

    monkeypatch.setattr(Path, "unlink", refuse)
    cache.clear()
    monkeypatch.undo()
    assert cache.use().vectors == 0 and cache.token() not in ("", before)
    held = np.asarray(embedder.embed_documents(["tulips"])[0], "<f4").tobytes()
    assert held not in (tmp_path / NAME).read_bytes()


def test_what_a_killed_writer_leaves_beside_it_goes_too(tmp_path: Path) -> None:
    cache, _ = filled(tmp_path, ["tulips"])
    for suffix in ("-journal", "-wal", "-shm"):
        (tmp_path / f"{NAME}{suffix}").write_bytes(b"pages of before")
    assert cache.clear() and list(tmp_path.iterdir()) == []  # nor the key


def test_what_cannot_be_deleted_is_told_and_is_not_forgotten_yet(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", GARDEN)
    settings = Settings().with_values({"embedding.model": "none", "ingest.fresh_seconds": 1e6})
    with Memory(notes.root, settings=settings, db=tmp_path / "index.duckdb") as memory:
        memory.ingest()
        with monkeypatch.context() as patch:
            patch.setattr(VectorCache, "clear", lambda _: False)
            with pytest.raises(WorkspaceError, match="cannot be deleted"):
                memory.forget(query="tulips")
        assert any("still to be forgotten" in remark for remark in memory.remarks())
        memory.ingest()
        assert not any("still to be forgotten" in remark for remark in memory.remarks())


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache, embedder = filled(tmp_path, [f"line {number}" for number in range(4000)], most_mb=0.5)
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("UPDATE vectors SET used = used - rowid % 2")
    (old,) = connection.execute("SELECT count(*) FROM vectors WHERE used < (SELECT max(used) FROM vectors)").fetchone()
    before = cache.use().vectors
    cache.known(embedder, ["line 3999"])
    cache.put(
        cache.token(),
        embedder,
        [f"more {number}" for number in range(600)],
        np.eye(600, embedder.dimensions, dtype=np.float32),
    )
    after = connection.execute("SELECT count(*), sum(used < (SELECT max(used) FROM vectors)) FROM vectors").fetchone()
    connection.close()
    assert before < 4000 and after[0] < before + 600 and after[1] < old
    assert cache.known(embedder, ["more 0"])


@pytest.mark.parametrize("most_mb", [1.0, 0.3])
def test_the_file_becomes_shorter_with_the_first_write_below_a_lower_limit(tmp_path: Path, most_mb: float) -> None:
    texts = [f"line {number}" for number in range(4000)]
    for first in range(0, len(texts), 500):
        before, embedder = filled(tmp_path, texts[first : first + 500])
    assert before.use().vectors == 4000 and before.use().bytes > 1.2e6
    after, _ = filled(tmp_path, ["one more"], most_mb)
    assert 0.5 * most_mb * 1e6 < after.use().bytes <= most_mb * 1e6
    known = after.known(embedder, [*texts, "one more"])
    assert set(known) == set(range(4001 - len(known), 4001))  # what came last


def test_the_file_stays_below_its_limit(tmp_path: Path) -> None:
    for number in range(40):
        cache, embedder = filled(tmp_path, [f"{number} {line}" for line in range(100)], most_mb=0.5)
        assert cache.use().bytes <= 0.5e6
        assert len(cache.known(embedder, [f"{number} {line}" for line in range(100)])) == 100


@pytest.mark.parametrize("spoil", [b"", b"no database at all, but some text" * 99, None], ids=["empty", "text", "bits"])
def test_a_damaged_file_costs_time_and_nothing_else(tmp_path: Path, spoil: bytes | None) -> None:
    texts = [f"line {number}" for number in range(300)]
    cache, embedder = filled(tmp_path, texts)
    file = tmp_path / NAME
    data = bytearray(file.read_bytes())
    if spoil is None:
        for at in range(5000, len(data), 997):
            data[at] ^= 0x55
    file.write_bytes(bytes(data) if spoil is None else spoil)
    made = embedder.embed_documents(texts)
    for _ in range(3):
        assert all(np.array_equal(row, made[at]) for at, row in cache.known(embedder, texts).items())
        cache.put(cache.token(), embedder, texts, made)
        cache.use()
    assert len(cache.known(embedder, texts)) == len(texts)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX's")
def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    filled(tmp_path / "new", ["tulips"])
    for name in (NAME, KEY):
        assert stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_where_nothing_can_be_written_there_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache, embedder = filled(tmp_path / "file" / "folder", ["tulips"])
    assert cache.token() == "" and cache.known(embedder, ["tulips"]) == {} and cache.use().vectors == 0
    cache.clear()


def put_many(folder: str, who: int) -> int:
    cache, embedder = VectorCache(Path(folder), 10.0), CountingEmbedder()
    for number in range(20):
        texts = [f"{who} {number} {line}" for line in range(10)]
        cache.put(cache.token(), embedder, texts, embedder.embed_documents(texts))
    return len(cache.known(embedder, [f"{who} {number} 0" for number in range(20)]))


def test_several_processes_put_and_ask_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3) as pool:
        assert list(pool.map(put_many, [str(tmp_path)] * 3, range(3))) == [20, 20, 20]
    assert VectorCache(tmp_path, 10.0).use().vectors == 600


def test_only_models_that_say_what_makes_their_vectors_have_one() -> None:
    models = Models(Settings())
    assert models.cache(None) is None and models.cache(CountingEmbedder()) is None
    embedder = CountingEmbedder()
    embedder.recipe = lambda: "weights"  # type: ignore[attr-defined]
    assert models.cache(embedder) is not None
    assert Models(Settings(), given=embedder).cache(embedder) is None
    assert Models(Settings().with_values({"store.url": "postgresql://db/memories"})).cache(embedder) is None
    assert Models(Settings().with_values({"embedding.cache_mb": 0})).cache(embedder) is None


def install(name: str, file: Path) -> None:
    """Put a copy of ``file`` into the cache folder as the model ``name``."""
    folder = cache_dir() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    data = file.read_bytes()
    (folder / f"{name}.gguf").write_bytes(data)
    record = {"name": name, "size": len(data), "sha256": sha256(data).hexdigest()}
    more = {"source_sha256": "", "source": "test", "url": None, "verified": True, "pulled": "2026-01-01"}
    (folder / f"{name}.json").write_text(json.dumps(record | more))


def kept(texts: list[str], **values: object) -> list[int]:
    """Keep vectors of the model that the settings name; which of the texts were there before."""
    models = Models(Settings().with_values({"embedding.model": "tiny", **values}))
    embedder = models.resolve(Plugins()).embedder
    cache = models.cache(embedder)
    assert embedder is not None and cache is not None
    known = cache.known(embedder, texts)
    cache.put(cache.token(), embedder, texts, embedder.embed_documents(texts))
    assert len(cache.known(embedder, texts)) == len(texts)
    models.close()
    return sorted(known)


@pytest.fixture
def tiny_entry(tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> registry.ModelEntry:
    """The tiny model as one of the registry, installed."""
    entry = replace(registry.DEFAULT, name="tiny", dimensions=32, context=256, document_prefix="text: ")
    monkeypatch.setattr(registry, "ENTRIES", (entry,))
    install("tiny", tiny_gguf)
    return entry


def test_other_weights_under_the_same_name_have_vectors_of_their_own(
    tiny_entry: registry.ModelEntry, tmp_path: Path
) -> None:
    assert kept(["tulips"]) == []
    assert kept(["tulips", "ferns"]) == [0]
    install("tiny", make_tiny_gguf(tmp_path / "other.gguf", "f32"))
    assert kept(["tulips"]) == []


@pytest.mark.parametrize(
    ("entry", "values"),
    [
        ({"document_prefix": "passage: "}, {}),
        ({"query_prefix": "question: "}, {}),
        ({"context": 128}, {}),
        ({}, {"embedding.max_tokens": 64}),
        ({}, {"embedding.gpu": False}),
        ({}, {"embedding.repack": "on"}),
    ],
)
def test_what_changes_a_vector_has_vectors_of_its_own(
    tiny_entry: registry.ModelEntry, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], values: dict[str, object]
) -> None:
    before: dict[str, object] = {"embedding.repack": "off"}
    assert kept(["tulips"], **before) == []
    with monkeypatch.context() as patch:
        patch.setattr(registry, "ENTRIES", (replace(tiny_entry, **entry),))
        assert kept(["tulips"], **before | values) == []
        assert kept(["tulips"], **before | values) == [0]
    assert kept(["tulips"], **before, **{"embedding.threads": 2}) == [0]


def test_another_pooling_and_another_binding_make_other_vectors(
    tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poolings: tuple[registry.Pooling | None, ...] = (None, "mean", "cls")
    recipes = {LlamaCppEmbedder(tiny_gguf, model="m", pooling=each).recipe() for each in poolings}
    recipes |= {LlamaCppEmbedder(tiny_gguf, model="m", binding=each.name).recipe() for each in BINDINGS}
    assert len(recipes) == 4  # auto is one of the bindings
    monkeypatch.setattr(Binding, "version", "99.0")  # what one version got wrong does not outlive it
    assert LlamaCppEmbedder(tiny_gguf, model="m").recipe() not in recipes


def test_a_file_whose_hash_nobody_knows_is_told_by_its_size_and_time(tiny_gguf: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    shutil.copy(tiny_gguf, file)
    one = LlamaCppEmbedder(file, model="m")
    before = one.recipe()
    assert one.recipe() == before == LlamaCppEmbedder(file, model="m").recipe()
    os.utime(file, (1, 1))
    assert one.recipe() != before and not one.loaded
    file.unlink()
    cache = VectorCache(tmp_path, 1.0, recipe=one.recipe)
    assert not cache.known(CountingEmbedder(), ["tulips"])


# -- memories -----------------------------------------------------------------------------------------


def memory(notes: Notes, folder: Path, model: Path, **values: object) -> Memory:
    given = {"store.folder": str(folder), "embedding.model": str(model), "ingest.fresh_seconds": 1e6, **values}
    return Memory(notes.root, settings=Settings().with_values(given))


def scores(memory: Memory) -> dict[str, float]:
    return {hit.snippet: hit.score for hit in memory.search("tulips", mode="vector").results}


def test_a_second_index_of_the_same_notes_embeds_nothing_until_something_is_forgotten(
    notes: Notes, tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    whole = LlamaCppEmbedder.embed_documents

    def counted(self: LlamaCppEmbedder, texts: list[str], progress: object = None) -> object:
        embedded.extend(texts)
        return whole(self, texts, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(LlamaCppEmbedder, "embed_documents", counted)
    notes.write("MEMORY.md", GARDEN)
    VectorCache(cache_dir(), 1.0).clear()
    with memory(notes, tmp_path / "a", tiny_gguf) as one:
        report = one.ingest()
        assert report.embedded == report.chunks and any("tulips" in text for text in embedded)
        first = scores(one)
    embedded.clear()
    with memory(notes, tmp_path / "b", tiny_gguf) as other:
        assert other.ingest().embedded == report.chunks
        assert not any("tulips" in text or "ferns" in text for text in embedded)
        assert scores(other) == first
        held = other.status().vector_cache
        assert held is not None and held.vectors >= 2 and held.bytes
        other.forget(query="tulips")
    assert not (cache_dir() / NAME).exists() and not (cache_dir() / KEY).exists()
    embedded.clear()
    with memory(notes, tmp_path / "c", tiny_gguf, **{"embedding.cache_mb": 0}) as without:
        without.ingest()
        assert without.status().vector_cache is None
    assert any("ferns" in text for text in embedded)
    assert not (cache_dir() / NAME).exists()


def test_who_finds_all_vectors_in_the_cache_loads_no_model(
    notes: Notes, tmp_path: Path, tiny_entry: registry.ModelEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    whole = Worker.__init__

    def counted(self: Worker, binding: Binding, options: ModelOptions, prove: bool) -> None:
        started.append(Path(options.path))
        whole(self, binding, options, prove)

    monkeypatch.setattr(Worker, "__init__", counted)
    notes.write("MEMORY.md", GARDEN)
    with memory(notes, tmp_path / "a", Path(tiny_entry.name)) as one:
        report = one.ingest()
        assert report.embedded == report.chunks and len(started) == 1
        first = scores(one)
    with memory(notes, tmp_path / "b", Path(tiny_entry.name)) as other:
        assert other.ingest().embedded == report.chunks
        assert len(started) == 1
        assert scores(other) == first and len(started) == 2
        notes.write("memory/2026-03-01.md", "# Pond\n\n- the frogs are back\n")
        assert other.ingest().embedded
        assert [hit.path for hit in other.search("frogs").results][:1] == ["memory/2026-03-01.md"]
