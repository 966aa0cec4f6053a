"""The texts of units and sections, their vectors and their postings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class PendingText:
    """A unit that has no vector of the asked model yet."""

    unit_id: int
    text: str


@dataclass(frozen=True, slots=True)
class VectorModel:
    """Which vectors count: those of this model with this many dimensions."""

    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that was chosen for the notes, by its name in the registry, when there were so many ``units``."""

    name: str
    units: int


@dataclass(frozen=True, slots=True)
class VectorStates:
    """How many units have a vector: ``outdated`` ones have a vector of another model."""

    ready: int = 0
    pending: int = 0
    failed: int = 0
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Columns of units in reading order, one array per column, all of the same length *n*.

    ``day`` is that of the section as a proleptic ordinal, 0 where neither a name nor a text states it: the file's time
    does not.  ``said_first`` and ``said_last`` are the days that the unit itself names, 0 for none; ``hash`` and
    ``occurrence`` (of that hash in its document) identify a unit for good.
    ``likeness`` is the same for units that say the same but for their days and times; ``script`` is that of
    :func:`~openclaw_memory.model.size.script_of`.
    ``amount`` says that a unit has a figure which may say how much.
    A ``title`` is a heading with nothing but further headings below it; a program wrote what is ``machine``,
    and front matter is ``meta``.
    """

    unit_id: Ints
    document_id: Ints
    section_id: Ints
    start_line: Ints
    end_line: Ints
    terms: Ints
    chars: Ints
    time_words: Ints
    heading: Bools
    title: Bools
    machine: Bools
    meta: Bools
    speaker: NDArray[np.int64]
    day: Ints
    said_first: Ints
    said_last: Ints
    hash: NDArray[np.int64]
    occurrence: Ints
    tokens: Floats
    likeness: NDArray[np.int64]
    script: NDArray[np.int8]
    amount: Bools

    @property
    def dated(self) -> Bools:
        """Which units have a day."""
        return self.day > 0


@dataclass(frozen=True, slots=True)
class DerivedRows:
    """Lines that sentences of summaries cite, as columns of the same length; ``path[i]`` is the cited file's."""

    unit_id: Ints
    document_id: Ints
    path: tuple[str, ...]
    start_line: Ints
    end_line: Ints


@dataclass(frozen=True, slots=True)
class UnitText:
    """A unit with its text; ``hash`` and ``occurrence`` identify it for good in its document."""

    id: int
    document_id: int
    start_line: int
    end_line: int
    form: str
    speaker: str | None
    text: str
    hash: int
    occurrence: int


@dataclass(frozen=True, slots=True)
class UnitTraces:
    """How many rows units own beside their own."""

    vectors: int = 0
    mentions: int = 0
    facts: int = 0
    derived: int = 0


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section as it is shown: its heading, date, and exact lines from ``start_line`` on."""

    id: int
    heading: str
    date: date | None
    start_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of the asked terms: term ``i`` owns the slice ``offsets[i]:offsets[i + 1]``.

    Units that no longer exist may be among ``unit_id``; whoever reads drops them.
    """

    offsets: NDArray[np.int64]
    unit_id: Ints
    tf: Floats

    def of(self, i: int) -> tuple[Ints, Floats]:
        """Unit ids and term frequencies of term ``i``."""
        span = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.unit_id[span], self.tf[span]


class KeywordIndex(Protocol):
    """Finds the units that hold a term."""

    @property
    def name(self) -> str:
        """``postings`` or ``fts``."""

    def refresh(self) -> None:
        """Take over what was written since the last call."""

    def postings(self, terms: Sequence[str]) -> Postings:
        """Occurrences of each of ``terms`` (analysed, distinct), in their order."""


class VectorIndex(Protocol):
    """Finds the units whose vectors are near a query's."""

    @property
    def name(self) -> str:
        """``exact`` or ``vss``."""

    @property
    def exhaustive(self) -> bool:
        """Whether scoring every unit is the cheap way to ask."""

    def refresh(self) -> Ints:
        """Take over what was written or removed since the last call; returns the units whose vectors that was."""

    def has(self, unit_ids: Ints) -> Bools:
        """Whether each unit has a vector: ``bool[n]``."""

    def vectors(self, unit_ids: Ints) -> Floats:
        """The vector of each unit, of which every one must have one: ``float32[n, d]``."""

    def similarities(self, query: Floats, unit_ids: Ints) -> Floats:
        """Cosine of ``query`` (``float32[d]``, unit length) with each unit; NaN without a vector."""

    def neighbour_similarities(self, unit_ids: Ints, reach: int) -> Floats:
        """Cosine of unit ``i`` with unit ``i + d`` for ``d = 1..reach``: ``float32[reach, n]``.

        NaN where one of the two has no vector or there is no unit ``i + d``.
        """

    def search(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        """The ``k`` nearest units that have a vector, best first: ids and cosines; fewer where there are no more."""


KeywordIndexName = Literal["postings", "fts"]


VectorIndexName = Literal["auto", "exact", "vss"]
