"""The vector index of a memory that may outgrow what a gateway is to hold: then it is left to the server."""

from __future__ import annotations

from collections.abc import Callable

from ..api import Bools, Floats, Ints
from ..tables.vectors import ExactIndex
from .server_index import ServerIndex


class GrowingIndex:
    """Holds the vectors until ``outgrown()`` says so at a refresh; implements ``VectorIndex``.

    From then on ``server`` scores them, and those that were held are given back.  What is on the way is not loaded
    first.  A memory that shrinks again stays with the server until the process starts anew.
    """

    exhaustive = True

    def __init__(self, held: ExactIndex, server: ServerIndex, outgrown: Callable[[], bool]) -> None:
        self._index: ExactIndex | ServerIndex = held
        self._server = server
        self._outgrown = outgrown

    @property
    def name(self) -> str:
        """That of the index in use."""
        return self._index.name

    def refresh(self) -> Ints:
        """Take over what was written or removed since the last call; returns whose vectors these are."""
        if isinstance(self._index, ExactIndex) and self._outgrown():
            self._server.take_over(self._index)
            self._index = self._server
        return self._index.refresh()

    def has(self, unit_ids: Ints) -> Bools:
        """Whether each unit has a vector: ``bool[n]``."""
        return self._index.has(unit_ids)

    def vectors(self, unit_ids: Ints) -> Floats:
        """The vector of each unit: ``float32[n, d]``."""
        return self._index.vectors(unit_ids)

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Cosine with each unit, NaN where it has no vector: ``float32[n]``; raises as :class:`ServerIndex`."""
        return self._index.similarities(query, unit_ids)

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Cosine of unit ``i`` with the next ``reach`` units: ``float32[reach, n]``, NaN where unknown."""
        return self._index.neighbour_similarities(unit_ids, reach)

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units, best first; raises as :meth:`similarities`."""
        return self._index.search(query, k)
