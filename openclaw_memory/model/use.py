"""What was shown, opened, quoted and judged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

#: Beside the index: path, line and id of each hit that a person was shown last.
LAST_SHOWN = ".shown.json"
#: What somebody may say of a unit.
VERDICTS = ("useful", "irrelevant")


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """What is known of a unit's use after a feedback; ``boost`` in [-1, 1] is how it moves in the ranking."""

    id: str
    verdict: str
    useful: float
    irrelevant: float
    used: float
    shown: int
    boost: float
    last: date | None = None


@dataclass(frozen=True, slots=True)
class UseRow:
    """How often a unit was shown, used (opened or quoted) and judged, from which day to which, and its boost."""

    id: str
    path: str
    shown: int
    used: int
    useful: int
    irrelevant: int
    first: date
    last: date
    boost: float
