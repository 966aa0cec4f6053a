"""The graph as rows: its concepts and edges for SQL and for exports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.network import Lists
from ..graph.view import GraphView
from ..store.api import Ints


def concepts(view: GraphView) -> list[tuple[Any, ...]]:
    """All concepts, in the order of their places in the graph; days are of units whose text states one."""
    references, labels = view.index.references, view.labels()
    slugs = {int(key): labels[place].slug for place, key in enumerate(references.keys.tolist())}
    rows = []
    for place, (first, last) in enumerate(view.days()):
        label, curated = labels[place], labels[place].curated
        parents = [] if curated is None else [slugs[key] for key in curated.parents if key in slugs]
        units = int(references.units[place])
        named = label.slug, label.name, label.kind, curated is not None, label.weight, units, label.others
        rows.append((*named, parents, first, last))
    return rows


def edges(view: GraphView) -> dict[str, dict[str, NDArray[Any]]]:
    """All edges by kind, by unit id and by place among :func:`concepts`; the sources of parents are the parents."""
    references, network, unit = view.index.references, view.network, view.corpus.rows.unit_id
    source, related = _pairs(network.related)
    parent, children = _pairs(network.children)
    earlier, following = _pairs(network.after)
    via = network.after_thread
    later_row = _mentioning(view, following.target, via)
    earlier_row = _mentioning(view, earlier, via)
    return {
        "reference": {"unit": references.unit, "concept": references.concept, "weight": references.weight},
        "related": {
            "source": source, "target": related.target, "weight": related.weight,
            "curated": network.related_curated,
        },
        "parent": {
            "source": parent, "target": children.target, "weight": children.weight,
            "curated": np.ones(len(parent), bool),
        },
        "sequel": {
            "later": unit[later_row], "earlier": unit[earlier_row], "via": via.astype(np.int32),
            "weight": following.weight,
        },
    }  # fmt: skip


def _pairs(lists: Lists) -> tuple[Ints, Lists]:
    """The row that each entry belongs to, and the entries."""
    return np.repeat(np.arange(len(lists.offset) - 1, dtype=np.int32), np.diff(lists.offset)), lists


def _mentioning(view: GraphView, section: Ints, concept: Ints) -> Ints:
    """The first row of each section that mentions a concept; the section's first when none does: ``int32[n]``."""
    references, network = view.index.references, view.network
    rows = len(view.corpus) + 1
    place = references.concept.astype(np.int64) * rows + references.row
    first, last = network.first_row[section], network.last_row[section]
    wanted = concept.astype(np.int64) * rows + first
    at = np.searchsorted(place, wanted)
    found = np.append(place, np.iinfo(np.int64).max)[at]
    inside = found <= wanted + (last - first)
    return np.where(inside, first + np.where(inside, found - wanted, 0), first).astype(np.int32)
