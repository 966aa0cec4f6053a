"""The exact vector index: every row in one matrix in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..rows.arrays import Bools, Floats, Ints
from ..rows.texts import VectorModel

#: Rows that are turned into numbers of another kind at once.
BLOCK = 16_384
#: Small enough that a block of rows stays in the second-level cache over its passes.
_CACHED = 1_024
#: What rounding leaves of a number, half of one at most, in steps of a byte.
_FINE = 254

#: Rows without a unit are dropped when they are more than this share of the rows that a unit has.
DEAD = 1 / 3

Dtype = Literal["float32", "int8"]


class Written(NamedTuple):
    """What was written after a generation, up to the generation ``reached``.

    ``parts`` are ``(unit ids, float16[n, d])`` that are new; ``ready`` are all units that have a vector now.
    """

    parts: Sequence[tuple[Ints, NDArray[np.float16]]]
    reached: int
    ready: Ints


#: ``load(since)`` returns what was written after generation ``since``.
Load = Callable[[int], Written]


class Matrix:
    """Rows of vectors by unit id, grown in place; ``int8`` rows carry a scale each.

    ``used`` rows are held, of which ``dead`` have no unit any more: a third of the living ones at most.
    """

    def __init__(self, dimensions: int, dtype: Dtype) -> None:
        self._dtype = dtype
        self._data: NDArray[Any] = np.zeros((0, dimensions), dtype)
        self._scale = np.zeros(0, np.float32)
        self._slot_of = np.full(0, -1, np.int32)
        self._unit_of = np.zeros(0, np.int32)
        self.used = 0
        self.dead = 0

    def put(self, unit_ids: Ints, vectors: NDArray[Any]) -> None:
        """Set the rows of ``unit_ids``; a unit that has one already is overwritten."""
        if not len(unit_ids):
            return
        top = int(unit_ids.max()) + 1
        if top > len(self._slot_of):
            grown = np.full(max(top, len(self._slot_of) * 5 // 4), -1, np.int32)
            grown[: len(self._slot_of)] = self._slot_of
            self._slot_of = grown
        slots = self._slot_of[unit_ids]
        new = slots < 0
        fresh = int(new.sum())
        slots[new] = np.arange(self.used, self.used + fresh)
        self._slot_of[unit_ids] = slots
        self._unit_of = np.append(self._unit_of[: self.used], unit_ids[new].astype(np.int32))
        self.used += fresh
        if self.used > len(self._data):
            room = self.used if not len(self._data) else max(self.used, len(self._data) * 5 // 4)
            data = np.zeros((room, self._data.shape[1]), self._dtype)
            data[: len(self._data)] = self._data
            self._data = data
            if self._dtype == "int8":
                scale = np.zeros(room, np.float32)
                scale[: len(self._scale)] = self._scale
                self._scale = scale
        for at in range(0, len(slots), BLOCK):
            part = slots[at : at + BLOCK]
            rows = vectors[at : at + BLOCK]
            if self._dtype == "int8":
                rows = rows.astype(np.float32)
                scale = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
                self._data[part] = np.rint(rows / scale[:, None])
                self._scale[part] = scale
            else:
                self._data[part] = rows

    def beyond(self, unit_ids: Ints) -> Ints:
        """The units that have a row and are not among ``unit_ids``."""
        left = self._unit_of >= 0
        slots = self.slots(unit_ids)
        left[slots[slots >= 0]] = False
        return self._unit_of[left]

    def drop(self, unit_ids: Ints) -> None:
        """Forget these units."""
        slots = np.unique(self.slots(unit_ids))
        slots = slots[slots >= 0]
        self._slot_of[self._unit_of[slots]] = -1
        self._unit_of[slots] = -1
        self.dead += len(slots)
        if self.dead > DEAD * (self.used - self.dead):
            living = np.flatnonzero(self._unit_of >= 0)
            self._data = self._data[living]
            self._scale = self._scale[living] if self._dtype == "int8" else self._scale
            self._unit_of = self._unit_of[living]
            self._slot_of[self._unit_of] = np.arange(len(living), dtype=np.int32)
            self.used, self.dead = len(living), 0

    @property
    def unit_ids(self) -> Ints:
        """The units that have a row, ascending."""
        return np.flatnonzero(self._slot_of >= 0).astype(np.int32)

    def slots(self, unit_ids: Ints) -> Ints:
        """Row number per unit, -1 where there is none."""
        if not len(self._slot_of):
            return np.full(len(unit_ids), -1, np.int32)
        inside = unit_ids < len(self._slot_of)
        return np.where(inside, self._slot_of[np.where(inside, unit_ids, 0)], -1).astype(np.int32)

    def rows(self, slots: Ints) -> Floats:
        """Rows as ``float32[n, d]``."""
        found = self._data[slots].astype(np.float32)
        if self._dtype == "int8":
            found *= self._scale[slots][:, None]
        return found

    def dots(self, query: Floats, slots: Ints | None = None) -> Floats:
        """Dot product of ``query`` with the rows ``slots``, or with every row: ``float32[n]``.

        With ``int8`` the query is two rows of whole numbers, the second one for what rounding leaves of it: so only
        the rounding of the rows counts, which puts a cosine off by two thousandths at most.
        """
        data = self._data[: self.used] if slots is None else self._data[slots]
        dots: Floats
        if self._dtype == "float32":
            dots = data @ query
            return dots
        import simsimd

        step = max(float(np.abs(query).max()), 1e-12) / 127
        steps = query / np.float32(step)
        whole = np.rint(steps)
        parts = np.stack([whole, np.rint((steps - whole) * _FINE)]).astype(np.int8)
        found = np.asarray(simsimd.cdist(data, parts, metric="dot"))  # in this order each row is read once
        exact = found[:, 1] / _FINE
        exact += found[:, 0]
        exact *= step
        dots = exact.astype(np.float32)
        dots *= self._scale[: self.used] if slots is None else self._scale[slots]
        return dots


class ExactIndex:
    """Every unit is scored: one matrix-vector product."""

    name = "exact"
    exhaustive = True

    def __init__(self, model: VectorModel, load: Load, dtype: Dtype = "float32") -> None:
        self._matrix = Matrix(model.dimensions, dtype)
        self._load = load
        self._generation = -1
        self._asked: tuple[Ints, Ints, Bools] | None = None

    def refresh(self) -> Ints:
        """Take over the vectors that were written or removed since the last call; returns whose these are."""
        written = self._load(self._generation)
        self._asked = None
        gone = self._matrix.beyond(written.ready)
        self._drop(gone)
        for unit_ids, vectors in written.parts:
            self._put(unit_ids, vectors)
        self._generation = written.reached
        return np.concatenate([*(unit_ids for unit_ids, _ in written.parts), gone])

    def _put(self, unit_ids: Ints, vectors: NDArray[np.float16]) -> None:
        self._matrix.put(unit_ids, vectors)

    def _drop(self, unit_ids: Ints) -> None:
        self._matrix.drop(unit_ids)

    def has(self, unit_ids: Ints) -> Bools:
        """Whether each unit has a vector: ``bool[n]``."""
        return self._matrix.slots(unit_ids) >= 0

    def vectors(self, unit_ids: Ints) -> Floats:
        """The vector of each unit: ``float32[n, d]``."""
        return self._matrix.rows(self._matrix.slots(unit_ids))

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Cosine with each unit, NaN where it has no vector: ``float32[n]``."""
        slots, known = self._places(unit_ids)
        if not known.any():
            return np.full(len(unit_ids), np.nan, np.float32)
        if len(unit_ids) * 8 < self._matrix.used:
            found = self._matrix.dots(query, slots)
        else:
            found = self._matrix.dots(query)[slots]
        if not known.all():
            found[~known] = np.nan
        return found

    def _places(self, unit_ids: Ints) -> tuple[Ints, Bools]:
        """Row of each unit, and whether it has one; kept, as every question is about the same units."""
        if self._asked is None or self._asked[0] is not unit_ids:
            slots = self._matrix.slots(unit_ids)
            self._asked = unit_ids, slots, slots >= 0
        return self._asked[1:]

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Cosine of unit ``i`` with the next ``reach`` units: ``float32[reach, n]``, NaN where unknown."""
        slots = self._matrix.slots(unit_ids)
        known, n = slots >= 0, len(slots)
        out = np.full((reach, n), np.nan, np.float32)
        for at in range(0, n, _CACHED):
            stop = min(at + _CACHED, n)
            here = slice(at, min(stop + reach, n))
            if not known[here].any():
                continue
            part = self._matrix.rows(np.maximum(slots[here], 0))
            for d in range(1, reach + 1):
                m = min(stop - at, len(part) - d)
                if m > 0:
                    dots = np.einsum("ij,ij->i", part[:m], part[d : d + m])
                    out[d - 1, at : at + m] = np.where(known[at : at + m] & known[at + d : at + d + m], dots, np.nan)
        return out

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units, best first."""
        unit_ids = self._matrix.unit_ids
        if not len(unit_ids):
            return unit_ids, np.zeros(0, np.float32)
        scores = self.similarities(query, unit_ids)
        best = np.argsort(-scores, kind="stable")[:k]
        return unit_ids[best], scores[best]
