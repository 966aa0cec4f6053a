"""Secrets that are told by what stands before them: ``password: x``, ``--token x``, ``密码是x``, ``root / x``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .opaque import iban_end, is_random
from .values import (
    PASSWORDS,
    QUANTITY,
    UNCASED_LETTER,
    has_digit_or_symbol,
    is_disorderly,
    is_joined,
    is_keylike,
    is_mixed,
    is_no_secret,
    passes,
    words,
)
from .vocabulary import NO_VALUE, SHORT, USERS, automaton, choice, is_whole

_LINE = 240  # of a longer line nobody makes an entry of who logs in
#: What stands behind a label for a number, of how many digits, and how long one must be that stands off its label.
_CODE = r"[#*]{0,2}(?:(?:[A-Z]?\d{1,2}[ -]){2,3}[A-Z]?\d{1,2}|[A-Z]?\d(?:[ -]?\d){2,9}[A-Z]?|[A-Z]?\d{1,4}[A-Z]\d{1,6})[#*]{0,2}"
_UNIT = r"(?![\w%€$£°/]|[.,:]\d| ?(?:am|pm|uhr|h|km|kg|€|eur|usd|mb|gb|ms|min)\b)"
NUMBERS = {
    "card-number": (re.compile(r"\d(?:[ .-]?\d){11,18}(?!\d)"), 12),
    "card-code": (re.compile(r"\d{3,4}(?!\w)"), 3),
    "door-code": (re.compile(_CODE + _UNIT), 4),
    "pin": (re.compile(_CODE + _UNIT), 4),
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
#: What is given out as a list, one below the other or behind one another.
LISTED = ("seed-phrase", "recovery-code")


@cache
def _value() -> re.Pattern[str]:
    gap = r"[ \t\u3000]"
    return re.compile(
        rf"""(?:_?\d{{1,2}}(?!\d))? ["'`*~]{{0,4}} _{{0,2}} (?:[ -]?(?:n[ro°º]\b\.?|№|\#)|(?<=n[ro])\.|\.(?=\t))?
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
         |(?P<bare>[^\s"'`|，。；、！？「」『』“”«»][^\s`|，。；、！？」』”»]{{0,511}}+))""",
        re.VERBOSE | re.IGNORECASE,
    )


_QUOTES = ("double", "single", "ticks", "curly")
_FLAG = re.compile(r"(?<![\w-])--(?:\w{1,20}-){0,3}$", re.ASCII)
_CLOSING = ",;.)]}*_\"'~>!?:"
#: The rest of a user's name and a password behind it: ``/ x``, ``: x``, ``| x``.
_PAIR = re.compile(r"[ \t]{0,3}[/:|,][ \t]{0,3}[\"'`*]{0,2}(?P<value>[^\s\"'`|]{4,128})")
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|(?:[\w-]{1,63}\.){1,4}[a-z]{2,12}(?::\d{1,5})?", re.ASCII)
_THEN_USER = re.compile(r"[`\"'*]{0,2}[ \t,|–—-]{1,4}[`\"'*]{0,2}[A-Za-z][\w.-]{0,31}(?=[ \t]{0,3}[/:])", re.ASCII)
_MIXED = re.compile(r"(?=[^\s/]*\d)(?=[^\s/]*[^\W\d_])[^\s/]{6,128}")
#: A user and a password, each in quotes.
_QUOTED_PAIR = re.compile(r"[`\"'][\w.@+-]{2,64}[`\"'][ \t]{0,2}[/:|,][ \t]{0,2}[`\"'](?P<value>[^\s`\"']{6,64})[`\"']")
_NEAR = 60
_LEAST_CODE = 4
#: A service and, behind it, who logs in and with what: ``grafana: admin / x``.
_SERVICE = re.compile(
    r"(?:[^\n:：=]{0,80}[\s*_`])?(?P<name>[^\W\d_][\w.() -]{1,40})[*_`]{0,3}[:：=][*_`]{0,3}[ \t]{0,3}[\"'`]{0,2}"
    r"(?P<user>[A-Za-z][\w.@-]{1,40})[\"'`]{0,2}[ \t]{1,3}/[ \t]{1,3}[\"'`]{0,2}(?P<value>[^\s\"'`|/<>]{6,64})[\"'`]{0,2}"
    r"[ \t]*(?:$|[,;.(（—–-])"
)
#: A code that is given out with others: letters and digits in groups.
CODE = re.compile(
    r"[\s\"'`,;·]{0,3}(?P<value>(?=[A-Za-z-]*\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,7})(?![\w.:/-])", re.ASCII
)
#: Another behind it, of letters alone too.
_NEXT_CODE = re.compile(CODE.pattern.replace(r"(?=[A-Za-z-]*\d)", ""), re.ASCII)
#: A password that Google makes up for a program.
_FOUR_FOURS = re.compile(r"(?P<value>[a-z]{4}(?: [a-z]{4}){3})(?! *\w)", re.ASCII)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d")
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
#: A password of words: ``grain-lamp-otter``, ``otter-lamp-42``; and one that nobody takes for anything else.
_JOINED = re.compile(r"[^\W\d_]{3,14}(?:(?:-[^\W\d_]{3,14}){2,9}(?:-?\d{1,6})?|(?:-[^\W\d_]{3,14}){1,9}-?\d{2,6})")
_JOINED_NEAR = re.compile(r"(?<![\w/.-])[^\W\d_]{3,14}(?:-[^\W\d_]{3,14}){3,9}(?![\w/-])(?!\.\w)")
#: A long key that is written in groups.
_GROUPS = re.compile(r"[A-Za-z0-9]{3,8}(?:[ -][A-Za-z0-9]{3,8}){3,15}(?![\w-])", re.ASCII)
_GROUP = 4
_JOINS = re.compile("[:=]")
_GROUPED = frozenset({"token", "api-key", "private-key", "key", "secret", "password"})
_WORDS = re.compile(r"(?:[^\W\d_]{2,16} ){3,9}[^\W\d_]{2,16}(?=[\"'`*_]{0,3}\s*(?:$|[|,;)(\]]))")
_WITHIN_WORD = re.compile(r"[A-Za-z0-9+/=]")
_SIGN = re.compile(r"[!#$%^&?+~]")
_SENTENCE_END = re.compile(r"[.!?][ \t]|[|;。！？\n]")
LIST_OF_WORDS = re.compile(
    r"[\"'`*]{0,3}(?P<value>(?:(?:\d{1,2}[.)] ?)?[^\W\d_]{2,12}[ ,]{1,2}){11,32}(?:\d{1,2}[.)] ?)?[^\W\d_]{2,12})"
)


def labelled(line: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Where ``line`` holds a secret that a label announces; ``low`` is the line in small letters, as long."""
    found = automaton(not low.isascii()).iter(low)
    hits = [(end + 1 - label.length, end + 1, label) for end, label in found]
    # Of the labels that begin at one place the longest counts; one within another is part of it.
    hits.sort(key=lambda hit: (hit[0], -hit[1]))
    last = 0
    things = [
        (start, end) for start, end, label in hits if label.kind in ("thing", "place") and is_whole(low, start, end)
    ]
    for start, end, label in hits:
        kind = label.kind
        if end <= last or not kind or (label.whole and not is_whole(low, start, end)):
            continue
        if kind == "other-code":
            last = end
            continue
        if kind in ("thing", "place", "code"):
            spans = list(_opening(line, start, end, kind, things))
            if spans:
                yield from spans
                last = spans[-1][1]
            continue
        last = end
        if kind in ("login", "test-login", "service", "wifi") and (
            pair := _QUOTED_PAIR.search(line, end, end + _NEAR + 140)
        ):
            if pair.start() - end <= _NEAR and is_mixed(pair["value"]):
                yield (*pair.span("value"), "password")
        spans = (
            list(_after(line, start, end, kind))
            or list(_further(line, start, end, kind))
            or list(_before(line, start, end, kind))
        )
        yield from spans
        last = max([last, *(span[1] for span in spans)])
    if " / " in line and (found := _of_service(line)):
        yield found


def unannounced(text: str) -> Iterator[int]:
    """Where in a text of many lines somebody may log in to a service, without a word that says so."""
    at = text.find(" / ")
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if _of_service(text[start:end]):
            yield at
        at = text.find(" / ", end)


def _of_service(line: str) -> tuple[int, int, str] | None:
    """The password of ``service: user / password``: in disorder behind a user of systems, at random behind another."""
    match = _SERVICE.match(line) if len(line) <= _LINE else None
    if match is None:
        return None
    value = match["value"].rstrip(_CLOSING)
    if is_no_secret(value) or not (is_random(value, 8) or (match["user"].lower() in USERS and is_disorderly(value))):
        return None
    return match.start("value"), match.start("value") + len(value), "password"


def _after(line: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    found = _value().match(line, end)
    if found is None:
        return
    if kind == "seed-phrase":
        if (several := LIST_OF_WORDS.match(line, _start(found))) is not None:
            yield (*several.span("value"), kind)
        return
    if kind in NUMBERS:
        at = _start(found)
        if kind == "person-id" and not found["strong"] and end - start <= SHORT and not line[start:end].isupper():
            return
        if found["strong"] and kind == "person-id" and len(line.upper()) == len(line):
            line = line.upper()
        if (number := numbered(kind, line, at)) and not (found["space"] and number[1] - at < NUMBERS[kind][1]):
            yield number
            return
        if kind != "pin":
            return
    if kind == "recovery-code":
        yield from _codes(line, _start(found))
        return
    if kind == "password" and (groups := _FOUR_FOURS.match(line, _start(found))) is not None:
        yield (*groups.span("value"), kind)
        return
    group = next((name for name in _QUOTES if found[name] is not None), "bare")
    at, stop = found.span(group)
    value = found[group] if group != "bare" else found[group].rstrip(_CLOSING)
    behind, mixed = at + len(value), kind == "test-login"
    if _ADDRESS.fullmatch(value) is not None and (user := _THEN_USER.match(line, behind)) is not None:
        behind, mixed = user.end(), True  # "10.0.0.7 jr/…": where to log in, then who and with what
    if mixed or kind == "login":
        pair = _PAIR.match(line, behind) or (None if mixed else _PAIR.search(line, at, stop))
        if pair is not None and found["space"] is None:
            said = pair["value"].rstrip(_CLOSING)
            loose = mixed or found["qualified"] or pair[0].lstrip().startswith(",")
            likely = not loose or _MIXED.fullmatch(said) is not None
            if likely and passes("password", said, "strong", line, pair.start("value") + len(said)):
                yield pair.start("value"), pair.start("value") + len(said), "password"
        return
    if kind in _GROUPED and not found["space"] and (groups := _GROUPS.match(line, _start(found))):
        parts = re.split("[ -]", groups[0])
        fours = found["strong"] and all(len(group) == _GROUP for group in parts)
        if fours or 2 * sum(any(map(str.isdigit, group)) for group in parts) >= len(parts):
            yield (*groups.span(), kind)
            return
    if (
        kind == "passphrase"
        and (found["strong"] or found["cell"] or group != "bare")
        and (several := _WORDS.match(line, at))
    ):
        if not any(word.lower() in words()[title] for word in several[0].split() for title in ("is", "for", "nothing")):
            yield (*several.span(), "password")
            return
    if kind in ("password", "passphrase") and found["strong"] and _JOINED.fullmatch(re.sub("[_.]", "-", value)):
        if not (is_no_secret(value) or UNCASED_LETTER.search(value)):
            yield at, behind, "password"
            return
    if kind in ("password", "passphrase", "pass") and is_joined(value, _JOINED):
        if kind != "pass" or (found["strong"] and any(map(str.isdigit, value))):
            yield at, behind, "password"
            return
    how = "strong" if found["strong"] or found["cell"] else "weak" if found["weak"] or found["apart"] else "space"
    if kind == "wifi" and how == "strong" and len(value) >= 8 and (is_disorderly(value) or _signed(value)):
        yield at, at + len(value), "password"
        return
    if kind in ("pass", "service", "wifi"):
        if kind == "pass" and how == "strong" and is_mixed(value) and sum(map(str.isdigit, value)) > 1:
            yield at, at + len(value), "password"
        return
    if how == "space" and group != "bare" and kind == "password" and is_mixed(value):
        yield at, at + len(value), kind
        return
    if how == "space" and _FLAG.search(line[max(0, start - 66) : start]):
        how = "strong"
    if how == "weak" and group != "bare":
        how = "quoted" if kind == "passphrase" else "strong" if kind in PASSWORDS else how
    if group == "bare" and how == "strong" and found["strong"] and found["strong"].strip() == "=":
        if line[start:end].isupper() and kind not in PASSWORDS and _is_env(value):
            how = "env"
    if passes(kind, value, how if group == "bare" or how != "strong" else "quoted", line, at + len(value)):
        yield at, at + len(value), "password" if kind in ("pin", "passphrase") else kind
    elif kind == "password" and how == "strong" and group == "bare":
        pair = _PAIR.match(line, at + len(value))
        if pair is not None and "/" in pair[0][:4]:
            said = pair["value"].rstrip(_CLOSING)
            if has_digit_or_symbol(said) and passes("password", said, "strong", line, pair.start("value") + len(said)):
                yield pair.start("value"), pair.start("value") + len(said), "password"


def _opening(
    line: str, start: int, end: int, kind: str, things: list[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """The code of what is opened with it: a thing and a word for a code near one another, or a thing and a sign."""
    if kind == "place":
        return
    if kind == "thing":
        found = None if line[start - 1 : start] == "_" else _value().match(line, end)
        if found and (found["strong"] or "=").strip() != "=" and (number := numbered("door-code", line, _start(found))):
            if number[1] - number[0] >= _LEAST_CODE:
                yield number
        return
    near = [at for at in things if start - _NEAR <= at[1] <= start or end <= at[0] <= end + _NEAR]
    if near:
        yield from (
            list(_after(line, start, end, "door-code"))
            or list(_near_number(line, end, "door-code"))
            or list(_before(line, min(start, near[0][0]), max(end, near[-1][1]), "door-code"))
        )


def _near_number(line: str, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    """A number off its label, in the same sentence: behind a sign or a verb, or at the end."""
    closed = _SENTENCE_END.search(line, end, end + _NEAR)
    for match in _DIGIT_RUN.finditer(line, end, closed.start() if closed else end + _NEAR):
        number = numbered(kind, line, match.start())
        if number and "[redacted:" not in line[end : number[0]]:
            long = sum(map(str.isdigit, line[number[0] : number[1]])) >= NUMBERS[kind][1]
            if long and (_is_before().search(line, end, number[0]) or _CLAUSE_END.match(line, number[1])):
                yield number
            return


@cache
def _is_before() -> re.Pattern[str]:
    return re.compile(
        rf"(?:[:→]|(?<=\s)[=-]|(?<![^\W\d_])(?:{choice('is', True)})|(?:{choice('is', False)}))[\s\"'`]{{0,3}}$",
        re.IGNORECASE,
    )


@cache
def _ends_there() -> re.Pattern[str]:
    return re.compile(
        rf"{_CLAUSE_END.pattern}|[ \t](?:{choice('for', True)})(?![^\W\d_])|[ ]?[^\x00-\u2fff]", re.IGNORECASE
    )


@cache
def _named_by() -> re.Pattern[str]:
    """What stands before a label that names it: "x is the password", "x (PIN)", "x = wifi password"."""
    return re.compile(
        rf"""(?<![^\s"'`|<>(])(?P<value>[^\s"'`|<>(]{{3,128}})(?P<quote>["'`]{{0,2}})
        (?:[ ]?[(\[][ ]?|[ ,;]{{0,2}}[ \t](?:\#|//|--|<!--|/\*)[ ]?|[ ][=-][ ]|[ ]?<-[ ]?|\t|[ ](?:as|als|como|comme|come|som|jako|как|як|{choice("is", True)})[ ]
          |[ ]{{0,2}}(?:{choice("is", False)})[ ]{{0,2}})
        (?:[\w'’-]{{1,14}}[ -]){{0,3}}$""",
        re.VERBOSE | re.IGNORECASE,
    )


def _before(line: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    """What stands before its label, with a sign or a verb between: a number, or a word that looks like a password."""
    found = _named_by().search(line, max(0, start - 2 * _NEAR - 40), start)
    if found is None or kind in NO_VALUE or not (found["quote"] or _ends_there().match(line, end)):
        return
    value, at = found["value"].lstrip("([{"), found.end("value")
    at -= len(value)
    if kind in NUMBERS and kind != "card-code":
        number = numbered(kind, line, at)
        if number and number[1] == found.end("value") and number[1] - at >= 4:
            yield number
            return
    if (kind in NUMBERS and kind != "pin") or is_no_secret(value) or not has_digit_or_symbol(value):
        return
    if kind in ("password", "pin", "passphrase"):
        likely = is_mixed(value) or is_disorderly(value) or is_random(value, 8, 1) or _signed(value)
    else:
        likely = passes(kind, value, "strong", value, len(value))
    if likely:
        yield at, at + len(value), "password" if kind in ("pin", "passphrase") else kind


def answer(text: str) -> tuple[int, int, str] | None:
    """The first word of an answer that looks like a password."""
    for match in _WORD_NEAR.finditer(text, 0, _NEAR):
        value = match[0].rstrip(_CLOSING)
        if (is_mixed(value) or is_disorderly(value) or _signed(value)) and not is_no_secret(value):
            return match.start(), match.start() + len(value), "password"
    return None


def _signed(value: str) -> bool:
    return (
        len(value) >= 8
        and _SIGN.search(value) is not None
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def _further(line: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    """A password off its label: behind what it is for, or in the same sentence where it looks like nothing else."""
    if kind == "person-id" and end - start <= SHORT and not line[start:end].isupper():
        return
    if kind in NUMBERS and kind not in ("card-code", "account-number"):
        yield from _near_number(line, end, kind)
        return
    if (inside := _IN_BRACKETS.match(line, end)) and kind not in NO_VALUE:
        value = inside["value"]
        if passes(kind, value, "strong", value, len(value)) and has_digit_or_symbol(value):
            yield (*inside.span("value"), "password" if kind == "passphrase" else kind)
        return
    if kind in ("token", "api-key", "private-key", "secret", "key") and not _WITHIN_WORD.match(line, end):
        until = _SENTENCE_END.search(line, end, end + _NEAR)
        for match in _RUN_NEAR.finditer(line, end, (until.start() if until else end + _NEAR) + 256):
            if match.start() > end + _NEAR or "[redacted:" in line[end : match.start()]:
                return
            if len(_JOINS.findall(line, end, match.start())) > 1:
                return
            by_verb = _is_before().search(line, end, match.start()) is not None
            if is_keylike(match[0], line[max(0, match.start() - 400) : match.start()], by_verb):
                yield (*match.span(), "token" if kind == "key" else kind)
                return
    if kind == "wifi" and (named := _OF.match(line, end)) and not named["user"]:
        value = named["value"].rstrip(_CLOSING)
        if len(value) >= 8 and (is_mixed(value) or _signed(value)) and not is_no_secret(value):
            yield named.start("value"), named.start("value") + len(value), "password"
        return
    if kind not in ("password", "passphrase", "login"):
        return
    if _WITHIN_WORD.search(line[start - 1 : start] + line[end : end + 1]):
        return
    found = _OF.match(line, end)
    if found is not None and (found["user"] or kind != "login"):
        value = found["value"].rstrip(_CLOSING)
        stop = found.start("value") + len(value)
        logs_in = has_digit_or_symbol(value) and passes("password", value, "strong", line, stop)
        if logs_in if kind == "login" else is_mixed(value):
            yield found.start("value"), stop, "password"
            return
    if kind != "login":
        closed = _SENTENCE_END.search(line, end, end + _NEAR)
        for match in _WORD_NEAR.finditer(line, end, closed.start() if closed else end + _NEAR):
            value = match[0].rstrip(_CLOSING)
            signs = _SIGN.search(value) is not None and any(map(str.isalpha, value)) and any(map(str.isdigit, value))
            if (signs or is_random(value, 8)) and len(value) >= 8 and is_disorderly(value):
                yield match.start(), match.start() + len(value), "password"
                return
        joined = _JOINED_NEAR.search(line, end, closed.start() if closed else end + 3 * _NEAR)
        if joined is not None and joined.start() < end + _NEAR and is_joined(joined[0], _JOINED_NEAR):
            yield (*joined.span(), "password")


def _start(found: re.Match[str]) -> int:
    return next(found.start(name) for name in (*_QUOTES, "bare") if found[name] is not None)


def _codes(line: str, at: int) -> Iterator[tuple[int, int, str]]:
    first = CODE.match(line, at)
    while code := (CODE if first is None or at <= first.start() else _NEXT_CODE).match(line, at):
        if is_no_secret(code["value"]) or (QUANTITY.fullmatch(code["value"]) and "-" not in code["value"]):
            return
        yield (*code.span("value"), "recovery-code")
        at = code.end()


def numbered(kind: str, line: str, at: int) -> tuple[int, int, str] | None:
    """The number of that ``kind`` that begins at ``at``; a year and a day are none."""
    if kind == "iban":
        end = iban_end(line, at)
        return (at, end, kind) if end else None
    number = NUMBERS[kind][0].match(line.replace("\t", " "), at)
    if number is None or _YEAR.fullmatch(number[0]) or (is_no_secret(number[0]) and kind != "person-id"):
        return None
    digits = sum(map(str.isdigit, number[0]))
    if kind == "person-id" and (digits < 4 or len(number[0]) < 6 or _DAY.fullmatch(number[0])):
        return None
    return (*number.span(), "password" if kind == "pin" else kind)


def _is_env(value: str) -> bool:
    return len(value) >= 8 and any(map(str.isalpha, value))
