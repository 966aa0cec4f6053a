"""Tiny real models for tests: a BERT made by our own converter, and one of each other architecture.

Their weights come from a fixed seed, so vectors are the same everywhere; their vocabularies take any
text.  They are models in every respect but sense.
"""

from __future__ import annotations

import json
import string
import struct
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import random_gguf
from openclaw_memory.embed.convert import SPECIAL_TOKENS, convert

DIMENSIONS = 32
LAYERS = 2
HEADS = 2
POSITIONS = 256


def vocabulary() -> list[str]:
    """Special tokens, every printable ASCII character, and pairs of lower-case letters."""
    single = [c for c in string.printable if not c.isspace() and not c.isupper()]
    pairs = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    return [*SPECIAL_TOKENS, *single, *pairs, *(f"##{t}" for t in (*single, *pairs))]


def make_tiny_source(folder: Path) -> Path:
    """Write a BERT as sentence-transformers publishes it: configuration, vocabulary, safetensors."""
    from safetensors.numpy import save_file

    tokens = vocabulary()
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "bert",
        "vocab_size": len(tokens),
        "hidden_size": DIMENSIONS,
        "intermediate_size": 2 * DIMENSIONS,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    save_file(_bert_weights(len(tokens)), folder / "model.safetensors")
    return folder


def make_tiny_gguf(path: Path, name: str = "tiny") -> Path:
    """Write the tiny BERT as GGUF: 32 dimensions, context of 256 tokens, under 200 KB."""
    with tempfile.TemporaryDirectory() as folder:
        convert(make_tiny_source(Path(folder)), path, name=name, licence="mit")
    return path


def make_tiny_reranker(path: Path) -> Path:
    """Write the tiny BERT with the pooling of a cross-encoder."""
    key, mean, rank = b"bert.pooling_type" + struct.pack("<I", 4), struct.pack("<I", 1), struct.pack("<I", 4)
    data = make_tiny_gguf(path).read_bytes()
    assert key + mean in data
    path.write_bytes(data.replace(key + mean, key + rank))
    return path


def _bert_weights(size: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(20240501)

    def normal(*shape: int, scale: float) -> np.ndarray:
        return random.normal(0, scale, shape).astype(np.float32)

    d = DIMENSIONS
    weights = {
        "embeddings.word_embeddings.weight": normal(size, d, scale=1.0),
        "embeddings.position_embeddings.weight": normal(POSITIONS, d, scale=0.1),
        "embeddings.token_type_embeddings.weight": normal(2, d, scale=0.1),
        "embeddings.position_ids": np.arange(POSITIONS)[None],
        "pooler.dense.weight": normal(d, d, scale=0.1),
        "pooler.dense.bias": normal(d, scale=0.1),
    }

    def dense(name: str, rows: int, columns: int) -> None:
        weights[f"{name}.weight"] = normal(rows, columns, scale=0.15)
        weights[f"{name}.bias"] = normal(rows, scale=0.1)

    def layer_norm(name: str) -> None:
        weights[f"{name}.weight"] = 1 + normal(d, scale=0.1)
        weights[f"{name}.bias"] = normal(d, scale=0.1)

    layer_norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            dense(f"{layer}.attention.self.{part}", d, d)
        dense(f"{layer}.attention.output.dense", d, d)
        layer_norm(f"{layer}.attention.output.LayerNorm")
        dense(f"{layer}.intermediate.dense", 2 * d, d)
        dense(f"{layer}.output.dense", d, 2 * d)
        layer_norm(f"{layer}.output.LayerNorm")
    return weights


def make_tiny_decoder(path: Path) -> Path:
    """Write a small Qwen3 with byte tokens, last-token pooling and an end token that is appended."""
    return random_gguf.write(path, random_gguf.tiny("qwen3-embedding-0.6b"))
