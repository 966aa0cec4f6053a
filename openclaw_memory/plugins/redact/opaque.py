"""Telling what nobody would say from words: long random strings, and numbers of cards and accounts."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache

from ...text import word_lists

#: Each byte by what it is: a digit, a capital, a blank or a hyphen, a point, a slash, or something else.
CLASSES = bytes(
    0x30 if 0x30 <= c <= 0x39 else 0x41 if 0x41 <= c <= 0x5A else 0x20 if c in b" -\t" else c if c in b"./" else 0x2C
    for c in range(256)
)
#: Nothing that would make a number a part of something longer stands directly beside it.
_ALONE = re.compile(r"[^\w.+/@#-]? [^\w@/-]?$")
_TOKEN = re.compile(r"(?<![\w+/=.@:-])[A-Za-z0-9_][\w+/=~.-]{19,}+", re.ASCII)
_DATA = re.compile(r"[A-Za-z0-9+/=]+")
_PART = re.compile(r"[A-Za-z0-9+/]{8,}+", re.ASCII)
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
#: A longer run is data rather than a key, and so is a full line of base64 (RFC 7468, RFC 2045).
_LONGEST, _BASE64_LINES = 100, (64, 76)
#: Share of places where a random string goes from small letters to capitals or digits; 0.62 is expected in base 62.
_LEAST_CHANGES = 0.4
#: What is public though it looks random, by what stands before it: hashes, public keys, embedded data, places.
_PUBLIC = re.compile(
    r"(?:sha\d{1,3}[-:=]|md5[-:=]|base64,|integrity|checksum|digest|fingerprint|etag|hash|public[ _-]?key|pubkey"
    r"|\b(?:id|ids|uuid|guid|ref|commit|sheet|spreadsheet|folder|document|doc|docs|file|drive|revision|snapshot)"
    r"|pub[ _-]key|ssh-(?:rsa|ed25519|dss)|nistp\d{3})[\"'`*]{0,3}[ \t:=#(]{0,4}[\"'`]?$",
    re.IGNORECASE,
)
_TRANSACTION = re.compile(
    r"(?:tx|txn|hash|transaction|block|root|commit\w*|proof)\W{0,6}(?:hash|id)?\W{0,6}$", re.IGNORECASE
)
#: Identifiers of things at services: random, and no secrets.
_IDENTIFIER = re.compile(
    r"(?:call|msg|toolu|req|resp|run|thread|asst|file|chatcmpl|cmpl|cus|sub|evt|price|prod|order|item|batch|step|vs|inv"
    r"|ch|pi|pm|seti|acct|srvtoolu|session|conv|user|org|proj|team|doc|page|id|sha\d{1,3})[_-]",
    re.IGNORECASE,
)
#: A document, a folder or a drive of Google's, whose address anybody in the house may know.
_DOCUMENT = re.compile(r"1[\w-]{43}|1[\w-]{32}|0[AB][\w-]{17,26}", re.ASCII)
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")


def is_random(text: str, least: int = 16, digits: int = 2) -> bool:
    """Whether ``text`` holds a run of at least ``least`` letters and ``digits`` digits in the disorder of keys."""
    for part in _PART.findall(text):
        if len(part) < least:
            continue
        mixed = any(map(str.islower, part)) and any(map(str.isupper, part))
        if (
            mixed
            and sum(map(str.isdigit, part)) >= digits
            and len(_CHANGE.findall(part)) >= _LEAST_CHANGES * (len(part) - 1)
        ):
            return True
    return False


def is_data(line: str) -> bool:
    """Whether ``line`` is one of a block of base64."""
    text = line.strip(" \t>")
    return len(text) in _BASE64_LINES and _DATA.fullmatch(text) is not None


def is_public(before: str) -> bool:
    """Whether what stands ``before`` a token says that it is public, or that it is part of an address or a path."""
    last = before[before.rfind(" ") + 1 :]
    return "://" in last or last.endswith(("/", "\\")) or _PUBLIC.search(before[-48:]) is not None


def bare_tokens(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds a long random string that nothing announces; hashes, addresses and files stay."""
    for match in _TOKEN.finditer(line):
        token = match[0].rstrip(".")
        if len(token) > _LONGEST or _IDENTIFIER.match(token) or _DOCUMENT.fullmatch(token) or _FILE.search(token):
            continue
        if is_random(token, 20) and not is_public(line[max(0, match.start() - 400) : match.start()]):
            yield match.start(), match.start() + len(token), "token"


def is_transaction(line: str, start: int) -> bool:
    """Whether what starts at ``start`` is called the hash of a transaction or of a block."""
    return _TRANSACTION.search(line, max(0, start - 32), start) is not None


_CARD = re.compile(
    r"(?<![\w.+#/-])(?:(?P<grouped>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6\d{3})[ .\t-]\d{4}[ .\t-]\d{4}[ .\t-]\d{4}"
    r"|3[047]\d\d(?P<wide>[ .\t-])\d{6}(?P=wide)\d{5}|3[0689]\d\d(?P<diners>[ .\t-])\d{6}(?P=diners)\d{4})"
    r"|(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6(?:011|[245]\d\d))\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11})"
    r"(?![\w-]|\.\d)",
    re.ASCII,
)
_IBAN = re.compile(r"(?<![\w.+/-])[A-Za-z]{2}\d{2}(?=[ .-]{0,2}[A-Za-z0-9]{2})", re.ASCII)
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
_NEXT_SIGN = re.compile(r"[ .-]{0,2}(?P<sign>[A-Za-z0-9])", re.ASCII)


def account_numbers(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds the number of a card or a bank account.

    What is written in groups as on a card needs no right check digit; a mere row of digits does (ISO/IEC 7812), and so
    does an IBAN (ISO 13616).
    """
    for match in _CARD.finditer(line):
        if match["grouped"] or _luhn(match[0]):
            yield (*match.span(), "card-number")
    for match in _IBAN.finditer(line):
        if end := iban_end(line, match.start()):
            yield match.start(), end, "iban"


def iban_end(line: str, start: int) -> int:
    """Where the IBAN ends that begins at ``start``, its groups parted in any way; 0 where there is none."""
    if _IBAN.match(line, start) is None:
        return 0
    number, end, found = line[start : start + 4], start + 4, 0
    while len(number) < _LONGEST_IBAN and (sign := _NEXT_SIGN.match(line, end)):
        number, end = number + sign["sign"], sign.end()
        if len(number) >= _SHORTEST_IBAN and not line[end : end + 1].isalnum() and _is_iban(number):
            found = end
    return found


@cache
def person_forms() -> dict[bytes, list[tuple[str, str]]]:
    """The forms of ``persons.txt`` as :data:`CLASSES` shows them: as they are written, and the module that checks them."""
    found: dict[bytes, list[tuple[str, str]]] = {}
    for _, line in word_lists.lines_of(__package__, "persons.txt"):
        form, module = line.split("\t")
        found.setdefault(form.encode().translate(CLASSES), []).append((form, module))
    return found


def person_numbers(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds the number of a person in a form of its own, with the right check digits."""
    classes = line.encode("latin-1", "replace").translate(CLASSES)
    for form, modules in person_forms().items():
        start = classes.find(form)
        while start >= 0:
            end = start + len(form)
            if _ALONE.match(line[start - 1 : start] + " " + line[end : end + 1]) and any(
                importlib.import_module(f"stdnum.{module}").is_valid(
                    "".join(
                        sign if sign.isalnum() else given for sign, given in zip(line[start:end], written, strict=True)
                    )
                )
                for written, module in modules
            ):
                yield start, end, "person-id"
            start = classes.find(form, end)


def _is_iban(number: str) -> bool:
    from stdnum import iban

    return bool(iban.is_valid(number, check_country=False))


def _luhn(digits: str) -> bool:
    from stdnum import luhn

    return bool(luhn.is_valid(digits))
