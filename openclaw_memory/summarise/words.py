"""Words that make a sentence worth more or less in a summary: ``markers.txt`` and ``phrases.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..text import word_lists
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_CLAUSES = re.compile(r"[,.;:!?](?=\s|[*_]|$)|[，。；：！？、()（）\[\]|]|\s[–—-]\s")
#: How far from a marker a word denies it: words before it, and characters before and behind it without spaces.
_NEAR_WORDS, _NEAR_BEFORE, _NEAR_BEHIND = 3, 3, 7


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


def marker(text: str, denied: float = 0) -> float:
    """Points of the strongest word or phrase of ``markers.txt`` in a text; at most ``denied`` where it is denied."""
    return max((min(points, denied) if negations(near) else points for points, near in _marked(text)), default=0)


def _marked(text: str) -> Iterator[tuple[float, str]]:
    """The points of each marker in a text, and the words beside it in its clause by which it may be denied.

    Phrases of scripts without spaces count anywhere in a clause, others as whole words.
    """
    points = markers()
    single, several, unspaced = _by_form()
    for clause in _CLAUSES.split(text.casefold()):
        every = words(clause)
        for at, word in enumerate(every):
            if word in single:
                yield points[word], " ".join(every[:at][-_NEAR_WORDS:])
        joined = f" {' '.join(every)} "
        for phrase in several:
            before, found, _ = joined.partition(f" {phrase} ")
            if found:
                yield points[phrase], " ".join(before.split()[-_NEAR_WORDS:])
        if not clause.isascii():
            for one in unspaced.finditer(clause):
                before = clause[max(0, one.start() - _NEAR_BEFORE) : one.start()]
                yield points[one[0]], f"{before} {clause[one.end() : one.end() + _NEAR_BEHIND]}"


@cache
def markers() -> dict[str, float]:
    """Points of words and phrases that mark what is worth keeping, whatever the language."""
    out: dict[str, float] = {}
    for _, line in word_lists.lines_of(__package__, "markers.txt"):
        points, _, phrases = line.casefold().partition("=")
        for phrase in phrases.split(";"):
            key = " ".join(phrase.split())
            out[key] = max(float(points), out.get(key, 0.0))
    return out


@cache
def _by_form() -> tuple[frozenset[str], tuple[str, ...], re.Pattern[str]]:
    """The markers of a single word, those of several, and those of scripts without spaces."""
    spaced = frozenset(phrase for phrase in markers() if not JOINED_LETTER.search(phrase))
    several = sorted(phrase for phrase in spaced if " " in phrase)
    return spaced.difference(several), tuple(several), _either(markers().keys() - spaced)


@cache
def label_alone() -> re.Pattern[str]:
    """A label that says nothing with what follows: ``Blockers: none right now``, ``Source: …``, ``**Tags:** …``."""
    nothing, yet, filed = (_either(role(name)).pattern for name in ("nothing", "yet", "metadata"))
    return re.compile(
        rf"[\W_]*(?:(?:{filed})[\s*_]*[:：]"
        rf"|[\w -]{{2,24}}[:：][*_\s]*(?:{nothing}|-+)(?:\s+(?:{yet}))*\s*(?:[.,;!(。，]|$))",
        re.IGNORECASE,
    )


@cache
def role(name: str) -> frozenset[str]:
    """The words of a role in ``phrases.txt``, of all languages: ``addresses`` are those by which one is spoken to."""
    lines = word_lists.lines_of(__package__, "phrases.txt")
    return frozenset(
        word for title, line in lines if title == name for word in line.casefold().partition(":")[2].split()
    )


def _either(phrases: set[str] | frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))))
