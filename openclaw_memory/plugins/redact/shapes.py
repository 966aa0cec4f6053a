"""Find secrets by their shape: those of ``gitleaks.toml``, a list of others, and our own.

``gitleaks.toml`` is the file of https://github.com/gitleaks/gitleaks (MIT, ``gitleaks.LICENSE.txt``) as it is there.
Of its rules those are used that need no word before the secret.  Where a rule begins with a prefix that nothing else
has, what follows that prefix may also be longer or shorter than the rule says: providers lengthen their tokens, and
people cut them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ... import patterns as re
from ...records import NamedTuple
from ...text import word_lists
from .plain import lower

#: Parts of rules that are not used: a word and a sign before the secret, which labels do better; and public strings.
_ELSEWHERE = ("[ \\t\\w.-]{0,20}", ".*", "(?s:", "[\\s\\S", "|[a-fA-F0-9]{40})")
#: The end of a secret there: here also the end of a sentence, of a cell or of a link.
_ENDS_IN_CODE = re.compile(r"\(\?:\[\\x60'\"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)|\(\?:\[\^[^]]*\]\|\\z\)")
#: The name of a hash of a transaction or of a block, which looks like a key.
_TRANSACTION = re.compile(
    r"(?:tx|txn|hash|transaction|block|root|commit\w*|proof)\W{0,6}(?:hash|id)?\W{0,6}$", re.IGNORECASE
)
_BORDER = r"(?<![A-Za-z0-9_-])"
#: A prefix that is followed by a run of signs of one class, and how long that is.
_PREFIX = re.compile(
    r"(?:\\b|\()*(?P<head>[A-Za-z0-9]{2,16}(?:(?:_|-|\\?\.|~)[A-Za-z0-9]{0,12}){1,3})(?P<flag>\(?(?:\?i[):])?)"
    r"(?P<signs>\[[^]]+\]|\\w)\{(?P<count>\d+)"
)
#: An argument of a command, in quotes or not, that is no variable and no option: <value> in shapes.txt.
_VALUE = r"(?P<secret>(?![\"']?[$<{%\[])(?:\"[^\"\n]{3,128}\"|'[^'\n]{3,128}'|[^\s\"'-][^\s\"']{2,127}))"


class Rule(NamedTuple):
    """One shape: its type, the strings (lowercase) of which a line needs one if there are any, its pattern.

    The group ``secret`` is replaced, or the whole match if there is no such group.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def spans(self, line: str) -> Iterator[tuple[int, int, str]]:
        """Yield such secrets of ``line``: first character, the one after the last, type."""
        named = "secret" in self.pattern.groupindex
        for match in self.pattern.finditer(line):
            # What gitleaks takes in around a secret stays.
            whole = named or not self.pattern.groups or 2 * len(match[1] or "") < len(match[0])
            yield (*match.span("secret" if named else 0 if whole else 1), self.name)


def _rule(name: str, needles: tuple[str, ...], pattern: str) -> Rule:
    return Rule(name, needles, re.compile(pattern, re.ASCII))


@cache
def rules() -> tuple[Rule, ...]:
    """Return the table of shapes, our own before the others."""
    listed = []
    for _, line in word_lists.lines_of(__package__, "shapes.txt"):
        name, needles, pattern = line.split("\t")
        start = _BORDER if pattern[0] == "^" else ""
        needed = () if needles == "-" else tuple(needles.split())
        listed.append(_rule(name, needed, start + pattern.removeprefix("^").replace("<value>", _VALUE)))
    return (*listed, *_gitleaks_rules())


def _gitleaks_rules() -> Iterator[Rule]:
    import tomllib

    text = word_lists.read_text(__package__, "gitleaks.toml")
    for table in text.split("[[rules]]")[1:]:
        pattern = table.partition("\nregex = ")[2].partition("\n")[0]
        # What spans lines, begins with anything at all, or is a mere hash is looked for elsewhere.
        if not pattern or any(part in pattern for part in _ELSEWHERE):
            continue
        rule = tomllib.loads(table.partition("\n[[")[0])  # without the rest of the file, which is long
        if rule["id"].endswith(("-client-id", "-public-key")):
            continue
        pattern = rule["regex"]
        yield _rule(rule["id"], tuple(rule["keywords"]), _BORDER + _python(pattern))
        if prefix := _PREFIX.match(pattern):
            head, least = prefix["head"].replace("\\", ""), max(16, int(prefix["count"]) * 6 // 10)
            run = f"{prefix['signs']}{{{least},}}+"
            run = f"(?i:{run})" if "i" in prefix["flag"] else run
            yield _rule(rule["id"], (head.lower(),), f"{_BORDER}{re.escape(head)}(?=[A-Za-z_-]{{0,60}}[0-9]){run}")


def _python(pattern: str) -> str:
    """Translate a pattern of RE2: flags within hold to the end, and classes have names."""
    pattern = _ENDS_IN_CODE.sub(r"(?![A-Za-z0-9_])", pattern).replace("[[:alnum:]]", "[A-Za-z0-9]")
    flags = pattern.find("(?i)")
    if flags < 0:
        return pattern
    head, tail = pattern[:flags], pattern[flags + 4 :].replace("(?i)", "")
    # The group that the flag stands in ends where more is closed than was opened.
    depth = 0
    for at, sign in enumerate(tail):
        if sign in "()" and tail[at - 1 : at] != "\\":
            depth += 1 if sign == "(" else -1
            if depth < 0:
                return f"{head}(?i:{tail[:at]}){tail[at:]}"
    return f"{head}(?i:{tail})"


def signs() -> set[str]:
    """Return the strings that announce shapes without a long run: a line with one of them is looked at."""
    return {
        needle
        for rule in rules()
        for needle in rule.needles
        if len(needle) >= 3 and (needle[-1] in "_-" or not rule.pattern.pattern.startswith(_BORDER))
    } | {"@", "<<", "-u "}


@cache
def _automaton() -> tuple[Any, frozenset[int]]:
    """Return an automaton that finds needles in a line, each with the numbers of its rules, and those without any."""
    import ahocorasick

    automaton = ahocorasick.Automaton()
    for n, rule in enumerate(rules()):
        for needle in rule.needles:
            automaton.add_word(needle, (*automaton.get(needle, ()), n))
    automaton.make_automaton()
    return automaton, frozenset(n for n, rule in enumerate(rules()) if not rule.needles)


def find_shapes(line: str) -> list[tuple[int, int, str]]:
    """Return the secrets of ``line`` that have a known shape."""
    automaton, always = _automaton()
    return [
        (start, end, kind)
        for n in sorted(always.union(*(several for _, several in automaton.iter(lower(line)))))
        for start, end, kind in rules()[n].spans(line)
        if kind != "ethereum-key" or not _TRANSACTION.search(line, max(0, start - 32), start)
    ]
