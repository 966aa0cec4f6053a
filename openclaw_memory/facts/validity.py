"""Periods: one value of one subject's relation over some days, as statements and observations make and end them.

Two passes over sorted events make them: over the statements in the order of their file, where a later one cuts out of
the others the days that it covers, and over the observations in order of time, where the values that are open end with
the next ones.  What was stated then cuts its days out of what was found.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache

from ..knowledge.concept_keys import concept_key
from ..knowledge.predicates import kind_of_key, normalise
from ..model import FactRow, Origin, citation
from ..store.api import FactObservation, StatedFact
from ..text import calendar
from ..text.negation import negations

#: The rule of what an agent or a person wrote down as a fact.
STATED = "stated"

TRUSTED = frozenset({Origin.OWNER, Origin.AGENT})
#: Keys of names by those of other names of the same.
Aliases = Mapping[int | str, int | str]
#: What a fact is about: the key of its subject, and its predicate.
Relation = tuple[int | str, str]
#: A day as its proleptic ordinal, and the id of what ended a fact then, if anything took its place.
End = tuple[int, str | None]

#: Days beyond all others, as proleptic ordinals.
ALWAYS, NEVER = 0, date.max.toordinal() + 1


@lru_cache(maxsize=1 << 14)
def folded(text: str) -> str:
    """``text`` as values are compared: without capitals, outer punctuation and runs of blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!\"'`“”‘’*_")


def alike(one: str, other: str) -> bool:
    """Whether two values, as they are compared, say the same but for signs and remarks, or one of them says more.

    "Running (2 processes)", "✅ Running" and "Running on port 80" are alike; "not running" is not.
    """
    if one == other:
        return True
    bare = [_ASIDE.sub(" ", value) for value in (one, other)]
    short, long = sorted((_SIGNS.sub(" ", value).split() for value in bare), key=len)
    return bool(short) and long[: len(short)] == short and bool(negations(bare[0])) == bool(negations(bare[1]))


_ASIDE = re.compile(r"[(（\[【][^()（）\[\]【】]*[)）\]】]")
#: All but letters, digits and what stands within a number: what remains are words.
_SIGNS = re.compile(r"[^\w.,-]+|(?<!\w)[.,-]+|[.,-]+(?!\w)")


def name_key(text: str) -> int | str:
    """Identity of a subject: that of a concept, so that spellings of a name are one."""
    return concept_key(text) or folded(text) or text


def relation_of(said: FactObservation | StatedFact | FactRow, aliases: Aliases) -> Relation:
    """Identity of what a fact is about: its subject, under whatever name, and its predicate."""
    return relation(said.subject, said.predicate, aliases)


def relation(subject: str, predicate: str, aliases: Aliases) -> Relation:
    """Identity of a predicate of a subject, under whatever name."""
    key = name_key(subject)
    return aliases.get(key, key), normalise(predicate)


@dataclass(slots=True, eq=False)
class Period:
    """One value of a relation from ``start`` to before ``end``, both ordinals; ``by`` is the id that ended it.

    ``fact`` is what it says, without days; ``ids`` lead to it.  Nothing may continue a ``closed`` one, which was
    retracted; ``until`` is when it was stated to end, whatever ended it before.
    """

    fact: FactRow
    relation: Relation
    ids: tuple[str, ...]
    start: int
    end: int = NEVER
    until: int = NEVER
    by: str | None = None
    units: list[int] = field(default_factory=list)
    closed: bool = False

    @property
    def value(self) -> str:
        """What it says, as values are compared."""
        return folded(self.fact.object)

    @property
    def trusted(self) -> bool:
        """Whether the owner or the agent said it."""
        return self.fact.origin in TRUSTED

    def stop(self, day: int, by: str | None) -> None:
        """End it on ``day``, unless it has ended before."""
        day = max(day, self.start)
        if day < self.end or (day == self.end and self.by is None):
            self.end, self.by = day, by

    def cut(self, start: int, stop: int, by: str) -> list[Period]:
        """End it on ``start``; what is left of it from ``stop`` on, if anything is, is a period of its own."""
        rest = [replace(self, start=stop)] if stop < self.end else []
        self.end, self.by = max(start, self.start), by
        return rest

    def row(self, today: int) -> FactRow:
        """As it is shown."""
        return replace(
            self.fact,
            valid_from=date.fromordinal(self.start) if self.start > ALWAYS else None,
            valid_to=date.fromordinal(max(self.end, 1)) if self.end < NEVER else None,
            current=self.start <= today < self.end,
            superseded_by=self.by,
        )


def _fact(id: str, said: FactObservation | StatedFact, rule: str, source: str | None) -> FactRow:
    what = said.subject, said.predicate, said.object, said.confidence, said.origin
    recorded = said.recorded or None if isinstance(said, StatedFact) else None
    return FactRow(id, *what, rule, source, None, None, current=False, recorded_at=recorded)


# -- what was stated ------------------------------------------------------------------------------


class Statements:
    """Periods of the entries of ``facts.yaml``, taken in its order; ``single`` tells relations with one value."""

    def __init__(self, entries: Sequence[StatedFact], single: Callable[[str], bool], aliases: Aliases) -> None:
        self.periods: list[Period] = []
        #: By every id that names them, in the order in which they were made.
        self.by_id: defaultdict[str, list[Period]] = defaultdict(list)
        self.by_relation: defaultdict[Relation, list[Period]] = defaultdict(list)
        #: Periods of one relation and trust by their start; of a relation with one value none overlap.
        self._lines: defaultdict[tuple[Relation, bool], list[Period]] = defaultdict(list)
        self._said: defaultdict[tuple[Relation, str, bool], list[Period]] = defaultdict(list)
        #: Ends of facts that are not stated ones, by id.
        self.ends: defaultdict[str, list[End]] = defaultdict(list)
        #: Ends of what was found and rejected, by what it says: another rule, or another spelling, finds it again.
        self.rejected: defaultdict[tuple[Relation, int | str], list[End]] = defaultdict(list)
        own = {entry.id for entry in entries}
        retracted: dict[str, int] = {}
        for entry in entries:
            if entry.retracts is not None:
                retracted[entry.retracts] = min(_retraction_day(entry), retracted.get(entry.retracts, NEVER))
                if entry.retracts not in own and entry.object:
                    said = relation_of(entry, aliases), name_key(entry.object)
                    self.rejected[said].append((_retraction_day(entry), None))
        for entry in entries:
            if entry.retracts is not None:
                self._close(entry.retracts, _retraction_day(entry), None)
                continue
            start, stop = _start(entry), NEVER if entry.valid_to is None else entry.valid_to.toordinal()
            relation = relation_of(entry, aliases)
            made = Period(_fact(entry.id, entry, STATED, entry.source), relation, (entry.id,), start, stop, stop)
            if stop <= start or retracted.get(entry.id, NEVER) <= start:
                # It held on no day: it is remembered, and changes nothing.
                made.end, made.closed = start, True
                self._keep(made)
                continue
            for replaced in entry.replaces:
                self._close(replaced, start, entry.id)
            holder = made if entry.replaces else self._continued(made)
            if holder is made:
                self._keep(made)
            if single(relation[1]):
                for trusted in (True, False) if holder.trusted else (False,):
                    self._cut(self._lines[relation, trusted], holder, start, stop, entry.id)

    def _keep(self, period: Period) -> None:
        self.periods.append(period)
        for alias in period.ids:
            self.by_id[alias].append(period)
        self._said[period.relation, period.value, period.trusted].append(period)
        if period.start < period.end:
            self.by_relation[period.relation].append(period)
            insort(self._lines[period.relation, period.trusted], period, key=_start_of)

    def _cut(self, line: list[Period], holder: Period, start: int, stop: int, by: str) -> None:
        """Take the days from ``start`` to before ``stop`` out of the periods of ``line``, but for ``holder``."""
        at = bisect_right(line, start, key=lambda one: one.end)
        rests: list[Period] = []
        while at < len(line) and line[at].start < stop:
            older = line[at]
            if older is not holder:
                rests += older.cut(start, stop, by)
                if older.start >= older.end:
                    del line[at]
                    continue
            at += 1
        for rest in rests:
            self._keep(rest)

    def _continued(self, made: Period) -> Period:
        """The period that goes on with ``made``, which is itself where none touches it."""
        for one in self._said[made.relation, made.value, made.trusted]:
            if not one.closed and one.by is None and made.start <= one.end and one.start <= made.end:
                source = one.fact.source or made.fact.source
                one.fact = replace(one.fact, confidence=made.fact.confidence, source=source)
                line = self._lines[made.relation, made.trusted]
                line.remove(one)
                one.start, one.end, one.until = min(one.start, made.start), made.end, made.until
                insort(line, one, key=_start_of)
                one.ids += made.ids
                self.by_id[made.fact.id].append(one)
                return one
        return made

    def _close(self, id: str, day: int, by: str | None) -> None:
        """End what ``id`` names on ``day``, for good."""
        if id not in self.by_id:
            self.ends[id].append((day, by))
        for period in self.by_id.get(id, ()):
            period.stop(day, by)
            period.closed = True


def _start_of(period: Period) -> int:
    return period.start


def _start(entry: StatedFact) -> int:
    if entry.valid_from is not None:
        return entry.valid_from.toordinal()
    try:
        return date.fromisoformat(entry.recorded[:10]).toordinal()
    except ValueError:
        return ALWAYS


def _retraction_day(entry: StatedFact) -> int:
    """The day on which a fact ends; one that is retracted without a day never held."""
    return ALWAYS if entry.valid_to is None else entry.valid_to.toordinal()


# -- what was found -------------------------------------------------------------------------------


def found_periods(
    observations: Iterable[FactObservation], stated: Statements, single: Callable[[str], bool], aliases: Aliases
) -> list[Period]:
    """Periods of what the rules found, in whatever order, below what was stated."""
    chains: defaultdict[tuple[Relation, str, bool], list[FactObservation]] = defaultdict(list)
    for seen in observations:
        chains[relation_of(seen, aliases), seen.rule, seen.origin in TRUSTED].append(seen)
    made: list[Period] = []
    for (relation, _, trusted), chain in chains.items():
        alone = single(relation[1])
        told = stated.by_relation[relation] if alone else []
        above = [one for one in told if one.start < one.end and (one.trusted or not trusted)]
        above.sort(key=lambda one: (one.start, one.end, one.fact.id))
        borders = sorted({one.end for one in told if one.end < NEVER})
        for period, day in _chain(relation, sorted(chain, key=_place), alone, stated, borders):
            made += [period, *_below(period, day, [one for one in above if one.value != period.value])]
    return made


def _chain(
    relation: Relation,
    chain: Sequence[FactObservation],
    single: bool,
    stated: Statements,
    borders: Sequence[int],
) -> list[tuple[Period, int]]:
    """Periods of what one rule says of one relation, each with the day on which it was seen first.

    The state of the pass is the values that are open.  A value that is seen again after one of its own ends, or after
    one of the ``borders``, begins again.
    """
    rule, trusted = chain[0].rule, chain[0].origin in TRUSTED
    ends_another = single and _may_end(rule, relation[1])
    # Ids go by the name as it is written, so that a new alias changes none.
    lasting: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in dict.fromkeys((seen.subject, folded(seen.object)) for seen in chain):
        lasting[value].append(found_id((name_key(name), relation[1]), rule, trusted, value, 0))
    ends: dict[str, list[End]] = {}
    for value, ids in lasting.items():
        told = {end for one in ids for end in stated.ends.get(one, ())}
        told.update(stated.rejected.get((relation, name_key(value)), ()))
        ends[value] = sorted(told, key=lambda end: (end[0], end[1] or ""))
    made: list[tuple[Period, int]] = []
    times: defaultdict[str, int] = defaultdict(int)
    newest: dict[str, Period] = {}
    open_: dict[tuple[str, int, int], Period] = {}
    last: dict[int, int] = {}
    # What a file without a date says has no place in time: it ends nothing, and nothing that is found ends it.
    for seen in [*(one for one in chain if one.dated), *(one for one in chain if not one.dated)]:
        day, value = _day(seen), folded(seen.object)
        # Nor does it bring back what has ended, as a dated one does; what is said never to have held stays away.
        again = seen.dated and ends[value] and ends[value][0][0] > ALWAYS
        ended = bisect_left(ends[value], day, key=lambda end: end[0]) if again else 0
        token = value, ended, bisect_right(borders, day)
        period = open_.get(token) if seen.dated else newest.get(value)
        if period is None:
            own = found_id((name_key(seen.subject), relation[1]), rule, trusted, value, times[value])
            times[value] += 1
            fact = _fact(own, seen, rule, citation(seen.path, seen.start_line, seen.end_line))
            if seen.dated and seen.day is not None:
                fact = replace(fact, recorded_at=seen.day.isoformat())
            start = day if seen.dated else ALWAYS
            period = Period(fact, relation, tuple(dict.fromkeys((own, *lasting[value]))), start)
            made.append((period, day))
            for end, by in ends[value][ended : ended + 1]:
                # Ended before it began, like what is removed on its first day: then it ends nothing else either.
                period.closed = end <= start
                period.stop(end, by)
        if seen.unit_id not in period.units:
            period.units.append(seen.unit_id)
        if ends_another and seen.dated and not period.closed:
            # What is said twice on one day is said of two things, or of one at two times, of which the file does not
            # say which is the later one; what a person wrote into a summary is.
            apart = not seen.path.startswith(f"{calendar.FOLDER}/")
            kept = {
                key: other
                for key, other in open_.items()
                if alike(other.value, value) or (apart and last[id(other)] == day)
            }
            for key, other in open_.items():
                if key not in kept and other is not period:
                    other.stop(day, period.fact.id)
            open_ = {**kept, token: period}
        elif not ends_another:
            open_[token] = period
        newest[value] = period
        last[id(period)] = day
    return made


def _may_end(rule: str, predicate: str) -> bool:
    """Whether a newer value that ``rule`` finds may be of the same thing: another row, address or time may not."""
    # Another part of the same thing, or another run of it, has such a value of its own.
    parts = ("time", "url", "path", "repo", "port", "ip", "id", "number")
    return rule != "table" and (rule != "key" or kind_of_key(predicate) not in parts)


def _below(period: Period, day: int, above: Sequence[Period]) -> list[Period]:
    """Let statements of other values, in order of time, end what was found and was seen first on ``day``.

    Returns what is left of it after those that were stated for a while only: then it is back.
    """
    if period.start == ALWAYS and not any(other.start <= day < other.end for other in above):
        # A file without a date that outlived the statements: it holds since the last of them ended.
        since = max((other.end for other in above if other.end <= day), default=ALWAYS)
        period.start = since if since < period.end else ALWAYS
    parts = [period]
    for other in above:
        if parts[-1].start < other.end and other.start < parts[-1].end:
            parts += parts[-1].cut(other.start, other.until, other.fact.id)
    return [rest for rest in parts[1:] if rest.start < rest.end]


def _day(seen: FactObservation) -> int:
    return seen.day.toordinal() if seen.day is not None else ALWAYS


def _place(seen: FactObservation) -> tuple[int, str, int, int, str, int, bool, str, str, str, float]:
    """Where and when it was seen, and whatever else tells two observations apart: the same in any order."""
    where = (_day(seen), seen.path, seen.start_line, seen.end_line, seen.object, seen.unit_id, seen.dated)
    return (*where, seen.subject, seen.predicate, seen.origin.value, seen.confidence)


def found_id(relation: Relation, rule: str, trusted: bool, value: str, number: int) -> str:
    """The id of the ``number``-th period of a value that a rule found: it survives a rebuild and a renamed file."""
    said = "\0".join(map(str, (*relation, rule, trusted, value, number)))
    return "f-" + hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
