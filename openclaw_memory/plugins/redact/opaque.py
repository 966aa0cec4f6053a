"""Telling what nobody would say from words: long random strings, and numbers of cards and accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    r"|pub[ _-]key|ssh-(?:rsa|ed25519|dss)|nistp\d{3})[\"'`*]{0,3}[ \t:=]{0,4}[\"'`]?$",
    re.IGNORECASE,
)
#: What announces the identifier of a document, which opens nothing without its owner's leave.
_DOCUMENT = re.compile(
    r"\b(?:(?:google|figma|notion|airtable|miro|canva)\W{1,3})?(?:spread)?(?:sheet|doc|document|folder|drive|calendar|file|figma"
    r"|notion|airtable|base|page|board|video|channel|playlist|form|slides|presentation|database|dashboard|design|template)s?"
    r"[\"'`*]{0,3}[ _-]{0,2}id[\"'`*]{0,3}[ \t]?[ \t:=：|]{0,4}[\"'`]?$",
    re.IGNORECASE,
)
#: How Google writes the identifier of a file, and what is said before one in other words.
_GOOGLE = re.compile(r"1[A-Za-z0-9_-]{43}", re.ASCII)
_OF_GOOGLE = re.compile(
    r"(?<![^\W_])id(?![^\W_])|google|sheet|\bdocs?\b|drive|planilha|tabel|табли|документ|表|シート|文档|hoja|feuille|foglio|시트",
    re.IGNORECASE,
)
_SECRET = re.compile(r"secret|token|passw|\bkey\b|session|auth|bearer|credential", re.IGNORECASE)
_TRANSACTION = re.compile(
    r"(?:tx|txn|hash|transaction|block|root|commit\w*|proof)\W{0,6}(?:hash|id)?\W{0,6}$", re.IGNORECASE
)
#: Identifiers of things at services: random, and no secrets.
_IDENTIFIER = re.compile(
    r"(?:call|msg|toolu|req|resp|run|thread|asst|file|chatcmpl|cmpl|cus|sub|evt|price|prod|order|item|batch|step|vs|inv"
    r"|ch|pi|pm|seti|acct|srvtoolu|session|conv|user|org|proj|team|doc|page|id|sha\d{1,3})[_-]",
    re.IGNORECASE,
)
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


def _is_public(before: str, token: str) -> bool:
    """Whether what stands ``before`` a token says that it is public, or that it is part of an address or a path."""
    last, near = before[before.rfind(" ") + 1 :], before[-48:]
    if not _SECRET.search(near) and (_DOCUMENT.search(near) or (_GOOGLE.fullmatch(token) and _OF_GOOGLE.search(near))):
        return True
    return "://" in last or last.endswith(("/", "\\")) or _PUBLIC.search(near) is not None


def bare_tokens(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds a long random string that nothing announces; hashes, addresses and files stay."""
    for match in _TOKEN.finditer(line):
        token = match[0].rstrip(".")
        if len(token) > _LONGEST or _IDENTIFIER.match(token) or _FILE.search(token):
            continue
        if is_random(token, 20) and not _is_public(line[max(0, match.start() - 400) : match.start()], token):
            yield match.start(), match.start() + len(token), "token"


def is_transaction(line: str, start: int) -> bool:
    """Whether what starts at ``start`` is called the hash of a transaction or of a block."""
    return _TRANSACTION.search(line, max(0, start - 32), start) is not None


_CARD = re.compile(
    r"(?<![\w.+#/-])(?:(?P<grouped>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3})(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}"
    r"|3[47]\d\d(?P<wide>[ -])\d{6}(?P=wide)\d{5})|(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|[45]\d\d))\d{12}|3[47]\d{13})"
    r"(?![\w-]|\.\d)",
    re.ASCII,
)
_SSN = re.compile(r"(?<![\w.+/-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-]|\.\d)", re.ASCII)
_IBAN = re.compile(r"(?<![\w.+/-])([A-Z]{2}\d{2})((?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![\w-])", re.ASCII)
#: Length of an IBAN by country, from the registry of SWIFT (ISO 13616).
_IBAN_LENGTHS = dict(
    pair.split(":")
    for pair in """
    AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18 DO:28 EE:20
    EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30
    KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24
    PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SC:31 SD:18 SE:24 SI:19 SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29
    VA:22 VG:24 XK:20
    """.split()
)


def account_numbers(line: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds the number of a card, a bank account or a social security number.

    What is written in groups as on a card needs no right check digit; a mere row of digits does (ISO/IEC 7812).
    """
    for match in _CARD.finditer(line):
        if match["grouped"] or _luhn(match[0]):
            yield (*match.span(), "card-number")
    for match in _SSN.finditer(line):
        yield (*match.span(), "ssn")
    for match in _IBAN.finditer(line):
        length = int(_IBAN_LENGTHS.get(match[1][:2], 0))
        # A short last group, or a word in capitals behind the number, may have been taken in.
        at = match.start()
        while length and at < match.end():
            length -= line[at] != " "
            at += 1
        if match[1][:2] in _IBAN_LENGTHS and not length and (at == len(line) or not line[at].isalnum()):
            yield match.start(), at, "iban"


def _luhn(digits: str) -> bool:
    total = 0
    for at, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + at % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0
