"""Reports and results of the capabilities other than search."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from typing import Any

from ..errors import Problem
from ..records import dataclass
from .notes import Grain, IngestReport, Origin, SkippedFile
from .search import SearchHit


@dataclass(frozen=True, slots=True)
class CapturedSentence:
    """A captured sentence: its text, its score in [0, 1], and the lines where it was written."""

    text: str
    score: float
    citation: str


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """Sentences that were captured of a turn.

    ``seen`` counts all sentences of the turn, ``not_kept`` has the first of those that were not captured; ``skipped``
    is the reason why the turn was not read.
    """

    captured: tuple[CapturedSentence, ...] = ()
    path: str | None = None
    seen: int = 0
    took_ms: float = 0.0
    skipped: str | None = None
    warning: str | None = None
    not_kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatedValue:
    """The value of a fact, with its id, source and days as in :class:`FactRow`."""

    id: str
    object: str
    source: str | None
    valid_from: date | None
    valid_to: date | None


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact; ``current`` unless it was superseded, ended or removed.

    ``rule`` is ``stated`` for facts that an agent or person wrote; ``source`` is a citation; ``valid_from`` is the
    first day of the fact, ``valid_to`` the first day after it.
    """

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    origin: Origin
    rule: str
    source: str | None
    valid_from: date | None
    valid_to: date | None
    current: bool
    superseded_by: str | None = None
    #: Time of the statement, or day of a dated note.
    recorded_at: str | None = None
    #: Id of a newer value of the same subject and predicate, if it is uncertain whether that one ends this fact.
    newer: str | None = None
    #: True for a value without a day beside another one that has a day and is not known to be of something else.
    unconfirmed: bool = False
    #: Values that this one has replaced, the latest first.
    before: tuple[DatedValue, ...] = ()
    #: Name in a heading above, which tells the subject from others of the same name.
    under: str | None = None
    #: Reason why it is a fact, in one line.
    why: str | None = None


@dataclass(frozen=True, slots=True)
class FactChange:
    """A value that took the place of another one on ``day``; ``before`` is ``None`` for a decision or a state."""

    subject: str
    predicate: str
    before: DatedValue | None
    after: DatedValue
    day: date


@dataclass(frozen=True, slots=True)
class FactConflict:
    """Two values of one thing that both claim to hold."""

    id: str
    subject: str
    predicate: str
    first: DatedValue
    second: DatedValue


@dataclass(frozen=True, slots=True)
class FactsResult:
    """Facts; after a change the numbers of those that were added, ended and removed."""

    rows: tuple[FactRow, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class FactChanges:
    """Changes of facts, in order of time."""

    changes: tuple[FactChange, ...]
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class FactConflicts:
    """Facts that contradict each other."""

    conflicts: tuple[FactConflict, ...]
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """A concept, found in the notes or curated: ``units`` counts its mentions, ``related`` are the closest others.

    ``reason`` says in one line why it is a concept.
    """

    slug: str
    name: str
    kind: str | None
    curated: bool
    units: int
    aliases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConceptsResult:
    """Concepts; after a change ``linked`` counts the units that got or lost a reference."""

    rows: tuple[ConceptRow, ...]
    total: int
    linked: int = 0
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ContextResult:
    """Sentences that are relevant to a message; empty if there are none.

    ``entities`` are the names of known concepts in the message; ``tokens`` is the length of ``text``.
    """

    text: str
    tokens: int
    entities: tuple[str, ...]
    sources: tuple[SearchHit, ...]
    facts: tuple[FactRow, ...] = ()
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Use of ambient context since a day: ``share`` of the messages that got some, and tokens.

    ``late`` counts calls that missed their deadline.
    """

    since: date | None
    messages: int
    with_context: int
    share: float
    entities_per_message: float
    tokens_per_context: float
    late: int


@dataclass(frozen=True, slots=True)
class ForgottenText:
    """A text that is or was forgotten, with its citation."""

    citation: str
    text: str
    grain: Grain


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """Result of ``forget``; with ``dry_run`` the plan.

    The numbers count rows of the index.  ``edited`` are files of ours that were changed; ``remains`` are places outside
    the index that still contain a forgotten text or are named after it, which the person may change; ``below`` cites
    the lines that stay under removed headings.  ``verified`` means that no column and no byte of the index has any of
    it.
    """

    units: int = 0
    vectors: int = 0
    mentions: int = 0
    facts: int = 0
    summary_sentences: int = 0
    access_records: int = 0
    files: int = 0
    texts: tuple[ForgottenText, ...] = ()
    edited: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    dry_run: bool = False
    verified: bool = False
    seconds: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import of another program's memories; with ``dry_run`` the plan.  Paths are relative.

    ``entries`` counts conversations or memories in the export; ``edited`` are files that a person has changed or made,
    which are left as they are; ``skipped`` are entries that became no file.
    """

    source: str
    folder: str
    dry_run: bool
    entries: int = 0
    written: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    edited: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def changes(self) -> int:
        """Return the number of files that are, or would be, changed."""
        return len(self.written) + len(self.updated) + len(self.removed)


@dataclass(frozen=True, slots=True)
class Page:
    """A page for a browser: HTML in UTF-8 and Base64, as text for a model would be made safe for one."""

    html: str


@dataclass(frozen=True, slots=True)
class MapReport:
    """Contents of a map: ``lines`` of the ``total_lines`` can be read in it, and so with concepts.

    ``fallback`` is the reason why no line has a place by its meaning.
    """

    file: str
    bytes: int
    lines: int
    total_lines: int
    concepts: int
    total_concepts: int
    facts: int
    seconds: float = 0.0
    fallback: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """A summary that is planned, was written, or was left as it is.

    ``tokens`` is its length, ``source_tokens`` that of its sources; ``groups`` counts the concepts whose entries it
    merges.
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
    """Result of a consolidation; with ``dry_run`` the plan.

    ``groups`` counts the concepts whose entries were merged, ``archived`` the units that a summary now covers.
    ``created`` are the summaries that were written, ``rebuilt`` those of them that replace an older one, ``kept`` those
    that a person has edited, ``retired`` the notes that retention removed from the index and the summaries that it
    removed from disk.  ``complete`` is false when time ran out; the next run continues.
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
class GrainSize:
    """Size of a grain; ``units`` includes ``archived`` units and those ``hidden`` by a finer summary."""

    grain: Grain
    files: int
    units: int
    archived: int
    hidden: int
    bytes: int
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Answer of an SQL query: names of columns, and rows of plain values; ``truncated`` by a limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    took_ms: float = 0.0
    truncated: bool = False
    stale: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """A file of an export: its table, its path, and its size in rows and bytes."""

    name: str
    file: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Files that an export wrote."""

    folder: str
    tables: tuple[ExportedTable, ...]
    seconds: float = 0.0
    stale: bool = False
    warning: str | None = None


#: Judgements of a hit.
VERDICTS = ("useful", "irrelevant")


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """Use of a unit after a feedback; ``boost`` in [-1, 1] moves it in the ranking."""

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
    """Counts of how often a unit was shown, used (opened or quoted) and judged, their days, and its boost."""

    id: str
    path: str
    shown: int
    used: int
    useful: int
    irrelevant: int
    first: date
    last: date
    boost: float


@dataclass(frozen=True, slots=True)
class QuotedHits:
    """Number of recent hits that a reply quotes, which count as used."""

    quoted: int


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the host; ``deadline`` is the time for all hooks together, in seconds."""

    id: str
    agent: str
    reason: str = "start"
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """Result of the hooks at the begin of a session; ``report`` is of the ingest, ``brief`` what to know at once."""

    report: IngestReport | None
    took_ms: float
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Results of the hooks of a heartbeat, as each plugin returned them."""

    ran: tuple[Any, ...]
    took_ms: float


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
    http_usage: dict[str, Any] | None = None
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
    #: Pairs of facts that contradict each other.
    conflicts: int = 0
    #: The last evaluation with these settings.
    evaluation: EvaluationRun | None = None


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """Counts of an evaluation: ``found`` of ``answerable`` questions within five hits, ``silent`` of ``unanswerable``.

    ``settings`` is a hash of those that decide answers.
    """

    day: date
    found: int
    answerable: int
    silent: int
    unanswerable: int
    settings: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole`` questions; ``low`` and ``high`` are the ends of its 95 % interval (Wilson 1927, score)."""

    part: int
    whole: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FoundShares:
    """Shares of questions with an answer among the first 1, 5 and 10 hits."""

    at1: Share
    at5: Share
    at10: Share


@dataclass(frozen=True, slots=True)
class EvaluationScores:
    """Scores of a memory for questions of its own notes, also by kind and language of the question.

    ``silent`` is the share of questions without an answer that search calls no good match, ``no_context`` that of those
    that get no context; ``p50_ms`` and ``p95_ms`` are the times of a search.
    """

    model: str | None
    mode: str
    found: FoundShares
    silent: Share
    no_context: Share
    p50_ms: float
    p95_ms: float
    by_kind: dict[str, FoundShares]
    by_language: dict[str, FoundShares]


@dataclass(frozen=True, slots=True)
class EvaluationComparison:
    """Scores with other ``settings``, for the same questions.

    They found the answers of ``earlier`` questions earlier and of ``later`` ones later; ``p`` is the probability of
    such a difference by chance (two-sided sign test), and ``is_significant`` if that is below 0.05.
    """

    settings: dict[str, Any]
    scores: EvaluationScores
    earlier: int
    later: int
    p: float
    is_significant: bool


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Result of an evaluation; ``before`` is the last one with the same settings."""

    run: EvaluationRun
    scores: EvaluationScores
    seconds: float
    comparison: EvaluationComparison | None = None
    before: EvaluationRun | None = None
    warning: str | None = None
