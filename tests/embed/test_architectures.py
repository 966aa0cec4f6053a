"""Every model of the registry has an architecture that the bindings load, with its pooling and its dimensions."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from benchmarks import random_gguf
from openclaw_memory.embed import registry
from openclaw_memory.embed.bindings import BINDINGS
from openclaw_memory.embed.gguf_file import pooling
from openclaw_memory.embed.llama import LlamaCppEmbedder
from openclaw_memory.errors import ModelError

TEXTS = ["the cat sat on the mat", "mat the on sat cat the", "a", "note " * 90, "é 日本語 🦞"]


def embed(file: Path, binding: str, pooling: str = "") -> np.ndarray:
    embedder = LlamaCppEmbedder(file, model=file.stem, binding=binding, pooling=pooling)
    try:
        together = embedder.embed_documents(TEXTS)
        alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
        assert (together * alone).sum(1).min() > 0.9995
        return together
    finally:
        embedder.close()


def test_there_is_a_shape_of_each_model_that_comes_as_gguf() -> None:
    assert list(random_gguf.SHAPES) == [entry.name for entry in registry.ENTRIES if entry.url]
    for entry in registry.ENTRIES:
        if entry.url:
            shape = random_gguf.SHAPES[entry.name]
            assert (entry.pooling, entry.dimensions) == (shape.pooling, shape.output or shape.width)


@pytest.mark.parametrize("binding", [binding.name for binding in BINDINGS if binding.installed])
@pytest.mark.parametrize("model", list(random_gguf.SHAPES))
def test_it_is_loaded_and_pooled(model: str, binding: str, tmp_path: Path) -> None:
    entry, shape = registry.get(model), random_gguf.tiny(model)
    assert entry is not None
    file = random_gguf.write(tmp_path / "m.gguf", shape)
    if entry.needs not in (None, binding):
        with pytest.raises(ModelError, match="cannot load this model"):
            embed(file, binding)
        return
    vectors = embed(file, binding)
    assert vectors.shape == (len(TEXTS), 32)
    assert np.array_equal(vectors, embed(file, binding))
    assert (vectors[1:] * vectors[:-1]).sum(1).min() < 0.99
    # What the authors say goes before what a file says.
    other = dataclasses.replace(shape, pooling="CLS" if shape.pooling == "MEAN" else "MEAN")
    wrong = random_gguf.write(tmp_path / "wrong.gguf", other)
    assert pooling(wrong) == other.pooling
    assert np.allclose(embed(wrong, binding, shape.pooling), vectors, atol=1e-5)
    assert not np.allclose(embed(wrong, binding), vectors, atol=1e-3)
