"""Build a thread from a walk: its sections, the line of each that matters, and its edges in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field

import numpy as np

from ..index.corpus import Corpus
from ..model import Edge
from ..records import NamedTuple
from ..store.api import Bools, Floats, Ints
from .concepts import ConceptIndex, Label
from .network import Network
from .walk import Arrival, Step, Walk


class Stop(NamedTuple):
    """A section of a thread: how it was reached, and its row that matters most."""

    arrival: Arrival
    row: int
    score: float


def choose_stops(
    network: Network,
    index: ConceptIndex,
    corpus: Corpus,
    walked: Walk,
    relevance: Floats,
    allowed: Bools | None,
    limit: int,
    only_walked: bool = False,
) -> list[Stop]:
    """Return the ``limit`` strongest sections that have an allowed row, in order of time; undated ones come last.

    With ``only_walked`` the sections from which the walk started are left out.
    ``relevance`` is the question's own score of every row, scaled to [0, 1]: ``float32[n]``.
    """
    usable = corpus.shape.anchor if allowed is None else corpus.shape.anchor & allowed
    sections = np.flatnonzero(walked.distance > 0).astype(np.int32) if only_walked else walked.sections
    # Rows of a section are neighbours, so the best of each is a maximum over a run.
    best = np.maximum.reduceat(np.where(usable, relevance, -1), network.first_row)[sections]
    sections, best = sections[best >= 0], best[best >= 0]
    # The question's own score makes a quarter, the strength of the path the rest; a section without a day of its own
    # has no place in an order of days.
    score = walked.strength[sections] * (0.75 + 0.25 * best) * np.where(network.dated[sections], 1.0, 0.5)
    order = np.lexsort((network.rank[sections], -np.round(score, 5)))[: 4 * limit]
    candidates = zip(sections[order].tolist(), score[order].tolist(), strict=True)
    left = [(section, value, _day(network, section)) for section, value in candidates]
    chosen: list[Stop] = []
    days: Counter[int] = Counter()
    while left and len(chosen) < limit:
        # A thread goes on in time: further sections of one day count less.
        values = [value * 0.7 ** days[day] for _, value, day in left]
        section, value, day = left.pop(values.index(max(values)))
        rows = np.arange(network.first_row[section], network.last_row[section] + 1)
        row = _best_row(index, walked[section], rows[usable[rows]], relevance, network.original_rows)
        chosen.append(Stop(walked[section], row, value))
        days[day] += 1
    return sorted(chosen, key=lambda stop: time_key(network, corpus, stop))


def _day(network: Network, section: int) -> int:
    return int(network.day[section]) if network.dated[section] else 0


def time_key(network: Network, corpus: Corpus, stop: Stop) -> tuple[bool, int, int, int]:
    """Return a key that sorts stops by day, path and line; those without a day of their own come last."""
    day = _day(network, stop.arrival.section)
    path = corpus.shape.path_rank[corpus.rows.document_id[stop.row]]
    return not day, day, int(path), int(corpus.rows.start_line[stop.row])


def _best_row(
    index: ConceptIndex,
    arrival: Arrival,
    rows: np.ndarray[tuple[int], np.dtype[np.int_]],
    relevance: Floats,
    original_rows: tuple[Ints, Ints],
) -> int:
    """Return the row that answers best; where a section was reached over a concept, of those that mention it.

    In a section that a summary was taken from, it is one that it was taken from.
    """
    if arrival.distance:
        reached = original_rows[1] if arrival.step == "summarises" else index.rows_of([arrival.other])
        mentioning = rows[np.isin(rows, reached)]
        if len(mentioning):
            rows = mentioning
    return int(rows[int(np.argmax(relevance[rows]))])


@dataclass(slots=True)
class EdgeDescriber:
    """Describes in words how sections are connected; ``citation(row)`` names a row as ``path#L3``."""

    network: Network
    index: ConceptIndex
    walked: Walk
    thread: InitVar[Sequence[int]]
    labels: Callable[[Sequence[int]], Mapping[int, Label]]
    citation: Callable[[int], str]
    #: In how many sections of the thread each concept is.
    frequency: Counter[int] = field(init=False)

    def __post_init__(self, thread: Sequence[int]) -> None:
        self.frequency = Counter(c for section in thread for c in self.network.sections.row(section)[0].tolist())

    def edges(self, arrival: Arrival, before: Sequence[int]) -> tuple[Edge, ...]:
        """Return the steps from a seed to an arrival, in this order.

        For a seed these are its connection with the nearest of the sections ``before`` it in the thread, given in order
        of time, if there is one.
        """
        if not arrival.distance:
            return self._connection(arrival.section, [other for other in before if other != arrival.section])
        steps: list[Arrival] = []
        while arrival.distance:
            steps.append(arrival)
            arrival = self.walked[arrival.origin]
        return tuple(edge for step in reversed(steps) for edge in self._step_edges(step))

    def _connection(self, section: int, before: Sequence[int]) -> tuple[Edge, ...]:
        originals = self.network.originals
        for other in reversed(before) if len(originals.target) else ():
            for summary, original in ((section, other), (other, section)):
                if original in originals.row(summary)[0]:
                    return (self._derived_from(summary, original),)
        directly = self.network.before.row(section)[0].tolist()
        for other in (*(place for place in reversed(before) if place in directly), *reversed(before)):
            concept = self._shared_concept(other, section)
            if concept is not None:
                step: Step = "follows" if other in directly else "concept"
                return tuple(self._step_edges(Arrival(section, 0.0, 1, step, other, concept, concept)))
        return ()

    def _shared_concept(self, a: int, b: int) -> int | None:
        """Return the strongest concept that two sections share, favouring one that runs through the thread."""
        concepts, weights = self.network.sections.row(a)
        others, other_weights = self.network.sections.row(b)
        shared, at, there = np.intersect1d(concepts, others, assume_unique=True, return_indices=True)
        if not len(shared):
            return None
        frequency = np.array([self.frequency[concept] for concept in shared.tolist()])
        strength = weights[at] * other_weights[there] * self.network.rarity[shared] * frequency
        return int(shared[int(np.argmax(strength))])

    def _step_edges(self, step: Arrival) -> list[Edge]:
        origin, section = step.origin, step.section
        if step.step == "summarises":
            return [self._derived_from(origin, section)]
        name = self._name(step.concept)
        if step.step in ("follows", "precedes"):
            edges = self.network.after if step.step == "follows" else self.network.before
            later, earlier = (section, origin) if step.step == "follows" else (origin, section)
            source, target = self._mention(later, step.concept), self._mention(earlier, step.concept)
            weight = _weight(edges.row(origin), section)
            return [Edge("follows", source, target, weight, f"{source} follows {target} on {name}")]
        if step.other == step.concept:
            shared = self._shared_concept(origin, section)
            concept = step.concept if shared is None else shared
            name = self._name(concept)
            return [
                self._reference(origin, concept, f"mentions {name}"),
                self._reference(section, concept, f"mentions {name} too"),
            ]
        other = self._name(step.other)
        return [
            self._reference(origin, step.concept, f"mentions {name}"),
            self._relation(step, name, other),
            self._reference(section, step.other, f"mentions {other}"),
        ]

    def _relation(self, step: Arrival, name: str, other: str) -> Edge:
        if step.step == "related_to":
            weight = _weight(self.network.related.row(step.concept), step.other)
            return Edge("related_to", name, other, weight, f"{name} is related to {other}")
        # "parent_of" leads from a concept to its parent, "child_of" the other way; both edges weigh 1.
        parent, child = (other, name) if step.step == "parent_of" else (name, other)
        return Edge("parent_of", parent, child, 1.0, f"{child} is a kind of {parent}")

    def _reference(self, section: int, concept: int, words: str) -> Edge:
        source = self._mention(section, concept)
        weight = _weight(self.network.sections.row(section), concept)
        return Edge("references", source, self._name(concept), weight, f"{source} {words}")

    def _mention(self, section: int, concept: int) -> str:
        """Return the citation of the first line of a section that mentions a concept."""
        rows = self.index.references.rows(concept)
        ends = self.network.first_row[section], self.network.last_row[section] + 1
        low, high = rows.searchsorted(np.array(ends, rows.dtype))  # another type would cast all rows
        return self.citation(int(rows[low] if high > low else self.network.first_row[section]))

    def _derived_from(self, summary: int, original: int) -> Edge:
        """Return the edge from a line of a section of a summary to the one that it was taken from."""
        section_of, (summaries, originals) = self.network.section_of, self.network.original_rows
        at = int(np.flatnonzero((section_of[summaries] == summary) & (section_of[originals] == original))[0])
        source, target = self.citation(int(summaries[at])), self.citation(int(originals[at]))
        return Edge("derived_from", source, target, 1.0, f"{source} summarises {target}")

    def _name(self, concept: int) -> str:
        return self.labels([concept])[concept].name


def _weight(entries: tuple[np.ndarray[tuple[int], np.dtype[np.int32]], Floats], target: int) -> float:
    targets, weights = entries
    at = np.flatnonzero(targets == target)
    return round(float(weights[at[0]]), 4) if len(at) else 0.0
