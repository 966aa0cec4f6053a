"""SQL and exports: what the graph, the facts and their use say, brought to the store that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..model import ExportReport, Progress, QueryResult, UseRow, bounds, joined, silent
from ..store.rows.derived import Derived
from ..system.deadline import NEVER

if TYPE_CHECKING:
    from ..facts.service import FactBook
    from ..graph.view import GraphView
    from ..ingest.freshness import Freshen
    from ..store.api import Store


class Tables:
    """A memory as tables; ``graph()`` is a context in which the graph is up to date with the files."""

    def __init__(
        self,
        store: Store,
        graph: Callable[[], AbstractContextManager[GraphView]],
        facts: FactBook,
        usage: Callable[[], Sequence[UseRow]],
        freshen: Freshen,
    ) -> None:
        self._store = store
        self._graph = graph
        self._facts = facts
        self._usage = usage
        self._freshen = freshen

    def query(self, sql: str, limit: int | None, timeout: float) -> QueryResult:
        """The answer of one SQL statement that only reads."""
        if limit is not None:
            bounds.number("limit", limit, 1, whole=True)
        bounds.number("timeout", timeout, 0, 24 * 60 * 60)
        stale, remarks = self._freshen(NEVER)
        result = self._store.query(sql, self._collect, limit, timeout)
        return replace(result, stale=stale, warning=joined([*self._store.warnings(), *remarks]))

    def export(self, folder: Path, overwrite: bool, progress: Progress = silent) -> ExportReport:
        """Parquet files of every table."""
        stale, remarks = self._freshen(NEVER)
        report = self._store.export(folder, self._collect, overwrite, progress)
        return replace(report, stale=stale, warning=joined([*self._store.warnings(), *remarks]))

    def _collect(self, named: frozenset[str]) -> Derived:
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
            from . import graph_rows

            with self._graph() as view:
                # Edges name their concepts, so those come along.
                rows["concepts"] = graph_rows.concepts(view)
                if "edges" in named:
                    edges = graph_rows.edges(view)
        return Derived(rows, edges)
