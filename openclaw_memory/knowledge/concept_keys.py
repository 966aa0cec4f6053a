"""The identity of a concept: one key for all spellings of a name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ..store.api import OntologyRows
from ..text import analysis, language

_APART = re.compile(r"[^\w]+|_+")
#: Marks that tell one language's name from another's: C, C++, C#.
_PLUSES, _SHARP = re.compile(r"(?<=\w)\+\+"), re.compile(r"(?<=\w)#(?!\w)")


def slug(name: str) -> str:
    """``name`` in small letters, its words joined by hyphens: how a person writes it in a command or a file.

    Empty when ``name`` has no letter or digit.
    """
    if name.isascii() and name.replace(" ", "").isalpha():
        return "-".join(name.lower().split())
    name = _SHARP.sub(" sharp", _PLUSES.sub(" plus plus", analysis.POSSESSIVE.sub("", name)))
    text = unicodedata.normalize("NFKC", name).casefold()
    return "-".join(part for part in _APART.split(text) if part)


@lru_cache(maxsize=1 << 16)
def concept_key(name: str) -> int:
    """63-bit key of a name: the same for its spellings in capitals, with hyphens, in the plural, and in
    the cases of its language where a stemmer knows the script.

    0 when ``name`` has no letter or digit.
    """
    words = slug(name).split("-")
    if words == [""]:
        return 0
    return analysis.unit_hash("\0".join(map(_stem, words))) or 1


def _stem(word: str) -> str:
    """The stem of a word in the language of its script; English for Latin letters.

    What takes four letters off makes another word of an English one: Excel is no excellence, an organ no organisation.
    """
    known = language.ENGLISH if word.isascii() else language.of_script(word) or language.ENGLISH
    stem = language.stems([word], known)[0]
    if word.isascii():
        one = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
        return stem if len(one) - len(stem) < 4 else one
    return stem


def name_keys(*names: str) -> tuple[int, ...]:
    """The keys of ``names``, each once."""
    return tuple(dict.fromkeys(key for name in names if (key := concept_key(name))))


def owners(ontology: OntologyRows) -> dict[int, int]:
    """The key of the curated concept that each key of a slug, name or alias stands for."""
    return {
        key: row.key for row in ontology.concepts for key in row.keys or name_keys(row.slug, row.name, *row.aliases)
    }
