"""Which known concepts a message names: a few, curated and rare ones first."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..graph.view import GraphView
from ..knowledge.matcher import NameMatcher


@dataclass(frozen=True, slots=True)
class Entity:
    """A concept that a message names: its place in the graph, its name, and what it weighs.

    ``rarity`` is its inverse document frequency scaled to [0, 1].
    """

    place: int
    name: str
    curated: bool
    weight: float
    rarity: float


class Entities:
    """Finds concepts in messages with a matcher that is kept for ``seconds``.

    A matcher of an older index serves on until then, unless curated concepts have changed or the caller has time.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._kept: tuple[int, int, float, NameMatcher] | None = None

    def named(self, view: GraphView, message: str, patient: bool = True) -> list[Entity]:
        """The concepts in ``message``; the graph must be held."""
        references = view.index.references
        keys = dict.fromkeys(found.key for found in self._matcher(view, patient).find(message))
        places = list(dict.fromkeys(references.of([view.index.canonical(key) for key in keys]).tolist()))
        found = [
            Entity(
                place,
                label.name,
                label.curated is not None,
                label.weight,
                float(view.index.rarity[place]),
            )
            for place, label in view.labels(places).items()
        ]
        found.sort(key=lambda entity: (not entity.curated, -entity.weight * entity.rarity, places.index(entity.place)))
        return found[: self._most]

    def _matcher(self, view: GraphView, patient: bool) -> NameMatcher:
        now, version, curated = time.monotonic(), view.index.version, view.index.ontology.version
        if self._kept is not None:
            of, of_curated, since, matcher = self._kept
            if of == version or (not patient and of_curated == curated and now - since <= self._seconds):
                return matcher
        self._kept = version, curated, now, view.matcher
        return self._kept[-1]
