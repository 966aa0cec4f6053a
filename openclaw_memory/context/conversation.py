"""What a host gives back to a conversation that it has compacted: what was captured of it, and what was noted today."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from ..ingest.scan import CAPTURES
from ..model import TRUSTED, SearchHit, tokens_of

#: Days back and sections in which a conversation is looked for.
DAYS, SECTIONS = 14, 50


def conversation_state(hits: Iterable[SearchHit], session: str, today: date, budget: float) -> str:
    """Return the newest lines of a conversation in ``hits``, oldest first, within ``budget`` tokens; "" without any.

    Its own are those captured under the id ``session``.  What else stands in the note of ``today`` comes after them:
    the host has the agent save there before it compacts.
    """
    note = f"memory/{today.isoformat()}.md"
    captured = [
        hit for hit in hits if hit.path.startswith(f"{CAPTURES}/") and f" session {session} " in f"{hit.heading} "
    ]
    noted = [hit for hit in hits if hit.path == note]
    chosen: list[str] = []
    for sections in (captured, noted):
        ordered = sorted(sections, key=lambda hit: (hit.date or today, hit.start_line))
        lines = [line for hit in ordered if hit.origin in TRUSTED for line in hit.snippet.splitlines() if line.strip()]
        newest: list[str] = []
        for line in reversed(lines):
            if (cost := tokens_of(f"{line}\n")) > budget:
                break
            if line not in chosen and line not in newest:
                newest.append(line)
                budget -= cost
        chosen += reversed(newest)
    return "\n".join(["Earlier in this conversation, which was compacted:", *chosen]) if chosen else ""
