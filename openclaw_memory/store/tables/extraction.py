"""Who has read the texts of an index: an older program leaves what a newer one read, and no two read in turns.

What redaction leaves is decided by all programs that use the index.  A setting that is new here counts at once, so
that what was taken from it is redacted.  A program whose setting another one has replaced within the last hour shares
the index with that one: from then on only what all programs of the last hour allow is left, and so nothing that one
of them wants redacted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..api import Extraction

#: Seconds for which a program that opened the index counts as one that uses it.
_ACTIVE = 3600.0
#: Seconds after which that is noted again.
_NOTED = 600.0

#: What is said where a newer program has read the texts.
BEHIND = (
    "this index was written by a newer openclaw-memory, and what that found in the files is kept: "
    "upgrade this one, and restart what runs it"
)


@dataclass(frozen=True, slots=True)
class Noted:
    """What is noted in the index: how its texts were read, and when each set of allowed texts was last used here."""

    extraction: Extraction
    seen: Mapping[frozenset[str], float] = field(default_factory=dict)

    def text(self) -> str:
        """For :func:`noted`."""
        return json.dumps(
            {
                "version": self.extraction.version,
                "allow": sorted(self.extraction.allow),
                "seen": [[at, *sorted(allow)] for allow, at in self.seen.items()],
            }
        )


def noted(text: str | None) -> Noted | None:
    """What :meth:`Noted.text` says; ``None`` for nothing, and for what has another form."""
    try:
        found: Any = json.loads(text or "")
        return Noted(
            Extraction(tuple(map(int, found["version"])), frozenset(map(str, found["allow"]))),
            {frozenset(map(str, allow)): float(at) for at, *allow in found["seen"]},
        )
    except (ValueError, TypeError, KeyError):
        return None


def decided(known: Noted | None, mine: Extraction, now: float) -> Noted:
    """What is to be noted once a program that reads as ``mine`` has opened the index at ``now``, in seconds.

    Texts must be read again where its ``extraction`` is another than that of ``known``.
    """
    if known is None:
        return Noted(mine, {mine.allow: now})
    before = known.extraction
    seen = {allow: at for allow, at in known.seen.items() if abs(now - at) < _ACTIVE}
    replaced = mine.allow in seen
    seen[mine.allow] = now
    allow = mine.allow
    if mine.version < before.version:
        allow = mine.allow & before.allow
    elif replaced and mine.allow != before.allow:
        allow = frozenset.intersection(*seen)
    return Noted(Extraction(max(mine.version, before.version), allow), seen)


def is_due(known: Noted | None, new: Noted, mine: Extraction) -> bool:
    """Whether ``new`` is to be written over ``known``."""
    if known is None or known.extraction != new.extraction or mine.allow not in known.seen:
        return True
    return abs(new.seen[mine.allow] - known.seen[mine.allow]) > _NOTED


def remarks(new: Noted, mine: Extraction) -> list[str]:
    """What a person should hear of a program that reads as ``mine``."""
    found = [BEHIND] if mine.version < new.extraction.version else []
    if missing := len(mine.allow - new.extraction.allow):
        found.append(
            f"redaction.allow: {missing} of its {len(mine.allow)} texts are redacted in this index, as another process "
            "that uses it does not allow them; give all of them the same setting and restart them, and it counts "
            "within an hour"
        )
    return found
