"""BERT weights (safetensors, WordPiece vocabulary) to the GGUF file that llama.cpp reads.

What is converted has the sha256 that the registry names, so it is not checked here again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# llama.cpp's own converter keeps these in F32 whatever the file type; their rows are added, not multiplied.
_ALWAYS_F32 = ("position_embd.weight", "token_types.weight")


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder: of its vectors, layers, heads, the wide middle of a layer, and its tables."""

    hidden: int
    layers: int
    heads: int
    middle: int
    vocabulary: int
    positions: int
    types: int


@contextmanager
def encoder_file(target: Path, shape: Shape, epsilon: float, file_type: int, name: str, licence: str) -> Iterator[Any]:
    """A writer of the GGUF file ``target`` with the metadata of a BERT model; the tensors are written at the end.

    ``target`` is written in place: a caller that must never show half a file passes a temporary name.
    """
    import gguf

    writer = gguf.GGUFWriter(target, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.BERT])
    try:
        writer.add_type("model")
        writer.add_name(name)
        writer.add_license(licence)
        writer.add_block_count(shape.layers)
        writer.add_context_length(shape.positions)
        writer.add_embedding_length(shape.hidden)
        writer.add_feed_forward_length(shape.middle)
        writer.add_head_count(shape.heads)
        writer.add_layer_norm_eps(epsilon)
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.MEAN)
        writer.add_file_type(file_type)
        writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
        writer.add_token_type_count(shape.types)
        yield writer
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def convert(source: Path, target: Path, *, name: str, licence: str) -> None:
    """Write the BERT model in the folder ``source`` as the GGUF file ``target``, in eight bits.

    ``source`` holds ``config.json``, ``vocab.txt`` and ``model.safetensors`` as published by
    sentence-transformers.  The same input gives the same bytes.
    """
    import gguf

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    # Not splitlines(): a vocabulary may hold characters that Python counts as line ends.
    tokens = (source / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    shape = Shape(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        middle=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        types=config["type_vocab_size"],
    )
    kind = gguf.LlamaFileType.MOSTLY_Q8_0
    with encoder_file(target, shape, config["layer_norm_eps"], kind, name, licence) as writer:
        _add_vocabulary(writer, tokens)
        _add_tensors(writer, source / "model.safetensors", shape.layers)


def _add_vocabulary(writer: Any, tokens: Sequence[str]) -> None:
    import gguf

    kinds = [gguf.TokenType.CONTROL if token in SPECIAL_TOKENS else gguf.TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("bert")
    # llama.cpp reads the name for BPE vocabularies only; this is what its converter writes for BERT.
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([llama_token(token) for token in tokens])
    writer.add_token_types(kinds)
    writer.add_unk_token_id(tokens.index("[UNK]"))
    writer.add_sep_token_id(tokens.index("[SEP]"))
    writer.add_pad_token_id(tokens.index("[PAD]"))
    writer.add_mask_token_id(tokens.index("[MASK]"))
    # llama.cpp has no [CLS] of its own: what opens a sequence is the BOS token.
    writer.add_bos_token_id(tokens.index("[CLS]"))
    writer.add_uint32("tokenizer.ggml.cls_token_id", tokens.index("[CLS]"))


def llama_token(token: str) -> str:
    """A WordPiece token in llama.cpp's spelling, which marks beginnings: ``##ing`` to ``ing``, ``run`` to ``▁run``."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else f"\u2581{token}"


def _add_tensors(writer: Any, file: Path, layers: int) -> None:
    import gguf
    import numpy as np
    from safetensors import safe_open

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    q8 = gguf.GGMLQuantizationType.Q8_0
    with safe_open(file, framework="numpy") as weights:
        for key in sorted(weights.keys()):
            name = names.get_name(key, try_suffixes=(".weight", ".bias"))
            if name is None or key.startswith("pooler."):  # heads that BERT was trained with, which no embedder uses
                continue
            tensor = np.asarray(weights.get_tensor(key), dtype=np.float32)
            rows_fit = tensor.ndim == 2 and tensor.shape[1] % gguf.GGML_QUANT_SIZES[q8][0] == 0
            kind = q8 if rows_fit and name not in _ALWAYS_F32 else gguf.GGMLQuantizationType.F32
            writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
