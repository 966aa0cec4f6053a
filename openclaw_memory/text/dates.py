"""Dates that file names and headings state, with no dependence on the locale."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

#: In their order, Monday first as in ISO 8601.
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: The number of a month by each of its spellings in small letters: the whole name and the short ones.
MONTH_NUMBERS = {
    spelling: number for number, name in enumerate(MONTHS, 1) for spelling in (name.lower(), name[:3].lower())
} | {"sept": 9}
#: How weekdays are spelled in small letters.
WEEKDAY_SPELLINGS = frozenset(
    {"tues", "thur", "thurs"} | {spelling for name in WEEKDAYS for spelling in (name.lower(), name[:3].lower())}
)
#: The whole names of weekdays and months in small letters.
NAMES = frozenset(name.lower() for name in (*WEEKDAYS, *MONTHS))


def any_of(spellings: Iterable[str]) -> str:
    """A pattern for any of ``spellings``, the longest first."""
    return "|".join(sorted(spellings, key=lambda each: (-len(each), each)))


_MONTH = rf"({any_of(MONTH_NUMBERS)})\b\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4})(?!\d)"

_YEAR_FIRST = re.compile(r"(?<![\d.])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(rf"(?<![\d.])(\d{{1,2}})\.(\d{{1,2}})\.{_YEAR}(?!\.\d)")
_MONTH_DAY = re.compile(rf"\b{_MONTH} {{0,2}}{_DAY}\b,? {{0,2}}{_YEAR}", re.IGNORECASE)
_DAY_MONTH = re.compile(rf"(?<![\d.]){_DAY}\.? {{0,2}}(?:of )?{_MONTH},? {{0,2}}{_YEAR}", re.IGNORECASE)

_NAME_DATE = re.compile(r"(?<!\d)(\d{4})([-_.])(\d{2})\2(\d{2})(?!\d)")
_NAME_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?!\d)")
_FOLDER_DATE = re.compile(r"(?<!\d)(\d{4})[-_./](\d{2})[-_./](\d{2})(?!\d)")
_PERIOD = re.compile(r"(\d{4})(?:[-_](?:W(?P<week>\d{2})|Q(?P<quarter>[1-4])|(?P<month>\d{2})))?", re.IGNORECASE)

_FILLER = re.compile(rf"\b(?:{any_of(WEEKDAY_SPELLINGS)})\b|[\W_]+", re.IGNORECASE)

#: A heading is read this far: past it there is prose, and the search stays cheap.
_HEADING_CHARS = 200


def date_in_name(path: str) -> date | None:
    """The day that the file name of ``path`` states, else the one its folders spell out.

    ``2026-02-13-slug.md``, ``2026_02_13.md`` and ``20260213.md`` name a day; a name that is nothing but
    a period (``2026-W07``, ``2026-02``, ``2026-Q1``, ``2026``) stands for the period's last day.
    ``None`` when there is no date, or an impossible one.
    """
    folders, _, name = path.rpartition("/")
    stem = name[:-3] if name[-3:].lower() == ".md" else name
    for match in _NAME_DATE.finditer(stem):
        if found := _day(match[1], match[3], match[4]):
            return found
    for match in _NAME_COMPACT.finditer(stem):
        if found := _day(match[1], match[2], match[3]):
            return found
    if (period := _PERIOD.fullmatch(stem)) is not None:
        return _last_day(period)
    days = [_day(*match.groups()) for match in _FOLDER_DATE.finditer(f"{folders}/{stem}")]
    return next((found for found in reversed(days) if found), None)


def date_in_heading(text: str) -> date | None:
    """The first full date in ``text``; ``None`` without one, and for impossible dates.

    Understood are ``2026-02-13``, ``2026/02/13``, ``13.02.2026``, ``February 13, 2026``,
    ``Feb 13th 2026`` and ``13 Feb 2026``, with or without a weekday.
    """
    found = _first_date(text)
    return None if found is None else found[0]


def merely_states(text: str, day: date) -> bool:
    """Whether ``text`` says nothing but ``day`` (a weekday and punctuation aside)."""
    found = _first_date(text)
    if found is None or found[0] != day:
        return False
    _, start, end = found
    return not _FILLER.sub("", text[:start] + " " + text[end:])


def _first_date(text: str) -> tuple[date, int, int] | None:
    return min(_dates(text[:_HEADING_CHARS]), key=lambda found: found[1], default=None)


def _dates(text: str) -> Iterator[tuple[date, int, int]]:
    for match in _YEAR_FIRST.finditer(text):
        if found := _day(match[1], match[3], match[4]):
            yield found, *match.span()
    for match in _DAY_FIRST.finditer(text):
        if found := _day(match[3], match[2], match[1]):
            yield found, *match.span()
    for match in _MONTH_DAY.finditer(text):
        if found := _day(match[3], str(MONTH_NUMBERS[match[1].lower()]), match[2]):
            yield found, *match.span()
    for match in _DAY_MONTH.finditer(text):
        if found := _day(match[3], str(MONTH_NUMBERS[match[2].lower()]), match[1]):
            yield found, *match.span()


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _last_day(period: re.Match[str]) -> date | None:
    year = int(period[1])
    try:
        if period["week"]:
            return date.fromisocalendar(year, int(period["week"]), 7)
        month = int(period["month"] or 3 * int(period["quarter"] or 4))
        if month == 12:
            return date(year, 12, 31)
        return date(year, month + 1, 1) - timedelta(days=1)
    except (ValueError, OverflowError):
        return None
