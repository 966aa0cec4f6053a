"""Ranges of Unicode blocks by script, for a character class ``[…]``.

``forget.words`` keeps ranges of its own: hashes of forgotten words depend on them for good.
"""

from __future__ import annotations

from .. import patterns as re

#: Chinese characters, with their marks of repetition and the ideographic zero.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
#: Hiragana and katakana, with the small and the half-width ones.
KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
#: Hiragana, in which Japanese writes particles and endings.
HIRAGANA = "\u3040-\u309f"
#: Greek, with its accented letters.
GREEK = "\u0370-\u03ff\u1f00-\u1fff"
#: Korean syllables, which spaces divide into words that particles are a part of.
HANGUL = "\uac00-\ud7af"
#: Thai, Lao, Burmese and Khmer.
SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"

#: Devanagari to Sinhala, without the signs that end a sentence: a vowel that is written as a sign is part of its word.
INDIC = "\u0900-\u0963\u0966-\u0dff"
#: Vowel points of Hebrew and Arabic, which most texts leave out, and the stroke that only draws a word out.
POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"

#: Scripts without spaces between words.
UNSPACED = SOUTH_EAST_ASIAN + KANA + HAN
#: Scripts without capital letters: those above, Hebrew and Arabic to Sinhala, and Tibetan.
UNCASED = "\u0590-\u0dff\u0f00-\u0fff" + UNSPACED + HANGUL


def letter(script: str) -> re.Pattern[str]:
    """Return a pattern for a character of one of the ranges above."""
    return re.compile(f"[{script}]")


#: A character of a script without spaces between words, of one of these or Korean, and of a script without capitals.
UNSPACED_LETTER, JOINED_LETTER, UNCASED_LETTER = letter(UNSPACED), letter(UNSPACED + HANGUL), letter(UNCASED)
