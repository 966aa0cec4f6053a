"""Words that everyday English is made of, and abbreviations of any subject: alone or in a phrase they name no concept.

They are data: ``routine.txt``.
"""

from __future__ import annotations

from importlib.resources import files

from ..text.analysis import STOP_WORDS
from ..text.dates import MONTH_NUMBERS, WEEKDAY_SPELLINGS, WEEKDAYS


def _read() -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    name = ""
    for line in files(__package__).joinpath("routine.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif not line.startswith("#"):
            out.setdefault(name, []).extend(line.split())
    return out


def _forms(verb: str) -> set[str]:
    if verb.endswith("e"):
        return {verb, verb + "s", verb + "d", verb[:-1] + "ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
    plural = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    doubled = {verb + verb[-1] + "ed", verb + verb[-1] + "ing"} if verb[-1] in "bdgklmnprtv" else set()
    return {verb, plural, verb + "ed", verb + "ing"} | doubled


_WORDS = _read()
_PLAIN = ("calendar", "numbers", "function", "qualities", "things", "irregular", "marks")
#: Words, in small letters, of which none makes a name or a phrase.
ROUTINE = frozenset(
    STOP_WORDS.union(
        MONTH_NUMBERS,
        WEEKDAY_SPELLINGS,
        (f"{name.lower()}s" for name in WEEKDAYS),
        *(_WORDS[each] for each in _PLAIN),
        *map(_forms, _WORDS["verbs"]),
    )
)
#: Words, in small letters, that are no name by themselves.
NAMELESS = ROUTINE.union(_WORDS["labels"], _WORDS["orders"])
#: What is written in capitals in notes on any subject: formats, protocols, roles, time zones, emphasis.
ABBREVIATIONS = frozenset(_WORDS["abbreviations"])
#: What stands before a German noun, and not before a name.
ARTICLES = frozenset(_WORDS["articles"])
#: How German adjectives before a noun end.
ADJECTIVE_ENDS = tuple(_WORDS["adjective-ends"])
#: How German nouns end that are no names.
NOUN_ENDS = tuple(_WORDS["noun-ends"])
#: Ordinary words that people and tools are called by too: found only in their own case.
ORDINARY = frozenset(_WORDS["ordinary"])
#: Keys of front matter that say what a file is about.
ABOUT = frozenset(_WORDS["about"])
#: Files that every workspace has, without their ending: no names of anything.
GENERAL_FILES = frozenset(_WORDS["files"])
#: What stands before a hyphen and makes no identifier.
PREFIXES = frozenset(_WORDS["prefixes"])
#: Words of programming languages, and of the messages of commits.
LITERALS = frozenset(_WORDS["literals"] + _WORDS["commits"])
#: What the names of time zones begin with.
REGIONS = frozenset(_WORDS["regions"])
#: Units, and pronouns with a capital, that stand beside a name and are no part of it.
TAILS = frozenset(_WORDS["tails"])
#: Endings of adverbs, of words that are rather said of something than names of it, and of these and abstract nouns.
ADVERB_ENDS = tuple(_WORDS["adverb-ends"])
LOOSE_ENDS = (*ADVERB_ENDS, *_WORDS["loose-ends"])
NAMELESS_ENDS = (*LOOSE_ENDS, *_WORDS["nameless-ends"])
