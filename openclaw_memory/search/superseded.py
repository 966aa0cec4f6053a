"""Keep which statements of units no longer hold, and how many contradict each other, while that does not change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date

from ..errors import LeaseTimeout
from ..records import NamedTuple
from ..store.api import Store

#: Returns by unit id, in words, the statements that no longer hold on a day, today for ``None``.
Superseded = Callable[[date | None], Mapping[int, tuple[str, ...]]]


class SupersededUnits(NamedTuple):
    """The words about units by id; they stay so from the day ``first`` to before ``end``, which may be never."""

    version: tuple[str, ...]
    first: date
    end: date | None
    words: Mapping[int, tuple[str, ...]]
    conflicts: int


class SupersededStatements:
    """The statements that no longer hold, and did not on a day, while the index cannot be read those last read.

    ``compute`` reads them; ``outlook`` returns the next day on which others will hold, and the number of conflicts.
    """

    def __init__(
        self,
        store: Store,
        today: Callable[[], date],
        compute: Superseded,
        outlook: Callable[[], tuple[date | None, int]],
    ) -> None:
        self._store, self._today, self._compute, self._outlook = store, today, compute, outlook
        self._current: SupersededUnits | None = None

    def __call__(self, as_of: date | None = None) -> Mapping[int, tuple[str, ...]]:
        """Return by unit id, in words, the statements of units that no longer hold, or did not on the day ``as_of``."""
        if as_of is not None:
            return self._compute(as_of)
        with suppress(LeaseTimeout), self._store.reading():
            version, today, current = self._store.facts_version(), self._today(), self._current
            if current is None or current.version != version or not current.first <= today < (current.end or date.max):
                words, (end, conflicts) = self._compute(None), self._outlook()
                self._current = SupersededUnits(version, today, end, words, conflicts)
        return self._current.words if self._current is not None else {}

    def outlook(self) -> tuple[int, date, date]:
        """Return the number of pairs of values that both claim to hold, and the days from and before which it is so."""
        self()
        current = self._current
        return (
            (0, date.max, date.max) if current is None else (current.conflicts, current.first, current.end or date.max)
        )

    def export(self) -> tuple[object, ...]:
        """Return the state to restore."""
        self()
        return tuple(self._current or ())

    def restore(self, state: tuple[object, ...]) -> None:
        """Take over what :meth:`export` returned."""
        self._current = SupersededUnits(*state) if state else None  # type: ignore[arg-type]
