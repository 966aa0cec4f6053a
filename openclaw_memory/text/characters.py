"""Normalise variants of a character: of Chinese and Japanese, of Arabic keyboards, digits of any script."""

from __future__ import annotations

from functools import cache

from . import word_lists


def join_surrogates(text: str) -> str:
    """Return ``text`` with halves of a character joined, as JSON and YAML write them, and U+FFFD for a lone half."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache
def equivalents() -> dict[int, str]:
    """Return a table for ``str.translate`` that replaces each variant of a character."""
    # An alef with or without its hamza, and kaf and yeh of Arabic and of Persian keyboards; a stroke that only draws a
    # word out counts nothing.
    arabic = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ک": "ك", "ی": "ي", "ـ": ""}
    # The zero of each script whose digits stand in numbers as 0 to 9 do.
    zeros = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
    same = {ord(written): read for written, read in arabic.items()}
    same |= {ord(zero) + n: str(n) for zero in zeros for n in range(10)}
    for _, line in word_lists.lines_of(__package__, "characters.txt"):
        same |= {ord(pair[0]): pair[1] for pair in line.split()}
    return same
