"""Summaries: what is planned and what was done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from .notes import Grain


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """A summary that is to be written, was written, or was left as it is.

    ``tokens`` is its length and ``source_tokens`` that of the texts it is made of; ``groups`` counts the concepts
    whose entries it merges.
    """

    path: str
    grain: Grain
    period: str
    sources: int
    sentences: int
    tokens: int
    source_tokens: int
    groups: int = 0
    rebuilt: bool = False


@dataclass(frozen=True, slots=True)
class ConsolidateReport:
    """What a consolidation did, or with ``dry_run`` would do.

    ``groups`` counts the concepts whose entries were merged, ``archived`` units of notes that a summary now stands
    for.  ``created`` are the summaries that were written, ``rebuilt`` those of them that were there before,
    ``kept`` the ones that a person has edited and that therefore stay, ``retired`` what retention took out: notes
    from the index, summaries from the disk.  ``complete`` is false when time ran out; the next run goes on.
    """

    groups: int = 0
    created: tuple[str, ...] = ()
    archived: int = 0
    rebuilt: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    summaries: tuple[SummaryPlan, ...] = ()
    dry_run: bool = False
    complete: bool = True
    seconds: float = 0.0
    skipped: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class GrainUse:
    """What is there of a grain: ``archived`` and ``hidden`` (said by a finer summary too) units are among ``units``."""

    grain: Grain
    files: int
    units: int
    archived: int
    hidden: int
    bytes: int
    first: date | None = None
    last: date | None = None
