"""Days that a question names, seen from the day on which it is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_memory.search.question import Question

ASKED = date(2024, 8, 14)  # a Wednesday


def days(first: str, last: str | None = None) -> list[tuple[date, date]]:
    return [(date.fromisoformat(first), date.fromisoformat(last or first))]


ROWS = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (ROWS / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("today", "expected", "text"), rows("question_days.tsv"))
def test_a_question_names_these_days_in_many_languages(today: str, expected: str, text: str) -> None:
    spans = Question(text, date.fromisoformat(today)).days
    assert " ".join(f"{first}..{last}" for first, last in spans) == expected.removeprefix("-")


KINDS: dict[str, Callable[[Question], bool]] = {
    "when": lambda question: question.asks_when,
    "now": lambda question: question.asks_now,
    "amount": lambda question: question.asks_amount,
    "only days": lambda question: question.asks_only_days,
    "days ago": lambda question: question.content != question.text,
}


@pytest.mark.parametrize(("kind", "yes", "text"), rows("question_kinds.tsv"))
def test_what_kind_of_answer_is_asked_for_in_many_languages(kind: str, yes: str, text: str) -> None:
    question = Question(text, ASKED)
    assert KINDS[kind](question) == (yes == "yes")
    if kind == "days ago" and yes == "yes":
        assert question.asks_when and not question.asks_amount and "Petra" in question.content


@pytest.mark.parametrize("text", ["in may", "last week", "yesterday", "two months ago", "q2", "last friday"])
@given(today=st.dates(date(1990, 1, 1), date(2100, 1, 1)))
def test_relative_days_lie_before_the_asking_day(text: str, today: date) -> None:
    (first, last), *coming = Question(text, today).days
    assert all(begin > today for begin, _ in coming) and len(coming) <= (text in ("in may", "q2"))
    assert first <= last
    if text != "q2":
        assert first <= today
    assert Question(text.upper(), today).days == [(first, last), *coming]


PIECES = st.sampled_from(
    "last past previous next a an two twelve a few a couple of 3 99 999 31 30 0 2024 1999 2099 2024-02-30 2024-00 day "
    "days week weeks month months year years ago may march sept sep. february 29 of , - in q1 q5 first week of early "
    "late middle of end of today yesterday this week monday last monday ٣ ² İ 12:30 st nd th since after until before 1000-01-01".split(
        " "
    )
)


@given(
    st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=9).map(" ".join)),
    st.dates(date(1970, 1, 1), date(2200, 1, 1)),
)
@example("last 999 years and 999 years ago", date(1970, 1, 1))
@example("29 february", date(2023, 1, 1))
@example("\ud800 2024-02-30", ASKED)
@example("what was until 1000-01-01?", ASKED)
def test_no_text_raises_and_intervals_are_in_order(text: str, today: date) -> None:
    question = Question(text, today)
    for first, last in question.days:
        assert isinstance(first, date) and first <= last
        assert last <= today + timedelta(370) or last.year >= 1900
    for name in ("asks_when", "asks_now", "asks_amount", "content", "speakers", "calendar_days", "asks_what_was_done"):
        getattr(question, name)


def test_names_are_compared_folded_and_without_the_possessive() -> None:
    assert Question("What did José tell Anna's mother?").speakers == ["jose", "tell", "anna", "mother"]
    assert "x" * 5 in Question("x" * 5).speakers


@pytest.mark.parametrize(
    ("text", "today", "expected"),
    [
        ("last week", "2024-08-14", days("2024-08-05", "2024-08-11")),
        ("上周", "2024-08-12", days("2024-08-05", "2024-08-11")),
        ("на прошлой неделе", "2024-08-17", days("2024-08-05", "2024-08-11")),
        ("this week", "2024-08-14", days("2024-08-12", "2024-08-18")),
        ("letzten Monat", "2024-01-14", days("2023-12-01", "2023-12-31")),
        ("next month", "2024-12-14", days("2025-01-01", "2025-01-31")),
        # A Sunday ends a week or begins one.
        ("last week", "2024-08-18", days("2024-08-05", "2024-08-17")),
        ("two weeks ago", "2024-08-14", days("2024-07-28", "2024-08-03")),
    ],
)
def test_exact_weeks_and_months_are_those_of_the_calendar(
    text: str, today: str, expected: list[tuple[date, date]]
) -> None:
    assert Question(text, date.fromisoformat(today)).calendar_days == expected
