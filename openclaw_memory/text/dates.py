"""Find dates in file names, headings, lines and questions, in any language, independent of the locale."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from .. import patterns as re
from ..records import NamedTuple
from . import calendar
from . import calendar_words as words
from . import language as languages
from .front_matter import fold_key
from .scripts import HAN, HANGUL, KANA

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
#: Spellings of weekdays in small letters.
WEEKDAY_SPELLINGS = frozenset(
    {"tues", "thur", "thurs"} | {spelling for name in WEEKDAYS for spelling in (name.lower(), name[:3].lower())}
)
#: The whole names of weekdays and months in small letters.
NAMES = frozenset(name.lower() for name in (*WEEKDAYS, *MONTHS))


#: Returns the order of day and month in ambiguous numbers, as :func:`~.calendar_words.day_order` does.
Order = Callable[[], str]

_NUMBERS = re.compile(r"\d[-./] ?\d")
#: A date with points has two digits each or blanks, as a version has neither.
_YEAR_FIRST = re.compile(
    r"(?<![\d.])(\d{4})(?:([-/])(\d{1,2})\2(\d{1,2})|\.(\d\d)\.(\d\d)|\. (\d{1,2})\. (\d{1,2}))(?!\d)(?!\.\d)"
)
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})([-./]|\. )(\d{1,2})\2(\d{4})(?!\d|\.\d)")
#: The days from one to another, of which only the last one has a year: ``28.07.–23.08.2026``, ``10–12.08.2026``.
_FROM_TO = re.compile(
    r"(?<![\w./-])(\d{1,2})(?:([./])(?:(\d{1,2})\2?)?)?\s?[–—~〜-]\s?(\d{1,2})([./])(\d{1,2})\5(\d{4})(?!\d|\.\d)"
)
_YEAR_MONTH = re.compile(r"(?<![\d.-])((?:19|20)\d\d)-(0[1-9]|1[0-2])(?![\d-])")
#: Without a year: such numbers are a date only beside a word that says so.
_DAY_MONTH = re.compile(
    r"(?<![\d./:-])(?!24/7\b)(\d{1,2})(?:/(\d{1,2})|-(\d\d)|\.(0[1-9]|1[0-2])|\. ?(\d{1,2})\.)(?![\d/:%]|[.,-]\d| ?%)"
)

_NAME_DATE = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<mark>[-_.])(?P<month>\d{2})(?P=mark)(?P<day>\d{2})(?!\d)")
_NAME_COMPACT = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?!\d)")
#: The folder of a month may have its name too: ``2026/02-February/13.md``.
_FOLDER_DATE = re.compile(
    r"(?<!\d)(?P<year>\d{4})[-_./](?P<month>\d{2})(?:[-_. ]+[^\W\d_]+)?[-_./](?P<day>\d{2})(?!\d)"
)
#: Characters that follow a number of a version, and no day.
_GOES_ON = re.compile(r"\.?\d|[^\W\d_]")

#: Characters of a heading that are searched: prose follows, and the search stays cheap.
_HEADING_CHARS = 200
#: Characters on either side of a month's name in which its day and year stand.
_AROUND = 24


class DateMention(NamedTuple):
    """A date in a text, from ``start`` to ``end``: a month at least, with its day and year if the text has them.

    ``name`` is the spelling of the month in letters, empty for a number.
    """

    start: int
    end: int
    year: int | None
    month: int
    day: int | None
    name: str = ""

    def days(self, year: int | None = None) -> tuple[date, date] | None:
        """Return the first and the last day, in ``year`` where the text has none; ``None`` for an impossible date."""
        year = self.year or year
        try:
            if year is None:
                return None
            if self.day is not None:
                only = date(year, self.month, self.day)
                return only, only
            return date(year, self.month, 1), date(year, self.month, monthrange(year, self.month)[1])
        except (ValueError, OverflowError):
            return None


@cache
def _around() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of the text before a month and behind it: a year, a day, or both."""
    joins, ends = (
        words.any_of(map(re.escape, each))
        for each in (words.joining_words(), words.spellings_for("day-end", (words.ANY,)))
    )
    gap = rf"[\s.,،、/'’׳_-]{{0,3}}(?:(?:{joins})(?![^\W\d_])[\s.,،'’]{{0,3}}){{0,2}}"
    # In scripts without spaces letters or digits follow the joining characters at once.
    gap = rf"(?:{gap}|[\s.]?[年년][\s.]?)"
    end = rf"(?!\d)(?:-?(?:{ends})(?![a-z\u00df-\u052f]))?"
    # Of days from one to another, the first.
    day = rf"(\d{{1,2}}){end}(?:\.?\s?[–—-]\s?\d{{1,2}}{end})?"
    year = r"(\d{4})(?!\d)"
    before = rf"(?:(?:(?<!\d){year}{gap})?(?<![\d.,:/]){day}|(?<!\d){year}){gap}\Z"
    behind = rf"{gap}(?:(?:{day}{gap})?{year}|{day}(?![:.]\d|[a-z\u00df-\u052f]))"
    return re.compile(before), re.compile(behind)


def date_in_name(path: str) -> date | None:
    """Return the day in the file name of ``path``, else in its folders; ``None`` without one, or for an impossible one.

    ``2026-02-13-slug.md``, ``2026_02_13.md``, ``20260213.md``, ``13-februar-2026.md`` and ``2026年2月13日.md`` name a
    day; a name that is nothing but a period (``2026-W07``, ``2026-02``, ``2026-Q1``, ``2026``, ``mayo-2026``) stands
    for the period's last day.
    """
    return _in_name(path)[0]


def is_daily(path: str) -> bool:
    """Return true if ``path`` has the name of a journal's day: at its beginning or end, or in its folders.

    Numbers that may be of versions and things count at the beginning alone: ``20260213.md``, no ``order-20260213``.
    """
    return _in_name(path)[1]


def _in_name(path: str) -> tuple[date | None, bool]:
    folders, _, name = path.rpartition("/")
    stem = name[:-3] if name[-3:].lower() == ".md" else name
    for pattern in (_NAME_DATE, _NAME_COMPACT):
        for match in pattern.finditer(stem):
            if day := _day(match["year"], match["month"], match["day"]):
                numbered = pattern is _NAME_COMPACT or match["mark"] == "."
                begins = match.start() == 0 and not (numbered and _GOES_ON.match(stem, match.end()))
                return day, begins or (match.end() == len(stem) and not numbered)
    if (last := calendar.last_day(stem.upper().replace("_", "-"))) is not None:
        return last, False
    if (worded := _worded(stem))[0] is not None:
        return worded
    listed = [_day(match["year"], match["month"], match["day"]) for match in _FOLDER_DATE.finditer(f"{folders}/{stem}")]
    day = next((day for day in reversed(listed) if day), None)
    return (day, True) if day is not None else _worded(" ".join([*folders.split("/")[-2:], stem]))


def _worded(text: str) -> tuple[date | None, bool]:
    """Return the last day of a date with words in a name, and true if that is a day at its beginning or its end."""
    if not any(map(str.isdigit, text)):
        return None, False
    text = words.plain(text[:_HEADING_CHARS].replace("_", " "))
    for mention in find_dates(text):
        days, before, behind = mention.days(), text[: mention.start], text[mention.end :]
        if days is not None and (mention.day is not None or not before + behind.strip("年년")):
            begins = not _filler.sub("", before) and _GOES_ON.match(behind) is None
            return days[1], mention.day is not None and not before[-1:].isalnum() and (begins or not behind)
    return None, False


def date_in_heading(text: str, order: Order | None = None) -> date | None:
    """Return the first full date in ``text``; ``None`` without one, and for impossible dates.

    Formats are ``2026-02-13``, ``2026/02/13``, ``2026.02.13``, ``13.02.2026``, ``13/02/2026``, ``February 13, 2026``,
    ``13. Februar 2026``, ``2026年2月13日`` and the like, in every language of the calendar, with or without a weekday.
    In ambiguous numbers ``order`` decides which is the day, by default the language of ``text``.
    """
    match = _first_date(words.plain(text[:_HEADING_CHARS]), order)
    return None if match is None else match[0]


def date_in_front_matter(front: Mapping[str, Any], order: Order | None = None) -> date | None:
    """Return the full date in a note's front matter: ``date``, ``created``, ``Date created`` and the like."""
    stated = {fold_key(key): str(value) for key, value in front.items()}
    for key in ("date", "datecreated", "created", "createdat", "creationdate", "createddate", "day"):
        value = stated.get(key, "")
        if _NAME_COMPACT.fullmatch(value):
            value = f"{value[:4]}-{value[4:6]}-{value[6:]}"
        if (day := date_in_heading(value, order)) is not None:
            return day
    return None


def merely_states(text: str, day: date, order: Order | None = None) -> bool:
    """Return true if ``text`` holds nothing but ``day`` (a weekday and punctuation aside)."""
    short = text[:_HEADING_CHARS]
    spoken = words.plain(short)
    match = _first_date(spoken, order)
    if match is None or match[0] != day or len(short) < len(text):
        return False
    _, start, end = match
    return not _filler.sub("", spoken[:start] + " " + spoken[end:])


@re.built
def _filler() -> str:
    """Return a pattern for weekdays, words that may follow a date, and characters of no word."""
    names = {
        name
        for language in words.known_languages()
        for key, spellings in words.phrases_by_key(language).items()
        if key.count(".") == 1 and key.startswith("weekday")
        for name in spellings
    }
    rest = words.joining_words() | words.spellings_for("day-end", (words.ANY,))
    spaced = words.any_of(map(re.escape, names | rest | WEEKDAY_SPELLINGS))
    unspaced = words.any_of(name for name in names if re.fullmatch(f"[{KANA}{HAN}{HANGUL}]+", name))
    return rf"\b(?:{spaced})(?!\w)|{unspaced}|[\W_]+|[日号號일]"


def order_of(text: str) -> str:
    """Return the order of day and month in a file's numbers: that of unambiguous ones, else its language's."""
    numbers = re.findall(r"(?<![\d./-])(\d{1,2})[-/](\d{1,2})[-/]\d{4}(?!\d)", text)
    unambiguous = [match for match in numbers if max(map(int, match)) > 12]
    if unambiguous:
        days = sum(int(number) > 12 for number, _ in unambiguous)
        return "dmy" if 2 * days >= len(unambiguous) else "mdy"
    return words.day_order(text[:4000])


def find_dates(text: str, order: Order | None = None) -> list[DateMention]:
    """Find the dates in a :func:`~.calendar_words.plain` text, in order and without overlap."""
    mentions = list(_in_numbers(text, order)) if _NUMBERS.search(text) else []
    taken = bytearray(len(text))
    for mention in mentions:
        taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
    for month in words.months(text):
        if taken.find(1, month.start, month.end) < 0 and (stated := _in_words(text, month)):
            mentions.append(stated)
    mentions.sort()
    for at, (mention, other) in enumerate(pairwise(mentions)):
        if mention.year is None and mention.day and other.year and other.day:
            # Of the days from one to another only the last has a year.
            if re.fullmatch(r"\W{0,2}[–—-]\W{0,2}", text[mention.end : other.start]):
                mentions[at] = mention._replace(year=other.year - (mention.month > other.month))
    return mentions


def without_dates(text: str, mentions: Iterable[DateMention] | None = None) -> str:
    """Return a text with spaces in the place of its dates, or of those that are given as ``mentions``."""
    for mention in find_dates(text) if mentions is None else mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return text


def stated_days(text: str, day: date | None, order: Order | None = None) -> tuple[date, date] | None:
    """Return the first and the last day in a line: those of its first date, and of others near it.

    A date without a year is the one nearest to ``day``, that of the line's section; without such a day it is none.
    """
    if text.isascii() and not _NUMBERS.search(text) and not words.may_name_month(text):
        return None
    text = words.plain(text)
    span: tuple[date, date] | None = None
    for mention in find_dates(text, order):
        nearest = None
        if not mention.year and day is not None and means_month(text, mention):
            nearest = day.year + (mention.month - day.month < -6) - (mention.month - day.month > 6)
        if (days := mention.days(nearest)) is None:
            continue
        if span is None:
            span = days
        elif (joined := (min(span[0], days[0]), max(span[1], days[1])))[1] - joined[0] <= timedelta(days=31):
            span = joined
    return span


def languages_of(mention: DateMention, languages: Sequence[str]) -> tuple[str, ...]:
    """Return those of ``languages`` that have the date's name of a month; none for a date in numbers."""
    keys = ((name, words.phrases_by_key(name)) for name in languages if mention.name)
    months = (f"month.{mention.month}", f"month-short.{mention.month}")
    return tuple(
        name for name, phrases in keys if any(mention.name.strip(".") in phrases.get(month, ()) for month in months)
    )


def means_month(text: str, mention: DateMention) -> bool:
    """Return true if a name means a month: an ambiguous or short one needs a day, a year, or a word before it."""
    if mention.day is not None or mention.year is not None:
        return True
    spoken = words.likely_languages(text)
    sure = False
    for language in spoken:
        keys = words.phrases_by_key(language)
        if mention.name in keys.get(f"month.{mention.month}", ()):
            if mention.name not in keys.get("doubtful", ()):
                sure = True
        elif mention.name.strip(".") not in keys.get(f"month-short.{mention.month}", ()):
            continue
        before = text[max(0, mention.start - _AROUND) : mention.start].rstrip(" -")
        leads = (lead for key in ("lead", *words.BOUNDARY_KEYS) for lead in keys.get(key, ()))
        if any(before.endswith(lead) and not before[: -len(lead)][-1:].isalpha() for lead in leads):
            return True
    return sure


def _first_date(text: str, order: Order | None) -> tuple[date, int, int] | None:
    for mention in find_dates(text, order):
        if mention.day is not None and mention.year is not None and (days := mention.days()) is not None:
            return days[0], mention.start, mention.end
    return None


def _in_numbers(text: str, order: Order | None) -> Iterator[DateMention]:
    end = 0
    for match in _YEAR_FIRST.finditer(text):
        year, _, *rest = match.groups()
        month, day = (part for part in rest if part)
        if _day(year, month, day):
            yield DateMention(match.start(), end := match.end(), int(year), int(month), int(day))
    taken: set[int] = set()
    for match in _FROM_TO.finditer(text):
        taken.update(range(match.start() + 1, match.end()))
        yield from _from_to(match, text, order)
    for match in _YEAR_LAST.finditer(text):
        if match.start() in taken:
            continue
        first, mark, second, year = match.groups()
        day, month = (second, first) if _month_first(first, second, mark, text, order) else (first, second)
        if _day(year, month, day):
            yield DateMention(*match.span(), int(year), int(month), int(day))
    for match in _YEAR_MONTH.finditer(text, end):
        yield DateMention(*match.span(), int(match[1]), int(match[2]), None)
    for match in _DAY_MONTH.finditer(text):
        language = _beside(text, *match.span())
        if language is not None:
            day, month = int(match[1]), next(int(part) for part in match.groups()[1:] if part)
            if month > 12 or (day <= 12 and not words.day_first(language)):
                day, month = month, day
            if _day("2024", str(month), str(day)):
                yield DateMention(*match.span(), None, month, day)


def _from_to(match: re.Match[str], text: str, order: Order | None) -> Iterator[DateMention]:
    """Yield the first and the last day of a range in numbers."""
    first_day, _, other, first, mark, second, year = match.groups()
    swap = _month_first(first, second, mark, text, order)
    day, month = (second, first) if swap else (first, second)
    early, first_month = (other or first, first_day) if swap and other else (first_day, other or month)
    late = int(year) - (int(first_month) > int(month))
    if _day(str(late), first_month, early) and _day(year, month, day):
        yield DateMention(match.start(), match.start(4) - 1, late, int(first_month), int(early))
        yield DateMention(match.start(4), match.end(), int(year), int(month), int(day))


def _month_first(first: str, second: str, mark: str, text: str, order: Order | None) -> bool:
    """Return true if the first of two numbers before a year is the month."""
    if int(first) <= 12 and int(second) <= 12 and "." not in mark:
        return (order() if order is not None else words.day_order(text)) == "mdy"
    return int(second) > 12


def _beside(text: str, start: int, end: int) -> str | None:
    """Return the language of the word that makes a date of the numbers from ``start`` to ``end``."""
    before, behind = text[max(0, start - _AROUND) : start].rstrip(), text[end : end + _AROUND].lstrip()
    for language in words.likely_languages(text):
        keys = words.phrases_by_key(language)
        if any(before.endswith(on) and not before[: -len(on)][-1:].isalpha() for on in keys.get("on", ())):
            return language
        if any(behind.startswith(on) for on in keys.get("on-after", ())):
            return language
    return None


def _in_words(text: str, month: words.Phrase) -> DateMention | None:
    """Return the date with the month at ``month``: its day and year stand before or behind that.

    A short name without a year is none in a text of other languages, nor is a stop word in one of no words:
    "Gemini 3 Pro" is of no December.
    """
    start, end = month.start, month.end
    number, name = _number(text, month), text[start:end]
    low = max(0, start - _AROUND)
    before, behind = _around()
    left, right = before.search(text[low:start]), behind.match(text, end, end + _AROUND)
    year_left, day_left, lone_year = left.groups() if left else (None, None, None)
    day_right, year_right, lone_day = right.groups() if right else (None, None, None)
    if left is None or day_right:  # both the day and the year stand behind, or all that there is
        day, year = day_right or lone_day, year_right
    else:
        start = low + left.start()
        if day_left:
            day, year, right = day_left, year_right or year_left, right if year_right else None
        else:
            day, year, right = lone_day, lone_year, right if lone_day else None
    end = right.end() if right else end
    if not year and all(meaning.kind == "month-short" for meaning in month.meanings):
        spoken = words.likely_languages(text[:start] + text[end:])
        if all(meaning.language not in (*spoken, languages.ENGLISH) for meaning in month.meanings) and (
            spoken or any(name in stops for stops in languages.stop_words().values())
        ):
            return None
    return DateMention(start, end, int(year) if year else None, number, int(day) if day else None, name)


def _number(text: str, month: words.Phrase) -> int:
    """Return the number of a month; where languages differ about a name, as that of ``text`` has it."""
    numbers = {meaning.number for meaning in month.meanings}
    if len(numbers) > 1:
        spoken = words.likely_languages(text)
        for meaning in month.meanings:
            if meaning.language in spoken:
                return meaning.number
    return month.meaning.number


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
