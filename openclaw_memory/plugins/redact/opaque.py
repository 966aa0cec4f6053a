"""Find secrets that no label announces: long random strings, and numbers of cards, accounts and persons."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache

from ... import patterns as re
from ...text import word_lists

#: The class of each byte: a digit, a capital, a blank or a hyphen, a point, a slash, or something else.
CLASSES = bytes(
    0x30 if 0x30 <= c <= 0x39 else 0x41 if 0x41 <= c <= 0x5A else 0x20 if c in b" -\t" else c if c in b"./" else 0x2C
    for c in range(256)
)
#: The signs directly before and behind a number that is no part of something longer.
_ALONE = re.compile(r"[^\w.+/@#-]? [^\w@/-]?$")
_TOKEN = re.compile(r"(?<![\w+/=.@:-])[A-Za-z0-9_][\w+/=~.-]{19,}+", re.ASCII)
_DATA = re.compile(r"[A-Za-z0-9+/=]+")
_PART = re.compile(r"[A-Za-z0-9+/]{8,}+", re.ASCII)
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
#: Text before strings that are public though they look random: hashes, public keys, embedded data, places.
_PUBLIC = re.compile(
    r"(?:sha\d{1,3}[-:=]|md5[-:=]|base64,|integrity|checksum|digest|fingerprint|etag|hash|public[ _-]?key|pubkey"
    r"|\b(?:id|ids|uuid|guid|ref|commit|sheet|spreadsheet|folder|document|doc|docs|file|drive|revision|snapshot)"
    r"|pub[ _-]key|ssh-(?:rsa|ed25519|dss)|nistp\d{3})[\"'`*]{0,3}[ \t:=#(]{0,4}[\"'`]?$",
    re.IGNORECASE,
)
#: Identifiers of things at services: random, and no secrets.
_IDENTIFIER = re.compile(
    r"(?:call|msg|toolu|req|resp|run|thread|asst|file|chatcmpl|cmpl|cus|sub|evt|price|prod|order|item|batch|step|vs|inv"
    r"|ch|pi|pm|seti|acct|srvtoolu|session|conv|user|org|proj|team|doc|page|id|sha\d{1,3})[_-]",
    re.IGNORECASE,
)
#: The id of a document, a folder or a drive of Google: an address rather than a key.
_DOCUMENT = re.compile(r"1[\w-]{43}|1[\w-]{32}|0[AB][\w-]{17,26}", re.ASCII)
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")


def is_random(text: str, least: int = 16, digits: int = 2) -> bool:
    """Return true if ``text`` holds a run of ``least`` signs and ``digits`` digits or more in the disorder of keys."""
    return any(
        len(part) >= least
        and any(map(str.islower, part))
        and any(map(str.isupper, part))
        and sum(map(str.isdigit, part)) >= digits
        # Of the places, 0.62 go from small letters to capitals or digits in random base 62.
        and len(_CHANGE.findall(part)) >= 0.4 * (len(part) - 1)
        for part in _PART.findall(text)
    )


def is_data(line: str) -> bool:
    """Return true if ``line`` is a full one of a block of base64 (RFC 7468, RFC 2045)."""
    text = line.strip(" \t>")
    return len(text) in (64, 76) and _DATA.fullmatch(text) is not None


def is_public(before: str) -> bool:
    """Return true if the text ``before`` a token says that it is public, or part of an address or a path."""
    last = before[before.rfind(" ") + 1 :]
    return "://" in last or last.endswith(("/", "\\")) or _PUBLIC.search(before[-48:]) is not None


def find_tokens(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield the long random strings of ``line``; hashes, addresses and files stay."""
    for match in _TOKEN.finditer(line):
        token = match[0].rstrip(".")
        # A longer run is data rather than a key.
        if len(token) > 100 or _IDENTIFIER.match(token) or _DOCUMENT.fullmatch(token) or _FILE.search(token):
            continue
        if is_random(token, 20) and not is_public(line[max(0, match.start() - 400) : match.start()]):
            yield match.start(), match.start() + len(token), "token"


_CARD = re.compile(
    r"(?<![\w.+#/-])(?:(?P<grouped>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6\d{3})[ .\t-]\d{4}[ .\t-]\d{4}[ .\t-]\d{4}"
    r"|3[047]\d\d(?P<wide>[ .\t-])\d{6}(?P=wide)\d{5}|3[0689]\d\d(?P<diners>[ .\t-])\d{6}(?P=diners)\d{4})"
    r"|(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6(?:011|[245]\d\d))\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11})"
    r"(?![\w-]|\.\d)",
    re.ASCII,
)
_IBAN = re.compile(r"(?<![\w.+/-])[A-Za-z]{2}\d{2}(?=[ .-]{0,2}[A-Za-z0-9]{2})", re.ASCII)
_NEXT_SIGN = re.compile(r"[ .-]{0,2}(?P<sign>[A-Za-z0-9])", re.ASCII)


def find_account_numbers(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield the numbers of cards and bank accounts in ``line``.

    A number in groups as on a card needs no right check digit; a mere row of digits does (ISO/IEC 7812), and so does an
    IBAN (ISO 13616).
    """
    for match in _CARD.finditer(line):
        from stdnum import luhn

        if match["grouped"] or luhn.is_valid(match[0]):
            yield (*match.span(), "card-number")
    for match in _IBAN.finditer(line):
        if end := iban_end(line, match.start()):
            yield match.start(), end, "iban"


def iban_end(line: str, start: int) -> int:
    """Return where the IBAN ends that begins at ``start``, its groups parted in any way; 0 where there is none."""
    from stdnum import iban

    number, end, valid = line[start : start + 4], start + 4, 0
    while len(number) < 34 and (sign := _NEXT_SIGN.match(line, end)):
        number, end = number + sign["sign"], sign.end()
        if len(number) >= 15 and not line[end : end + 1].isalnum() and iban.is_valid(number, check_country=False):
            valid = end
    return valid


@cache
def person_forms() -> dict[bytes, list[tuple[str, str]]]:
    """Return the forms of ``persons.txt`` by their :data:`CLASSES`, each with the module that checks its digits."""
    forms: dict[bytes, list[tuple[str, str]]] = {}
    for _, line in word_lists.lines_of(__package__, "persons.txt"):
        form, module = line.split("\t")
        forms.setdefault(form.encode().translate(CLASSES), []).append((form, module))
    return forms


def find_person_numbers(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield the numbers of persons in ``line``, in a form of their country and with the right check digits."""
    classes = line.encode("latin-1", "replace").translate(CLASSES)
    for form, modules in person_forms().items():
        start = classes.find(form)
        while start >= 0:
            end = start + len(form)
            if _ALONE.match(line[start - 1 : start] + " " + line[end : end + 1]):
                for written, module in modules:
                    signs = zip(line[start:end], written, strict=True)
                    number = "".join(sign if sign.isalnum() else separator for sign, separator in signs)
                    if importlib.import_module(f"stdnum.{module}").is_valid(number):
                        yield start, end, "person-id"
                        break
            start = classes.find(form, end)
