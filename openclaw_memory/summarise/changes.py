"""Find the sentences that tell a value which changed, by the changes of facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ..model import FactChange
from .sentences import Sentence

#: Old and new values by path and line of the notes that tell them.
ChangedValues = Mapping[tuple[str, int], frozenset[str]]


def changed_values(changes: Iterable[FactChange]) -> ChangedValues:
    """Return the values of ``changes`` by the lines of their sources; a decision has a new one alone."""
    out: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for change in changes:
        for value in filter(None, (change.before, change.after)):
            path, _, lines = (value.source or "").rpartition("#L")
            first, _, last = lines.replace("L", "").partition("-")
            if path and first.isdecimal():
                for line in range(int(first), int(last or first) + 1):
                    out[path, line].add(value.object.casefold())
    return {place: frozenset(values) for place, values in out.items()}


def tells_change(sentence: Sentence, changed: ChangedValues) -> bool:
    """Return true if a sentence has a value of ``changed`` from one of its lines, and is no routine."""
    if sentence.count > 1 or sentence.speaker is not None:
        return False
    text = sentence.text.casefold()
    lines = ((sentence.path, line) for line in range(sentence.start_line, sentence.end_line + 1))
    return any(value in text for place in lines for value in changed.get(place, ()))
