"""What the facts of one file say of each other: where two of them cannot both be meant, neither is shown."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from ..model import FoundFact
from ..text.dates import date_in_heading
from ..text.negation import negations
from .predicates import is_single, normalise

_WORD = re.compile(r"[^\W\d_]{2,}")
_CLAUSE = re.compile(r"[;,.:(（，。；：–—]")


def agreeing(found: Sequence[tuple[str, FoundFact]]) -> list[bool]:
    """Whether each of the facts of one file, with the path of headings above it, may be shown.

    Two values of one key do not agree where they stand below different headings of one subject: each is about
    something that no heading names.  Days in headings tell two states of one thing apart.  *Not promoted* is the
    verdict of a review, as are all decisions that begin with its word, where there are more.
    """
    openings = [_opening(fact) for _, fact in found]
    said, denied = Counter(word for word, _ in openings), Counter(word for word, verdict in openings if verdict)
    verdicts = {word for word, count in denied.items() if count > 1 or said[word] > 2}
    keyed: defaultdict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for heading, fact in found:
        if _keyed(fact):
            keyed[_key(fact)][heading].add(fact.object.casefold())
    apart = {key for key, headings in keyed.items() if len(headings) > 1 and len(set.union(*headings.values())) > 1}
    return [
        word not in verdicts and not (_keyed(fact) and _key(fact) in apart and not _own(heading, fact))
        for (word, _), (heading, fact) in zip(openings, found, strict=True)
    ]


def _key(fact: FoundFact) -> tuple[str, str]:
    return fact.subject.casefold(), normalise(fact.predicate)


def _keyed(fact: FoundFact) -> bool:
    return fact.rule == "key"


def _own(heading: str, fact: FoundFact) -> bool:
    """Whether the last heading names the subject itself, or one of them the day of a state."""
    *_, last = heading.split(" > ")
    dated = any(date_in_heading(part) is not None for part in heading.split(" > ")[1:])
    return (dated and is_single(fact.predicate)) or fact.subject.casefold() in last.casefold()


def _opening(fact: FoundFact) -> tuple[str, bool]:
    """The first word of a decision that denies nothing, and whether it is denied and the first clause is no more."""
    if fact.rule != "decision":
        return "", False
    words = _WORD.findall(_CLAUSE.split(fact.object, maxsplit=1)[0].casefold())
    denied = negations(" ".join(words))
    said = [word for word in words if word not in denied]
    return (said[0] if said else ""), len(said) == 1 < len(words)
