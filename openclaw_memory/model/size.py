"""Length of a text in tokens and in characters, and its two ends.

Tokens are estimated by script, as tokenizers of language models cut text: into whole words in Latin, Cyrillic or Greek
letters, into pieces of words in other alphabets, and into 0.6 to 1 token for a Chinese, Japanese or Korean character.
"""

from __future__ import annotations

from .. import patterns as re

#: Characters per token of text in Latin, Cyrillic or Greek letters, with spaces and punctuation.
CHARS_PER_TOKEN = 4
#: Other alphabets, from Armenian on, as ranges of a character class.
_FURTHER = "\u0530-\u1cff\u2c00-\u2e7f\ua000-\uabff\ufb13-\ufdff\ufe70-\ufeff"
_OTHER = re.compile(f"[{_FURTHER}]+")
#: Han, kana, Hangul, full-width forms and pictographs.
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f\U0001f000-\U0003ffff]+")
#: Alphabets but for the Latin one.
_ALPHABETS = re.compile(f"[\u0370-\u052f{_FURTHER}]+")


def keep_ends(text: str, first: int, last: int) -> str:
    """Return ``text``; if it is longer, only its ``first`` and its ``last`` characters."""
    return text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"


def tokens_of(text: str) -> float:
    """Return the length of ``text`` in tokens."""
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN
    wide, other = (sum(map(len, some.findall(text))) for some in (_WIDE, _OTHER))
    return (len(text) - wide - other) / CHARS_PER_TOKEN + wide * 0.7 + other / 2.5


def script_of(text: str) -> int:
    """Return the script of ``text``: 0 for Latin letters, 1 for another alphabet, 2 for Chinese, Japanese or Korean.

    A third of the characters decides; a ninth of wide ones for 1 and three eighths for 2, as each says more.
    """
    if text.isascii():
        return 0
    wide, other = (sum(map(len, some.findall(text))) for some in (_WIDE, _ALPHABETS))
    share = (3 * wide + other) / len(text)
    return 2 if share >= 9 / 8 else int(share >= 1 / 3)


def chars_of(tokens: float, text: str) -> int:
    """Return the number of characters that ``tokens`` tokens take in the script of ``text``."""
    return int(tokens * (len(text) / tokens_of(text) if text else CHARS_PER_TOKEN))
