"""What observations say of time: a value that its own words date, a change as two values, a key with one value.

A fact of the rule ``change`` has an old and a new value.  It ends the old one, wherever that was observed, on the day
of its line, and the new one begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date

from .. import patterns as re
from ..knowledge.changes import ARROW, day_since, leading_shape
from ..knowledge.headings import ASIDE
from ..knowledge.predicates import normalise
from ..model import TRUSTED
from ..records import dataclass
from ..store.api import FactObservation

#: The unit of the old value of a change, whose line states the new one.
NO_UNIT = -1
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PreparedObservations:
    """Observations without changes, and by old value the days on which changes end it, with the new value.

    The key of ``ends`` is subject, predicate, rule, trust and old value, as they stand in an observation.
    """

    rows: list[FactObservation] = field(default_factory=list)
    ends: defaultdict[tuple[str, str, str, bool, str], list[tuple[date, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )


def prepare(observations: Iterable[FactObservation], until: date | None = None) -> PreparedObservations:
    """Return the observations with the days of their own words, and each change as its two values.

    What is dated after ``until`` is left out.
    """
    prepared = PreparedObservations()
    changes: list[FactObservation] = []
    for seen in observations:
        since = day_since(seen.object) if any(map(str.isdigit, seen.object)) else None
        if since is not None:
            is_of_row = seen.rule in ("change", "table")  # the day was put behind what the line or row says
            words = seen.object.removesuffix(f" ({since})") if is_of_row else seen.object
            seen = replace(seen, day=since, dated=True, object=words)
        if until is None or not seen.dated or seen.day is None or seen.day <= until:
            (changes if ARROW in seen.object and seen.rule == "change" else prepared.rows).append(seen)
    by_value: defaultdict[str, list[FactObservation]] = defaultdict(list)
    for seen in prepared.rows:
        by_value[_bare(seen.object)].append(seen)
    by_relation: defaultdict[tuple[str, str, bool], list[FactObservation]] = defaultdict(list)
    for seen in prepared.rows:
        by_relation[_attribute(seen)].append(seen)
    prepared.rows[:] = [_in_relation(seen, by_relation) for seen in prepared.rows]
    for seen in sorted(changes, key=lambda seen: (seen.day or date.min, seen.path, seen.start_line)):
        before, _, after = seen.object.partition(ARROW)
        day = seen.day if seen.dated else None
        if day is None or not after:
            continue
        same = _same_relation(seen, [*by_value[_bare(before)], *by_value[_bare(after)]])
        if same is not None:
            seen = replace(seen, subject=same.subject, predicate=same.predicate, rule=same.rule)
        seen = _in_relation(seen, by_relation)

        def spelling(value: str, about: FactObservation = seen) -> str | None:
            alike = (each for each in by_value[_bare(value)] if _relation(each) == _relation(about))
            return next((each.object for each in alike), None)

        old, new = spelling(before), spelling(after) or after
        rows = [replace(seen, object=new)]
        if old is None:
            old = before
            rows.append(replace(seen, object=old, unit_id=NO_UNIT, day=None, dated=False))
        prepared.rows.extend(rows)
        for row in rows:
            by_value[_bare(row.object)].append(row)
        # A value that comes back on the day of its end has not ended.
        ends = prepared.ends[*_relation(seen), new]
        ends[:] = [end for end in ends if end[0] != day]
        prepared.ends[*_relation(seen), old].append((day, new))
    return prepared


def has_one_value(chain: Sequence[FactObservation]) -> bool:
    """Return true if dated observations of a key show one value at a time, and no reading of every part or run.

    A value lasts until the next one and does not come back; where there are many, most are seen on several days.
    """
    by_day: defaultdict[date, set[str]] = defaultdict(set)
    shapes = {leading_shape(seen.object) for seen in chain}
    for seen in chain:
        if seen.dated and seen.day is not None:
            by_day[seen.day].add(_bare(seen.object))
    if len(by_day) < 2 or len(shapes) > 1 or None in shapes or any(len(values) > 1 for values in by_day.values()):
        return False
    values = [next(iter(by_day[day])) for day in sorted(by_day)]
    runs = [value for at, value in enumerate(values) if not at or values[at - 1] != value]
    if len(runs) != len(set(runs)):
        return False
    return (len(values) == 2 and ("amount", "%") not in shapes) or 2 * len(runs) <= len(values) + 1


def _same_relation(change: FactObservation, others: Sequence[FactObservation]) -> FactObservation | None:
    """Return an observation of the old or the new value of ``change`` whose subject the change names, if only one."""
    words = set(_WORD.findall(f"{change.subject} {change.predicate} {change.heading}".casefold()))
    named = [
        each
        for each in others
        if each.rule != "change"
        and set(_WORD.findall(each.subject.casefold())) <= words
        and (each.origin in TRUSTED) == (change.origin in TRUSTED)
    ]
    return named[0] if len({_relation(each)[:2] for each in named}) == 1 else None


def _attribute(seen: FactObservation) -> tuple[str, str, bool]:
    """Return what a fact is of, by whichever rule it was found."""
    return seen.subject.casefold(), normalise(seen.predicate), seen.origin in TRUSTED


def _in_relation(
    seen: FactObservation, by_relation: Mapping[tuple[str, str, bool], Sequence[FactObservation]]
) -> FactObservation:
    """Return a fact of the rule ``change`` as one of the rule by which others found the same attribute."""
    if seen.rule != "change":
        return seen
    others = (each for each in by_relation.get(_attribute(seen), ()) if each.rule not in ("change", "table"))
    same = next(others, None)
    return seen if same is None else replace(seen, predicate=same.predicate, rule=same.rule)


def _relation(seen: FactObservation) -> tuple[str, str, str, bool]:
    return seen.subject, seen.predicate, seen.rule, seen.origin in TRUSTED


def _bare(value: str) -> str:
    """Return a value without remarks in brackets, for comparison."""
    return " ".join(ASIDE.sub(" ", value).casefold().split()).strip(" .,;:!?\"'`*_")
