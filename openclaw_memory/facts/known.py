"""What is known at one moment, and what of it answers a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from ..errors import RequestError
from ..knowledge.predicates import is_single, normalise
from ..model import FactRow
from ..store.api import StatedFact
from .history import History
from .things import Things
from .validity import STATED, folded, name_key, relation_of


@dataclass(frozen=True, slots=True)
class Known:
    """All facts, as of one state of the index and one day."""

    version: tuple[str, ...]
    day: date
    history: History
    single_valued: frozenset[str]
    things: Things
    superseded: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    #: Current facts by the names that are their subject or object, once somebody asks by name.
    by_name: dict[int | str, list[FactRow]] = field(default_factory=dict)

    def named(self, key: int | str) -> Sequence[FactRow]:
        """The current facts whose subject or object has a name."""
        if not self.by_name:
            found: dict[int | str, list[FactRow]] = {}
            for row in self.history.rows:
                if row.current:
                    for own in dict.fromkeys((key_of(self, row.subject), key_of(self, row.object))):
                        found.setdefault(own, []).append(row)
            self.by_name.update(found)
        return self.by_name.get(key, ())


def key_of(known: Known, name: str) -> int | str:
    """What a name is compared by: that of the curated concept that it is another name of, or its own."""
    key = name_key(name)
    return known.history.aliases.get(key, key)


def saying(known: Known, fact: FactRow | StatedFact) -> tuple[int | str, str, str]:
    """What a fact says, as facts are compared."""
    return *relation_of(fact, known.history.aliases), folded(fact.object)


def matching(known: Known, subject: str | None, predicate: str | None, thing: str | None) -> list[FactRow]:
    """The rows about ``subject``, of the relation ``predicate`` with ``thing`` in their object, as far as given."""
    rows = list(known.history.rows)
    if subject is not None:
        wanted = key_of(known, subject)
        rows = [row for row in rows if key_of(known, row.subject) == wanted]
    if predicate is not None:
        relation = normalise(predicate)
        rows = [row for row in rows if normalise(row.predicate) == relation]
    if thing is not None:
        part, key = folded(thing), key_of(known, thing)
        rows = [row for row in rows if part in folded(row.object) or key_of(known, row.object) == key]
    return rows


def once(known: Known, rows: Sequence[FactRow]) -> list[FactRow]:
    """Each statement once: the stated one, else the surest, of those that several rules or files make."""
    best: dict[tuple[int | str, str, str], FactRow] = {}
    for row in rows:
        said = saying(known, row)
        held = best.get(said)
        if held is None or (row.rule == STATED, row.confidence) > (held.rule == STATED, held.confidence):
            best[said] = row
    chosen = {id(row) for row in best.values()}
    return [row for row in rows if id(row) in chosen]


def current(known: Known, id: str, where: str) -> FactRow:
    """The row of the fact ``id`` that holds, or will; raises :class:`~openclaw_memory.errors.RequestError`."""
    rows = known.history.ids.get(id)
    if not rows:
        raise RequestError(f"{where}there is no fact {id}; 'facts query --json' shows ids")
    for row in rows:
        if row.current:
            return row
    last = rows[-1]
    if last.valid_from is not None and last.valid_from > known.day and last.valid_from != last.valid_to:
        return last
    then = f"; {last.superseded_by} took its place" if last.superseded_by else ""
    raise RequestError(f"{where}the fact {id} holds no longer{then}; 'facts query --history' shows what became of it")


def stated_already(known: Known, planned: Sequence[StatedFact], entry: StatedFact, told: date | None) -> str | None:
    """The id under which the same is stated already, or is about to be; ``told`` is since when, where it was given."""
    said = saying(known, entry)
    single = is_single(said[1]) or said[1] in known.single_valued
    for other in reversed(planned):
        what = saying(known, other)
        if what == said:
            if other.retracts is None and (other.confidence, other.origin, other.valid_to) == (
                entry.confidence, entry.origin, entry.valid_to
            ) and other.valid_from is not None and (told is None or other.valid_from <= told):  # fmt: skip
                return other.id
            return None
        if single and what[:2] == said[:2] and other.retracts is None:
            return None  # another value comes in between
    ended = {gone for other in planned for gone in (*other.replaces, other.retracts)}
    for row in known.history.rows:
        if (
            row.current and row.rule == STATED and row.valid_to is None and entry.valid_to is None
            and row.origin == entry.origin and row.confidence == entry.confidence and row.id not in ended
            and (told is None or row.valid_from is None or row.valid_from <= told)
            and saying(known, row) == said
        ):  # fmt: skip
            return row.id
    return None
