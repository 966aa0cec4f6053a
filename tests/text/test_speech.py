"""Phrases of people in any language: what is written with accents means what it says with them."""

from __future__ import annotations

import pytest
from tables import table

from openclaw_memory.text.speech import is_request, phrase_kinds, without_small_talk


@pytest.mark.parametrize(("sentence", "kind", "held"), table("speech.tsv", "a word with other accents is another word"))
def test_a_word_with_other_accents_is_another_word_where_accents_are_written(
    sentence: str, kind: str, held: str
) -> None:
    assert (kind in phrase_kinds(sentence)) is (held == "1")


def test_much_is_no_request_to_do_something() -> None:
    assert not is_request("Vui lắm")
    assert is_request("làm lại giúp tôi")


@pytest.mark.parametrize(
    "message",
    [
        "Thanks, it works!",
        "Спасибо, всё работает!",
        "Merci, ça marche !",
        "Gracias, ya funciona todo.",
        "谢谢，都好了。",
    ],
)
def test_thanks_with_a_word_behind_them_are_small_talk(message: str) -> None:
    assert not without_small_talk(message)
    assert without_small_talk(f"{message} Where is the green boat?") == "Where is the green boat?"


@pytest.mark.parametrize("message", ["Thanks, where is the boat?", "Danke, such das Boot", "Merci, où est le bateau ?"])
def test_a_question_behind_thanks_is_none(message: str) -> None:
    assert without_small_talk(message) == message
