"""Dates as many languages write them: each format of each language is read back."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.text import calendar_words, dates
from tests.properties import examples

LANGUAGES = calendar_words.known_languages()
_FIELD = re.compile(r"'([^']*)'|(d+|M+|L+|y+|E+)")


def spelled(language: str, pattern: str, day: date, pick: int) -> str | None:
    """``day`` in a format of CLDR, with one of the names that the language has; ``None`` where no name tells."""
    keys = calendar_words.phrases_by_key(language)

    def name(*wanted: str) -> str:
        every = [word for key in wanted for word in keys.get(key, ())]
        every = [word for word in every if word not in AMBIGUOUS] or [""]
        return every[pick % len(every)] or "?"

    def field(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        letters = match[2]
        if letters[0] == "E":
            return name(f"weekday.{day.weekday()}")
        if letters[0] in "ML" and len(letters) > 2:
            short = f"month-short.{day.month}" if len(letters) == 3 else f"month.{day.month}"
            return name(short) if short in keys else name(f"month.{day.month}")
        number = {"d": day.day, "M": day.month, "y": day.year}[letters[0]]
        return f"{number:0{len(letters)}}"

    text = _FIELD.sub(field, pattern)
    return None if "?" in text else text


#: Names that are of another month in another language, so that the name alone does not tell: "listopad".
AMBIGUOUS = {
    name
    for name in {sentence for language in LANGUAGES for key, said in calendar_words.phrases_by_key(language).items()
                 if key.startswith("month") for sentence in said}
    if len({meaning.number for phrase in calendar_words.months(name) for meaning in phrase.meanings}) != 1
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@given(day=st.dates(date(1900, 1, 1), date(2099, 12, 31)), pick=st.integers(0, 12), loud=st.booleans())
@examples(60)
def test_every_format_of_a_language_is_read_back(language: str, day: date, pick: int, loud: bool) -> None:
    for pattern in calendar_words.phrases_by_key(language)["format"]:
        bare = re.sub("'[^']*'", "", pattern)
        text = spelled(language, pattern, day, pick)
        if text is None or "d" not in bare or "y" not in bare:
            continue
        text = text.title() if loud else text
        order = calendar_words.phrases_by_key(language)["order"][0]
        assert dates.date_in_heading(text, lambda order=order: order) == day, (pattern, text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("month", range(1, 13))
def test_a_month_and_a_year_are_read_back(language: str, month: int) -> None:
    keys = calendar_words.phrases_by_key(language)
    for pattern in keys["format"]:
        if "d" in re.sub("'[^']*'", "", pattern) or not re.search("[ML]{3}", pattern):
            continue
        for pick in range(len(keys[f"month.{month}"])):
            text = spelled(language, pattern, date(2026, month, 1), pick)
            span = dates.stated_days(text or f"{2026}-{month:02}", None)
            assert span is not None and span[0] == date(2026, month, 1), text


@pytest.mark.parametrize("path", table("calendar_languages.tsv", "a name states a day in words"))
def test_a_name_states_a_day_in_words(path: str) -> None:
    assert dates.date_in_name(path) == date(2026, 2, 13)


@pytest.mark.parametrize("stem", ["mayo-2026", "Mai 2026", "май 2026", "2026年5月", "2026년 5월", "tháng 5 năm 2026"])
def test_a_name_that_is_a_month_stands_for_its_last_day(stem: str) -> None:
    assert dates.date_in_name(f"memory/{stem}.md") == date(2026, 5, 31)


@pytest.mark.parametrize(
    "text", table("calendar_languages.tsv", "a heading that merely states the day in any language")
)
def test_a_heading_that_merely_states_the_day_in_any_language(text: str) -> None:
    assert dates.merely_states(text, date(2026, 2, 13))


@pytest.mark.parametrize("text", ["2026.2.13", "v2026.02.13.1", "Release 2026.9.6", "2026年2月13日の会議"])
def test_a_version_is_no_date_and_a_meeting_no_mere_day(text: str) -> None:
    assert not dates.merely_states(text, date(2026, 2, 13))


def test_numbers_that_leave_the_day_open_go_by_the_files_other_dates_then_by_its_language() -> None:
    assert dates.order_of("on 02/03/2026 and 02/13/2026") == "mdy"
    assert dates.order_of("the report of 02/03/2026 and that of 25/12/2025") == "dmy"
    assert dates.order_of("This is what we did with the house on 02/03/2026") == "mdy"
    assert dates.order_of("Das ist, was wir mit dem Haus gemacht haben am 02/03/2026") == "dmy"
    assert dates.date_in_heading("02/03/2026", lambda: "dmy") == date(2026, 3, 2)
    assert dates.date_in_heading("02/03/2026", lambda: "mdy") == date(2026, 2, 3)


SECTION = date(2026, 1, 10)


@pytest.mark.parametrize(("text", "first", "last"), table("calendar_languages.tsv", "a line names days"))
def test_a_line_names_days(text: str, first: str, last: str) -> None:
    assert dates.stated_days(text, SECTION) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "text", ["we may go", "they march on", "set it up, mar 4x", "who likes mayo", "port 2026", "", "1.2.2026.4"]
)
def test_a_line_without_a_date_names_no_day(text: str) -> None:
    assert dates.stated_days(text, SECTION) is None


def test_a_month_without_a_year_says_nothing_where_the_section_has_no_day() -> None:
    assert dates.stated_days("五月去北京", None) is None


@given(st.text(), st.none() | st.dates())
@examples(200)
def test_no_text_breaks_it(text: str, day: date | None) -> None:
    span = dates.stated_days(text, day)
    assert span is None or span[0] <= span[1]
    calendar_words.find_phrases(calendar_words.plain(text), LANGUAGES)


@pytest.mark.parametrize("text", ["步骤 ❸，五月去北京", "Schritt ❸ kommt im Mai", "m² im Mai"])
def test_what_is_a_digit_but_no_number_is_no_day(text: str) -> None:
    assert dates.stated_days(text, date(2026, 3, 1)) == (date(2026, 5, 1), date(2026, 5, 31))
