"""The vocabulary of a model's tokenizer: which languages, words and characters the model knows.

A model knows the languages that its tokenizer has words for.  Where it has single letters only, all texts look
alike to it.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

from .. import patterns as re
from ..model import script_of
from ..model.embedder import Embedder, LocalModel
from ..text.scripts import HANGUL, UNSPACED
from . import gguf_file, registry

_IDEOGRAPHS = re.compile(f"[{UNSPACED}{HANGUL}]")


def language_coverage(embedder: Embedder, text: str) -> float:
    """Return how well a model knows the language of ``text``, in [0, 1]; 1 where its vocabulary cannot be read."""
    entry = registry.find_similar(embedder.model)
    if entry is not None and entry.multilingual:
        return 1.0
    words = re.findall(r"[^\W\d_]+", text)[:64]  # enough to judge a language by
    pieces = vocabulary(embedder.path) if isinstance(embedder, LocalModel) and words else frozenset()
    if not pieces:
        return 1.0
    covered = total = 0.0
    for group in _by_alphabet(words):
        # Characters per piece at which a language is unknown, and at which it is known.  To an English model its
        # language has 3.8 and more, Spanish or Portuguese 2.5 to 3.6, Polish or Vietnamese 2.4, Russian or Chinese 1;
        # words of ideographs have one or two characters.  A shorter word could not have as many in any language.
        least, enough = (1.0, 1.4) if _IDEOGRAPHS.search(group[0]) else (1.7, 3.4)
        group = [word for word in group if len(word) > enough] or group
        letters = sum(map(len, group))
        piece_length = letters / sum(_count_pieces(word, pieces) for word in group)
        covered += letters * min(1.0, max(0.0, (piece_length - least) / (enough - least)))
        total += letters
    return covered / total


def knows_word(embedder: Embedder, word: str) -> bool:
    """Return true if the model has a token of its own for ``word``, as for frequent words and few misspelt ones."""
    forms = dict.fromkeys((word, word.lower(), word.title(), _without_accents(word)))
    return isinstance(embedder, LocalModel) and gguf_file.has_word(embedder.path, *forms)


def _without_accents(word: str) -> str:
    """Return ``word`` in lower case, without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _by_alphabet(words: list[str]) -> list[list[str]]:
    """Group words by script: characters that stand for words or syllables, Latin letters, each other alphabet."""
    groups: dict[int, list[str]] = {}
    for word in words:
        script = 2 if _IDEOGRAPHS.search(word) else 0 if word.isascii() else script_of(word)
        groups.setdefault(script, []).append(word)
    return list(groups.values())


def _count_pieces(word: str, pieces: frozenset[str]) -> int:
    """Count the pieces of ``word``, longest match first, in the spelling that has the fewest."""
    return min(_cut(form, pieces) for form in dict.fromkeys((word, word.lower(), _without_accents(word))))


def _cut(word: str, pieces: frozenset[str], longest: int = 16) -> int:
    at = count = 0
    while at < len(word):
        ends = range(min(len(word), at + longest), at, -1)
        at = next((end for end in ends if word[at:end] in pieces), at + 1)
        count += 1
    return max(count, 1)


@lru_cache(maxsize=2)
def vocabulary(path: Path) -> frozenset[str]:
    """Return the tokenizer's pieces of more than one character; empty where the file cannot be read.

    A vocabulary of bytes is empty too, as its pieces need not be whole characters.
    """
    return frozenset(piece for piece in _read_pieces(path) if len(piece) > 1)


@lru_cache(maxsize=2)
def _characters(path: Path) -> frozenset[str]:
    """Return the characters that occur in pieces; empty if the model can spell any, or its file cannot be read."""
    pieces = _read_pieces(path)
    return frozenset() if "<0x00>" in pieces else frozenset().union(*pieces)


def _read_pieces(path: Path) -> list[str]:
    tokens = gguf_file.metadata(path, "tokenizer.ggml.tokens").get("tokenizer.ggml.tokens", [])
    try:
        pieces = [token.decode("utf-8").removeprefix("\u2581") for token in tokens]
    except ValueError:
        return []
    return [] if any(piece.startswith("\u0120") for piece in pieces) else pieces


def blank_unknown_characters(path: Path, text: str) -> str:
    """Replace the characters without a token by blanks: the model would take all of them for one."""
    if text.isascii() or not (characters := _characters(path)):
        return text
    unknown = {c for c in set(text) - characters if unicodedata.category(c)[0] not in "CZ"}
    plain = {c: _without_accents(unicodedata.normalize("NFKC", c)) for c in unknown}
    return text.translate({ord(c): " " for c in unknown if not characters.issuperset(plain[c])})
