"""What units mention, and the concepts that people curate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Ints

#: How a mention of a concept was recognised; the store keeps the place in this list.
RULES = ("curated", "link", "tag", "meta", "name", "code", "quoted", "phrase", "start", "file", "part", "plain")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a unit may speak of a concept.

    ``key`` is that of :func:`~openclaw_memory.knowledge.concept_keys.concept_key`.

    ``text`` is how it is written there; ``rule`` is one of :data:`RULES`.  Whether a key that is not curated is
    a concept is decided from all its mentions when they are read.
    """

    key: int
    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class MentionRows:
    """Mentions as columns of the same length *m*; ``rule`` is a place in :data:`RULES`."""

    unit_id: Ints
    document_id: Ints
    key: NDArray[np.int64]
    rule: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class MentionName:
    """A spelling of a key and in how many mentions it stands."""

    key: int
    text: str
    rule: str
    count: int


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file of the workspace that is no note (``concepts.yaml``, ``facts.yaml``) as it was last read."""

    name: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CuratedRow:
    """A curated concept as the store keeps it; parents and related ones by key.

    ``keys`` are those of all that it is called by.
    """

    key: int
    slug: str
    name: str
    kind: str | None
    weight: float
    aliases: tuple[str, ...]
    parents: tuple[int, ...]
    related: tuple[int, ...]
    keys: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OntologyRows:
    """All curated concepts, keys that are to be no concepts, and predicates with one value at a time.

    ``version`` grows with every change of them.
    """

    concepts: tuple[CuratedRow, ...] = ()
    ignored: tuple[int, ...] = ()
    single_valued: tuple[str, ...] = ()
    version: int = 0
