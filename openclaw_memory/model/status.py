"""What the memory holds, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .context import ContextUse
from .notes import SkippedFile
from .summaries import GrainUse


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``doctor``: what was looked at, how it is, and how to mend it.

    A ``remark`` is worth knowing, and breaks nothing.
    """

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    remark: bool = False

    @classmethod
    def failed(cls, name: str, error: object) -> Check:
        """What is wrong as an error says it: behind its last semicolon stands how to mend it."""
        what, _, step = str(error).rpartition("; ")
        return cls(name, False, what or step, step if what else None)


@dataclass(frozen=True, slots=True)
class Status:
    """What the memory holds and how it is: counts, sizes, model, embedding states, plugins.

    ``embedding`` says that a process is at the vectors that are pending, ``found`` how many files there are to read.
    """

    workspace: str
    agent: str
    database: str
    bytes: int
    schema: int
    generation: int
    files: int
    sections: int
    chunks: int
    by_kind: dict[str, int]
    by_grain: dict[str, int]
    provider: str
    model: str | None
    dimensions: int | None
    vectors: dict[str, int]
    keyword_index: str
    vector_index: str
    postings: int
    postings_delta: int
    extensions: dict[str, bool]
    plugins: tuple[str, ...]
    plugin_failures: dict[str, str]
    private_files: int = 0
    private_lines: int = 0
    #: Files that are taken as untrusted because their front matter cannot be read, and why.
    unread_front_matter: tuple[SkippedFile, ...] = ()
    #: Files that were found and are not read, and why.
    skipped: tuple[SkippedFile, ...] = ()
    http_usage: dict[str, Any] | None = None
    context: ContextUse | None = None
    grains: tuple[GrainUse, ...] = ()
    consolidation: str | None = None
    retention: str | None = None
    binding: str | None = None
    #: Share of each language of the notes, and how well the model knows it, from 0 to 1.
    languages: dict[str, float] = field(default_factory=dict)
    model_knows: dict[str, float] = field(default_factory=dict)
    fallback: str | None = None
    warning: str | None = None
    embedding: bool = False
    found: int = 0
