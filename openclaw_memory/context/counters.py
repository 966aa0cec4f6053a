"""How often ambient context was asked for and given: counted in memory, now and then added to the state."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from ..errors import OpenClawMemoryError
from ..model import ContextUse
from ..store.state import State

log = logging.getLogger("openclaw_memory")

#: Seconds and messages after which the counts are written.
_SECONDS, _MESSAGES = 60.0, 50
#: What is added up.
_NUMBERS = ("messages", "with_context", "entities", "tokens", "late")
#: Seconds to wait for another process that writes.
_PATIENCE = 1.0
#: What the counts are called in the state.
_NAME = "context"


@dataclass
class Counts:
    """What adds up, since a day."""

    since: str = ""
    messages: int = 0
    with_context: int = 0
    entities: int = 0
    tokens: int = 0
    late: int = 0

    def add(self, other: Counts) -> None:
        """Add what another one counted."""
        self.since = min(filter(None, (self.since, other.since)), default="")
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Counters:
    """Counts of one workspace, kept in ``state`` together with those of other processes.

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
            new = self._new
            new.since = new.since or date.today().isoformat()
            new.messages += 1
            new.with_context += tokens > 0
            new.entities += entities
            new.tokens += tokens
            new.late += late
            due = new.messages >= _MESSAGES or time.monotonic() - self._written >= _SECONDS
            if due:
                self._written = time.monotonic()
        if due:
            threading.Thread(target=self.flush, name="context counters", daemon=True).start()

    def flush(self) -> None:
        """Write what was counted since the last time."""
        if not self._writing.acquire(timeout=_PATIENCE):
            return
        try:
            with self._lock:
                new, self._new = self._new, Counts()
            if new.messages and not self._added(new):
                with self._lock:
                    self._new.add(new)
        finally:
            self._writing.release()

    def _added(self, new: Counts) -> bool:
        def total(known: Any) -> Any:
            kept = _counts(known)
            kept.add(new)
            return asdict(kept)

        try:
            self._state.change_flag(_NAME, total, _PATIENCE, lasting=False)
        except OpenClawMemoryError as error:
            log.debug("the counters of context are not written: %s", error)
            return False
        return True

    def use(self) -> ContextUse:
        """What was counted so far, by every process."""
        try:
            total = _counts(self._state.flag(_NAME))
        except OpenClawMemoryError:
            total = Counts()
        with self._lock:
            total.add(self._new)
        asked = total.messages or 1
        return ContextUse(
            since=date.fromisoformat(total.since) if total.since else None,
            messages=total.messages,
            with_context=total.with_context,
            share=round(total.with_context / asked, 4),
            entities_per_message=round(total.entities / asked, 4),
            tokens_per_context=round(total.tokens / (total.with_context or 1), 4),
            late=total.late,
        )


def _counts(found: Any) -> Counts:
    """The counts that were noted; none where that is nothing of ours."""
    try:
        numbers = {name: found[name] for name in _NUMBERS}
        if not all(isinstance(number, int) and number >= 0 for number in numbers.values()):
            return Counts()
        since = str(found["since"])
        if since:
            date.fromisoformat(since)
        return Counts(since=since, **numbers)
    except (ValueError, KeyError, TypeError):
        return Counts()
