"""By when something has to be done."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Deadline:
    """A moment of ``time.monotonic`` by which something has to be done; infinity where there is none."""

    at: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """In so many ``seconds`` from now; :data:`NEVER` for ``None``."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self.at

    def within(self, seconds: float = math.inf, share: float = 1.0) -> float:
        """At most so many ``seconds``, and at most a ``share`` of those that are left; 0 when none are."""
        return min(seconds, max(0.0, self.at - time.monotonic()) * share)

    def left(self, share: float = 1.0) -> float | None:
        """A ``share`` of the seconds that are left, at least 0; ``None`` without a deadline."""
        return None if self == NEVER else self.within(share=share)


#: The deadline of what may take as long as it takes.
NEVER = Deadline(math.inf)


class Patience(threading.local):
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
