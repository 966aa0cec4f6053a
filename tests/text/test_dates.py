"""Dates that names and headings state."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.text.dates import (
    date_in_heading,
    date_in_name,
    find_dates,
    is_daily,
    merely_states,
    stated_days,
)

DAY = date(2026, 2, 13)


@pytest.mark.parametrize("path", table("dates.tsv", "a name states a day"))
def test_a_name_states_a_day(path: str) -> None:
    assert date_in_name(path) == DAY


@pytest.mark.parametrize("number", range(2))
def test_a_path_is_called_by_a_day_or_not(number: int) -> None:
    paths = table("dates.tsv", f"a path that is called by {('no', 'a')[number]} day")
    assert [path for path in paths if is_daily(path) != bool(number)] == []


@pytest.mark.parametrize(("stem", "last"), table("dates.tsv", "a period stands for its last day"))
def test_a_period_stands_for_its_last_day(stem: str, last: str) -> None:
    assert date_in_name(f"memory/consolidated/weekly/{stem}.md") == date.fromisoformat(last)


@pytest.mark.parametrize("path", table("dates.tsv", "a name without a possible date states none"))
def test_a_name_without_a_possible_date_states_none(path: str) -> None:
    assert date_in_name(path) is None


def test_the_name_wins_over_its_folders() -> None:
    assert date_in_name("memory/2025/01/01/2026-02-13.md") == DAY


@pytest.mark.parametrize("text", table("dates.tsv", "a heading states a full date"))
def test_a_heading_states_a_full_date(text: str) -> None:
    assert date_in_heading(text) == DAY


@pytest.mark.parametrize("text", table("dates.tsv", "a heading without a possible full date states none"))
def test_a_heading_without_a_possible_full_date_states_none(text: str) -> None:
    assert date_in_heading(text) is None


@pytest.mark.parametrize("text", ["2026-02-13", "Friday, 13 Feb 2026", "# 13.02.2026 #", "(Fri) February 13th, 2026"])
def test_a_heading_that_merely_states_the_day(text: str) -> None:
    assert merely_states(text, DAY)


@pytest.mark.parametrize("text", ["2026-02-14", "2026-02-13 Planning", "Planning", ""])
def test_a_heading_that_says_more_than_the_day(text: str) -> None:
    assert not merely_states(text, DAY)


@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_iso_date_is_read_back(day: date) -> None:
    assert date_in_heading(f"On {day.isoformat()}:") == day
    assert date_in_name(f"memory/{day.isoformat()}-slug.md") == day


@pytest.mark.parametrize(("text", "first", "last"), table("dates.tsv", "a range of days"))
def test_of_a_range_of_days_the_first_is_the_day_and_both_are_said(text: str, first: str, last: str) -> None:
    assert date_in_heading(text) == date.fromisoformat(first)
    assert stated_days(text, None) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("text", ["March 3-5, 2026", "3–5 mars 2026", "3.–5. März 2026", "3-5.03.2026"])
def test_of_days_of_one_month_the_first_counts(text: str) -> None:
    assert date_in_heading(text) == date(2026, 3, 3)


@pytest.mark.parametrize("text", ["v1.2-3.4.2026", "10-12-2026", "192.168.0.1-24.1.2026"])
def test_versions_and_addresses_begin_no_range(text: str) -> None:
    span = stated_days(text, None)
    assert span is None or span[0] == span[1] or span[0].month == span[1].month


@pytest.mark.parametrize(
    "text", ["❸ on 5 April 2026", "10⁴ tides, 5 April 2026", "① 2026年4月5日", "① 5 апреля 2026 года"]
)
def test_a_digit_that_is_no_decimal_number_is_no_part_of_a_date(text: str) -> None:
    assert stated_days(text, None) == (date(2026, 4, 5), date(2026, 4, 5))


@pytest.mark.parametrize(
    "text",
    ["Gemini 3 Pro is the default model", "which iPhone 15 Pro case", "3 Pro", "10 out of 12 passed", "wait 3 ago"],
)
def test_a_short_month_of_another_language_is_no_date(text: str) -> None:
    assert find_dates(text.lower()) == []


@pytest.mark.parametrize("text", ["sep 3", "on 3 sep", "mám schůzku 10. pro", "reunião em 20 set", "会议 jul 10"])
def test_a_short_month_of_the_language_or_in_english_is_a_date(text: str) -> None:
    assert [mention.day is not None for mention in find_dates(text)] == [True]
