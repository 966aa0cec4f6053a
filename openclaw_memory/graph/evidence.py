"""Decide from counts which candidates are concepts, and how much each matters, whatever the order of ingest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..knowledge.lexicon import LITERALS, NAMELESS, ORDINARY, is_generic_name, is_generic_noun
from ..records import NamedTuple
from ..store.api import RULES
from ..text.language import ENGLISH

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Points of a mention by its rule; in a unit the strongest one of a key counts.
POINTS = {
    "curated": 8, "link": 8, "tag": 8, "meta": 8, "code": 8, "name": 6, "quoted": 3, "phrase": 2, "start": 1, "file": 1,
    "part": 0, "plain": 1,
}  # fmt: skip
#: Rules of which one mention makes a name believable.
STRONG = frozenset({"curated", "link", "tag", "meta", "code", "name", "quoted"})
#: Rules by which a person says outright that something is a concept.
EXPLICIT = frozenset({"curated", "link", "tag", "meta"})
#: Rules that go by the spelling alone: a capital or quotes may also stand at an everyday word.
_SPELLING_RULES = ("name", "quoted")


def columns(*rules: str) -> list[int]:
    """Return the columns of the counts of ``rules``."""
    return [RULES.index(rule) for rule in rules]


#: Matrix that turns counts by rule into sums: of all units, their points, and those of groups of rules.
_SUMS = np.array(
    [
        [
            1,
            POINTS[rule],
            *(rule in group for group in (EXPLICIT, STRONG, _SPELLING_RULES, ("plain",), ("code",), ("phrase",))),
        ]
        for rule in RULES
    ],
    np.float32,
)


def decide(counts: Ints, documents: Ints, total: int, all_documents: int) -> Bools:
    """Decide which keys are concepts; ``bool[n]``.

    ``counts`` are a key's distinct units by the strongest rule of each, ``int[n, rules]``; ``documents`` counts
    those that mention it; ``total`` and ``all_documents`` are those of the corpus.  Two units are needed (a phrase
    needs more).  A word with a capital is a name when it has one as often as none.  A key in more than a few per
    cent of the units must be marked as a concept, be a name, or come in bursts (:func:`burst`).
    """
    # Numpy multiplies floats several times as fast, and up to 2**24, two million units, they are exact.
    sums = (counts.astype(np.float32) @ _SUMS).T.astype(np.float64)
    units, points, explicit, strong, spelt, plain, code, phrase = sums
    # One sure mention and one other are 7 points; 1.25 a unit are more than one capital among two dozen plain uses.
    named = (strong >= 1) & (units >= 2) & (points >= 7) & (points >= 1.25 * units)
    named &= (explicit > 0) | (code > 0) | ((spelt >= plain) & (spelt >= 0.15 * units))
    # A phrase needs one unit more for each doubling of a corpus of 2,000 units.
    grown = int(np.log2(max(1.0, total / 2_000)))
    free = (phrase >= 3 + grown) & (points >= POINTS["phrase"] * units)
    rare = units <= max(3, 0.06 * total)
    often = (explicit > 0) | (2 * strong >= units) | (burst(units, documents, all_documents) >= 0.5)
    return np.asarray((named | free) & (rare | often), dtype=np.bool_)


def burst(units: Ints, documents: Ints, all_documents: int) -> Floats:
    """Return the residual inverse document frequency, in bits: how much rarer in documents than by chance.

    Church and Gale (1995), "Inverse document frequency (IDF): a measure of deviations from Poisson": words of
    everyday language are spread as if by chance, those of a subject come together.
    """
    n = max(all_documents, 1)
    spread = -np.log2(-np.expm1(-np.maximum(units, 1) / n))
    return np.asarray(np.log2(n / np.maximum(documents, 1)) - spread, dtype=np.float64)


def salience(counts: Ints, distinct: Ints, documents: Ints, all_documents: int, names: Sequence[str]) -> Floats:
    """Return how much each concept matters: the logarithm of its units by its reliability and its bursts; ``float[n]``.

    A name that is as often written in small letters, or with a German article before it, matters less.  ``distinct``
    counts units with different texts: a line that a report repeats every day counts once. ``names`` are those of the
    concepts: an abbreviation of two letters says little, a long compound much, and of names that differ by their
    numbers only each says the less the more there are.
    """
    units = counts.sum(axis=1)
    sure = np.zeros(len(counts))
    weighed = np.zeros(len(counts))
    for rules, value in ((EXPLICIT, 1.0), (("name",), 1.0), (("code", "quoted"), 0.5), (("phrase",), 0.4)):
        units_of = counts[:, columns(*rules)].sum(axis=1)
        sure, weighed = sure + units_of, weighed + value * units_of
    share = sure / np.maximum(units, 1)
    lively = 1 + 0.25 * np.clip(burst(units, documents, all_documents), 0, 2)
    spread = np.log2(1 + np.minimum(documents, distinct))
    spelt = counts[:, columns(*_SPELLING_RULES)].sum(axis=1)
    plain = counts[:, columns("plain")[0]]
    against = 0.7 * plain / np.maximum(sure + plain, 1)
    specific = np.array([_specificity(name, n > 0) for name, n in zip(names, spelt, strict=True)]) / _siblings(names)
    specific *= 1 - against
    # Lines that are repeated word for word are routine.
    specific *= (distinct / np.maximum(units, 1)) ** 0.35
    return np.asarray(
        specific * np.log2(1 + distinct) * (1 + 0.3 * spread) * np.sqrt(share) * weighed / np.maximum(sure, 1) * lively,
        dtype=np.float64,
    )


class Nesting(NamedTuple):
    """Pairs of names of which one lies within the other, by their places.

    ``group`` is the number of the name at each place, as some have the same.  The names ``inner[i]`` lie within
    ``outer[i]``, and ``numbered[i]`` are ``plain[i]`` with a number behind.
    """

    names: tuple[str, ...]
    group: Ints
    inner: Ints
    outer: Ints
    plain: Ints
    numbered: Ints

    @classmethod
    def build(cls, names: Sequence[str]) -> Nesting:
        """Find which of ``names``, slugs that are words joined by hyphens, lie within which others."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        within: list[tuple[int, int]] = []
        numbered: list[tuple[int, int]] = []
        for name, number in numbers.items():
            base = re.sub(r"(?:-\d{1,9}){1,9}\Z", "", name) if name[-1:].isdigit() else name
            if base == name:
                within += [(numbers[part], number) for part in _within(name) if part in numbers]
            elif base in numbers:
                numbered.append((numbers[base], number))
        group = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
        ends = [np.array(sorted(pairs), np.int64).reshape(-1, 2).T for pairs in (within, numbered)]
        return cls(tuple(names), group, *ends[0], *ends[1])

    def nested(self, units: Ints, kept: Bools) -> Bools:
        """Return the names that stand almost only within longer ones, from the ``units`` of each: ``bool[n]``.

        Frantzi, Ananiadou and Mima (2000), "Automatic recognition of multi-word terms: the C-value/NC-value method":
        the mean frequency of the longer terms around a term is subtracted from its own.  Names in ``kept`` stay.
        """
        n = int(self.group.max(initial=-1)) + 1
        most, least = np.zeros(n, np.int64), np.full(n, np.iinfo(np.int64).max)
        np.maximum.at(most, self.group, units)
        np.minimum.at(least, self.group, units)
        around = np.bincount(self.inner, minlength=n)
        longer = np.bincount(self.inner, most[self.outer], minlength=n) / np.maximum(around, 1)
        free = units - longer[self.group]
        out = (around > 0)[self.group] & ((free < 2) | (free < 0.2 * units))
        # "Raspberry Pi 5" is a Raspberry Pi: of both, the one without the number where it says no less.
        same = np.zeros(n, bool)
        same[self.numbered[most[self.numbered] >= 0.8 * least[self.plain]]] = True
        return np.asarray((out | same[self.group]) & ~kept, np.bool_)


def _specificity(name: str, spelt: bool) -> float:
    """Return how specific a name is by its form, 1 for an ordinary one."""
    if len(name) > 1 and name[0] > "\u0e00":
        return 1.0 if spelt and len(name) < len(_COMPOUND) else _COMPOUND[min(len(name), len(_COMPOUND)) - 1]
    if len(name) < 3:
        return 0.45
    if name.lower() not in ORDINARY and (name.lower() in NAMELESS or name.lower() in LITERALS):
        return 0.3  # a word of everyday language, or of programs, that is a tag or stands in quotes
    if " " in name and not spelt and name.islower():
        return 0.5  # a phrase that recurs
    return 0.5 if is_generic_name(name) or is_generic_noun(name.lower(), ENGLISH) else 1.0


#: Specificity of a compound of so many characters, where words have no spaces between them.
_COMPOUND = (0.5, 0.7, 1.0, 1.6)


def _siblings(names: Sequence[str]) -> Floats:
    """Return the divisor of each of ``names`` for those that differ from it by their numbers only; ``float[n]``."""
    rows = [re.sub(r"\d+", "0", name) if any(map(str.isdigit, name)) else "" for name in names]
    count = Counter(rows)
    return np.array([max(1.0, 0.5 * count[row]) if row else 1.0 for row in rows])


def _within(name: str) -> frozenset[str]:
    """Return the terms within a term: runs of its words, and of its characters where it has no alphabet."""
    if name.isascii() and "-" not in name:
        return frozenset()
    words = name.split("-")
    terms = {"-".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1)}
    if len(words) == 1 and not name.isascii() and name[0] > "\u0e00":
        terms = {name[a:b] for a in range(len(name)) for b in range(a + 2, len(name) + 1)}
    return frozenset(terms - {name})


def kind_of(rules: set[str], name: str) -> str | None:
    """Return the kind of a found concept by its rules: ``tag``, ``note`` or ``code``; else ``None``."""
    if "tag" in rules:
        return "tag"
    if "file" in rules:
        return "note"
    return "code" if "code" in rules and "name" not in rules else None


#: Descriptions of the rules, for a person who asks why something is a concept.
_RULE_DESCRIPTIONS = {
    "curated": "named in concepts.yaml", "link": "linked", "tag": "tagged", "meta": "in front matter",
    "code": "written as code", "name": "a name within a sentence", "quoted": "in quotes",
    "phrase": "a recurring phrase",
    "start": "at the beginning of a sentence", "file": "the name of a note", "part": "within a longer name",
    "plain": "in small letters",
}  # fmt: skip


def reason(counts: Ints, documents: int) -> str:
    """Explain in one line why something is a concept, from its units by rule."""
    rules = sorted(((int(n), rule) for rule, n in zip(RULES, counts, strict=True) if n), key=lambda pair: -pair[0])
    parts = [f"{n}× {_RULE_DESCRIPTIONS[rule]}" for n, rule in rules]
    where = "1 note" if documents == 1 else f"{documents} notes"
    return f"{', '.join(parts)}; in {where}" if parts else "named in concepts.yaml"
