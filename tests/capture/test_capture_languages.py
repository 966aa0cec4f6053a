"""Capture in ten languages and more: what is decided, preferred, promised and found out is worth the same in each."""

from __future__ import annotations

from datetime import datetime

import pytest
from fakes import Notes, ingested
from tables import table

from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.capture.scoring import score_sentence


@pytest.mark.parametrize("sentence", table("capture.tsv", "what states something for later in any language"))
def test_a_statement_for_later_is_worth_keeping_in_any_language(sentence: str) -> None:
    assert score_sentence(sentence, "user") >= 0.5


@pytest.mark.parametrize("sentence", table("capture.tsv", "courtesies requests and suppositions in any language"))
def test_courtesies_requests_and_suppositions_are_not_in_any_language(sentence: str) -> None:
    assert score_sentence(sentence, "user") < 0.5


@pytest.mark.parametrize(("first", "then"), table("capture_languages.tsv", "a decision and its opposite are both kept"))
def test_a_decision_and_its_opposite_are_both_kept(notes: Notes, first: str, then: str) -> None:
    kept = []
    with ingested(notes, None) as memory:
        for hour, sentence in ((9, first), (10, then), (11, then)):
            turn = Turn([Message("user", sentence)], now=datetime(2026, 3, 4, hour))
            kept += [sentence.text.removeprefix("User: ") for sentence in memory.capture(turn).captured]
    assert kept == [first, then]
