"""Postings in PostgreSQL: a row a term with all its units, and a row a write with what was added since.

A row holds arrays, little-endian: 165 MB for a million lines, where a row a posting took 1.6 GB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.keywords import Columns, Loaded, posting_columns
from ..tables.sql import count
from .database import MemoryTables, Session, copied

_TERM, _UNIT, _TF = np.dtype("<i8"), np.dtype("<i4"), np.dtype("<i2")
_NONE: Columns = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int16)


class PostingsTables(MemoryTables):
    """The tables of a memory with what reads and writes its postings."""

    def insert_postings(self, c: Session, units: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        """Add the terms of new units, with how often each stands there."""
        terms, unit_ids, tfs = posting_columns(units)
        if terms:
            c.execute(
                "INSERT INTO postings_delta VALUES (?, ?, ?, ?, ?)",
                [max(unit_ids), len(terms), _bytes(terms, _TERM), _bytes(unit_ids, _UNIT), _bytes(tfs, _TF)],
            )

    def fold_postings(self, c: Session) -> None:
        """Make the rows of all terms again, from the postings of the units that are there."""
        (living,) = self.columns("SELECT id FROM units")
        base, delta = self.term_postings(c), self.new_postings(c)
        term, unit_id, tf = (np.concatenate([base[at], delta[at]]) for at in range(3))
        kept = np.isin(unit_id, living)
        term, unit_id, tf = term[kept], unit_id[kept], tf[kept]
        order = np.lexsort((unit_id, term))
        term, unit_id, tf = term[order], unit_id[order], tf[order]
        starts = np.flatnonzero(np.r_[True, term[1:] != term[:-1]]) if len(term) else np.zeros(0, np.int64)
        ends = [*starts[1:].tolist(), len(term)][: len(starts)]  # of no postings none
        ids, frequencies = unit_id.astype(_UNIT).view(np.uint8), tf.astype(_TF).view(np.uint8)
        c.execute("DELETE FROM postings_delta")
        c.execute("DELETE FROM postings")
        rows = (
            (one, end - start, ids[4 * start : 4 * end].tobytes(), frequencies[2 * start : 2 * end].tobytes())
            for one, start, end in zip(term[starts].tolist(), starts.tolist(), ends, strict=True)
        )
        copied(c, "postings", ("BIGINT", "INTEGER", "BYTEA", "BYTEA"), rows, binary=True)

    def load_postings(self, unit: int, compaction: int) -> Loaded:
        """What :class:`~openclaw_memory.store.tables.keywords.PostingsIndex` takes over."""
        with self.read() as c:
            known = self.counters()
            highest, reached = int(known["unit"]), int(known["compaction"])
            base, rows = None, 0
            if reached != compaction:
                rows = sum(self.sizes(c))
                term, unit_id, tf = self.term_postings(c) if unit < highest else _NONE
                new = unit_id > unit
                base = term[new], unit_id[new], tf[new]
            return base, self.new_postings(c, unit), highest, reached, rows

    def sizes(self, c: Session) -> tuple[int, int]:
        """How many postings the base has, and the delta."""
        return (
            count(c, "SELECT coalesce(sum(n), 0) FROM postings"),
            count(c, "SELECT coalesce(sum(n), 0) FROM postings_delta"),
        )

    def term_postings(self, c: Session) -> Columns:
        """The base, sorted by term."""
        rows = c.execute("SELECT term, n, unit_id, tf FROM postings ORDER BY term").fetchall()
        terms, lengths, ids, frequencies = zip(*rows, strict=True) if rows else ((), (), (), ())
        return (
            np.repeat(np.array(terms, np.int64), np.array(lengths, np.int64)),
            _joined(ids, _UNIT),
            _joined(frequencies, _TF),
        )

    def new_postings(self, c: Session, unit: int = 0) -> Columns:
        """The delta, of units above ``unit``."""
        asked = "SELECT term, unit_id, tf FROM postings_delta WHERE unit > ? ORDER BY unit"
        rows = c.execute(asked, [unit]).fetchall()
        terms, ids, frequencies = zip(*rows, strict=True) if rows else ((), (), ())
        term, unit_id, tf = _joined(terms, _TERM), _joined(ids, _UNIT), _joined(frequencies, _TF)
        new = unit_id > unit
        return term[new], unit_id[new], tf[new]


def _bytes(numbers: Sequence[int], kind: np.dtype[Any]) -> bytes:
    return np.array(numbers, kind).tobytes()


def _joined(parts: Sequence[bytes], kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(b"".join(parts), kind).astype(kind.newbyteorder("="))
