"""Names in the text of a unit: words with capitals, and how surely each is one by what stands around it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ..text import language
from ..text.analysis import VIETNAMESE
from ..text.dates import MONTH_NUMBERS, NAMES
from . import beside
from .kinds import is_german_noun, is_kind
from .routine import ADJECTIVE_ENDS, NAMELESS, NOUN_ENDS, listed

#: List marks, check boxes, and dates and times before the text proper, in brackets too: [Fri 2026-07-03 09:12].
_LEAD = re.compile(
    r"(?:[\s>#*+\-_|~(\"“„«]|\[[ xX]\]|\d[\d:.\-/)]*(?=\s)"
    r"|\[(?:[^\W\d]{1,4}[.,]{0,2} )?\d{1,4}[:.\-/]\d[^\]\n]{0,40}\])*+"
)
#: Capitals of the Latin, Greek and Cyrillic alphabets; scripts that write without spaces are no part of a word.
_UPPER = "[A-Z" + "".join(filter(str.isupper, map(chr, range(0xC0, 0x530)))) + "]"
_LETTER = r"[^\W\u2e80-\U0003ffff]"
_WORD = rf"{_LETTER}{{0,40}}(?:['’][A-Z]{_LETTER}{{1,40}})?(?:[-&]{_LETTER}{{1,40}}){{0,4}}"
_NAME = re.compile(
    rf"""{_UPPER}(?<![0-9A-Z_a-z\u00df-\u052f'’.@-].){_WORD}
    (?:(?:[ \n]|(?<=Dr|Mr|Ms|St|Mt)\.[ ]|(?<=Mrs)\.[ ])
        (?:(?:of(?:[ ]the)?|de(?:[ ]la|[ ]los)?|del|v[ao]n(?:[ ]de[rn]?)?|di|da|du)[ ])?{_UPPER}{_WORD}
      | [ ]\d{{1,4}}(?:\.\d{{1,3}})?(?![\w:%°/-]|[.,]\d|[ ]?(?:[KMGT]i?B|[kmKMG]?W|V|h|ms|s|kg|km|m|am|pm|AM|PM)\b)
    ){{0,5}}""",
    re.VERBOSE,
)
#: Signs that hold a word together with what is behind it.
_GOES_ON = re.compile(r"[_/-]\w|\.[ ]?\d|\.\w")
_CAPITALISED = re.compile(rf"{_UPPER}(?<![\w.'’-].)\w")


#: Small words of an alphabet, of which a sentence has some and a line in title case hardly any.
_SMALL = re.compile(r"(?<![\w.'’-])[^\W\d_A-Z][^\W\d_A-Z]{2,40}")
_FOLLOWS = re.compile(r" ([^\W\d_A-Z][^\W\d_]*)")
_BEFORE = re.compile(r"([^\W_]+)[ \n][\W_]*\Z")


def names(text: str, heading: bool, spoken: str, found: list[tuple[str, str]]) -> None:
    """Add to ``found`` the names in ``text`` without its marks, each with its rule: ``name``, ``start`` or ``plain``.

    ``spoken`` is the language of its Latin letters.
    """
    lead = _LEAD.match(text)
    body = lead.end() if lead else 0
    matches = list(_NAME.finditer(text, body))
    # Where nearly every word has a capital, one more says nothing.
    foreign = len(_FOREIGN.findall(text)) > 1
    titled = len(matches) > 1 and 3 * sum(1 for _ in _SMALL.finditer(text)) < len(_CAPITALISED.findall(text))
    for match in matches:
        words = match[0].split()
        start, end = match.span()
        if _GOES_ON.match(text, end):
            words.pop()  # "Rev. 7", "Phase-2"
        before = text[max(body, start - 8) : start].rstrip(" \n*_(")
        opens = not before or not (before[-1].isalnum() or before[-1] in ",)]&/%'’")
        after = text[end : end + 2]
        if len(after) == 2 and after[0] in "'’" and after[1].isalpha() and after[1] != "s":
            words.pop()  # "Don't", "We'll"
        # A sentence that opens with everyday words has its name behind them: "Yesterday Mira", "The Raspberry Pi".
        within, taken = beside.within(spoken), ""
        while words and (words[0].lower() in within or (opens and beside.opens(words[0], spoken))):
            taken = words.pop(0).lower()
            opens = False
        if words:
            alone = len(words) == 1 or words[1][0].isdigit()
            # What stands between a sign and a colon is a label, wherever it is: "(Modified: today)".
            inside = before[-1:].isalnum() and text[start - 1].isspace()
            label = after[:1] in (":", "：") and (opens or (bool(before) and not inside))
            # In a line of another script a Latin name has its capital for itself, wherever it stands.
            weak = (label or (opens and (heading or alone))) and not (foreign and words[0].isascii())
            if spoken == language.CAPITAL_NOUNS and not weak and alone:
                said = _BEFORE.search(text, max(0, start - 40), start)
                noun = words[0].endswith(NOUN_ENDS) or is_german_noun(words[0].lower())
                if noun or _before_noun(taken or (said[1] if said is not None else "")):
                    found.append(("plain", words[0]))
                    continue
            if spoken == VIETNAMESE and len(words) == 1 and (follows := _FOLLOWS.match(text, end)) is not None:
                # A word of several syllables has a capital on its first one.
                weak = weak or (_is_syllable(words[0]) and not language.is_stop_word(follows[1], spoken))
            # In English text its small letters elsewhere say whether a word is a name.
            if alone and (foreign or spoken != language.ENGLISH) and is_kind(words[0].lower(), spoken):
                found.append(("plain", words[0]))
            else:
                _name(words, weak or titled, spoken, found)


#: Letters of scripts other than Latin.
_FOREIGN = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff]")
#: What is said in one go: vowels, once.
_SYLLABLE = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]*")


def _is_syllable(word: str) -> bool:
    plain = "".join(filter(str.isalpha, unicodedata.normalize("NFD", word.lower())))
    return len(plain) < 8 and _SYLLABLE.fullmatch(plain) is not None


@lru_cache(maxsize=1 << 12)
def _before_noun(word: str) -> bool:
    """Whether a German noun rather than a name stands behind ``word``: an article, a number or an adjective."""
    if word.isdigit():
        return len(word) < 5
    low = word.lower()
    if low in listed("articles"):
        return True
    return (
        word.islower()
        and len(word) > 3
        and word.endswith(ADJECTIVE_ENDS)
        and not language.is_stop_word(low, language.CAPITAL_NOUNS)
    )


def _name(words: list[str], weak: bool, spoken: str, found: list[tuple[str, str]]) -> None:
    if len(words) == 2 and words[0].lower() in ("h1", "h2", "q1", "q2", "q3", "q4") and words[1].isdigit():
        return  # "H2 2026"
    if len(words) > 1 and words[0].lower() in _MONTHS and words[1][0].isdigit():
        return  # "Nov 20"
    for at, word in enumerate(words):
        if at and word.lower() in _MONTHS:  # "the PHMSA March 23 notice"
            words, weak = words[:at], weak or at == 1
            break
    if len(words) == 2 and words[1].isdigit() and len(words[1]) == 1:
        weak = True  # "Phase 2" counts
    if len(words) > 1 and all(word.isalpha() and word.isupper() for word in words):
        # Emphasis, where one is too long for an abbreviation.
        weak = weak or any(len(word) > (5 if word.isascii() else 3) for word in words)
    tails = beside.tails(spoken)
    while words and (words[-1].lower() in tails or words[-1].islower()):
        words.pop()
    if not words or not words[0][0].isupper():
        return
    name = " ".join(words)
    if len(words) == 1:
        low = name.lower()
        if len(name) > 1 and low not in NAMELESS and not language.is_stop_word(low, spoken):
            found.append(("start" if weak else "name", name))
        return
    everyday = all(word.lower() in NAMELESS for word in words) or _says_kind(words, spoken)
    found.append(("start" if weak or everyday else "name", name))
    if everyday:
        return
    if words[-1][0].isdigit():
        # "Raspberry Pi 5" is a Raspberry Pi.
        parts, rule = [words[:-1]], "start" if weak else "name"
    else:
        # "Mira Jansen" counts for "Mira" where other places speak of her.
        tail = next(at for at in range(1, len(words)) if not words[at].islower())
        parts, rule = [words[:1], words[tail:]] if len(words) < 5 else [], "start"
    for part in parts:
        if part[0][0].isupper() and (len(part) > 1 or part[0].rstrip(".").lower() not in NAMELESS):
            found.append((rule, " ".join(part)))


def _says_kind(words: list[str], spoken: str) -> bool:
    """Whether words only say of what kind something is: "Gute Idee".

    English ones in a row, each with a capital, are called so all the same.
    """
    german = spoken == language.CAPITAL_NOUNS
    own = language.of_script(words[0].lower()) or spoken
    return own != language.ENGLISH and all(
        is_kind(low, own)
        or low in NAMELESS
        or language.is_stop_word(low, own)
        or (german and low.endswith(ADJECTIVE_ENDS if at + 1 < len(words) else NOUN_ENDS) and len(low) > 3)
        for at, low in enumerate(map(str.lower, words))
    )


_MONTHS = NAMES | MONTH_NUMBERS.keys()
