"""Times that only begin or end what a question is about: "since March", "before 2024", "昨天之后"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from ..text import calendar_words as words
from ..text import scripts

#: First and last day, inclusive.
Interval = tuple[date, date]

#: No note is older than this day.
EARLIEST = date(1200, 1, 1)
#: Words in these scripts may have others directly beside them.
JOINED = re.compile(f"[{scripts.UNSPACED}{scripts.HANGUL}]")
_APART = " \t\n-–'’"
#: So many characters before a time may hold such a word.
_AROUND = 40


def bound(text: str, start: int, end: int, of: Sequence[str]) -> str | None:
    """What the word beside ``text[start:end]`` makes of the time there, in the languages ``of``, likeliest first.

    One of :data:`~openclaw_memory.text.calendar_words.BESIDE`, or ``None``.  The longest word counts.  One that joins
    the parts of a date, such as an article, may stand between them.  "The week before May 3" is a time that is told
    from there, and notes of that day may tell it.
    """
    before = text[max(0, start - _AROUND) : start].rstrip(_APART)
    behind = text[end : end + _AROUND]
    # Without the case of a name or figure, where it is written behind an apostrophe.
    behind = re.sub(r"^['’]\w{1,5}(?=\s)", "", behind).lstrip(_APART)
    for _ in range(2):
        leading = [
            (len(phrase), -place, kind, language, phrase)
            for place, language in enumerate(of)
            for kind in words.BESIDE
            for phrase in words.keys_of(language).get(kind, ())
            if _ends(before, phrase)
        ]
        following = [
            (len(phrase), -place, kind, language, phrase)
            for place, language in enumerate(of)
            for kind in (*words.BESIDE, "around")
            for phrase in words.keys_of(language).get(f"{kind}-after", ())
            if _begins(behind, phrase)
        ]
        if leading or following:
            longest = max(leading + following)
            *_, kind, language, phrase = longest
            names = words.time_expressions(language)
            if longest in leading:
                told = any(_ends(before[: -len(phrase)].rstrip(_APART), name) for name in names)
            else:
                rest = _behind_join(behind[len(phrase) :].lstrip(_APART))
                told = any(_begins(rest, name) for name in names)
            return None if told or kind == "around" else kind
        before, behind = _before_join(before), _behind_join(behind)
    return None


def _ends(text: str, phrase: str) -> bool:
    return text.endswith(phrase) and (bool(JOINED.search(phrase)) or not text[: -len(phrase)][-1:].isalnum())


def _begins(text: str, phrase: str) -> bool:
    return text.startswith(phrase) and (bool(JOINED.search(phrase)) or not text[len(phrase) :][:1].isalnum())


def _before_join(text: str) -> str:
    """``text`` without a word at its end that joins the parts of a date."""
    last = re.search(r"\w+\Z", text)
    return text[: last.start()].rstrip(_APART) if last is not None and last[0] in words.joins() else text


def _behind_join(text: str) -> str:
    """``text`` without such a word at its beginning, or such a character where words are not apart: 年."""
    first = re.match(r"\w+", text)
    if first is not None and first[0] in words.joins():
        return text[first.end() :].lstrip(_APART)
    return text[1:].lstrip(_APART) if JOINED.match(text) and text[0] in words.joins() else text


def bounded(found: Sequence[tuple[Interval, str | None]], asked: date) -> list[Interval]:
    """The days that are meant on day ``asked``: what begins before it ends is one interval, what only begins ends then.

    A time that nothing has passed by ``asked`` stays as it is named.
    """
    out: list[Interval] = []
    begins = [_opened(one, kind, asked) for one, kind in found if kind in ("since", "after")]
    ends = [_opened(one, kind, asked) for one, kind in found if kind in ("until", "before")]
    if len(begins) == len(ends) == 1 and begins[0][0] <= ends[0][1]:
        out.append((begins[0][0], ends[0][1]))
    else:
        out += [*begins, *ends]
    return [*(one for one, kind in found if kind is None), *out]


def _opened(one: Interval, kind: str | None, asked: date) -> Interval:
    first, last = one
    if kind == "since" and first <= asked:
        return first, asked
    if kind == "after" and last < asked:
        return last + timedelta(1), asked
    if kind == "until":
        return min(EARLIEST, first), last
    return (EARLIEST, first - timedelta(1)) if kind == "before" and first > EARLIEST else one
