"""Which fact held when: decided again from all observations and statements, whatever order they came in.

A *period* is one value of one subject's relation over some days; what follows it ends it and never removes it.

- A stated fact of a relation with one value at a time ends the periods of other values, stated or found, from the
  day on from which it holds.  ``replaces`` does so for any relation, ``retracts`` ends without a successor.
- What rules found is ended by a later observation only within the same rule, subject and relation, and only where
  the relation is declared to have one value at a time and both are dated by their notes, on different days.  Rows of
  tables end nothing, nor does a value that is alike.
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
    Statements,
    alike,
    folded,
    found_id,
    found_periods,
    name_key,
    relation_of,
)

#: A subject, a relation and a value.
Said = tuple[int | str, str, str]


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


def history(
    observations: Sequence[FactObservation],
    stated: Sequence[StatedFact],
    single_valued: Iterable[str] = (),
    today: date | None = None,
    aliases: Aliases | None = None,
) -> History:
    """Every fact that is or was known, as periods, by subject, relation and time, with what leads to them.

    ``stated`` is in the order of its file, ``observations`` in any.  ``single_valued`` names more relations with
    one value at a time; ``current`` is as of ``today``; ``aliases`` leads from keys of names to those of what they
    are other names of.
    """
    extra = frozenset(map(normalise, single_valued))
    now = (today or date.today()).toordinal()
    names = aliases or {}

    def single(predicate: str) -> bool:
        return is_single(predicate) or predicate in extra

    statements = Statements(stated, single, names)
    periods = [*statements.periods, *found_periods(observations, statements, single, names)]
    newer = _newer(periods, now)
    rows: list[FactRow] = []
    ids: defaultdict[str, list[FactRow]] = defaultdict(list)
    units: defaultdict[int, list[FactRow]] = defaultdict(list)
    for period in sorted(periods, key=_order):
        by = period.by
        if by is not None and by in statements.by_id:
            continued = statements.by_id[by][0].fact.id
            by = continued if continued != period.fact.id else None  # what continues it took its place
        row = replace(period.row(now), superseded_by=by, newer=newer.get(id(period)))
        rows.append(row)
        for alias in period.ids:
            ids[alias].append(row)
        for unit in period.units:
            units[unit].append(row)
    holding = frozenset((*relation_of(row, names), folded(row.object)) for row in rows if row.current)
    return History(
        tuple(rows),
        {alias: tuple(those) for alias, those in ids.items()},
        {unit: tuple(those) for unit, those in units.items()},
        holding,
        names,
    )


def _newer(periods: Sequence[Period], today: int) -> dict[int, str]:
    """By identity of a dated period that holds the id of another value of the same that holds too, and began later."""
    holding: defaultdict[tuple[int | str, str], list[Period]] = defaultdict(list)
    for period in periods:
        # By these rules values stand for each other: one that differs is news.
        keyed = period.fact.rule in ("key", "table", STATED)
        if period.start <= today < period.end and (keyed or is_single(period.relation[1])):
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


def _order(period: Period) -> tuple[str, str, int, int, str, str, str, str]:
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
