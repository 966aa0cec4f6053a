"""Which words of a message stand together in the notes, in any language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..search.bm25 import KeywordScores
from ..store.api import Ints
from ..text import analysis, calendar_words, characters, language, speech
from ..text.scripts import HAN, HANGUL, KANA, SOUTH_EAST_ASIAN, UNSPACED_LETTER, letter
from ..text.sentences import sentence_spans

#: Runs that hold words without spaces, and how many characters a word of them has: all of a word in katakana, of one in
#: Korean the first two, as endings follow.
_RUNS = re.compile(
    rf"(?P<kana>[\u30a1-\u30ff]{{2,}})|(?P<han>[{HAN}]{{2,}})|(?P<hangul>[{HANGUL}]{{2,}})|(?P<asian>[{SOUTH_EAST_ASIAN}]{{3,}})"
)
_ASIAN_WORD = 4
#: A word behind another one.
_LATER_WORD = re.compile(r"(?<=[\w,;]\s)[^\W\d_]\w+")
#: How a Vietnamese syllable is written, but for its tone.
_SYLLABLE = re.compile("(?:ngh?|nh|gh|gi|kh|ph|qu|th|tr|ch|[bcdđghklmnprstvx])?[aeiouy]{1,3}(?:ch|nh|ng|[cmnpt])?")


class Evidence:
    """The words of one message in the notes: ``words`` is how many say something, ``unknown`` how many no note has.

    It is ``strange`` where one of these is a name: what is said of somebody whom no note knows is hardly about them.
    """

    def __init__(self, message: str, keyword: KeywordScores, n: int) -> None:
        said = speech.bare(message)
        held = list(_words(said, keyword))
        self.strange = _names_a_stranger(said, keyword)
        self.words = len(held)
        self.unknown = sum(not len(rows) for rows in held)
        self._matched = _counted(held, n)
        timeless = calendar_words.without(said)
        self._told = self._matched if timeless == said else _counted(_words(timeless, keyword), n)

    def matched(self, row: int) -> int:
        """How many of the words stand in the window of a row."""
        return int(self._matched[row])

    def told(self, row: int) -> int:
        """The same without those that name a time: any notes have days and weeks, and so has small talk."""
        return int(self._told[row])


def _counted(held: Iterable[Ints], n: int) -> NDArray[np.int16]:
    """How many words each of ``n`` rows has, from the rows of each word."""
    out = np.zeros(n, np.int16)
    for rows in held:
        out[rows] += 1
    return out


def _names_a_stranger(text: str, keyword: KeywordScores) -> bool:
    """Whether a word with a capital within a sentence stands in no note, in a language that writes names alone so."""
    if language.of_words(language.latin_words(text.lower())) == language.CAPITAL_NOUNS:
        return False
    rows = dict(zip(keyword.terms, keyword.windows, strict=True))
    spaced = _RUNS.sub(" ", text)
    for start, end in sentence_spans(spaced):
        for word in _LATER_WORD.findall(spaced[start:end]):
            forms = analysis.asked(word) if word[0].isupper() else []
            if forms and forms[0][0] in rows and not len(rows[forms[0][0]]):
                return True
    return False


def _words(text: str, keyword: KeywordScores) -> Iterator[Ints]:
    """The rows around which each word of a text stands."""
    at = {term: i for i, term in enumerate(keyword.terms)}
    silent = speech.silent_terms(text)
    spaced = _RUNS.sub(" ", text)
    whole = analysis.words_of(spaced)
    words: dict[str, Ints] = {}
    terms = [term for term, *_ in analysis.asked(spaced) if term in at and term not in silent]
    for term in _joined(terms, at, keyword.windows):
        if len(term) > 2 or not term.isdecimal():  # such figures stand in any notes
            # "GeoReview" is one word, also where its parts are terms: the rarest of them that the notes have.
            rows, word = keyword.windows[at[term]], whole.get(term, term)
            word = term if UNSPACED_LETTER.search(word) else word
            if word not in words or 0 < len(rows) < (len(words[word]) or len(rows) + 1):
                words[word] = rows
    yield from words.values()
    japanese = letter(KANA).search(text) is not None
    for run in _RUNS.finditer(text):
        yield from _of_run(run, at, keyword.windows, japanese)


def _joined(terms: Sequence[str], at: dict[str, int], windows: Sequence[Ints]) -> list[str]:
    """The terms, of which two syllables (Vietnamese) make one word: where notes have both together, else as they come.

    Without its tones, which are no part of a term, a syllable alone is any of a dozen words: it says nothing.
    """
    if not any(" " in term for term in terms):
        return list(terms)
    pairs = [term for term in terms if " " in term and all(map(_SYLLABLE.fullmatch, term.split()))]
    taken: set[str] = set()
    words: set[str] = set()
    # What no note has comes behind all that notes have.
    for pair in sorted(pairs, key=lambda pair: len(windows[at[pair]]) or 1 << 31):
        if taken.isdisjoint(pair.split()):
            taken.update(pair.split())
            words.add(pair)
    return [term for term in terms if term in words or not (" " in term or term in taken or _SYLLABLE.fullmatch(term))]


def _of_run(run: re.Match[str], at: dict[str, int], windows: Sequence[Ints], japanese: bool) -> Iterator[Ints]:
    def of(word: str) -> Ints:
        word = word.translate(characters.alike())
        pairs = [word[i : i + 2] for i in range(len(word) - 1)]
        rows = [windows[at[pair]] for pair in pairs if pair in at]
        if len(rows) < len(pairs):
            return np.zeros(0, np.int32)
        held = rows[0]
        for other in rows[1:]:
            held = np.intersect1d(held, other, assume_unique=True)
        return held

    text = run[0]
    if run.lastgroup == "kana":
        # A long one may be two words, where the notes have both.
        parts = range(2, len(text) - 1) if 5 < len(text) <= 40 else ()
        ways = [[of(text)], *([of(text[:i]), of(text[i:])] for i in parts)]
        yield from max(ways, key=lambda way: (all(map(len, way)), -len(way), sum(map(len, way))))
    elif run.lastgroup == "hangul":
        yield of(text[:2])
    elif run.lastgroup == "asian":
        yield from (of(text[i : i + _ASIAN_WORD]) for i in range(0, len(text) - 2, _ASIAN_WORD))
    else:
        for part in [text] if japanese else _function().split(text):
            yield from _of_han(part, of)


def _of_han(text: str, of: Callable[[str], Ints]) -> Iterator[Ints]:
    """Words of two characters: so that most are known, then so that most of the text is in one."""
    pairs = [of(text[i : i + 2]) for i in range(len(text) - 1)]
    # Of the best way to cut the first n characters: known pairs, pairs, and whether the last one ends there.
    best: list[tuple[int, int, bool]] = [(0, 0, False), (0, 0, False)]
    for pair in pairs:
        known, count, _ = best[-2]
        cut = known + (len(pair) > 0), count + 1
        best.append((*cut, True) if cut >= best[-1][:2] else (*best[-1][:2], False))
    chosen: list[Ints] = []
    end = len(text)
    while end > 1:
        chosen += [pairs[end - 2]] if best[end][2] else []
        end -= 2 if best[end][2] else 1
    yield from reversed(chosen)


@cache
def _function() -> re.Pattern[str]:
    """Chinese words of one character that say nothing."""
    return re.compile("|".join(sorted(word for word in language.stop_words()["chinese"] if len(word) == 1)))
