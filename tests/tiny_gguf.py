"""Tiny real models for tests: a BERT made by our own converter, and a decoder with last-token pooling.

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


END = "<|endoftext|>"


def make_tiny_decoder(path: Path) -> Path:
    """Write a one-layer Qwen3 with byte tokens, last-token pooling and an end token that is appended."""
    import gguf

    random, d, head, layers = np.random.default_rng(7), 32, 16, 1
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_block_count(layers)
    writer.add_context_length(512)
    writer.add_embedding_length(d)
    writer.add_feed_forward_length(2 * d)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_pooling_type(gguf.PoolingType.LAST)
    letters = [*_byte_letters(), END]
    normal, control = int(gguf.TokenType.NORMAL), int(gguf.TokenType.CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([*letters, "ab"])
    writer.add_token_types([normal] * 256 + [control, normal])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(256)
    writer.add_add_eos_token(True)

    def tensor(name: str, *shape: int) -> None:
        values = random.normal(0, 0.3, shape).astype(np.float32)
        writer.add_tensor(name, 1 + values if name.endswith("norm.weight") else values)

    tensor("token_embd.weight", len(letters) + 1, d)
    tensor("output_norm.weight", d)
    for i in range(layers):
        for part in ("attn_norm", "ffn_norm"):
            tensor(f"blk.{i}.{part}.weight", d)
        for part in ("attn_q_norm", "attn_k_norm"):
            tensor(f"blk.{i}.{part}.weight", head)
        for part in ("attn_q", "attn_k", "attn_v"):
            tensor(f"blk.{i}.{part}.weight", 2 * head, d)
        tensor(f"blk.{i}.attn_output.weight", d, 2 * head)
        for part in ("ffn_gate", "ffn_up"):
            tensor(f"blk.{i}.{part}.weight", 2 * d, d)
        tensor(f"blk.{i}.ffn_down.weight", d, 2 * d)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _byte_letters() -> list[str]:
    """The 256 letters by which byte-level BPE (GPT-2) writes bytes."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(others)) for b in range(256)]
