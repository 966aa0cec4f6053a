"""Words that make a sentence worth more or less in a summary: ``markers.txt`` and ``phrases.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..text import word_lists
from ..text.negation import negations
from ..text.scripts import HANGUL, UNSPACED

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_UNSPACED = re.compile(f"[{UNSPACED}{HANGUL}]")
_CLAUSES = re.compile(r"[,.;:!?](?=\s|[*_]|$)|[，。；：！？、()（）\[\]|]|\s[–—-]\s")
#: How far from a phrase a word denies it: words before it, and characters around it where there are no spaces.
_NEAR_WORDS, _NEAR_SIGNS = 3, 7
_KANA = re.compile("[ぁ-ゖ]")
#: "0 failed" says that nothing has.
_NONE = re.compile(r"(?<![\d.,])0\s*\Z")
#: A label at the begin of a line, and a heading of so many words at most, may say that what follows is to be done.
_LABEL = re.compile(r"[\W_]*(?P<label>[^:：]{1,40}?)[\s*_]*(?::(?=[\s*_])|：)")
_AHEAD_WORDS = 6
#: What is done, wherever it stands.
_DONE = re.compile("[✅☑✔]|~~")


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


class Points:
    """What words and phrases count for; the phrases of scripts without spaces count anywhere in a clause.

    What is to be avoided, or goes on, has not happened: ``避免单点故障`` and ``to avoid another outage`` count nothing.
    """

    def __init__(self, points: dict[str, int]) -> None:
        self._words = {phrase: value for phrase, value in points.items() if _is_word(phrase)}
        self._spaced = {f" {phrase} ": value for phrase, value in points.items() if " " in phrase and _spaced(phrase)}
        self._within = {phrase: value for phrase, value in points.items() if not _spaced(phrase)}
        either = sorted(self._within, key=lambda phrase: (-len(phrase), phrase))
        self._pattern = re.compile("|".join(map(re.escape, either)) or r"(?!)")

    def of(self, text: str, denied: int) -> list[int]:
        """The points of each phrase that a text has, once; at most ``denied`` where it says that this is not so.

        That which is somebody's, as in ``维护者的决定``, or begins a longer word, as in ``发布时间``, is a thing and no
        event.  What should, must or will be so is not yet.
        """
        found: dict[str, int] = {}
        for clause in _CLAUSES.split(text.casefold()):
            inside = list(self._in(clause, words(clause)))
            avoided = any(value > 0 for _, value, _, _ in inside) and _said("avoids").within(clause)
            for phrase, value, before, after in inside:
                if value > 0 and avoided:
                    continue
                if value > denied and _is_not(before, after):
                    value = denied
                found[phrase] = value if value < 0 else max(value, found.get(phrase, 0))
        return list(found.values())

    def _in(self, clause: str, said: list[str]) -> Iterator[tuple[str, int, str, str]]:
        """Phrases of a clause with their points, and the words beside them by which they may be denied."""
        for at, word in enumerate(said):
            if word in self._words:
                yield word, self._words[word], " ".join(said[:at]), ""
        if self._spaced:
            joined = f" {' '.join(said)} "
            for phrase, value in self._spaced.items():
                before, found, _ = joined.partition(phrase)
                if found:
                    yield phrase, value, before.strip(), ""
        if not clause.isascii():
            for one in self._pattern.finditer(clause):
                before = clause[max(0, one.start() - _NEAR_SIGNS) : one.start()]
                yield one[0], self._within[one[0]], before, clause[one.end() : one.end() + _NEAR_SIGNS]


def _is_not(before: str, after: str) -> bool:
    """Whether the words around a phrase deny it, put it off, or make a thing of it.

    ``before`` is all of its clause, or the few signs before it in a script without spaces, and so is ``after``.
    """
    # Japanese denies a word right before it or behind it: 不具合を修正 is no denial.
    near = " ".join(_KANA.split(before)[-1].split()[-_NEAR_WORDS:])
    return bool(
        before.endswith(_ends("of"))
        or after.startswith(_ends("things"))
        or negations(near)
        or negations(after)
        or _NONE.search(before)
        or _said("before").within(" ".join(before.split()[-_NEAR_WORDS - 1 :]))
        or _said("after").within(after)
    )


@cache
def _ends(role: str) -> tuple[str, ...]:
    """Parts of words of a role, of scripts without spaces."""
    return tuple(sorted(phrases(role)))


class _Said:
    """Phrases of a role that are separated by semicolons: whole words, begun, in several words, within a word."""

    def __init__(self, role: str) -> None:
        every = [
            phrase.strip()
            for section, line in _lines("phrases.txt")
            if section == role
            for phrase in line.partition(":")[2].split(";")
        ]
        spaced = [phrase for phrase in every if _spaced(phrase)]
        unspaced = sorted((phrase for phrase in every if not _spaced(phrase)), key=lambda one: (-len(one), one))
        self._whole = frozenset(phrase for phrase in spaced if " " not in phrase and not phrase.endswith("*"))
        self._begun = tuple(phrase.removesuffix("*") for phrase in spaced if " " not in phrase and phrase[-1] == "*")
        self._several = tuple(
            f" {_joined(phrase)}{'' if phrase[-1] == '*' else ' '}" for phrase in spaced if " " in phrase
        )
        self._within = re.compile("|".join(map(re.escape, unspaced)) or r"(?!)")

    def within(self, text: str) -> bool:
        """Whether a text in small letters has one of them."""
        said = words(text)
        joined = f" {' '.join(said)} "
        return (
            any(word in self._whole or (self._begun and word.startswith(self._begun)) for word in said)
            or any(phrase in joined for phrase in self._several)
            or self._within.search(text) is not None
        )


def _joined(phrase: str) -> str:
    return " ".join(words(phrase))


_said = cache(_Said)


def is_ahead(heading: str) -> bool:
    """Whether what stands below a path of headings is to be done, as by ``To do`` and ``待处理``."""
    parts = [part for part in heading.casefold().split(" > ") if len(part.split()) <= _AHEAD_WORDS]
    return any(_said("ahead").within(part) for part in parts if _DONE.search(part) is None)


def is_done(text: str) -> bool:
    """Whether a line is ticked, or struck out."""
    return _DONE.search(text) is not None


def is_labelled_ahead(text: str) -> bool:
    """Whether a line begins with a label such as ``Next step:``, and is not done."""
    label = _LABEL.match(text)
    return label is not None and not is_done(text) and _said("ahead").within(label["label"].casefold())


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
    for section, line in word_lists.lines_of(__package__, name):
        yield section, line.casefold()
