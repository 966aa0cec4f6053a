"""What is decided above the store, as rows that SQL and exports put beside its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from ...model import FactRow, UseRow
from .arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class ConceptEntry:
    """A concept: what it is called, how many ``units`` mention it, and from which day to which.

    ``parents`` are slugs; ``first`` and ``last`` are of units whose text states a day.
    """

    slug: str
    name: str
    kind: str | None
    curated: bool
    weight: float
    units: int
    aliases: tuple[str, ...]
    parents: tuple[str, ...]
    first: date | None
    last: date | None


@dataclass(frozen=True, slots=True)
class References:
    """Unit ``unit[i]`` mentions concept ``concept[i]``, a place in :attr:`Derived.concepts`."""

    unit: Ints
    concept: Ints
    weight: Floats


@dataclass(frozen=True, slots=True)
class Relations:
    """Pairs of concepts, by their places; ``curated`` says which a person stated."""

    source: Ints
    target: Ints
    weight: Floats
    curated: Bools


@dataclass(frozen=True, slots=True)
class Sequels:
    """Unit ``later[i]`` follows unit ``earlier[i]`` in the thread of the concept ``via[i]``."""

    later: Ints
    earlier: Ints
    via: Ints
    weight: Floats


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of the graph; the sources of ``parents`` are the parents."""

    references: References
    related: Relations
    parents: Relations
    follows: Sequels


@dataclass(frozen=True, slots=True)
class Derived:
    """Rows of the tables that were asked for; ``None`` stands for what was not."""

    concepts: Sequence[ConceptEntry] | None = None
    edges: Edges | None = None
    facts: Sequence[FactRow] | None = None
    usage: Sequence[UseRow] | None = None


#: Collects the rows of the named tables, as the store is when it is called; asks the store itself.
Collect = Callable[[frozenset[str]], Derived]
