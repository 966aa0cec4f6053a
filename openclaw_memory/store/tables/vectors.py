"""Vectors: which units have one in the database, and the exact index, which holds them all in one matrix."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ... import arrays as np
from ...records import NamedTuple
from ...system.mapped import Kept
from ..rows import Bools, Floats, Ints, ModelChoice, PendingText, VectorModel, VectorStates
from .base import Connection, Tables, count, in_list, put_meta

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows that are read or converted to another type at once.
BLOCK = 8_192
#: Small enough that a block of rows stays in the second-level cache over its passes.
_CACHED = 1_024
#: Steps of a byte for the remainder of rounding, which is half of one at most.
_FINE = 254
#: The model by which a unit has a vector or failed; a subquery for each unit, as a server that has not counted its rows
#: yet would join them one by one.
_MODEL = "(SELECT model_id FROM vectors WHERE unit_id = units.id)"
#: Dead rows are dropped when they are more than this share of the living ones.
DEAD = 1 / 3

Dtype = Literal["float32", "int8"]


class NewVectors(NamedTuple):
    """Vectors written after a generation, up to the generation ``reached``.

    ``parts`` reads the new ones as ``(unit ids, float16[n, d])``, ``total`` in all; ``ready`` are all units that have a
    vector now.
    """

    parts: Iterator[tuple[Ints, NDArray[np.float16]]]
    total: int
    reached: int
    ready: Ints


#: ``load(since)`` returns the vectors written after generation ``since``.
Load = Callable[[int], NewVectors]


class Matrix:
    """Rows of vectors by unit id, grown in place; ``int8`` rows have a scale each.

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
        """Set the rows of ``unit_ids``; an older row of a unit is overwritten."""
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
        self.reserve(0)
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

    def reserve(self, rows: int) -> None:
        """Make room for so many more rows."""
        if self.used + rows > len(self._data):
            room = self.used + rows if not len(self._data) else max(self.used + rows, len(self._data) * 5 // 4)
            self._data = _with_room(self._data, room)
            self._scale = _with_room(self._scale, room if self._dtype == "int8" else 0)

    def trim(self) -> None:
        """Give back the room for more rows."""
        self._data, self._scale = self._data[: self.used], self._scale[: self.used]

    def units_not_in(self, unit_ids: Ints) -> Ints:
        """Return the units that have a row and are not among ``unit_ids``."""
        others = self._unit_of >= 0
        slots = self.slots(unit_ids)
        others[slots[slots >= 0]] = False
        return self._unit_of[others]

    def drop(self, unit_ids: Ints) -> None:
        """Remove these units."""
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
        """Ids of the units that have a row, ascending."""
        return np.flatnonzero(self._slot_of >= 0).astype(np.int32)

    def slots(self, unit_ids: Ints) -> Ints:
        """Return the row number of each unit, -1 for none."""
        if not len(self._slot_of):
            return np.full(len(unit_ids), -1, np.int32)
        inside = unit_ids < len(self._slot_of)
        return np.where(inside, self._slot_of[np.where(inside, unit_ids, 0)], -1).astype(np.int32)

    def rows(self, slots: Ints) -> Floats:
        """Return rows as ``float32[n, d]``."""
        rows = self._data[slots].astype(np.float32)
        if self._dtype == "int8":
            rows *= self._scale[slots][:, None]
        return rows

    def dots(self, query: Floats, slots: Ints | None = None) -> Floats:
        """Return the dot product of ``query`` with the rows ``slots``, or with every row: ``float32[n]``.

        With ``int8`` the query becomes two rows of whole numbers, the second one for the remainder of rounding: so
        only the rounding of the rows counts, which changes a cosine by two thousandths at most.
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
        products = np.asarray(simsimd.cdist(data, parts, metric="dot"))  # in this order each row is read once
        exact = products[:, 1] / _FINE
        exact += products[:, 0]
        exact *= step
        dots = exact.astype(np.float32)
        dots *= self._scale[: self.used] if slots is None else self._scale[slots]
        return dots


def _with_room(rows: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a copy of ``rows`` with zeros behind, ``room`` rows in all."""
    larger = np.zeros((room, *rows.shape[1:]), rows.dtype)
    larger[: len(rows)] = rows
    return larger


class VectorIndex(Kept):
    """An index from vectors to units; this one scores every unit by one matrix-vector product."""

    name = "exact"
    transient: ClassVar[tuple[str, ...]] = ("_load", "_slots")
    #: True if scoring every unit is the cheap way to search.
    exhaustive = True

    def __init__(self, model: VectorModel, load: Load, dtype: Dtype = "float32") -> None:
        self._matrix = Matrix(model.dimensions, dtype)
        self._load = load
        self._generation = -1
        self._slots: tuple[Ints, Ints, Bools] | None = None

    def refresh(self) -> Ints:
        """Take over the vectors that were written or removed since the last call; returns their units."""
        new = self._load(self._generation)
        self._slots = None
        gone = self._matrix.units_not_in(new.ready)
        self._drop(gone)
        self._matrix.reserve(new.total)
        changed = [gone]
        for unit_ids, vectors in new.parts:
            self._put(unit_ids, vectors)
            changed.append(unit_ids)
        self._generation = new.reached
        return np.concatenate(changed)

    def export(self) -> dict[str, Any]:
        """Return the state to restore."""
        self._matrix.trim()
        return super().export()

    def _put(self, unit_ids: Ints, vectors: NDArray[np.float16]) -> None:
        self._matrix.put(unit_ids, vectors)

    def _drop(self, unit_ids: Ints) -> None:
        self._matrix.drop(unit_ids)

    def has(self, unit_ids: Ints) -> Bools:
        """Return which units have a vector: ``bool[n]``."""
        return self._matrix.slots(unit_ids) >= 0

    def vectors(self, unit_ids: Ints) -> Floats:
        """Return the vector of each unit, all of which must have one: ``float32[n, d]``."""
        return self._matrix.rows(self._matrix.slots(unit_ids))

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Return the cosine of ``query`` (``float32[d]``, unit length) with each unit, NaN without a vector."""
        slots, present = self._rows_of(unit_ids)
        if not present.any():
            return np.full(len(unit_ids), np.nan, np.float32)
        if len(unit_ids) * 8 < self._matrix.used:
            scores = self._matrix.dots(query, slots)
        else:
            scores = self._matrix.dots(query)[slots]
        if not present.all():
            scores[~present] = np.nan
        return scores

    def _rows_of(self, unit_ids: Ints) -> tuple[Ints, Bools]:
        """Return the row of each unit and which have one; kept, as every question is about the same units."""
        if self._slots is None or self._slots[0] is not unit_ids:
            slots = self._matrix.slots(unit_ids)
            self._slots = unit_ids, slots, slots >= 0
        return self._slots[1:]

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Return the cosine of unit ``i`` with unit ``i + d`` for ``d = 1..reach``: ``float32[reach, n]``.

        It is NaN if one of the two has no vector or there is no unit ``i + d``.
        """
        slots = self._matrix.slots(unit_ids)
        present, n = slots >= 0, len(slots)
        out = np.full((reach, n), np.nan, np.float32)
        for at in range(0, n, _CACHED):
            stop = min(at + _CACHED, n)
            block = slice(at, min(stop + reach, n))
            if not present[block].any():
                continue
            part = self._matrix.rows(np.maximum(slots[block], 0))
            for d in range(1, reach + 1):
                m = min(stop - at, len(part) - d)
                if m > 0:
                    dots = np.einsum("ij,ij->i", part[:m], part[d : d + m])
                    pairs = present[at : at + m] & present[at + d : at + d + m]
                    out[d - 1, at : at + m] = np.where(pairs, dots, np.nan)
        return out

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """Return ids and cosines of the ``k`` nearest units that have a vector, best first."""
        unit_ids = self._matrix.unit_ids
        if not len(unit_ids):
            return unit_ids, np.zeros(0, np.float32)
        scores = self.similarities(query, unit_ids)
        best = np.argsort(-scores, kind="stable")[:k]
        return unit_ids[best], scores[best]


class VectorTables(Tables):
    """The methods of a store about vectors and models."""

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Return units that have neither a vector of ``model`` nor failed with it, one of each text.

        Those of curated files come first, then the newest days.
        """
        with self._db.read() as c:
            within = "" if unit_ids is None else f"AND units.id IN {in_list(unit_ids)} "
            waiting = c.execute(
                "SELECT min(units.id) AS first FROM units JOIN documents ON documents.id = units.document_id "
                "JOIN sections ON sections.id = section_id "
                f"WHERE {_MODEL} IS DISTINCT FROM {self._model_id(c, model):d} {within}"
                "GROUP BY hash ORDER BY max(CASE kind WHEN 'curated' THEN 1 ELSE 0 END) DESC, "
                f"max(date) DESC NULLS LAST, first LIMIT {limit:d}"
            ).fetchall()
            # Two steps, as the texts of all units are much to read for a few.
            texts = dict(c.execute(
                f"SELECT id, coalesce(indexed, text) FROM units WHERE id IN {in_list(row[0] for row in waiting)}"
            ).fetchall())  # fmt: skip
        return [PendingText(row[0], texts[row[0]]) for row in waiting]

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """Count the units that have a vector of ``model``, of another model, or none."""
        return self._cached(("vector states", model), partial(self._count_states, model))

    def _count_states(self, model: VectorModel | None) -> VectorStates:
        with self._db.read() as c:
            model_id = -1 if model is None else self._model_id(c, model)
            pending, other, mine = c.execute(
                f"SELECT count(*) FILTER (WHERE had IS NULL), count(*) FILTER (WHERE had <> {model_id:d}), "
                f"count(*) FILTER (WHERE had = {model_id:d}) FROM (SELECT {_MODEL} AS had FROM units) q"
            ).fetchone()
            failing = f"SELECT count(*) FROM vectors WHERE status = 'failed' AND model_id = {model_id:d}"
            failed = count(c, f"{failing} AND (SELECT true FROM units WHERE id = unit_id)")
        return VectorStates(mine - failed, pending, failed, other)

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> int:
        """Store vectors (``float32[n, d]``) of units that still exist, in place of any older model's.

        Units of the same text without one get it too; returns the number of units.
        """
        encoded = [base64.b64encode(row.tobytes()).decode("ascii") for row in vectors.astype(np.float16)]
        return self._put(model, unit_ids, "ready", encoded)

    def take_over_vectors(self, model: VectorModel) -> int:
        """Give units the vectors of equal texts in an index that was put aside; returns how many got one."""
        return 0

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> int:
        """Note that ``model`` cannot embed these units and those of the same text; returns their number."""
        return self._put(model, unit_ids, "failed", [None] * len(unit_ids))

    def _put(self, model: VectorModel, unit_ids: Sequence[int], status: str, encoded: Sequence[str | None]) -> int:
        if not len(unit_ids):
            return 0
        values = dict(zip(map(int, unit_ids), encoded, strict=True))
        with self._db.write() as c:
            model_id = self._model_id(c, model, create=True)
            select, listed = "SELECT id, hash FROM units WHERE", in_list(values)
            of_text = {text: values[unit] for unit, text in c.execute(f"{select} id IN {listed}").fetchall()}
            units = c.execute(
                f"{select} hash IN {in_list(of_text)} AND (id IN {listed} OR {_MODEL} IS DISTINCT FROM {model_id:d})"
            ).fetchall()
            c.execute(f"DELETE FROM vectors WHERE unit_id IN {in_list(unit for unit, _ in units)}")
            self._db.insert_rows(
                c, "vectors", "INTEGER VARCHAR", [(unit, values.get(unit, of_text[text])) for unit, text in units],
                f"c0, {model_id:d}, '{status}', (SELECT value FROM counters WHERE name = 'generation') + 1, "
                f"{self._db.blob.format('c1')}",
            )  # fmt: skip
        return len(units)

    def retry_failed(self, model: VectorModel) -> None:
        """Make failed units pending again."""
        with self._db.write() as c:
            c.execute("DELETE FROM vectors WHERE status = 'failed' AND model_id = ?", [self._model_id(c, model)])

    def noise(self, model: VectorModel) -> float | None:
        """Return the cosine that unrelated texts rarely exceed; ``None`` if it was never measured."""
        return self._cached(("noise", model), partial(self._read_noise, model))

    def _read_noise(self, model: VectorModel) -> float | None:
        with self._db.read() as c:
            row = c.execute("SELECT noise FROM models WHERE id = ?", [self._model_id(c, model)]).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note the cosine that unrelated texts rarely exceed."""
        with self._db.write() as c:
            c.execute("UPDATE models SET noise = ? WHERE id = ?", [noise, self._model_id(c, model, create=True)])

    def model_choice(self) -> ModelChoice | None:
        """Return the model that was chosen for the notes."""
        name, _, units = self._cached("model choice", lambda: self._db.counters().get("model", "")).rpartition(" ")
        return ModelChoice(name, int(units)) if name else None

    def put_model_choice(self, choice: ModelChoice) -> None:
        """Note the model for the notes."""
        with self._db.write() as c:
            put_meta(c, "model", f"{choice.name} {choice.units}")

    def _model_id(self, c: Connection, model: VectorModel, create: bool = False) -> int:
        select = "SELECT id FROM models WHERE name = ? AND dimensions = ?"
        row = c.execute(select, [model.name, model.dimensions]).fetchone()
        if row is not None:
            return int(row[0])
        if not create:
            return -1
        new = count(c, "SELECT coalesce(max(id), 0) + 1 FROM models")
        c.execute("INSERT INTO models VALUES (?, ?, ?, NULL)", [new, model.name, model.dimensions])
        return new

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """Return a new, empty vector index; ``refresh`` fills it."""
        return VectorIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)

    def _load_vectors(self, model: VectorModel, since: int) -> NewVectors:
        with self._db.read() as c:
            reached = int(self._db.counters()["generation"])
            # Numbers in the statement: for a value that is bound DuckDB looks through the path for pandas.
            where = f"model_id = {self._model_id(c, model):d} AND status = 'ready'"
            new = f"generation > {since:d}"
            ready, fresh = self._db.columns(f"SELECT unit_id, {new} AS new FROM vectors WHERE {where}")
            ready = ready.astype(np.int32, copy=False)
            newest = ready[fresh.astype(bool)]
        ends = range(int(newest.min()), int(newest.max()) + 1, BLOCK) if len(newest) else range(0)
        return NewVectors(self._read_vectors(model, f"{where} AND {new}", ends), len(newest), reached, ready)

    def _read_vectors(self, model: VectorModel, where: str, ends: range) -> Iterator[tuple[Ints, NDArray[np.float16]]]:
        """Yield the vectors in ranges of unit ids that begin at ``ends``, so that no more are held twice."""
        for low in ends:
            between = f"unit_id BETWEEN {low:d} AND {low + BLOCK - 1:d}"
            ids, data = self._db.columns(f"SELECT unit_id, v FROM vectors WHERE {where} AND {between}")
            if len(ids):
                yield ids.astype(np.int32, copy=False), data.view(np.float16).reshape(-1, model.dimensions)
