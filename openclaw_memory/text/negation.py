"""Find the words by which a text denies, in the languages of ``negation.txt``.

Two texts that differ only in one of these mean the opposite: "läuft" and "läuft nicht".
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from functools import cache

from .. import patterns as re
from ..records import NamedTuple
from . import language, word_lists

#: Letters with the vowel signs of Indian scripts, which are no word characters.
_LETTERS = r"[\w\u0900-\u0963\u0966-\u0dff]+"
_WORD = re.compile(rf"{_LETTERS}(?:['-]{_LETTERS})*")


def negations(text: str) -> frozenset[str]:
    """Return the distinct words, or parts of words, by which ``text`` denies; in small letters.

    Two texts that differ in them may contradict each other.
    """
    plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    rules = _rules()
    denials = {match[0] for match in rules.within.finditer(plain) if match[0] not in rules.none}
    words = _WORD.findall(plain)
    denying = [(word, *_denies(word)) for word in set(words)]
    denials |= {word for word, anywhere, _ in denying if anywhere}
    doubtful = [(word, spoken) for word, _, possible in denying for spoken in possible]
    if doubtful:
        spoken_here = language.detect_language(language.latin_words(plain))
        script = {language.script_language(word) for word in words}
        denials |= {word for word, spoken in doubtful if spoken == spoken_here or spoken in script}
    return frozenset(denials - rules.none)


class _Forms(NamedTuple):
    """Words, and beginnings and ends of words."""

    words: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]


class _Rules(NamedTuple):
    """The rules of ``negation.txt``: forms in any text, and in texts of one language."""

    anywhere: _Forms
    by_language: dict[str, _Forms]
    within: re.Pattern[str]
    none: frozenset[str]


def _denies(word: str) -> tuple[bool, tuple[str, ...]]:
    """Return true if ``word`` denies in a text of any language, and the languages in which alone it denies."""
    rules = _rules()
    languages = (spoken for spoken, forms in rules.by_language.items() if _matches(word, forms))
    return _matches(word, rules.anywhere), tuple(languages)


def _matches(word: str, forms: _Forms) -> bool:
    return (
        word in forms.words
        or word.startswith(forms.starts)
        or word.endswith(forms.ends)
        or (not word.isalnum() and any(part in forms.words for part in word.replace("'", "-").split("-")))
    )


@cache
def _rules() -> _Rules:
    entries: defaultdict[str, list[str]] = defaultdict(list)
    within: set[str] = set()
    none: set[str] = set()
    for spoken, line in word_lists.lines_of(__package__, "negation.txt"):
        for entry in line.casefold().split():
            if entry.startswith("-"):
                none.add(entry[1:])
            elif entry.startswith("*") and entry.endswith("*"):
                within.add(entry.strip("*"))
            else:
                entries[spoken if entry.endswith("?") else ""].append(entry.rstrip("?"))
    # The longest first, so that a word in which nothing is denied wins over the part of it that would deny.
    either = sorted(within | none, key=lambda form: (-len(form), form))
    forms = {name: _forms(entries[name]) for name in sorted(entries)}
    return _Rules(forms.pop(""), forms, re.compile("|".join(map(re.escape, either))), frozenset(none))


def _forms(entries: list[str]) -> _Forms:
    return _Forms(
        words=frozenset(entry for entry in entries if "*" not in entry),
        starts=tuple(entry[:-1] for entry in entries if entry.endswith("*")),
        ends=tuple(entry[1:] for entry in entries if entry.startswith("*")),
    )
