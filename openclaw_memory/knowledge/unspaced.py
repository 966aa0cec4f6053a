"""Terms of scripts that put no spaces between words, found without a dictionary.

In Japanese the script changes where a word ends.  In Chinese, Thai and the like a word is a run of characters that a
file repeats and behind and before which many different ones stand: the entropy of what follows rises at the end of
a word (Jin and Tanaka-Ishii, 2006, "Unsupervised segmentation of Chinese text by use of branching entropy").
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from ..text import characters
from ..text.labels import is_label
from ..text.scripts import HAN, SOUTH_EAST_ASIAN
from . import fact_words
from .routine import sections

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
#: Katakana and Chinese characters, of which Japanese compounds are made, and their parts.
_COMPOUND = re.compile(f"[\u30a1-\u30fa\u30fc{HAN}]{{2,40}}")
_PART = re.compile(f"[\u30a1-\u30fa\u30fc]{{3,20}}|[{HAN}]{{2,20}}")
_PARTICLE = re.compile("[\u3041-\u3096]+")
#: How a Japanese verb ends, behind what it is written with.
_VERB = re.compile(f"[{HAN}\u30a1-\u30fa\u30fc][\u3041-\u3096]+[うくぐすつぬぶむるいただ]\\Z")
#: Runs without space in which words must be found by what stands around them.
_RUN = re.compile(f"[{HAN}]{{2,200}}|[{SOUTH_EAST_ASIAN}]{{4,400}}")
#: A number and the word by which things are counted, that stands behind it, and an ordinal (第三方 is a word).
_MEASURED = re.compile(
    rf"(?<![A-Za-z0-9_.:])\d[\d.,]{{0,20}}+\+? ?[{HAN}]|第[一二三四五六七八九十百]{{1,5}}(?!方)[{HAN}]?"
)
ANY = re.compile(f"[{HAN}\u3041-\u30fa{SOUTH_EAST_ASIAN}]")
_LONGEST_COMPOUND, _LONGEST = 12, {True: 6, False: 16}
_SHORTEST = {True: 2, False: 4}
#: So often a file says a term, and so many bits uncertain is what stands on either side of it.
_REPEATED, _LEAST_ENTROPY = 3, 0.9
#: A chunk between signs, spaces and letters is one term when it is this long.
_CHUNK = re.compile(f"(?<![{HAN}0-9])(?<![0-9] )[{HAN}]{{2,6}}(?![{HAN}])")
#: A compound of fewer characters is too often a word of everyday language to be a term by recurring alone.
_SURE = 3
#: A mark above or below the character before it: no term begins with one.
_MARKS = "\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
_OPENS_WRONG = re.compile(f"[{_MARKS}々〆]")


def in_text(text: str) -> Iterator[tuple[str, str]]:
    """Terms of one text as (rule, term): compounds of Japanese, short chunks between signs of Chinese."""
    text = _MEASURED.sub("0", text)
    if _KANA.search(text):
        for match in _titled().finditer(text):
            yield "name", _without_title(match[1])
        for match in _COMPOUND.finditer(text):
            whole = _without_title(match[0].lstrip("ー"))
            parts = _PART.findall(whole)
            whole = _affixes().sub("", whole)
            if 2 <= len(whole) <= _LONGEST_COMPOUND and not _everyday().fullmatch(whole):
                yield ("phrase" if len(whole) >= _SURE and not whole.endswith(_done()) else "part"), whole
            if len(parts) > 1:
                yield from (("part", part) for part in parts)
        return
    for chunk in _CHUNK.findall(text):
        # A line of Japanese may have no kana.
        if not _plain(chunk) and not _is_cut(chunk) and not _everyday().fullmatch(chunk):
            yield ("phrase" if len(chunk) >= _SURE else "part"), chunk


@cache
def _titled() -> re.Pattern[str]:
    """A name with the title that Japanese puts behind it."""
    titles = "|".join(map(re.escape, _titles()))
    return re.compile(f"([{HAN}\u30a1-\u30fa\u30fc]{{1,10}})(?:{titles})")


@cache
def _titles() -> tuple[str, ...]:
    return tuple(sorted(fact_words.languages()["ja"].lists["titles"], key=len, reverse=True))


def _without_title(name: str) -> str:
    return next((name.removesuffix(title) for title in _titles() if name.endswith(title)), name)


def is_sentence(term: str) -> bool:
    """Whether Chinese or Japanese words in quotes say something rather than name it."""
    if _KANA.search(term):
        return len(_PARTICLE.findall(term)) > 1 or _VERB.search(term) is not None
    return bool(ANY.match(term)) and (len(term) > _LONGEST[True] or _is_cut(term))


def repeated(texts: Iterable[str]) -> re.Pattern[str] | None:
    """What finds the terms that the texts of one file repeat; ``None`` when they repeat none."""
    runs: dict[bool, list[str]] = {True: [], False: []}
    texts = [text for text in texts if not text.isascii() and ANY.search(text)]
    # A line without kana in Japanese notes is no Chinese: its words end where their characters do.
    japanese = 2 * sum(1 for text in texts if _KANA.search(text)) > len(texts)
    for text in texts:
        if not japanese and not _KANA.search(text):
            for run in _RUN.findall(_MEASURED.sub(" ", text)):
                runs[not re.match(f"[{SOUTH_EAST_ASIAN}]", run)].append(run)
    found = [term for han, each in runs.items() for term in _terms(each, han)]
    return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True)))) if found else None


def _terms(runs: list[str], han: bool) -> Iterator[str]:
    known = {character for character, count in Counter("".join(runs)).items() if count >= _REPEATED}
    for length in range(2, _LONGEST[han] + 1):
        count: Counter[str] = Counter()
        for run in runs:
            for at in range(len(run) - length + 1):
                if run[at : at + length - 1] in known and run[at + 1 : at + length] in known:
                    count[run[at : at + length]] += 1
        known = {term for term, times in count.items() if times >= _REPEATED}
        if not known:
            return
        if length >= _SHORTEST[han]:
            yield from _whole(runs, known, length, han)


def _whole(runs: list[str], known: set[str], length: int, han: bool) -> Iterator[str]:
    """Those of ``known`` that end where they end: many different characters stand on both sides."""
    before: dict[str, Counter[str]] = {term: Counter() for term in known}
    after: dict[str, Counter[str]] = {term: Counter() for term in known}
    for number, run in enumerate(runs):
        for at in range(len(run) - length + 1):
            term = run[at : at + length]
            if term in before:
                # The end of a run is a border: each one counts as a neighbour of its own.
                before[term][run[at - 1] if at else f"^{number}"] += 1
                after[term][run[at + length] if at + length < len(run) else f"${number}"] += 1
    for term in known:
        if _OPENS_WRONG.match(term) or (han and _is_cut(term)) or is_label(term) or _plain(term):
            continue
        if han and _parts_a_word(term, before[term], after[term]):
            continue
        if min(_entropy(before[term]), _entropy(after[term])) >= _LEAST_ENTROPY:
            yield term


def is_everyday(term: str) -> bool:
    """Whether a term is a word, or a compound of words, of everyday Chinese or Japanese."""
    return _plain(term) or _everyday().fullmatch(term) is not None


def _plain(term: str) -> bool:
    """Whether a term is a Chinese word of everyday language, or two of them, or says how something went."""
    every, term = _said_daily(), _simplified(term)
    if len(set(term)) == 1:
        return True  # 嘿嘿: what somebody utters
    if term in every or term in _chinese()["technology"] or term.endswith(tuple(_chinese()["went"])):
        return True
    return any(term[:at] in every and term[at:] in every for at in range(2, len(term) - 1))


@cache
def _said_daily() -> frozenset[str]:
    return _chinese()["words"] | _chinese()["abstract"]


def _is_cut(term: str) -> bool:
    """Whether a term has a Chinese character that belongs to the sentence around it."""
    chinese, every, term = _chinese(), _said_daily(), _simplified(term)
    if not chinese["function"].isdisjoint(term):
        return True
    if term[0] in chinese["before"] and not any(term[:end] in every for end in range(2, 5)):
        return True
    return term[-1] in chinese["behind"] and not any(term[-size:] in every for size in range(2, 5))


def _parts_a_word(term: str, before: Counter[str], after: Counter[str]) -> bool:
    """Whether a Chinese term begins or ends within a word in half of its places: 午 of 上午 and 下午 begins none."""
    every, term = _said_daily(), _simplified(term)
    opens = 0 if term[:2] in every else sum(n for near, n in before.items() if _simplified(near) + term[0] in every)
    closes = 0 if term[-2:] in every else sum(n for near, n in after.items() if term[-1] + _simplified(near) in every)
    return 2 * max(opens, closes) >= before.total()


@cache
def _everyday() -> re.Pattern[str]:
    """Compounds of everyday Japanese: its words, one behind another, with what is put before and behind them."""
    said = sections("common_japanese.txt")
    word, before, behind = (_any_of(said[name]) for name in ("words", "before", "behind"))
    word += "|" + _any_of(said["done"])
    return re.compile(f"(?:{before})?(?:(?:{word})(?:{behind})?)+")


@cache
def _done() -> tuple[str, ...]:
    """What ends a Japanese compound that says what was done to something."""
    return tuple(sorted(sections("common_japanese.txt")["done"]))


@cache
def _affixes() -> re.Pattern[str]:
    """What is put before and behind a Japanese word and is no part of its name: 各, 内."""
    said = sections("common_japanese.txt")
    before, behind = _any_of(said["before"]), _any_of(said["behind"])
    return re.compile(f"\\A(?:{before})(?=[\u30a1-\u30fa\u30fc]{{2}})|(?<=[\u30a1-\u30fa\u30fc]{{2}})(?:{behind})\\Z")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


@cache
def _chinese() -> dict[str, frozenset[str]]:
    """Words of everyday Chinese, as :func:`_simplified` writes them."""
    return {name: frozenset(map(_simplified, words)) for name, words in sections("common_chinese.txt").items()}


def _simplified(text: str) -> str:
    """``text`` with each traditional character as the simplified one."""
    return text.translate(characters.alike())


def _entropy(count: Counter[str]) -> float:
    total = sum(count.values())
    return -sum(n / total * math.log2(n / total) for n in count.values())
