"""Usage of each unit: counts and days as rows of the state, and their weight in ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import Any

from ...records import dataclass
from .database import State, Transaction

#: The name under which these rows have a version.
NAME = "use"
#: Weights of events; being shown weighs nothing, or a unit shown once would be shown more and more.
WEIGHTS = {"used": 1.0, "useful": 3.0, "irrelevant": -4.0}
COUNTS = ("shown", *WEIGHTS)

_COLUMNS = "path, first, last, shown, used, useful, irrelevant"


@dataclass(slots=True)
class UnitUsage:
    """All uses of a unit: the first and the last day as ordinals, and the count of each event."""

    path: str
    first: int
    last: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    @classmethod
    def for_day(cls, path: str, day: date, counts: Mapping[str, int]) -> UnitUsage:
        """Return the uses of one day."""
        return cls(path, day.toordinal(), day.toordinal(), {name: counts.get(name, 0) for name in COUNTS})

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> UnitUsage:
        """Return the uses in a row of the state."""
        path, first, last, *counts = row
        first, last = (date.fromisoformat(day).toordinal() for day in (first, last))
        return cls(path, first, last, dict(zip(COUNTS, counts, strict=True)))

    def add(self, other: UnitUsage) -> None:
        """Add other uses of the same unit."""
        if other.last > self.last:
            self.path = other.path
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for name, number in other.counts.items():
            self.counts[name] += number

    @property
    def boost(self) -> float:
        """The shift in ranking for the weighted sum *u* of events: ``sign(u) (1 - 2^(-|u| / 2))``, to four digits."""
        weight = sum(WEIGHTS.get(name, 0.0) * number for name, number in self.counts.items())
        return round(math.copysign(1.0 - math.exp2(-abs(weight) / 2), weight), 4)


def usage_by_unit(state: State) -> dict[str, UnitUsage]:
    """Return the usage of every unit by the ids of hits.  Raises :class:`~.database.StateError`."""
    return {row[0]: UnitUsage.from_row(row[1:]) for row in state.read(f"SELECT unit, {_COLUMNS} FROM use")}


def usage_of_unit(state: State, unit: str) -> UnitUsage | None:
    """Return the usage of one unit.  Raises as :func:`usage_by_unit`."""
    rows = state.read(f"SELECT {_COLUMNS} FROM use WHERE unit = ?", [unit])
    return UnitUsage.from_row(rows[0]) if rows else None


def add_usage(connection: Transaction, unit: str, new: UnitUsage) -> None:
    """Add ``new`` to the usage of a unit, within a transaction."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM use WHERE unit = ?", [unit]).fetchone()
    if row is not None:
        stored = UnitUsage.from_row(row)
        stored.add(new)
        new = stored
    days = (date.fromordinal(day).isoformat() for day in (new.first, new.last))
    connection.execute("DELETE FROM use WHERE unit = ?", [unit])
    connection.execute(
        f"INSERT INTO use (unit, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [unit, new.path, *days, *(new.counts[name] for name in COUNTS)],
    )


def drop_old_impressions(connection: Transaction, today: date, days: int = 400) -> None:
    """Drop units that were only shown, and last so many ``days`` ago, within a transaction."""
    connection.execute(
        "DELETE FROM use WHERE last < ? AND used = 0 AND useful = 0 AND irrelevant = 0",
        [date.fromordinal(max(1, today.toordinal() - days)).isoformat()],
    )
