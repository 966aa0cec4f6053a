"""Words that make a sentence worth more or less in a summary: ``markers.txt`` and ``phrases.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from ..text.scripts import HANGUL, UNSPACED

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_UNSPACED = re.compile(f"[{UNSPACED}{HANGUL}]")


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


class Points:
    """What words and phrases count for; the phrases of scripts without spaces count anywhere in a text."""

    def __init__(self, points: dict[str, int]) -> None:
        self._words = {phrase: value for phrase, value in points.items() if _is_word(phrase)}
        self._spaced = {f" {phrase} ": value for phrase, value in points.items() if " " in phrase and _spaced(phrase)}
        self._within = {phrase: value for phrase, value in points.items() if not _spaced(phrase)}
        either = sorted(self._within, key=lambda phrase: (-len(phrase), phrase))
        self._pattern = re.compile("|".join(map(re.escape, either)) or r"(?!)")

    def of(self, said: list[str], text: str) -> list[int]:
        """The points of each phrase that a text has, once; ``said`` are its words."""
        found = [self._words[word] for word in set(said) if word in self._words]
        if self._spaced:
            joined = f" {' '.join(said)} "
            found += [value for phrase, value in self._spaced.items() if phrase in joined]
        if not text.isascii():
            found += [self._within[phrase] for phrase in set(self._pattern.findall(text.casefold()))]
        return found


@cache
def markers() -> dict[str, float]:
    """Points of words and phrases that mark what is worth keeping, whatever the language."""
    out: dict[str, float] = {}
    for _, line in _lines("markers.txt"):
        points, _, phrases = line.partition("=")
        for phrase in phrases.split(";"):
            key = " ".join(phrase.casefold().split())
            out[key] = max(float(points), out.get(key, 0.0))
    return out


@cache
def phrases(role: str) -> frozenset[str]:
    """The words of a role in ``phrases.txt``, of all languages."""
    return frozenset(
        word for section, line in _lines("phrases.txt") if section == role for word in line.partition(":")[2].split()
    )


@cache
def says_nothing() -> re.Pattern[str]:
    """A label with nothing behind it, as in ``Blockers: none right now``."""

    def either(role: str) -> str:
        return "|".join(map(re.escape, sorted(phrases(role), key=lambda word: (-len(word), word))))

    return re.compile(
        rf"[\W_]*[\w -]{{2,24}}[:：][*_\s]*(?:{either('nothing')}|-+)(?:\s+(?:{either('yet')}))*\s*(?:[.,;!(。，]|$)",
        re.IGNORECASE,
    )


@cache
def metadata() -> re.Pattern[str]:
    """A label of where a text comes from, or is filed: ``Source:``, ``**Tags:**``, ``来源：``."""
    either = "|".join(map(re.escape, sorted(phrases("metadata"), key=lambda word: (-len(word), word))))
    return re.compile(rf"[\W_]*(?:{either})[\s*_]*[:：]", re.IGNORECASE)


def _is_word(phrase: str) -> bool:
    return " " not in phrase and _spaced(phrase)


def _spaced(phrase: str) -> bool:
    return not _UNSPACED.search(phrase)


def _lines(name: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            yield section, line.casefold()
