"""The comparison with llama.cpp alone, on tiny models: it measures, and the random model is one that llama.cpp runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import embed, random_qwen3
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


def test_the_shape_of_qwen3_with_random_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_qwen3, "LAYERS", 1)
    monkeypatch.setattr(random_qwen3, "INNER", 64)
    texts = ["the tent leaks", "the stove smokes", "漏れる tent"]
    path = random_qwen3.write(tmp_path / "random.gguf", texts)
    assert path.read_bytes() == random_qwen3.write(tmp_path / "again.gguf", texts).read_bytes()
    embedder = LlamaCppEmbedder(path, model="random")
    try:
        assert embedder.embed_documents(texts).shape == (3, random_qwen3.WIDTH)
        if not embedder.gpu:
            embed.main(["--model", str(path), "--lines", "2", "--gpu"])
            assert "left out: this build computes on no GPU" in capsys.readouterr().out
    finally:
        embedder.close()
