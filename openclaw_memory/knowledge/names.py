"""Names in the text of a unit: words with capitals, each with a rule that says how surely it is a name."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from .. import patterns as re
from ..text import calendar_words, language
from ..text.analysis import STOP_WORDS, VIETNAMESE
from ..text.dates import MONTH_NUMBERS, NAMES
from .lexicon import NAMELESS, is_generic_noun, is_german_noun, routine_endings, routine_words

#: List marks, check boxes, and dates and times before the text proper, in brackets too: [Fri 2026-07-03 09:12].
_LEAD = re.compile(
    r"(?:[\s>#*+\-_|~(\"“„«]|\[[ xX]\]|\d[\d:.\-/)]*(?=\s)"
    r"|\[(?:[^\W\d]{1,4}[.,]{0,2} )?\d{1,4}[:.\-/]\d[^\]\n]{0,40}\])*+"
)
#: Capitals of the Latin, Greek and Cyrillic alphabets; scripts that write without spaces are no part of a word.
UPPER = "A-Z" + "".join(filter(str.isupper, map(chr, range(0xC0, 0x530))))
_UPPER = f"[{UPPER}]"
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
#: Signs that hold a word together with the text behind it.
_GOES_ON = re.compile(r"[_/-]\w|\.[ ]?\d|\.\w")
_CAPITALISED = re.compile(rf"{_UPPER}(?<![\w.'’-].)\w")
#: Words in small letters: a sentence has some, a line in title case hardly any.
_SMALL = re.compile(r"(?<![\w.'’-])[^\W\d_A-Z][^\W\d_A-Z]{2,40}")
_FOLLOWS = re.compile(r" ([^\W\d_A-Z][^\W\d_]*)")
_BEFORE = re.compile(r"([^\W_]+)[ \n][\W_]*\Z")
#: Letters of scripts other than Latin.
_FOREIGN = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff]")
#: A syllable: vowels, once.
_SYLLABLE = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]*")
_MONTHS = NAMES | MONTH_NUMBERS.keys()


def add_names(text: str, heading: bool, spoken: str, spellings: list[tuple[str, str]]) -> None:
    """Append the names in ``text``, which has no marks, to ``spellings`` as (rule, name).

    The rule is ``name``, ``start`` (weak evidence) or ``plain`` (a common noun).  ``spoken`` is the language of the
    Latin letters.
    """
    lead = _LEAD.match(text)
    body = lead.end() if lead else 0
    matches = list(_NAME.finditer(text, body))
    foreign = len(_FOREIGN.findall(text)) > 1
    # Where nearly every word has a capital, a capital is no evidence.
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
        article = ""
        while words and (words[0].lower() in _leading_words(spoken) or (opens and _opens_sentence(words[0], spoken))):
            article = words.pop(0).lower()
            opens = False
        if not words:
            continue
        alone = len(words) == 1 or words[1][0].isdigit()
        # The text between a sign and a colon is a label, wherever it stands: "(Modified: today)".
        inside = before[-1:].isalnum() and text[start - 1].isspace()
        label = after[:1] in (":", "：") and (opens or (bool(before) and not inside))
        # In a line of another script a Latin name does not owe its capital to its place.
        weak = (label or (opens and (heading or alone))) and not (foreign and words[0].isascii())
        if spoken == language.CAPITAL_NOUNS and not weak and alone:
            previous = _BEFORE.search(text, max(0, start - 40), start)
            noun = words[0].endswith(routine_endings("noun-ends")) or is_german_noun(words[0].lower())
            if noun or _precedes_noun(article or (previous[1] if previous is not None else "")):
                spellings.append(("plain", words[0]))
                continue
        if spoken == VIETNAMESE and len(words) == 1 and (follows := _FOLLOWS.match(text, end)) is not None:
            # A word of several syllables has a capital on its first one.
            letters = "".join(filter(str.isalpha, unicodedata.normalize("NFD", words[0].lower())))
            syllable = len(letters) < 8 and _SYLLABLE.fullmatch(letters) is not None
            weak = weak or (syllable and not language.is_stop_word(follows[1], spoken))
        # In English text the small letters elsewhere decide whether a word is a name.
        if alone and (foreign or spoken != language.ENGLISH) and is_generic_noun(words[0].lower(), spoken):
            spellings.append(("plain", words[0]))
        else:
            _add_name(words, weak or titled, spoken, spellings)


def _add_name(words: list[str], weak: bool, spoken: str, spellings: list[tuple[str, str]]) -> None:
    """Append the name that ``words`` are, and the parts by which other places may call it."""
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
        # A word too long for an abbreviation is emphasis.
        weak = weak or any(len(word) > (5 if word.isascii() else 3) for word in words)
    while words and (words[-1].lower() in _trailing_words(spoken) or words[-1].islower()):
        words.pop()
    if not words or not words[0][0].isupper():
        return
    name = " ".join(words)
    if len(words) == 1:
        low = name.lower()
        if len(name) > 1 and low not in NAMELESS and not language.is_stop_word(low, spoken):
            spellings.append(("start" if weak else "name", name))
        return
    everyday = all(word.lower() in NAMELESS for word in words) or _says_kind(words, spoken)
    spellings.append(("start" if weak or everyday else "name", name))
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
            spellings.append((rule, " ".join(part)))


@lru_cache(maxsize=1 << 12)
def _precedes_noun(word: str) -> bool:
    """Return true if a German noun rather than a name follows ``word``: an article, a number or an adjective."""
    if word.isdigit():
        return len(word) < 5
    low = word.lower()
    if low in routine_words("articles"):
        return True
    adjective = word.islower() and len(word) > 3 and word.endswith(routine_endings("adjective-ends"))
    return adjective and not language.is_stop_word(low, language.CAPITAL_NOUNS)


def _says_kind(words: list[str], spoken: str) -> bool:
    """Return true if words of another language than English only describe a kind: "Gute Idee".

    English words in a row that each have a capital are a name all the same.
    """
    german = spoken == language.CAPITAL_NOUNS
    tongue = language.script_language(words[0].lower()) or spoken
    return tongue != language.ENGLISH and all(
        is_generic_noun(low, tongue)
        or low in NAMELESS
        or language.is_stop_word(low, tongue)
        or (
            german
            and low.endswith(routine_endings("adjective-ends" if at + 1 < len(words) else "noun-ends"))
            and len(low) > 3
        )
        for at, low in enumerate(map(str.lower, words))
    )


# -- words beside a name --------------------------------------------------------------------------


@cache
def _trailing_words(spoken: str) -> frozenset[str]:
    """Return the days, months and units that may follow a name in a text of the language ``spoken``.

    Words of other alphabets than the Latin one count in every text, as they mean nothing else.
    """
    others = (filter(language.script_language, _calendar_words(name)) for name in calendar_words.known_languages())
    return routine_words("tails").union(_calendar_words(language.ENGLISH), _calendar_words(spoken), *others)


@cache
def _leading_words(spoken: str) -> frozenset[str]:
    """Return the words that have a capital before a name inside a sentence: "see The Raspberry Pi"."""
    return STOP_WORDS | _trailing_words(spoken)


def _opens_sentence(word: str, spoken: str) -> bool:
    """Return true if a sentence may begin with ``word`` before a name: an everyday word, an article or a day.

    Abbreviations are words of no other language than English.
    """
    low = word.lower()
    return low in NAMELESS or (low in _openers(spoken) and (len(word) == 1 or not word.isupper()))


@cache
def _openers(spoken: str) -> frozenset[str]:
    stops = language.stop_words()
    spoken_stops = stops.get(spoken, frozenset()) if spoken != language.ENGLISH else frozenset()
    return _trailing_words(spoken).union(
        spoken_stops, *(filter(language.script_language, words) for words in stops.values())
    )


def _calendar_words(name: str) -> frozenset[str]:
    """Return single words for days and months, without those that are names of people or mean something else."""
    keys = calendar_words.phrases_by_key(name)
    kinds = ("weekday", "month", "relative")
    forms = {word for key, words in keys.items() if key.partition(".")[0] in kinds for word in words}
    return frozenset(filter(language.LETTERS.fullmatch, forms)).difference(keys.get("doubtful", ()))
