"""Words that make a sentence worth more or less in a summary: ``markers.txt`` and ``phrases.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from ..text.negation import negations
from ..text.scripts import HANGUL, UNSPACED

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_UNSPACED = re.compile(f"[{UNSPACED}{HANGUL}]")
_CLAUSES = re.compile(r"[,.;:!?](?=\s|[*_]|$)|[，。；：！？、()（）\[\]|]|\s[–—-]\s")
#: How far from a phrase a word denies it: words before it, and characters around it where there are no spaces.
_NEAR_WORDS, _NEAR_SIGNS = 3, 7


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


class Points:
    """What words and phrases count for; the phrases of scripts without spaces count anywhere in a clause.

    What is to be avoided has not happened: ``避免单点故障`` and ``to avoid another outage`` count nothing.
    """

    def __init__(self, points: dict[str, int]) -> None:
        self._words = {phrase: value for phrase, value in points.items() if _is_word(phrase)}
        self._spaced = {f" {phrase} ": value for phrase, value in points.items() if " " in phrase and _spaced(phrase)}
        self._within = {phrase: value for phrase, value in points.items() if not _spaced(phrase)}
        either = sorted(self._within, key=lambda phrase: (-len(phrase), phrase))
        self._pattern = re.compile("|".join(map(re.escape, either)) or r"(?!)")

    def of(self, text: str, denied: int) -> list[int]:
        """The points of each phrase that a text has, once; at most ``denied`` where it says that this is not so.

        That which is somebody's, as in ``维护者的决定``, is a thing and no event.
        """
        found: dict[str, int] = {}
        for clause in _CLAUSES.split(text.casefold()):
            inside = list(self._in(clause, words(clause)))
            avoided = any(value > 0 for _, value, _, _ in inside) and _avoids(clause)
            for phrase, value, before, after in inside:
                if value > 0 and avoided:
                    continue
                if value > denied and (before.endswith(_of()) or negations(before) or negations(after)):
                    value = denied
                found[phrase] = value if value < 0 else max(value, found.get(phrase, 0))
        return list(found.values())

    def _in(self, clause: str, said: list[str]) -> Iterator[tuple[str, int, str, str]]:
        """Phrases of a clause with their points, and the words beside them by which they may be denied."""
        for at, word in enumerate(said):
            if word in self._words:
                yield word, self._words[word], " ".join(said[max(0, at - _NEAR_WORDS) : at]), ""
        if self._spaced:
            joined = f" {' '.join(said)} "
            for phrase, value in self._spaced.items():
                before, found, _ = joined.partition(phrase)
                if found:
                    yield phrase, value, " ".join(before.split()[-_NEAR_WORDS:]), ""
        if not clause.isascii():
            for one in self._pattern.finditer(clause):
                before = clause[max(0, one.start() - _NEAR_SIGNS) : one.start()]
                yield one[0], self._within[one[0]], before, clause[one.end() : one.end() + _NEAR_SIGNS]


@cache
def _of() -> tuple[str, ...]:
    """Particles that make a phrase of a script without spaces what belongs to the words before."""
    return tuple(sorted(phrases("of")))


@cache
def _avoiding() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...], re.Pattern[str]]:
    """Words that say of something that it is to be kept from happening: whole, begun, in several words, within."""
    every = [
        phrase.strip()
        for section, line in _lines("phrases.txt")
        if section == "avoids"
        for phrase in line.partition(":")[2].split(";")
    ]
    spaced = [phrase for phrase in every if _spaced(phrase)]
    within = sorted((phrase for phrase in every if not _spaced(phrase)), key=lambda phrase: (-len(phrase), phrase))
    return (
        frozenset(phrase for phrase in spaced if " " not in phrase and not phrase.endswith("*")),
        tuple(phrase.removesuffix("*") for phrase in spaced if phrase.endswith("*")),
        tuple(f" {phrase} " for phrase in spaced if " " in phrase),
        re.compile("|".join(map(re.escape, within)) or r"(?!)"),
    )


def _avoids(clause: str) -> bool:
    whole, begun, several, within = _avoiding()
    said = words(clause)
    joined = f" {' '.join(said)} "
    return (
        any(word in whole or word.startswith(begun) for word in said)
        or any(phrase in joined for phrase in several)
        or within.search(clause) is not None
    )


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
