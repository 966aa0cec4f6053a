"""BERT weights (safetensors, WordPiece vocabulary) to the GGUF file that llama.cpp reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ..errors import ModelError

Quantization = Literal["q8_0", "f32"]
Pooling = Literal["mean", "cls"]

#: What :func:`convert` reads from its source folder.
CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocab.txt", "model.safetensors"

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: llama.cpp marks the start of a word where WordPiece marks its continuation.
WORD_START = "\u2581"

# llama.cpp's own converter keeps these in F32 whatever the file type; their rows are added, not multiplied.
_ALWAYS_F32 = ("position_embd.weight", "token_types.weight")

# The weights of the heads that BERT was trained with; an embedder has no use for them.
_UNUSED = ("pooler.", "cls.", "bert.pooler.")


def convert(
    source: Path,
    target: Path,
    *,
    name: str,
    quantization: Quantization = "q8_0",
    pooling: Pooling = "mean",
    licence: str | None = None,
) -> None:
    """Write the BERT model in the folder ``source`` as the GGUF file ``target``.

    ``source`` holds ``config.json``, ``vocab.txt`` and ``model.safetensors`` as published by
    sentence-transformers.  The same input gives the same bytes.  ``target`` is written in place: a
    caller that must never show half a file passes a temporary name.  Raises
    :class:`~openclaw_memory.errors.ModelError` when the folder is not such a model.
    """
    import gguf

    config = _read_config(source / CONFIG)
    tokens = _read_vocabulary(source / VOCABULARY, config["vocab_size"])
    writer = gguf.GGUFWriter(target, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.BERT])
    try:
        _add_metadata(writer, config, name, quantization, pooling, licence)
        _add_vocabulary(writer, tokens)
        _add_tensors(writer, source / WEIGHTS, config, quantization)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _read_config(file: Path) -> Mapping[str, Any]:
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read ({error}); pull the model again") from error
    if config.get("model_type") != "bert":
        raise ModelError(
            f"{file}: model type {config.get('model_type')!r} cannot be converted, only 'bert' can; "
            "get a ready GGUF file of this model instead"
        )
    needed = (
        "vocab_size",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "max_position_embeddings",
        "type_vocab_size",
        "layer_norm_eps",
    )
    missing = [key for key in needed if not isinstance(config.get(key), (int, float))]
    if missing:
        raise ModelError(f"{file}: no value for {', '.join(missing)}; pull the model again")
    return config


def _read_vocabulary(file: Path, size: int) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{file}: cannot be read ({error}); pull the model again") from error
    # Not splitlines(): a vocabulary may hold characters that Python counts as line ends.
    tokens = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    if len(tokens) != size or any(token not in tokens for token in SPECIAL_TOKENS):
        raise ModelError(
            f"{file}: {len(tokens)} tokens where the configuration says {size}, "
            f"or one of {' '.join(SPECIAL_TOKENS)} is missing; pull the model again"
        )
    return tokens


def _add_metadata(
    writer: Any, config: Mapping[str, Any], name: str, quantization: str, pooling: str, licence: str | None
) -> None:
    import gguf

    file_types = {"q8_0": gguf.LlamaFileType.MOSTLY_Q8_0, "f32": gguf.LlamaFileType.ALL_F32}
    pooling_types = {"mean": gguf.PoolingType.MEAN, "cls": gguf.PoolingType.CLS}
    writer.add_type("model")
    writer.add_name(name)
    if licence:
        writer.add_license(licence)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(float(config["layer_norm_eps"]))
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling_types[pooling])
    writer.add_file_type(file_types[quantization])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_token_type_count(config["type_vocab_size"])


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
    """A WordPiece token in llama.cpp's spelling: ``##ing`` to ``ing``, ``run`` to ``▁run``."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else WORD_START + token


def _add_tensors(writer: Any, file: Path, config: Mapping[str, Any], quantization: Quantization) -> None:
    import gguf
    import numpy as np
    from safetensors import SafetensorError, safe_open

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    found: set[str] = set()
    try:
        with safe_open(file, framework="numpy") as weights:
            for key in sorted(weights.keys()):
                if key.startswith(_UNUSED) or key.endswith("position_ids"):
                    continue
                name = names.get_name(key.removeprefix("bert."), try_suffixes=(".weight", ".bias"))
                if name is None:
                    raise ModelError(f"{file}: tensor {key} has no place in a BERT model; get a GGUF file instead")
                tensor = np.asarray(weights.get_tensor(key), dtype=np.float32)
                found.add(name)
                kind = gguf.GGMLQuantizationType.F32
                rows_fit = tensor.ndim == 2 and tensor.shape[1] % gguf.GGML_QUANT_SIZES[_q8()][0] == 0
                if quantization == "q8_0" and rows_fit and name not in _ALWAYS_F32:
                    kind = _q8()
                writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{file}: is not a readable safetensors file ({error}); pull the model again") from error
    lacking = _expected(config["num_hidden_layers"]) - found
    if lacking:
        raise ModelError(f"{file}: lacks {len(lacking)} tensors, such as {min(lacking)}; pull the model again")


def _q8() -> Any:
    import gguf

    return gguf.GGMLQuantizationType.Q8_0


def _expected(layers: int) -> set[str]:
    per_layer = ("attn_q", "attn_k", "attn_v", "attn_output", "attn_output_norm", "ffn_up", "ffn_down")
    names = {"token_embd.weight", *_ALWAYS_F32, "token_embd_norm.weight", "token_embd_norm.bias"}
    for layer in range(layers):
        for part in (*per_layer, "layer_output_norm"):
            names |= {f"blk.{layer}.{part}.weight", f"blk.{layer}.{part}.bias"}
    return names
