"""The llama.cpp embedder: right vectors for any text, from any thread, and errors that help."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tiny_gguf import make_tiny_decoder, make_tiny_reranker

from openclaw_memory.config.settings import Settings
from openclaw_memory.embed import llama
from openclaw_memory.embed.bindings import BINDINGS, ModelOptions, installed_bindings
from openclaw_memory.embed.gguf_file import is_reranker
from openclaw_memory.embed.llama import LlamaCppEmbedder
from openclaw_memory.embed.manager import choose_embedder
from openclaw_memory.errors import ModelError
from openclaw_memory.model.embedder import Embedder

AWKWARD = ["", " \n\t", "a\0b", "\ud800 lone", "é 日本語 🦞", "[CLS] [SEP] <|endoftext|>", "-" * 3000, "word " * 5000]


@pytest.fixture(scope="module", params=[binding.name for binding in BINDINGS if binding.installed] or ["none"])
def binding(request) -> str:
    """Each binding that is installed; at least one must be."""
    assert installed_bindings(), "the tests need a binding of llama.cpp: pip install xllamacpp"
    return request.param


@pytest.fixture(scope="module")
def embedder(tiny_gguf: Path, binding: str) -> Iterator[LlamaCppEmbedder]:
    embedder = LlamaCppEmbedder(tiny_gguf, model="tiny", context=256, binding=binding).load()
    yield embedder
    embedder.close()


@pytest.fixture(scope="module", params=["encoder", "decoder"])
def any_embedder(request, tiny_gguf: Path, binding: str, tmp_path_factory) -> Iterator[LlamaCppEmbedder]:
    file = tiny_gguf
    if request.param == "decoder":
        file = make_tiny_decoder(tmp_path_factory.mktemp("decoder") / "decoder.gguf")
    embedder = LlamaCppEmbedder(file, model=request.param, max_tokens=64, binding=binding)
    yield embedder
    embedder.close()


def close_to(a: np.ndarray, b: np.ndarray) -> bool:
    # Batches of other shapes add up in another order; Q8_0 rounds activations.
    return bool((a * b).sum(-1).min() > 0.9995)


def test_it_is_an_embedder(embedder: LlamaCppEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    assert (embedder.model, embedder.provider, embedder.dimensions) == ("tiny", "llama.cpp", 32)
    assert embedder.embed_documents([]).shape == (0, 32)


def test_rows_are_unit_float32_in_the_order_of_the_texts(any_embedder: LlamaCppEmbedder) -> None:
    texts = [f"note {i} " + "about things " * (i % 7) for i in range(50)] + AWKWARD
    together = any_embedder.embed_documents(texts)
    alone = np.concatenate([any_embedder.embed_documents([text]) for text in texts])
    assert together.dtype == np.float32
    assert together.shape == (len(texts), 32)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert close_to(together, alone)


@examples(60)
@given(texts=st.lists(st.text(st.characters(), max_size=80), max_size=5))
def test_any_text_has_a_vector(any_embedder: LlamaCppEmbedder, texts: list[str]) -> None:
    rows = any_embedder.embed_query(texts)
    assert rows.shape == (len(texts), 32)
    assert np.isfinite(rows).all()


def test_a_megabyte_is_cut_not_choked_on(any_embedder: LlamaCppEmbedder) -> None:
    for text in ("lorem ipsum " * 90_000, "x" * 1_000_000, " " * 1_000_000, "\0" * 1_000_000):
        assert np.isfinite(any_embedder.embed_documents([text])).all()


def test_a_long_text_has_the_vector_of_its_beginning(any_embedder: LlamaCppEmbedder) -> None:
    beginning, other = "first words of a note " * 200, "entirely different things " * 200
    cut = any_embedder.embed_documents([beginning + "tail " * 3000, beginning + "x" * 100_000, other])
    assert (cut[0] @ cut[1]) > 0.98 > (cut[0] @ cut[2])


def test_special_tokens_in_a_text_are_only_text(embedder: LlamaCppEmbedder) -> None:
    plain, marked, spaced = embedder.embed_documents(["a b", "a [SEP] b", "a [ SEP] b"])
    assert marked @ spaced > 0.9995 > marked @ plain


def test_a_reranker_is_refused(tmp_path: Path, tiny_gguf: Path, binding: str) -> None:
    # One binding gave what was in memory for a vector, which now and then looked like one.
    reranker = make_tiny_reranker(tmp_path / "reranker.gguf")
    with pytest.raises(ModelError, match="is a reranker, not an embedding model"):
        LlamaCppEmbedder(reranker, model="r", binding=binding).embed_query(["a"])
    assert is_reranker(reranker) and not is_reranker(tiny_gguf)
    broken = tmp_path / "broken.gguf"
    for size in (0, 10, 24, 60, 300):
        broken.write_bytes(reranker.read_bytes()[:size])
        assert not is_reranker(broken)


def test_decoder_pools_the_last_token(tmp_path: Path, binding: str) -> None:
    embedder = LlamaCppEmbedder(make_tiny_decoder(tmp_path / "d.gguf"), model="decoder", binding=binding)
    forward, backward = embedder.embed_documents(["first second", "second first"])
    assert forward @ backward < 0.9999
    again = embedder.embed_documents(["first second"])[0]
    embedder.close()
    assert np.allclose(again, forward, atol=1e-4)


@pytest.mark.parametrize(
    ("build", "setting", "repacked"),
    [
        ("AVX2 = 1 | AMX_INT8 = 1 |", "auto", False),
        ("AVX2 = 1 | REPACK = 1 |", "auto", True),
        ("NEON = 1 | REPACK = 1 |", "auto", True),
        ("AMX_INT8 = 1 |", "on", True),
        ("NEON = 1 |", "off", False),
    ],
)
def test_weights_are_repacked_only_where_that_cannot_crash(build: str, setting: str, repacked: bool) -> None:
    """Repacking leads to llama.cpp's AMX code, which dies on some machines."""
    assert ModelOptions("", repack=setting).repacks(build) is repacked


def test_prefixes_go_before_the_text(tiny_gguf: Path, embedder: LlamaCppEmbedder) -> None:
    prefixed = LlamaCppEmbedder(
        tiny_gguf, model="tiny", query_prefix="query: ", document_prefix="text: ", binding=embedder.binding.name
    )
    assert close_to(prefixed.embed_query(["cats"]), embedder.embed_query(["query: cats"]))
    assert close_to(prefixed.embed_documents(["cats"]), embedder.embed_query(["text: cats"]))
    prefixed.close()


def test_progress_counts_every_text_once(embedder: LlamaCppEmbedder) -> None:
    seen: list[int] = []
    embedder.embed_documents(["some words here"] * 300, seen.append)
    assert sum(seen) == 300
    assert len(seen) > 1


def test_model_is_loaded_only_when_needed(tiny_gguf: Path) -> None:
    lazy = LlamaCppEmbedder(tiny_gguf, model="tiny", dimensions=32)
    assert lazy.dimensions == 32
    assert not lazy.loaded
    lazy.embed_query(["now"])
    assert lazy.loaded
    lazy.close()


def test_all_cores_embed_documents_while_questions_are_answered(
    tiny_gguf: Path, binding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama, "available_cores", lambda: 3)
    texts = [f"alpha {n} beta" for n in range(80)]
    embedder = LlamaCppEmbedder(tiny_gguf, model="tiny", binding=binding)
    expected = embedder.embed_documents(texts)
    counts: list[int] = []
    own = len(psutil.Process().children())
    with embedder.use_all_cores(), ThreadPoolExecutor(2) as pool:
        assert len(psutil.Process().children()) == own + 2
        documents = [pool.submit(embedder.embed_documents, texts, counts.append) for _ in range(2)]
        assert close_to(embedder.embed_query([texts[0]]), expected[:1])
        assert all(close_to(each.result(), expected) for each in documents)
    assert sum(counts) == 160
    assert len(psutil.Process().children()) == own
    embedder.close()


@pytest.mark.parametrize("memory", ["little", "much"])
def test_workers_that_memory_has_no_room_for_or_that_die_are_done_without(
    tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    monkeypatch.setattr(llama, "available_cores", lambda: 3)
    if memory == "little":
        monkeypatch.setattr(llama, "free_memory", lambda: 1_000_000)
    embedder = LlamaCppEmbedder(tiny_gguf, model="tiny").load()
    own = {each.pid for each in psutil.Process().children()}
    with embedder.use_all_cores():
        helpers = [each for each in psutil.Process().children() if each.pid not in own]
        assert len(helpers) == (0 if memory == "little" else 2)
        for helper in helpers:
            helper.kill()
        assert embedder.embed_documents([f"alpha {n} beta" for n in range(80)]).any(axis=1).all()
    embedder.close()


def test_close_twice_then_use_is_a_clear_error(tiny_gguf: Path) -> None:
    embedder = LlamaCppEmbedder(tiny_gguf, model="tiny").load()
    embedder.close()
    embedder.close()
    with pytest.raises(ModelError, match="was closed"):
        embedder.embed_query(["late"])


def test_many_loads_leak_no_file_descriptors(tiny_gguf: Path) -> None:
    LlamaCppEmbedder(tiny_gguf, model="tiny").load().close()
    before = len(os.listdir("/dev/fd"))
    for _ in range(6):
        LlamaCppEmbedder(tiny_gguf, model="tiny").load().close()
    assert len(os.listdir("/dev/fd")) == before


def test_llama_cpp_is_quiet_and_exits_cleanly(tiny_gguf: Path, binding: str) -> None:
    code = (
        "import sys; from openclaw_memory.embed.llama import LlamaCppEmbedder\n"
        f"e = LlamaCppEmbedder({str(tiny_gguf)!r}, model='t', binding={binding!r}); print(e.embed_query(['hi']).shape)\n"
        "assert not {'llama_cpp', 'xllamacpp'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 32)\n", "")


def test_the_bindings_give_the_same_vectors(tiny_gguf: Path) -> None:
    if len(installed_bindings()) < 2:
        pytest.skip("only one binding is installed")
    texts = ["a line of a note", "", "[CLS] [SEP]", "é 日本語 🦞", "word " * 20]
    rows = []
    for each in installed_bindings():
        embedder = LlamaCppEmbedder(tiny_gguf, model="tiny", binding=each.name)
        rows.append(embedder.embed_documents(texts))
        embedder.close()
    assert close_to(*rows)


def test_nan_in_the_weights_is_an_error(tmp_path: Path, tiny_gguf: Path) -> None:
    import gguf

    broken = tmp_path / "nan.gguf"
    broken.write_bytes(tiny_gguf.read_bytes())
    reader = gguf.GGUFReader(broken, "r+")
    tensor = next(t for t in reader.tensors if t.name == "token_embd_norm.bias")
    tensor.data[:] = np.nan
    del reader, tensor
    with pytest.raises(ModelError, match="text 1 of 2 is not a finite number"):
        LlamaCppEmbedder(broken, model="nan").embed_documents(["a", "b"])


# From settings to an embedder


def test_factory_takes_a_file_and_knows_its_content(tiny_gguf: Path, tmp_path: Path) -> None:
    mine = tmp_path / "user" / "nomic-embed-text-v1.5.Q8_0.gguf"
    mine.parent.mkdir()
    mine.write_bytes(tiny_gguf.read_bytes())
    chosen = Settings().with_values({"embedding.model": str(mine)})
    embedder = choose_embedder(chosen).embedder
    assert isinstance(embedder, LlamaCppEmbedder)
    assert embedder.model.startswith("nomic-embed-text-v1.5.q8_0@")
    assert embedder.query_prefix == "search_query: "
    assert embedder.dimensions == 32
    again = choose_embedder(chosen).embedder
    assert again is not None
    assert again.model == embedder.model
    assert [f.name for f in mine.parent.iterdir()] == [mine.name]
    mine.write_bytes(make_tiny_decoder(tmp_path / "d.gguf").read_bytes())
    changed = choose_embedder(chosen).embedder
    assert changed is not None
    assert changed.model != embedder.model
    embedder.close()


def test_factory_prefers_plugins_and_survives_theirs(tiny_gguf: Path, tmp_path: Path) -> None:
    mine = LlamaCppEmbedder(tiny_gguf, model="mine")
    chosen = Settings().with_values({"embedding.model": "mine"})
    assert choose_embedder(chosen, extra={"mine": lambda _: mine}).embedder is mine

    def broken(_: Settings) -> Embedder:
        raise RuntimeError("no licence")

    found = choose_embedder(chosen, extra={"mine": broken})
    assert found.embedder is None
    assert "no licence" in (found.reason or "")


def test_factory_http_without_a_key_searches_by_keywords_and_says_so(tmp_path: Path) -> None:
    values = {
        "embedding.provider": "http",
        "embedding.http_url": "http://127.0.0.1:9/v1",
        "embedding.http_model": "m",
        "embedding.http_api_key_env": "NO_SUCH_KEY_HERE",
    }
    found = choose_embedder(Settings().with_values(values))
    assert found.embedder is None
    assert "NO_SUCH_KEY_HERE" in (found.reason or "") and "searching by keywords" in (found.reason or "")
    chosen = choose_embedder(Settings().with_values({**values, "embedding.http_api_key_env": ""}))
    assert chosen.embedder is not None
    assert chosen.embedder.model == "http:127.0.0.1:9/m"


def test_one_thread_loads_however_often_it_is_told_to_start(tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LlamaCppEmbedder(tiny_gguf, model="tiny")
    gate, loads = threading.Event(), []
    load = model.load

    def slow() -> object:
        loads.append(threading.current_thread())
        assert gate.wait(20)
        return load()

    monkeypatch.setattr(model, "load", slow)
    for _ in range(40):
        model.start()
    gate.set()
    for thread in loads:
        thread.join(60)
    model.start()  # it is there
    assert len(loads) == 1 and model.loaded
    model.close()
