"""Which fact held when: decided again from all observations and statements, whatever order they came in.

A *period* is one value of one subject's relation over some days; what follows it ends it and never removes it.

- A stated fact of a relation with one value at a time ends the periods of other values, stated or found, from the
  day on from which it holds.  ``replaces`` does so for any relation, ``retracts`` ends without a successor.
- What rules found is ended by a later observation only within the same rule, subject and relation, and only where
  the relation is declared to have one value at a time and both are dated by their notes, on different days.  Rows of
  tables end nothing, and of keys only short values in files that are named alike.  So does what is alike.
- Of other values of a key both hold; the older one names the :attr:`~openclaw_memory.model.FactRow.newer` one.
- What only untrusted texts say ends nothing that the owner or the agent wrote.
- What a statement with an end displaced is back from that day on.
- The same value again continues its period.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeVar

from ..knowledge.concept_keys import slug
from ..knowledge.predicates import is_single, normalise
from ..model import FactRow
from ..store.api import FactObservation, StatedFact
from .validity import (
    ALWAYS,
    STATED,
    TRUSTED,
    Aliases,
    Period,
    Relation,
    Statements,
    alike,
    folded,
    found_id,
    found_periods,
    name_key,
    relation,
    relation_of,
)

#: A subject, a relation and a value.
Said = tuple[int | str, str, str]
_Key = TypeVar("_Key", str, int)
_Place = tuple[str, str, int, int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class History:
    """All periods as rows in a fixed order, and what leads to them.

    ``ids`` maps every id that ever named a fact, also one that was continued by another, to those of its rows;
    ``units`` maps units to the rows that they state; ``holding`` is what holds today, as subject, relation and value;
    by ``aliases`` subjects are compared.
    """

    rows: tuple[FactRow, ...] = ()
    ids: Mapping[str, tuple[FactRow, ...]] = field(default_factory=dict)
    units: Mapping[int, tuple[FactRow, ...]] = field(default_factory=dict)
    holding: frozenset[Said] = frozenset()
    aliases: Aliases = field(default_factory=dict)


#: A period as a row: where it stands in the whole, the ids that lead to it, and the units that state it.
_Entry = tuple[_Place, FactRow, tuple[str, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Group:
    """The periods of one relation as rows."""

    rows: Sequence[_Entry]
    holding: frozenset[Said]


class Resolver:
    """Works histories out, one after another; of what has not changed since the last one nothing is made again."""

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, context: tuple[object, ...] | None) -> None:
        self._context = context
        self._groups: dict[Relation, _Group] = {}
        #: Of each subject and predicate as they are written, as to find it out costs a look at each letter.
        self._relations: dict[tuple[str, str], Relation] = {}
        #: All observations by file, and by relation and file.
        self._files: Mapping[str, Sequence[FactObservation]] = {}
        self._seen: defaultdict[Relation, dict[str, list[FactObservation]]] = defaultdict(dict)
        #: All rows of the groups in the order of the whole, and what was made of them.
        self._entries: list[_Entry] = []
        self._made = History()

    def history(
        self,
        files: Mapping[str, Sequence[FactObservation]],
        stated: Sequence[StatedFact],
        single_valued: Iterable[str] = (),
        today: date | None = None,
        aliases: Aliases | None = None,
    ) -> History:
        """As :func:`history`, of observations by file; the same list of a file as before is not looked at again."""
        extra = frozenset(map(normalise, single_valued))
        now = (today or date.today()).toordinal()
        names = aliases or {}

        def single(predicate: str) -> bool:
            return is_single(predicate) or predicate in extra

        context = tuple(stated), extra, now, names
        begun = context != self._context
        if begun:
            self._begin(context)
        touched = self._changed(files, names)
        if not touched and not begun:
            return self._made
        statements = Statements(stated, single, names)
        told: defaultdict[Relation, list[Period]] = defaultdict(list)
        for period in statements.periods:
            told[period.relation].append(period)
        old, new = [], []
        for about in {**touched, **(told if begun else {})}:
            if (group := self._groups.pop(about, None)) is not None:
                old.append(group)
            those = [one for part in self._seen[about].values() for one in part]
            if those or about in told:
                periods = told[about] + found_periods(those, statements, single, names)
                self._groups[about] = _group(periods, statements, now, names)
                new.append(self._groups[about])
            else:
                del self._seen[about]
        self._made = self._together(old, new, names)
        return self._made

    def _changed(self, files: Mapping[str, Sequence[FactObservation]], names: Aliases) -> dict[Relation, None]:
        """Take over what was seen in the files; the relations of which that is other than before."""
        touched: dict[Relation, None] = {}
        for file in {**self._files, **files}:
            before, after = self._files.get(file, ()), files.get(file, ())
            if before is after or before == after:
                continue
            own = dict.fromkeys(self._relation(one, names) for one in before)
            there: defaultdict[Relation, list[FactObservation]] = defaultdict(list)
            for one in after:
                there[self._relation(one, names)].append(one)
            for about in {**own, **there}:
                parts = self._seen[about]
                if parts.get(file, []) != there.get(about, []):
                    touched[about] = None
                    parts.pop(file, None)
                    if about in there:
                        parts[file] = there[about]
        self._files = dict(files)
        return touched

    def _relation(self, one: FactObservation, names: Aliases) -> Relation:
        said = one.subject, one.predicate
        if (known_as := self._relations.get(said)) is None:
            known_as = self._relations[said] = relation(*said, names)
        return known_as

    def _together(self, old: Iterable[_Group], new: Iterable[_Group], names: Aliases) -> History:
        """The whole, in which the rows of some groups take the place of those of others."""
        gone, added = ([one for group in groups for one in group.rows] for groups in (old, new))
        left = set(map(id, gone))
        self._entries = [*(one for one in self._entries if id(one) not in left), *added]
        self._entries.sort(key=lambda one: one[0])  # in runs that are sorted, which takes one look at each row
        ids = {alias: list[FactRow]() for one in (*gone, *added) for alias in one[2]}
        units = {unit: list[FactRow]() for one in (*gone, *added) for unit in one[3]}
        for _, row, own, at in self._entries:
            for alias in own:
                if alias in ids:
                    ids[alias].append(row)
            for unit in at:
                if unit in units:
                    units[unit].append(row)
        return History(
            tuple(one[1] for one in self._entries),
            _with(self._made.ids, ids),
            _with(self._made.units, units),
            frozenset().union(*(group.holding for group in self._groups.values())),
            names,
        )


def _with(
    known: Mapping[_Key, tuple[FactRow, ...]], other: Mapping[_Key, list[FactRow]]
) -> dict[_Key, tuple[FactRow, ...]]:
    """``known`` with the rows of some keys changed; what has none is not there."""
    out = {**known, **{key: tuple(rows) for key, rows in other.items()}}
    for key, rows in other.items():
        if not rows:
            del out[key]
    return out


def resolve(
    observations: Sequence[FactObservation],
    stated: Sequence[StatedFact],
    single_valued: Iterable[str] = (),
    today: date | None = None,
    aliases: Aliases | None = None,
) -> list[FactRow]:
    """Every fact that is or was known, as periods, by subject, relation and time.

    ``stated`` is in the order of its file, ``observations`` in any.  ``single_valued`` names more relations with
    one value at a time; ``current`` is as of ``today``; ``aliases`` leads from keys of names to those of what they
    are other names of.
    """
    return list(history(observations, stated, single_valued, today, aliases).rows)


def history(
    observations: Sequence[FactObservation],
    stated: Sequence[StatedFact],
    single_valued: Iterable[str] = (),
    today: date | None = None,
    aliases: Aliases | None = None,
) -> History:
    """As :func:`resolve`, with the ids and units that lead to the rows."""
    return Resolver().history({"": list(observations)}, stated, single_valued, today, aliases)


def _group(periods: list[Period], statements: Statements, now: int, names: Aliases) -> _Group:
    """The rows of all ``periods`` of one relation."""
    newer = _newer(periods, now)
    rows = []
    for period in periods:
        by = period.by
        if by is not None and by in statements.by_id:
            continued = statements.by_id[by][0].fact.id
            by = continued if continued != period.fact.id else None  # what continues it took its place
        row = replace(period.row(now), superseded_by=by, newer=newer.get(id(period)))
        rows.append((_order(period), row, period.ids, tuple(period.units)))
    holding = frozenset((*relation_of(row, names), folded(row.object)) for _, row, _, _ in rows if row.current)
    return _Group(rows, holding)


#: Rules whose values stand for each other: one that differs is news.
_KEYED = frozenset({"key", "table", STATED})


def _newer(periods: Sequence[Period], today: int) -> dict[int, str]:
    """By identity of a dated period that holds the id of another value of the same that holds too, and began later."""
    holding: defaultdict[tuple[int | str, str], list[Period]] = defaultdict(list)
    for period in periods:
        if period.start <= today < period.end and (period.fact.rule in _KEYED or is_single(period.relation[1])):
            holding[period.relation].append(period)
    out: dict[int, str] = {}
    for those in holding.values():
        newest = max(those, key=lambda one: (one.start, one.fact.id))
        out |= {
            id(one): newest.fact.id
            for one in those
            if ALWAYS < one.start < newest.start and not alike(one.value, newest.value)
        }
    return out


def _order(period: Period) -> _Place:
    fact = period.fact
    place = folded(fact.subject), period.relation[1], period.start, period.end
    return *place, fact.rule, period.value, fact.subject, fact.id


# -- asking ---------------------------------------------------------------------------------------


def as_of(rows: Iterable[FactRow], day: date) -> list[FactRow]:
    """The rows that hold on ``day``."""
    return [
        row
        for row in rows
        if (row.valid_from is None or row.valid_from <= day) and (row.valid_to is None or day < row.valid_to)
    ]


def superseded_units(known: History) -> dict[int, tuple[str, ...]]:
    """What of each unit no longer holds, in words: ``editor of JR: now Helix (since 2026-03-01, memory/a.md#L4)``."""
    out: dict[int, tuple[str, ...]] = {}
    for unit, rows in known.units.items():
        words = [
            outdated(known, row)
            for row in rows
            if not row.current and row.valid_to is not None and not still_holds(known, row)
        ]
        if words:
            out[unit] = tuple(dict.fromkeys(words))
    return out


def still_holds(known: History, row: FactRow) -> bool:
    """Whether the same is known to hold today from elsewhere, or again."""
    return (*relation_of(row, known.aliases), folded(row.object)) in known.holding


def outdated(known: History, row: FactRow) -> str:
    """What became of a fact that no longer holds, in words."""
    last, seen = row, {row.id}
    while last.superseded_by is not None and last.superseded_by not in seen and last.superseded_by in known.ids:
        seen.add(last.superseded_by)
        following = known.ids[last.superseded_by]
        last = next((one for one in following if one.current), following[-1])
    what = f"{row.predicate} of {row.subject}"
    if last.current and last is not row:
        since = ", ".join(filter(None, (f"since {last.valid_from}" if last.valid_from else None, last.source)))
        return f"{what}: now {last.object}" + (f" ({since})" if since else "")
    return f"{what}: no longer {row.object}" + (f" (since {row.valid_to})" if row.valid_to else "")


def lasting_id(row: FactRow) -> str:
    """The id by which ``facts.yaml`` names a fact: of what is found, that of all the periods of its value."""
    if row.rule == STATED:
        return row.id
    return found_id(relation_of(row, {}), row.rule, row.origin in TRUSTED, folded(row.object), 0)


#: What each rule reads, in words.
_READS = {
    "key": "a name and a value below what they are about",
    "entry": "an item about somebody or something, below a heading such as People",
    "table": "a cell of a table, by the name of its column",
    "sentence": "a sentence of a name, a verb and an object",
}


def reason(row: FactRow, shown: bool = True) -> str:
    """Why a fact is there, in one line: the rule, the line that it read, what became of it, and whether it is shown."""
    if row.rule == STATED:
        parts = [f"stated in facts.yaml{f' on {row.recorded_at[:10]}' if row.recorded_at else ''}"]
        parts += [f"from {row.source}"] if row.source else []
    else:
        parts = [f"rule '{row.rule}' ({_READS.get(row.rule, 'a form of line')}) in {row.source or 'a note'}"]
        parts += ["the note has no date"] if row.valid_from is None else []
    if row.superseded_by is not None:
        parts.append(f"ended by {row.superseded_by}: one value at a time")
    if row.newer is not None:
        parts.append(f"differs from the newer {row.newer}, which may stand beside it")
    if not shown:
        parts.append("not listed, as what else the notes say makes it unsure")
    return "; ".join(parts)


def unknown(history: History, subject: str) -> str | None:
    """What to ask for instead of a ``subject`` of which nothing is known: subjects with all its words, if there are."""
    words, key = set(slug(subject).split("-")), name_key(subject)
    names = dict.fromkeys(row.subject for row in history.rows if words <= set(slug(row.subject).split("-")))
    known = history.aliases.get(key, key) in (history.aliases.get(name_key(one), name_key(one)) for one in names)
    said = ", ".join(map(repr, list(names)[:3]))
    return f"no fact is about {subject!r}; there are facts about {said}" if said and not known else None
