"""The word lists and patterns of the rules, from ``fact_words.txt``: one set for all languages, patterns for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(slots=True)
class Words:
    """What one language says: lists by name, and patterns as relation and text."""

    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: list[tuple[str, str]] = field(default_factory=list)


@cache
def languages() -> Mapping[str, Words]:
    """Words by language, ISO 639-1."""
    out: dict[str, Words] = {}
    words = Words()
    for line in files(__package__).joinpath("fact_words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = out.setdefault(line.strip("[] "), Words())
        elif line and not line.startswith("#"):
            name, colon, said = line.partition(": ")
            if colon and name.isalpha():
                words.lists[name] = tuple(part.strip().casefold() for part in said.split(";"))
            else:
                relation, _, pattern = line.partition(" = ")
                words.patterns.append((relation, pattern))
    return out


@cache
def every(name: str) -> frozenset[str]:
    """The words of a list in all languages."""
    return frozenset(word for words in languages().values() for word in words.lists.get(name, ()))
