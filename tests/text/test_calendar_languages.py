"""Dates as many languages write them: each format of each language is read back."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.text import calendar_words, dates
from tests.properties import examples

LANGUAGES = calendar_words.known_languages()
_FIELD = re.compile(r"'([^']*)'|(d+|M+|L+|y+|E+)")


def spelled(language: str, pattern: str, day: date, pick: int) -> str | None:
    """``day`` in a format of CLDR, with one of the names that the language has; ``None`` where no name tells."""
    keys = calendar_words.keys_of(language)

    def name(*wanted: str) -> str:
        every = [one for key in wanted for one in keys.get(key, ())]
        every = [one for one in every if one not in AMBIGUOUS] or [""]
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
    for name in {one for language in LANGUAGES for key, said in calendar_words.keys_of(language).items()
                 if key.startswith("month") for one in said}
    if len({meaning.number for phrase in calendar_words.months(name) for meaning in phrase.meanings}) != 1
}  # fmt: skip


def test_there_are_many_languages() -> None:
    assert len(LANGUAGES) >= 25
    for language in LANGUAGES:
        keys = calendar_words.keys_of(language)
        assert keys["order"][0] in ("dmy", "mdy", "ymd")
        for month in range(1, 13):
            assert keys[f"month.{month}"], (language, month)
        for weekday in range(7):
            assert keys[f"weekday.{weekday}"], (language, weekday)


@pytest.mark.parametrize("language", LANGUAGES)
@given(day=st.dates(date(1900, 1, 1), date(2099, 12, 31)), pick=st.integers(0, 12), loud=st.booleans())
@examples(60)
def test_every_format_of_a_language_is_read_back(language: str, day: date, pick: int, loud: bool) -> None:
    for pattern in calendar_words.keys_of(language)["format"]:
        bare = re.sub("'[^']*'", "", pattern)
        text = spelled(language, pattern, day, pick)
        if text is None or "d" not in bare or "y" not in bare:
            continue
        text = text.title() if loud else text
        order = calendar_words.keys_of(language)["order"][0]
        assert dates.date_in_heading(text, lambda order=order: order) == day, (pattern, text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("month", range(1, 13))
def test_a_month_and_a_year_are_read_back(language: str, month: int) -> None:
    keys = calendar_words.keys_of(language)
    for pattern in keys["format"]:
        if "d" in re.sub("'[^']*'", "", pattern) or not re.search("[ML]{3}", pattern):
            continue
        for pick in range(len(keys[f"month.{month}"])):
            text = spelled(language, pattern, date(2026, month, 1), pick)
            found = dates.said(text or f"{2026}-{month:02}", None)
            assert found is not None and found[0] == date(2026, month, 1), text
