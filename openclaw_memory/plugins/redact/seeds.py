"""Seed phrases that nothing announces: twelve words or more in a row, all of one list of BIP-39.

The lists are those of the package ``mnemonic``.  Their words are common ones, but hardly twelve of them stand side by
side in a sentence, as the lists have next to no articles, pronouns and forms of verbs.  Those of Chinese are single
characters, and a text may have spaces between these: there the checksum that a phrase ends in decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

#: Words in the shortest phrase, and how many different ones are among them: "test test test …" is none.
LEAST = 12
_ACCENT = re.compile("[\u0300-\u036f]+")
_DIFFERENT = 8
_LEAST_A_LINE = 11  # of more the line is a phrase itself
_LONGEST = 160  # characters of a line that has one word of a phrase: its number, marks of a list and of emphasis
_AROUND = " \t0123456789.,;:()[]{}<>|*_`\"'“”„«»「」、，。#>+-–—•"


@cache
def _lists() -> dict[str, int]:
    """The lists that a word is in, a bit for each, with its accents and without."""
    found: dict[str, int] = {}
    folder = files("mnemonic").joinpath("wordlist")
    for n, file in enumerate(sorted(folder.iterdir(), key=lambda file: file.name)):
        for word in file.read_text(encoding="utf-8").split():
            plain = word if word.isascii() else _ACCENT.sub("", unicodedata.normalize("NFD", word))
            for form in {unicodedata.normalize("NFC", each) for each in (word, plain)}:
                found[form] = found.get(form, 0) | 1 << n
    return found


def _of(word: str, lists: dict[str, int]) -> int:
    if word.endswith((":", "：")):
        return 0  # what announces the phrase may be in the lists too
    return lists.get(word) or lists.get(unicodedata.normalize("NFC", word.strip(_AROUND).lower()), 0)


def runs(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of ``words``, first and behind the last, that are all of one list."""
    lists, at = _lists(), 0
    while at + LEAST <= len(words):
        common = -1
        # From its end: what is in no list there spares the look at all before it.
        for place in range(at + LEAST - 1, at - 1, -1):
            common &= _of(words[place], lists)
            if not common:
                at = place + 1
                break
        else:
            end = at + LEAST
            while end < len(words) and (further := common & _of(words[end], lists)):
                common, end = further, end + 1
            if _is_phrase([word.strip(_AROUND).lower() for word in words[at:end]]):
                yield at, end
            at = end


def _is_phrase(words: Sequence[str]) -> bool:
    if len(set(words)) < _DIFFERENT:
        return False
    if any(len(word) > 1 for word in words):
        return True
    from mnemonic import Mnemonic

    return any(Mnemonic(f"chinese_{script}").check(" ".join(words)) for script in ("simplified", "traditional"))


def in_line(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds seed phrases."""
    if len(line) < 2 * LEAST or line.count(" ") + line.count("\u3000") < LEAST - 1:
        return
    words = [word for word in line.split() if word.strip(_AROUND)]
    end = 0
    starts: list[int] = []
    for first, last in runs(words):
        if not starts:
            for word in words:
                starts.append(line.index(word, end))
                end = starts[-1] + len(word)
        head, tail = words[first], words[last - 1]
        yield starts[first] + bare(head)[0], starts[last - 1] + bare(tail)[1], "seed-phrase"


def places(text: str) -> Iterator[int]:
    """Where lines with seed phrases begin in ``text``."""
    at = 0
    for line in text.split("\n"):
        if next(in_line(line), None) is not None:
            yield at
        at += len(line) + 1


def bare(line: str) -> tuple[int, int]:
    """First and behind the last character of the word of a line that has one."""
    return len(line) - len(line.lstrip(_AROUND)), len(line.rstrip(_AROUND))


def below(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of lines, first and behind the last, that have nothing but words of one phrase, one or some each."""
    lists, at = _lists(), 0
    while at < len(lines):
        words: list[str] = []
        end = at
        while end < len(lines) and len(lines[end]) <= _LONGEST:
            several = [word for word in lines[end].split() if word.strip(_AROUND)]
            if not 1 <= len(several) <= _LEAST_A_LINE or not all(_of(word, lists) for word in several):
                break
            words += several
            end += 1
        if end > at + 1 and len(words) >= LEAST and any(True for _ in runs(words)):
            yield at, end
        at = max(end, at + 1)
