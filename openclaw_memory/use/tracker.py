"""Count how units are shown, opened, quoted and judged, by the lasting ids of hits, in the state; boost their rows."""

from __future__ import annotations

import logging
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from .. import patterns as re
from ..errors import OpenClawMemoryError, RequestError
from ..records import NamedTuple, dataclass
from ..store.state import State
from ..store.state.database import renew_versions
from ..store.state.use import NAME, UnitUsage, add_usage, drop_old_impressions, usage_by_unit, usage_of_unit
from ..text.scripts import HAN, KANA

if TYPE_CHECKING:
    from ..model import FeedbackReport, SearchHit, UseRow

log = logging.getLogger("openclaw_memory")

#: Name of the version that changes when units are forgotten.
_FORGOT = "forgot"
#: Seconds and events after which counts are written, and seconds to wait for another process that writes.
_FLUSH_SECONDS, _FLUSH_EVENTS, _LOCK_TIMEOUT = 60.0, 200, 1.0
#: Seconds for which a shown hit can be opened or quoted, number of hits that are remembered, and of units whose counts
#: wait to be written, when they cannot be.
_RECENT_SECONDS, _MAX_RECENT, _MAX_PENDING = 30 * 60.0, 600, 10_000
#: Words in a row that make a quotation.
_QUOTED_WORDS = 8

#: A word, or a character of Chinese and Japanese, which have no spaces between words.
_WORD = re.compile(rf"[{KANA}{HAN}]|[^\W{KANA}{HAN}]+")


@dataclass(slots=True)
class _Shown:
    """A hit that was shown at a time; ``words`` are those of its snippet, once they were needed."""

    at: float
    id: str
    path: str
    first: int
    last: int
    snippet: str
    words: list[str] | None = None
    counted: bool = False


class UsageBoosts(NamedTuple):
    """The use of units as of a day, by the ids of hits; while nothing of it changes it is the same object.

    ``version`` changes whenever anything else does; ``boosts`` are in [-1, 1] and hold only values other than 0,
    ``paths`` are the files of those ids.
    """

    version: str
    boosts: Mapping[str, float]
    paths: Mapping[str, str]


#: Returns the use of units as of a day.
BoostsOn = Callable[[date], UsageBoosts]


class Usage:
    """Counts how units are used, in ``state``; ``clock()`` gives seconds that only grow.

    Events are counted in memory and written by a background thread now and then, so that it slows
    nothing; the last minute is lost when the process is killed.  Safe to use from several threads.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = state
        self._clock = clock
        self._recent: deque[_Shown] = deque(maxlen=_MAX_RECENT)
        #: Counts that are not written yet: path and numbers by id and day.
        self._new: dict[tuple[str, date], tuple[str, dict[str, int]]] = {}
        self._events = 0
        self._written = clock()
        #: Version of the last forgetting that was applied here: a newer one drops all counts from before it.
        self._forgot = ""
        self._boosts: UsageBoosts | None = None
        self._boosts_version: tuple[str, date] | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    # -- events -----------------------------------------------------------------------------------

    def forget_version(self) -> str | None:
        """Return a value that changes with every forgetting, wherever it was; ``None`` while the state is unreadable.

        It is read without the lock: a thread that waits for that may hold the connection that the question needs.
        """
        try:
            return self._state.version(_FORGOT)
        except OpenClawMemoryError:
            return None

    def shown(self, hits: Iterable[SearchHit], day: date) -> None:
        """Count that ``hits`` were shown; they can be opened and quoted for half an hour from now."""
        now = self._clock()
        forgot = self.forget_version()
        with self._lock:
            self._drop_if_forgotten(forgot)
            for hit in hits:
                self._recent.append(_Shown(now, hit.id, hit.path, hit.start_line, hit.end_line, hit.snippet))
                self._count(hit.id, hit.path, day, "shown")
        self._write_if_due()

    def opened(
        self, path: str, first: int | None = None, last: int | None = None, day: date | None = None
    ) -> list[str]:
        """Count the hits shown lately whose lines are read now, all of the file without lines; return their ids.

        A hit that was shown once counts once, however often it is opened and quoted.
        """

        def is_open(hit: _Shown) -> bool:
            behind = last is not None and hit.first > last
            return hit.path == path and not behind and not (first is not None and hit.last < first)

        return self._count_used(is_open, day)

    def quoted(self, reply: str, day: date | None = None) -> list[str]:
        """Count the hits shown lately of whose text ``reply`` has at least eight words in a row; return their ids."""
        runs = _runs(_words(reply[:200_000]))
        if not runs:
            return []

        def is_quoted(hit: _Shown) -> bool:
            if hit.words is None:
                hit.words = _words(hit.snippet)
            return not runs.isdisjoint(_runs(hit.words))

        return self._count_used(is_quoted, day)

    def feedback(self, id: str, path: str, verdict: str, now: date) -> FeedbackReport:
        """Write at once that a unit was ``useful`` or ``irrelevant``, and return its counts.

        Raises :class:`~openclaw_memory.errors.RequestError` for another verdict, and
        :class:`~openclaw_memory.errors.WorkspaceError` when the state cannot be written.
        """
        from ..model.reports import VERDICTS, FeedbackReport

        if verdict not in VERDICTS:
            raise RequestError(f"a verdict is {' or '.join(VERDICTS)}, not {verdict!r}")
        self.flush()
        new = UnitUsage.for_day(path, now, {verdict: 1})
        with self._state.writing(NAME) as connection:
            add_usage(connection, id, new)
        total = usage_of_unit(self._state, id) or new
        return FeedbackReport(
            id=id, verdict=verdict, **total.counts, boost=total.boost, last=date.fromordinal(total.last)
        )

    # -- counts -----------------------------------------------------------------------------------

    def boosts_on(self, today: date) -> UsageBoosts:
        """Return the use of units as of a day, as far as it is written; another object only where that changed.

        While the state cannot be read it is the last one.
        """

        try:
            version = self._state.version(NAME), today
            if version == self._boosts_version and self._boosts is not None:  # which was set before its mark
                return self._boosts
            totals = usage_by_unit(self._state)
        except OpenClawMemoryError as problem:
            log.debug("use is not known: %s", problem)
            return self._boosts or UsageBoosts("", {}, {})
        with self._lock:
            boosts = {unit: boost for unit, total in totals.items() if (boost := total.boost)}
            paths = {unit: totals[unit].path for unit in boosts}
            old = self._boosts
            if old is None or (old.boosts, old.paths) != (boosts, paths):
                self._boosts = UsageBoosts(f"{version[0]}-{today}", boosts, paths)
            self._boosts_version = version
            assert self._boosts is not None
            return self._boosts

    def rows(self) -> list[UseRow]:
        """Return the counts of every unit that was ever shown or judged, by path and id.

        Raises :class:`~openclaw_memory.store.state.StateError` when the state cannot be read.
        """
        from ..model import UseRow

        self.flush()
        rows = [
            UseRow(
                id=unit,
                path=total.path,
                **total.counts,
                first=date.fromordinal(total.first),
                last=date.fromordinal(total.last),
                boost=total.boost,
            )
            for unit, total in usage_by_unit(self._state).items()
        ]
        return sorted(rows, key=lambda row: (row.path, row.id))

    def last_days(self) -> dict[str, tuple[str, date]]:
        """Return path and last day of every unit that there are counts of, by id.  Raises as :meth:`rows`."""
        out = {unit: (total.path, date.fromordinal(total.last)) for unit, total in usage_by_unit(self._state).items()}
        with self._lock:
            for (unit, day), (path, _) in self._new.items():
                out[unit] = path, max(day, out.get(unit, (path, day))[1])
            return out

    # -- forgetting -------------------------------------------------------------------------------

    def forget(self, ids: Collection[str]) -> int:
        """Drop all counts of some ids, here and in the state; return how many of them had any.

        Every other process drops all that it has counted before and not yet written, as this one does where others
        forgot.  Raises as :meth:`~openclaw_memory.store.state.State.writing`.
        """
        gone = frozenset(ids)
        with self._writing:
            with self._state.writing(NAME) as connection:
                before = self._state.version(_FORGOT, connection)
                counted = connection.execute("SELECT unit FROM use").fetchall()
                dropped = {unit for (unit,) in counted if unit in gone}
                connection.executemany("DELETE FROM use WHERE unit = ?", [[unit] for unit in dropped])
                renew_versions(connection, [_FORGOT])
                forgot = self._state.version(_FORGOT, connection)
            self._state.wipe()
            with self._lock:
                self._drop_if_forgotten(before)
                self._forgot = forgot
                for unit, day in list(self._new):
                    if unit in gone:
                        del self._new[unit, day]
                        dropped.add(unit)
                self._recent = deque((hit for hit in self._recent if hit.id not in gone), _MAX_RECENT)
        return len(dropped)

    # -- writing ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write the counts since the last time; they stay in memory when that is not possible now."""
        if not self._writing.acquire(timeout=_LOCK_TIMEOUT):
            return
        try:
            with self._lock:
                self._written, self._events = self._clock(), 0
                if not self._new:
                    return
            self._write()
        except OpenClawMemoryError as error:
            log.debug("the counts of use are not written: %s", error)
        finally:
            self._writing.release()

    close = flush  # nothing else is held

    def _write(self) -> None:
        with self._lock:
            counted, self._new, forgot = self._new, {}, self._forgot
        try:
            with self._state.writing(NAME, timeout=_LOCK_TIMEOUT, lasting=False) as connection:
                if (now := self._state.version(_FORGOT, connection)) != forgot:
                    with self._lock:
                        self._drop_if_forgotten(now)
                    return
                for (unit, day), (path, counts) in counted.items():
                    add_usage(connection, unit, UnitUsage.for_day(path, day, counts))
                drop_old_impressions(connection, date.today())
        except BaseException:
            with self._lock:
                for (unit, day), (path, counts) in counted.items():
                    for name, number in counts.items():
                        self._count(unit, path, day, name, number)
                if len(self._new) > _MAX_PENDING:
                    self._new.clear()
            raise
        if self._boosts_version is not None:
            self.boosts_on(self._boosts_version[1])  # here rather than in the next search

    def _write_if_due(self) -> None:
        with self._lock:
            due = self._new and (self._events >= _FLUSH_EVENTS or self._clock() - self._written >= _FLUSH_SECONDS)
            if due:
                self._written, self._events = self._clock(), 0
        if due:
            threading.Thread(target=self.flush, name="usage", daemon=True).start()

    def _count_used(self, is_used: Callable[[_Shown], bool], day: date | None) -> list[str]:
        oldest = self._clock() - _RECENT_SECONDS
        forgot = self.forget_version()
        with self._lock:
            self._drop_if_forgotten(forgot)
            while self._recent and self._recent[0].at < oldest:
                self._recent.popleft()
            used = {hit.id: hit.path for hit in self._recent if not hit.counted and is_used(hit)}
            for hit in self._recent:
                hit.counted |= hit.id in used
            for unit, path in used.items():
                self._count(unit, path, day or date.today(), "used")
        self._write_if_due()
        return list(used)

    # -- the caller holds the lock ----------------------------------------------------------------

    def _count(self, id: str, path: str, day: date, event: str, number: int = 1) -> None:
        counts = self._new.setdefault((id, day), (path, {}))[1]
        counts[event] = counts.get(event, 0) + number
        self._events += number

    def _drop_if_forgotten(self, forgot: str | None) -> None:
        """Drop counts and hits from before something was forgotten elsewhere: they may be of just that."""
        if forgot is not None and forgot != self._forgot:
            self._new.clear()
            self._recent.clear()
            self._forgot = forgot


def _words(text: str) -> list[str]:
    """Return the words of a text as quotations are compared."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    """Return the runs of words that make a quotation."""
    return {tuple(words[at : at + _QUOTED_WORDS]) for at in range(len(words) - _QUOTED_WORDS + 1)}
