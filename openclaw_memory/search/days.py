"""Find the days that a question is about: dates, "last week", "since March", "before 2024", "昨天之后".

A text is read as :func:`~openclaw_memory.text.calendar_words.plain` makes it.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from .. import patterns as re
from ..text import calendar_words as words
from ..text import dates, scripts
from ..text.language import is_stop_word

#: First and last day, inclusive.
Interval = tuple[date, date]

#: No note is older than the first; later days of asking than the second are moved there, or intervals would overflow.
EARLIEST, _LATEST = date(1200, 1, 1), date(9990, 1, 1)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
#: First and last day of a part of a month, from its first day on; negative ones count back from its last.
_PARTS = {"early": (0, 10), "mid": (9, 20), "late": (-10, 0)}
#: Intervals that are kept of one question: more of them restrict nothing.
_MAX_INTERVALS = 16
#: Characters that a weekday may stand apart from its week, and a word such as "since" from its time.
_WEEKDAY_GAP, _BOUNDARY_GAP = 12, 40
_SEPARATORS = " \t\n-–'’"

#: Text that may stand between a month and the words for a part of it.
_BESIDE = re.compile(r"[\s'’-]{0,2}(?:[^\W\d_]{1,3}[\s'’]){0,2}")
WORD = re.compile(r"[^\W\d_][\w'’-]*")
UNSPACED_WORD = re.compile(f"[{scripts.UNSPACED}]")

#: The place of a day without month or year in a text, its last date, and its next one if that may be meant.
_AmbiguousDay = tuple[int, int, Interval | None, Interval | None]


def find_days(
    text: str, languages: tuple[str, ...], phrases: Sequence[words.Phrase], day: date, exact: bool = False
) -> tuple[list[Interval], str]:
    """Return the intervals that a question asked on ``day`` is about, and its text with spaces for their words.

    People's weeks and months are not those of the calendar, unless ``exact`` ones are wanted.
    """
    day = min(max(day, EARLIEST), _LATEST)
    parts = [phrase for phrase in phrases if phrase.meaning.kind == "part"][:_MAX_INTERVALS]
    taken = bytearray(len(text))
    intervals: list[tuple[int, Interval, str | None]] = []

    def claim(start: int, end: int, interval: Interval | None, spoken: Sequence[str] = languages[:1]) -> None:
        if interval is not None and taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            intervals.append((start, interval, _boundary(text, start, end, spoken)))

    for named in dates.find_dates(text, lambda: words.order_in(languages)):
        start, end, interval = _days_of_date(text, named, parts, day)
        claim(start, end, interval, dates.languages_of(named, languages) or languages[:1])
        if interval is not None and named.year is None and interval[0].year < day.year:
            # The last May was meant, or the next one, which lines may name already.
            _, _, coming = _days_of_date(text, named._replace(year=day.year), parts, day)
            intervals += [] if coming is None or intervals[-1][2] is not None else [(start, coming, None)]
    for match in re.finditer(r"\bq([1-4])(?:[ -]?((?:19|20)\d\d))?\b", text):
        quarter = _quarter(int(match[2] or day.year), int(match[1]))
        coming = quarter if match[2] is None and quarter[0] > day else None
        claim(*match.span(), _quarter(day.year - 1, int(match[1])) if coming else quarter)
        intervals += [(match.start(), coming, None)] if coming else []
    for first, second in pairwise(phrases):
        # "Monday last week", or the other way round.
        kinds = {phrase.meaning.kind: phrase.meaning for phrase in (first, second)}
        if (
            kinds.keys() == {"weekday", "relative"}
            and kinds["relative"].unit == "week"
            and second.start - first.end < _WEEKDAY_GAP
        ):
            steps = 7 * kinds["relative"].number + kinds["weekday"].number - day.weekday()
            claim(first.start, second.end, _shifted(day, steps, steps), (first.meaning.language,))
    for phrase in phrases:
        claim(phrase.start, phrase.end, _relative(phrase, day, exact), (phrase.meaning.language,))
    if not intervals:
        for start, end, last, coming in (*_weekdays(phrases, day), *_days_of_month(text, languages, day)):
            claim(start, end, last)
            intervals += [(start, coming, None)] if coming and intervals and intervals[-1][2] is None else []
    if not intervals:
        for match in re.finditer(r"(?<![a-z\d_])(?:19|20)\d\d(?![a-z\d_])", text):
            claim(*match.span(), (date(int(match[0]), 1, 1), date(int(match[0]), 12, 31)))
    intervals.sort(key=lambda entry: entry[:2])
    rest = "".join(" " if held else letter for letter, held in zip(text, taken, strict=True))
    return list(dict.fromkeys(_resolve_boundaries([entry[1:] for entry in intervals], day)))[:_MAX_INTERVALS], rest


# -- dates and phrases ------------------------------------------------------------------------------


def _days_of_date(
    text: str, named: dates.DateMention, parts: list[words.Phrase], day: date
) -> tuple[int, int, Interval | None]:
    """Return start and end of a date in ``text``, the part of a month beside it included, and its days."""
    if named.day is not None:
        interval = named.days(day.year)
        if interval and named.year is None and interval[0] > day + timedelta(60):
            interval = named.days(day.year - 1)
        if interval:
            return named.start, named.end, interval
    month = named._replace(day=None)
    first, last = month.days(day.year - (named.year is None and named.month > day.month)) or (None, None)
    if first is None or last is None:
        return named.start, named.end, None
    for part in parts:
        before = part.end <= named.start and _BESIDE.fullmatch(text, part.end, named.start)
        if before or (named.end <= part.start and not text[named.end : part.start].strip()):
            interval = _part_of_month(part.meaning, first, last)
            return min(part.start, named.start), max(part.end, named.end), interval
    return named.start, named.end, (first, last) if dates.means_month(text, month) else None


def _part_of_month(meaning: words.Meaning, first: date, last: date) -> Interval:
    if meaning.unit in _PARTS:
        begin, end = _PARTS[meaning.unit]
    else:
        length = _UNIT_DAYS[meaning.unit]
        begin = length * (meaning.number - 1) if meaning.number > 0 else 1 + length * meaning.number
        end = begin + length - 1
    from_day = first if begin >= 0 and meaning.number >= 0 else last
    return from_day + timedelta(begin), from_day + timedelta(end)


def _months(year: int, first: int, count: int = 1) -> Interval:
    """Return the days of ``count`` months from month ``first`` of a year on, which may lie in another year."""
    (begin_year, begin), (end_year, end) = (divmod(12 * year + month - 1, 12) for month in (first, first + count - 1))
    return date(begin_year, begin + 1, 1), date(end_year, end + 1, monthrange(end_year, end + 1)[1])


def _quarter(year: int, quarter: int) -> Interval:
    return _months(year, 3 * quarter - 2, 3)


def _relative(phrase: words.Phrase, day: date, exact: bool) -> Interval | None:
    """Return the days of a phrase such as "two weeks ago", seen from ``day``; ``None`` for other phrases."""
    kind, unit, number, _ = phrase.meaning
    if kind == "relative":
        return (_calendar_unit(unit, number, day) if exact else None) or _steps(unit, number, day)
    if kind == "weekday-relative":
        return _weekday(number, int(unit), day)
    if kind == "past":
        count = phrase.number or 3  # as many as "the last days" are
        return _shifted(day, -count * _UNIT_DAYS[unit], 0)
    if kind not in ("ago", "ahead"):
        return None
    days = (number if phrase.number is None else phrase.number) * _UNIT_DAYS[unit]
    slack = max(1, days // 4) if unit != "day" else 0
    near, far = max(0, days - slack), days + slack
    return _shifted(day, near, far) if kind == "ahead" else _shifted(day, -far, -near)


def _calendar_unit(unit: str, steps: int, day: date) -> Interval | None:
    """Return a week or month of the calendar; ``None`` for others, and on a Sunday, which ends a week or begins one."""
    if unit == "week" and day.weekday() < 6:
        return _shifted(day, 7 * steps - day.weekday(), 7 * steps - day.weekday() + 6)
    return _months(day.year, day.month + steps) if unit == "month" else None


def _steps(unit: str, steps: int, day: date) -> Interval | None:
    """Return the days that are ``steps`` units from ``day``, with those around that people may mean."""
    if unit == "day":
        return _shifted(day, steps, steps)
    if unit == "year":
        return date(day.year + steps, 1, 1), date(day.year + steps, 12, 31)
    if unit == "quarter":
        year, quarter = divmod(4 * day.year + (day.month - 1) // 3 + steps, 4)
        return _quarter(year, quarter + 1)
    length = _UNIT_DAYS[unit]
    if steps == 0:
        return _shifted(day, min(1 - length, -6) if unit == "week" else -length, 0)
    near, far = (abs(steps) - 1) * length + 1, (abs(steps) + 1) * length - (unit == "week")
    return _shifted(day, near, far) if steps > 0 else _shifted(day, -far, -near)


def _weekday(weekday: int, steps: int, day: date) -> Interval | None:
    if steps < 0:
        return _shifted(day, *[-((day.weekday() - weekday - 1) % 7 + 1)] * 2)
    ahead = (weekday - day.weekday() - 1) % 7 + 1 if steps else weekday - day.weekday()
    return _shifted(day, ahead, ahead)


def _weekdays(phrases: Sequence[words.Phrase], day: date) -> Iterator[_AmbiguousDay]:
    """Yield days of the week that are named alone: the last one, and the one that this week has still to come."""
    for phrase in phrases:
        if phrase.meaning.kind == "weekday":
            back = (day.weekday() - phrase.meaning.number) % 7 or 7
            coming = _shifted(day, 7 - back, 7 - back) if phrase.meaning.number >= day.weekday() else None
            yield phrase.start, phrase.end, _shifted(day, -back, -back), coming


def _days_of_month(text: str, languages: tuple[str, ...], day: date) -> Iterator[_AmbiguousDay]:
    """Yield days that are named by their number alone ("on the 9th"): the last one, and the one still to come.

    A number before a word that says something counts that: "on 9 servers".
    """
    for match in re.finditer(_numbered(languages), text):
        word = WORD.match(text[match.end() :].lstrip())
        if word is None or UNSPACED_WORD.match(word[0]) or any(is_stop_word(word[0], name) for name in languages):
            number = int(next(filter(None, match.groups())))
            months = (divmod(12 * day.year + day.month - 1 - back, 12) for back in range(3))
            days = [date(year, month + 1, number) for year, month in months if number <= monthrange(year, month + 1)[1]]
            last = next(other for other in days if other <= day)
            yield *match.span(), (last, last), (days[0], days[0]) if days[0] > day else None


def _numbered(languages: tuple[str, ...]) -> str:
    """Return a pattern for the number of a day where some languages have words around it that say so."""
    on, after = (
        words.any_of(map(re.escape, words.spellings_for(key, languages))) or "(?!)" for key in ("on", "on-after")
    )
    join, end = (words.any_of(map(re.escape, words.spellings_for(key, (words.ANY,)))) for key in ("join", "day-end"))
    number = r"([12]?[1-9]|[123]0|31)(?!\d)"
    behind = rf"(?:{end})(?![^\W\d_])"
    return (
        rf"(?<!\w)(?:{on})(?:\s+(?:{join}))?\s+{number}(?![-./:,%]\d)(?:\.|{behind})?(?!\w)"
        rf"|(?<!\w)(?:{join})\s+{number}{behind}|(?<![\d.,/-]){number}[日号號일](?:{after})?"
    )


def _shifted(day: date, first: int, last: int) -> Interval | None:
    """Return the interval from ``first`` to ``last`` days after ``day``; ``None`` where that leaves the calendar."""
    if first + day.toordinal() < 1 or last + day.toordinal() > date.max.toordinal():
        return None
    return day + timedelta(first), day + timedelta(last)


# -- since and until --------------------------------------------------------------------------------


def _boundary(text: str, start: int, end: int, languages: Sequence[str]) -> str | None:
    """Return the key, of :data:`.calendar_words.BOUNDARY_KEYS`, of the word beside ``text[start:end]``, or ``None``.

    The longest word wins; of equally long ones that of the likeliest language, which comes first.  A word that joins
    the parts of a date, such as an article, may stand between.  "The week before May 3" is a time that is counted from
    there, and notes of that day may tell it, so it has no boundary.
    """
    before = text[max(0, start - _BOUNDARY_GAP) : start].rstrip(_SEPARATORS)
    behind = text[end : end + _BOUNDARY_GAP]
    # Without the case of a name or figure, where it is written behind an apostrophe.
    behind = re.sub(r"^['’]\w{1,5}(?=\s)", "", behind).lstrip(_SEPARATORS)
    for _ in range(2):
        candidates = [
            (len(phrase), -place, kind, language, phrase, leading)
            for place, language in enumerate(languages)
            for leading, suffix, kinds in (
                (True, "", words.BOUNDARY_KEYS),
                (False, "-after", (*words.BOUNDARY_KEYS, "around")),
            )
            for kind in kinds
            for phrase in words.phrases_by_key(language).get(kind + suffix, ())
            if (_ends(before, phrase) if leading else _begins(behind, phrase))
        ]
        if candidates:
            *_, kind, language, phrase, leading = max(candidates)
            names = words.time_expressions(language)
            if leading:
                counted = any(_ends(before[: -len(phrase)].rstrip(_SEPARATORS), name) for name in names)
            else:
                rest = _without_first_join(behind[len(phrase) :].lstrip(_SEPARATORS))
                counted = any(_begins(rest, name) for name in names)
            return None if counted or kind == "around" else kind
        last = re.search(r"\w+\Z", before)
        if last is not None and last[0] in words.joining_words():
            before = before[: last.start()].rstrip(_SEPARATORS)
        behind = _without_first_join(behind)
    return None


def _ends(text: str, phrase: str) -> bool:
    return text.endswith(phrase) and (bool(words.JOINED.search(phrase)) or not text[: -len(phrase)][-1:].isalnum())


def _begins(text: str, phrase: str) -> bool:
    return text.startswith(phrase) and (bool(words.JOINED.search(phrase)) or not text[len(phrase) :][:1].isalnum())


def _without_first_join(text: str) -> str:
    """Return ``text`` without a first word, or a character such as 年, that joins the parts of a date."""
    first = re.match(r"\w+", text)
    if first is not None and first[0] in words.joining_words():
        return text[first.end() :].lstrip(_SEPARATORS)
    return text[1:].lstrip(_SEPARATORS) if words.JOINED.match(text) and text[0] in words.joining_words() else text


def _resolve_boundaries(intervals: Sequence[tuple[Interval, str | None]], day: date) -> list[Interval]:
    """Apply the boundaries of intervals: join one start and one later end; end an interval without an end on ``day``.

    "Since" or "after" a time that lies after ``day`` leaves the interval as it is.
    """
    begins = [_extended(interval, kind, day) for interval, kind in intervals if kind in ("since", "after")]
    ends = [_extended(interval, kind, day) for interval, kind in intervals if kind in ("until", "before")]
    bounded = [*begins, *ends]
    if len(begins) == len(ends) == 1 and begins[0][0] <= ends[0][1]:
        bounded = [(begins[0][0], ends[0][1])]
    return [*(interval for interval, kind in intervals if kind is None), *bounded]


def _extended(interval: Interval, kind: str | None, day: date) -> Interval:
    first, last = interval
    if kind == "since" and first <= day:
        return first, day
    if kind == "after" and last < day:
        return last + timedelta(1), day
    if kind == "until":
        return min(EARLIEST, first), last
    return (EARLIEST, first - timedelta(1)) if kind == "before" and first > EARLIEST else interval
