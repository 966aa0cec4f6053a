"""Words by which a text says that something is not so, in the languages of ``negation.txt``.

Two texts that say the same but for one of these say the opposite: "läuft" and "läuft nicht".
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache

from . import language, word_lists

#: Letters with the vowel signs of Indian scripts, which are no word characters.
_LETTERS = r"[\w\u0900-\u0963\u0966-\u0dff]+"
_WORD = re.compile(rf"{_LETTERS}(?:['-]{_LETTERS})*")


def negations(text: str) -> frozenset[str]:
    """The distinct words, or parts of words, by which ``text`` denies something; in small letters.

    Where two texts differ in them, one may deny what the other says.
    """
    plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    said = _said()
    found = {one[0] for one in said.within.finditer(plain) if one[0] not in said.none}
    words = _WORD.findall(plain)
    denying = [(word, *_denies(word)) for word in set(words)]
    found |= {word for word, anywhere, _ in denying if anywhere}
    doubtful = [(word, spoken) for word, _, possible in denying for spoken in possible]
    if doubtful:
        spoken_here = language.detect_language(language.latin_words(plain))
        script = {language.script_language(word) for word in words}
        found |= {word for word, spoken in doubtful if spoken == spoken_here or spoken in script}
    return frozenset(found - said.none)


@dataclass(frozen=True, slots=True)
class _Forms:
    """Words, and beginnings and ends of words."""

    words: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """What ``negation.txt`` says: forms of any text, and of texts in one language."""

    anywhere: _Forms
    of_language: dict[str, _Forms]
    within: re.Pattern[str]
    none: frozenset[str]


@lru_cache(maxsize=2048)
def _denies(word: str) -> tuple[bool, tuple[str, ...]]:
    """Whether ``word`` denies something in a text of any language, and the languages in which alone it does."""
    said = _said()
    return _of(word, said.anywhere), tuple(spoken for spoken, forms in said.of_language.items() if _of(word, forms))


def _of(word: str, forms: _Forms) -> bool:
    return (
        word in forms.words
        or word.startswith(forms.starts)
        or word.endswith(forms.ends)
        or (not word.isalnum() and any(part in forms.words for part in word.replace("'", "-").split("-")))
    )


@cache
def _said() -> _Said:
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
    return _Said(forms.pop(""), forms, re.compile("|".join(map(re.escape, either))), frozenset(none))


def _forms(entries: list[str]) -> _Forms:
    return _Forms(
        words=frozenset(entry for entry in entries if "*" not in entry),
        starts=tuple(entry[:-1] for entry in entries if entry.endswith("*")),
        ends=tuple(entry[1:] for entry in entries if entry.startswith("*")),
    )
