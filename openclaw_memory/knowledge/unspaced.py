"""Terms of scripts that put no spaces between words, found without a dictionary.

In Japanese the script changes where a word ends.  In Chinese, Thai and the like a word is a run of characters that a
file repeats with many different neighbours: the entropy of the next character rises at the end of a word (Jin and
Tanaka-Ishii, 2006, "Unsupervised segmentation of Chinese text by use of branching entropy").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from .. import patterns as re
from ..text import characters
from ..text.labels import is_label
from ..text.scripts import HAN, SOUTH_EAST_ASIAN
from .lexicon import fact_words, sections

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
#: Katakana and Chinese characters, of which Japanese compounds are made, and their parts.
_COMPOUND = re.compile(f"[\u30a1-\u30fa\u30fc{HAN}]{{2,40}}")
_PART = re.compile(f"[\u30a1-\u30fa\u30fc]{{3,20}}|[{HAN}]{{2,20}}")
_PARTICLE = re.compile("[\u3041-\u3096]+")
#: The end of a Japanese verb, behind its stem.
_VERB = re.compile(f"[{HAN}\u30a1-\u30fa\u30fc][\u3041-\u3096]+[うくぐすつぬぶむるいただ]\\Z")
#: Runs without space in which neighbours show the words.
_RUN = re.compile(f"[{HAN}]{{2,200}}|[{SOUTH_EAST_ASIAN}]{{4,400}}")
#: A number and the counter behind it, and an ordinal (第三方 is a word).
_MEASURED = re.compile(
    rf"(?<![A-Za-z0-9_.:])\d[\d.,]{{0,20}}+\+? ?[{HAN}]|第[一二三四五六七八九十百]{{1,5}}(?!方)[{HAN}]?"
)
ANY = re.compile(f"[{HAN}\u3041-\u30fa{SOUTH_EAST_ASIAN}]")
#: Shortest and longest term in characters, by whether the script is Han.
_SHORTEST, _LONGEST = {True: 2, False: 4}, {True: 6, False: 16}
#: Least occurrences of a term in a file, and least entropy of its neighbours on either side, in bits.
_REPEATED, _LEAST_ENTROPY = 3, 0.9
#: A chunk between signs, spaces and letters that is short enough to be one term.
_CHUNK = re.compile(f"(?<![{HAN}0-9])(?<![0-9] )[{HAN}]{{2,6}}(?![{HAN}])")
#: Fewest characters of a compound that is a term by recurring: shorter ones are too often everyday words.
_SURE = 3
#: A mark above or below the character before it: no term begins with one.
_MARKS = "\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
_OPENS_WRONG = re.compile(f"[{_MARKS}々〆]")


def compound_terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, term): Japanese compounds, and short Chinese chunks between signs."""
    text = _MEASURED.sub("0", text)
    if _KANA.search(text):
        for match in _titled_name.finditer(text):
            yield "name", _without_title(match[1])
        for match in _COMPOUND.finditer(text):
            whole = _without_title(match[0].lstrip("ー"))
            parts = _PART.findall(whole)
            whole = _affixes.sub("", whole)
            if 2 <= len(whole) <= 12 and not _everyday.fullmatch(whole):
                done = whole.endswith(tuple(sections("common_japanese.txt")["done"]))
                yield ("phrase" if len(whole) >= _SURE and not done else "part"), whole
            if len(parts) > 1:
                yield from (("part", part) for part in parts)
        return
    for chunk in _CHUNK.findall(text):
        # A line of Japanese may have no kana.
        if not _is_cut(chunk) and not is_everyday(chunk):
            yield ("phrase" if len(chunk) >= _SURE else "part"), chunk


@re.built
def _titled_name() -> str:
    """Return the pattern of a Japanese name with its title behind it."""
    titles = "|".join(map(re.escape, _titles()))
    return f"([{HAN}\u30a1-\u30fa\u30fc]{{1,10}})(?:{titles})"


def _titles() -> tuple[str, ...]:
    return tuple(sorted(fact_words()["ja"].lists["titles"], key=len, reverse=True))


def _without_title(name: str) -> str:
    return next((name.removesuffix(title) for title in _titles() if name.endswith(title)), name)


def is_sentence(term: str) -> bool:
    """Return true if quoted Chinese or Japanese words are a sentence rather than a name."""
    if _KANA.search(term):
        return len(_PARTICLE.findall(term)) > 1 or _VERB.search(term) is not None
    return bool(ANY.match(term)) and (len(term) > _LONGEST[True] or _is_cut(term))


def repeated(texts: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the terms that the texts of one file repeat; ``None`` without such terms."""
    runs: dict[bool, list[str]] = {True: [], False: []}
    texts = [text for text in texts if not text.isascii() and ANY.search(text)]
    # A line without kana in Japanese notes is no Chinese: its words end where their characters do.
    japanese = 2 * sum(1 for text in texts if _KANA.search(text)) > len(texts)
    for text in texts:
        if not japanese and not _KANA.search(text):
            for run in _RUN.findall(_MEASURED.sub(" ", text)):
                runs[not re.match(f"[{SOUTH_EAST_ASIAN}]", run)].append(run)
    terms = [term for han, each in runs.items() for term in _repeated_terms(each, han)]
    return re.compile("|".join(map(re.escape, sorted(terms, key=len, reverse=True)))) if terms else None


def _repeated_terms(runs: list[str], han: bool) -> Iterator[str]:
    frequent = {character for character, count in Counter("".join(runs)).items() if count >= _REPEATED}
    for length in range(2, _LONGEST[han] + 1):
        count: Counter[str] = Counter()
        for run in runs:
            for at in range(len(run) - length + 1):
                if run[at : at + length - 1] in frequent and run[at + 1 : at + length] in frequent:
                    count[run[at : at + length]] += 1
        frequent = {term for term, times in count.items() if times >= _REPEATED}
        if not frequent:
            return
        if length >= _SHORTEST[han]:
            yield from _whole_words(runs, frequent, length, han)


def _whole_words(runs: list[str], terms: set[str], length: int, han: bool) -> Iterator[str]:
    """Yield the ``terms`` with many different neighbours on both sides."""
    before: dict[str, Counter[str]] = {term: Counter() for term in terms}
    after: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for number, run in enumerate(runs):
        for at in range(len(run) - length + 1):
            term = run[at : at + length]
            if term in before:
                # Each end of a run counts as another neighbour.
                before[term][run[at - 1] if at else f"^{number}"] += 1
                after[term][run[at + length] if at + length < len(run) else f"${number}"] += 1
    for term in terms:
        if _OPENS_WRONG.match(term) or (han and _is_cut(term)) or is_label(term) or _is_chinese_word(term):
            continue
        if han and _parts_a_word(term, before[term], after[term]):
            continue
        if min(_entropy(before[term]), _entropy(after[term])) >= _LEAST_ENTROPY:
            yield term


def is_everyday(term: str) -> bool:
    """Return true if a term is an everyday word, or a compound of such words, in Chinese or Japanese."""
    return _is_chinese_word(term) or _everyday.fullmatch(term) is not None


def _is_chinese_word(term: str) -> bool:
    """Return true if a term is one or two everyday Chinese words, or tells an outcome."""
    every, term = _daily_words(), _simplified(term)
    if len(set(term)) == 1:
        return True  # 嘿嘿, an exclamation
    if term in every or term in _chinese()["technology"] or term.endswith(tuple(_chinese()["went"])):
        return True
    return any(term[:at] in every and term[at:] in every for at in range(2, len(term) - 1))


@cache
def _daily_words() -> frozenset[str]:
    return _chinese()["words"] | _chinese()["abstract"]


def _is_cut(term: str) -> bool:
    """Return true if a term has a Chinese character that belongs to the sentence around it."""
    chinese, every, term = _chinese(), _daily_words(), _simplified(term)
    if not chinese["function"].isdisjoint(term):
        return True
    if term[0] in chinese["before"] and not any(term[:end] in every for end in range(2, 5)):
        return True
    return term[-1] in chinese["behind"] and not any(term[-size:] in every for size in range(2, 5))


def _parts_a_word(term: str, before: Counter[str], after: Counter[str]) -> bool:
    """Return true if a Chinese term begins or ends within a word in half of its places, as 午 does in 上午, 下午."""
    every, term = _daily_words(), _simplified(term)
    opens = 0 if term[:2] in every else sum(n for near, n in before.items() if _simplified(near) + term[0] in every)
    closes = 0 if term[-2:] in every else sum(n for near, n in after.items() if term[-1] + _simplified(near) in every)
    return 2 * max(opens, closes) >= before.total()


@re.built
def _everyday() -> str:
    """Return the pattern of compounds of everyday Japanese words with their prefixes and suffixes."""
    words = sections("common_japanese.txt")
    word, before, behind = (_any_of(words[name]) for name in ("words", "before", "behind"))
    word += "|" + _any_of(words["done"])
    return f"(?:{before})?(?:(?:{word})(?:{behind})?)+"


@re.built
def _affixes() -> str:
    """Return the pattern of Japanese prefixes and suffixes that are no part of a name: 各, 内."""
    words = sections("common_japanese.txt")
    before, behind = _any_of(words["before"]), _any_of(words["behind"])
    return f"\\A(?:{before})(?=[\u30a1-\u30fa\u30fc]{{2}})|(?<=[\u30a1-\u30fa\u30fc]{{2}})(?:{behind})\\Z"


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


@cache
def _chinese() -> dict[str, frozenset[str]]:
    """Return everyday words of Chinese in simplified characters."""
    return {name: frozenset(map(_simplified, words)) for name, words in sections("common_chinese.txt").items()}


def _simplified(text: str) -> str:
    """Return ``text`` in simplified characters."""
    return text.translate(characters.equivalents())


def _entropy(count: Counter[str]) -> float:
    total = sum(count.values())
    return -sum(n / total * math.log2(n / total) for n in count.values())
