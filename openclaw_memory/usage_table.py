"""What the records of use add up to: counts, days and a boost for every unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from .journal import Record

#: The kind of the records: what became of a unit on a day.
USE = "use"
#: What an event is worth; being shown is worth nothing, or what is shown once would be shown ever more.
WORTH = {"used": 1.0, "useful": 3.0, "irrelevant": -4.0}
COUNTS = ("shown", *WORTH)
#: Days after which an event is worth half.
HALF_LIFE = 30.0


@dataclass(frozen=True, slots=True)
class Uses:
    """What use says about units, by the ids of hits; while nothing of it changes it is the same object.

    ``boosts`` are in [-1, 1] and hold only what is not 0, ``paths`` are the files of all the ids, ``last`` the days
    on which each was last shown, opened, quoted or judged.
    """

    version: str
    boosts: Mapping[str, float]
    paths: Mapping[str, str]
    last: Mapping[str, date]


def boost_of(worth: float) -> float:
    """How far a unit moves whose events are still worth ``worth``: ``sign(u) (1 - 2^(-|u| / 2))``, in [-1, 1]."""
    return math.copysign(1.0 - math.exp2(-abs(worth) / 2), worth)


def _left(days: int) -> float:
    """What is left of the worth of an event after some days; all of it on days to come."""
    return math.exp2(-max(0, days) / HALF_LIFE)


@dataclass(slots=True)
class Sum:
    """All records of a unit; ``worth`` is that of its events on the day ``last``, days being ordinals."""

    path: str
    first: int
    last: int
    worth: float = 0.0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def add(self, path: str, first: int, last: int, worth: float, counts: Mapping[str, int]) -> None:
        """Add a record whose events are worth ``worth`` on its day ``last``."""
        if last > self.last:
            self.path = path
            self.worth *= _left(last - self.last)
        else:
            worth *= _left(self.last - last)
        self.worth += worth
        self.first, self.last = min(self.first, first), max(self.last, last)
        for name, number in counts.items():
            self.counts[name] += number

    def boost(self, today: int) -> float:
        """The boost on a day, to four digits."""
        return round(boost_of(self.worth * _left(today - self.last)), 4)

    def record(self, id: str) -> Record:
        """One record that says what all of them said."""
        told = {name: number for name, number in self.counts.items() if number}
        first, last = (date.fromordinal(day).isoformat() for day in (self.first, self.last))
        return {"kind": USE, "id": id, "path": self.path, "first": first, "day": last, "worth": self.worth, **told}


class Table:
    """The sums of all units, kept in step with the journal's records."""

    def __init__(self) -> None:
        self.sums: dict[str, Sum] = {}
        self._read: Record | None = None
        self._count = 0

    def follow(self, records: Sequence[Record]) -> None:
        """Take in what ``records`` have more than at the last call; all of them when they are others."""
        done = self._count
        if done and (len(records) < done or records[done - 1] is not self._read):
            self.sums, done = {}, 0
        for record in records[done:]:
            self._take(record)
        self._count = len(records)
        self._read = records[-1] if records else None

    def _take(self, record: Record) -> None:
        try:
            last = date.fromisoformat(record["day"]).toordinal()
            first = date.fromisoformat(record["first"]).toordinal() if "first" in record else last
            counts = {name: int(record[name]) for name in COUNTS if name in record}
            worth = sum(counts.get(name, 0) * each for name, each in WORTH.items())
            worth = float(record.get("worth", worth))
            unit, path = str(record["id"]), str(record["path"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return  # edited by hand, or written by a version to come
        if not math.isfinite(worth):
            return
        known = self.sums.setdefault(unit, Sum(path, first, last))
        known.add(path, first, last, worth, counts)
