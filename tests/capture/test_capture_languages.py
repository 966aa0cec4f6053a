"""Capture in ten languages and more: what is decided, preferred, promised and found out is worth the same in each."""

from __future__ import annotations

from datetime import datetime

import pytest
from fakes import Notes, ingested
from tables import table

from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.capture.scoring import score_sentence, sentences


@pytest.mark.parametrize("sentence", table("capture.tsv", "what states something for later in any language"))
def test_a_statement_for_later_is_worth_keeping_in_any_language(sentence: str) -> None:
    assert score_sentence(sentence, "user") >= 0.5


@pytest.mark.parametrize("sentence", table("capture.tsv", "courtesies requests and suppositions in any language"))
def test_courtesies_requests_and_suppositions_are_not_in_any_language(sentence: str) -> None:
    assert score_sentence(sentence, "user") < 0.5


def is_worth_keeping(message: str) -> bool:
    return any(score_sentence(sentence, "user") >= 0.5 for sentence in sentences(message))


@pytest.mark.parametrize(
    ("language", "sentence"), table("capture_languages.tsv", "rules amounts and appointments are worth keeping")
)
def test_a_rule_an_amount_and_an_appointment_are_worth_keeping(language: str, sentence: str) -> None:
    assert is_worth_keeping(sentence)


@pytest.mark.parametrize(
    ("language", "sentence"), table("capture_languages.tsv", "questions talk and orders for once are not")
)
def test_questions_talk_and_orders_for_once_are_not(language: str, sentence: str) -> None:
    assert not is_worth_keeping(sentence)


@pytest.mark.parametrize("line", table("capture_languages.tsv", "what was quoted or printed is not"))
def test_what_was_quoted_or_printed_is_not(line: str) -> None:
    assert not is_worth_keeping(line)


@pytest.mark.parametrize(
    "sentence", ["The sofa was 1,200 euros.", "Don't paste passwords into the team chat.", "No pegues contraseñas."]
)
def test_amounts_and_advice_of_the_agent_are_not(sentence: str) -> None:
    assert score_sentence(sentence, "assistant") < 0.5


def test_a_decision_and_its_opposite_are_both_kept(notes: Notes) -> None:
    pairs = table("capture_languages.tsv", "a decision and its opposite are both kept")
    with ingested(notes, None) as memory:
        for day, (first, then) in enumerate(pairs, 1):
            kept = []
            for hour, sentence in ((9, first), (10, then), (11, then)):
                turn = Turn([Message("user", sentence)], now=datetime(2026, 3, day, hour))
                kept += [sentence.text.removeprefix("User: ") for sentence in memory.capture(turn).captured]
            assert kept == [first, then]
