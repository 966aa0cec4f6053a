"""State of a memory, and checks of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import Problem
from .notes import SkippedFile
from .reports import ContextUse, GrainSize


@dataclass(frozen=True, slots=True)
class Check:
    """A line of ``doctor``: the subject, its state, and the step that mends it.

    A ``remark`` is information about something that works.
    """

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    remark: bool = False

    @classmethod
    def from_problem(cls, name: str, problem: Problem, remark: bool = False) -> Check:
        """Return a failed check of ``name``, or a ``remark``."""
        return cls(name, remark, problem.summary, problem.next_step, remark)


@dataclass(frozen=True, slots=True)
class Status:
    """State of a memory: counts, sizes, model, embedding states, plugins.

    ``embedding`` is true while a process computes pending vectors; ``found`` counts the files in the workspace.
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
    #: Files with unreadable front matter, which makes them untrusted.
    unread_front_matter: tuple[SkippedFile, ...] = ()
    #: Files that are not read.
    skipped: tuple[SkippedFile, ...] = ()
    context: ContextUse | None = None
    grains: tuple[GrainSize, ...] = ()
    consolidation: str | None = None
    retention: str | None = None
    binding: str | None = None
    #: Share of each language in the notes, and how well the model knows it, from 0 to 1.
    languages: dict[str, float] = field(default_factory=dict)
    model_knows: dict[str, float] = field(default_factory=dict)
    fallback: str | None = None
    warning: str | None = None
    embedding: bool = False
    found: int = 0
