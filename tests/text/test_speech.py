"""Phrases of people in any language: what is written with accents means what it says with them."""

from __future__ import annotations

import pytest
from tables import table

from openclaw_memory.text.speech import is_request, phrase_kinds


@pytest.mark.parametrize(("sentence", "kind", "held"), table("speech.tsv", "a word with other accents is another word"))
def test_a_word_with_other_accents_is_another_word_where_accents_are_written(
    sentence: str, kind: str, held: str
) -> None:
    assert (kind in phrase_kinds(sentence)) is (held == "1")


def test_much_is_no_request_to_do_something() -> None:
    assert not is_request("Vui lắm")
    assert is_request("làm lại giúp tôi")
