"""Find what changed within a period: a value that a later day gives anew, or a line that tells both values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from functools import cache
from math import log

from .. import patterns as re
from ..knowledge.statements import Statement, differs, is_same_thing, parse_statement
from ..model import tokens_of
from ..text import calendar_words
from ..text.scripts import UNSPACED
from .scoring import phrase_words
from .sentences import Sentence

#: Most tokens of a value: a longer one is a sentence about something else.
_MAX_VALUE_TOKENS = 8
#: A figure with its unit: ``24.90 €``, ``$40``, ``10 days``, ``10天``.
_AMOUNT = r"(?P<{0}>[€$£¥₽₩]?\s?\d[\d.,]*\s?(?:[^\W\d_{1}]+|[{1}]|[€$£¥₽₩%])?)"
_ARROW = re.compile(r"\d[^\s→⇒➜]{0,12}(?:\s[^\s\d→⇒➜]{1,12})?\s*(?:→|⇒|➜|[-=]>)\s*[^\s\d]{0,3}\d")
_YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
_DIGITS = re.compile(r"\d[\d.,]*")


def find_changes(sentences: Sequence[Sentence], subjects: Sequence[str]) -> set[int]:
    """Return the places of sentences, in order of time, that tell a change: the old and the new value of a thing.

    ``subjects`` are those of their headings.  Of a value that changed several times the first and the last are told.
    What recurs more often than it changes is routine, and no change.
    """
    statements = [
        parse_statement(sentence.text, subject) for sentence, subject in zip(sentences, subjects, strict=True)
    ]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, statement in enumerate(statements):
        if sentences[at].count == 1 and sentences[at].speaker is None and _has_value(statement):
            for term in statement.label:
                holders[term].append(at)
    counts = Counter(term for statement in statements for term in statement.words | statement.subject)
    weights = {term: log(1 + len(statements) / count) for term, count in counts.items()}
    places = {
        at
        for at, sentence in enumerate(sentences)
        if sentence.count == 1 and _tells_both_values(sentence.text, sentence.day)
    }
    taken: set[int] = set()
    for at in sorted(set().union(*holders.values())):
        if at in taken:
            continue
        others = sorted({other for term in statements[at].label for other in holders[term] if other > at})
        same = [other for other in others if is_same_thing(statements[other], statements[at], weights)]
        taken.update(same)
        # A thing has one value a day, else these are items of a list.
        days = [sentences[other].day for other in (at, *same)]
        if same and len(set(days)) == len(days) and differs(statements[same[-1]], statements[at]):
            places.update((at, same[-1]))
    return places


def _has_value(statement: Statement) -> bool:
    """Return true if a statement gives what its label names a value: of a few words at most."""
    return bool(statement.label and statement.value) and tokens_of(statement.value) <= _MAX_VALUE_TOKENS


def _tells_both_values(text: str, day: date) -> bool:
    """Return true if a line tells a value and what it became: ``29 € → 24 €``, ``from 30 days to 10 days``."""
    # What a later year will bring is a forecast.
    if calendar_words.may_name_month(text) or any(int(year) > day.year for year in _YEAR.findall(text)):
        return False
    if _ARROW.search(text):
        return True
    match = _from_to().search(text)
    if match is None:
        return False
    old, new = (" ".join(_DIGITS.sub("", match[name]).split()) for name in ("old", "new"))
    return old == new != "" and _DIGITS.findall(match["old"]) != _DIGITS.findall(match["new"])


@cache
def _from_to() -> re.Pattern[str]:
    """Return the pattern of two amounts with a word for *to* right before the second."""
    unspaced = re.compile(f"[{UNSPACED}]")
    words = phrase_words("to")
    joined = "|".join(sorted(map(re.escape, filter(unspaced.search, words)), key=lambda word: (-len(word), word)))
    spaced = "|".join(sorted(map(re.escape, (word for word in words if not unspaced.search(word)))))
    old, new = (_AMOUNT.format(name, UNSPACED) for name in ("old", "new"))
    return re.compile(rf"{old}[^.;:\d]{{0,24}}?(?:\b(?:{spaced})\s|(?:{joined})\s?){new}", re.IGNORECASE)
