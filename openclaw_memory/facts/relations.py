"""What is said of each relation: so a change is worked out from what it touches, however much else is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from ..store.api import FactObservation, StatedFact
from .validity import Aliases, Relation, relation, relation_of


class Relations:
    """Observations and statements by what they are about; subjects are compared by ``aliases``.

    ``found`` are the observations by file, ``stated`` is in the order of its file, which only grows: see :meth:`add`.
    """

    def __init__(
        self, found: Mapping[str, Sequence[FactObservation]], stated: Iterable[StatedFact], aliases: Aliases
    ) -> None:
        self.found, self.stated, self.aliases = found, list[StatedFact](), aliases
        self._relations: list[Relation] = []
        self._places: defaultdict[Relation, list[int]] = defaultdict(list)
        self._by_id: defaultdict[str, list[int]] = defaultdict(list)
        #: Statements by the ids that they replace or retract; some of these name what rules found.
        self._changing: defaultdict[str, list[int]] = defaultdict(list)
        self.add(stated)

    @cached_property
    def _observed(self) -> Mapping[Relation, list[FactObservation]]:
        out: defaultdict[Relation, list[FactObservation]] = defaultdict(list)
        for seen in chain.from_iterable(self.found.values()):
            out[relation_of(seen, self.aliases)].append(seen)
        return out

    def add(self, entries: Iterable[StatedFact]) -> None:
        """Take in ``entries`` that the file has behind the others."""
        for at, entry in enumerate(entries, len(self.stated)):
            # What only retracts may name no subject: then nothing but its id leads to it.
            about = relation_of(entry, self.aliases) if entry.subject else ("", entry.id)
            self.stated.append(entry)
            self._relations.append(about)
            self._places[about].append(at)
            self._by_id[entry.id].append(at)
            for other in _changed(entry):
                self._changing[other].append(at)

    def states(self, id: str) -> bool:
        """Whether ``id`` is that of a statement."""
        return id in self._by_id

    def around(
        self, about: Iterable[tuple[str, str]], ids: Iterable[str] = ()
    ) -> tuple[list[FactObservation], list[StatedFact]]:
        """All that bears on subjects and their predicates, and on the statements ``ids``, in the order of the whole.

        Of these relations :func:`~openclaw_memory.facts.history.history` makes the same rows of it as of everything.
        """
        # Which relation an id that rules gave belongs to is not known: who changes such a one is always there.
        chosen = {at for other, places in self._changing.items() if other not in self._by_id for at in places}
        todo = [relation(subject, predicate, self.aliases) for subject, predicate in about]
        todo += [self._relations[at] for one in ids for at in self._by_id.get(one, ())]
        todo += [self._relations[other] for at in chosen for other in self._linked(self.stated[at])]
        done: dict[Relation, None] = {}
        while todo:
            one = todo.pop()
            if one in done:
                continue
            done[one] = None
            chosen.update(self._places.get(one, ()))
            for at in self._places.get(one, ()):
                todo += [self._relations[other] for other in self._linked(self.stated[at])]
        observed = [seen for one in done for seen in self._observed.get(one, ())]
        return observed, [self.stated[at] for at in sorted(chosen)]

    def _linked(self, entry: StatedFact) -> Iterator[int]:
        """Statements that ``entry`` changes, or that change it."""
        yield from self._changing.get(entry.id, ())
        for other in _changed(entry):
            yield from self._by_id.get(other, ())


def _changed(entry: StatedFact) -> tuple[str, ...]:
    return entry.replaces if entry.retracts is None else (*entry.replaces, entry.retracts)
