"""A GGUF file shaped like Qwen3-Embedding-0.6B with random weights: it costs as much, and its vectors say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

LAYERS, WIDTH, INNER, HEADS, SHARED_HEADS, HEAD = 28, 1024, 3072, 16, 8, 128
#: Words that are one token each, as most are to the model's own tokenizer.
WORDS = 4000
#: Weights and bytes of a block of Q8_0: a scale of two bytes, and a byte a weight.
_BLOCK, _BYTES, _SCALE = 32, 34, 2.7e-4


def write(path: Path, texts: Iterable[str]) -> Path:
    """Write the file, with a vocabulary of the most frequent words of ``texts``; the same texts give the same bytes."""
    import gguf

    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_block_count(LAYERS)
    writer.add_context_length(32768)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED_HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_pooling_type(gguf.PoolingType.LAST)
    letters = _letters()
    words = Counter(word for text in texts for word in f" {text}".replace(" ", " Ġ").split())
    known = set(letters)
    begun = (word[:end] for word, _ in words.most_common(WORDS) for end in range(2, len(word) + 1))
    longer = [part for part in dict.fromkeys(begun) if known.issuperset(part)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([*letters, "<|endoftext|>", *longer])
    kinds = [int(gguf.TokenType.NORMAL)] * (len(letters) + 1 + len(longer))
    kinds[len(letters)] = int(gguf.TokenType.CONTROL)
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{part[:-1]} {part[-1]}" for part in longer])
    writer.add_eos_token_id(len(letters))
    writer.add_add_eos_token(True)
    random = np.random.default_rng(7)

    def matrix(name: str, rows: int, columns: int) -> None:
        data = random.integers(0, 256, (rows, columns // _BLOCK, _BYTES), np.uint8)
        data[:, :, :2] = np.array([_SCALE], np.float16).view(np.uint8)
        writer.add_tensor(f"{name}.weight", data.reshape(rows, -1), raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    def norm(name: str, size: int) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))

    matrix("token_embd", len(kinds), WIDTH)
    norm("output_norm", WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name, size in (("attn_norm", WIDTH), ("ffn_norm", WIDTH), ("attn_q_norm", HEAD), ("attn_k_norm", HEAD)):
            norm(f"{block}.{name}", size)
        for name, rows, columns in (
            ("attn_q", HEADS * HEAD, WIDTH),
            ("attn_k", SHARED_HEADS * HEAD, WIDTH),
            ("attn_v", SHARED_HEADS * HEAD, WIDTH),
            ("attn_output", WIDTH, HEADS * HEAD),
            ("ffn_gate", INNER, WIDTH),
            ("ffn_up", INNER, WIDTH),
            ("ffn_down", WIDTH, INNER),
        ):
            matrix(f"{block}.{name}", rows, columns)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _letters() -> list[str]:
    """The 256 letters by which byte-level BPE (GPT-2) writes bytes."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]
