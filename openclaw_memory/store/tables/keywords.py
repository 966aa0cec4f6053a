"""The keyword index: incremental postings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ... import arrays as np
from ...system.mapped import Kept
from ..rows import Ints, Postings

if TYPE_CHECKING:
    from numpy.typing import NDArray

Frequencies: TypeAlias = "NDArray[np.int16]"

#: Largest value of a SMALLINT column.
MOST = 32_767


@lru_cache(maxsize=1 << 17)
def term_key(term: str) -> int:
    """Return the 63-bit hash of a term; the index stores no dictionary."""
    return int.from_bytes(blake2b(term.encode("utf-8"), digest_size=8).digest(), "big") >> 1


def posting_columns(units: Sequence[tuple[int, Mapping[str, int]]]) -> tuple[list[int], list[int], list[int]]:
    """Return terms, unit ids and frequencies of the postings of some units."""
    return (
        [term_key(term) for _, terms in units for term in terms],
        [unit_id for unit_id, terms in units for _ in terms],
        [min(frequency, MOST) for _, terms in units for frequency in terms.values()],
    )


def run_lengths(sorted_terms: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different terms, and how often each stands there."""
    terms, lengths = np.unique(sorted_terms, return_counts=True)
    return terms, lengths


class _Segment:
    """Postings sorted by term: unique ``terms`` and, per term, a slice of ``unit_id`` and ``tf``."""

    def __init__(self, terms: NDArray[np.int64], lengths: NDArray[np.int64], unit_id: Ints, tf: Frequencies) -> None:
        self.terms = terms
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.unit_id = unit_id
        self.tf = tf

    @classmethod
    def of_columns(cls, term: NDArray[np.int64], unit_id: Ints, tf: Frequencies) -> _Segment:
        order = np.argsort(term, kind="stable")
        return cls(*run_lengths(term[order]), unit_id[order], tf[order])

    def span(self, key: int) -> slice | None:
        at = int(np.searchsorted(self.terms, key))
        if at == len(self.terms) or self.terms[at] != key:
            return None
        return slice(int(self.offsets[at]), int(self.offsets[at + 1]))

    def expanded(self) -> NDArray[np.int64]:
        return np.repeat(self.terms, np.diff(self.offsets))


Columns: TypeAlias = "tuple[NDArray[np.int64], Ints, Frequencies]"
#: The terms of a base, ascending, the number of postings of each, and these in order.
Base: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], Ints, Frequencies]"
#: The base after a new compaction and else ``None``; the delta, then of all units, else of those above the requested
#: one; the highest unit id, and the number of the last compaction.
Loaded: TypeAlias = "tuple[Base | None, Columns, int, int]"
#: ``load(unit, compaction)`` returns what is new to an index that has the units up to ``unit`` of that ``compaction``.
Load = Callable[[int, int], Loaded]


class KeywordIndex(Kept):
    """An index from terms to units: sorted arrays in memory; the store holds a base sorted by term and a delta.

    A unit's postings never change and unit ids only grow, so new postings have higher ids.  Postings of dead units stay
    until the store drops them in a compaction, after which all are read again.
    """

    transient: ClassVar[tuple[str, ...]] = ("_load",)

    def __init__(self, load: Load) -> None:
        self._load = load
        self._segments: list[_Segment] = []
        self._unit = 0
        self._compaction = -1

    def refresh(self) -> None:
        """Take over the texts that were written since the last call."""
        base, delta, self._unit, self._compaction = self._load(self._unit, self._compaction)
        if base is not None:
            self._segments = [_Segment(*base)] if len(base[0]) else []
        if len(delta[0]):
            self._segments.append(_Segment.of_columns(*delta))
        if len(self._segments) > 8:
            self._merge()

    def _merge(self) -> None:
        # The large first segment stays until the others together are a quarter of it.
        rest = self._segments[1:]
        keep = [self._segments[0]]
        if sum(len(s.unit_id) for s in rest) > len(keep[0].unit_id) // 4:
            keep, rest = [], self._segments
        merged = _Segment.of_columns(
            np.concatenate([s.expanded() for s in rest]),
            np.concatenate([s.unit_id for s in rest]),
            np.concatenate([s.tf for s in rest]),
        )
        self._segments = [*keep, merged]

    def postings(self, terms: Sequence[str]) -> Postings:
        """Return the occurrences of each of ``terms`` (analysed, distinct), in their order."""
        ids: list[Ints] = []
        tfs: list[NDArray[np.int16]] = []
        offsets = [0]
        total = 0
        for term in terms:
            key = term_key(term)
            for segment in self._segments:
                span = segment.span(key)
                if span is not None:
                    ids.append(segment.unit_id[span])
                    tfs.append(segment.tf[span])
                    total += span.stop - span.start
            offsets.append(total)
        return Postings(
            np.asarray(offsets, np.int64),
            np.concatenate(ids).astype(np.int32, copy=False) if ids else np.zeros(0, np.int32),
            np.concatenate(tfs).astype(np.float32) if tfs else np.zeros(0, np.float32),
        )
