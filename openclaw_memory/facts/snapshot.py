"""All facts as of one state of the index and one day, and the rows that match a question or a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date

from ..errors import RequestError
from ..knowledge.concept_keys import slug
from ..knowledge.predicates import is_single, normalise
from ..knowledge.values import fold_value
from ..model import DatedValue, FactRow
from ..records import dataclass
from ..store.api import StatedFact
from .confidence import ListedFacts
from .history import History, Statement
from .periods import STATED, name_key, relation_of


@dataclass(frozen=True, slots=True)
class FactSnapshot:
    """All facts, as of one state of the index and one day."""

    version: tuple[str, ...]
    day: date
    history: History
    single_valued: frozenset[str]
    listed_facts: ListedFacts
    #: By the id of a fact, the values that it has replaced.
    past: Mapping[str, tuple[DatedValue, ...]] = field(default_factory=dict)
    _current_by_name: dict[int | str, list[FactRow]] = field(default_factory=dict)

    @property
    def next_change(self) -> date | None:
        """The first day after :attr:`day` on which a fact begins or ends to hold."""
        days = (day for row in self.history.rows for day in (row.valid_from, row.valid_to))
        return min((day for day in days if day is not None and day > self.day), default=None)

    def key_of(self, name: str) -> int | str:
        """Return the key of a name, which is that of a curated concept for its aliases."""
        key = name_key(name)
        return self.history.aliases.get(key, key)

    def statement_of(self, fact: FactRow | StatedFact) -> Statement:
        """Return subject, relation and value of a fact, for comparison."""
        return *relation_of(fact, self.history.aliases), fold_value(fact.object)

    def current_named(self, key: int | str) -> Sequence[FactRow]:
        """Return the current facts whose subject or object has a name with ``key``."""
        if not self._current_by_name:
            by_name: dict[int | str, list[FactRow]] = {}
            for row in self.history.rows:
                if row.current:
                    for name in dict.fromkeys((self.key_of(row.subject), self.key_of(row.object))):
                        by_name.setdefault(name, []).append(row)
            self._current_by_name.update(by_name)
        return self._current_by_name.get(key, ())

    def matching(self, subject: str | None, predicate: str | None, thing: str | None) -> list[FactRow]:
        """Return the rows about ``subject``, of the relation ``predicate``, with ``thing`` in their object."""
        rows = list(self.history.rows)
        if subject is not None:
            subject_key = self.key_of(subject)
            rows = [row for row in rows if self.key_of(row.subject) == subject_key]
        if predicate is not None:
            relation = normalise(predicate)
            rows = [row for row in rows if normalise(row.predicate) == relation]
        if thing is not None:
            part, key = fold_value(thing), self.key_of(thing)
            rows = [row for row in rows if part in fold_value(row.object) or self.key_of(row.object) == key]
        return rows

    def distinct(self, rows: Sequence[FactRow]) -> list[FactRow]:
        """Return each statement once: the stated row, else the one with the highest confidence."""
        best: dict[Statement, FactRow] = {}
        for row in rows:
            other = best.setdefault(self.statement_of(row), row)
            if (row.rule == STATED, row.confidence) > (other.rule == STATED, other.confidence):
                best[self.statement_of(row)] = row
        chosen = {id(row) for row in best.values()}
        return [row for row in rows if id(row) in chosen]

    def similar_subjects(self, subject: str) -> str | None:
        """Return a warning with subjects that have all words of ``subject``, of which no fact is known."""
        words, key = set(slug(subject).split("-")), self.key_of(subject)
        names = dict.fromkeys(row.subject for row in self.history.rows if words <= set(slug(row.subject).split("-")))
        if not names or key in map(self.key_of, names):
            return None
        shown = ", ".join(map(repr, list(names)[:3]))
        return f"no fact is about {subject!r}; there are facts about {shown}"

    def require_current(self, id: str, where: str) -> FactRow:
        """Return the row of the fact ``id`` that holds, or will; raise ``RequestError`` where there is none."""
        rows = self.history.ids.get(id)
        if not rows:
            raise RequestError(f"{where}there is no fact {id}; 'facts query --json' shows ids")
        for row in rows:
            if row.current:
                return row
        last = rows[-1]
        if last.valid_from is not None and last.valid_from > self.day and last.valid_from != last.valid_to:
            return last
        then = f"; {last.superseded_by} took its place" if last.superseded_by else ""
        raise RequestError(
            f"{where}the fact {id} holds no longer{then}; 'facts query --history' shows what became of it"
        )

    def stated_id(self, planned: Sequence[StatedFact], entry: StatedFact, since: date | None) -> str | None:
        """Return the id under which ``entry`` is stated or planned already; ``since`` is its day if one was given."""
        statement = self.statement_of(entry)
        single = is_single(statement[1]) or statement[1] in self.single_valued
        for other in reversed(planned):
            other_statement = self.statement_of(other)
            if other_statement == statement:
                if other.retracts is None and (other.confidence, other.origin, other.valid_to) == (
                    entry.confidence, entry.origin, entry.valid_to
                ) and other.valid_from is not None and (since is None or other.valid_from <= since):  # fmt: skip
                    return other.id
                return None
            if single and other_statement[:2] == statement[:2] and other.retracts is None:
                return None  # another value comes in between
        ended = {name for other in planned for name in (*other.replaces, other.retracts)}
        for row in self.history.rows:
            if (
                row.current and row.rule == STATED and row.valid_to is None and entry.valid_to is None
                and row.origin == entry.origin and row.confidence == entry.confidence and row.id not in ended
                and (since is None or row.valid_from is None or row.valid_from <= since)
                and self.statement_of(row) == statement
            ):  # fmt: skip
                return row.id
        return None
