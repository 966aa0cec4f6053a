"""Words that have a capital beside a name and are no part of it, in the languages of notes.

They are data: the stop words (``text/stop_words.txt``), the calendars (``text/calendar_*.txt``) and ``routine.txt``.
"""

from __future__ import annotations

from functools import cache

from ..text import calendar_words, language
from ..text.analysis import STOP_WORDS
from .routine import NAMELESS, listed


@cache
def tails(spoken: str) -> frozenset[str]:
    """What may follow a name in a text of the language ``spoken``: days, months, units.

    Words of other alphabets than the Latin one count in every text, as they are words of nothing else.
    """
    others = (filter(language.of_script, _days(name)) for name in calendar_words.known_languages())
    return listed("tails").union(_days(language.ENGLISH), _days(spoken), *others)


@cache
def within(spoken: str) -> frozenset[str]:
    """What has a capital before a name that stands inside a sentence, and is no part of it: "see The Raspberry Pi"."""
    return STOP_WORDS | tails(spoken)


def opens(word: str, spoken: str) -> bool:
    """Whether a sentence of the language ``spoken`` may begin with ``word`` before a name.

    Everyday words, articles and days do.  Abbreviations are no words of another language than English.
    """
    plain = word.lower()
    return plain in NAMELESS or (plain in _openers(spoken) and (len(word) == 1 or not word.isupper()))


@cache
def _openers(spoken: str) -> frozenset[str]:
    stops = language.stop_words()
    own = stops.get(spoken, frozenset()) if spoken != language.ENGLISH else frozenset()
    return tails(spoken).union(own, *(filter(language.of_script, words) for words in stops.values()))


@cache
def _days(name: str) -> frozenset[str]:
    """Single words for days and months, without those that are names of people or mean something else, too."""
    keys = calendar_words.keys_of(name)
    kinds = ("weekday", "month", "relative")
    said = {word for key, words in keys.items() if key.partition(".")[0] in kinds for word in words}
    return frozenset(filter(language.LETTERS.fullmatch, said)).difference(keys.get("doubtful", ()))
