"""Times that only begin or end what a question is about: "since March", "before 2024", "昨天之后"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal, cast, get_args

from ..text import calendar_words as words
from ..text import scripts

#: First and last day, inclusive.
Interval = tuple[date, date]
Bound = Literal["since", "after", "until", "before"]

#: No note is older than this day.
EARLIEST = date(1200, 1, 1)
#: Words in these scripts may have others directly beside them.
_JOINED = re.compile(f"[{scripts.UNSPACED}{scripts.HANGUL}]")
#: The case of a name or figure, where it is written behind an apostrophe.
_CASE = re.compile(r"['’]\w{1,5}(?=\s)")
_APART = " \t\n-–'’"
#: So many characters before a time may hold such a word.
_AROUND = 40


def bound(text: str, start: int, end: int, of: Sequence[str]) -> Bound | None:
    """What the word beside ``text[start:end]`` makes of the time there, in the languages ``of``, likeliest first.

    The longest counts.  A word that joins the parts of a date, such as an article, may stand between them.  "The week
    before May 3" is a time that is told from there, and notes of that day may tell it.
    """
    before = text[max(0, start - _AROUND) : start].rstrip(_APART)
    behind = text[end : end + _AROUND]
    if (case := _CASE.match(behind)) is not None:
        behind = behind[case.end() :]
    behind = behind.lstrip(_APART)
    for _ in range(2):
        found = [
            (len(phrase), -place, kind, language, before[: -len(phrase)] if leads else behind[len(phrase) :], leads)
            for place, language in enumerate(of)
            for kind in get_args(Bound)
            for leads, key in ((True, kind), (False, f"{kind}-after"))
            for phrase in words.keys_of(language).get(key, ())
            if (_ends(before, phrase) if leads else _begins(behind, phrase))
        ]
        if found:
            *_, kind, language, beside, leads = max(found)
            return None if _names_time(beside, leads, language) else cast(Bound, kind)
        before, behind = _without_join(before, behind)
    return None


def _names_time(beside: str, leads: bool, language: str) -> bool:
    """Whether the text before a word that ``leads``, or else behind one, tells a time by it."""
    names = words.naming_time(language)
    if leads:
        return any(_ends(beside.rstrip(_APART), name) for name in names)
    _, rest = _without_join("", beside.lstrip(_APART))
    return any(_begins(rest, name) for name in names)


def _ends(text: str, phrase: str) -> bool:
    return text.endswith(phrase) and (bool(_JOINED.search(phrase)) or not text[: -len(phrase)][-1:].isalnum())


def _begins(text: str, phrase: str) -> bool:
    return text.startswith(phrase) and (bool(_JOINED.search(phrase)) or not text[len(phrase) :][:1].isalnum())


def _without_join(before: str, behind: str) -> tuple[str, str]:
    joins = sorted(words.joins(), key=len, reverse=True)
    first = next((join for join in joins if _ends(before, join)), "")
    last = next((join for join in joins if _begins(behind, join)), "")
    return before[: len(before) - len(first)].rstrip(_APART), behind[len(last) :].lstrip(_APART)


def bounded(found: Sequence[tuple[Interval, Bound | None]], asked: date) -> list[Interval]:
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


def _opened(one: Interval, kind: Bound | None, asked: date) -> Interval:
    first, last = one
    if kind == "since" and first <= asked:
        return first, asked
    if kind == "after" and last < asked:
        return last + timedelta(1), asked
    if kind == "until":
        return min(EARLIEST, first), last
    return (EARLIEST, first - timedelta(1)) if kind == "before" and first > EARLIEST else one
