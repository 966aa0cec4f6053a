"""Keeps secrets out of the index: private keys, provider tokens, passwords in assignments.

Precision comes before recall: a rule fires on a shape that prose does not have, so "the password
is in the vault" stays.  A secret becomes ``[redacted:<type>]``; line feeds are never added or
removed, so line numbers stay exact.  Every pattern is linear in the length of its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..hookspecs import hookimpl

if TYPE_CHECKING:
    from ..types import Unit


class Rule(NamedTuple):
    """One token shape: its type, the strings (lowercase) of which a line needs one, its pattern.

    The group ``secret`` is what is replaced, or the whole match where there is no such group.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def redact(self, line: str) -> str:
        """``line`` with every match replaced."""
        group = "secret" if self.pattern.groupindex else 0

        def mark(match: re.Match[str]) -> str:
            before, after = line[match.start() : match.start(group)], line[match.end(group) : match.end()]
            return f"{before}[redacted:{self.name}]{after}"

        return self.pattern.sub(mark, line)


def _rule(name: str, needles: str, pattern: str) -> Rule:
    # ``^`` stands for "no word character or hyphen before": a token starts where no longer word
    # could hold it, which also keeps a run of prefixes from being scanned once for each of them.
    start = r"(?<![\w-])" if pattern[0] == "^" else ""
    return Rule(name, tuple(needles.split()), re.compile(start + pattern.removeprefix("^"), re.ASCII))


#: The table of token shapes.  Quantifiers are possessive (``++``) or bounded: no backtracking.
RULES: tuple[Rule, ...] = (
    _rule("anthropic-key", "sk-ant-", r"^sk-ant-[\w-]{16,}+"),
    _rule("openai-key", "sk-", r"^sk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}+"),
    _rule("openai-key", "sk-", r"^sk-(?=[A-Za-z]*+\d)[A-Za-z0-9]{20,}+"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"^gh[pousr]_[A-Za-z0-9]{30,}+"),
    _rule("github-token", "github_pat_", r"^github_pat_\w{22,}+"),
    _rule("gitlab-token", "glpat- gldt- glrt- glptt-", r"^gl(?:pat|dt|rt|ptt)-[\w-]{20,}+"),
    _rule("aws-access-key", "akia asia", r"^A(?:KI|SI)A[A-Z0-9]{16}(?![\w-])"),
    _rule(
        "aws-secret-key",
        "aws secret",
        r"(?<!redacted:)(?<!redacted:aws-)(?i:aws|secret).{0,24}?(?<![\w/+-])(?=[a-z0-9]{0,39}[A-Z/+])"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=-])",
    ),
    _rule("google-key", "aiza", r"^AIza[\w-]{35,}+"),
    _rule("google-key", "gocspx- ya29.", r"^(?:GOCSPX-|ya29\.)[\w-]{20,}+"),
    _rule("slack-token", "xox xapp-", r"^(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}+"),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,}+)",
    ),
    _rule("stripe-key", "k_live_ k_test_", r"^[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _rule("stripe-key", "whsec_", r"^whsec_[A-Za-z0-9+/=]{24,}+"),
    _rule("telegram-token", ":aa", r"^\d{8,10}:AA[\w-]{32,}+"),
    # A Discord token begins with its bot's number in base64, hence with one of twelve pairs.
    _rule("discord-token", ".", r"[MNO](?<![\w-].)[DTjz][\w-]{21,27}\.[\w-]{6}\.[\w-]{27,}+"),
    _rule("npm-token", "npm_", r"^npm_[A-Za-z0-9]{36,}+"),
    _rule("pypi-token", "pypi-", r"^pypi-(?=[a-z_-]{0,60}[A-Z0-9])[\w-]{50,}+"),
    _rule("huggingface-token", "hf_", r"^hf_[A-Za-z0-9]{30,}+"),
    _rule("age-key", "age-secret-key-1", r"^AGE-SECRET-KEY-1[0-9A-Z]{50,}+"),
    _rule("jwt", "eyj", r"^eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]{8,}+)++"),
    _rule(
        "bearer-token",
        "bearer",
        r"(?i:\bbearer)[ \t]{1,8}(?=[\w.~+/-]{0,200}?(?:\d|=|[a-z][A-Z]))(?P<secret>[\w.~+/=-]{16,}+)",
    ),
    _rule(
        "authorization",
        "authorization",
        r"(?i:\bauthorization[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?(?:bearer|basic|token))[ \t]{1,8}"
        r"(?=[\w.~+/-]{0,200}?(?:\d|=|[a-z][A-Z]))(?P<secret>[\w.~+/=-]{8,}+)",
    ),
    # Greedy up to the last "@" before a slash: a password may hold one itself.
    _rule("url-password", "://", r"://[^\s/:@]{0,64}+:(?![$<{*\[])(?P<secret>[^\s/\"'`<>]{1,200})@"),
    # An OpenSSH key's body starts with the name of its format: known even without its BEGIN line.
    _rule("private-key", "b3blbnnzac1rzxktdj", r"(?<![\w+/])b3BlbnNzaC1rZXktdj[A-Za-z0-9+/=]{20,}+"),
)

# What is assigned: ``password: x``, ``**Password:** x``, ``"api_key": "x"``, ``DB_PASSWORD=x``,
# ``--token x``, ``password is `x```.  Whether x is a secret is for :func:`_looks_secret` to say.
_ASSIGNMENT = re.compile(
    r"""(?P<name>passw(?:or)?d|passphrase|pwd|(?-i:(?<=_)PASS)|secret|token|credential
        |(?:api|access|auth|private|secret|signing|encryption)[ _-]?key) (?:_?\d{1,2})? ["'`*]{0,3}
        (?P<sep>[ \t]{0,4}(?::=|=>|[:=](?!=))\*{0,2}[ \t]{0,4}
            | [ \t]{1,2}(?:is|was)[ \t]{1,2}(?=["'`]) | [ \t])
        (?: (?P<quote>["'`]) (?P<quoted>[^"'`]{4,512}+) (?P=quote) | (?P<bare>[^\s"'`|]{4,128}+) )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_ASSIGNMENT_NEEDLES = (
    *("passw", "passphrase", "pwd", "_pass=", "secret", "token", "credential"),
    *("api_key", "apikey", "api-key", "api key", "access_key", "accesskey", "access-key", "access key"),
    *("auth_key", "private_key", "signing_key", "encryption_key"),
)
_SECRET_HEADER = re.compile(r"(?i)[\s*`]*(password|passwd|passphrase|pwd|secret|token|api[ _-]?key)[\s*`]*")

# Words, references to elsewhere, calls, paths, dates and earlier marks: values that are no secret.
_NOT_SECRET = re.compile(
    r"""(?:none|null|nil|true|false|required|optional|unset|empty|redacted|change-?me|example|placeholder
        |secret|password|token|string|hidden|unknown|todo|tbd|x{3,}|\*{3,}|\.{3,}|n/a)$
        |your[-_ ]|my[-_]|[$<{\[%(]|~?\.{0,2}/|\w{1,12}://|[A-Za-z_][\w.]{0,80}[(\[]|\d{4}-\d\d-\d\d""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_QUANTITY = re.compile(r"v?\d+(?:\.\d+)+\S*|\d+-?[A-Za-z]+", re.ASCII)
_SLUG = re.compile(r"[A-Za-z]++\d{0,3}(?:[-_./:][A-Za-z]*+\d{0,3})*+", re.ASCII)
_DASHED_FLAG = re.compile(r"(?<![\w-])--(?:\w{1,20}-){0,3}$", re.ASCII)
_CLOSING = ",;.)]}*_"
_WORD_END = re.compile(r"[\s\"'`|]")
_LONGEST = 128  # of a bare value that is looked at; what is left of a longer word goes with it


def _looks_secret(kind: str, value: str, *, delimited: bool, env: bool) -> bool:
    password = kind == "password"
    if len(value) < (4 if password else 8) or _NOT_SECRET.match(value):
        return False
    digit, letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    if any(map(str.isspace, value)):
        return password and delimited and digit
    if env or (password and delimited):
        return password or letter
    if password:
        return len(value) >= 5 and digit and letter and not _QUANTITY.fullmatch(value)
    return len(value) >= (8 if delimited else 12) and digit and letter and not _SLUG.fullmatch(value)


def _kind(name: str) -> str:
    name = name.lower()
    if name.startswith("p") and not name.startswith("private"):
        return "password"
    return "api-key" if name.endswith("key") else name


def _redact_assignments(line: str) -> str:
    parts: list[str] = []
    copied = at = 0
    while match := _ASSIGNMENT.search(line, at):
        group = "quoted" if match["quoted"] is not None else "bare"
        start, end = match.span(group)
        at = start  # on rejection the value itself may hold the next assignment
        if match["sep"].isspace() and not _DASHED_FLAG.search(line[max(0, match.start() - 66) : match.start()]):
            continue
        value = match[group].rstrip(_CLOSING) if group == "bare" else match[group]
        kind, env = _kind(match["name"]), match["name"].isupper() and match["sep"] == "="
        if _looks_secret(kind, value, delimited=group == "quoted", env=env):
            if group == "bare" and end - start == _LONGEST:
                rest = _WORD_END.search(line, end)
                end = rest.start() if rest else len(line)
            else:
                end = start + len(value)
            parts += [line[copied:start], f"[redacted:{kind}]"]
            copied = at = end
    return "".join([*parts, line[copied:]])


def _redact_table_columns(lines: list[str]) -> None:
    """Redact the cells below a header cell such as ``Password``, in place."""
    columns: dict[int, str] = {}
    for i, line in enumerate(lines):
        if line.count("|") < 2:
            columns = {}
        elif columns:
            cells = line.split("|")
            for column, kind in columns.items():
                value = cells[column].strip(" \t`*") if column < len(cells) else ""
                if _looks_secret(kind, value, delimited=True, env=False):
                    cells[column] = cells[column].replace(value, f"[redacted:{kind}]")
            lines[i] = "|".join(cells)
        elif i + 1 < len(lines) and "--" in lines[i + 1] and not lines[i + 1].strip(" \t|:-"):
            headers = ((n, _SECRET_HEADER.fullmatch(cell)) for n, cell in enumerate(line.split("|")))
            columns = {n: _kind(found[1]) for n, found in headers if found}


_KEY_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16}")
# Up to the next row of dashes: the body of a key that is written on one line, ``\n`` and all.
_KEY_INLINE_BODY = re.compile(r"(?:[^-]|-(?!---))*+")
_KEY_LINE = re.compile(
    r"""[\s>|"'`+*]*+ (?: (?P<long>[A-Za-z0-9+/]{16,}+=*+) | =?[A-Za-z0-9+/]{0,15}+=*+
        | (?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[\w-]{1,40}+):.* )
        (?:\\n|[\s"'`,;+\\])*+""",
    re.VERBOSE | re.ASCII,
)
_KEY_MARK = "[redacted:private-key]"


def _redact_key_blocks(lines: list[str]) -> None:
    """Replace private-key blocks, in place: the mark where the key began, then empty lines."""
    for i, line in enumerate(lines):
        parts: list[str] = []
        copied = at = 0
        while begin := _KEY_BEGIN.search(line, at):
            body = _KEY_INLINE_BODY.match(line, begin.end())
            assert body is not None  # the pattern matches the empty string
            at = body.end()
            if at == len(line):
                last, tail = _key_block_end(lines, i, body[0])
                if last is not None:
                    parts, copied = [*parts, line[copied : begin.start()], _KEY_MARK], at
                    lines[i + 1 : last + 1] = ["" for _ in range(last - i)]
                    if last > i:
                        lines[last] = tail
                break
            if closed := _KEY_END.match(line, at):
                at = closed.end()
            if _KEY_BASE64.search(body[0]):
                parts, copied = [*parts, line[copied : begin.start()], _KEY_MARK], at
        if parts:
            lines[i] = "".join([*parts, line[copied:]])


def _key_block_end(lines: list[str], first: int, rest: str) -> tuple[int | None, str]:
    """Last line of the key that begins on line ``first``, and what follows its END mark there.

    A block without END (a note that was cut off) ends with its last line of key material; a BEGIN
    without key material is prose about keys: ``None``.
    """
    last = first if _KEY_BASE64.search(rest) else None
    for i in range(first + 1, len(lines)):
        if end := _KEY_END.search(lines[i]):
            if last is None and not _KEY_BASE64.search(lines[i][: end.start()]):
                return None, ""
            return i, lines[i][end.end() :].rstrip()
        found = _KEY_LINE.fullmatch(lines[i])
        if not found:
            break
        if found["long"]:
            last = i
    return last, ""


_NEEDLES = tuple((needle, rule) for rule in RULES for needle in rule.needles)


def redact_lines(lines: Iterable[str]) -> list[str]:
    """The lines of a document with its secrets replaced; as many come out as went in.

    Works on a whole document because a private key, or the header of a table, spans lines.
    """
    out = list(lines)
    whole = "\n".join(out).lower()
    # The lowercase text is only asked whether a needle is in it, so its length may differ.
    rules = [(needle, rule) for needle, rule in _NEEDLES if needle in whole]
    assignments = [needle for needle in _ASSIGNMENT_NEEDLES if needle in whole]
    if not rules and not assignments and "private key" not in whole:
        return out
    if "private key" in whole and "begin " in whole:
        _redact_key_blocks(out)
    for i, line in enumerate(out):
        low = line.lower()
        for needle, rule in rules:
            if needle in low:
                out[i] = rule.redact(out[i])
        for needle in assignments:
            if needle in low:
                out[i] = _redact_assignments(out[i])
                break
    if assignments and "|" in whole:
        _redact_table_columns(out)
    return out


# A quick look at one line, for units: most hold no word of the length that every token shape has,
# and none of the strings that announce a shorter secret.
_LONG_WORD = re.compile(r"[^ ]{16}")
_ANNOUNCED = (
    *("passw", "passphrase", "pwd", "_pass=", "secret"),
    *("token", "credential", "key", "authorization", "://"),
)


def redact_text(text: str) -> str:
    """``text`` with its secrets replaced and its line feeds where they were."""
    low = text.lower()
    if not _LONG_WORD.search(text) and "\n" not in text:
        for needle in _ANNOUNCED:
            if needle in low:
                break
        else:
            return text
    return "\n".join(redact_lines(text.split("\n")))


@hookimpl
def openclaw_memory_prepare_lines(lines: list[str]) -> list[str] | None:
    """Redact a whole file: only here is a key block of many lines seen as one."""
    redacted = redact_lines(lines)
    return None if redacted == lines else redacted


@hookimpl
def openclaw_memory_prepare_unit(unit: Unit) -> Unit | None:
    """Redact a unit's text and what is indexed of it; ``None`` when there is nothing to redact."""
    text = redact_text(unit.text)
    indexed = None if unit.indexed is None else redact_text(unit.indexed)
    if text == unit.text and indexed == unit.indexed:
        return None
    return replace(unit, text=text, indexed=indexed)
