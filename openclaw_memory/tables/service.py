"""SQL and exports over the store, with tables of the graph, the facts and their use beside its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model import ExportReport, Progress, QueryResult, UseRow, bounds, joined, silent
from ..store.rows import ComputedTables
from ..system.deadline import NEVER

if TYPE_CHECKING:
    from ..facts.service import FactService
    from ..graph.network import SparseRows
    from ..graph.view import GraphView
    from ..ingest.freshness import Freshen
    from ..store.api import Ints, Store


class MemoryTables:
    """A memory as tables; ``graph()`` is a context with the graph up to date with the files."""

    def __init__(
        self,
        store: Store,
        graph: Callable[[], AbstractContextManager[GraphView]],
        facts: FactService,
        usage: Callable[[], Sequence[UseRow]],
        freshen: Freshen,
    ) -> None:
        self._store = store
        self._graph = graph
        self._facts = facts
        self._usage = usage
        self._freshen = freshen

    def query(self, sql: str, limit: int | None, timeout: float) -> QueryResult:
        """Answer one SQL statement that only reads."""
        if limit is not None:
            bounds.check_number("limit", limit, 1, whole=True)
        bounds.check_number("timeout", timeout, 0, 24 * 60 * 60)
        stale, remarks = self._freshen(NEVER)
        result = self._store.query(sql, self._collect, limit, timeout)
        return replace(result, stale=stale, warning=joined([*self._store.warnings(), *remarks]))

    def export(self, folder: Path, progress: Progress = silent) -> ExportReport:
        """Write every table to a Parquet file."""
        stale, remarks = self._freshen(NEVER)
        report = self._store.export(folder, self._collect, progress)
        return replace(report, stale=stale, warning=joined([*self._store.warnings(), *remarks]))

    def _collect(self, named: frozenset[str]) -> ComputedTables:
        """Return the rows of the named tables that are not the store's own."""
        rows: dict[str, Sequence[tuple[Any, ...]]] = {}
        edges: dict[str, dict[str, NDArray[Any]]] = {}
        if "facts" in named:
            rows["facts"] = [
                (
                    fact.id, fact.subject, fact.predicate, fact.object, round(fact.confidence, 4), fact.origin,
                    fact.rule, fact.source, fact.valid_from, fact.valid_to, fact.current, fact.superseded_by,
                    fact.recorded_at, fact.newer,
                )
                for fact in self._facts.query(history=True).rows
            ]  # fmt: skip
        if "usage" in named:
            rows["usage"] = [astuple(row) for row in self._usage()]
        if named & {"concepts", "edges"}:
            with self._graph() as view:
                # Edges name their concepts, so those come along.
                rows["concepts"] = _concepts(view)
                if "edges" in named:
                    edges = _edges(view)
        return ComputedTables(rows, edges)


def _concepts(view: GraphView) -> list[tuple[Any, ...]]:
    """Return all concepts, in the order of their places in the graph, with their first and last dated mention."""
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


def _edges(view: GraphView) -> dict[str, dict[str, NDArray[Any]]]:
    """Return all edges by kind, with unit ids and places among :func:`_concepts`; parents are sources."""
    references, network, unit = view.index.references, view.network, view.corpus.rows.unit_id
    source, related = _flatten(network.related)
    parent, children = _flatten(network.children)
    earlier, following = _flatten(network.after)
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


def _flatten(lists: SparseRows) -> tuple[Ints, SparseRows]:
    """Return the row that each entry belongs to, and the entries."""
    return np.repeat(np.arange(len(lists.offset) - 1, dtype=np.int32), np.diff(lists.offset)), lists


def _mentioning(view: GraphView, section: Ints, concept: Ints) -> Ints:
    """Return the first row of each section that mentions a concept, or its first row if none does: ``int32[n]``."""
    references, network = view.index.references, view.network
    rows = len(view.corpus) + 1
    place = references.concept.astype(np.int64) * rows + references.row
    first, last = network.first_row[section], network.last_row[section]
    begin = concept.astype(np.int64) * rows + first
    at = np.searchsorted(place, begin)
    mention = np.append(place, np.iinfo(np.int64).max)[at]
    inside = mention <= begin + (last - first)
    return np.where(inside, first + np.where(inside, mention - begin, 0), first).astype(np.int32)
