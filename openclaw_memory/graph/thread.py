"""From a walk to a thread: which sections belong to it, the line of each that matters, and its edges in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..index.corpus import Corpus
from ..model import Edge
from ..store.api import Bools, Floats, Ints
from .concepts import ConceptIndex, Label
from .network import Network
from .walk import Arrival, Step, Walk

#: What a section that the question finds by itself gains over one of the same strength, at most.
_OWN = 0.25
#: What each further section of a day that is in the thread already counts: a thread goes on in time.
_SAME_DAY = 0.7
#: So many times as many sections as are wanted are looked at for a better spread over days.
_LOOKED_AT = 4
#: A section whose day is that of its file only belongs nowhere in a thread of days.
_UNDATED = 0.5


@dataclass(frozen=True, slots=True)
class Stop:
    """A section of a thread: how it was reached, and its row that matters most."""

    arrival: Arrival
    row: int
    score: float


def stops(
    network: Network,
    index: ConceptIndex,
    corpus: Corpus,
    walked: Walk,
    relevance: Floats,
    allowed: Bools | None,
    limit: int,
    reached: bool = False,
) -> list[Stop]:
    """The ``limit`` strongest sections that have an allowed row, in order of time; undated ones come last.

    Of sections that were ``reached`` by a step only, where that is asked for.
    ``relevance`` is the question's own score of every row, scaled to [0, 1]: ``float32[n]``.
    """
    usable = corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed
    sections = np.flatnonzero(walked.distance > 0).astype(np.int32) if reached else walked.sections
    # Rows of a section are neighbours, so the best of each is a maximum over a run.
    own = np.maximum.reduceat(np.where(usable, relevance, -1), network.first_row)[sections]
    sections, own = sections[own >= 0], own[own >= 0]
    dated = np.where(network.dated[sections], 1.0, _UNDATED)
    score = walked.strength[sections] * (1 - _OWN + _OWN * own) * dated
    order = np.lexsort((network.rank[sections], -np.round(score, 5)))[: _LOOKED_AT * limit]
    left = [(int(sections[at]), float(score[at])) for at in order.tolist()]
    chosen: list[Stop] = []
    days: Counter[int] = Counter()
    while left and len(chosen) < limit:
        best = max(left, key=lambda pair: pair[1] * _SAME_DAY ** days[_day(network, pair[0])])
        left.remove(best)
        section, strength = best
        rows = np.arange(network.first_row[section], network.last_row[section] + 1)
        row = _row(index, walked[section], rows[usable[rows]], relevance, network.taken)
        chosen.append(Stop(walked[section], row, strength))
        days[_day(network, section)] += 1
    return sorted(chosen, key=lambda stop: in_time(network, corpus, stop))


def _day(network: Network, section: int) -> int:
    return int(network.day[section]) if network.dated[section] else 0


def in_time(network: Network, corpus: Corpus, stop: Stop) -> tuple[bool, int, int, int]:
    """Sorts stops by day, path and line; what has no day of its own comes last."""
    day = _day(network, stop.arrival.section)
    path = corpus.shape.path_rank[corpus.rows.document_id[stop.row]]
    return not day, day, int(path), int(corpus.rows.start_line[stop.row])


def _row(
    index: ConceptIndex,
    arrival: Arrival,
    rows: np.ndarray[tuple[int], np.dtype[np.int_]],
    own: Floats,
    taken: tuple[Ints, Ints],
) -> int:
    """The row that answers best; where a section was reached over a concept, of those that mention it.

    In a section that a summary was taken from, one that it was taken from.
    """
    if arrival.distance:
        reached = taken[1] if arrival.step == "summarises" else index.rows_of([arrival.other])
        mentioning = rows[np.isin(rows, reached)]
        if len(mentioning):
            rows = mentioning
    return int(rows[int(np.argmax(own[rows]))])


class Wording:
    """Says in words how sections hang together; ``citation(row)`` names a row as ``path#L3``."""

    def __init__(
        self,
        network: Network,
        index: ConceptIndex,
        walked: Walk,
        thread: Sequence[int],
        labels: Callable[[Sequence[int]], Mapping[int, Label]],
        citation: Callable[[int], str],
    ) -> None:
        self._network = network
        self._index = index
        self._arrivals = walked
        self._common = Counter(c for section in thread for c in network.sections.of(section)[0].tolist())
        self._labels = labels
        self._citation = citation

    def edges(self, at: Arrival, before: Sequence[int]) -> tuple[Edge, ...]:
        """The steps from a seed to where ``at`` arrives, in this order.

        For what answers by itself: how it hangs together with the nearest of the sections ``before`` it in the
        thread, given in order of time, if it does.
        """
        if not at.distance:
            return self._bond(at.section, [other for other in before if other != at.section])
        steps: list[Arrival] = []
        while at.distance:
            steps.append(at)
            at = self._arrivals[at.origin]
        return tuple(edge for step in reversed(steps) for edge in self._step(step))

    def _bond(self, section: int, before: Sequence[int]) -> tuple[Edge, ...]:
        for other in reversed(before):
            for summary, original in ((section, other), (other, section)):
                if original in self._network.originals.of(summary)[0]:
                    return (self._summarised(summary, original),)
        directly = self._network.before.of(section)[0].tolist()
        for other in (*(s for s in reversed(before) if s in directly), *reversed(before)):
            concept = self._shared(other, section)
            if concept is not None:
                step: Step = "follows" if other in directly else "concept"
                return tuple(self._step(Arrival(section, 0.0, 1, step, other, concept, concept)))
        return ()

    def _shared(self, a: int, b: int) -> int | None:
        """The concept that says best what two sections have in common: one that runs through the whole thread."""
        concepts, weights = self._network.sections.of(a)
        others, other_weights = self._network.sections.of(b)
        shared, at, there = np.intersect1d(concepts, others, assume_unique=True, return_indices=True)
        if not len(shared):
            return None
        common = np.array([self._common[concept] for concept in shared.tolist()])
        strength = weights[at] * other_weights[there] * self._network.rarity[shared] * common
        return int(shared[int(np.argmax(strength))])

    def _step(self, step: Arrival) -> list[Edge]:
        here, there = step.origin, step.section
        if step.step == "summarises":
            return [self._summarised(here, there)]
        if step.step in ("follows", "precedes"):
            lists = self._network.after if step.step == "follows" else self._network.before
            later, earlier = (there, here) if step.step == "follows" else (here, there)
            source, target = self._mention(later, step.concept), self._mention(earlier, step.concept)
            name = self._name(step.concept)
            return [
                Edge("follows", source, target, _weight(lists.of(here), there), f"{source} follows {target} on {name}")
            ]
        if step.other == step.concept:
            shared = self._shared(here, there)
            concept = step.concept if shared is None else shared
            name = self._name(concept)
            return [
                self._reference(here, concept, f"mentions {name}"),
                self._reference(there, concept, f"mentions {name} too"),
            ]
        name = self._name(step.concept)
        first = self._reference(here, step.concept, f"mentions {name}")
        other = self._name(step.other)
        return [first, self._relation(step, name, other), self._reference(there, step.other, f"mentions {other}")]

    def _relation(self, step: Arrival, name: str, other: str) -> Edge:
        if step.step == "related_to":
            weight = _weight(self._network.related.of(step.concept), step.other)
            return Edge("related_to", name, other, weight, f"{name} is related to {other}")
        # "parent_of" leads from a concept to its parent, "child_of" the other way; both edges weigh 1.
        parent, child = (other, name) if step.step == "parent_of" else (name, other)
        return Edge("parent_of", parent, child, 1.0, f"{child} is a kind of {parent}")

    def _reference(self, section: int, concept: int, words: str) -> Edge:
        source = self._mention(section, concept)
        weight = _weight(self._network.sections.of(section), concept)
        return Edge("references", source, self._name(concept), weight, f"{source} {words}")

    def _mention(self, section: int, concept: int) -> str:
        """The first line of a section that mentions a concept."""
        references = self._index.references
        rows = references.rows(concept)
        ends = self._network.first_row[section], self._network.last_row[section] + 1
        low, high = rows.searchsorted(np.array(ends, rows.dtype))  # another type would cast all rows
        return self._citation(int(rows[low] if high > low else self._network.first_row[section]))

    def _summarised(self, summary: int, original: int) -> Edge:
        """From a line of a section of a summary to the one that it was taken from."""
        section_of, (ours, theirs) = self._network.section_of, self._network.taken
        at = int(np.flatnonzero((section_of[ours] == summary) & (section_of[theirs] == original))[0])
        source, target = self._citation(int(ours[at])), self._citation(int(theirs[at]))
        return Edge("derived_from", source, target, 1.0, f"{source} summarises {target}")

    def _name(self, concept: int) -> str:
        return self._labels([concept])[concept].name


def _weight(entries: tuple[np.ndarray[tuple[int], np.dtype[np.int32]], Floats], target: int) -> float:
    targets, weights = entries
    found = np.flatnonzero(targets == target)
    return round(float(weights[found[0]]), 4) if len(found) else 0.0
