"""Words for kinds of things, in the languages of notes: one with a capital names no thing of its own.

They are data: ``kinds.txt`` and, as every German noun has a capital, ``german_nouns.txt``.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache

from ..text import language
from .routine import ABBREVIATIONS, NAMELESS, ORDINARY, sections


@lru_cache(maxsize=1 << 14)
def is_kind(word: str, spoken: str) -> bool:
    """Whether ``word``, in small letters, is a word for a kind of thing in ``spoken``, in its script or in English.

    It is one in any form that has the same stem; what people and tools are called by too (``ORDINARY``) is none.
    """
    if word in ORDINARY:
        return False
    own = language.of_script(word)
    if own is not None:
        return _in(word, own)
    # A letter that English does not have says that the word is of another language, whatever the text is in.
    names = {spoken, language.ENGLISH} if word.isascii() else kinds_known()
    return any(_in(word, name) for name in names)


@lru_cache(maxsize=1 << 14)
def is_german_noun(word: str) -> bool:
    """Whether ``word``, in small letters, is a German noun, or a compound that ends with one, and no name."""
    nouns = sections("german_nouns.txt")
    if word in ORDINARY or word in nouns["names"]:
        return False
    stem = _stem(word, language.CAPITAL_NOUNS)
    # The last word of a compound has five letters or more, and three or more stand before it.
    ends = (stem[at:] for at in (0, *range(3, len(stem) - 4)))
    return any(end in nouns["nouns"] for end in ends)


def kinds_known() -> Collection[str]:
    """The languages of which words for kinds of things are known."""
    return sections("kinds.txt").keys()


def says_kind(name: str) -> bool:
    """Whether a name of several words has none that is more than English for a kind of thing, or a number."""
    words = name.lower().split()
    kinds = [word in NAMELESS or is_kind(word, language.ENGLISH) for word in words]
    rest = (word for word, kind in zip(words, kinds, strict=True) if not kind)
    return len(words) > 1 and any(kinds) and all(word in ABBREVIATIONS or word[0].isdigit() for word in rest)


def _in(word: str, name: str) -> bool:
    # Of some words the stem of the plural is the singular, which has a stem of its own.
    stem = _stem(word, name)
    return stem in _stems(name) or _stem(stem, name) in _stems(name)


@cache
def _stems(name: str) -> frozenset[str]:
    return frozenset(_stem(word, name) for word in sections("kinds.txt").get(name, ()))


def _stem(word: str, name: str) -> str:
    return language.stems([word], name)[0]
