"""The shapes of secrets that are known by themselves, of ``shapes.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ...text import word_lists
from . import opaque


class Rule(NamedTuple):
    """One shape: its type, the strings (lowercase) of which a line needs one if there are any, its pattern.

    The group ``secret`` is what is replaced, or the whole match where there is no such group.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def spans(self, line: str) -> Iterator[tuple[int, int, str]]:
        """Where ``line`` holds such a secret: first character, the one after the last, type."""
        group = "secret" if self.pattern.groupindex else 0
        for match in self.pattern.finditer(line):
            yield (*match.span(group), self.name)


@cache
def rules() -> tuple[Rule, ...]:
    """The table of shapes."""
    found = []
    for _, line in word_lists.lines_of(__package__, "shapes.txt"):
        name, needles, pattern = line.split("\t")
        start = r"(?<![A-Za-z0-9_-])" if pattern[0] == "^" else ""
        needed = () if needles == "-" else tuple(needles.split())
        found.append(Rule(name, needed, re.compile(start + pattern.removeprefix("^"), re.ASCII)))
    return tuple(found)


@cache
def _automaton() -> Any:
    """Finds the needles in a line in small letters, each with the numbers of its rules."""
    import ahocorasick

    found = ahocorasick.Automaton()
    for n, rule in enumerate(rules()):
        for needle in rule.needles:
            found.add_word(needle, (*found.get(needle, ()), n))
    found.make_automaton()
    return found


@cache
def _without_needle() -> frozenset[int]:
    return frozenset(n for n, rule in enumerate(rules()) if not rule.needles)


def spans(line: str, low: str) -> list[tuple[int, int, str]]:
    """Where ``line`` holds a secret of a known shape; ``low`` is the line in small letters."""
    wanted = sorted(_without_needle().union(*(several for _, several in _automaton().iter(low))))
    return [
        (start, end, kind)
        for n in wanted
        for start, end, kind in rules()[n].spans(line)
        if kind != "ethereum-key" or not opaque.is_transaction(line, start)
    ]
