"""OpenClaw's built-in memory with its clock set before all notes, so that no score decays by age."""

from __future__ import annotations

from datetime import date

from .memory_core import MemoryCore
from .peer import Span

#: Before every note; a note of the future has not aged.
_EARLY = date(1990, 1, 1)


class MemoryCoreAgeless(MemoryCore):
    """No setting of it does this; its clock is set back."""

    name = "OpenClaw memory-core, ageless"
    remark = "its clock set before all notes, so that their age takes nothing away"

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """As asked on a day before every note."""
        return super().search(question, _EARLY, limit)


PEER = MemoryCoreAgeless
