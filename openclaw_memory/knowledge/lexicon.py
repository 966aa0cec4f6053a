"""The word lists of the rules: everyday words, words for kinds of things, and the words of facts.

They are data: ``routine.txt``, ``kinds.txt``, ``german_nouns.txt`` and ``fact_words.txt`` say what each list is for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cache, lru_cache

from ..records import dataclass
from ..text import language, word_lists
from ..text.analysis import STOP_WORDS
from ..text.dates import MONTH_NUMBERS, WEEKDAY_SPELLINGS, WEEKDAYS


@cache
def sections(file: str) -> dict[str, frozenset[str]]:
    """Return the words of a file of this package by section."""
    out: dict[str, set[str]] = {}
    for section, line in word_lists.lines_of(__package__, file):
        out.setdefault(section, set()).update(line.split())
    return {section: frozenset(words) for section, words in out.items()}


def routine_words(section: str) -> frozenset[str]:
    """Return the words of a section of ``routine.txt``."""
    return sections("routine.txt")[section]


def routine_endings(*names: str) -> tuple[str, ...]:
    """Return the endings in sections of ``routine.txt``, for ``str.endswith``."""
    return tuple(ending for section in names for ending in routine_words(section))


def _forms(verb: str) -> set[str]:
    if verb.endswith("e"):
        return {verb, verb + "s", verb + "d", verb[:-1] + "ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
    third_person = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    doubled = {verb + verb[-1] + "ed", verb + verb[-1] + "ing"} if verb[-1] in "bdgklmnprtv" else set()
    return {verb, third_person, verb + "ed", verb + "ing"} | doubled


#: Everyday words in small letters, none of which is part of a name or a phrase.
ROUTINE = frozenset(
    STOP_WORDS.union(
        MONTH_NUMBERS,
        WEEKDAY_SPELLINGS,
        (f"{name.lower()}s" for name in WEEKDAYS),
        *map(routine_words, ("calendar", "numbers", "function", "qualities", "things", "irregular", "marks")),
        *map(_forms, routine_words("verbs")),
    )
)
#: Words in small letters that are no name by themselves.
NAMELESS = ROUTINE.union(routine_words("labels"), routine_words("orders"))
#: Ordinary words by which people and tools are called too: such a name keeps its capital.
ORDINARY = routine_words("ordinary")
#: Words of programming languages and of commit messages.
LITERALS = routine_words("literals") | routine_words("commits")


# -- kinds of things ------------------------------------------------------------------------------


def is_generic_noun(word: str, spoken: str) -> bool:
    """Return true if ``word``, in small letters, or a form of the same stem is a word for a kind of thing.

    Words count of the language ``spoken``, of English, and of the word's own script; ``ORDINARY`` words never do.
    """
    if word in ORDINARY:
        return False
    script_language = language.script_language(word)
    if script_language is not None:
        return _is_in_kinds(word, script_language)
    # A letter that English lacks shows that the word is foreign, whatever language the text is in.
    names = {spoken, language.ENGLISH} if word.isascii() else generic_noun_languages()
    return any(_is_in_kinds(word, name) for name in names)


@lru_cache(maxsize=1 << 14)
def is_german_noun(word: str) -> bool:
    """Return true if ``word``, in small letters, is a German noun or ends with one, and is no first name."""
    nouns = sections("german_nouns.txt")
    if word in ORDINARY or word in nouns["names"]:
        return False
    stem = _stem(word, language.CAPITAL_NOUNS)
    # The last part of a compound has five letters or more, and three or more stand before it.
    ends = (stem[at:] for at in (0, *range(3, len(stem) - 4)))
    return any(end in nouns["nouns"] for end in ends)


def generic_noun_languages() -> Collection[str]:
    """Return the languages of ``kinds.txt``."""
    return sections("kinds.txt").keys()


def is_generic_name(name: str) -> bool:
    """Return true if a name of several words consists of English words for kinds, abbreviations and numbers."""
    words = name.lower().split()
    kinds = [word in NAMELESS or is_generic_noun(word, language.ENGLISH) for word in words]
    rest = (word for word, kind in zip(words, kinds, strict=True) if not kind)
    return (
        len(words) > 1
        and any(kinds)
        and all(word in routine_words("abbreviations") or word[0].isdigit() for word in rest)
    )


def _is_in_kinds(word: str, name: str) -> bool:
    # The stem of some plurals is the singular, which has another stem.
    stem = _stem(word, name)
    return stem in _kind_stems(name) or _stem(stem, name) in _kind_stems(name)


@cache
def _kind_stems(name: str) -> frozenset[str]:
    return frozenset(_stem(word, name) for word in sections("kinds.txt").get(name, ()))


def _stem(word: str, name: str) -> str:
    return language.stems([word], name)[0]


# -- words of facts -------------------------------------------------------------------------------


@dataclass(slots=True)
class FactWords:
    """The words of one language: lists by name, and patterns as pairs of relation and text."""

    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: list[tuple[str, str]] = field(default_factory=list)


@cache
def fact_words() -> Mapping[str, FactWords]:
    """Return ``fact_words.txt`` by language (ISO 639-1)."""
    out: dict[str, FactWords] = {}
    for code, line in word_lists.lines_of(__package__, "fact_words.txt"):
        words = out.setdefault(code, FactWords())
        name, colon, values = line.partition(": ")
        if colon and name.isalpha():
            words.lists[name] = tuple(part.strip().casefold() for part in values.split(";"))
        else:
            relation, _, pattern = line.partition(" = ")
            words.patterns.append((relation, pattern))
    return out


@cache
def fact_list(name: str) -> frozenset[str]:
    """Return the words of a list of ``fact_words.txt`` in all languages."""
    return frozenset(word for words in fact_words().values() for word in words.lists.get(name, ()))
