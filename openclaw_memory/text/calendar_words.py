"""Find names of months, weekdays, relative days and spans of time in texts of many languages.

The words are data: ``calendar_cldr.txt``, made by ``benchmarks/calendar_words.py``, and ``calendar_own.txt``.  A text
is searched in its :func:`plain` form; words of scripts without spaces are read character by character.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from .. import patterns as re
from ..records import NamedTuple
from . import language as languages
from . import word_lists
from .scripts import HANGUL, UNSPACED

#: Name of the entries for all languages.
ANY = "any"
UNITS = ("day", "week", "month", "year")
_UNSPACED = UNSPACED + HANGUL
#: A letter of a script that puts no spaces between words.
JOINED = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"\d+|[{_UNSPACED}]|[^\W\d_](?:[^\W\d_{_UNSPACED}]|[\u0300-\u036f\u064b-\u065f\u0900-\u097f])*")
WORD = re.compile(r"[^\W_]+")
#: Characters between two words of a phrase.
_BETWEEN = re.compile(r"[\s.'’-]{0,3}")
_NUMBER = "#"
_PHRASE_END = ""
#: Kinds of phrases that name a month, and of all that are searched for; the others are looked up by key.
_MONTHS = frozenset({"month", "month-short"})
_KINDS = _MONTHS | {"weekday", "relative", "ago", "ahead", "part"}
#: Kinds of which single words speak of time.
_TIMES = frozenset({"month", "weekday", "relative", "noun", "period", "words"})
#: Keys of words that open or close the time beside them.
BOUNDARY_KEYS = ("since", "after", "until", "before")
#: Languages whose words for time are searched without borders of words.
_BY_PHRASE = ("chinese", "japanese", "korean", "thai", "hindi", "vietnamese")


#: A node of a trie: the next nodes by word (:data:`_NUMBER` for a number), and at :data:`_PHRASE_END` the meanings of
#: the phrase that ends there.
_Node = dict[str, Any]


class Meaning(NamedTuple):
    """The meaning of a phrase in a language: ``unit`` or "", and ``number``, of the month or weekday or of steps."""

    kind: str
    unit: str
    number: int
    language: str


class Phrase(NamedTuple):
    """A phrase in a text: its place, its possible meanings, and the number in it."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]
    number: int | None

    @property
    def meaning(self) -> Meaning:
        """The first of the meanings."""
        return self.meanings[0]


def plain(text: str) -> str:
    """Return ``text`` in small letters, in plain forms of its characters, and without invisible marks."""
    if not text.isascii():
        text = re.sub("[\u200b-\u200f\u061c\u2060\ufeff]", "", unicodedata.normalize("NFKC", text))
    return text.lower()


@cache
def _sources() -> dict[str, list[str]]:
    """Return the lines of both files by language."""
    out: defaultdict[str, list[str]] = defaultdict(list)
    for name in ("calendar_cldr.txt", "calendar_own.txt"):
        for language, line in word_lists.lines_of(__package__, name):
            out[language].append(line)
    return dict(out)


@cache
def phrases_by_key(language: str) -> dict[str, tuple[str, ...]]:
    """Return the phrases of a language by key; none for an unknown language."""
    out: dict[str, tuple[str, ...]] = {}
    for line in _sources().get(language, ()):
        key, _, spellings = line.partition(": ")
        if spellings:
            out[key] = (*out.get(key, ()), *spellings.split(" | "))
    return out


def has_phrase(key: str, spoken: Iterable[str], text: str) -> bool:
    """Return true if a :func:`plain` text has a phrase of some languages for ``key``."""
    return any(re.search(_phrases_of(key, language), text) for language in spoken)


def without_phrases(key: str, spoken: Iterable[str], text: str) -> str:
    """Return a :func:`plain` text without the phrases of some languages for ``key``."""
    for language in spoken:
        text = re.sub(_phrases_of(key, language), " ", text)
    return text


def _phrases_of(key: str, language: str) -> str:
    """Return a pattern for a language's phrases for ``key``, as words of their own where words have spaces."""
    phrases = map(plain, phrases_by_key(language).get(key, ()))
    return "|".join(_word(phrase) for phrase in phrases) or "(?!)"


def _word(phrase: str) -> str:
    return re.escape(phrase) if JOINED.search(phrase) else rf"(?<![^\W_]){re.escape(phrase)}(?![^\W_])"


def any_of(spellings: Iterable[str]) -> str:
    """Return a pattern for any of the spellings, the longest first."""
    return "|".join(sorted(spellings, key=lambda each: (-len(each), each)))


def time_expressions(language: str) -> frozenset[str]:
    """Return the phrases of a language that name a time: months, weeks, weekdays, weekends."""
    return frozenset(
        phrase
        for key, spellings in phrases_by_key(language).items()
        if key.partition(".")[0] in _TIMES
        for phrase in spellings
    )


def known_languages() -> tuple[str, ...]:
    """Return the languages with a calendar."""
    return tuple(name for name in _sources() if name != ANY)


@cache
def _vocabulary(language: str) -> frozenset[str]:
    """Return the words of a language's calendar without the shortest and those that only stand beside a time."""
    lines = (line.partition(": ") for line in _sources().get(language, ()))
    phrases = "\n".join(phrases for key, _, phrases in lines if key.partition("-")[0] not in BOUNDARY_KEYS)
    return frozenset(word for word in WORD.findall(phrases) if len(word) > 2)


def spellings_for(key: str, spoken: tuple[str, ...]) -> frozenset[str]:
    """Return the phrases of some languages for ``key``."""
    return frozenset(phrase for language in spoken for phrase in phrases_by_key(language).get(key, ()))


@cache
def joining_words() -> frozenset[str]:
    """Return the words that join day, month and year, in any language."""
    literals = {
        word
        for language in known_languages()
        for form in phrases_by_key(language).get("format", ())
        for part in re.findall(r"'([^']*)'|([^\W\d_dMLyE]+)", form)
        for word in WORD.findall("".join(part).lower())
    }
    return spellings_for("join", (ANY,)) | literals


@lru_cache(maxsize=16)
def likely_languages(text: str) -> tuple[str, ...]:
    """Return the likely languages of a :func:`plain` text: by its scripts and, of Latin letters, by stop words.

    The likeliest comes first.  Where stop words decide little, languages with several of the words in their calendars
    are likely too; where they decide nothing, those with one.
    """
    scripts = () if text.isascii() else languages.SCRIPTS
    by_script = [name for script, names in scripts if script.search(text) for name in names if name in _sources()]
    words = set(languages.latin_words(text))
    if words:
        votes = {name: len(words & stops) for name, stops in languages.stop_words().items()}
        most = max(votes.values())
        voted = sorted(
            (name for name, count in votes.items() if count and 2 * count >= most), key=lambda each: -votes[each]
        )
        if most < 3:
            need = 2 if most == 2 else 1
            voted += [name for name in known_languages() if len(words & _vocabulary(name)) >= need]
        by_script += [name for name in voted if name in _sources() and name != ANY]
    return tuple(dict.fromkeys(by_script))


def order_in(spoken: tuple[str, ...]) -> str:
    """Return the order of day, month and year in the first of some languages: ``dmy``, ``mdy`` or ``ymd``."""
    return next((phrases_by_key(language)["order"][0] for language in spoken), "dmy")


def day_first(language: str) -> bool:
    """Return true if a language writes the day before the month where it leaves out the year."""
    keys = phrases_by_key(language)
    return (keys.get("short-order") or keys["order"])[0] == "dmy"


def day_order(text: str) -> str:
    """Return the order of day, month and year in the language of ``text``, as :func:`order_in`."""
    return order_in(likely_languages(plain(text)))


def tokens(text: str) -> list[tuple[str, int, int]]:
    """Return words, characters of scripts without spaces, and numbers of a :func:`plain` text, with their places."""
    return [
        (str(int(match[0])) if match[0].isdecimal() else match[0], *match.span())
        for match in _TOKEN.finditer(text)
        if not match[0].isdecimal() or len(match[0]) < 9
    ]


def find_phrases(text: str, spoken: tuple[str, ...], only_months: bool = False) -> list[Phrase]:
    """Find the phrases of a :func:`plain` text in some languages, the longest at each place, without overlap."""
    matches: list[Phrase] = []
    pieces = tokens(text)
    readers = [(_Reader(text, pieces, _numbers(language)), _trie(language, only_months)) for language in spoken]
    at = 0
    while at < len(pieces):
        bests = [best for reader, trie in readers if (best := reader.longest(at, trie)) is not None]
        if bests:
            end = max(best[0] for best in bests)
            meanings = tuple(meaning for best in bests if best[0] == end for meaning in best[1])
            count = next(best[2] for best in bests if best[0] == end)
            matches.append(Phrase(pieces[at][1], pieces[end - 1][2], meanings, count))
            at = end
        else:
            at += 1
    return matches


class _Reader(NamedTuple):
    """Searches a text for the phrases of one language."""

    text: str
    pieces: list[tuple[str, int, int]]
    numbers: dict[tuple[str, ...], int]

    def longest(
        self, at: int, node: _Node, count: int | None = None, inside: bool = False
    ) -> tuple[int, tuple[Meaning, ...], int | None] | None:
        """Return the end of the longest phrase that goes on at ``at`` below ``node``, its meanings, and its number."""
        best = (at, node[_PHRASE_END], count) if _PHRASE_END in node else None
        if at >= len(self.pieces):
            return best
        if inside and not _BETWEEN.fullmatch(self.text, self.pieces[at - 1][2], self.pieces[at][1]):
            return best
        if (below := node.get(self.pieces[at][0])) is not None:
            best = self.longest(at + 1, below, count, True) or best
        if (below := node.get(_NUMBER)) is not None:
            for end, number in self._numbers_at(at):
                ending = self.longest(end, below, number, True)
                if ending is not None and (best is None or ending[0] > best[0]):
                    best = ending
        return best

    def _numbers_at(self, at: int) -> Iterator[tuple[int, int]]:
        word = self.pieces[at][0]
        if word.isdecimal():
            if len(word) <= 3:
                yield at + 1, int(word)
            return
        for length in (3, 2, 1):
            number = self.numbers.get(tuple(piece for piece, *_ in self.pieces[at : at + length]))
            if number is not None:
                yield at + length, number


@cache
def _numbers(language: str) -> dict[tuple[str, ...], int]:
    return {
        tuple(word for word, *_ in tokens(phrase)): int(key.partition(".")[2])
        for key, phrases in phrases_by_key(language).items()
        if key.startswith("number.")
        for phrase in phrases
    }


@cache
def _trie(language: str, only_months: bool) -> _Node:
    """Return all phrases of a language as a tree of words, with the meanings at the end of each."""
    root: _Node = {}
    keys = phrases_by_key(language)
    for key, spellings in keys.items():
        kind, *rest = key.split(".")
        if kind == "weekday" and len(rest) == 2 and not only_months:
            meaning = Meaning("weekday-relative", rest[1], int(rest[0]), language)
        elif kind in (_MONTHS if only_months else _KINDS):
            unit = rest.pop(0) if rest and rest[0].isalpha() else ""
            meaning = Meaning(kind, unit, int(rest[0]) if rest else 0, language)
        else:
            continue
        for phrase in spellings:
            _put(root, phrase, meaning)
    for unit in () if only_months else UNITS:
        meaning = Meaning("past", unit, 0, language)
        for noun in keys.get(f"noun.{unit}", ()):
            for word in keys.get("past", ()):
                for form in (f"{word} {{0}} {noun}", f"{{0}} {word} {noun}", f"{word} {noun}"):
                    _put(root, form, meaning)
            for word in keys.get("past-after", ()):
                _put(root, f"{{0}} {noun} {word}", meaning)
    return root


def _put(root: _Node, phrase: str, meaning: Meaning) -> None:
    """Add a phrase; a place that has a meaning already keeps that."""
    node = root
    before, hole, behind = phrase.partition("{0}")
    path = [word for word, *_ in tokens(before)] + [_NUMBER] * bool(hole) + [word for word, *_ in tokens(behind)]
    for word in path:
        node = node.setdefault(word, {})
    if meaning.kind != "past" or _PHRASE_END not in node:
        node[_PHRASE_END] = (*node.get(_PHRASE_END, ()), meaning)


def without_times(text: str) -> str:
    """Return ``text`` with spaces in the place of times: days, weeks, months, weekends, ``3 days ago``."""
    lower = plain(text)
    likely = likely_languages(lower)
    named = [(phrase.start, phrase.end) for phrase in find_phrases(lower, likely)]
    named += [match.span() for language in likely for match in _naming(language).finditer(lower)]
    text = text if len(text) == len(lower) else lower
    for start, end in named:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


@cache
def _naming(language: str) -> re.Pattern[str]:
    """Return a pattern for :func:`time_expressions`, with borders of words where words have spaces between them."""
    pattern = any_of(map(re.escape, time_expressions(language))) or "(?!)"
    return re.compile(pattern if language in _BY_PHRASE else rf"(?<!\w)(?:{pattern})(?!\w)")


def may_name_month(text: str) -> bool:
    """Return true if an ASCII text has a word of a month's name."""
    return not _month_marks().keys().isdisjoint(WORD.findall(text.lower()))


def months(text: str) -> list[Phrase]:
    """Find names of months in a :func:`plain` text, in any language; those in its own language come first."""
    marks = _month_marks()
    if text.isascii():
        marks_present = marks.keys() & set(WORD.findall(text))
    else:
        marks_present = marks.keys() & {word for word, *_ in tokens(text)}
    if not marks_present:
        return []
    return find_phrases(
        text, tuple(dict.fromkeys(language for mark in sorted(marks_present) for language in marks[mark])), True
    )


@cache
def _month_marks() -> dict[str, tuple[str, ...]]:
    """Return a word or character of each month's name, and the languages that have it."""
    out: dict[str, tuple[str, ...]] = {}
    for language in known_languages():
        for key, spellings in phrases_by_key(language).items():
            if key.partition(".")[0] in _MONTHS:
                for phrase in spellings:
                    words = [word for word, *_ in tokens(phrase) if not word.isdecimal()]
                    if words:
                        mark = words[-1] if len(words[-1]) == 1 else max(words, key=len)
                        out[mark] = tuple(dict.fromkeys((*out.get(mark, ()), language)))
    return out


@cache
def time_words() -> frozenset[str]:
    """Return single words for times that are no stop word of another language, and years of four digits."""
    stops = languages.stop_words()
    by_word: defaultdict[str, set[str]] = defaultdict(set)
    for language in known_languages():
        keys = phrases_by_key(language)
        doubtful = keys.get("doubtful", ())
        for key, phrases in keys.items():
            if key.partition(".")[0] in _TIMES and language not in _BY_PHRASE:
                for phrase in phrases:
                    if WORD.fullmatch(phrase) and len(phrase) > 2 and (phrase not in doubtful or key == "words"):
                        by_word[phrase].add(language)
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for language, words in stops.items():
        for word in words & by_word.keys():
            owners[word].add(language)
    plainly = {
        word
        for word, word_languages in by_word.items()
        if languages.ENGLISH in word_languages or owners.get(word, word_languages) <= word_languages
    }
    return frozenset(plainly | {str(year) for year in range(1900, 2100)})


@re.built
def time_phrases() -> str:
    """Return a pattern for times in languages without spaces between words, or with names of several parts."""
    spellings = {phrase for language in _BY_PHRASE for phrase in time_expressions(language) if len(phrase) > 1}
    return any_of(map(re.escape, spellings))
