"""GGUF files with the architectures and sizes of known models and random weights: they cost as much and say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

#: Words that are one token each, as most are to the model's own tokenizer.
WORDS = 4000
#: Weights and bytes of a block of Q8_0, a scale of two bytes and a byte a weight; the deviation of the bytes.
_BLOCK, _BYTES, _DEVIATION = 32, 34, 73.9
#: A layer in this many of a Gemma attends to the whole text; in EmbeddingGemma 2 with heads that are twice as wide.
_FULL = 6


@dataclass(frozen=True)
class Shape:
    """Sizes of a model.

    ``inner`` is the wide middle of a layer, ``shared_heads`` those of keys and values, ``head`` the width of a head
    (0: an equal part of ``width``), ``vocabulary`` the rows of the token table, at least the tokens that are needed;
    ``output`` the length of a vector where it is not ``width``; ``tokenizer`` llama.cpp's name of the pre-tokenizer.
    """

    architecture: str
    layers: int
    width: int
    inner: int
    heads: int
    shared_heads: int
    pooling: str = "MEAN"
    head: int = 0
    vocabulary: int = 0
    experts: int = 0
    output: int = 0
    context: int = 512
    tokenizer: str = "qwen2"
    activation: str = "gelu"


#: The registry's models that come as GGUF files, by name.
SHAPES = {
    "embeddinggemma-300m": Shape("gemma-embedding", 24, 768, 1152, 3, 1, head=256, vocabulary=262_144),
    "embeddinggemma-2": Shape("gemma-embedding2", 24, 512, 2048, 4, 2, head=256, vocabulary=262_144, output=768),
    "granite-embedding-97m-multilingual-r2": Shape(
        "modern-bert", 12, 384, 1536, 12, 12, "CLS", vocabulary=180_000, tokenizer="granite-embed-multi-97m",
        activation="silu",
    ),
    "bekko-embedding-v1-a8m": Shape("modern-bert", 4, 384, 1152, 6, 6, vocabulary=256_000),
    "qwen3-embedding-0.6b": Shape("qwen3", 28, 1024, 3072, 16, 8, "LAST", head=128, vocabulary=151_669),
    "bge-m3": Shape("bert", 24, 1024, 4096, 16, 16, "CLS", vocabulary=250_002),
    "nomic-embed-text-v2-moe": Shape("nomic-bert-moe", 12, 768, 3072, 12, 12, vocabulary=250_048, experts=8),
}  # fmt: skip


def tiny(name: str) -> Shape:
    """Return the shape of the model ``name`` with few and narrow layers, for tests: vectors of 32 dimensions."""
    shape = SHAPES[name]
    one_of_each = _FULL if shape.architecture.startswith("gemma") else 2
    alike = shape.shared_heads == shape.heads or shape.output
    return replace(
        shape, layers=one_of_each, width=32, inner=64, heads=2, shared_heads=2 if alike else 1,
        head=32 if shape.head else 0, vocabulary=0, output=shape.output and 32,
    )  # fmt: skip


def write(path: Path, shape: Shape, texts: Iterable[str] = ()) -> Path:
    """Write the file with the most frequent words of ``texts`` as tokens; the same texts give the same bytes."""
    import gguf

    writer = gguf.GGUFWriter(path, shape.architecture)
    tokens = _add_vocabulary(writer, shape, texts)
    adders: dict[type, Any] = {
        bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string,
        list: writer.add_array,
    }  # fmt: skip
    for key, value in _settings(shape).items():
        adders[type(value)](f"{shape.architecture}.{key}", value)
    writer.add_pooling_type(gguf.PoolingType[shape.pooling])
    writer.add_token_type_count(1)
    random = np.random.default_rng(7)
    for name, *size in _tensors(shape, tokens):
        if len(size) == 1:
            writer.add_tensor(name, np.full(size, name.endswith("weight"), np.float32))
        elif name.startswith(("position_embd", "token_types")):
            writer.add_tensor(name, random.normal(0, 0.1, size).astype(np.float32))
        else:
            data = random.integers(0, 256, (*size[:-1], size[-1] // _BLOCK, _BYTES), np.uint8)
            data[..., :2] = np.array([size[-1] ** -0.5 / _DEVIATION], np.float16).view(np.uint8)
            writer.add_tensor(name, data.reshape(*size[:-1], -1), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: Any, shape: Shape, texts: Iterable[str]) -> int:
    import gguf

    letters = [*_letters(), "<|endoftext|>"]
    words = Counter(word for text in texts for word in f" {text}".replace(" ", " Ġ").split())
    known = set(letters)
    begun = (word[:end] for word, _ in words.most_common(WORDS) for end in range(2, len(word) + 1))
    longer = [part for part in dict.fromkeys(begun) if known.issuperset(part)] or ["ab"]
    unused = [f"[unused{at}]" for at in range(shape.vocabulary - len(letters) - len(longer))]
    kinds = [gguf.TokenType.NORMAL] * (len(letters) - 1) + [gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.NORMAL] * len(longer) + [gguf.TokenType.UNUSED] * len(unused)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(shape.tokenizer)
    writer.add_token_list([*letters, *longer, *unused])
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{part[:-1]} {part[-1]}" for part in longer])
    end = len(letters) - 1
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_sep_token_id, writer.add_pad_token_id):
        add(end)
    # An encoder's text has a token at its beginning, which CLS takes; a decoder's last one is at its end.
    writer.add_add_bos_token("qwen" not in shape.architecture)
    writer.add_add_eos_token(True)
    return len(kinds)


def _settings(shape: Shape) -> dict[str, Any]:
    head = shape.head or shape.width // shape.heads
    values: dict[str, Any] = {
        "block_count": shape.layers,
        "context_length": shape.context,
        "embedding_length": shape.width,
        "feed_forward_length": shape.inner,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.shared_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "attention.layer_norm_epsilon": 1e-5,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 1e6,
    }
    if "qwen" not in shape.architecture:
        values["attention.causal"] = False
    if shape.architecture.startswith(("modern", "gemma")):
        values |= {"attention.sliding_window": 128, "rope.freq_base_swa": 1e4, "hidden_activation": shape.activation}
    if shape.experts:
        values |= {"moe_every_n_layers": 2, "expert_count": shape.experts, "expert_used_count": 2}
    if shape.output:
        values |= {f"attention.{part}_length": 2 * head for part in ("key", "value")}
        values |= {f"attention.{part}_length_swa": head for part in ("key", "value")}
        values |= {"rope.dimension_count": 2 * head, "rope.dimension_count_swa": head}
        values |= {"embedding_length_per_layer_input": shape.width, "embedding_length_out": shape.output}
        values["attention.head_count_kv"] = [_heads(shape, layer)[1] for layer in range(shape.layers)]
    return values


def _heads(shape: Shape, layer: int) -> tuple[int, int]:
    """Return the width of a head in ``layer``, and how many there are of keys."""
    head = shape.head or shape.width // shape.heads
    return (
        (2 * head, shape.shared_heads // 2)
        if shape.output and layer % _FULL == _FULL - 1
        else (head, shape.shared_heads)
    )


def _tensors(shape: Shape, tokens: int) -> Iterator[tuple[Any, ...]]:
    """Yield the name and size of each tensor, rows first, as llama.cpp expects them of the architecture."""
    width, inner, kind = shape.width, shape.inner, shape.architecture
    bert, gemma = kind in ("bert", "nomic-bert-moe"), kind.startswith("gemma")
    yield "token_embd.weight", tokens, width
    if bert:
        yield "token_types.weight", 1, width
        yield "token_embd_norm.bias", width
    if kind == "bert":
        yield "position_embd.weight", shape.context, width
    if bert or kind == "modern-bert":
        yield "token_embd_norm.weight", width
    if not bert:
        yield "output_norm.weight", width
    if shape.output:
        yield "output.weight", shape.output, width
        yield "per_layer_model_proj.weight", width * shape.layers, width
        yield "per_layer_proj_norm.weight", width
    for layer in range(shape.layers):
        head, shared = _heads(shape, layer)
        block: list[tuple[Any, ...]] = [("attn_output.weight", width, head * shape.heads)]
        if kind in ("modern-bert", "nomic-bert-moe"):
            block += [("attn_qkv.weight", 3 * width, width)]
        else:
            block += [("attn_q.weight", head * shape.heads, width)]
            block += [(f"attn_{part}.weight", head * shared, width) for part in "kv"]
        if bert:
            block += [
                (f"{norm}.{part}", width)
                for norm in ("attn_output_norm", "layer_output_norm")
                for part in ("weight", "bias")
            ]
        else:
            block += [(f"{norm}.weight", width) for norm in ("attn_norm", "ffn_norm")]
        if kind == "qwen3" or gemma:
            block += [(f"attn_{part}_norm.weight", head) for part in "qk"] + [("ffn_gate.weight", inner, width)]
        if gemma:
            block += [(f"{norm}.weight", width) for norm in ("post_attention_norm", "post_ffw_norm")]
        if shape.output:
            block += [(f"{part}.weight", width, width) for part in ("inp_gate", "proj")]
            block += [("post_norm.weight", width), ("layer_output_scale.weight", 1)]
        if shape.experts and layer % 2:
            block += [
                ("ffn_gate_inp.weight", shape.experts, width),
                ("ffn_up_exps.weight", shape.experts, inner, width),
            ]
            block += [("ffn_down_exps.weight", shape.experts, width, inner)]
        else:
            up = 2 * inner if kind == "modern-bert" else inner
            block += [("ffn_up.weight", up, width), ("ffn_down.weight", width, inner)]
        yield from ((f"blk.{layer}.{name}", *size) for name, *size in block)


def _letters() -> list[str]:
    """The 256 letters by which byte-level BPE (GPT-2) writes bytes."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]
