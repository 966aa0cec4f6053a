"""Periods: one value of one subject's relation over some days, as statements and observations make and end them."""

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from itertools import groupby

from ..knowledge.concept_keys import concept_key
from ..knowledge.facts import KEYED
from ..knowledge.predicates import is_single, normalise
from ..model import FactRow, Origin, citation
from ..store.api import FactObservation, StatedFact

#: The rule of what an agent or a person wrote down as a fact.
STATED = "stated"

TRUSTED = frozenset({Origin.OWNER, Origin.AGENT})
#: Keys of names by those of other names of the same.
Aliases = Mapping[int | str, int | str]

#: Days beyond all others, as proleptic ordinals.
ALWAYS, NEVER = 0, date.max.toordinal() + 1


@lru_cache(maxsize=1 << 14)
def folded(text: str) -> str:
    """``text`` as values are compared: without capitals, outer punctuation and runs of blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!\"'`“”‘’*_")


def name_key(text: str) -> int | str:
    """Identity of a subject: that of a concept, so that spellings of a name are one."""
    return concept_key(text) or folded(text) or text


def relation_of(said: FactObservation | StatedFact | FactRow, aliases: Aliases) -> tuple[int | str, str]:
    """Identity of what a fact is about: its subject, under whatever name, and its predicate."""
    key = name_key(said.subject)
    return aliases.get(key, key), normalise(said.predicate)


@dataclass(slots=True, eq=False)
class Period:
    """One value of a relation from ``start`` to before ``end``, both ordinals; ``by`` is the id that ended it."""

    id: str
    subject: str
    predicate: str
    object: str
    relation: tuple[int | str, str]
    value: str
    confidence: float
    origin: Origin
    rule: str
    source: str | None
    start: int
    end: int = NEVER
    by: str | None = None
    #: Where it was first said, for what is found: the day by which it is compared with others.
    day: int = ALWAYS
    units: list[int] = field(default_factory=list)
    #: Nothing may continue it: it was retracted.
    closed: bool = False
    #: Until when it was stated to hold, whatever ended it before.
    until: int = NEVER

    @property
    def trusted(self) -> bool:
        """Whether the owner or the agent said it."""
        return self.origin in TRUSTED

    def stop(self, day: int, by: str | None) -> None:
        """End it on ``day``, unless it has ended before."""
        day = max(day, self.start)
        if day < self.end or (day == self.end and self.by is None):
            self.end, self.by = day, by

    def row(self, today: int) -> FactRow:
        """As it is shown."""
        return FactRow(
            id=self.id,
            subject=self.subject,
            predicate=self.predicate,
            object=self.object,
            confidence=self.confidence,
            origin=self.origin,
            rule=self.rule,
            source=self.source,
            valid_from=date.fromordinal(self.start) if self.start > ALWAYS else None,
            valid_to=date.fromordinal(max(self.end, 1)) if self.end < NEVER else None,
            current=self.start <= today < self.end,
            superseded_by=self.by,
        )


# -- what was stated ------------------------------------------------------------------------------


class Statements:
    """Periods of the entries of ``facts.yaml``, taken in its order."""

    def __init__(self, extra: frozenset[str], aliases: Aliases) -> None:
        self.periods: list[Period] = []
        self.owners: dict[str, list[Period]] = {}
        #: Ends of facts that are not stated ones, by id: day, and what replaced it.
        self.ends: defaultdict[str, list[tuple[int, str | None]]] = defaultdict(list)
        self.by_relation: defaultdict[tuple[int | str, str], list[Period]] = defaultdict(list)
        self._extra = extra
        self._aliases = aliases
        self._retracted: dict[str, int] | None = None

    def add(self, entry: StatedFact, all_entries: Sequence[StatedFact]) -> None:
        """Take the next entry."""
        if self._retracted is None:
            self._retracted = {}
            for other in all_entries:
                if other.retracts is not None:
                    day = _retraction_day(other)
                    self._retracted[other.retracts] = min(day, self._retracted.get(other.retracts, day))
        if entry.retracts is not None:
            self._retract(entry.retracts, _retraction_day(entry))
            return
        start = _start(entry)
        stop = NEVER if entry.valid_to is None else entry.valid_to.toordinal()
        if stop <= start or self._retracted.get(entry.id, NEVER) <= start:
            # It held on no day: it is remembered, and changes nothing.
            self._keep(entry, start, start, closed=True)
            return
        relation = relation_of(entry, self._aliases)
        for replaced in entry.replaces:
            if replaced in self.owners:
                for old in self.owners[replaced]:
                    old.stop(start, entry.id)
                    old.closed = True
            else:
                self.ends[replaced].append((start, entry.id))
        value = folded(entry.object)
        if not entry.replaces and (same := self._continued(relation, value, entry.origin, start)) is not None:
            same.confidence = entry.confidence
            same.source = same.source or entry.source
            same.start, same.end, same.until = min(same.start, start), stop, stop
            self.owners.setdefault(entry.id, []).append(same)
            holder = same
        else:
            holder = self._keep(entry, start, stop)
        if is_single(relation[1]) or relation[1] in self._extra:
            for older in list(self.by_relation[relation]):
                if older is not holder and (holder.trusted or not older.trusted):
                    self._end(older, entry.id, start, stop)

    def _continued(self, relation: tuple[int | str, str], value: str, origin: Origin, start: int) -> Period | None:
        for period in self.by_relation[relation]:
            if (
                period.value == value
                and (period.origin in TRUSTED) == (origin in TRUSTED)
                and not period.closed
                and period.end >= start
                and period.by is None
            ):
                return period
        return None

    def _keep(self, entry: StatedFact, start: int, end: int, closed: bool = False) -> Period:
        relation = relation_of(entry, self._aliases)
        period = Period(
            id=entry.id,
            subject=entry.subject,
            predicate=entry.predicate,
            object=entry.object,
            relation=relation,
            value=folded(entry.object),
            confidence=entry.confidence,
            origin=entry.origin,
            rule=STATED,
            source=entry.source,
            start=start,
            end=end,
            day=start,
            closed=closed,
            until=end,
        )
        self.periods.append(period)
        self.owners.setdefault(entry.id, []).append(period)
        if not closed:
            self.by_relation[relation].append(period)
        return period

    def _end(self, old: Period, by: str, start: int, stop: int) -> None:
        """Let what holds from ``start`` to ``stop`` end ``old``, which is back after a passing value."""
        if old.end <= start or old.start >= stop:
            return
        if stop < old.end:
            rest = replace(old, start=stop, day=stop, units=[])
            self.periods.append(rest)
            self.by_relation[old.relation].append(rest)
            for owners in self.owners.values():
                if old in owners:
                    owners.append(rest)
        old.end, old.by = max(start, old.start), by

    def _retract(self, id: str, day: int) -> None:
        if id not in self.owners:
            self.ends[id].append((day, None))
            return
        for period in self.owners[id]:
            period.stop(day, None)
            period.closed = True


def _start(entry: StatedFact) -> int:
    if entry.valid_from is not None:
        return entry.valid_from.toordinal()
    recorded = _recorded(entry)
    return ALWAYS if recorded is None else recorded


def _recorded(entry: StatedFact) -> int | None:
    try:
        return date.fromisoformat(entry.recorded[:10]).toordinal()
    except ValueError:
        return None


def _retraction_day(entry: StatedFact) -> int:
    """The day on which a fact ends; one that is retracted without a day never held."""
    return ALWAYS if entry.valid_to is None else entry.valid_to.toordinal()


# -- what was found -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A value between two ends of it: seen again after an end, it begins again."""

    value: str
    ended: int
    blocked: int


class Found:
    """Periods of what the rules found, below what was stated."""

    def __init__(self, statements: Statements, extra: frozenset[str], aliases: Aliases) -> None:
        self.periods: list[Period] = []
        self.owners: dict[str, list[Period]] = {}
        self._stated = statements
        self._extra = extra
        self._aliases = aliases

    def add(self, observations: Sequence[FactObservation]) -> None:
        """Take all observations, in whatever order."""
        chains: defaultdict[tuple[int | str, str, str, bool], list[FactObservation]] = defaultdict(list)
        for seen in observations:
            key = (*relation_of(seen, self._aliases), seen.rule, seen.origin in TRUSTED)
            chains[key].append(seen)
        for (subject, predicate, rule, trusted), chain in chains.items():
            self._chain((subject, predicate), rule, trusted, sorted(chain, key=_place))

    def _chain(self, relation: tuple[int | str, str], rule: str, trusted: bool, chain: list[FactObservation]) -> None:
        single = is_single(relation[1]) or relation[1] in self._extra
        follows = single or rule in KEYED
        stated = self._stated.by_relation[relation] if single else []
        borders = sorted({period.end for period in stated if period.end < NEVER})
        # Ids go by the name as it is written, so that a new alias changes none.
        first_ids: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for subject, value in dict.fromkeys((name_key(seen.subject), folded(seen.object)) for seen in chain):
            first_ids[value][found_id((subject, relation[1]), rule, trusted, value, 0)] = None
        ends = {
            value: sorted(
                (end for lasting in those for end in self._stated.ends[lasting]), key=lambda end: (end[0], end[1] or "")
            )
            for value, those in first_ids.items()
            if not self._stated.ends.keys().isdisjoint(those)
        }
        times: defaultdict[str, int] = defaultdict(int)
        open_: dict[_Token, Period] = {}
        every: dict[_Token, Period] = {}
        before = len(self.periods)

        def keep(period: Period) -> None:
            self.periods.append(period)
            for lasting in first_ids[period.value]:
                self.owners.setdefault(lasting, []).append(period)

        def begun(seen: FactObservation, token: _Token) -> Period:
            day = _day(seen)
            undated_first = not seen.dated and not (open_ and follows)
            period = Period(
                id=found_id((name_key(seen.subject), relation[1]), rule, trusted, token.value, times[token.value]),
                subject=seen.subject,
                predicate=seen.predicate,
                object=seen.object,
                relation=relation,
                value=token.value,
                confidence=seen.confidence,
                origin=seen.origin,
                rule=rule,
                source=citation(seen.path, seen.start_line, seen.end_line),
                start=ALWAYS if undated_first else day,
                day=day,
            )
            times[token.value] += 1
            keep(period)
            return period

        for _, same in groupby(chain, key=_place if single else lambda seen: (_day(seen), seen.path)):
            group = list(same)
            present: dict[_Token, Period] = {}
            for seen in group:
                token = self._token(seen, ends, borders)
                period = every.get(token) if not follows else open_.get(token) or present.get(token)
                if period is None:
                    period = begun(seen, token)
                    every[token] = period
                    _cut(period, token, ends)
                if seen.unit_id not in period.units:
                    period.units.append(seen.unit_id)
                if not period.closed:
                    present[token] = period
            if follows and present:
                newest = next(reversed(present.values()))
                for token, period in open_.items():
                    if token not in present:
                        period.stop(_day(group[0]), newest.id)
                open_ = present
        for period in self.periods[before:]:
            for rest in self._below_stated(period, stated):
                keep(rest)

    def _token(
        self, seen: FactObservation, ends: Mapping[str, Sequence[tuple[int, str | None]]], borders: Sequence[int]
    ) -> _Token:
        value, day = folded(seen.object), _day(seen)
        days = [end for end, _ in ends.get(value, ())]
        # A file without a date says the old thing still, not again: only a dated one brings it back, and nothing
        # brings back what is said never to have held.
        again = seen.dated and days and days[0] > ALWAYS
        return _Token(value, bisect_left(days, day) if again else 0, bisect_right(borders, day))

    def _below_stated(self, period: Period, stated: Sequence[Period]) -> list[Period]:
        """Let the statements of other values end a found one, which was seen before they ended themselves.

        Returns what is left of it after those that were stated for a while only: then it is back.
        """
        above = [
            other
            for other in sorted(stated, key=lambda one: (one.start, one.end, one.id))
            if other.value != period.value and other.start < other.end and (other.trusted or not period.trusted)
        ]
        if period.start == ALWAYS and not any(other.start <= period.day < other.end for other in above):
            # A file without a date that outlived the statements: it holds since the last of them ended.
            since = max([other.end for other in above if other.end <= period.day], default=ALWAYS)
            period.start = since if since < period.end else ALWAYS
        rests: list[Period] = []
        undated = period.start == ALWAYS
        last = period
        for other in above:
            if (undated or period.day < other.end) and last.start < other.end and other.start < last.end:
                cut = last
                if other.until < last.end:
                    last = replace(last, start=other.until, units=list(period.units))
                    rests.append(last)
                cut.end, cut.by = max(cut.start, other.start), other.id
        return [rest for rest in rests if rest.start < rest.end]


def _cut(period: Period, token: _Token, ends: Mapping[str, Sequence[tuple[int, str | None]]]) -> None:
    """End a period on the day on which its value was retracted or replaced."""
    of_value = ends.get(token.value, ())
    if token.ended < len(of_value):
        day, by = of_value[token.ended]
        # Ended before it began, like what is removed on its first day: then it ends nothing else either.
        period.closed = day <= period.start
        period.stop(day, by)


def _day(seen: FactObservation) -> int:
    return seen.day.toordinal() if seen.day is not None else ALWAYS


def _place(seen: FactObservation) -> tuple[int, str, int, int, str, int, bool, str, str, str, float]:
    """Where and when it was seen, and whatever else tells two observations apart: the same in any order."""
    where = (_day(seen), seen.path, seen.start_line, seen.end_line, seen.object, seen.unit_id, seen.dated)
    return (*where, seen.subject, seen.predicate, seen.origin.value, seen.confidence)


def found_id(relation: tuple[int | str, str], rule: str, trusted: bool, value: str, number: int) -> str:
    """The id of the ``number``-th period of a value that a rule found: it survives a rebuild and a renamed file."""
    said = "\0".join(map(str, (*relation, rule, trusted, value, number)))
    return "f-" + hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
