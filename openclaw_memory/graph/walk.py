"""A walk over the graph from some sections: what hangs together with them, how strongly, and by which steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..store.api import Bools, Floats, Ints
from .network import Lists, Network

#: What each further hop keeps of the strength.
DECAY = 0.8
#: What a step to a related, parent or child concept keeps.
_RELATED, _PARENT = 0.6, 0.7
#: What a step in time keeps, both ways, and one from a summary to what it was taken from.
_FOLLOWS, _SUMMARISES = 0.9, 1.0
#: Sections that a concept leads to at most: its strongest mentions; a hub leads nowhere in particular.
_DEGREE = 200
#: A section that mentions more concepts than this is about each of them less.
_FOCUS = 4.0
#: Sections that one hop goes on from.
_BEAM = 64
#: Weaker arrivals are dropped.
_FLOOR = 0.01

Step = Literal["seed", "concept", "related_to", "parent_of", "child_of", "follows", "precedes", "summarises"]
_STEPS: tuple[Step, ...] = (
    "seed", "concept", "related_to", "parent_of", "child_of", "follows", "precedes", "summarises",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a section was reached first: from ``origin`` by ``step`` over ``concept`` (and then ``other``).

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


@dataclass(frozen=True, slots=True)
class Walk(Mapping[int, Arrival]):
    """Where a walk came: an :class:`Arrival` for each section that it reached, held as columns over all sections.

    ``distance`` is -1 where it did not come.
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


def _nowhere(n: int) -> Walk:
    def minus() -> Ints:
        return np.full(n, -1, np.int32)

    return Walk(np.zeros(n, np.float32), minus(), np.zeros(n, np.int32), minus(), minus(), minus())


def walk(
    network: Network,
    seeds: Mapping[int, float],
    hops: int,
    weight: Floats | None = None,
    passable: Bools | None = None,
) -> Walk:
    """Sections within ``hops`` of the ``seeds`` (sections with their relevance in [0, 1]), by section.

    A hop leads over a shared concept, over one that is related to it, its parent or its child, or to the section
    before or after in a thread, or from a summary to what it was taken from.  A section keeps the strongest of its
    shortest paths; several concepts in common add up as independent evidence, ``1 - Π (1 - w)``, to no more than the
    strength of where the path comes from.  ``weight`` multiplies concepts (``float32[c]``); where ``passable`` is
    false (``bool[sections]``) no path leads.
    """
    n = len(network.day)
    state = _nowhere(n)
    frontier = np.array(sorted(seeds), np.int32)
    for section in frontier.tolist():
        state.strength[section] = min(1.0, max(0.0, seeds[section]))
        state.distance[section] = 0
    rarity = network.rarity if weight is None else (network.rarity * weight).clip(0, 1)
    for hop in range(1, hops + 1):
        offer = _nowhere(n)
        _over_concepts(network, state, frontier, rarity, offer)
        _over_time(network, state, frontier, offer)
        _to_originals(network, state, frontier, offer)
        if passable is not None:
            offer.strength[~passable] = 0
        np.multiply(offer.strength, DECAY, out=offer.strength)
        # The first path is kept, or paths could lead in circles.
        new = np.flatnonzero((offer.strength >= _FLOOR) & (state.distance < 0))
        if not len(new):
            break
        state.strength[new] = offer.strength[new]
        state.distance[new] = hop
        for name in ("step", "origin", "concept", "other"):
            getattr(state, name)[new] = getattr(offer, name)[new]
        order = np.lexsort((new, -state.strength[new]))
        frontier = np.sort(new[order[:_BEAM]]).astype(np.int32)
    return state


def _over_concepts(network: Network, state: Walk, frontier: Ints, rarity: Floats, offer: Walk) -> None:
    """Sections that share a concept with the frontier, or have one that is next to it."""
    place, concept, weight = network.sections.gather(frontier)
    if not len(place):
        return
    n = len(network.rarity)
    many = (network.sections.offset[frontier + 1] - network.sections.offset[frontier]).astype(np.float32)
    focus = np.sqrt(_FOCUS / np.maximum(many, _FOCUS))
    strength = (state.strength[frontier] * focus)[place] * weight * rarity[concept]
    best, by = _best(concept, strength, n)
    active: list[tuple[Ints, Floats, Ints, Ints, Ints]] = []
    own = np.flatnonzero(best > 0).astype(np.int32)
    origin = frontier[place[by[own]]]
    active.append((own, best[own], origin, own, np.full(len(own), _STEPS.index("concept"), np.int32)))
    for lists, kept, step in (
        (network.related, _RELATED, "related_to"),
        (network.parents, _PARENT, "parent_of"),
        (network.children, _PARENT, "child_of"),
    ):
        active.append(_next_to(lists, own, best, origin, kept, _STEPS.index(step)))
    target, value, source, first, kind = (np.concatenate(parts) for parts in zip(*active, strict=True))
    at, section, ref = network.concepts.gather(target, _DEGREE)
    arriving = (value[at] * ref).astype(np.float32)
    elsewhere = section != source[at]
    at, section, arriving = at[elsewhere], section[elsewhere], arriving[elsewhere]
    if not len(section):
        return
    top, which = _best(section, arriving, len(offer.strength))
    # Independent evidence adds up, one concept counting once a section.
    together = np.zeros(len(offer.strength), np.float64)
    direct = kind[at] == _STEPS.index("concept")
    np.add.at(together, section[direct], np.log1p(-arriving[direct].clip(0, 0.999)))
    joint = np.maximum(top, (1 - np.exp(together)).astype(np.float32))
    hit = np.flatnonzero(top > 0)
    chosen = at[which[hit]]
    offer.strength[hit] = np.minimum(joint[hit], state.strength[source[chosen]])
    offer.step[hit] = kind[chosen]
    offer.origin[hit] = source[chosen]
    offer.concept[hit] = first[chosen]
    offer.other[hit] = target[chosen]


def _next_to(
    lists: Lists, own: Ints, best: Floats, origin: Ints, kept: float, step: int
) -> tuple[Ints, Floats, Ints, Ints, Ints]:
    place, target, weight = lists.gather(own)
    value = (best[own][place] * weight * kept).astype(np.float32)
    return target, value, origin[place], own[place], np.full(len(place), step, np.int32)


def _over_time(network: Network, state: Walk, frontier: Ints, offer: Walk) -> None:
    """The sections just before and after, in the threads of the frontier."""
    for lists, threads, step in (
        (network.after, network.after_thread, "follows"),
        (network.before, network.before_thread, "precedes"),
    ):
        place, section, weight = lists.gather(frontier)
        if not len(place):
            continue
        start = lists.offset[frontier]
        shift = np.arange(len(place)) - np.searchsorted(place, place)
        thread = threads[start[place] + shift]
        strength = (state.strength[frontier][place] * weight * _FOLLOWS).astype(np.float32)
        top, which = _best(section, strength, len(offer.strength))
        better = np.flatnonzero(top > offer.strength)
        chosen = which[better]
        offer.strength[better] = top[better]
        offer.step[better] = _STEPS.index(step)
        offer.origin[better] = frontier[place[chosen]]
        offer.concept[better] = thread[chosen]
        offer.other[better] = thread[chosen]


def _to_originals(network: Network, state: Walk, frontier: Ints, offer: Walk) -> None:
    """What the summaries of the frontier were taken from."""
    if not len(network.originals.target):
        return
    place, section, weight = network.originals.gather(frontier)
    strength = (state.strength[frontier][place] * weight * _SUMMARISES).astype(np.float32)
    top, which = _best(section, strength, len(offer.strength))
    better = np.flatnonzero(top > offer.strength)
    offer.strength[better] = top[better]
    offer.step[better] = _STEPS.index("summarises")
    offer.origin[better] = frontier[place[which[better]]]
    offer.concept[better] = offer.other[better] = -1


def _best(group: Ints, value: Floats, n: int) -> tuple[Floats, Ints]:
    """The largest value of each group, and where it stands; the first of equal ones."""
    best = np.zeros(n, np.float32)
    np.maximum.at(best, group, value)
    top = np.flatnonzero(value == best[group])[::-1]  # backwards, as the last one written stays
    at = np.full(n, -1, np.int32)
    at[group[top]] = top
    return best, at
