"""Which units have a vector: what waits for one, what is stored, and what an index takes over."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...config.settings import StoreSettings
from ..rows.arrays import Floats, Ints
from ..rows.texts import ModelChoice, PendingText, VectorIndex, VectorModel, VectorStates
from .sql import Connection, Sql, among, count
from .vectors import ExactIndex, Written

#: Vectors are read in ranges of this many unit ids, which bounds the Python objects alive at once.
_RANGE = 8_192
#: The model by which a unit has a vector or failed; a subquery for each unit, as a server that has not counted its rows
#: yet would join them one by one.
_MODEL = "(SELECT model_id FROM vectors WHERE unit_id = id)"


class VectorTables:
    """The part of a store that is about vectors: methods of the store."""

    _db: Sql
    _settings: StoreSettings
    #: States of the vectors of a model as of a moment.
    _states: tuple[Any, VectorStates] = None, VectorStates()

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units that have neither a vector of ``model`` nor failed with it, oldest first."""
        with self._db.read() as c:
            some = "" if unit_ids is None else f"AND id IN {among(unit_ids)} "
            waiting = c.execute(
                f"SELECT id FROM units WHERE {_MODEL} IS DISTINCT FROM {self._model_id(c, model):d} {some}"
                f"ORDER BY id LIMIT {limit:d}"
            ).fetchall()
            # Two steps, as the texts of all units are much to read for a few.
            rows = c.execute(
                "SELECT id, coalesce(indexed, text) FROM units "
                f"WHERE id IN {among(row[0] for row in waiting)} ORDER BY id"
            ).fetchall()
        return [PendingText(*row) for row in rows]

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        with self._db.turn():
            at = self._db.moment, model
            if self._states[0] != at:
                with self._db.read() as c:
                    self._states = at, self._counted(c, -1 if model is None else self._model_id(c, model))
            return self._states[1]

    def _counted(self, c: Connection, model_id: int) -> VectorStates:
        pending, other, mine = c.execute(
            f"SELECT count(*) FILTER (WHERE had IS NULL), count(*) FILTER (WHERE had <> {model_id:d}), "
            f"count(*) FILTER (WHERE had = {model_id:d}) FROM (SELECT {_MODEL} AS had FROM units) q"
        ).fetchone()
        failing = f"SELECT count(*) FROM vectors WHERE status = 'failed' AND model_id = {model_id:d}"
        failed = count(c, f"{failing} AND (SELECT true FROM units WHERE id = unit_id)")
        return VectorStates(mine - failed, pending, failed, other)

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> None:
        """Store vectors of units that still exist, in place of any older model's."""
        packed = [base64.b64encode(row.tobytes()).decode("ascii") for row in vectors.astype(np.float16)]
        self._put(model, unit_ids, "ready", packed)

    def take_over_vectors(self, model: VectorModel) -> int:
        """Give units the vectors that an index which had to be put aside has of their texts; how many got one."""
        return 0  # but for a file none is

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> None:
        """Note that these units cannot be embedded by ``model``."""
        self._put(model, unit_ids, "failed", [None] * len(unit_ids))

    def _put(self, model: VectorModel, unit_ids: Sequence[int], status: str, packed: Sequence[str | None]) -> None:
        if not len(unit_ids):
            return
        with self._db.write() as c:
            model_id = self._model_id(c, model, create=True)
            there = {row[0] for row in c.execute(f"SELECT id FROM units WHERE id IN {among(unit_ids)}").fetchall()}
            c.execute(f"DELETE FROM vectors WHERE unit_id IN {among(unit_ids)}")
            self._db.insert_rows(
                c, "vectors", "INTEGER VARCHAR",
                [(int(unit), v) for unit, v in zip(unit_ids, packed, strict=True) if int(unit) in there],
                f"c0, {model_id:d}, '{status}', (SELECT value FROM counters WHERE name = 'generation') + 1, "
                f"{self._db.blob.format('c1')}",
            )  # fmt: skip

    def retry_failed(self, model: VectorModel) -> None:
        """Make failed units pending again."""
        with self._db.write() as c:
            c.execute("DELETE FROM vectors WHERE status = 'failed' AND model_id = ?", [self._model_id(c, model)])

    # -- models -----------------------------------------------------------------------------------

    def noise(self, model: VectorModel) -> float | None:
        """What was noted of a model's unrelated texts."""
        with self._db.read() as c:
            row = c.execute("SELECT noise FROM models WHERE id = ?", [self._model_id(c, model)]).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note the cosine that unrelated texts rarely exceed."""
        with self._db.write() as c:
            c.execute("UPDATE models SET noise = ? WHERE id = ?", [noise, self._model_id(c, model, create=True)])

    def model_choice(self) -> ModelChoice | None:
        """What was noted of the model for the notes."""
        name, _, units = self._db.counters().get("model", "").rpartition(" ")
        return ModelChoice(name, int(units)) if name else None

    def put_model_choice(self, choice: ModelChoice) -> None:
        """Note the model for the notes."""
        with self._db.write() as c:
            c.execute("DELETE FROM meta WHERE key = 'model'")
            c.execute("INSERT INTO meta VALUES ('model', ?)", [f"{choice.name} {choice.units}"])

    def _model_id(self, c: Connection, model: VectorModel, create: bool = False) -> int:
        find = "SELECT id FROM models WHERE name = ? AND dimensions = ?"
        row = c.execute(find, [model.name, model.dimensions]).fetchone()
        if row is not None:
            return int(row[0])
        if not create:
            return -1
        new = count(c, "SELECT coalesce(max(id), 0) + 1 FROM models")
        c.execute("INSERT INTO models VALUES (?, ?, ?, NULL)", [new, model.name, model.dimensions])
        return new

    # -- what search reads --------------------------------------------------------------------------

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """A new, empty vector index; ``refresh`` fills it."""
        return ExactIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)

    def _load_vectors(self, model: VectorModel, since: int) -> Written:
        parts: list[tuple[Ints, NDArray[np.float16]]] = []
        with self._db.read() as c:
            reached = int(self._db.counters()["generation"])
            # Numbers in the statement: for a value that is bound DuckDB looks through the path for pandas.
            where = f"model_id = {self._model_id(c, model):d} AND status = 'ready'"
            new = f"generation > {since:d}"
            ready, fresh = self._db.columns(f"SELECT unit_id, {new} AS new FROM vectors WHERE {where}")
            ready = ready.astype(np.int32, copy=False)
            newest = ready[fresh.astype(bool)]
            for low in range(int(newest.min()), int(newest.max()) + 1, _RANGE) if len(newest) else ():
                some = f"unit_id BETWEEN {low:d} AND {low + _RANGE - 1:d}"
                ids, blob = self._db.vectors(f"SELECT unit_id, v FROM vectors WHERE {where} AND {new} AND {some}")
                if len(ids):
                    rows = np.frombuffer(blob, np.float16).reshape(-1, model.dimensions)
                    parts.append((ids.astype(np.int32, copy=False), rows))
        return Written(parts, reached, ready)
