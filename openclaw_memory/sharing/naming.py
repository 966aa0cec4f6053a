"""How what another memory says is named here, ``@name/…``, and how far it is trusted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from ..model import Edge, FactRow, Origin, RecallHit, SearchHit, citation
from .sources import Source

H = TypeVar("H", bound=SearchHit)

_TRUST = list(Origin)


def own(hit: SearchHit) -> bool:
    """Whether a hit stands in the memory itself: what it reads from other folders is not passed on."""
    return not hit.path.startswith("@")


def of(hit: H, source: Source) -> H:
    """A hit of ``source`` as it is shown here."""
    path = named(hit.path, source)
    made = replace(
        hit,
        path=path,
        citation=citation(path, hit.start_line, hit.end_line),
        id=named(hit.id, source),
        origin=trusted(hit.origin, source),
        memory=source.name,
        also=tuple(replace(one, path=named(one.path, source)) for one in hit.also if not one.path.startswith("@")),
    )
    if isinstance(made, RecallHit):
        return replace(made, via=tuple(_edge(edge, source) for edge in made.via))
    return made


def fact(row: FactRow, source: Source) -> FactRow:
    """A fact of ``source`` as it is shown here."""
    return replace(
        row,
        id=named(row.id, source),
        origin=trusted(row.origin, source),
        source=None if row.source is None else named(row.source, source),
    )


def named(place: str, source: Source) -> str:
    """A path, citation or id of ``source`` as it is called here."""
    return f"@{source.name}/{place}"


def trusted(origin: Origin, source: Source) -> Origin:
    """The less trusted of what a text is there and of what ``source`` may be at most."""
    return max(origin, source.origin, key=_TRUST.index)


def _edge(edge: Edge, source: Source) -> Edge:
    """An edge whose places, not its names of concepts, are called as they are here."""
    places = {
        "references": [edge.source],
        "follows": [edge.source, edge.target],
        "derived_from": [edge.source, edge.target],
    }.get(edge.kind, [])
    if not places:
        return edge
    found = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return replace(
        edge,
        source=named(edge.source, source) if edge.source in places else edge.source,
        target=named(edge.target, source) if edge.target in places else edge.target,
        text=re.sub(found, lambda at: named(at[0], source), edge.text),
    )
