"""How far vectors can be trusted: what unrelated texts score, and how well the model knows a text's language.

Models differ: one gives unrelated texts a cosine of 0.1, another 0.4.  Scores that mean the same for
every model need to know, so a few questions are compared with statements about other things.

A model knows the languages that its tokenizer has words for.  Where it has single letters only, all texts look
alike to it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

from ..model import script_of
from ..model.embedder import Embedder, LocalModel
from ..text.scripts import HANGUL, UNSPACED
from . import gguf_file, registry

_QUESTIONS = (
    "Which bus goes to the harbour on Sundays?",
    "How long do lentils have to soak?",
    "Who painted the ceiling of the old theatre?",
    "What does the warranty of the washing machine cover?",
    "Why was the mountain railway closed?",
    "Which chord follows in the second verse?",
    "How do I reset the router's password?",
    "When are tulip bulbs planted?",
)
_STATEMENTS = (
    "The committee postponed its vote on the water tariff.",
    "- renamed the helper and moved its tests",
    "Her grandmother kept bees behind the mill.",
    "The disk of the backup server is almost full.",
    "We agreed on blue tiles for the bathroom.",
    "Penguins lose all their feathers at once.",
    "Invoice 2210 was paid twice by mistake.",
    "The goalkeeper broke a finger in training.",
)


def measure(embedder: Embedder) -> float:
    """Cosine that two unrelated texts rarely exceed: mean and two standard deviations of the probes'.

    Raises :class:`~openclaw_memory.errors.ModelError` when the model cannot embed.
    """
    cosines = embedder.embed_query(list(_QUESTIONS)) @ embedder.embed_documents(list(_STATEMENTS)).T
    return min(0.9, max(0.0, float(cosines.mean() + 2 * cosines.std())))


#: Characters per piece up to which a language is unknown, and from which on it is known: of scripts with letters, and
#: of those with words of one or two characters.  To an English model its language has 3.4 and more, French, Spanish or
#: German 2.5 to 2.8, Polish or Vietnamese 2.1, Russian or Chinese 1.
_LETTERS, _CHARACTERS = (1.7, 3.0), (1.0, 1.4)
_WORD = re.compile(r"[^\W\d_]+")
_IDEOGRAPHS = re.compile(f"[{UNSPACED}{HANGUL}]")
#: Words beyond so many say nothing new about the language.
_MOST_WORDS = 64


def knowledge(embedder: Embedder, text: str) -> float:
    """How well a model knows the language of ``text``, from 0 to 1; 1 where its vocabulary cannot be seen."""
    entry = registry.like(embedder.model)
    if entry is not None and entry.multilingual:
        return 1.0
    words = _WORD.findall(text)[:_MOST_WORDS]
    pieces = vocabulary(embedder.path) if isinstance(embedder, LocalModel) and words else frozenset()
    if not pieces:
        return 1.0
    known = total = 0.0
    for part in _by_alphabet(words):
        letters = sum(map(len, part))
        least, enough = _CHARACTERS if _IDEOGRAPHS.search(part[0]) else _LETTERS
        each = letters / sum(_pieces(word, pieces) for word in part)
        known += letters * min(1.0, max(0.0, (each - least) / (enough - least)))
        total += letters
    return known / total


def knows_word(embedder: Embedder, word: str) -> bool:
    """Whether a model has met ``word`` so often that it has a token of its own for it: few misspelt words are such."""
    forms = dict.fromkeys((word, word.lower(), word.title(), _bare(word)))
    return isinstance(embedder, LocalModel) and gguf_file.has_word(embedder.path, *forms)


def _bare(word: str) -> str:
    """``word`` in small letters, without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _by_alphabet(words: list[str]) -> list[list[str]]:
    """Words of characters that stand for words or syllables, those in Latin letters, and those in other ones."""
    out: dict[int, list[str]] = {}
    for word in words:
        out.setdefault(2 if _IDEOGRAPHS.search(word) else 0 if word.isascii() else script_of(word), []).append(word)
    return list(out.values())


def _pieces(word: str, pieces: frozenset[str]) -> int:
    """Pieces that ``word`` falls into, the longest first; of the ways to write it, the one with the fewest."""
    return min(_cut(form, pieces) for form in dict.fromkeys((word, word.lower(), _bare(word))))


def _cut(word: str, pieces: frozenset[str], longest: int = 16) -> int:
    at = count = 0
    while at < len(word):
        ends = range(min(len(word), at + longest), at, -1)
        at = next((end for end in ends if word[at:end] in pieces), at + 1)
        count += 1
    return max(count, 1)


@lru_cache(maxsize=2)
def vocabulary(path: Path) -> frozenset[str]:
    """The tokenizer's pieces of more than one character; empty where the file has none that can be read.

    Nor are those of a vocabulary of bytes, whose pieces need not be whole characters.
    """
    return frozenset(piece for piece in _pieces_of(path) if len(piece) > 1)


@lru_cache(maxsize=2)
def _characters(path: Path) -> frozenset[str]:
    """The characters that the tokenizer has pieces of; empty where it has one for any, or that cannot be seen."""
    pieces = _pieces_of(path)
    return frozenset() if "<0x00>" in pieces else frozenset().union(*pieces)


def _pieces_of(path: Path) -> list[str]:
    tokens = gguf_file.metadata(path, "tokenizer.ggml.tokens").get("tokenizer.ggml.tokens", [])
    try:
        pieces = [token.decode("utf-8").removeprefix("\u2581") for token in tokens]
    except ValueError:
        return []
    return [] if any(piece.startswith("\u0120") for piece in pieces) else pieces


def without_unknown(path: Path, text: str) -> str:
    """``text`` with blanks for the characters that a model has no token of: all of them would be one and the same."""
    if text.isascii() or not (known := _characters(path)):
        return text
    unknown = {c for c in set(text) - known if unicodedata.category(c)[0] not in "CZ"}
    plain = {c: _bare(unicodedata.normalize("NFKC", c)) for c in unknown}
    return text.translate({ord(c): " " for c in unknown if not known.issuperset(plain[c])})
