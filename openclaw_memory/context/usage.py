"""Use of ambient context: the items that each session was given, and counts of messages kept in the state."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import date
from typing import Any

from ..errors import OpenClawMemoryError
from ..model import ContextUse
from ..records import dataclass
from ..store.state import State

log = logging.getLogger("openclaw_memory")

#: Sessions that are remembered, and items of each: the latest ones.
_SESSIONS, _ITEMS = 512, 1024
#: Seconds and messages after which the counts are written.
_SECONDS, _MESSAGES = 60.0, 50
#: Seconds to wait for another process that writes.
_LOCK_TIMEOUT = 1.0
#: Name of the counts in the state.
_NAME = "context"


class SessionHistory:
    """Keys of the items that sessions were given in the last ``seconds``; safe to use from several threads."""

    def __init__(self, seconds: float = 1800.0) -> None:
        self._seconds = seconds
        self._sessions: OrderedDict[str, OrderedDict[int | str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    def lately(self, session: str | None) -> frozenset[int | str]:
        """Return the keys that a session was given lately; none without a session."""
        oldest = time.monotonic() - self._seconds
        with self._lock:
            items = self._sessions.get(session or "", OrderedDict[int | str, float]())
            return frozenset(key for key, added in items.items() if added >= oldest)

    def add(self, session: str | None, keys: Iterable[int | str]) -> None:
        """Remember that a session is given ``keys`` now."""
        if not session:
            return
        now = time.monotonic()
        with self._lock:
            items = self._sessions.setdefault(session, OrderedDict())
            self._sessions.move_to_end(session)
            for key in keys:
                items[key] = now
                items.move_to_end(key)
            while len(items) > _ITEMS:
                items.popitem(last=False)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of messages since a day, in ISO 8601."""

    since: str = ""
    messages: int = 0
    with_context: int = 0
    entities: int = 0
    tokens: int = 0
    late: int = 0

    def __add__(self, other: Counts) -> Counts:
        since = min(filter(None, (self.since, other.since)), default="")
        return Counts(since, *(getattr(self, name) + getattr(other, name) for name in _NUMBERS))

    @classmethod
    def parse(cls, value: Any) -> Counts:
        """Read counts from the state; damaged ones count as none."""
        try:
            numbers = {name: value[name] for name in _NUMBERS}
            since = str(value["since"])
            if since:
                date.fromisoformat(since)
        except (ValueError, KeyError, TypeError):
            return cls()
        valid = all(isinstance(number, int) and number >= 0 for number in numbers.values())
        return cls(since, **numbers) if valid else cls()


_NUMBERS = [field.name for field in fields(Counts)][1:]


class UsageCounters:
    """Counts of one workspace, added to those of other processes in ``state``.

    Safe to use from several threads.  A state that cannot be read or written never fails a call.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._new = Counts()
        self._written = time.monotonic()
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def count(self, entities: int, tokens: int, late: bool) -> None:
        """Count a message that was answered."""
        with self._lock:
            self._new += Counts(date.today().isoformat(), 1, int(tokens > 0), entities, tokens, int(late))
            due = self._new.messages >= _MESSAGES or time.monotonic() - self._written >= _SECONDS
            if due:
                self._written = time.monotonic()
        if due:
            threading.Thread(target=self.flush, name="context counters", daemon=True).start()

    def flush(self) -> None:
        """Write the counts since the last time."""
        if not self._writing.acquire(timeout=_LOCK_TIMEOUT):
            return
        try:
            with self._lock:
                new, self._new = self._new, Counts()
            if new.messages:
                self._state.change_flag(
                    _NAME, lambda total: asdict(Counts.parse(total) + new), _LOCK_TIMEOUT, lasting=False
                )
        except OpenClawMemoryError as error:
            log.debug("the counters of context are not written: %s", error)
            with self._lock:
                self._new += new
        finally:
            self._writing.release()

    def use(self) -> ContextUse:
        """Return the counts so far, of every process."""
        try:
            total = Counts.parse(self._state.flag(_NAME))
        except OpenClawMemoryError:
            total = Counts()
        with self._lock:
            total += self._new
        messages = total.messages or 1
        return ContextUse(
            since=date.fromisoformat(total.since) if total.since else None,
            messages=total.messages,
            with_context=total.with_context,
            share=round(total.with_context / messages, 4),
            entities_per_message=round(total.entities / messages, 4),
            tokens_per_context=round(total.tokens / (total.with_context or 1), 4),
            late=total.late,
        )
