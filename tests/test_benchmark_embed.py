"""The comparison with llama.cpp alone, on tiny models: it measures, and the random model is one that llama.cpp runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import embed, random_gguf
from openclaw_memory.embed.bindings import installed_bindings
from openclaw_memory.embed.llama import LlamaCppEmbedder


def test_what_is_printed(tiny_gguf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "TOKENS", (192,))
    monkeypatch.setattr(embed, "BESIDE", (1, 4))
    embed.main(["--model", str(tiny_gguf), "--lines", "12", "--rounds", "1"])
    printed = capsys.readouterr().out
    for binding in installed_bindings():
        assert f"{binding}, 12 lines, threads: 1" in printed
    assert printed.count("our worker") == printed.count("an ingest") == len(installed_bindings()) > 0


def test_a_shape_with_random_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["the tent leaks", "the stove smokes", "漏れる tent"]
    shape = random_gguf.tiny("qwen3-embedding-0.6b")
    path = random_gguf.write(tmp_path / "random.gguf", shape, texts)
    assert path.read_bytes() == random_gguf.write(tmp_path / "again.gguf", shape, texts).read_bytes()
    embedder = LlamaCppEmbedder(path, model="random")
    try:
        assert embedder.embed_documents(texts).shape == (3, shape.width)
        if not embedder.gpu:
            embed.main(["--model", str(path), "--lines", "2", "--gpu"])
            assert "left out: this build computes on no GPU" in capsys.readouterr().out
    finally:
        embedder.close()
