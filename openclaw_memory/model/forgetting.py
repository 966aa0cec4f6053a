"""What was forgotten."""

from __future__ import annotations

from dataclasses import dataclass

from .notes import Grain


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A text that goes, or went: where it stands and what it says."""

    citation: str
    text: str
    grain: Grain


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or with ``dry_run`` would be.

    The numbers count rows of the index.  ``edited`` are files of ours that were changed, ``remains`` places outside
    the index that still hold a forgotten text, or are called by what was named: they are the person's to change;
    ``below`` cites the lines that stay below headings that go.  ``verified`` says that no column and no byte of the
    index holds any of it.
    """

    units: int = 0
    vectors: int = 0
    mentions: int = 0
    facts: int = 0
    summary_sentences: int = 0
    access_records: int = 0
    files: int = 0
    texts: tuple[Forgotten, ...] = ()
    edited: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    dry_run: bool = False
    verified: bool = False
    seconds: float = 0.0
    warning: str | None = None
