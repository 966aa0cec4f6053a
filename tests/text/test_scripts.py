"""The ranges of scripts against the names that Unicode gives their characters."""

import re
import unicodedata

import pytest

from openclaw_memory.plugins.redact.below import passes_in_cell
from openclaw_memory.text.scripts import HAN, HANGUL, KANA, SOUTH_EAST_ASIAN, UNCASED, UNSPACED
from openclaw_memory.use.tracker import _words


@pytest.mark.parametrize(
    ("script", "names"),
    [
        (HAN, "CJK UNIFIED IDEOGRAPH|CJK COMPATIBILITY IDEOGRAPH|IDEOGRAPHIC"),
        (KANA, "HIRAGANA|KATAKANA|HALFWIDTH KATAKANA"),
        (HANGUL, "HANGUL SYLLABLE"),
        (SOUTH_EAST_ASIAN, "THAI|LAO|MYANMAR|KHMER"),
    ],
)
def test_a_script_has_no_letters_of_another(script: str, names: str) -> None:
    inside = re.compile(f"[{script}]")
    for character in filter(str.isalpha, map(chr, range(0x31350))):
        if inside.match(character):
            assert re.match(names, unicodedata.name(character)), f"{ord(character):x}"


def test_what_has_no_case_has_no_capitals() -> None:
    inside = re.compile(f"[{UNCASED}]")
    assert not [c for c in map(chr, range(0x31350)) if inside.match(c) and c.lower() != c.upper()]
    assert all(inside.match(c) for c in "אبहবใພༀမខひカｶ漢々𠮷한")


@pytest.mark.parametrize("text", ["東京々〇𠮷", "ひらがなー", "カタカナㇰ", "ｶﾀｶﾅ", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ"])
def test_texts_without_spaces(text: str) -> None:
    assert re.fullmatch(f"[{UNSPACED}]+", text)


def test_rare_ideographs_count_as_the_others() -> None:
    assert _words("𠮷野家 人々 東京") == list("𠮷野家人々東京")
    assert not passes_in_cell("password", "𠮷々𠮷々")
