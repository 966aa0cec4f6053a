"""Compare values as they are written."""

from __future__ import annotations

import unicodedata

from .. import patterns as re
from ..text.negation import negations
from .headings import ASIDE

#: All but letters, digits and the signs within a number.
_SIGNS = re.compile(r"[^\w.,-]+|(?<!\w)[.,-]+|[.,-]+(?!\w)")


def fold_value(text: str) -> str:
    """Return ``text`` for comparison as a value: in small letters, with single blanks, without outer punctuation."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!\"'`“”‘’*_")


def is_same_value(first: str, second: str) -> bool:
    """Return true if two folded values differ only in signs and remarks, or one extends the other.

    "Running (2 processes)", "✅ Running" and "Running on port 80" are alike; "not running" is not.
    """
    if first == second:
        return True
    bare = [ASIDE.sub(" ", value) for value in (first, second)]
    short, long = sorted((_SIGNS.sub(" ", value).split() for value in bare), key=len)
    return bool(short) and long[: len(short)] == short and bool(negations(bare[0])) == bool(negations(bare[1]))
