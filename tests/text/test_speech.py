"""Phrases of people in any language: what is written with accents means what it says with them."""

from __future__ import annotations

import pytest

from openclaw_memory.text.speech import is_request, phrase_kinds


@pytest.mark.parametrize(
    ("sentence", "kind", "held"),
    [
        ("Cảm ơn, giúp tôi nhiều lắm!", "standing", False),
        ("Cấm đỗ xe ở sân sau.", "standing", True),
        ("Tom ghét rau mùi.", "preference", True),
        ("De manhã prefiro chá sem açúcar.", "request", False),
        ("Do łazienki bierzemy niebieskie płytki.", "request", False),
        ("nguyen nhan la do cap long", "outcome", True),
    ],
)
def test_a_word_with_other_accents_is_another_word_where_accents_are_written(
    sentence: str, kind: str, held: bool
) -> None:
    assert (kind in phrase_kinds(sentence)) is held


def test_much_is_no_request_to_do_something() -> None:
    assert not is_request("Vui lắm")
    assert is_request("làm lại giúp tôi")
