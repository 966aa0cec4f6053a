"""What the uses of each unit add up to: counts, days and what they are worth, as rows of the state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from .database import State, Transaction

#: What goes by this name changes with these rows.
NAME = "use"
#: The version of the ids of hits; a row of another one is kept, and says nothing until somebody can translate it.
IDS = 1
#: What an event is worth; being shown is worth nothing, or what is shown once would be shown ever more.
WORTH = {"used": 1.0, "useful": 3.0, "irrelevant": -4.0}
COUNTS = ("shown", *WORTH)
#: Days after which an event is worth half, and after which a unit that was shown and nothing more is dropped.
HALF_LIFE, FADED = 30.0, 400

_COLUMNS = "path, first, last, worth, shown, used, useful, irrelevant"
_IN_USE = f"ids = {IDS}"


def boost_of(worth: float) -> float:
    """How far a unit moves whose events are still worth ``worth``: ``sign(u) (1 - 2^(-|u| / 2))``, in [-1, 1]."""
    return math.copysign(1.0 - math.exp2(-abs(worth) / 2), worth)


def _left(days: int) -> float:
    """What is left of the worth of an event after some days; all of it on days to come."""
    return math.exp2(-max(0, days) / HALF_LIFE)


@dataclass(slots=True)
class Sum:
    """All uses of a unit; ``worth`` is that of its events on the day ``last``, days being ordinals."""

    path: str
    first: int
    last: int
    worth: float = 0.0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    @classmethod
    def of(cls, path: str, day: date, counts: Mapping[str, int]) -> Sum:
        """The uses of one day."""
        known = cls(path, day.toordinal(), day.toordinal())
        known.count(counts)
        return known

    def count(self, counts: Mapping[str, int]) -> None:
        """Add events of the day ``last``."""
        for name, number in counts.items():
            self.counts[name] += number
            self.worth += number * WORTH.get(name, 0.0)

    def add(self, other: Sum) -> None:
        """Add what another one says of the same unit."""
        if other.last > self.last:
            self.path = other.path
        last = max(self.last, other.last)
        self.worth = self.worth * _left(last - self.last) + other.worth * _left(last - other.last)
        self.first, self.last = min(self.first, other.first), last
        for name, number in other.counts.items():
            self.counts[name] += number

    def boost(self, today: int) -> float:
        """The boost on a day, to four digits."""
        return round(boost_of(self.worth * _left(today - self.last)), 4)


def sums(state: State) -> dict[str, Sum]:
    """What is known of every unit, by the ids of hits.  Raises :class:`~openclaw_memory.store.state.StateError`."""
    return {row[0]: _sum(row[1:]) for row in state.read(f"SELECT unit, {_COLUMNS} FROM use WHERE {_IN_USE}")}


def sum_of(state: State, unit: str) -> Sum | None:
    """What is known of one unit.  Raises as :func:`sums`."""
    rows = state.read(f"SELECT {_COLUMNS} FROM use WHERE {_IN_USE} AND unit = ?", [unit])
    return _sum(rows[0]) if rows else None


def put(connection: Transaction, unit: str, new: Sum) -> None:
    """Add ``new`` to what is known of a unit, within a transaction."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM use WHERE {_IN_USE} AND unit = ?", [unit]).fetchone()
    if row is not None:
        known = _sum(row)
        known.add(new)
        new = known
    days = (date.fromordinal(day).isoformat() for day in (new.first, new.last))
    connection.execute(f"DELETE FROM use WHERE {_IN_USE} AND unit = ?", [unit])
    connection.execute(
        f"INSERT INTO use (unit, ids, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [unit, IDS, new.path, *days, new.worth, *(new.counts[name] for name in COUNTS)],
    )


def fade(connection: Transaction, today: date) -> None:
    """Drop units that were shown long ago and nothing more, within a transaction."""
    connection.execute(
        "DELETE FROM use WHERE last < ? AND used = 0 AND useful = 0 AND irrelevant = 0",
        [date.fromordinal(max(1, today.toordinal() - FADED)).isoformat()],
    )


def _sum(row: Sequence[Any]) -> Sum:
    path, first, last, worth, *counts = row
    return Sum(
        path,
        date.fromisoformat(first).toordinal(),
        date.fromisoformat(last).toordinal(),
        worth,
        dict(zip(COUNTS, counts, strict=True)),
    )
