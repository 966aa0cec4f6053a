"""What each session was given before, so that it is not told the same thing again soon."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable

#: Sessions that are remembered, and what of each: the latest ones.
_SESSIONS, _EACH = 512, 1024


class Given:
    """Keys of what sessions were given, kept in memory for ``seconds``; safe to use from several threads."""

    def __init__(self, seconds: float = 1800.0) -> None:
        self._seconds = seconds
        self._sessions: OrderedDict[str, OrderedDict[int | str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    def to(self, session: str | None) -> frozenset[int | str]:
        """What this session was given lately; nothing without a session."""
        if not session:
            return frozenset()
        oldest = time.monotonic() - self._seconds
        with self._lock:
            held = self._sessions.get(session)
            return frozenset(key for key, when in held.items() if when >= oldest) if held else frozenset()

    def add(self, session: str | None, keys: Iterable[int | str]) -> None:
        """Remember that this session was given ``keys`` now."""
        if not session:
            return
        now = time.monotonic()
        with self._lock:
            held = self._sessions.setdefault(session, OrderedDict())
            self._sessions.move_to_end(session)
            for key in keys:
                held[key] = now
                held.move_to_end(key)
            while len(held) > _EACH:
                held.popitem(last=False)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
