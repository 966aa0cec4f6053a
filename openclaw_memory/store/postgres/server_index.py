"""The vector index of a memory too large to hold: the server scores its vectors; here is known which units have one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import LeaseTimeout, StoreUnreachable, VectorsLate
from ..api import Bools, Floats, Ints, VectorModel
from ..tables.vectors import ExactIndex, Load
from .database import MemoryTables
from .halfvec import read

#: Units whose neighbours the server compares in one statement.
_BLOCK = 16_384
#: Of fewer than this share of all units the server scores those alone.
_FEW = 1 / 16
#: A byte for each unit id, with room for new ones.
_ROOM = 65_536


class ServerIndex:
    """Every unit is scored by the server, exactly, from its ``halfvec``; implements ``VectorIndex``.

    ``load`` says what changed, without vectors; ``ready`` which rows hold the vectors of the model.
    A question takes one statement, whose answer has eight bytes a unit.
    """

    name = "server"
    exhaustive = True

    def __init__(self, db: MemoryTables, model: VectorModel, load: Load, ready: Callable[[], str]) -> None:
        self._db = db
        self._model = model
        self._load = load
        self._ready = ready
        self._generation = -1
        self._has = np.zeros(0, bool)

    def take_over(self, held: ExactIndex) -> None:
        """Begin with what ``held`` knows of which units have a vector, rather than with nothing."""
        unit_ids = held.unit_ids
        self._generation = held.generation
        self._has = np.zeros(int(unit_ids.max(initial=0)) + _ROOM, bool)
        self._has[unit_ids] = True

    def refresh(self) -> Ints:
        """Take over which units got or lost a vector since the last call; returns these units."""
        written = self._load(self._generation)
        gone = written.gone
        if written.ready is not None:
            held = np.flatnonzero(self._has).astype(np.int32)
            gone = held[~np.isin(held, written.ready)]
        new = np.concatenate([gone[:0], *(unit_ids for unit_ids, _ in written.parts)])
        self._generation = written.reached
        if len(new) and new.max() >= len(self._has):
            self._has = np.append(self._has, np.zeros(int(new.max()) + _ROOM - len(self._has), bool))
        self._has[gone[gone < len(self._has)]] = False
        self._has[new] = True
        return np.concatenate([new, gone])

    def has(self, unit_ids: Ints) -> Bools:
        """Whether each unit has a vector: ``bool[n]``."""
        if not len(self._has):
            return np.zeros(len(unit_ids), bool)
        return (unit_ids < len(self._has)) & self._has[np.where(unit_ids < len(self._has), unit_ids, 0)]

    def vectors(self, unit_ids: Ints) -> Floats:
        """The vector of each unit: ``float32[n, d]``."""
        asked = f"SELECT unit_id, v FROM vectors WHERE {self._ready()} AND unit_id = ANY (?::INTEGER[])"
        found, data = self._db.columns(asked, [unit_ids.tolist()])
        rows = read(data, len(found), self._model.dimensions)
        place = np.zeros(int(unit_ids.max(initial=0)) + 1, np.int64)
        place[found] = np.arange(len(found))
        return rows[place[unit_ids]].astype(np.float32)

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Cosine with each unit, NaN where it has no vector: ``float32[n]``.

        Takes half of the time that is left.  Raises :class:`~openclaw_memory.errors.VectorsLate` where the server does
        not answer in it.
        """
        out = np.full(len(unit_ids), np.nan, np.float32)
        known = self.has(unit_ids)
        if not known.any():
            return out
        asked = f"SELECT unit_id, -(v <#> ?::HALFVEC)::REAL FROM vectors WHERE {self._ready()}"
        given: list[object] = [str(query.astype(np.float16).tolist())]
        if len(unit_ids) < _FEW * len(self._has):
            asked += " AND unit_id = ANY (?::INTEGER[])"
            given.append(unit_ids.tolist())
        try:
            with self._db.within(0.5):
                found, cosines = self._db.columns(asked, given)
        except (LeaseTimeout, StoreUnreachable) as error:
            raise VectorsLate(str(error)) from error
        by_id = np.full(max(len(self._has), int(found.max(initial=0)) + 1), np.nan, np.float32)
        by_id[found] = cosines
        out[known] = by_id[unit_ids[known]]
        return out

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Cosine of unit ``i`` with the next ``reach`` units: ``float32[reach, n]``, NaN where unknown."""
        n = len(unit_ids)
        out = np.full((reach, n), np.nan, np.float32)
        steps = range(1, reach + 1)
        asked = (
            f"SELECT o::INTEGER, {', '.join(f'coalesce(-(v <#> n{d}), $2)::REAL' for d in steps)} FROM ("
            f"SELECT o, v, {', '.join(f'lead(v, {d}) OVER w AS n{d}' for d in steps)} "
            f"FROM (SELECT o, (SELECT CASE WHEN {self._ready()} THEN v END FROM vectors WHERE unit_id = id) AS v "
            "FROM unnest($1::INTEGER[]) WITH ORDINALITY u (id, o)) k WINDOW w AS (ORDER BY o)) q"
        )
        for at in range(0, n, _BLOCK):
            part = unit_ids[at : at + _BLOCK + reach]
            if not self.has(part).any():
                continue
            place, *cosines = self._db.columns(asked, [part.tolist(), np.nan])
            kept = place <= _BLOCK
            for d, column in enumerate(cosines):
                out[d, at + place[kept] - 1] = column[kept]
        return out

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units, best first; raises as :meth:`similarities`."""
        unit_ids = np.flatnonzero(self._has).astype(np.int32)
        scores = self.similarities(query, unit_ids)
        best = np.argsort(-scores, kind="stable")[:k]
        return unit_ids[best], scores[best]
