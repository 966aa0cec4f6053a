"""Vectors in PostgreSQL: which units wait for one, what was written and lost since, and the index over them.

Not all units are looked through each time: the counters ``embedded N`` and ``embedded N as of`` say up to which unit,
as of which generation, all have a vector of the model number ``N`` or failed with it.  Since then only newer units can
lack one, and those that lost theirs, which a trigger notes in the table ``gone``.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ...errors import StoreError
from ...system.deadline import Deadline
from ..api import Floats, Ints, ModelChoice, PendingText, VectorIndex, VectorModel, VectorStates
from ..tables.sql import among, count
from ..tables.store import TableStore
from ..tables.vectors import ExactIndex, Written
from .database import Session, put_counter
from .growing_index import GrowingIndex
from .halfvec import bound, read
from .postings import PostingsTables
from .server_index import ServerIndex

#: Seconds after which a turn ends by itself, many times what a batch of vectors takes.
TURN = 60.0
#: Seconds between two looks whether a turn is free.
_POLL = 0.05
#: Makes the turn of that name that of ``holder``, if nobody else has it now.
_TAKE = """
    INSERT INTO turns AS t VALUES (%s, %s, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (memory, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE t.holder = excluded.holder OR t.until < clock_timestamp()
    RETURNING holder
"""
_KEEP = "UPDATE turns SET until = clock_timestamp() + make_interval(secs => ?) WHERE name = 'embedding' AND holder = ?"
#: Units whose vectors are on their way at once.
_RANGE = 16_384

_ONLY_READS = (
    "this role may only read, so what has no vector of the model {} yet is found by words until a role that writes "
    "has run, with that model: openclaw-memory ingest"
)

#: Units that may lack a vector of the model ``$1``, which all units up to ``$2`` had as of generation ``$3``.
_NEW = "units WHERE id > $2"
_LOST = (
    "(SELECT DISTINCT unit_id AS id FROM gone WHERE generation > $3 AND unit_id <= $2) g "
    "WHERE (SELECT true FROM units u WHERE u.id = g.id)"
)
#: Whether one of them does; a subquery for each, as a join would look through all vectors.
_WAITS = "(SELECT model_id FROM vectors WHERE unit_id = id) IS DISTINCT FROM $1"


class VectorStore(TableStore):
    """The part of :class:`~openclaw_memory.store.postgres.store.PostgresStore` that is about vectors."""

    _db: PostingsTables

    #: By what name the turn of this process goes, while it has one.
    _turn: str | None = None
    #: Of which model units have no vector, where this role cannot give them one.
    _lacking: VectorModel | None = None

    @contextlib.contextmanager
    def embedding_turn(self, timeout: float) -> Iterator[bool]:
        """One process of all machines embeds at a time, so that several do not compute the same vectors.

        No connection is held meanwhile.  A turn ends by itself :data:`TURN` seconds after the last vectors of it were
        stored, as that of a process that died does: then two may compute the same, and one of them is kept.  A role
        that only reads has no turn.
        """
        self._db.open()
        until, holder = Deadline.after(timeout), secrets.token_hex(16)
        ours = False
        while self._db.may_write and not (ours := self._take_turn("embedding", holder)) and not until.passed:
            time.sleep(until.within(_POLL))
        self._turn = holder if ours else self._turn
        try:
            yield ours
        finally:
            if ours:
                if self._turn == holder:  # else it ended, and another thread has one now
                    self._turn = None
                self._end_turn(holder)

    def _take_turn(self, name: str, holder: str) -> bool:
        with self._db.server.transaction() as c:
            return c.execute(_TAKE, [self._db.memory, name, holder, TURN]).fetchone() is not None

    def _end_turn(self, holder: str) -> None:
        with contextlib.suppress(StoreError), self._db.server.transaction() as c:
            c.execute("DELETE FROM turns WHERE memory = %s AND holder = %s", [self._db.memory, holder])

    # -- what waits -----------------------------------------------------------------------------------

    def pending(self, model: VectorModel, limit: int, unit_ids: Ints | None = None) -> list[PendingText]:
        """Units that have neither a vector of ``model`` nor failed with it, oldest first.

        None for a role that only reads: it could not store what it computes.
        """
        with self._db.read() as c:
            model_id = self._model_id(c, model)
            some = "" if unit_ids is None else f"AND id IN {among(unit_ids)} "
            first = f"AND {_WAITS} {some}ORDER BY id LIMIT $4"  # of either, so that no more is looked at
            rows = c.execute(
                "SELECT id, coalesce(indexed, text) FROM units WHERE id = ANY (ARRAY("
                f"(SELECT id FROM {_NEW} {first}) UNION ALL (SELECT id FROM {_LOST} {first}) "
                "ORDER BY 1 LIMIT $4)) ORDER BY id",
                [model_id, *self._reached(model_id), limit],
            ).fetchall()
        if rows and not self._db.may_write:
            self._lacking = model
            return []
        return [PendingText(*row) for row in rows]

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        with self._db.read() as c:
            model_id = -1 if model is None else self._model_id(c, model)
            pending, outdated = c.execute(
                "SELECT count(*) FILTER (WHERE had IS NULL), count(*) FILTER (WHERE had <> $1) FROM ("
                "SELECT (SELECT model_id FROM vectors WHERE unit_id = id) AS had "
                f"FROM (SELECT id FROM {_NEW} UNION ALL SELECT id FROM {_LOST}) d) q",
                [model_id, *self._reached(model_id)],
            ).fetchone() or (0, 0)
            there = "(SELECT true FROM units WHERE id = unit_id)"
            failing = f"SELECT count(*) FROM vectors WHERE status = 'failed' AND model_id = ? AND {there}"
            failed = count(c, failing, [model_id])
            ready = count(c, "SELECT count(*) FROM units") - pending - outdated - failed
            if model is not None and (pending or outdated) and not self._db.may_write:
                self._lacking = model
        return VectorStates(ready, pending, failed, outdated)

    def _reached(self, model_id: int) -> tuple[int, int]:
        """Up to which unit, as of which generation, all had a vector of the model; none where that is not known."""
        known = self._db.counters()
        unit, generation = (int(known.get(name, -1)) for name in _names(model_id))
        return (unit, generation) if generation >= int(known.get("forgotten", 0)) else (-1, generation)

    def without_vectors(self) -> list[str]:
        """What a role that only reads should hear while units have no vector."""
        model, self._lacking = self._lacking, None
        if model is None:
            return []
        self.pending(model, 1)
        return [] if self._lacking is None else [_ONLY_READS.format(model.name)]

    # -- writing --------------------------------------------------------------------------------------

    def put_vectors(self, model: VectorModel, unit_ids: Sequence[int], vectors: Floats) -> None:
        """Store vectors of units that still exist, in place of any older model's."""
        self._put(model, unit_ids, "ready", vectors)

    def put_noise(self, model: VectorModel, noise: float) -> None:
        """Note the cosine that unrelated texts rarely exceed; a role that only reads keeps it to itself."""
        self._db.open()
        if self._db.may_write:
            super().put_noise(model, noise)

    def put_model_choice(self, choice: ModelChoice) -> None:
        """Note the model for the notes; a role that only reads keeps it to itself."""
        self._db.open()
        if self._db.may_write:
            super().put_model_choice(choice)

    def put_failed(self, model: VectorModel, unit_ids: Sequence[int]) -> None:
        """Note that these units cannot be embedded by ``model``."""
        self._put(model, unit_ids, "failed", None)

    def _put(self, model: VectorModel, unit_ids: Sequence[int], status: str, vectors: Floats | None) -> None:
        if not len(unit_ids):
            return
        with self._db.write() as c:
            model_id = self._model_id(c, model, create=True)
            ids = [int(unit_id) for unit_id in unit_ids]
            c.execute("DELETE FROM vectors WHERE unit_id = ANY ($1::INTEGER[])", [ids])
            given, values = (
                ("NULL", []) if vectors is None else ("unnest($4::HALFVEC[])", [bound(c.connection, vectors)])
            )
            c.execute(
                "INSERT INTO vectors SELECT unit_id, $2::INTEGER, $3::TEXT, "
                "(SELECT value FROM counters WHERE name = 'generation') + 1, v "
                f"FROM (SELECT unnest($1::INTEGER[]) AS unit_id, {given}::HALFVEC AS v) g "
                "WHERE (SELECT true FROM units WHERE id = unit_id)",
                [ids, model_id, status, *values],
            )
            self._note_reached(c, model_id)
            if self._turn is not None:
                c.execute(_KEEP, [TURN, self._turn])

    def _note_reached(self, c: Session, model_id: int) -> None:
        """Note up to which unit all have a vector of the model, if none that lost its own waits for another."""
        unit, generation = self._reached(model_id)
        lost = f"SELECT id FROM {_LOST} AND {_WAITS} LIMIT 1"
        if c.execute(lost, [model_id, unit, generation]).fetchone():
            return
        next_one = f"SELECT id FROM {_NEW} AND {_WAITS} ORDER BY id LIMIT 1"
        first = c.execute(next_one, [model_id, unit]).fetchone()
        known = self._db.counters()
        values = (int(known["unit"]) if first is None else first[0] - 1, int(known["generation"]) + 1)
        for name, value in zip(_names(model_id), values, strict=True):
            put_counter(c, name, value)

    def forget_gone(self, c: Session) -> None:
        """Delete the notes of who lost a vector: who has not read them yet looks through all units again."""
        for (model_id,) in c.execute("SELECT id FROM models").fetchall():
            self._note_reached(c, model_id)
        c.execute("DELETE FROM gone")
        put_counter(c, "forgotten", int(self._db.counters()["generation"]) + 1)

    # -- what search reads ------------------------------------------------------------------------------

    def vector_index(self, model: VectorModel) -> VectorIndex:
        """A new, empty vector index; ``refresh`` fills it, and leaves the vectors to the server once they are many."""
        held = ExactIndex(model, partial(self._load_vectors, model), self._settings.vector_dtype)
        if self._settings.vector_index != "auto":
            return held
        server = ServerIndex(self._db, model, partial(self._changed, model), partial(self._ready, model))
        return GrowingIndex(held, server, self._is_large)

    def _is_large(self) -> bool:
        """Whether the memory has more units than a gateway is to hold the vectors of."""
        most = self._settings.resident_vectors
        with self._db.read() as c:
            if int(self._db.counters()["unit"]) <= most:  # ids are given once
                return False
            return count(c, "SELECT count(*) FROM (SELECT 1 FROM units LIMIT ?) q", [most + 1]) > most

    def _load_vectors(self, model: VectorModel, since: int) -> Written:
        with self._db.read():
            written = self._changed(model, since)
            parts = []
            new = written.parts[0][0]
            for low in range(int(new[0]), int(new[-1]) + 1, _RANGE) if len(new) else ():
                span = f"AND generation > {since:d} AND unit_id BETWEEN {low:d} AND {low + _RANGE - 1:d}"
                unit_ids, data = self._db.columns(f"SELECT unit_id, v FROM vectors WHERE {self._ready(model)} {span}")
                parts.append((unit_ids, read(data, len(unit_ids), model.dimensions)))
        return written._replace(parts=parts)

    def _changed(self, model: VectorModel, since: int) -> Written:
        """What :data:`~openclaw_memory.store.tables.vectors.Load` gives: one part, ascending, without its vectors."""
        with self._db.read():
            known = self._db.counters()
            reached, forgotten = int(known["generation"]), int(known.get("forgotten", 0))
            asked = f"SELECT unit_id FROM vectors WHERE {self._ready(model)}"
            (new,) = self._db.columns(f"{asked} AND generation > {since:d} ORDER BY 1")
            parts = [(new, np.zeros((0, model.dimensions), np.float16))]
            if since < forgotten:
                return Written(parts, reached, ready=new if since < 0 else self._db.columns(asked)[0])
            (gone,) = self._db.columns(f"SELECT DISTINCT unit_id FROM gone WHERE generation > {since:d}")
            return Written(parts, reached, gone=gone)

    def _ready(self, model: VectorModel) -> str:
        """Which rows hold the vectors of ``model``."""
        with self._db.read() as c:
            return f"model_id = {self._model_id(c, model):d} AND status = 'ready'"


def _names(model_id: int) -> tuple[str, str]:
    """Counters: up to which unit all had a vector of the model, and as of which generation."""
    return f"embedded {model_id}", f"embedded {model_id} as of"
