"""Markdown without its marks."""

from __future__ import annotations

import pytest
from tables import table

from openclaw_memory.text.plain import plain, without_lead


@pytest.mark.parametrize(("text", "words"), table("plain.tsv", "what a line says"))
def test_what_a_line_says(text: str, words: str) -> None:
    assert plain(text) == words
    assert plain(words) == words or "*" in words


def test_a_number_opens_items_only() -> None:
    assert without_lead("1986. What a year", item=False) == "1986. What a year"
    assert without_lead("1986. What a year", item=True) == "What a year"


def test_what_an_agent_tells_its_host_is_no_part_of_a_text() -> None:
    assert plain("- [[reply_to_current]] The kiln is [[Vesuvius]]. [[audio_as_voice]]") == "The kiln is Vesuvius."
    assert plain("[[reply_to: 4711]] Done, see [[reply_to_mail]].") == "Done, see reply_to_mail."
