"""How long a text is, in tokens and in characters, and its two ends.

A token is estimated by script, as tokenizers of language models cut text: they have whole words of what is written in
ASCII, pieces of words of other alphabets, and 0.6 to 1 token for each Chinese, Japanese or Korean character.
"""

from __future__ import annotations

import re

#: Characters per token of ASCII text.
CHARS_PER_TOKEN = 4
#: Characters per token of other letters, accented ones included.
_CHARS_PER_OTHER_TOKEN = 2.5
#: Tokens per character of Han, kana, Hangul, full-width forms and pictographs.
_TOKENS_PER_WIDE = 0.7
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f\U0001f000-\U0003ffff]+")


def ends(text: str, first: int, last: int) -> str:
    """All of ``text``, or of a longer one its ``first`` and its ``last`` characters."""
    return text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"


def tokens_of(text: str) -> float:
    """Length of ``text`` in tokens."""
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN
    plain = len(text.encode("ascii", "ignore"))
    wide = sum(map(len, _WIDE.findall(text)))
    return plain / CHARS_PER_TOKEN + wide * _TOKENS_PER_WIDE + (len(text) - plain - wide) / _CHARS_PER_OTHER_TOKEN


def chars_of(tokens: float, text: str) -> int:
    """How many characters of a text that is written like ``text`` that many tokens pay for."""
    return int(tokens * (len(text) / tokens_of(text) if text else CHARS_PER_TOKEN))
