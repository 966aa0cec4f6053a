"""What was forgotten, and what still names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .notes import Grain


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A text that goes, or went: where it stands and what it says."""

    citation: str
    text: str
    grain: Grain


@dataclass(frozen=True, slots=True)
class StillNamed:
    """What is still called by words that were forgotten, of the file ``path``; ``spelling`` is what holds them.

    A ``file`` by its own name, a curated ``concept``, a name that is ``ignored``, a stated ``fact``, or a ``comment``;
    ``name`` is how it is called: a path, a concept's name, the id of a fact, the citation of a comment.
    """

    kind: Literal["file", "concept", "ignored", "fact", "comment"]
    path: str
    name: str
    spelling: str

    def __str__(self) -> str:
        if self.kind == "file":
            return f"{self.path} (its name)"
        if self.kind == "comment":
            return self.name
        also = f', by "{self.spelling}"' if self.kind == "concept" and self.spelling != self.name else ""
        return f"{self.path} (the {self.kind} {'name ' if self.kind == 'ignored' else ''}{self.name}{also})"


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or with ``dry_run`` would be.

    The numbers count rows of the index.  ``edited`` are files of ours that were changed, ``remains`` places outside
    the index that still hold a forgotten text: they are the person's to change, and ``names`` tells of those of them
    that are names rather than texts; ``below`` cites the lines that stay below headings
    that go.  ``verified`` says that no column and no byte of the index holds any of it.
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
    names: tuple[StillNamed, ...] = ()
    below: tuple[str, ...] = ()
    dry_run: bool = False
    verified: bool = False
    seconds: float = 0.0
    warning: str | None = None
