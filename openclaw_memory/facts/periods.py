"""Periods: one value of one subject's relation over some days, as statements and observations begin and end it.

Two passes build them: one over the statements in the order of their file, where a later one cuts its days out of the
others, and one over the observations in order of time, where a new value ends the open ones.  Statements then cut their
days out of the observed periods.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from ..knowledge.concept_keys import concept_key
from ..knowledge.predicates import kind_of_key, normalise
from ..knowledge.values import fold_value, is_same_value
from ..model import FactRow, Origin, citation
from ..store.api import FactObservation, StatedFact
from ..text import calendar
from .observations import NO_UNIT, has_one_value, prepare

#: The rule of a fact that an agent or a person wrote down.
STATED = "stated"

TRUSTED = frozenset({Origin.OWNER, Origin.AGENT})
#: Keys of curated concepts by the keys of their aliases.
Aliases = Mapping[int | str, int | str]
#: The key of a subject, and a normalised predicate.
Relation = tuple[int | str, str]
#: The day on which a fact ends, as a proleptic ordinal, and the id of the fact that replaces it, if one does.
End = tuple[int, str | None]

#: Days before and after all others, as proleptic ordinals.
ALWAYS, NEVER = 0, date.max.toordinal() + 1


def name_key(text: str) -> int | str:
    """Return the key of a subject, which spellings of a name share."""
    return concept_key(text) or fold_value(text) or text


def relation_of(fact: FactObservation | StatedFact | FactRow, aliases: Aliases) -> Relation:
    """Return the relation of a fact, which aliases of its subject share."""
    key = name_key(fact.subject)
    return aliases.get(key, key), normalise(fact.predicate)


@dataclass(slots=True, eq=False)
class Period:
    """One value of a relation from ``start`` to before ``end``, both ordinals; ``by`` is the id that ended it.

    ``fact`` is the row without days; ``ids`` name the period.  A ``closed`` one was retracted and is never continued;
    ``until`` is its stated end, even where it ended earlier.
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
        """The folded object."""
        return fold_value(self.fact.object)

    @property
    def trusted(self) -> bool:
        """True if the owner or the agent is the origin."""
        return self.fact.origin in TRUSTED

    def stop(self, day: int, by: str | None) -> None:
        """End on ``day``, unless it has ended before."""
        day = max(day, self.start)
        if day < self.end or (day == self.end and self.by is None):
            self.end, self.by = day, by

    def cut(self, start: int, stop: int, by: str) -> list[Period]:
        """End on ``start``; return the rest from ``stop`` on as a new period, if there is one."""
        rest = [replace(self, start=stop)] if stop < self.end else []
        self.end, self.by = max(start, self.start), by
        return rest

    def row(self, today: int, **fields: Any) -> FactRow:
        """Return the fact with its days, as of ``today``, and with ``fields``."""
        return replace(
            self.fact,
            valid_from=date.fromordinal(self.start) if self.start > ALWAYS else None,
            valid_to=date.fromordinal(max(self.end, 1)) if self.end < NEVER else None,
            current=self.start <= today < self.end,
            **fields,
        )


def _row(id: str, fact: FactObservation | StatedFact, rule: str, source: str | None) -> FactRow:
    values = fact.subject, fact.predicate, fact.object, fact.confidence, fact.origin
    day = fact.day if isinstance(fact, FactObservation) and fact.dated else None
    recorded = (fact.recorded or None) if isinstance(fact, StatedFact) else day.isoformat() if day else None
    return FactRow(id, *values, rule, source, None, None, current=False, recorded_at=recorded)


# -- statements ------------------------------------------------------------------------------


class Statements:
    """Periods of the entries of ``facts.yaml``, in its order; ``single`` is true for relations with one value."""

    def __init__(self, entries: Sequence[StatedFact], single: Callable[[str], bool], aliases: Aliases) -> None:
        self.periods: list[Period] = []
        #: Periods by every id that names them, in order of creation.
        self.by_id: defaultdict[str, list[Period]] = defaultdict(list)
        self.by_relation: defaultdict[Relation, list[Period]] = defaultdict(list)
        #: Periods of one relation and trust by their start; those of a single-valued relation never overlap.
        self._lines: defaultdict[tuple[Relation, bool], list[Period]] = defaultdict(list)
        self._by_value: defaultdict[tuple[Relation, str, bool], list[Period]] = defaultdict(list)
        #: Ends of observed facts, by id.
        self.ends: defaultdict[str, list[End]] = defaultdict(list)
        #: Ends of rejected observations, by relation and value: another rule or spelling may find them again.
        self.rejected: defaultdict[tuple[Relation, int | str], list[End]] = defaultdict(list)
        stated_ids = {entry.id for entry in entries}
        retracted: dict[str, int] = {}
        for entry in entries:
            if entry.retracts is not None:
                retracted[entry.retracts] = min(_retraction_day(entry), retracted.get(entry.retracts, NEVER))
                if entry.retracts not in stated_ids and entry.object:
                    value = relation_of(entry, aliases), name_key(entry.object)
                    self.rejected[value].append((_retraction_day(entry), None))
        for entry in entries:
            if entry.retracts is not None:
                self._close(entry.retracts, _retraction_day(entry), None)
                continue
            start, stop = start_of(entry), NEVER if entry.valid_to is None else entry.valid_to.toordinal()
            relation = relation_of(entry, aliases)
            period = Period(_row(entry.id, entry, STATED, entry.source), relation, (entry.id,), start, stop, stop)
            if stop <= start or retracted.get(entry.id, NEVER) <= start:
                # It held on no day: it is kept for the history, and changes nothing.
                period.end, period.closed = start, True
                self._keep(period)
                continue
            for replaced in entry.replaces:
                self._close(replaced, start, entry.id)
            holder = period if entry.replaces else self._continued(period)
            if holder is period:
                self._keep(period)
            if single(relation[1]):
                for trusted in (True, False) if holder.trusted else (False,):
                    self._cut(self._lines[relation, trusted], holder, start, stop, entry.id)

    def _keep(self, period: Period) -> None:
        self.periods.append(period)
        for alias in period.ids:
            self.by_id[alias].append(period)
        self._by_value[period.relation, period.value, period.trusted].append(period)
        if period.start < period.end:
            self.by_relation[period.relation].append(period)
            insort(self._lines[period.relation, period.trusted], period, key=_start_of)

    def _cut(self, line: list[Period], holder: Period, start: int, stop: int, by: str) -> None:
        """Take the days from ``start`` to before ``stop`` out of the periods of ``line``, except ``holder``."""
        at = bisect_right(line, start, key=lambda period: period.end)
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

    def _continued(self, period: Period) -> Period:
        """Return the period of the same value that touches ``period``, extended by it; else ``period``."""
        for older in self._by_value[period.relation, period.value, period.trusted]:
            if not older.closed and older.by is None and period.start <= older.end and older.start <= period.end:
                source = older.fact.source or period.fact.source
                older.fact = replace(older.fact, confidence=period.fact.confidence, source=source)
                line = self._lines[period.relation, period.trusted]
                line.remove(older)
                older.start, older.end, older.until = min(older.start, period.start), period.end, period.until
                insort(line, older, key=_start_of)
                older.ids += period.ids
                self.by_id[period.fact.id].append(older)
                return older
        return period

    def _close(self, id: str, day: int, by: str | None) -> None:
        """End the periods of ``id`` on ``day``, for good."""
        if id not in self.by_id:
            self.ends[id].append((day, by))
        for period in self.by_id.get(id, ()):
            period.stop(day, by)
            period.closed = True


def _start_of(period: Period) -> int:
    return period.start


def start_of(entry: StatedFact) -> int:
    """Return the day from which a stated fact holds, or on which it is retracted."""
    if entry.retracts is not None:
        return _retraction_day(entry)
    if entry.valid_from is not None:
        return entry.valid_from.toordinal()
    try:
        return date.fromisoformat(entry.recorded[:10]).toordinal()
    except ValueError:
        return ALWAYS


def _retraction_day(entry: StatedFact) -> int:
    """Return the day on which a fact ends; one that is retracted without a day never held."""
    return ALWAYS if entry.valid_to is None else entry.valid_to.toordinal()


# -- observations ---------------------------------------------------------------------------------


def observed_periods(
    observations: Iterable[FactObservation],
    stated: Statements,
    single: Callable[[str], bool],
    aliases: Aliases,
    until: date | None = None,
) -> list[Period]:
    """Return the periods of observations in any order, cut by the statements; none that is dated after ``until``."""
    chains: defaultdict[tuple[Relation, str, bool], list[FactObservation]] = defaultdict(list)
    prepared = prepare(observations, until)
    for observation in prepared.rows:
        key = relation_of(observation, aliases), observation.rule, observation.origin in TRUSTED
        chains[key].append(observation)
    changes: defaultdict[tuple[Relation, str, bool], defaultdict[str, list[End]]]
    changes = defaultdict(lambda: defaultdict(list))
    for (subject, predicate, rule, trusted, old), ends in prepared.ends.items():
        about = name_key(subject), normalise(predicate)
        changes[(aliases.get(about[0], about[0]), about[1]), rule, trusted][fold_value(old)] += [
            (day.toordinal(), observed_id(about, rule, trusted, fold_value(new), 0)) for day, new in ends
        ]
    periods: list[Period] = []
    for (relation, rule, trusted), chain in chains.items():
        single_valued = single(relation[1])
        statements = stated.by_relation[relation] if single_valued else []
        above = [each for each in statements if each.start < each.end and (each.trusted or not trusted)]
        above.sort(key=lambda period: (period.start, period.end, period.fact.id))
        borders = sorted({each.end for each in statements if each.end < NEVER})
        ended = changes[relation, rule, trusted]
        for period, day in _chain(relation, sorted(chain, key=_place), single_valued, stated, borders, ended):
            periods += [period, *_cut_below(period, day, [each for each in above if each.value != period.value])]
    return periods


def _chain(
    relation: Relation,
    chain: Sequence[FactObservation],
    single: bool,
    stated: Statements,
    borders: Sequence[int],
    changes: Mapping[str, Sequence[End]],
) -> list[tuple[Period, int]]:
    """Return the periods of one relation by one rule, each with the day of its first observation.

    ``changes`` are the ends of values that notes state.  The state of the pass is the open values.  A value that is
    observed again after one of its own ends, or after one of the ``borders``, begins again.
    """
    rule, trusted = chain[0].rule, chain[0].origin in TRUSTED
    ends_others = _may_end(rule, relation[1], single, chain)
    # Ids depend on the name as it is written, so that a new alias changes none.
    lasting: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in dict.fromkeys((seen.subject, fold_value(seen.object)) for seen in chain):
        lasting[value].append(observed_id((name_key(name), relation[1]), rule, trusted, value, 0))
    ends: dict[str, list[End]] = {}
    for value, ids in lasting.items():
        stated_ends = {end for name in ids for end in stated.ends.get(name, ())}
        stated_ends.update(stated.rejected.get((relation, name_key(value)), ()))
        stated_ends.update(changes.get(value, ()))
        ends[value] = sorted(stated_ends, key=lambda end: (end[0], end[1] or ""))
    periods: list[tuple[Period, int]] = []
    times: defaultdict[str, int] = defaultdict(int)
    newest: dict[str, Period] = {}
    open_: dict[tuple[str, int, int], Period] = {}
    last: dict[int, FactObservation] = {}
    # A file without a date has no place in time: it ends nothing, and no observation ends its facts.
    for seen in sorted(chain, key=lambda seen: not seen.dated):
        day, value = _day(seen), fold_value(seen.object)
        # Only a dated observation brings an ended value back, and never one that is stated never to have held.
        again = seen.dated and ends[value] and ends[value][0][0] > ALWAYS
        ended = bisect_left(ends[value], day, key=lambda end: end[0]) if again else 0
        token = value, ended, bisect_right(borders, day)
        period = open_.get(token) if seen.dated else newest.get(value)
        if period is None:
            own_id = observed_id((name_key(seen.subject), relation[1]), rule, trusted, value, times[value])
            times[value] += 1
            fact = _row(own_id, seen, rule, citation(seen.path, seen.start_line, seen.end_line))
            start = day if seen.dated else ALWAYS
            period = Period(fact, relation, tuple(dict.fromkeys((own_id, *lasting[value]))), start)
            periods.append((period, day))
            for end, by in ends[value][ended : ended + 1]:
                # A period that ended before it began, or on its first day, ends no other.
                period.closed = end <= start
                period.stop(end, by)
        if seen.unit_id not in (NO_UNIT, *period.units):
            period.units.append(seen.unit_id)
        if ends_others and seen.dated and not period.closed:
            kept = {
                key: other
                for key, other in open_.items()
                if is_same_value(other.value, value) or not _is_later(seen, last[id(other)])
            }
            for key, other in open_.items():
                if key not in kept and other is not period:
                    other.stop(day, period.fact.id)
            open_ = {**kept, token: period}
        elif not ends_others:
            open_[token] = period
        newest[value] = period
        last[id(period)] = seen
    return periods


def _is_later(seen: FactObservation, other: FactObservation) -> bool:
    """Return true if an observation is of a later day than another, or stands below a later heading of its file.

    Two values of one day are of two things, or of one at two unknown times; a person's edit of a summary is later than
    the rest.
    """
    if _day(seen) != _day(other) or seen.path.startswith(f"{calendar.FOLDER}/"):
        return True
    return seen.path == other.path and seen.heading != other.heading and seen.start_line > other.start_line


def _may_end(rule: str, predicate: str, single: bool, chain: Sequence[FactObservation]) -> bool:
    """Return true if a newer value by ``rule`` ends an older one: another row, address or time does not."""
    if rule == "table":
        return False
    kind = kind_of_key(predicate)
    if rule == "value" or (rule == "change" and not single) or (rule == "key" and kind == "number"):
        return has_one_value(chain)
    # Another part or run of the same thing has such a value of its own.
    return single and (rule != "key" or kind not in ("time", "url", "path", "repo", "port", "ip", "id"))


def _cut_below(period: Period, day: int, above: Sequence[Period]) -> list[Period]:
    """Let statements of other values, in order of time, end an observed period that was first seen on ``day``.

    Returns the parts of it after statements that held for a while only.
    """
    if period.start == ALWAYS and not any(other.start <= day < other.end for other in above):
        # A file without a date that outlived the statements: its fact holds since the last of them ended.
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
    """Return a sort key with every field that differs between observations, so that their order is total."""
    where = (_day(seen), seen.path, seen.start_line, seen.end_line, seen.object, seen.unit_id, seen.dated)
    return (*where, seen.subject, seen.predicate, seen.origin.value, seen.confidence)


def observed_id(relation: Relation, rule: str, trusted: bool, value: str, number: int) -> str:
    """Return the id of the ``number``-th period of an observed value: it survives a rebuild and a renamed file."""
    content = "\0".join(map(str, (*relation, rule, trusted, value, number)))
    return "f-" + hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
