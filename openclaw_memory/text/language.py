"""Detect the language of a text; its stop words and stems.

A language is known by its script and, among those of one script, by a vote of stop words.  English wins where no
other one has more votes.  Stop words are data (``stop_words.txt``, made by ``benchmarks/stop_words.py``), stems are
Snowball's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Set
from functools import cache
from typing import Any

from .. import patterns as re
from ..model import tokens_of
from . import word_lists
from .scripts import GREEK, HAN, HANGUL, KANA, letter

ENGLISH = "english"
#: The language in which every noun has a capital.
CAPITAL_NOUNS = "german"
#: Scripts with the languages that are written in them, of which the first one stands for the script.
SCRIPTS = (
    (letter(HAN), ("chinese", "japanese")),
    (letter(KANA), ("japanese",)),
    (letter(HANGUL), ("korean",)),
    (letter("\u0e00-\u0e7f"), ("thai",)),
    (letter("\u0400-\u052f"), ("russian", "ukrainian", "bulgarian")),
    (letter(GREEK), ("greek",)),
    (letter("\u0600-\u06ff\u0750-\u077f"), ("arabic", "persian")),
    (letter("\u0590-\u05ff"), ("hebrew",)),
    (letter("\u0900-\u097f"), ("hindi",)),
    (letter("\u0530-\u058f"), ("armenian",)),
    (letter("\u0b80-\u0bff"), ("tamil",)),
)
#: The alphabets; the scripts before them have none, or one that puts no spaces between words.
_ALPHABETS = SCRIPTS[4:]
#: A word of letters.
LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")

#: Languages in Latin letters, the most common on the web first: the order of Common Crawl's statistics of languages.
_COMMON = (
    "german french spanish italian dutch portuguese polish turkish czech vietnamese indonesian swedish hungarian "
    "romanian finnish danish norwegian slovak catalan croatian lithuanian slovenian latvian estonian"
).split()

_local = threading.local()


@cache
def stop_words() -> dict[str, frozenset[str]]:
    """Return the stop words by language."""
    return {language: frozenset(line.split()) for language, line in word_lists.lines_of(__package__, "stop_words.txt")}


@cache
def voters() -> dict[str, tuple[str, ...]]:
    """Return the languages in Latin letters by stop word."""
    others = {name for _, names in SCRIPTS for name in names}
    out: dict[str, tuple[str, ...]] = {}
    for language, words in stop_words().items():
        if language not in others:
            for word in words:
                out[word] = (*out.get(word, ()), language)
    return out


def stop_words_in(text: str) -> set[str]:
    """Return the words of a text that are stop words of its likely language."""
    words = LETTERS.findall(text.lower())
    latin_language = detect_language(word for word in words if _LATIN.fullmatch(word))
    return {word for word in words if is_stop_word(word, script_language(word) or latin_language)}


def latin_words(text: str) -> list[str]:
    """Return the words in Latin letters of a text in small letters."""
    return _LATIN.findall(text)


@cache
def letters(language: str) -> frozenset[str]:
    """Return the letters of a language's stop words, which are about all letters of the language."""
    return frozenset("".join(stop_words()[language]))


def accents(words: Iterable[str]) -> frozenset[str]:
    """Return the letters of words in small Latin letters that English does not have."""
    return frozenset(re.findall("[\u00df-\u024f\u1e00-\u1eff]", " ".join(words)))


def detect_language(words: Iterable[str]) -> str:
    """Return the language of words in Latin letters: the one with the most stop words, at least two.

    One stop word is enough if a word has a letter that English lacks, or if it has four letters and no stop word is
    English.  Each letter that a language lacks counts against it; among equals the most common language wins.
    """
    return _vote(words) or ENGLISH


def count_votes(words: Set[str]) -> dict[str, int]:
    """Count for each language its stop words among ``words`` in Latin letters, less the letters that it lacks."""
    by_word = voters()
    votes: dict[str, int] = {}
    for word in by_word.keys() & words:
        for name in by_word[word]:
            votes[name] = votes.get(name, 0) + 1
    foreign = accents(words)
    for name in votes:
        votes[name] -= len(foreign - letters(name))
    return votes


def _vote(words: Iterable[str]) -> str | None:
    """Return the language of words as :func:`detect_language`, but ``None`` where the votes do not decide."""
    distinct = set(words)
    votes = count_votes(distinct)
    english = votes.pop(ENGLISH, 0)
    if (most := max(votes.values(), default=0)) <= english or not votes:
        return ENGLISH if most < english else None
    tied = {name for name, count in votes.items() if count == most}
    best = next(name for name in (*_COMMON, *sorted(tied)) if name in tied)
    alone = most < 2 and not accents(distinct)
    # A stop word of four letters tells the language by itself.
    if alone and (english or not any(len(word) >= 4 and best in voters().get(word, ()) for word in distinct)):
        return None
    return best


def script_language(word: str) -> str | None:
    """Return the language of a word's script; ``None`` for letters that many languages share."""
    if word.isascii():
        return None
    return next((names[0] for script, names in _ALPHABETS if script.match(word)), None)


def tokens_by_language(text: str) -> dict[str, float]:
    """Return about how many tokens of ``text`` each language has, by its letters and words; a line has one language.

    Lines in Latin letters without a detected language count nothing beside those with one.
    """
    text = text.lower()
    out = {names[0]: float(len(script.findall(text))) for script, names in SCRIPTS[:4]}
    # Japanese has Chinese characters too, but Chinese no kana to speak of.
    if out["japanese"] > 0.1 * (out["japanese"] + out["chinese"]):
        out["japanese"] += out.pop("chinese")
    # Words of other alphabets.
    for word in re.findall("[\u0370-\u058f\u0590-\u06ff\u0750-\u077f\u0900-\u097f\u0b80-\u0bff]+", text):
        name = script_language(word)
        if name is not None:
            out[name] = out.get(name, 0.0) + tokens_of(word)
    lines = list(filter(None, map(latin_words, text.split("\n"))))
    named = [(_vote(line) or _language_with_letters(accents(line)), line) for line in lines]
    if not any(name for name, _ in named):
        named = [(ENGLISH, line) for line in lines]
    for name, line in named:
        if name is not None:
            out[name] = out.get(name, 0.0) + sum(map(tokens_of, line))
    return {name: weight for name, weight in out.items() if weight}


def _language_with_letters(accented: frozenset[str]) -> str | None:
    """Return the most common language that has all of these letters, which English does not have."""
    return next((name for name in _COMMON if accented and accented <= letters(name)), None)


def words_in(text: str, language: str) -> list[str]:
    """Return the words of ``text`` that are in the script of ``language``."""
    scripts = {names[0]: script for script, names in SCRIPTS} | {"japanese": letter(KANA + HAN)}
    if language not in scripts:
        return latin_words(text.lower())
    return [word for word in LETTERS.findall(text.lower()) if scripts[language].match(word)]


def is_stop_word(word: str, language: str) -> bool:
    """Return true if ``word``, in small letters, is a stop word of ``language`` or of one that shares its script."""
    every = stop_words()
    sharing = next((names for _, names in _ALPHABETS if names[0] == language), (language,))
    return any(word in every.get(name, ()) for name in sharing)


def is_function_word(word: str) -> bool:
    """Return true if ``word``, in small letters, is a stop word of some language: no name ends with one."""
    return word.isalpha() and any(word in words for words in stop_words().values())


@re.built
def pair_of_chinese() -> str:
    """Return a pattern for two Chinese characters of which one is a stop word."""
    characters = "".join(sorted(word for word in stop_words()["chinese"] if len(word) == 1))
    return f"[{characters}].|[\u3400-\u9fff][{characters}]"


def stems(words: list[str], language: str = ENGLISH) -> list[str]:
    """Return the stem of each of ``words``, which are in small letters; the words themselves without a stemmer."""
    # A PyStemmer object is not safe to share between threads.
    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        import Stemmer

        stemmers[language] = Stemmer.Stemmer(language) if language in Stemmer.algorithms() else None
    stemmer = stemmers[language]
    if stemmer is None:
        return list(words)
    stemmed: list[str] = stemmer.stemWords(words)
    return stemmed
