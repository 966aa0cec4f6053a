"""How well a model knows the language of a question, and what its vectors count for then."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hashing import HashingEmbedder
from openclaw_memory.embed import vocabulary
from openclaw_memory.model.embedder import LocalModel
from openclaw_memory.search import features
from openclaw_memory.search.bm25 import KeywordScores


class Reading(HashingEmbedder, LocalModel):
    """An embedder whose model file can be read."""

    failure = None

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def start(self) -> None:
        pass


def gguf(path: Path, tokens: list[str]) -> Path:
    """A model file with nothing but metadata: numbers, arrays, and the tokenizer's pieces."""

    def text(value: str) -> bytes:
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    scores = struct.pack("<IIQ", 9, 6, 2) + struct.pack("<2f", 0, 1)
    names = struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    pieces = struct.pack("<IIQ", 9, 8, len(tokens)) + b"".join(map(text, tokens))
    fields = {"one": struct.pack("<II", 4, 7), "two": struct.pack("<I", 8) + text("x"), "three": scores, "four": names}
    fields["tokenizer.ggml.tokens"] = pieces
    body = b"".join(text(name) + value for name, value in fields.items())
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + body)
    return path


ENGLISH = "▁where ▁is ▁the ▁invoice ing ▁cafe re ch nun м о 服 务".split()


def test_a_model_knows_the_languages_that_its_tokenizer_has_words_for(tmp_path: Path) -> None:
    english = Reading(gguf(tmp_path / "en.gguf", ENGLISH))
    several = Reading(gguf(tmp_path / "many.gguf", [*ENGLISH, "▁где", "▁мой", "▁счёт", "服务", "哪里"]))
    of_bytes = Reading(gguf(tmp_path / "bytes.gguf", ["\u0120where", "ing"]))
    for model, text, least, most in (
        (english, "Where is the invoice?", 1, 1),
        (english, "café", 1, 1),
        (english, "где мой счёт", 0, 0),
        (english, "服务器在哪里", 0, 0),
        (english, "invoice 服务器", 0.01, 0.99),
        (english, "Kde je moje faktura", 0, 0),  # without a letter that English does not have
        (english, "Rechnung", 0.01, vocabulary.language_coverage(english, "Rechnung invoice") - 0.01),
        (english, "24/7?", 1, 1),
        (english, "is an X-9 in the cafe?", 1, 1),  # a short word has few letters in any language
        (several, "где мой счёт", 1, 1),
        (several, "服务哪里", 1, 1),
        (of_bytes, "счёт", 1, 1),  # not told by bytes
    ):
        assert least <= vocabulary.language_coverage(model, text) <= most, text


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF" + b"\xff" * 60, b"no model at all" * 9])
def test_a_vocabulary_that_cannot_be_read_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    assert vocabulary.language_coverage(Reading(tmp_path / "m.gguf"), "счёт") == 1
    assert vocabulary.language_coverage(Reading(tmp_path / "none.gguf"), "счёт") == 1
    assert vocabulary.language_coverage(HashingEmbedder(), "счёт") == 1


@pytest.mark.parametrize(("held", "knowledge", "first"), [(0.3, 0.0, 0), (0.3, 1.0, 1), (0.0, 0.0, 1)])
def test_vectors_that_mean_nothing_leave_it_to_the_words(held: float, knowledge: float, first: int) -> None:
    # Row 0 holds a share of the question, row 1 is nearer in meaning; without a shared word there is only that.
    idf = np.array([held, 1 - held], np.float32)
    scores = np.array([held, 0.0], np.float32)
    rows = (np.array([0] if held else [], np.int32), np.zeros(0, np.int32))
    keyword = KeywordScores(("a", "b"), idf, scores, scores, rows)
    values = {"bm25_unit": scores, "bm25_window": scores}
    values |= dict.fromkeys(features.VECTOR_FEATURES, np.array([0.2, 0.6], np.float32))
    computed = features.Features(values, keyword, language_coverage=knowledge)
    assert int(np.argmax(features.fuse(computed, features.WEIGHTS))) == first


def test_a_word_that_the_tokenizer_has_whole_is_known(tmp_path: Path) -> None:
    model = Reading(gguf(tmp_path / "m.gguf", [*ENGLISH, "\u2581Datei", "\u2581где", "\u0120server", "\u2581invo"]))
    for word in ("invoice", "Invoice", "café", "datei", "где", "Server"):
        assert vocabulary.knows_word(model, word), word
    for word in ("invocie", "nun", "voice", "invoices", "гдее", "服务"):
        assert not vocabulary.knows_word(model, word), word
    assert not vocabulary.knows_word(Reading(tmp_path / "none.gguf"), "invoice")
    assert not vocabulary.knows_word(HashingEmbedder(), "invoice")
