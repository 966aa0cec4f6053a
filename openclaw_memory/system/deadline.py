"""A deadline that is passed from call to call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Deadline:
    """A time of ``time.monotonic`` at which work must end; infinity for no deadline."""

    at: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline ``seconds`` from now; :data:`NEVER` for ``None``."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """True if no time is left."""
        return time.monotonic() >= self.at

    def within(self, seconds: float = math.inf, share: float = 1.0) -> float:
        """Return ``seconds``, but at most a ``share`` of those that are left, and at least 0."""
        return min(seconds, max(0.0, self.at - time.monotonic()) * share)

    def left(self, share: float = 1.0) -> float | None:
        """Return a ``share`` of the seconds that are left, at least 0; ``None`` without a deadline."""
        return None if self == NEVER else self.within(share=share)


#: No deadline.
NEVER = Deadline(math.inf)


class WaitLimit(threading.local):
    """The deadline until which the current thread waits for other threads and processes."""

    until = NEVER

    @contextmanager
    def limited(self, until: Deadline) -> Iterator[None]:
        """Wait no longer than ``until`` inside the block."""
        before = self.until
        self.until = min(before, until)
        try:
            yield
        finally:
            self.until = before
