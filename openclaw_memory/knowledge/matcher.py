"""Find many names in a text in one pass (Aho and Corasick, 1975, "Efficient string matching")."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from .. import patterns as re
from ..records import NamedTuple
from ..text.scripts import JOINED_LETTER
from .lexicon import ORDINARY

#: Longest spelling, in characters, that is found only in its own case.
SHORT = 3

_GAP = re.compile(r"\s\s+|[^\S ]")


class NameMatch(NamedTuple):
    """A name at ``start:end`` of a text with single spaces; ``name`` is the matcher's spelling, ``key`` its concept."""

    start: int
    end: int
    key: int
    name: str


class NameMatcher:
    """Finds many names in texts; immutable, so threads may share it."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        """Prepare to find spellings, each with the key of its concept; of two equal ones the first counts."""
        patterns: dict[str, list[tuple[str, bool, int, str]]] = {}
        for name, key in names:
            spelling = " ".join(name.split())
            if not spelling:
                continue
            cased = keeps_case(spelling)
            forms = {spelling}
            if not spelling.isascii():
                forms |= {unicodedata.normalize("NFC", spelling), unicodedata.normalize("NFD", spelling)}
            for form in forms:
                patterns.setdefault(_folded(form), []).append((form, cased, key, spelling))
        self._automaton: Any = None
        if patterns:
            import ahocorasick

            self._automaton = ahocorasick.Automaton()
            for pattern, entries in patterns.items():
                self._automaton.add_word(pattern, (len(pattern), tuple(entries)))
            self._automaton.make_automaton()

    def __bool__(self) -> bool:
        """Return true if there is any name to find."""
        return self._automaton is not None

    def find(self, text: str) -> list[NameMatch]:
        """Return the names in ``text`` in order: of those that overlap the leftmost, of these the longest."""
        if self._automaton is None:
            return []
        plain = _GAP.sub(" ", text)
        hits: list[tuple[int, int, int, str]] = []
        for last, (length, entries) in self._automaton.iter(_folded(plain)):
            start, end = last + 1 - length, last + 1
            if _border(plain, start) and _border(plain, end):
                written = plain[start:end]
                for form, cased, key, name in entries:
                    if not cased or written == form or (form[0].islower() and written == form[0].upper() + form[1:]):
                        hits.append((start, -end, key, name))
                        break
        if not hits:
            return []
        hits.sort(key=lambda hit: hit[:2])
        matches: list[NameMatch] = []
        free = 0
        for start, end, key, name in hits:
            if start >= free:
                free = -end
                matches.append(NameMatch(start, free, key, name))
        return matches


def keeps_case(spelling: str) -> bool:
    """Return true if ``spelling`` is found only in its own case, or with a capital at its beginning."""
    return len(spelling) <= SHORT or spelling.casefold() in ORDINARY


def _folded(text: str) -> str:
    """Return ``text`` in small letters, of the same length."""
    # The small form of İ has two characters, and that of Σ depends on its place.
    return text.replace("\u0130", "i").lower().replace("ς", "σ")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_" or (character > "\x7f" and unicodedata.category(character)[0] == "M")


def _border(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if not _is_word(before) or not _is_word(after):
        return True
    # In some scripts a name ends without a space behind it; Korean has particles there.
    return bool(not (before + after).isascii() and (JOINED_LETTER.match(before) or JOINED_LETTER.match(after)))
