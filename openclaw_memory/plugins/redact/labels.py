"""Find secrets by a label near them: ``password: x``, ``--token x``, ``密码是x``, ``x is the PIN``, ``root / x``.

A label announces a kind of secret.  Its value is looked for behind it, further on in the same sentence, and before it;
:mod:`.values` judges by its kind, and by the sign or verb that joins the two, whether it is a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from ... import patterns as re
from .opaque import iban_end, is_random
from .plain import lower
from .values import (
    PASSWORDS,
    QUANTITY,
    has_digit_or_symbol,
    is_hyphenated,
    is_keylike,
    is_no_secret,
    is_secret,
    is_unspeakable,
    looks_invented,
    looks_random,
    mixes_letters_and_digits,
    words,
)
from .vocabulary import NO_VALUE, SHORT, USERS, choice, find_labels

#: First character, the one after the last, and the type of a secret in a line.
Span = tuple[int, int, str]

_DOOR_CODE = re.compile(
    r"[#*]{0,2}(?:(?:[A-Z]?\d{1,2}[ -]){2,3}[A-Z]?\d{1,2}|[A-Z]?\d(?:[ -]?\d){2,9}[A-Z]?|[A-Z]?\d{1,4}[A-Z]\d{1,6})"
    r"[#*]{0,2}(?![\w%€$£°/]|[.,:]\d| ?(?:am|pm|uhr|h|km|kg|€|eur|usd|mb|gb|ms|min)\b)"
)
#: Numbers behind a label, and how many digits one must have that stands off its label.
NUMBERS = {
    "card-number": (re.compile(r"\d(?:[ .-]?\d){11,18}(?!\d)"), 12),
    "card-code": (re.compile(r"\d{3,4}(?!\w)"), 3),
    "door-code": (_DOOR_CODE, 4),
    "pin": (_DOOR_CODE, 4),
    "person-id": (
        re.compile(
            r"(?:[A-Z]{0,6}\d[A-Z0-9]{0,20}|[A-Z]{1,3}(?=[ ./<-]?[A-Z0-9]{0,4}\d))"
            r"(?:[ ./-]{1,2}(?:[A-Z]{0,3}\d[A-Z0-9]{0,20}|[A-Z](?![\w]))){0,6}(?:\([A-Z0-9]\))?(?!\w)"
        ),
        6,
    ),
    "iban": (re.compile("[A-Za-z]{2}"), 14),
    "account-number": (re.compile(r"\d(?:[ ./-]{0,3}\d){5,30}(?!\w)"), 6),
}
#: Kinds of long keys, which may be written in groups.
_KEYS = frozenset({"token", "api-key", "private-key", "key", "secret"})


@re.built
def _value_pattern() -> str:
    gap = r"[ \t\u3000]"
    return rf"""(?xi)(?:_?\d{{1,2}}(?!\d))? ["'`*~]{{0,4}} _{{0,2}} (?:[ -]?(?:n[ro°º]\b\.?|№|\#)|(?<=n[ro])\.|\.(?=\t))?
        (?:{gap}{{0,3}}[(（][^()（）\n]{{1,40}}[)）]["'`*_]{{0,3}})?
        (?P<qualified>{gap}{{1,2}}(?:{choice("for", True)}){gap}[^:：=＝|"'`,;\n]{{1,40}}?)?
        (?:(?P<strong>{gap}{{0,8}}(?:-{{1,2}}>|["'],[ ]?(?=["'])|[→⇒➜➡»›]|:{{1,2}}=?|=(?!=)>?|\.{{3,60}}|…{{1,20}})(?!//)["'`*~]{{0,3}}{gap}{{0,8}}(?:["']?value["']?=)?[*~]{{0,3}})
         |(?P<cell>[ ]{{0,40}}[|\t][ |\t]{{0,40}}[*~]{{0,3}})
         |(?P<weak>(?:{gap}{{1,2}}(?:{choice("is", True)}|[—–-])(?![^\W\d_]){gap}{{0,2}}[:：]?{gap}{{0,2}}
            |{gap}{{0,2}}(?:{choice("is", False)}){gap}{{0,2}}[:：]?{gap}{{0,2}})[*~]{{0,3}})
         |(?P<apart>["'`]?(?:[?？][ \t]{{0,2}}(?:\[[^\]\n]{{1,24}}\][ ])?(?:[^\W\d_]{{1,16}}:[ ])?|[,;](?=["']?[^\s,;"'])))
         |(?P<space>(?(qualified)(?!)){gap}{{1,2}}))
        (?:"(?P<double>(?:[^"\\]|\\.){{1,512}}+)"|'(?P<single>[^']{{1,512}}+)'|`(?P<ticks>[^`]{{1,512}}+)`
         |[“„«「『](?P<curly>[^”“»」』]{{1,512}}+)[”“»」』]
         |(?P<bare>[^\s"'`|，。；、！？「」『』“”«»][^\s`|，。；、！？」』”»]{{0,511}}+))"""


_CLOSING = ",;.)]}*_\"'~>!?:"
#: The rest of a user's name and a password behind it: ``/ x``, ``: x``, ``| x``.
_PAIR = re.compile(r"[ \t]{0,3}[/:|,][ \t]{0,3}[\"'`*]{0,2}(?P<value>[^\s\"'`|]{4,128})")
#: A host, and the user that logs in there.
_AT_HOST = re.compile(
    r"(?:(?:\d{1,3}\.){3}\d{1,3}|(?:[\w-]{1,63}\.){1,4}[a-z]{2,12})(?::\d{1,5})?"
    r"[`\"'*]{0,2}[ \t,|–—-]{1,4}[`\"'*]{0,2}[A-Za-z][\w.-]{0,31}(?=[ \t]{0,3}[/:])",
    re.ASCII,
)
#: A user and a password, each in quotes.
_QUOTED_PAIR = re.compile(r"[`\"'][\w.@+-]{2,64}[`\"'][ \t]{0,2}[/:|,][ \t]{0,2}[`\"'](?P<value>[^\s`\"']{6,64})[`\"']")
_NEAR = 60
#: A service, a user and a password, ``grafana: admin / x``, and what may be the user of one.
USER = re.compile(
    r"[:：=][*_`]{0,3}[ \t]{0,3}[\"'`]{0,2}(?P<user>[A-Za-z][\w.@-]{1,40})[\"'`]{0,2}[ \t]{1,3}/[ \t]{1,3}"
)
_SERVICE = re.compile(
    rf"(?:[^\n:：=]{{0,80}}[\s*_`])?(?P<name>[^\W\d_][\w.() -]{{1,40}})[*_`]{{0,3}}{USER.pattern}"
    r"[\"'`]{0,2}(?P<value>[^\s\"'`|/<>]{6,64})[\"'`]{0,2}[ \t]*(?:$|[,;.(（—–-])"
)
#: A code that is given out with others, letters and digits in groups; another behind it may be of letters alone.
CODE = re.compile(
    r"[\s\"'`,;·]{0,3}(?P<value>(?=[A-Za-z-]*\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,7})(?![\w.:/-])", re.ASCII
)
NEXT_CODE = re.compile(CODE.pattern.replace(r"(?=[A-Za-z-]*\d)", ""), re.ASCII)
_DAY = re.compile(
    r"(?:19|20)\d\d|(?:\d{1,3}\.){3}\d{1,3}|(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d"
)
_DIGIT_RUN = re.compile(r"(?<![\w.,:/+=-])[#*]{0,2}[A-Z]{0,3}\d")
_IN_BRACKETS = re.compile(r" ?[\[({<（【「][\"'`]{0,2}(?P<value>[^\s\])}>）】」\"'`]{4,256})[\"'`]{0,2}[\])}>）】」]")
_RUN_NEAR = re.compile(r"(?<![\w/+=.@:-])[\w+/=~.-]{16,256}(?![\w@/])", re.ASCII)
_CLAUSE_END = re.compile(r"[\"'`*]{0,2}(?:\s*(?:$|[.,;!?)\]-]))")
#: A word or two between a label and its colon: ``contraseña wifi:``, ``пароль роутера:``; perhaps a user, then a value.
_OF = re.compile(
    r"(?:[ \t]{1,2}[^\W\d_][\w-]{0,23}){1,2}[ \t]?[:：=＝][*_]{0,3}[ \t]{0,4}[\"'`]{0,2}"
    r"(?P<user>[\w.@+-]{2,64}[\"'`]{0,2}[ \t]{1,3}/[ \t]{1,3}[\"'`]{0,2})?(?P<value>[^\s\"'`|]{6,128})"
)
_WORD_NEAR = re.compile(r"[A-Za-z0-9!#$%^&?+~._-]{6,64}")
#: A password of words, ``grain-lamp-otter``, ``otter-lamp-42``; and a longer one that needs no sign before it.
_JOINED = re.compile(r"[^\W\d_]{3,14}(?:(?:-[^\W\d_]{3,14}){2,9}(?:-?\d{1,6})?|(?:-[^\W\d_]{3,14}){1,9}-?\d{2,6})")
_JOINED_NEAR = re.compile(r"(?<![\w/.-])[^\W\d_]{3,14}(?:-[^\W\d_]{3,14}){3,9}(?![\w/-])(?!\.\w)")
#: A long key that is written in groups.
_GROUPS = re.compile(r"[A-Za-z0-9]{3,8}(?:[ -][A-Za-z0-9]{3,8}){3,15}(?![\w-])", re.ASCII)
_WORDS = re.compile(r"(?:[^\W\d_]{2,16} ){3,9}[^\W\d_]{2,16}(?=[\"'`*_]{0,3}\s*(?:$|[|,;)(\]]))")
_WITHIN_WORD = re.compile(r"[A-Za-z0-9+/=]")
_SENTENCE_END = re.compile(r"[.!?][ \t]|[|;。！？\n]")
_LIST_OF_WORDS = re.compile(
    r"[\"'`*]{0,3}(?P<value>(?:(?:\d{1,2}[.)] ?)?[^\W\d_]{2,12}[ ,]{1,2}){11,32}(?:\d{1,2}[.)] ?)?[^\W\d_]{2,12})"
)


def find_labelled(line: str) -> list[Span]:
    """Return the secrets of ``line`` that a label announces."""
    # Of the labels that begin at one place the longest counts; one within another is part of it.
    labels = sorted(filter(itemgetter(2), find_labels(lower(line))), key=lambda label: (label[0], -label[1]))
    things = [(start, end) for start, end, kind in labels if kind in ("thing", "place")]
    secrets: list[Span] = []
    last = 0
    for start, end, kind in labels:
        if end <= last:
            continue
        if kind in ("thing", "place", "code"):
            spans = _find_door_code(line, start, end, kind, things)
        elif kind == "other-code":
            spans, last = [], end
        else:
            last = end
            if kind in ("login", "test-login", "service", "wifi"):
                pair = _QUOTED_PAIR.search(line, end, end + _NEAR + 140)
                if pair and pair.start() - end <= _NEAR and mixes_letters_and_digits(pair["value"]):
                    secrets.append((*pair.span("value"), "password"))
            spans = (
                _find_after(line, start, end, kind)
                or _find_farther(line, start, end, kind)
                or _find_before(line, start, end, kind)
            )
        last = max([last, *(span[1] for span in spans)])
        secrets += spans
    return secrets + (_find_service_login(line) if " / " in line else [])


def _find_service_login(line: str) -> list[Span]:
    """Return the password of ``service: user / password``: in disorder behind a usual user, at random behind another."""
    if (match := _SERVICE.match(line)) is None:
        return []
    value = match["value"].rstrip(_CLOSING)
    likely = is_random(value, 8) or (match["user"].lower() in USERS and looks_random(value))
    start = match.start("value")
    return [(start, start + len(value), "password")] if likely and not is_no_secret(value) else []


def _find_after(line: str, start: int, end: int, kind: str) -> list[Span]:
    """Return the secret behind a label, with a sign, a verb or a blank between."""
    match = _value_pattern.match(line, end)
    if match is None:
        return []
    at = match.start(_value_group(match))
    if kind == "seed-phrase":
        phrase = _LIST_OF_WORDS.match(line, at)
        return [(*phrase.span("value"), kind)] if phrase else []
    if kind == "recovery-code":
        return list(_find_recovery_codes(line, at))
    if kind in NUMBERS:
        if kind == "person-id" and not match["strong"] and _is_short(line, start, end):
            return []
        upper = line.upper() if match["strong"] and kind == "person-id" else line
        number = parse_number(kind, upper if len(upper) == len(line) else line, at)
        if number and not (match["space"] and number[1] - at < NUMBERS[kind][1]):
            return [number]
        if kind != "pin":
            return []
    at_host = _AT_HOST.match(line, at)
    if at_host or kind in ("login", "test-login"):
        return _find_password_after_user(line, kind, match, at_host)
    if (kind == "password" or kind in _KEYS) and (end_of_groups := _groups_end(line, at, kind, match)):
        return [(at, end_of_groups, kind)]
    quoted = match["bare"] is None
    strong = match["strong"] or match["cell"]
    if kind == "passphrase" and (strong or quoted) and (phrase := _WORDS.match(line, at)):
        if not any(word.lower() in words()[title] for word in phrase[0].split() for title in ("is", "for", "nothing")):
            return [(*phrase.span(), "password")]
    value = match[_value_group(match)] if quoted else match["bare"].rstrip(_CLOSING)
    span = at, at + len(value), secret_type(kind)
    if kind in ("password", "passphrase", "pass") and is_hyphenated(value.replace(".", "-"), _JOINED):
        return [(*span[:2], "password")]
    connection = "strong" if strong else "weak" if match["weak"] or match["apart"] else "space"
    if kind in ("pass", "service", "wifi"):
        likely = (kind == "wifi" and len(value) >= 8 and looks_random(value)) or (
            kind == "pass" and mixes_letters_and_digits(value) and sum(map(str.isdigit, value)) > 1
        )
        return [(*span[:2], "password")] if connection == "strong" and likely else []
    is_word = kind in PASSWORDS or kind == "passphrase"
    if quoted and (connection == "strong" or (is_word and (connection == "weak" or mixes_letters_and_digits(value)))):
        connection = "quoted"
    elif (match["strong"] or "").strip() == "=" and line[start:end].isupper() and not is_word and len(value) >= 8:
        connection = "env"
    return [span] if is_secret(kind, value, connection, line, span[1]) else []


def _value_group(match: re.Match[str]) -> str:
    """Return the group that holds the value, one in quotes or the bare one."""
    return next((name for name in ("double", "single", "ticks", "curly") if match[name] is not None), "bare")


def _groups_end(line: str, at: int, kind: str, match: re.Match[str]) -> int:
    """Return where a secret ends that begins at ``at`` and is written in groups; 0 if there is none."""
    groups = _GROUPS.match(line, at) if kind == "password" or not match["space"] else None
    parts = re.split("[ -]", groups[0]) if groups else []
    mostly_digits = 2 * sum(any(map(str.isdigit, part)) for part in parts) >= len(parts)
    of_four = all(len(part) == 4 for part in parts) and (match["strong"] or len(parts) == 4)
    return groups.end() if groups and (of_four or (mostly_digits and not match["space"])) else 0


def _find_password_after_user(line: str, kind: str, match: re.Match[str], at_host: re.Match[str] | None) -> list[Span]:
    """Return the password behind a user, of the value that ``match`` found behind a label."""
    start, stop = match.span(_value_group(match))
    loose = at_host is not None or kind == "test-login"
    user = start + len(line[start:stop].rstrip(_CLOSING if match["bare"] else ""))
    pair = _PAIR.match(line, at_host.end() if at_host else user) or (None if loose else _PAIR.search(line, start, stop))
    if pair is None or match["space"] is not None:
        return []
    loose = loose or bool(match["qualified"]) or pair[0].lstrip().startswith(",")
    value, at = pair["value"].rstrip(_CLOSING), pair.start("value")
    likely = (mixes_letters_and_digits(value) or not loose) and is_secret(
        "password", value, "strong", line, at + len(value)
    )
    return [(at, at + len(value), "password")] if likely else []


def _find_door_code(line: str, start: int, end: int, kind: str, things: list[tuple[int, int]]) -> list[Span]:
    """Return the code that opens a thing: behind the thing and a sign, or near the thing and a word for a code."""
    if kind == "thing" and (match := _value_pattern.match(line, end)) and "=" not in (match["strong"] or "="):
        number = parse_number("door-code", line, match.start(_value_group(match)))
        return [number] if number and number[1] - number[0] >= 4 else []
    near = [at for at in things if start - _NEAR <= at[1] <= start or end <= at[0] <= end + _NEAR]
    if kind != "code" or not near:
        return []
    return (
        _find_after(line, start, end, "door-code")
        or _find_near_number(line, end, "door-code")
        or _find_before(line, min(start, near[0][0]), max(end, near[-1][1]), "door-code")
    )


def _find_near_number(line: str, end: int, kind: str) -> list[Span]:
    """Return a number off its label, in the same sentence: behind a sign or a verb, or at the end."""
    match = _DIGIT_RUN.search(line, end, _sentence_end(line, end))
    number = parse_number(kind, line, match.start()) if match else None
    if number and sum(map(str.isdigit, line[number[0] : number[1]])) >= NUMBERS[kind][1]:
        if _connective_before.search(line, end, number[0]) or _CLAUSE_END.match(line, number[1]):
            return [number]
    return []


def _sentence_end(line: str, start: int) -> int:
    closed = _SENTENCE_END.search(line, start, start + _NEAR)
    return closed.start() if closed else start + _NEAR


@re.built
def _connective_before() -> str:
    return rf"(?i)(?:[:→]|(?<=\s)[=-]|(?<![^\W\d_])(?:{choice('is', True)})|(?:{choice('is', False)}))[\s\"'`]{{0,3}}$"


@re.built
def _clause_end_after() -> str:
    return rf"(?i){_CLAUSE_END.pattern}|[ \t](?:{choice('for', True)})(?![^\W\d_])|[ ]?[^\x00-\u2fff]"


@re.built
def _value_before_label() -> str:
    """Return the pattern of a value before a label that names it: "x is the password", "x (PIN)", "x = wifi password"."""
    return rf"""(?xi)(?<![^\s"'`|<>(])(?P<value>[^\s"'`|<>(]{{3,128}})(?P<quote>["'`]{{0,2}})
        (?:[ ]?[(\[][ ]?|[ ,;]{{0,2}}[ \t](?:\#|//|--|<!--|/\*)[ ]?|[ ][=-][ ]|[ ]?<-[ ]?|\t|[ ](?:as|als|como|comme|come|som|jako|как|як|{choice("is", True)})[ ]
          |[ ]{{0,2}}(?:{choice("is", False)})[ ]{{0,2}})
        (?:[\w'’-]{{1,14}}[ -]){{0,3}}$"""


def _find_before(line: str, start: int, end: int, kind: str) -> list[Span]:
    """Return the secret before its label, with a sign or a verb between: a number, or a word like a password."""
    match = _value_before_label.search(line, max(0, start - 2 * _NEAR - 40), start)
    if match is None or kind in NO_VALUE or not (match["quote"] or _clause_end_after.match(line, end)):
        return []
    value, stop = match["value"].lstrip("([{"), match.end("value")
    at = stop - len(value)
    if kind in NUMBERS and kind != "card-code":
        number = parse_number(kind, line, at)
        if number and number[1] == stop and stop - at >= 4:
            return [number]
    if kind in ("password", "pin", "passphrase"):
        likely = looks_invented(value)
    else:
        likely = kind not in NUMBERS and is_secret(kind, value, "strong", value, len(value))
    return [(at, stop, secret_type(kind))] if likely and has_digit_or_symbol(value) else []


def find_answer(text: str) -> Span | None:
    """Return the first word of an answer that looks like a password."""
    for match in _WORD_NEAR.finditer(text, 0, _NEAR):
        value = match[0].rstrip(_CLOSING)
        if looks_invented(value):
            return match.start(), match.start() + len(value), "password"
    return None


def _find_farther(line: str, start: int, end: int, kind: str) -> list[Span]:
    """Return a secret off its label: in brackets, behind the purpose, or in the same sentence if it looks like one."""
    if kind == "person-id" and _is_short(line, start, end):
        return []
    if kind in NUMBERS and kind not in ("card-code", "account-number"):
        return _find_near_number(line, end, kind)
    if (match := _IN_BRACKETS.match(line, end)) and kind not in NO_VALUE:
        value = match["value"]
        likely = has_digit_or_symbol(value) and is_secret(kind, value, "strong", value, len(value))
        return [(*match.span("value"), secret_type(kind))] if likely else []
    if kind in _KEYS:
        return [] if _WITHIN_WORD.match(line, end) else _find_near_key(line, end, kind)
    if kind not in ("password", "passphrase", "login"):
        return []
    if _WITHIN_WORD.search(line[start - 1 : start] + line[end : end + 1]):
        return []
    if (match := _OF.match(line, end)) and (match["user"] or kind != "login"):
        value, at = match["value"].rstrip(_CLOSING), match.start("value")
        stop = at + len(value)
        logs_in = has_digit_or_symbol(value) and is_secret("password", value, "strong", line, stop)
        if logs_in if kind == "login" else mixes_letters_and_digits(value):
            return [(at, stop, "password")]
    return [] if kind == "login" else _find_near_password(line, end)


def _find_near_key(line: str, end: int, kind: str) -> list[Span]:
    for match in _RUN_NEAR.finditer(line, end, _sentence_end(line, end) + 256):
        before = line[end : match.start()]
        if match.start() > end + _NEAR or "[redacted:" in before or before.count(":") + before.count("=") > 1:
            break
        announced = _connective_before.search(line, end, match.start()) is not None
        if is_keylike(match[0], line[max(0, match.start() - 400) : match.start()], announced):
            return [(*match.span(), "token" if kind == "key" else kind)]
    return []


def _find_near_password(line: str, end: int) -> list[Span]:
    stop = _sentence_end(line, end)
    for match in _WORD_NEAR.finditer(line, end, stop):
        value = match[0].rstrip(_CLOSING)
        mixed = len(value) >= 8 and looks_random(value)
        if is_unspeakable(value) or (mixed and (set("!#$%^&?+~").intersection(value) or is_random(value, 8))):
            return [(match.start(), match.start() + len(value), "password")]
    joined = _JOINED_NEAR.search(line, end, stop + 2 * _NEAR)
    likely = joined is not None and joined.start() < stop and is_hyphenated(joined[0], _JOINED_NEAR)
    return [(*joined.span(), "password")] if joined and likely else []


def _is_short(line: str, start: int, end: int) -> bool:
    """Return true for a short label in small letters, which may be a word."""
    return end - start <= SHORT and not line[start:end].isupper()


def secret_type(kind: str) -> str:
    """Return the type in the mark of a secret whose label announces ``kind``."""
    return "password" if kind in ("pin", "passphrase") else kind


def _find_recovery_codes(line: str, at: int) -> Iterator[Span]:
    """Yield recovery codes, one behind the other."""
    pattern = CODE
    while code := pattern.match(line, at):
        if is_no_secret(code["value"]) or (QUANTITY.fullmatch(code["value"]) and "-" not in code["value"]):
            return
        yield (*code.span("value"), "recovery-code")
        at, pattern = code.end(), NEXT_CODE


def parse_number(kind: str, line: str, at: int) -> Span | None:
    """Return the number of that ``kind`` that begins at ``at``; a year and a day are none."""
    if kind == "iban":
        end = iban_end(line, at)
        return (at, end, kind) if end else None
    number = NUMBERS[kind][0].match(line.replace("\t", " "), at)
    if number is None or _DAY.fullmatch(number[0]) or (is_no_secret(number[0]) and kind != "person-id"):
        return None
    if kind == "person-id" and (sum(map(str.isdigit, number[0])) < 4 or len(number[0]) < 6):
        return None
    return (*number.span(), secret_type(kind))
