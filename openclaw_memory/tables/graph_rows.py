"""The graph as rows: its concepts and edges for SQL and for exports."""

from __future__ import annotations

import numpy as np

from ..graph.network import Lists
from ..graph.view import GraphView
from ..store.api import Ints
from ..store.rows.derived import ConceptEntry, Edges, References, Relations, Sequels


def concepts(view: GraphView) -> list[ConceptEntry]:
    """All concepts, in the order of their places in the graph."""
    references, labels = view.index.references, view.labels()
    slugs = {int(key): labels[place].slug for place, key in enumerate(references.keys.tolist())}
    out = []
    for place, (first, last) in enumerate(view.days()):
        label, row = labels[place], labels[place].curated
        out.append(
            ConceptEntry(
                slug=label.slug,
                name=label.name,
                kind=label.kind,
                curated=row is not None,
                weight=label.weight,
                units=int(references.units[place]),
                aliases=label.others,
                parents=() if row is None else tuple(slugs[key] for key in row.parents if key in slugs),
                first=first,
                last=last,
            )
        )
    return out


def edges(view: GraphView) -> Edges:
    """All edges, by unit id and by place among :func:`concepts`."""
    references, network, unit = view.index.references, view.network, view.corpus.rows.unit_id
    source, related = _pairs(network.related)
    parent, children = _pairs(network.children)
    earlier, following = _pairs(network.after)
    via = network.after_thread
    later_row = _mentioning(view, following.target, via)
    earlier_row = _mentioning(view, earlier, via)
    return Edges(
        References(references.unit, references.concept, references.weight),
        Relations(source, related.target, related.weight, network.related_curated),
        Relations(parent, children.target, children.weight, np.ones(len(parent), bool)),
        Sequels(unit[later_row], unit[earlier_row], via.astype(np.int32), following.weight),
    )


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
