"""Walk over the graph from some sections to those connected with them, with the strength and steps of each path.

The walk takes the strongest path to each section and not, as a personalised PageRank does, the sum over all paths: that
finds as much, and does not say which steps to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np

from ..records import NamedTuple, dataclass
from ..store.api import Bools, Floats, Ints
from .network import Network, SparseRows

#: Most sections that a concept leads to: its strongest mentions; a hub leads nowhere in particular.
_DEGREE = 200
#: Sections that one hop goes on from.
_BEAM = 64

Step = Literal["seed", "concept", "related_to", "parent_of", "child_of", "follows", "precedes", "summarises"]
_STEPS: tuple[Step, ...] = (
    "seed", "concept", "related_to", "parent_of", "child_of", "follows", "precedes", "summarises",
)  # fmt: skip


class Arrival(NamedTuple):
    """The edge by which a walk first reached a section: from ``origin`` by ``step`` over ``concept`` (then ``other``).

    A step from a summary to its original leads over no concept: both are -1.
    ``strength`` is the weight of the whole path in [0, 1], ``distance`` the number of hops.
    """

    section: int
    strength: float
    distance: int
    step: Step
    origin: int
    concept: int
    other: int

    @classmethod
    def seed(cls, section: int, strength: float) -> Arrival:
        """Return the arrival of a section that answers by itself, reached by no step."""
        return cls(section, strength, 0, "seed", 0, -1, -1)


@dataclass(frozen=True, slots=True)
class Walk(Mapping[int, Arrival]):
    """The :class:`Arrival` of each section that a walk reached, held as columns over all sections.

    ``distance`` is -1 for other sections.
    """

    strength: Floats
    distance: Ints
    step: Ints
    origin: Ints
    concept: Ints
    other: Ints

    @property
    def sections(self) -> Ints:
        """The sections that were reached, ascending."""
        return np.flatnonzero(self.distance >= 0).astype(np.int32)

    def __getitem__(self, section: int) -> Arrival:
        if not 0 <= section < len(self.distance) or self.distance[section] < 0:
            raise KeyError(section)
        return Arrival(
            section,
            float(self.strength[section]),
            int(self.distance[section]),
            _STEPS[int(self.step[section])],
            int(self.origin[section]),
            int(self.concept[section]),
            int(self.other[section]),
        )

    def __iter__(self) -> Iterator[int]:
        return iter(self.sections.tolist())

    def __len__(self) -> int:
        return len(self.sections)


#: Paths to sections as columns: their target, strength, and ``step``, ``origin``, ``concept`` and ``other``.
Paths = tuple[Ints, Floats, Ints, Ints, Ints, Ints]


def walk(network: Network, seeds: Mapping[int, float], hops: int, passable: Bools | None = None) -> Walk:
    """Return the sections within ``hops`` of the ``seeds`` (sections with their relevance in [0, 1]).

    A hop leads over a shared concept, over one that is related to it, its parent or its child, or to the section
    before or after in a thread, or from a summary to its originals.  A section keeps the strongest of its
    shortest paths; several concepts in common add up as independent evidence, ``1 - Π (1 - w)``, to no more than the
    strength of where the path comes from.  Where ``passable`` is false (``bool[sections]``) no path leads.
    """
    n = len(network.day)
    strength, distance = np.zeros(n, np.float32), np.full(n, -1, np.int32)
    # Step, origin, concept and other.
    reached = [np.zeros(n, np.int32), *(np.full(n, -1, np.int32) for _ in range(3))]
    frontier = np.array(sorted(seeds, key=lambda section: int(network.rank[section])), np.int32)
    strength[frontier] = [min(1.0, max(0.0, seeds[section])) for section in frontier.tolist()]
    distance[frontier] = 0
    for hop in range(1, hops + 1):
        paths = [
            _over_concepts(network, strength, frontier),
            _over_time(network.after, network.after_thread, "follows", strength, frontier),
            _over_time(network.before, network.before_thread, "precedes", strength, frontier),
            _to_originals(network.originals, strength, frontier),
        ]
        section, kept, *how = (np.concatenate(columns) for columns in zip(*paths, strict=True))
        offered, by = _best_by_group(section, kept, n)
        if passable is not None:
            offered[~passable] = 0
        offered *= 0.8  # each hop keeps so much of the strength
        # The first path is kept, or paths could lead in circles; weak arrivals are dropped.
        new = np.flatnonzero((offered >= 0.01) & (distance < 0))
        if not len(new):
            break
        strength[new], distance[new] = offered[new], hop
        for column, value in zip(reached, how, strict=True):
            column[new] = value[by[new]]
        strongest = new[np.lexsort((network.rank[new], -strength[new]))[:_BEAM]]
        frontier = strongest[np.argsort(network.rank[strongest])].astype(np.int32)
    return Walk(strength, distance, *reached)


def _over_concepts(network: Network, reached: Floats, frontier: Ints) -> Paths:
    """Return the best path to each section that shares a concept with the frontier, or has one next to it."""
    place, concept, weight = network.sections.gather(frontier)
    many = (network.sections.offset[frontier + 1] - network.sections.offset[frontier]).astype(np.float32)
    focus = np.sqrt(4 / np.maximum(many, 4))  # a section that mentions more than four is about each of them less
    best, by = _best_by_group(
        concept, (reached[frontier] * focus)[place] * weight * network.rarity[concept], len(network.rarity)
    )
    direct = np.flatnonzero(best > 0).astype(np.int32)
    origin = frontier[place[by[direct]]]
    code = _STEPS.index("concept")
    active = [
        (direct, best[direct], origin, direct, np.full(len(direct), code, np.int32)),
        _over_relations(network.related, direct, best, origin, 0.6, "related_to"),
        _over_relations(network.parents, direct, best, origin, 0.7, "parent_of"),
        _over_relations(network.children, direct, best, origin, 0.7, "child_of"),
    ]
    target, value, source, first, kind = (np.concatenate(parts) for parts in zip(*active, strict=True))
    at, section, ref = network.concepts.gather(target, _DEGREE)
    elsewhere = section != source[at]
    at, section, arriving = at[elsewhere], section[elsewhere], (value[at] * ref).astype(np.float32)[elsewhere]
    top, which = _best_by_group(section, arriving, len(reached))
    # Independent evidence adds up, one concept counting once a section.
    together = np.zeros(len(reached), np.float64)
    shared = kind[at] == code
    np.add.at(together, section[shared], np.log1p(-arriving[shared].clip(0, 0.999)))
    hit = np.flatnonzero(top > 0).astype(np.int32)
    joint = np.maximum(top, (1 - np.exp(together)).astype(np.float32))[hit]
    chosen = at[which[hit]]
    strength = np.minimum(joint, reached[source[chosen]])
    return hit, strength, kind[chosen], source[chosen], first[chosen], target[chosen]


def _over_relations(
    edges: SparseRows, concepts: Ints, best: Floats, origin: Ints, kept: float, step: Step
) -> tuple[Ints, Floats, Ints, Ints, Ints]:
    place, target, weight = edges.gather(concepts)
    value = (best[concepts][place] * weight * kept).astype(np.float32)
    return target, value, origin[place], concepts[place], np.full(len(place), _STEPS.index(step), np.int32)


def _over_time(edges: SparseRows, threads: Ints, step: Step, reached: Floats, frontier: Ints) -> Paths:
    """Return the sections just before or after, in the threads of the frontier."""
    place, section, weight = edges.gather(frontier)
    shift = np.arange(len(place)) - np.searchsorted(place, place)
    thread = threads[edges.offset[frontier][place] + shift]
    strength = (reached[frontier][place] * weight * 0.9).astype(np.float32)
    return section, strength, np.full(len(place), _STEPS.index(step), np.int32), frontier[place], thread, thread


def _to_originals(edges: SparseRows, reached: Floats, frontier: Ints) -> Paths:
    """Return the originals of the summaries of the frontier."""
    place, section, weight = edges.gather(frontier)
    strength = (reached[frontier][place] * weight).astype(np.float32)
    nothing = np.full(len(place), -1, np.int32)
    step = np.full(len(place), _STEPS.index("summarises"), np.int32)
    return section, strength, step, frontier[place], nothing, nothing


def _best_by_group(group: Ints, value: Floats, n: int) -> tuple[Floats, Ints]:
    """Return the largest value of each group, and its place; of equal ones the first."""
    best = np.zeros(n, np.float32)
    np.maximum.at(best, group, value)
    top = np.flatnonzero(value == best[group])[::-1]  # backwards, as the last one written stays
    at = np.full(n, -1, np.int32)
    at[group[top]] = top
    return best, at
