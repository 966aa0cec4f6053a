"""What rules found in units, and what people and agents state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ...model import Kind, Origin


@dataclass(frozen=True, slots=True)
class FactObservation:
    """A fact as a rule found it in a unit.

    ``day`` is that of its section, ``dated`` whether the text states it, and ``heading`` its path of headings.
    """

    unit_id: int
    path: str
    start_line: int
    end_line: int
    kind: Kind
    origin: Origin
    day: date | None
    dated: bool
    hash: int
    occurrence: int
    subject: str
    predicate: str
    object: str
    rule: str
    confidence: float
    heading: str = ""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """An entry of the workspace's ``facts.yaml``, in the order of the file.

    ``replaces`` and ``retracts`` name facts by id; an entry with ``retracts`` states nothing itself.
    """

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    origin: Origin
    source: str | None
    valid_from: date | None
    valid_to: date | None
    recorded: str
    replaces: tuple[str, ...] = ()
    retracts: str | None = None
