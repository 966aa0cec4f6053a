"""Recognise labels that notes on any subject have (``Status``), which so name no subject; data is in ``labels.txt``."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from .. import patterns as re
from . import calendar_words, language, word_lists
from .scripts import UNSPACED

#: Words; of scripts that put no spaces between them, single characters.
_ATOM = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_NUMBER = re.compile(r"[\d\u3007\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341]+[a-z]{0,2}|[tv]\d+")


def is_label(text: str) -> bool:
    """Return true if ``text`` is a label that notes on any subject have, as ``Status``, ``Next steps``, ``进展``."""
    return tuple(_atoms(text)) in _labels()[0]


@lru_cache(maxsize=4096)
def names_subject(heading: str) -> bool:
    """Return true if ``heading`` names the subject of its lines.

    A heading of nothing but labels, numbers, dates, times, stop words and signs names a time or a kind of lines:
    ``2026-03-04``, ``✅ Done today``, ``今日进展``.
    """
    atoms = _atoms(heading)
    if not atoms:
        return False
    labels, label_words, longest = _labels()
    naming = [atom for atom in atoms if atom not in label_words and not _NUMBER.fullmatch(atom)]
    if naming:
        words = _ATOM.findall(heading.casefold())
        stops = (word for word in words if any(word in stops for stops in language.stop_words().values()))
        if not {atom for word in stops for atom in _atoms(word)}.issuperset(naming):
            return True
    silent = _silent(heading)
    # By number of atoms from the start: None if they name something, else true if they are more than stop words.
    covered: list[bool | None] = [False] + [None] * len(atoms)
    for end in range(1, len(atoms) + 1):
        atom, starts = atoms[end - 1], range(max(0, end - longest), end)
        number = _NUMBER.fullmatch(atom) or atom in _days()
        if any(covered[start] is not None and tuple(atoms[start:end]) in labels for start in starts):
            covered[end] = True
        elif covered[end - 1] is not None and (number or atom in silent):
            covered[end] = bool(covered[end - 1] or number)
    return not covered[-1]


def _atoms(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _ATOM.findall(_folded(text))


def _folded(text: str) -> str:
    """Return a text without case and accents."""
    plain = text.lower()
    if not text.isascii():
        plain = re.sub("[\u0300-\u036f\u3099\u309a]+", "", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", plain)


@cache
def _labels() -> tuple[frozenset[tuple[str, ...]], frozenset[str], int]:
    """Return the labels, all words of labels and names of days, and the number of words of the longest label.

    Times of a day, and days as seen from today, are labels in all languages.
    """
    phrases = [line for _, line in word_lists.lines_of(__package__, "labels.txt")]
    for spoken in calendar_words.known_languages():
        for key, times in calendar_words.phrases_by_key(spoken).items():
            phrases += times if key.startswith(("period", "relative.")) else ()
    labels = frozenset(tuple(_ATOM.findall(phrase)) for phrase in _folded(";".join(phrases)).split(";")) - {()}
    return labels, _days().union(*labels), max(map(len, labels))


def _silent(heading: str) -> frozenset[str]:
    """Return the stop words of the languages that ``heading`` may be in; accents count, as names lie beside them."""
    words = heading.casefold()
    spoken = {language.ENGLISH, language.detect_language(language.latin_words(words)), "chinese", "japanese"}
    spoken |= {script for word in _ATOM.findall(words) if (script := language.script_language(word))}
    stops = {word for word in _ATOM.findall(words) for each in spoken if language.is_stop_word(word, each)}
    return frozenset(atom for word in stops for atom in _atoms(word))


@cache
def _days() -> frozenset[str]:
    """Return the words of time of all languages, as the names of months and weekdays."""
    return frozenset(_atoms("\n".join(calendar_words.time_words())))
