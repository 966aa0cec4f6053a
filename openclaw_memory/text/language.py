"""The language of a text, and what its words come from: stop words, stems.

A language is told by script and, among those of one script, by a vote of stop words.  English wins where nothing
speaks for another one.  Stop words are data (``stop_words.txt``, made by ``benchmarks/stop_words.py``), stems are
Snowball's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

from ..model import tokens_of
from . import word_lists
from .scripts import ARABIC, ARMENIAN, CYRILLIC, DEVANAGARI, GREEK, HAN, HANGUL, HEBREW, KANA, TAMIL, THAI, letter

ENGLISH = "english"
#: The language in which every noun has a capital.
CAPITAL_NOUNS = "german"
#: The language of words in a script that only one language with a stemmer has, or most texts in it.
_OF_SCRIPT = (
    ("russian", letter(CYRILLIC)),
    ("greek", letter(GREEK)),
    ("arabic", letter(ARABIC)),
    ("hindi", letter(DEVANAGARI)),
    ("tamil", letter(TAMIL)),
    ("armenian", letter(ARMENIAN)),
    ("hebrew", letter(HEBREW)),
)
#: Other languages of these scripts: their stop words are stop words of the script.
_BESIDE = {"russian": ("ukrainian", "bulgarian"), "arabic": ("persian",)}
#: Languages without an alphabet of letters: nothing to vote by word for word.
_UNSPACED = frozenset({"chinese", "japanese", "korean"})
#: A word of letters.
LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
#: Letters that English does not have.
_ACCENTED = re.compile("[\u00df-\u024f\u1e00-\u1eff]")

#: Languages in Latin letters, the most common on the web first: the order of Common Crawl's statistics of languages.
_COMMON = (
    "german french spanish italian dutch portuguese polish turkish czech vietnamese indonesian swedish hungarian "
    "romanian finnish danish norwegian slovak catalan croatian lithuanian slovenian latvian estonian"
)
_RANK = {language: rank for rank, language in enumerate(_COMMON.split())}

_local = threading.local()


@cache
def stop_words() -> dict[str, frozenset[str]]:
    """Stop words by language."""
    return {language: frozenset(line.split()) for language, line in word_lists.lines_of(__package__, "stop_words.txt")}


@cache
def _voters() -> dict[str, tuple[str, ...]]:
    """Languages in Latin letters by stop word."""
    others = {name for name, _ in _OF_SCRIPT} | {name for names in _BESIDE.values() for name in names} | _UNSPACED
    out: dict[str, tuple[str, ...]] = {}
    for language, words in stop_words().items():
        if language not in others:
            for word in words:
                out[word] = (*out.get(word, ()), language)
    return out


def voters(word: str) -> tuple[str, ...]:
    """Languages in Latin letters of which ``word`` is a stop word."""
    return _voters().get(word, ())


def silent_words(text: str) -> set[str]:
    """Words of a text that are stop words of the language that it may be in."""
    words = LETTERS.findall(text.lower())
    own = detect_language(word for word in words if _LATIN.fullmatch(word))
    return {word for word in words if is_stop_word(word, script_language(word) or own)}


def latin_words(text: str) -> list[str]:
    """Words in Latin letters, composed and in small letters, of a text in small letters."""
    return _LATIN.findall(text)


@cache
def letters(language: str) -> frozenset[str]:
    """The letters of a language's stop words, which have about all that its words are written in."""
    return frozenset("".join(stop_words()[language]))


def accents(words: Iterable[str]) -> frozenset[str]:
    """The letters of some words in small Latin letters that English does not have."""
    return frozenset(_ACCENTED.findall(" ".join(words)))


def detect_language(words: Iterable[str]) -> str:
    """The language of words in Latin letters: that with the most stop words, of which there are at least two.

    One is enough where a word has a letter that English does not have, or where it is no short one and none is English.
    A letter that a language does not have speaks against it; of several languages it is the most common one.
    """
    return _told(words) or ENGLISH


def _told(words: Iterable[str]) -> str | None:
    """Return the language of words as :func:`detect_language`, but ``None`` where the votes do not decide."""
    voters = _voters()
    votes: dict[str, int] = {}
    distinct = set(words)
    for word in distinct:
        for language in voters.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    accented = accents(distinct)
    for language in votes:
        votes[language] -= len(accented - letters(language))
    english = votes.pop(ENGLISH, 0)
    if (most := max(votes.values(), default=0)) <= english or not votes:
        return ENGLISH if most < english else None
    best = min(
        (one for one, count in votes.items() if count == most), key=lambda one: (_RANK.get(one, len(_RANK)), one)
    )
    alone = most < 2 and not accented
    # A stop word of four letters tells the language by itself.
    if alone and (english or not any(len(word) >= 4 and best in voters.get(word, ()) for word in distinct)):
        return None
    return best


def script_language(word: str) -> str | None:
    """The language that the script of a word says; ``None`` for letters that many languages share."""
    if word.isascii():
        return None
    return next((language for language, script in _OF_SCRIPT if script.match(word)), None)


#: Languages of scripts that put no spaces between words, by their characters.
_UNSPACED_SCRIPTS = (
    ("japanese", letter(KANA)),
    ("chinese", letter(HAN)),
    ("korean", letter(HANGUL)),
    ("thai", letter(THAI)),
)
#: Words of other alphabets.
_OTHER_WORD = re.compile("[\u0370-\u058f\u0590-\u06ff\u0750-\u077f\u0900-\u097f\u0b80-\u0bff]+")


def weights(text: str) -> dict[str, float]:
    """About how many tokens of ``text`` are in which language, that of its letters and words; a line has one.

    Lines in Latin letters that tell none count for nothing beside those that do.
    """
    text = text.lower()
    out = {name: float(len(script.findall(text))) for name, script in _UNSPACED_SCRIPTS}
    # Japanese has Chinese characters too, but Chinese no kana to speak of.
    if out["japanese"] > 0.1 * (out["japanese"] + out["chinese"]):
        out["japanese"] += out.pop("chinese")
    for word in _OTHER_WORD.findall(text):
        name = script_language(word)
        if name is not None:
            out[name] = out.get(name, 0.0) + tokens_of(word)
    lines = list(filter(None, map(latin_words, text.split("\n"))))
    named = [(_told(line) or _of_letters(accents(line)), line) for line in lines]
    if not any(name for name, _ in named):
        named = [(ENGLISH, line) for line in lines]
    for own, line in named:
        if own is not None:
            out[own] = out.get(own, 0.0) + sum(map(tokens_of, line))
    return {name: weight for name, weight in out.items() if weight}


def _of_letters(accented: frozenset[str]) -> str | None:
    """The most common language that has all of these letters, which English does not have."""
    return next((one for one in _RANK if accented and accented <= letters(one)), None)


def words_in(text: str, language: str) -> list[str]:
    """The words of ``text`` that are in the script of ``language``."""
    text = text.lower()
    for name, script in (*_UNSPACED_SCRIPTS, *_OF_SCRIPT):
        if name == language:
            wanted = letter(KANA + HAN) if name == "japanese" else script
            return [word for word in LETTERS.findall(text) if wanted.match(word)]
    return latin_words(text)


def is_stop_word(word: str, language: str) -> bool:
    """Whether ``word``, in small letters, says nothing in ``language`` or in one that shares its script."""
    every = stop_words()
    return any(word in every.get(name, ()) for name in (language, *_BESIDE.get(language, ())))


@cache
def pair_of_chinese() -> re.Pattern[str]:
    """Two Chinese characters of which one is a stop word."""
    said = "".join(sorted(word for word in stop_words()["chinese"] if len(word) == 1))
    return re.compile(f"[{said}].|[\u3400-\u9fff][{said}]")


def stems(words: list[str], language: str = ENGLISH) -> list[str]:
    """The stem of each of ``words``, which are in small letters; the words themselves where there is no stemmer."""
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
