"""How each unit was used: counts and days, as rows of the state, and what they are worth to ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from .database import State, Transaction

#: What goes by this name changes with these rows.
NAME = "use"
#: What an event is worth; being shown is worth nothing, or what is shown once would be shown ever more.
WORTH = {"used": 1.0, "useful": 3.0, "irrelevant": -4.0}
COUNTS = ("shown", *WORTH)

_COLUMNS = "path, first, last, shown, used, useful, irrelevant"


@dataclass(slots=True)
class Sum:
    """All uses of a unit: the first and the last day as ordinals, and how often each event happened."""

    path: str
    first: int
    last: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    @classmethod
    def of(cls, path: str, day: date, counts: Mapping[str, int]) -> Sum:
        """The uses of one day."""
        return cls(path, day.toordinal(), day.toordinal(), {name: counts.get(name, 0) for name in COUNTS})

    def add(self, other: Sum) -> None:
        """Add what another one says of the same unit."""
        if other.last > self.last:
            self.path = other.path
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for name, number in other.counts.items():
            self.counts[name] += number

    @property
    def boost(self) -> float:
        """How far ranking moves the unit whose events are worth *u*: ``sign(u) (1 - 2^(-|u| / 2))``, to four digits."""
        worth = sum(WORTH.get(name, 0.0) * number for name, number in self.counts.items())
        return round(math.copysign(1.0 - math.exp2(-abs(worth) / 2), worth), 4)


def sums(state: State) -> dict[str, Sum]:
    """What is known of every unit, by the ids of hits.  Raises :class:`~openclaw_memory.store.state.StateError`."""
    return {row[0]: _sum(row[1:]) for row in state.read(f"SELECT unit, {_COLUMNS} FROM use")}


def sum_of(state: State, unit: str) -> Sum | None:
    """What is known of one unit.  Raises as :func:`sums`."""
    rows = state.read(f"SELECT {_COLUMNS} FROM use WHERE unit = ?", [unit])
    return _sum(rows[0]) if rows else None


def put(connection: Transaction, unit: str, new: Sum) -> None:
    """Add ``new`` to what is known of a unit, within a transaction."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM use WHERE unit = ?", [unit]).fetchone()
    if row is not None:
        known = _sum(row)
        known.add(new)
        new = known
    days = (date.fromordinal(day).isoformat() for day in (new.first, new.last))
    connection.execute("DELETE FROM use WHERE unit = ?", [unit])
    connection.execute(
        f"INSERT INTO use (unit, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [unit, new.path, *days, *(new.counts[name] for name in COUNTS)],
    )


def fade(connection: Transaction, today: date, days: int = 400) -> None:
    """Drop units that were shown so many ``days`` ago and nothing more, within a transaction."""
    connection.execute(
        "DELETE FROM use WHERE last < ? AND used = 0 AND useful = 0 AND irrelevant = 0",
        [date.fromordinal(max(1, today.toordinal() - days)).isoformat()],
    )


def _sum(row: Sequence[Any]) -> Sum:
    path, first, last, *counts = row
    return Sum(
        path,
        date.fromisoformat(first).toordinal(),
        date.fromisoformat(last).toordinal(),
        dict(zip(COUNTS, counts, strict=True)),
    )
