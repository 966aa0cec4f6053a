"""The brief of a session: what a host that shows no file of the workspace gives to its model at once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ..errors import OpenClawMemoryError
from ..model import TRUSTED, tokens_of

if TYPE_CHECKING:
    from ..memory import Memory

#: The files that hold for long.
_CURATED = ("MEMORY.md", "USER.md")


def session_brief(memory: Memory, budget: int) -> str:
    """Return the curated files and the newest sections, each in half of ``budget`` tokens, the newest last.

    What is not the owner's or the agent's is left out.
    """
    parts = []
    for path in _CURATED:
        try:
            lines = memory.get(path).text.splitlines()
        except OpenClawMemoryError:
            continue  # there is no such file
        parts += [(path, text) for text in [_beginning(lines, budget / 2 / len(_CURATED))] if text]
    a_week_ago = memory.today() - timedelta(days=7)
    recent = memory.timeline("", since=a_week_ago, budget=max(1, budget // 2)).results
    parts += [(hit.citation, hit.snippet) for hit in recent if hit.origin in TRUSTED and hit.path not in _CURATED]
    return "\n\n".join(f"{source}:\n{text}" for source, text in parts)


def _beginning(lines: list[str], budget: float) -> str:
    """Return the first lines that fit ``budget`` tokens."""
    chosen = []
    for line in lines:
        if (budget := budget - tokens_of(f"{line}\n")) < 0:
            break
        chosen.append(line)
    return "\n".join(chosen).strip()
