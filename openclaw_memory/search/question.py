"""What a question says besides its words: the days it means, whom it names, whether it asks when."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import pairwise

from ..text import analysis, dates
from ..text import calendar_words as words
from ..text.language import is_stop_word, stop_words
from ..text.scripts import UNSPACED
from .bounds import EARLIEST, JOINED, Interval, bound, bounded

_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_QUARTER = re.compile(r"\bq([1-4])(?:[ -]?((?:19|20)\d\d))?\b")
_YEAR = re.compile(r"(?<![a-z\d_])((?:19|20)\d\d)(?![a-z\d_])")
#: What may stand between a month and the words for a part of it.
_BESIDE = re.compile(r"[\s'’-]{0,2}(?:[^\W\d_]{1,3}[\s'’]){0,2}")
#: First and last day of a part of a month, from its first day on; negative ones count back from its last.
_PARTS = {"early": (0, 10), "mid": (9, 20), "late": (-10, 0)}
#: Of more characters no question asks for nothing but days.
_LONG = 200
#: Days that a question names beyond so many say nothing any more.
_MOST = 16
#: Asking days outside are moved here, so that no interval leaves the calendar.
_LATEST = date(9990, 1, 1)
#: Between a day of the week and the week that has it there are fewer characters.
_NEAR = 12
#: Where a day is named, its last date, and perhaps the one to come.
_Alone = tuple[int, int, Interval | None, Interval | None]
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def asks_when(question: str) -> bool:
    """Whether the answer is a time: a question begins so, or, in languages that put no word first, says so."""
    if _lies_back(question):
        return True
    text = words.plain(question).lstrip("¿¡ \t\n\"'“«„「(")
    for language in words.likely_languages(text):
        keys = words.keys_of(language)
        if any(_begins(text, phrase) for phrase in keys.get("when", ())):
            return True
        for ask in keys.get("ask", ()):
            rest = text[len(ask) :].lstrip()
            if _begins(text, ask) and any(_begins(rest, noun) for noun in keys.get("ask-noun", ())):
                return True
        for phrase in keys.get("when-anywhere", ()):
            at = text.find(phrase)
            if at >= 0 and (not phrase[0].isascii() or not text[at - 1 : at].isalpha()):
                return True
    return False


def asks_now(question: str) -> bool:
    """Whether it is about how things are, not how they were: then the newest of several statements answers it."""
    return _says(question, "now")


def asks_amount(question: str) -> bool:
    """Whether the answer is a figure: how much, how many, which port; not how many days ago, which is a time."""
    return _says(question, "amount") and not _lies_back(question)


def content(question: str) -> str:
    """``question`` without "how many days ago" or "how many weeks"; all of it where nothing else is asked.

    These words say what kind of answer is wanted: no note that has it needs to hold one of them.
    """
    left = question
    for pattern in _counting(question):
        left = pattern.sub(" ", left)
    return left if analysis.query_terms(left) else question


def _lies_back(question: str) -> bool:
    """Whether it asks how many days ago something was."""
    return any(match["ago"] for pattern in _counting(question) for match in pattern.finditer(question))


def _counting(question: str) -> list[re.Pattern[str]]:
    return [pattern for one in words.likely_languages(words.plain(question)) if (pattern := _counts(one)) is not None]


@cache
def _counts(language: str) -> re.Pattern[str] | None:
    """Matches what asks for a number of days, weeks, months or years; its group ``ago`` those that lie back."""
    keys = words.keys_of(language)
    ago, span = set[str](), set[str]()
    for count in keys.get("count", ()):
        for unit in words.UNITS:
            ago.update(form.replace("{0}", f" {count} ") for form in keys.get(f"ago.{unit}", ()) if "{0}" in form)
            span.update(f"{count} {noun}" for noun in keys.get(f"noun.{unit}", ()))
    return re.compile(f"(?P<ago>{_any(ago)})|{_any(span)}", re.IGNORECASE) if ago else None


def _any(phrases: set[str]) -> str:
    """Matches any of ``phrases``, the longest first, whose words have spaces between them where their script has."""
    return "|".join(
        r"\s{0,3}".join(map(re.escape, phrase.split()))
        if JOINED.search(phrase)
        else r"\b" + r"[\s'’]{1,3}".join(map(re.escape, phrase.split())) + r"\b"
        for phrase in sorted(phrases, key=len, reverse=True)
    )


def _says(question: str, key: str) -> bool:
    text = words.plain(question)
    return any(
        _holds(text, phrase) for one in words.likely_languages(text) for phrase in words.keys_of(one).get(key, ())
    )


def _holds(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text, as words of its own where words have spaces between them."""
    at = text.find(phrase)
    while at >= 0:
        beside = text[at - 1 : at] + text[at + len(phrase) : at + len(phrase) + 1]
        if JOINED.search(phrase) or not any(map(str.isalnum, beside)):
            return True
        at = text.find(phrase, at + 1)
    return False


def _begins(text: str, phrase: str) -> bool:
    return text.startswith(phrase) and not text[len(phrase) : len(phrase) + 1].isalnum()


def named(question: str) -> list[str]:
    """Words that may be a speaker's name, as :func:`~openclaw_memory.text.analysis.name_key` has them.

    Who says "I" is the user of a chat.
    """
    own = re.search(r"\b(?:I|me|my|mine|myself|I'm|I've)\b", question, re.IGNORECASE)
    keys = ["user", "human"] if own else []
    for word in _WORD.findall(question):
        key = analysis.name_key(re.sub(r"['’]s$", "", word))
        if key not in analysis.STOP_WORDS:
            keys.append(key)
    return keys


def intervals(question: str, asked: date, exact: bool = False) -> list[Interval]:
    """Days that a question is about, relative ones seen from ``asked``; empty when it names none.

    People's weeks and months are not those of the calendar, unless ``exact`` ones are wanted.
    """
    return _days(question, asked, exact)[0]


def asks_only_days(question: str, asked: date) -> bool:
    """Whether it names days and asks for no more than what was done or happened then.

    What is left of it beside the days are stop words and what a language says for that (``doing``).
    """
    if len(question) > _LONG:
        return False
    named, text = _days(question, asked)
    if not named:
        return False
    spoken = words.likely_languages(words.plain(question))
    for one in spoken:
        text = _idle(one).sub(" ", text)
    left = (word for word in re.findall(r"[^\W_]+", text) if len(word) > 1 or not word.isascii() or word.isdigit())
    return all(any(is_stop_word(word, one) for one in spoken) for word in left)


def names_weekday(question: str) -> bool:
    """Whether it names a day of the week, which notes of other days may name as well."""
    text = words.plain(question)
    return any(phrase.meaning.kind == "weekday" for phrase in words.find_phrases(text, words.likely_languages(text)))


def asks_what_was_done(question: str, asked: date) -> bool:
    """Whether it asks what was done or happened on days that are over, and nothing else: no "how are you today?"."""
    if not asks_only_days(question, asked):
        return False
    named, text = _days(question, asked)
    over = all(last < asked for _, last in named)
    spoken = words.likely_languages(words.plain(question))
    return over and any(_holds(text, words.plain(said)) for one in spoken for said in _doing(one))


def _doing(language: str) -> tuple[str, ...]:
    return words.keys_of(language).get("doing", ())


@cache
def _idle(language: str) -> re.Pattern[str]:
    """Matches what asks for no thing; a language without spaces between its words has its stop words there."""
    said = [*_doing(language), *filter(_UNSPACED.match, stop_words().get(language, ()))]
    return re.compile(_any(set(map(words.plain, said))) or r"(?!)")


def _days(question: str, asked: date, exact: bool = False) -> tuple[list[Interval], str]:
    """Days that a question is about, and what it says beside these, in small letters."""
    asked = min(max(asked, EARLIEST), _LATEST)
    text = words.plain(question)
    spoken = words.likely_languages(text)
    said = words.find_phrases(text, spoken)
    parts = [phrase for phrase in said if phrase.meaning.kind == "part"][:_MOST]
    taken = bytearray(len(text))
    found: list[tuple[int, Interval, str | None]] = []

    def claim(start: int, end: int, interval: Interval | None, of: Sequence[str] = spoken[:1]) -> None:
        if interval is not None and taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            found.append((start, interval, bound(text, start, end, of)))

    for one in dates.find_dates(text, lambda: words.order_in(spoken)):
        start, end, interval = _named(text, one, parts, asked)
        claim(start, end, interval, dates.languages_of(one, spoken) or spoken[:1])
        if interval is not None and one.year is None and interval[0].year < asked.year:
            # The last May was meant, or the next one, which lines may name already.
            _, _, coming = _named(text, one._replace(year=asked.year), parts, asked)
            found += [] if coming is None or found[-1][2] is not None else [(start, coming, None)]
    for match in _QUARTER.finditer(text):
        quarter = _quarter(int(match[2] or asked.year), int(match[1]))
        coming = quarter if match[2] is None and quarter[0] > asked else None
        claim(*match.span(), _quarter(asked.year - 1, int(match[1])) if coming else quarter)
        found += [(match.start(), coming, None)] if coming else []
    for day, week in pairwise(said):
        # "Monday last week", or the other way round.
        kinds = {one.meaning.kind: one.meaning for one in (day, week)}
        if (
            kinds.keys() == {"weekday", "relative"}
            and kinds["relative"].unit == "week"
            and week.start - day.end < _NEAR
        ):
            steps = 7 * kinds["relative"].number + kinds["weekday"].number - asked.weekday()
            claim(day.start, week.end, _from(asked, steps, steps), (day.meaning.language,))
    for phrase in said:
        claim(phrase.start, phrase.end, _relative(phrase, asked, exact), (phrase.meaning.language,))
    if not found:
        for start, end, last, coming in (*_weekdays(said, asked), *_days_of_month(text, spoken, asked)):
            claim(start, end, last)
            found += [(start, coming, None)] if coming and found and found[-1][2] is None else []
    if not found:
        for match in _YEAR.finditer(text):
            claim(*match.span(), (date(int(match[1]), 1, 1), date(int(match[1]), 12, 31)))
    found.sort(key=lambda one: one[:2])
    beside = "".join(" " if held else letter for letter, held in zip(text, taken, strict=True))
    return list(dict.fromkeys(bounded([one[1:] for one in found], asked)))[:_MOST], beside


def _named(
    text: str, one: dates.DateMention, parts: list[words.Phrase], asked: date
) -> tuple[int, int, Interval | None]:
    """Where a date stands, with the part of a month that is meant, and its days."""
    if one.day is not None:
        days = one.days(asked.year)
        if days and one.year is None and days[0] > asked + timedelta(60):
            days = one.days(asked.year - 1)
        if days:
            return one.start, one.end, days
    month = one._replace(day=None)
    first, last = month.days(asked.year - (one.year is None and one.month > asked.month)) or (None, None)
    if first is None or last is None:
        return one.start, one.end, None
    for part in parts:
        before = part.end <= one.start and _BESIDE.fullmatch(text, part.end, one.start)
        if before or (one.end <= part.start and not text[one.end : part.start].strip()):
            days = _part(part.meaning, first, last)
            return min(part.start, one.start), max(part.end, one.end), days
    return one.start, one.end, (first, last) if dates.means_month(text, month) else None


def _part(meaning: words.Meaning, first: date, last: date) -> Interval:
    if meaning.unit in _PARTS:
        begin, end = _PARTS[meaning.unit]
    else:
        length = _UNIT_DAYS[meaning.unit]
        begin = length * (meaning.number - 1) if meaning.number > 0 else 1 + length * meaning.number
        end = begin + length - 1
    from_day = first if begin >= 0 and meaning.number >= 0 else last
    return from_day + timedelta(begin), from_day + timedelta(end)


def _quarter(year: int, quarter: int) -> Interval:
    month = 3 * quarter - 2
    return date(year, month, 1), date(year, month + 2, monthrange(year, month + 2)[1])


def _relative(phrase: words.Phrase, asked: date, exact: bool) -> Interval | None:
    """The days of a phrase that is seen from ``asked``; ``None`` for one that is not."""
    kind, unit, number, _ = phrase.meaning
    if kind == "relative":
        return (_calendar(unit, number, asked) if exact else None) or _steps(unit, number, asked)
    if kind == "weekday-relative":
        return _weekday(number, int(unit), asked)
    if kind == "past":
        some = phrase.holds or 3  # as many as "the last days" are
        return _from(asked, -some * _UNIT_DAYS[unit], 0)
    if kind not in ("ago", "ahead"):
        return None
    days = (number if phrase.holds is None else phrase.holds) * _UNIT_DAYS[unit]
    slack = max(1, days // 4) if unit != "day" else 0
    near, far = max(0, days - slack), days + slack
    return _from(asked, near, far) if kind == "ahead" else _from(asked, -far, -near)


def _calendar(unit: str, steps: int, asked: date) -> Interval | None:
    """A week or month of the calendar; ``None`` for others, and on a Sunday, which ends a week or begins one."""
    if unit == "week" and asked.weekday() < 6:
        return _from(asked, 7 * steps - asked.weekday(), 7 * steps - asked.weekday() + 6)
    if unit == "month":
        year, month = divmod(12 * asked.year + asked.month - 1 + steps, 12)
        return date(year, month + 1, 1), date(year, month + 1, monthrange(year, month + 1)[1])
    return None


def _steps(unit: str, steps: int, asked: date) -> Interval | None:
    """``steps`` days, weeks and so on from ``asked``, with those around that people may mean."""
    if unit == "day":
        return _from(asked, steps, steps)
    if unit == "year":
        return date(asked.year + steps, 1, 1), date(asked.year + steps, 12, 31)
    if unit == "quarter":
        year, quarter = divmod(4 * asked.year + (asked.month - 1) // 3 + steps, 4)
        return _quarter(year, quarter + 1)
    length = _UNIT_DAYS[unit]
    if steps == 0:
        return _from(asked, min(1 - length, -6) if unit == "week" else -length, 0)
    near, far = (abs(steps) - 1) * length + 1, (abs(steps) + 1) * length - (unit == "week")
    return _from(asked, near, far) if steps > 0 else _from(asked, -far, -near)


def _weekday(wanted: int, steps: int, asked: date) -> Interval | None:
    if steps < 0:
        return _from(asked, *[-((asked.weekday() - wanted - 1) % 7 + 1)] * 2)
    ahead = (wanted - asked.weekday() - 1) % 7 + 1 if steps else wanted - asked.weekday()
    return _from(asked, ahead, ahead)


def _weekdays(said: Sequence[words.Phrase], asked: date) -> Iterator[_Alone]:
    """Days of the week that are named alone: the last one, and the one that this week has still to come."""
    for phrase in said:
        if phrase.meaning.kind == "weekday":
            back = (asked.weekday() - phrase.meaning.number) % 7 or 7
            coming = _from(asked, 7 - back, 7 - back) if phrase.meaning.number >= asked.weekday() else None
            yield phrase.start, phrase.end, _from(asked, -back, -back), coming


def _days_of_month(text: str, spoken: tuple[str, ...], asked: date) -> Iterator[_Alone]:
    """Days that are named by their number alone ("on the 9th"): the last one, and the one that this month has to come.

    A number before a word that says something counts that: "on 9 servers".
    """
    for match in _numbered(spoken).finditer(text):
        word = _WORD.match(text[match.end() :].lstrip())
        if word is None or _UNSPACED.match(word[0]) or any(is_stop_word(word[0], one) for one in spoken):
            number = int(next(filter(None, match.groups())))
            months = (divmod(12 * asked.year + asked.month - 1 - back, 12) for back in range(3))
            days = [date(year, month + 1, number) for year, month in months if number <= monthrange(year, month + 1)[1]]
            last = next(day for day in days if day <= asked)
            yield *match.span(), (last, last), (days[0], days[0]) if days[0] > asked else None


@cache
def _numbered(spoken: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the number of a day where some languages have words around it that say so."""
    on, after = (words.any_of(map(re.escape, words.spellings_for(key, spoken))) or "(?!)" for key in ("on", "on-after"))
    join, end = (words.any_of(map(re.escape, words.spellings_for(key, (words.ANY,)))) for key in ("join", "day-end"))
    number = r"([12]?[1-9]|[123]0|31)(?!\d)"
    behind = rf"(?:{end})(?![^\W\d_])"
    return re.compile(
        rf"(?<!\w)(?:{on})(?:\s+(?:{join}))?\s+{number}(?![-./:,%]\d)(?:\.|{behind})?(?!\w)"
        rf"|(?<!\w)(?:{join})\s+{number}{behind}|(?<![\d.,/-]){number}[日号號일](?:{after})?"
    )


def _from(asked: date, first: int, last: int) -> Interval | None:
    """From so many days after ``asked`` to so many; negative ones are before."""
    if first + asked.toordinal() < 1 or last + asked.toordinal() > date.max.toordinal():
        return None
    return asked + timedelta(first), asked + timedelta(last)
