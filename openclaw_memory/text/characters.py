"""Normalise variants of a character: of Chinese and Japanese, of Arabic keyboards, digits of any script."""

from __future__ import annotations

from functools import cache

from . import word_lists

#: An alef with or without its hamza, and kaf and yeh as Arabic and as Persian keyboards have them; a stroke that only
#: draws a word out is none.
_ARABIC = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ک": "ك", "ی": "ي", "ـ": ""}
#: The zero of each script whose digits stand in numbers as 0 to 9 do.
_ZEROS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"


def join_surrogates(text: str) -> str:
    """Return ``text`` with halves of a character joined, as JSON and YAML write them, and U+FFFD for a lone half."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache
def equivalents() -> dict[int, str]:
    """Return a table for ``str.translate`` that replaces each variant of a character."""
    same = {ord(written): read for written, read in _ARABIC.items()}
    same |= {ord(zero) + n: str(n) for zero in _ZEROS for n in range(10)}
    for _, line in word_lists.lines_of(__package__, "characters.txt"):
        same |= {ord(pair[0]): pair[1] for pair in line.split()}
    return same
