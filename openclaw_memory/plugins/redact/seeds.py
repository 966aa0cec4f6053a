"""Find seed phrases that nothing announces: twelve words or more in a row, all of one list of BIP-39.

The lists are those of the package ``mnemonic``.  Their words are common ones, but hardly twelve of them stand side by
side in a sentence, as the lists have next to no articles, pronouns and forms of verbs.  Those of Chinese are single
characters, and a text may have spaces between these: there the checksum that a phrase ends in decides.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from ... import patterns as re

#: Words in the shortest phrase.
_LEAST = 12
_AROUND = " \t0123456789.,;:()[]{}<>|*_`\"'“”„«»「」、，。#>+-–—•"


@cache
def _lists() -> tuple[frozenset[str], ...]:
    """Return the words of each list, with their accents and without."""
    from importlib.resources import files

    lists = []
    for file in files("mnemonic").joinpath("wordlist").iterdir():
        text = file.read_text(encoding="utf-8")
        decomposed = unicodedata.normalize("NFD", text)
        plain = re.sub("[\u0300-\u036f]+", "", decomposed)
        lists.append(frozenset(unicodedata.normalize("NFC", text if plain == decomposed else text + plain).split()))
    return tuple(lists)


def _may_be_listed(word: str) -> bool:
    """Return false if the length of a word shows that it is in no list: so most texts need none of them read."""
    bare = word.strip(_AROUND)
    return not bare.isascii() or 3 <= len(bare) <= 10


def _lists_of(word: str) -> int:
    """Return the lists that a word is in, a bit for each."""
    if word.endswith((":", "：")):
        return 0  # the label of the phrase may be in the lists too
    bare = unicodedata.normalize("NFC", word.strip(_AROUND).lower())
    return sum(1 << n for n, listed in enumerate(_lists()) if word in listed or bare in listed)


def _runs(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of ``words``, first and behind the last, that are all of one list."""
    at = 0
    while at + _LEAST <= len(words):
        common = -1
        # From its end: a word in no list there spares the look at all before it.
        window = range(at + _LEAST - 1, at - 1, -1)
        other = next((place for place in window if not _may_be_listed(words[place])), None)
        for place in window if other is None else ():
            common &= _lists_of(words[place])
            if not common:
                other = place
                break
        if other is not None:
            at = other + 1
        else:
            end = at + _LEAST
            while end < len(words) and (further := common & _lists_of(words[end])):
                common, end = further, end + 1
            if _is_phrase([word.strip(_AROUND).lower() for word in words[at:end]]):
                yield at, end
            at = end


def _is_phrase(words: Sequence[str]) -> bool:
    if len(set(words)) < 8:  # "test test test …" is none
        return False
    if any(len(word) > 1 for word in words):
        return True
    from mnemonic import Mnemonic

    return any(Mnemonic(f"chinese_{script}").check(" ".join(words)) for script in ("simplified", "traditional"))


def find_phrases(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield the seed phrases of ``line``."""
    if len(line) < 2 * _LEAST or line.count(" ") + line.count("\u3000") < _LEAST - 1:
        return
    for first, last in _runs([word for word in line.split() if word.strip(_AROUND)]):
        words = [word for word in re.finditer(r"\S+", line) if word[0].strip(_AROUND)]
        start, end = words[first].start(), words[last - 1].end()
        yield start + trim(line[start:end])[0], start + trim(line[start:end])[1], "seed-phrase"


def find_lines(text: str) -> Iterator[int]:
    """Yield where lines with seed phrases begin in ``text``."""
    at = 0
    for line in text.split("\n"):
        if next(find_phrases(line), None) is not None:
            yield at
        at += len(line) + 1


def trim(text: str) -> tuple[int, int]:
    """Return the first and behind the last character of the words of ``text``, without the signs around them."""
    return len(text) - len(text.lstrip(_AROUND)), len(text.rstrip(_AROUND))


def find_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of lines, first and behind the last, of nothing but words of one phrase, fewer than 12 each."""
    blocks = groupby(map(_few_words, lines), bool)
    if not any(few and sum(map(len, block)) >= _LEAST for few, block in blocks):
        return
    at = 0
    while at < len(lines):
        words: list[str] = []
        end = at
        while end < len(lines) and (several := _listed_words(lines[end])):
            words += several
            end += 1
        if end > at + 1 and any(_runs(words)):
            yield at, end
        at = max(end, at + 1)


def _few_words(line: str) -> list[str]:
    """Return the words of a line that are fewer than 12 and may all be in a list, none of another line."""
    words = [word for word in line.split() if word.strip(_AROUND)] if len(line) <= 160 else []
    return words if len(words) < _LEAST and all(map(_may_be_listed, words)) else []


def _listed_words(line: str) -> list[str]:
    """Return the words of a line that are fewer than 12 and all in a list, none of another line."""
    words = _few_words(line)
    return words if all(map(_lists_of, words)) else []
