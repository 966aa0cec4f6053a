"""What a question says besides its words: the days it means, whom it names, whether it asks when."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from ..text import analysis
from ..text.dates import MONTH_NUMBERS, WEEKDAYS, any_of

#: First and last day, inclusive.
Interval = tuple[date, date]

Reader = Callable[[re.Match[str]], Interval | None]

_MONTH = any_of(MONTH_NUMBERS)
_NUMBERS = {
    word: i
    for i, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
} | {"a": 1, "an": 1, "a couple of": 2, "a few": 3}
_NUMBER = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?!\d)")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b\.?,?(?: ((?:19|20)\d\d))?")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? ((?:19|20)\d\d))?")
_MONTH_ONLY = re.compile(
    rf"\b(?:(early|mid|late|beginning of|end of|middle of|(?:first|second|third|last) week of)[ -](?:the )?)?"
    rf"({_MONTH})\b\.?,?(?: (?:of )?((?:19|20)\d\d))?"
)
_LEADS_MONTH = re.compile(r"\b(?:in|of|during|since|by|until|last|this|from|to|through)[ -]$")
#: Characters before a month that tell whether it is one.
_LEAD = 10
_QUARTER = re.compile(r"\bq([1-4])(?:[ -]?((?:19|20)\d\d))?\b")
_YEAR = re.compile(r"\b(?:in|of|during|since|by|for)? ?((?:19|20)\d\d)\b")
_AGO = re.compile(rf"\b({_NUMBER}) (day|week|month|year)s? ago\b")
_PAST = re.compile(rf"\b(?:past|last|previous) (?:({_NUMBER}) )?(day|week|month|year)(s?)\b")
_WEEKDAY = re.compile(rf"\blast ({any_of(WEEKDAYS).lower()})\b")
_WHEN = re.compile(r"\s*(?:when|how long|since when|(?:on |in )?(?:which|what) (?:date|day|week|month|year))\b", re.I)
#: Days that a question names beyond so many say nothing any more.
_MOST = 16
#: Asking days outside are moved here, so that no interval leaves the calendar.
_EARLIEST, _LATEST = date(1200, 1, 1), date(9990, 1, 1)
_SELF = re.compile(r"\b(?:I|me|my|mine|myself|I'm|I've)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def asks_when(question: str) -> bool:
    """Whether the answer is a time."""
    return bool(_WHEN.match(question))


def named(question: str) -> list[str]:
    """Words that may be a speaker's name, as :func:`~openclaw_memory.text.analysis.name_key` has them.

    Who says "I" is the user of a chat.
    """
    keys = ["user", "human"] if _SELF.search(question) else []
    for word in _WORD.findall(question):
        key = analysis.name_key(re.sub(r"['’]s$", "", word))
        if key not in analysis.STOP_WORDS:
            keys.append(key)
    return keys


def intervals(question: str, asked: date) -> list[Interval]:
    """Days that a question names, relative ones seen from ``asked``; empty when it names none."""
    asked = min(max(asked, _EARLIEST), _LATEST)
    text = question.lower()
    taken = bytearray(len(text))
    found = [
        *_claimed(text, _ISO, taken, _iso),
        *_claimed(text, _DAY_MONTH, taken, lambda m: _day(m[3], m[2], m[1], asked)),
        *_claimed(text, _MONTH_DAY, taken, lambda m: _day(m[3], m[1], m[2], asked)),
        *_claimed(text, _MONTH_ONLY, taken, lambda m: _month(text, m, asked)),
        *_claimed(text, _QUARTER, taken, lambda m: _quarter(m, asked)),
    ]
    found += _claimed(text, _AGO, taken, lambda m: _ago(m, asked))
    found += _claimed(text, _PAST, taken, lambda m: _past(m, asked))
    found += _claimed(text, _WEEKDAY, taken, lambda m: _weekday(m, asked))
    if not found:
        found += _claimed(text, _YEAR, taken, lambda m: (date(int(m[1]), 1, 1), date(int(m[1]), 12, 31)))
    for phrase, (first, last) in _NEAR.items():
        if re.search(rf"\b{phrase}\b", text):
            found.append((asked - timedelta(first), asked - timedelta(last)))
    return list(dict.fromkeys((max(first, date.min), last) for first, last in found))[:_MOST]


#: Days before the asking date, first and last.
_NEAR = {"today": (0, 0), "yesterday": (1, 1), "this week": (6, 0), "this month": (30, 0)}


def _claimed(text: str, pattern: re.Pattern[str], taken: bytearray, read: Reader) -> Iterator[Interval]:
    """Intervals read from matches of which no earlier pattern has ``taken`` a character."""
    for match in pattern.finditer(text):
        start, end = match.span()
        if taken.find(1, start, end) >= 0:
            continue
        interval = read(match)
        if interval is not None:
            taken[start:end] = b"\1" * (end - start)
            yield interval


def _valid(year: int, month: int, day: int) -> Interval | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return found, found


def _whole_month(year: int, month: int) -> Interval:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _iso(match: re.Match[str]) -> Interval | None:
    year, month = int(match[1]), int(match[2])
    if match[3]:
        return _valid(year, month, int(match[3]))
    return _whole_month(year, month) if 1 <= month <= 12 else None


def _day(year: str | None, month: str, day: str, asked: date) -> Interval | None:
    number = MONTH_NUMBERS[month]
    if year:
        return _valid(int(year), number, int(day))
    this = _valid(asked.year, number, int(day))
    if this and this[0] > asked + timedelta(60):
        return _valid(asked.year - 1, number, int(day))
    return this


def _month(text: str, match: re.Match[str], asked: date) -> Interval | None:
    part, name, year = match.groups()
    # "may", "march" and "mar" are words too: they need a preposition, a year or a part of the month.
    if name in ("may", "mar", "march") and not (
        part or year or _LEADS_MONTH.search(text, max(0, match.start() - _LEAD), match.start())
    ):
        return None
    number = MONTH_NUMBERS[name]
    first, last = _whole_month(int(year) if year else asked.year - (number > asked.month), number)
    if part is None:
        return first, last
    spans = {"early": (0, 10), "begin": (0, 10), "mid": (9, 20), "middl": (9, 20), "first": (0, 6), "secon": (7, 13),
             "third": (14, 20)}  # fmt: skip
    span = spans.get(part[:5])
    if span is None:
        return last - timedelta(10 if part in ("late", "end of") else 6), last
    return first + timedelta(span[0]), first + timedelta(span[1])


def _quarter(match: re.Match[str], asked: date) -> Interval:
    year = int(match[2]) if match[2] else asked.year
    month = 3 * int(match[1]) - 2
    return date(year, month, 1), _whole_month(year, month + 2)[1]


def _count(text: str | None) -> int:
    if text is None:
        return 1
    return _NUMBERS.get(text) or int(text)


def _ago(match: re.Match[str], asked: date) -> Interval | None:
    days = _count(match[1]) * _UNIT_DAYS[match[2]]
    slack = max(1, days // 4) if match[2] != "day" else 0
    return _before(asked, days + slack, max(0, days - slack))


def _past(match: re.Match[str], asked: date) -> Interval | None:
    number, unit, plural = match.groups()
    if number or plural:
        return _before(asked, _count(number or ("3" if plural else None)) * _UNIT_DAYS[unit], 0)
    if unit == "year":
        return date(asked.year - 1, 1, 1), date(asked.year - 1, 12, 31)
    return _before(asked, {"day": 1, "week": 13, "month": 60}[unit], int(unit != "day"))


def _weekday(match: re.Match[str], asked: date) -> Interval:
    wanted = WEEKDAYS.index(match[1].title())
    back = (asked.weekday() - wanted - 1) % 7 + 1
    day = asked - timedelta(back)
    return day, day


def _before(asked: date, first: int, last: int) -> Interval | None:
    if first >= asked.toordinal():
        return None
    return asked - timedelta(first), asked - timedelta(last)
