"""Which known concepts a message names: a few, curated and rare ones first."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.view import GraphView

#: Concepts of a message that context looks at.
_MOST = 5


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


def named_in(view: GraphView, message: str) -> list[Entity]:
    """Find the five concepts in ``message`` that count most, curated and rare ones first; the graph must be held."""
    references = view.index.references
    keys = dict.fromkeys(match.key for match in view.matcher.find(message))
    places = list(dict.fromkeys(references.of([view.index.canonical(key) for key in keys]).tolist()))
    entities = [
        Entity(place, label.name, label.curated is not None, label.weight, float(view.index.rarity[place]))
        for place, label in view.labels(places).items()
    ]
    entities.sort(key=lambda entity: (not entity.curated, -entity.weight * entity.rarity, places.index(entity.place)))
    return entities[:_MOST]
