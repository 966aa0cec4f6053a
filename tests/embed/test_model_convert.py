"""The converted GGUF computes what the published weights compute."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tiny_gguf import make_tiny_gguf, make_tiny_source

from openclaw_memory.embed.convert import llama_token
from openclaw_memory.embed.llama import LlamaCppEmbedder

TEXTS = [
    "the cat sat on the mat",
    "a",
    "Deploys go out on Tuesdays, after 14:00; ask Ana first!",
    "x" * 90,
    "quarterly report: revenue +3.5% (see notes/2024-05-01.md#L3-L9)",
    "",
]


def wordpiece(text: str, vocabulary: list[str]) -> list[int]:
    """Devlin et al. 2018: lower case, split at spaces and punctuation, longest match first."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    out = [ids["[CLS]"]]
    for word in re.findall(r"[a-z0-9]+|[^a-z0-9\s]", text.lower()):
        start, pieces = 0, []
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in ids:
                    pieces.append(ids[piece])
                    start = end
                    break
            else:
                pieces = [ids["[UNK]"]]
                break
        out += pieces
    return [*out, ids["[SEP]"]]


def bert(source: Path, tokens: list[int]) -> np.ndarray:
    """BERT in float64 (Devlin et al. 2018, post-norm, exact GELU), mean-pooled to unit length."""
    config = json.loads((source / "config.json").read_text())
    w = {k: v.astype(np.float64) for k, v in load_file(source / "model.safetensors").items()}
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]

    def dense(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def split(x: np.ndarray) -> np.ndarray:
        return x.reshape(len(x), heads, -1).transpose(1, 0, 2)

    erf = np.vectorize(math.erf)
    x = w["embeddings.word_embeddings.weight"][tokens]
    x = x + w["embeddings.position_embeddings.weight"][: len(tokens)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        q, k, v = (split(dense(x, f"{layer}.attention.self.{p}")) for p in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(len(x), -1)
        x = norm(x + dense(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = dense(x, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_source(tmp_path_factory.mktemp("source"))


def reference(source: Path) -> np.ndarray:
    vocabulary = (source / "vocab.txt").read_text().split("\n")[:-1]
    return np.stack([bert(source, wordpiece(text, vocabulary)) for text in TEXTS])


def test_q8_0_model_points_where_the_original_points(source: Path, tiny_gguf: Path) -> None:
    embedder = LlamaCppEmbedder(tiny_gguf, model="tiny")
    cosines = (embedder.embed_documents(TEXTS) * reference(source)).sum(1)
    embedder.close()
    assert cosines.min() > 0.998


def test_conversion_is_deterministic_and_small(tiny_gguf: Path, tmp_path: Path) -> None:
    again = make_tiny_gguf(tmp_path / "again.gguf")
    assert again.read_bytes() == tiny_gguf.read_bytes()
    assert again.stat().st_size < 200_000


def test_tokens_are_spelled_as_llama_cpp_does() -> None:
    assert [llama_token(t) for t in ("[CLS]", "run", "##ning", "[")] == ["[CLS]", "▁run", "ning", "▁["]
