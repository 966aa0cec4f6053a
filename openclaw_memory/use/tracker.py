"""What was shown, opened, quoted and judged: counts of units by the lasting ids of hits, kept in the state."""

from __future__ import annotations

import logging
import re
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date

from ..errors import OpenClawMemoryError, RequestError
from ..model import FeedbackReport, SearchHit, UseRow
from ..model.reports import VERDICTS
from ..store.state import State
from ..store.state.database import renew_versions
from ..store.state.use import NAME, UnitUsage, add_usage, drop_faded, usage_by_unit, usage_of_unit
from ..text.scripts import HAN, KANA
from .boosts import Uses

log = logging.getLogger("openclaw_memory")

#: What goes by this name changes when units are forgotten.
_FORGOT = "forgot"
#: Seconds and events after which counts are written, and seconds to wait for another process that writes.
_SECONDS, _EVENTS, _PATIENCE = 60.0, 200, 1.0
#: Seconds for which what was shown can be opened or quoted, and how much of it is remembered.
_RECENT, _REMEMBERED = 30 * 60.0, 600
#: Words in a row that make a quotation, and characters of a reply that are looked at.
_RUN, _REPLY = 8, 200_000
#: Units whose counts wait to be written at most, when they cannot be.
_WAITING = 10_000

#: A word, or a character of Chinese and Japanese, which have no spaces between words.
_WORD = re.compile(rf"[{KANA}{HAN}]|[^\W{KANA}{HAN}]+")


@dataclass(slots=True)
class _Shown:
    """A hit that somebody was given at a time; ``words`` are those of its snippet, once they were needed."""

    at: float
    id: str
    path: str
    first: int
    last: int
    snippet: str
    words: list[str] | None = None
    counted: bool = False


class Usage:
    """Counts how units are used, in ``state``; ``clock()`` are seconds that only grow.

    What is shown and used is counted in memory and written by a background thread now and then, so that it slows
    nothing; the last minute is lost when the process is killed.  Safe to use from several threads.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = state
        self._clock = clock
        self._recent: deque[_Shown] = deque(maxlen=_REMEMBERED)
        #: Counts that are not written yet: path and numbers by id and day.
        self._new: dict[tuple[str, date], tuple[str, dict[str, int]]] = {}
        self._events = 0
        self._written = clock()
        #: Which forgetting is known here: what was counted before another one is dropped.
        self._forgot = ""
        self._uses: Uses | None = None
        self._uses_version: tuple[str, date] | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    # -- what happens -----------------------------------------------------------------------------

    def forgot(self) -> str | None:
        """Another value after every forgetting, wherever it was; ``None`` while the state cannot be read.

        Asked without the lock: whoever waits for that may have the connection that the question needs.
        """
        try:
            return self._state.version(_FORGOT)
        except OpenClawMemoryError:
            return None

    def shown(self, hits: Iterable[SearchHit], day: date) -> None:
        """Count that ``hits`` were given to somebody; they can be opened and quoted for half an hour from now."""
        now = self._clock()
        forgot = self.forgot()
        with self._lock:
            self._follow(forgot)
            for hit in hits:
                self._recent.append(_Shown(now, hit.id, hit.path, hit.start_line, hit.end_line, hit.snippet))
                self._count(hit.id, hit.path, day, "shown")
        self._write_if_due()

    def used(self, id: str, path: str, day: date) -> None:
        """Count that a hit was of use: it was opened, or a reply quotes it."""
        forgot = self.forgot()
        with self._lock:
            self._follow(forgot)
            self._count(id, path, day, "used")
        self._write_if_due()

    def opened(
        self, path: str, first: int | None = None, last: int | None = None, day: date | None = None
    ) -> list[str]:
        """Count the hits shown lately whose lines somebody reads now, all of the file when none are named; their ids.

        A hit that was shown once counts once, however often it is opened and quoted.
        """

        def meant(one: _Shown) -> bool:
            behind = last is not None and one.first > last
            return one.path == path and not behind and not (first is not None and one.last < first)

        return self._use_of(meant, day)

    def quoted(self, reply: str, day: date | None = None) -> list[str]:
        """Count the hits shown lately of whose text ``reply`` has at least eight words in a row; their ids."""
        words = _words(reply[:_REPLY])
        said = {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}
        if not said:
            return []

        def meant(one: _Shown) -> bool:
            if one.words is None:
                one.words = _words(one.snippet)
            return any(tuple(one.words[at : at + _RUN]) in said for at in range(len(one.words) - _RUN + 1))

        return self._use_of(meant, day)

    def feedback(self, id: str, path: str, verdict: str, now: date) -> FeedbackReport:
        """Write down at once that a unit was ``useful`` or ``irrelevant``; what is known of it then.

        Raises :class:`~openclaw_memory.errors.RequestError` for another verdict, and
        :class:`~openclaw_memory.errors.WorkspaceError` when the state cannot be written.
        """
        if verdict not in VERDICTS:
            raise RequestError(f"a verdict is {' or '.join(VERDICTS)}, not {verdict!r}")
        self.flush()
        new = UnitUsage.for_day(path, now, {verdict: 1})
        with self._state.writing(NAME) as connection:
            add_usage(connection, id, new)
        known = usage_of_unit(self._state, id) or new
        return FeedbackReport(
            id=id,
            verdict=verdict,
            **known.counts,
            boost=known.boost,
            last=date.fromordinal(known.last),
        )

    # -- what is known ----------------------------------------------------------------------------

    def state(self, today: date) -> Uses:
        """What use says about units on a day, as far as it is written; another object only where that changed.

        While the state cannot be read it is what was known before.
        """
        try:
            version = self._state.version(NAME), today
            if version == self._uses_version and self._uses is not None:  # which was set before its mark
                return self._uses
            known = usage_by_unit(self._state)
        except OpenClawMemoryError as problem:
            log.debug("use is not known: %s", problem)
            return self._uses or Uses("", {}, {})
        with self._lock:
            boosts = {unit: boost for unit, one in known.items() if (boost := one.boost)}
            paths = {unit: known[unit].path for unit in boosts}
            old = self._uses
            if old is None or (old.boosts, old.paths) != (boosts, paths):
                self._uses = Uses(f"{version[0]}-{today}", boosts, paths)
            self._uses_version = version
            assert self._uses is not None
            return self._uses

    def rows(self) -> list[UseRow]:
        """What is known of every unit that was ever shown or judged, by path and id.

        Raises :class:`~openclaw_memory.store.state.StateError` when the state cannot be read.
        """
        self.flush()
        rows = [
            UseRow(
                id=unit,
                path=one.path,
                **one.counts,
                first=date.fromordinal(one.first),
                last=date.fromordinal(one.last),
                boost=one.boost,
            )
            for unit, one in usage_by_unit(self._state).items()
        ]
        return sorted(rows, key=lambda row: (row.path, row.id))

    def known(self) -> dict[str, tuple[str, date]]:
        """Path and last day of every unit that there are counts of, by id.  Raises as :meth:`rows`."""
        out = {unit: (one.path, date.fromordinal(one.last)) for unit, one in usage_by_unit(self._state).items()}
        with self._lock:
            for (unit, day), (path, _) in self._new.items():
                out[unit] = path, max(day, out.get(unit, (path, day))[1])
            return out

    # -- forgetting -------------------------------------------------------------------------------

    def forget(self, ids: Collection[str]) -> int:
        """Drop everything about some ids, here and in the state; how many of them there was anything of.

        Every other process drops all that it has counted before and not yet written, as this one does where others
        forgot.  Raises as :meth:`~openclaw_memory.store.state.State.writing`.
        """
        gone = frozenset(ids)
        with self._writing:
            with self._state.writing(NAME) as connection:
                before = self._state.version(_FORGOT, connection)
                known = connection.execute("SELECT unit FROM use").fetchall()
                dropped = {unit for (unit,) in known if unit in gone}
                connection.executemany("DELETE FROM use WHERE unit = ?", [[unit] for unit in dropped])
                renew_versions(connection, [_FORGOT])
                forgot = self._state.version(_FORGOT, connection)
            self._state.wipe()
            with self._lock:
                self._follow(before)
                self._forgot = forgot
                for unit, day in list(self._new):
                    if unit in gone:
                        del self._new[unit, day]
                        dropped.add(unit)
                self._recent = deque((one for one in self._recent if one.id not in gone), _REMEMBERED)
        return len(dropped)

    # -- writing ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write what was counted since the last time; it stays in memory when that is not possible now."""
        if not self._writing.acquire(timeout=_PATIENCE):
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

    def close(self) -> None:
        """Write what was counted."""
        self.flush()

    def _write(self) -> None:
        with self._lock:
            counted, self._new, forgot = self._new, {}, self._forgot
        try:
            with self._state.writing(NAME, patience=_PATIENCE, lasting=False) as connection:
                if (now := self._state.version(_FORGOT, connection)) != forgot:
                    with self._lock:
                        self._follow(now)
                    return
                for (unit, day), (path, counts) in counted.items():
                    add_usage(connection, unit, UnitUsage.for_day(path, day, counts))
                drop_faded(connection, date.today())
        except BaseException:
            with self._lock:
                for (unit, day), (path, counts) in counted.items():
                    for name, number in counts.items():
                        self._count(unit, path, day, name, number)
                if len(self._new) > _WAITING:
                    self._new.clear()
            raise
        if self._uses_version is not None:
            self.state(self._uses_version[1])  # here rather than in the next search

    # -- the caller holds the lock ----------------------------------------------------------------

    def _count(self, id: str, path: str, day: date, what: str, number: int = 1) -> None:
        counts = self._new.setdefault((id, day), (path, {}))[1]
        counts[what] = counts.get(what, 0) + number
        self._events += number

    def _follow(self, forgot: str | None) -> None:
        """Drop what was counted and shown before something was forgotten elsewhere: it may have been just that."""
        if forgot is not None and forgot != self._forgot:
            self._new.clear()
            self._recent.clear()
            self._forgot = forgot

    # -- without it -------------------------------------------------------------------------------

    def _use_of(self, meant: Callable[[_Shown], bool], day: date | None) -> list[str]:
        oldest = self._clock() - _RECENT
        forgot = self.forgot()
        with self._lock:
            self._follow(forgot)
            while self._recent and self._recent[0].at < oldest:
                self._recent.popleft()
            found = {one.id: one.path for one in self._recent if not one.counted and meant(one)}
            for one in self._recent:
                one.counted |= one.id in found
            for unit, path in found.items():
                self._count(unit, path, day or date.today(), "used")
        self._write_if_due()
        return list(found)

    def _write_if_due(self) -> None:
        with self._lock:
            due = self._new and (self._events >= _EVENTS or self._clock() - self._written >= _SECONDS)
            if due:
                self._written, self._events = self._clock(), 0
        if due:
            threading.Thread(target=self.flush, name="usage", daemon=True).start()


def _words(text: str) -> list[str]:
    """The words of a text as quotations are compared."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
