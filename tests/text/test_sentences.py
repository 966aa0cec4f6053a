"""Sentences of many scripts, with their offsets."""

from __future__ import annotations

import pytest
from tables import table

from openclaw_memory.text.sentences import ends_sentence, sentence_spans


@pytest.mark.parametrize("sentences", table("sentences.tsv", "a sentence ends where its script says"))
def test_a_sentence_ends_where_its_script_says(sentences: tuple[str, ...]) -> None:
    text = " ".join(sentences)
    assert tuple(text[start:end] for start, end in sentence_spans(text)) == sentences


@pytest.mark.parametrize("sentences", [["他说：“好。”", "然后走了！", "明天见"], ["元気ですか？", "はい。", "では"]])
def test_sentences_without_blanks_between_them(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize("text", ["Done.", "好。", "ठीक। ✅", "**Fertig!**", "“Quoi ?”", "نعم۔", "Да… 🙂"])
def test_what_ends_as_a_sentence(text: str) -> None:
    assert ends_sentence(text)


@pytest.mark.parametrize("text", ["Done", "v1.2", "10.0.0.1", "好", "a.b"])
def test_what_does_not(text: str) -> None:
    assert not ends_sentence(text)
