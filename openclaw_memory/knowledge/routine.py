"""Words that everyday English is made of, and abbreviations of any subject: alone or in a phrase they name no concept.

They are data: ``routine.txt``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ..text.analysis import STOP_WORDS
from ..text.dates import MONTH_NUMBERS, WEEKDAY_SPELLINGS, WEEKDAYS


@cache
def sections(file: str) -> dict[str, frozenset[str]]:
    """The words of a file of this package by its sections, each of which a line with its name in brackets begins."""
    out: dict[str, set[str]] = {}
    name = ""
    for line in files(__package__).joinpath(file).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif not line.startswith("#"):
            out.setdefault(name, set()).update(line.split())
    return {section: frozenset(words) for section, words in out.items()}


def listed(section: str) -> frozenset[str]:
    """The words of a section of ``routine.txt``, which says what each is for."""
    return sections("routine.txt")[section]


def _forms(verb: str) -> set[str]:
    if verb.endswith("e"):
        return {verb, verb + "s", verb + "d", verb[:-1] + "ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
    plural = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    doubled = {verb + verb[-1] + "ed", verb + verb[-1] + "ing"} if verb[-1] in "bdgklmnprtv" else set()
    return {verb, plural, verb + "ed", verb + "ing"} | doubled


#: Words, in small letters, of which none makes a name or a phrase.
ROUTINE = frozenset(
    STOP_WORDS.union(
        MONTH_NUMBERS,
        WEEKDAY_SPELLINGS,
        (f"{name.lower()}s" for name in WEEKDAYS),
        *map(listed, ("calendar", "numbers", "function", "qualities", "things", "irregular", "marks")),
        *map(_forms, listed("verbs")),
    )
)
#: Words, in small letters, that are no name by themselves.
NAMELESS = ROUTINE.union(listed("labels"), listed("orders"))
#: What is written in capitals in notes on any subject: formats, protocols, roles, time zones, emphasis.
ABBREVIATIONS = listed("abbreviations")
#: How German adjectives before a noun end.
ADJECTIVE_ENDS = tuple(listed("adjective-ends"))
#: How German nouns end that are no names.
NOUN_ENDS = tuple(listed("noun-ends"))
#: Ordinary words that people and tools are called by too: found only in their own case.
ORDINARY = listed("ordinary")
#: Files that every workspace has, without their ending: no names of anything.
GENERAL_FILES = listed("files")
#: Words of programming languages, and of the messages of commits.
LITERALS = listed("literals") | listed("commits")
#: Endings of adverbs, of words that are rather said of something than names of it, and of these and abstract nouns.
ADVERB_ENDS = tuple(listed("adverb-ends"))
LOOSE_ENDS = (*ADVERB_ENDS, *listed("loose-ends"))
NAMELESS_ENDS = (*LOOSE_ENDS, *listed("nameless-ends"))
