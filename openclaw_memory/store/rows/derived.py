"""What is decided above the store, as rows that SQL and exports put beside its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Derived:
    """What was asked for, as it is put into the tables: see their columns in :mod:`..duckdb.views`.

    ``rows`` are those of ``concepts``, ``facts`` and ``usage`` by the name of the table.  ``edges`` are arrays, a
    column each, by the kind of edge; they name units by their ids, and concepts by their places among the rows.
    """

    rows: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    edges: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)


#: Collects the rows of the named tables, as the store is when it is called; asks the store itself.
Collect = Callable[[frozenset[str]], Derived]
