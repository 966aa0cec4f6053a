"""Judge whether the value beside a label is a secret: a word, an amount, a path or a reference is none."""

from __future__ import annotations

from functools import cache

from ... import patterns as re
from ...text import word_lists
from ...text.scripts import UNCASED
from .opaque import is_public, is_random

#: Kinds whose values may be short, or a word.
PASSWORDS = frozenset({"password", "pin", "login"})
_ENDS = re.compile(r"[*_`~\"')\]}.!?]*\s*(?:$|[,;|，。；、!)(（<&\]}]|#\s|//|--|—|–|\\n)")
_HEX_KEY = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,64}")
_WORDS_IN_QUOTES = re.compile(r"(?:[^\W\d_]{2,16}[ -]){3,9}[^\W\d_]{2,16}")
# References to elsewhere, calls, paths, dates and earlier marks: values that are no secret.
_REFERENCE = re.compile(
    r"""(?:x{3,}|\*{3,}|•{3,}|\.{3,}|-{2,}|_{3,})$
        |your[-_ ]|my[-_]|\$\{|\$\(|\$[A-Za-z_]\w*$|<[^<>]*>?$|\{\{?.*\}\}?$|\{\{|\[[^\]]*\]?$|\(|%[A-Za-z_]+%?$|%\(|process\.env
        |~?\.{0,2}/[\w.-]*(?:/|$)|~/|[A-Za-z]:\\|\w{1,12}://|www\.|mailto:|[A-Za-z_][\w.]{0,80}[(\[]|\d{4}-\d\d(?:-\d\d)?(?!\d)
        |\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d|[@\#][A-Za-z]\w*$|!\w+$|\|$|>$|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,}$
        |.*\[redacted:""",
    re.IGNORECASE | re.VERBOSE,
)
QUANTITY = re.compile(
    r"[<>~≈±+-]?v?\d+(?:[.,]\d+)+\S*|[<>~≈±+-]{0,2}\d+(?:[^\W\d_]{1,4}|-[^\W\d_]+)|\d+%|\d{1,3}(?:[-–/]\d{1,3})+|[<>~≈±+-]\d+",
    re.ASCII,
)
_SLUG = re.compile(r"[A-Za-z]++\d{0,3}(?:[-_./:][A-Za-z]*+\d{0,4})*+", re.ASCII)
_SYMBOLS = frozenset("!@#$%^&*?=+~\\<>{}[]()")
#: Places where digits and letters follow one another.
_TURN = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
UNCASED_LETTER = re.compile(f"[{UNCASED}]")


@cache
def words() -> dict[str, dict[str, set[str]]]:
    """Return the entries of ``labels.txt`` by the title above them, each with its languages."""
    entries: dict[str, dict[str, set[str]]] = {}
    for title, line in word_lists.lines_of(__package__, "labels.txt"):
        language, _, listed = line.partition(":")
        for word in listed.split(","):
            entries.setdefault(title, {}).setdefault(word.strip(), set()).add(language)
    return entries


def is_no_secret(value: str) -> bool:
    """Return true if a value is a word that stands where a secret might, or refers to elsewhere."""
    return value.lower() in words()["nothing"] or _REFERENCE.match(value) is not None


def has_digit_or_symbol(value: str) -> bool:
    """Return true if a value holds a character that no plain word does."""
    return any(map(str.isdigit, value)) or _has_symbol(value)


def _has_symbol(value: str) -> bool:
    return not _SYMBOLS.isdisjoint(value.rstrip("!?"))


def is_secret(kind: str, value: str, connection: str, line: str, end: int) -> bool:
    """Return true if ``value``, which ends at ``end`` of ``line``, is a secret of the ``kind`` that a label announces.

    ``connection`` is what joins it to its label: a ``strong`` sign, a ``weak`` verb, a mere ``space``, quotes behind a sign
    (``quoted``), or an assignment to a variable of the environment (``env``).
    """
    if len(value) < 4 or is_no_secret(value):
        return False
    digit, letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    symbol = _has_symbol(value)
    if connection == "env":
        return True
    if connection == "space":
        if kind == "password" and mixes_letters_and_digits(value) and _ENDS.match(line, end):
            return True
        made_up = symbol or is_random(value, 8)
        return kind != "pin" and digit and letter and made_up and len(value) >= 8 and not _SLUG.fullmatch(value)
    if kind in PASSWORDS:
        return _is_password(kind, value, connection, _ENDS.match(line, end) is not None)
    if kind == "passphrase" and _WORDS_IN_QUOTES.fullmatch(value):
        return connection == "quoted" or (connection == "strong" and " " not in value)
    if any(map(str.isspace, value)):
        return False
    if kind == "passphrase":
        return len(value) >= 5 and (digit or symbol) and letter and not QUANTITY.fullmatch(value)
    if is_random(value, digits=0):
        return True
    if not value.isascii() or _SLUG.fullmatch(value):
        return False
    if not letter:
        return digit and len(value) >= 16 and connection != "weak"
    if symbol or (digit and any(map(str.islower, value)) and any(map(str.isupper, value))):
        return len(value) >= 8 and (digit or connection in ("strong", "quoted")) and not QUANTITY.fullmatch(value)
    return digit and len(value) >= (8 if connection == "quoted" else 12)


def _is_password(kind: str, value: str, connection: str, ends: bool) -> bool:
    """Return true if ``value`` is a password; ``ends`` is true if the clause ends behind it."""
    digit, letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    symbol = _has_symbol(value)
    if any(map(str.isspace, value)):
        return connection == "quoted" and digit
    if not letter:
        return digit and (len(value) <= 16 or symbol) and (connection != "weak" or ends)
    if kind == "pin" and not digit:
        return False
    if connection == "quoted" or symbol:
        return True
    if digit:
        is_prose = connection == "weak" and "-" in value and _SLUG.fullmatch(value) is not None
        return not QUANTITY.fullmatch(value) and not is_prose
    # A plain word is a password where nothing follows that would make it the beginning of a sentence.
    plain = _NAME.fullmatch(value) is not None or not _SLUG.fullmatch(value)
    return connection == "strong" and plain and not UNCASED_LETTER.search(value) and ends


def mixes_letters_and_digits(value: str) -> bool:
    """Return true if a value is one word of letters and digits and no amount, as people write passwords."""
    mixed = len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and not (set("-_./:\\").intersection(value) or QUANTITY.fullmatch(value) or is_no_secret(value))


def looks_invented(value: str) -> bool:
    """Return true if a value mixes letters and digits as passwords do, and is no amount and no reference."""
    return (mixes_letters_and_digits(value) or looks_random(value)) and not is_no_secret(value)


def is_keylike(value: str, before: str, announced: bool = False) -> bool:
    """Return true if ``value`` could be a key by itself, and no text ``before`` calls it a hash or an address.

    Where a verb or a sign stands directly before it, it may be a UUID, or of small letters and digits alone.
    """
    value = value.strip(".=-")
    if is_public(before) or _REFERENCE.match(value):
        return False
    return is_random(value) or _HEX_KEY.fullmatch(value) is not None or (announced and len(_TURN.findall(value)) >= 5)


def looks_random(value: str) -> bool:
    """Return true if letters and digits alternate as in no name and no amount."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and len(value) >= 6 and not _SLUG.fullmatch(value) and not QUANTITY.fullmatch(value)


def is_unspeakable(value: str) -> bool:
    """Return true if a value is a long run of small letters with too few vowels for a word, as services make them."""
    return re.fullmatch("[a-z]{16,64}", value) is not None and 4 * sum(map("aeiouy".count, value)) <= len(value)


def is_hyphenated(value: str, words: re.Pattern[str]) -> bool:
    """Return true if a value is a password of hyphenated ``words``, such as ``grain-lamp-otter``."""
    return words.fullmatch(value.replace("_", "-")) is not None and not (
        UNCASED_LETTER.search(value) or is_no_secret(value)
    )
