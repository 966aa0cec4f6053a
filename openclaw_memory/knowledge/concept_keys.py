"""The identity of a concept: one key for all spellings of a name."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .. import patterns as re
from ..store.api import OntologyRows
from ..text import analysis, language

_SEPARATORS = re.compile(r"[^\w]+|_+")
#: Marks that tell one language's name from another's: C, C++, C#.
_PLUSES, _SHARP = re.compile(r"(?<=\w)\+\+"), re.compile(r"(?<=\w)#(?!\w)")


def slug(name: str) -> str:
    """Return ``name`` in small letters with hyphens between its words, as commands and files write it.

    Empty when ``name`` has no letter or digit.
    """
    if name.isascii() and name.replace(" ", "").isalpha():
        return "-".join(name.lower().split())
    name = _SHARP.sub(" sharp", _PLUSES.sub(" plus plus", analysis.POSSESSIVE.sub("", name)))
    text = unicodedata.normalize("NFKC", name).casefold()
    return "-".join(part for part in _SEPARATORS.split(text) if part)


@lru_cache(maxsize=1 << 16)
def concept_key(name: str) -> int:
    """Return a 63-bit key of a name, the same for its capitals, hyphens, plural and, with a stemmer, cases.

    0 when ``name`` has no letter or digit.
    """
    words = slug(name).split("-")
    if words == [""]:
        return 0
    return analysis.unit_hash("\0".join(map(_stem, words))) or 1


def _stem(word: str) -> str:
    """Return the stem of a word in the language of its script; English for Latin letters.

    An English word that loses four letters becomes another word: Excel is no excellence, an organ no organisation.
    """
    spoken = language.ENGLISH if word.isascii() else language.script_language(word) or language.ENGLISH
    stem = language.stems([word], spoken)[0]
    if word.isascii():
        singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
        return stem if len(singular) - len(stem) < 4 else singular
    return stem


def name_keys(*names: str) -> tuple[int, ...]:
    """Return the keys of ``names``, each once."""
    return tuple(dict.fromkeys(key for name in names if (key := concept_key(name))))


def concepts_by_key(ontology: OntologyRows) -> dict[int, int]:
    """Return the key of the curated concept for each key of a slug, name or alias."""
    return {
        key: row.key for row in ontology.concepts for key in row.keys or name_keys(row.slug, row.name, *row.aliases)
    }
