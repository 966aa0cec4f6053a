"""What rules found in units, and what people and agents state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from ...model import Kind, Origin
from .graph import WorkspaceFile


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


def after_one_write(version: tuple[str, ...]) -> tuple[str, ...]:
    """What :meth:`Facts.facts_version` is after one more write of facts, where nothing else has changed."""
    return (*version[:2], str(int(version[2]) + 1), *version[3:])


class Facts(Protocol):
    """What rules found in units, and what people and agents state."""

    def found_facts(self, document_ids: Sequence[int] | None = None) -> list[FactObservation]:
        """Facts that rules found, in these documents or in all, in order of path and unit."""

    def stated_facts(self, first: int = 0) -> list[StatedFact]:
        """The entries of ``facts.yaml`` as they were last read, from the ``first`` on."""

    def facts_version(self) -> tuple[str, ...]:
        """Another value after every change that may concern facts: the file, curated concepts, facts, and texts.

        Facts are counted by their writes: see :func:`after_one_write`.
        """

    def put_stated_facts(self, file: WorkspaceFile, facts: Sequence[StatedFact], add: bool = False) -> None:
        """Replace the entries of ``facts.yaml``, or ``add`` some behind them; one transaction."""
