"""Changes of values since a day, and values of one thing that both claim to hold."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from ..knowledge.changes import leading_shape
from ..knowledge.predicates import is_decision, is_single, kind_of_key
from ..knowledge.values import fold_value, is_same_value
from ..model import DatedValue, FactChange, FactConflict, FactRow
from .history import History, lasting_id
from .periods import STATED, Relation, relation_of

#: Rules whose facts are kept for their changes alone.
FOR_CHANGES = frozenset({"value", "change"})
#: Kinds of values that several parts or runs of a thing have, each its own.
_PARTS = frozenset(("time", "url", "path", "repo", "port", "ip", "id"))


def past_values(history: History) -> Mapping[str, tuple[DatedValue, ...]]:
    """Return by the id of a fact the values that it has replaced, the latest first."""
    ended: defaultdict[str, list[FactRow]] = defaultdict(list)
    for row in history.rows:
        if row.superseded_by is not None and row.valid_to is not None and _has_held(row):
            for successor in history.ids.get(row.superseded_by, ()):
                ended[successor.id].append(row)
    out: dict[str, tuple[DatedValue, ...]] = {}
    for fact, rows in ended.items():
        chain, seen = list(rows), {fact}
        for row in chain:
            if row.id not in seen:
                seen.add(row.id)
                chain += ended.get(row.id, ())
        chain.sort(key=lambda row: (row.valid_to or date.min, row.valid_from or date.min), reverse=True)
        out[fact] = tuple(dict.fromkeys(map(_value, chain)))
    return out


def _has_held(row: FactRow) -> bool:
    """Return true if a fact held for a while; what notes tell may end on the day on which it began."""
    return row.rule != STATED or row.valid_from != row.valid_to


def _value(row: FactRow) -> DatedValue:
    return DatedValue(row.id, row.object, row.source, row.valid_from, row.valid_to)


def is_worth_showing(row: FactRow) -> bool:
    """Return true if a fact is kept for more than its changes, or has one."""
    return row.rule not in FOR_CHANGES or bool(row.before) or row.superseded_by is not None


def without_directory(rows: Iterable[FactRow], history: Iterable[FactRow]) -> list[FactRow]:
    """Return the rows without addresses and numbers that never changed, and what else lines of contacts say.

    They are looked up by their subject.
    """
    contacts = {row.source for row in history if kind_of_key(row.predicate) in ("email", "phone")}

    def is_entry(row: FactRow) -> bool:
        changed = row.before or row.unconfirmed or row.newer
        address = kind_of_key(row.predicate) in (_PARTS | {"email", "phone"}) - {"time"}
        return not (row.rule == STATED or changed) and (
            address or (row.rule in ("entry", "table") and row.source in contacts)
        )

    return [row for row in rows if not is_entry(row)]


def changes_since(history: History, day: date, today: date) -> list[FactChange]:
    """Return the values that took the place of others after ``day``, and what was decided or done, in order of time."""
    out: dict[tuple[object, ...], FactChange] = {}
    key: tuple[object, ...]
    for row in history.rows:
        end = row.valid_to
        if end is not None and row.superseded_by is not None and day < end <= today and _has_held(row):
            successors = history.ids.get(row.superseded_by, ())
            after = next((each for each in successors if each.valid_from == end), None) or next(iter(successors), None)
            if after is None or is_same_value(fold_value(row.object), fold_value(after.object)):
                continue
            if row.object[0] == after.object[0] and unicodedata.category(row.object[0]) == "So":
                continue  # both done, in other words
            key = (*relation_of(row, history.aliases), fold_value(after.object), end)
            # Of several values before it that counts which the line of the change names: no other note may have it.
            if key not in out or row.valid_from is None:
                out[key] = FactChange(after.subject, after.predicate, _value(row), _value(after), end)
        begun = row.valid_from
        is_new = is_decision(row.predicate) or (row.rule == "change" and kind_of_key(row.predicate) == "state")
        if row.current and begun is not None and day < begun and is_new:
            key = *relation_of(row, history.aliases), fold_value(row.object)
            out.setdefault(key, FactChange(row.subject, row.predicate, None, _value(row), begun))
    return sorted(out.values(), key=lambda change: (change.day, change.subject, change.predicate))


def conflicts(history: History, single: Iterable[str]) -> list[FactConflict]:
    """Return pairs of values of one relation that both claim to hold, the latest with each other one.

    Only relations with one value at a time count, and keys of one section's subject with values of one form; of a
    file without a day and a dated note both are shown.
    """
    extra = frozenset(single)
    holding: defaultdict[Relation, list[FactRow]] = defaultdict(list)
    for row in history.rows:
        if row.current and _may_conflict(row, extra):
            holding[relation_of(row, history.aliases)].append(row)
    out: list[FactConflict] = []
    for rows in holding.values():
        rows.sort(key=lambda row: (row.rule == STATED, row.valid_from or date.min, row.confidence), reverse=True)
        first, *others = rows
        for other in others:
            if not _is_conflict(first, other):
                continue
            ids = sorted((lasting_id(first), lasting_id(other)))
            name = "c-" + hashlib.blake2b("\0".join(ids).encode(), digest_size=4).hexdigest()
            if all(conflict.id != name for conflict in out):
                out.append(FactConflict(name, first.subject, first.predicate, _value(first), _value(other)))
    return out


def _may_conflict(row: FactRow, single: frozenset[str]) -> bool:
    if kind_of_key(row.predicate) in _PARTS:
        return False
    return row.rule in FOR_CHANGES or (row.rule != "table" and is_single(row.predicate, single))


def _is_conflict(first: FactRow, other: FactRow) -> bool:
    """Return true if two values of two files differ as values do, and not as two readings on two days do."""
    if is_same_value(fold_value(first.object), fold_value(other.object)) or _path(first) == _path(other):
        return False
    one_dated = (first.valid_from is None) != (other.valid_from is None)
    if first.rule in FOR_CHANGES or other.rule in FOR_CHANGES:
        return one_dated and leading_shape(first.object) == leading_shape(other.object)
    if kind_of_key(first.predicate) == "state":
        return one_dated
    # Two long texts describe one thing in other words.
    return kind_of_key(first.predicate) != "text" or max(len(row.object.split()) for row in (first, other)) < 4


def _path(row: FactRow) -> str:
    return (row.source or row.id).partition("#")[0]


def with_history(rows: Sequence[FactRow], past: Mapping[str, tuple[DatedValue, ...]]) -> list[FactRow]:
    """Return the rows with the values that they have replaced."""
    return [replace(row, before=past[row.id]) if row.current and row.id in past else row for row in rows]
