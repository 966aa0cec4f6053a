"""How far vectors can be trusted: what unrelated texts score, and how well the model knows a text's language.

Models differ: one gives unrelated texts a cosine of 0.1, another 0.4.  Scores that mean the same for
every model need to know, so a few questions are compared with statements about other things.

A model knows the languages that its tokenizer has words for.  Where it has single letters only, all texts look
alike to it.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path

from ..model import script_of
from ..model.embedder import Embedder
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
_LONGEST_PIECE = 16
#: Words beyond so many say nothing new about the language.
_MOST_WORDS = 64


def knowledge(embedder: Embedder, text: str) -> float:
    """How well a model knows the language of ``text``, from 0 to 1; 1 where its vocabulary cannot be seen."""
    entry = registry.like(embedder.model)
    if entry is not None and entry.multilingual:
        return 1.0
    words = _WORD.findall(text)[:_MOST_WORDS]
    path = _file(embedder)
    pieces = vocabulary(path) if path is not None and words else array("q")
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
    path = _file(embedder)
    forms = dict.fromkeys((word, word.lower(), word.title(), _bare(word)))
    return path is not None and gguf_file.has_word(path, *forms)


def _file(embedder: Embedder) -> Path | None:
    path = getattr(getattr(embedder, "inner", embedder), "path", None)
    return None if path is None else Path(path)


def _bare(word: str) -> str:
    """``word`` in small letters, without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _by_alphabet(words: list[str]) -> list[list[str]]:
    """Words of characters that stand for words or syllables, those in Latin letters, and those in other ones."""
    out: dict[int, list[str]] = {}
    for word in words:
        out.setdefault(2 if _IDEOGRAPHS.search(word) else 0 if word.isascii() else script_of(word), []).append(word)
    return list(out.values())


def _pieces(word: str, pieces: array[int]) -> int:
    """Pieces that ``word`` falls into, the longest first; of the ways to write it, the one with the fewest."""
    return min(_cut(form, pieces) for form in dict.fromkeys((word, word.lower(), _bare(word))))


def _cut(word: str, pieces: array[int]) -> int:
    at = count = 0
    while at < len(word):
        ends = range(min(len(word), at + _LONGEST_PIECE), at, -1)
        at = next((end for end in ends if _holds(pieces, word[at:end])), at + 1)
        count += 1
    return max(count, 1)


def _holds(pieces: array[int], piece: str) -> bool:
    at = bisect_left(pieces, hash(piece))
    return at < len(pieces) and pieces[at] == hash(piece)


@lru_cache(maxsize=2)
def vocabulary(path: Path) -> array[int]:
    """The tokenizer's pieces of more than one character; empty where the file has none that can be read.

    Their hashes, in order: as text they take fifteen times as much memory.
    """
    tokens = gguf_file.metadata(path, "tokenizer.ggml.tokens").get("tokenizer.ggml.tokens", [])
    try:
        return array("q", sorted(hash(piece) for token in tokens if len(piece := _piece(token)) > 1))
    except ValueError:
        return array("q")


def _piece(token: bytes) -> str:
    """A token as it stands in a text: without the mark of a word's beginning, and with bytes read as UTF-8."""
    text = token.decode("utf-8").removeprefix("\u2581").removeprefix("\u0120")
    try:
        return bytes(_BYTES[c] for c in text).decode("utf-8", "ignore")
    except KeyError:
        return text


def _bytes() -> dict[str, int]:
    """Which byte each character stands for in a vocabulary of bytes, as GPT-2 has it."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + at): byte for at, byte in enumerate(others)}


_BYTES = _bytes()
