"""The frozen dataclasses that cross module borders.

Attributes are snake_case here; :mod:`openclaw_memory.system.serialize` is the one place that turns them
into the JSON of the contract.  A *token* is four characters everywhere.  Lines are 1-based and
inclusive.  Paths are relative to the workspace, with ``/``; extra roots read ``@name/…``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Literal, get_args

from ..errors import RequestError
from . import bounds

#: What a unit is in its Markdown file.
UnitForm = Literal["line", "turn", "item", "sentence", "row", "code", "quote", "heading", "title", "meta"]

CHARS_PER_TOKEN = 4


def ends(text: str, first: int, last: int) -> str:
    """All of ``text``, or of a longer one its ``first`` and its ``last`` characters."""
    return text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"


def tokens_of(text: str) -> float:
    """Length of ``text`` in tokens of four characters."""
    return len(text) / CHARS_PER_TOKEN


class Kind(StrEnum):
    """What a file is to the agent."""

    CURATED = "curated"
    DAILY = "daily"
    NOTE = "note"


class Grain(StrEnum):
    """Resolution in time of a text, finest first."""

    WORKING = "working"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"


class Origin(StrEnum):
    """Who wrote a text, most trusted first."""

    OWNER = "owner"
    AGENT = "agent"
    UNTRUSTED = "untrusted"
    SYSTEM = "system"


DateSource = Literal["name", "heading", "front-matter", "mtime"]


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest searched text: a line, an item, a sentence, a table row, a code block.

    ``text`` is the exact slice of the source (of form ``sentence``: a slice of its lines joined by single
    spaces); ``indexed`` is what is tokenised and embedded when that differs (a table row with its header, a
    later sentence of a speaker's turn, a heading with those around it).
    """

    text: str
    start_line: int
    end_line: int
    form: UnitForm = "line"
    speaker: str | None = None
    indexed: str | None = None

    @property
    def search_text(self) -> str:
        """The text to tokenise and to embed."""
        return self.text if self.indexed is None else self.indexed


@dataclass(frozen=True, slots=True)
class Section:
    """The units under one heading; ``heading`` is the path of headings (``"Projects > Search"``).

    ``lines`` are the exact lines ``start_line..end_line`` of the file, so ``body`` joined by line
    feeds is what a snippet is cut from.
    """

    heading: str
    start_line: int
    end_line: int
    date: date | None
    date_source: DateSource
    units: tuple[Unit, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A Markdown file, parsed."""

    sections: tuple[Section, ...]
    front_matter: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a scan found: where it is, what it is, and its cheap identity."""

    path: str
    absolute: str
    size: int
    mtime_ns: int
    kind: Kind
    grain: Grain
    origin: Origin

    @property
    def day(self) -> date:
        """The day of the file's last change; today for a time that no calendar has."""
        try:
            return date.fromtimestamp(self.mtime_ns / 1e9)
        except (OverflowError, ValueError, OSError):
            return date.today()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was found and not read, and why, in words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan of the workspace found.

    ``unreadable`` names path prefixes (a file, or a folder ending in ``/``) that could not be
    looked into just now: what the index holds below them is kept.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did; every count but ``files`` and ``skipped`` counts units.

    ``concepts_linked`` counts places where the written units name what is, or may become, a concept.
    """

    files: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    embedded: int = 0
    pending: int = 0
    concepts_linked: int = 0
    seconds: float = 0.0
    skipped: tuple[SkippedFile, ...] = ()
    warning: str | None = None


Mode = Literal["hybrid", "vector", "keyword", "graph"]
Fusion = Literal["score", "rrf"]

#: Of a longer query, its beginning and its end are asked: no model and no index has a use for more.
_QUERY_FIRST, _QUERY_LAST = 6_000, 2_000
#: Seconds that a deadline may be away at most.
_LONGEST_DEADLINE = 86_400
_WHOLE = {"max_results": (1, 1000), "budget": (1, 100_000), "max_distance": (1, 6)}
_SHARES = ("min_score", "recency_weight", "vector_weight")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the memory.

    Either ``max_results`` hits, each grown to about ``search.hit_tokens`` tokens, or, with
    ``budget``, spans of adjacent units until that many tokens are spent.  ``now`` is the day the
    question is asked, for "last week"; ``since`` and ``until`` are inclusive.  ``deadline`` is in seconds:
    what does not fit into it (looking for changed files, embedding) is left out, and the result says so.
    ``concepts`` and ``concept_kinds`` leave only what mentions such a concept; with ``near`` the score is
    ``vector_weight`` times relevance plus the rest times ``1 / 2**distance`` from the nearest of those concepts,
    nothing beyond ``max_distance``.  Notes that a summary stands for are left out unless ``include_archived``
    (asking for the grain ``working`` includes them too); ``recency_weight`` is ``search.recency_weight`` for this
    question; with ``dates`` each snippet begins with its day.  Of a ``query`` of more than 8,000 characters the
    first 6,000 and the last 2,000 are kept.  Raises :class:`~openclaw_memory.errors.RequestError` for a value that
    cannot be meant.
    """

    query: str
    max_results: int | None = None
    budget: int | None = None
    min_score: float | None = None
    now: date | None = None
    mode: Mode | None = None
    fusion: Fusion | None = None
    kinds: tuple[Kind, ...] = ()
    grains: tuple[Grain, ...] = ()
    since: date | None = None
    until: date | None = None
    concepts: tuple[str, ...] = ()
    concept_kinds: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    max_distance: int = 3
    vector_weight: float = 0.5
    include_archived: bool = False
    recency_weight: float | None = None
    dates: bool = False
    explain: bool = False
    deadline: float | None = None

    def __post_init__(self) -> None:
        """Raise :class:`~openclaw_memory.errors.RequestError` for what cannot be meant, and cut a long query."""
        if not isinstance(self.query, str):
            raise RequestError(f"query must be text, not {bounds.shown(self.query)}")
        self._set(query=ends(self.query, _QUERY_FIRST, _QUERY_LAST))
        for name in (*_WHOLE, *_SHARES, "deadline"):
            value, whole = getattr(self, name), name in _WHOLE
            if value is not None or name in ("max_distance", "vector_weight"):
                low, high = _WHOLE.get(name, (0, 1 if name in _SHARES else _LONGEST_DEADLINE))
                self._set(**{name: bounds.number(name, value, low, high, whole)})
        if self.max_results is not None and self.budget is not None:
            raise RequestError("give max_results or budget, not both")
        for name, valid in (("mode", Mode), ("fusion", Fusion)):
            if getattr(self, name) is not None:
                bounds.choice(name, getattr(self, name), get_args(valid))
        for name in ("now", "since", "until"):
            if getattr(self, name) is not None:
                bounds.day(name, getattr(self, name))
        if self.since is not None and self.until is not None and self.since > self.until:
            raise RequestError(f"since ({self.since}) is after until ({self.until}); swap them")
        self._set(
            kinds=bounds.several("kinds", self.kinds, Kind, ", ".join(Kind)),
            grains=bounds.several("grains", self.grains, Grain, ", ".join(Grain)),
        )
        for name in ("concepts", "concept_kinds", "near"):
            self._set(**{name: bounds.several(name, getattr(self, name), bounds.name, "names")})

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, query: str | SearchRequest, options: Mapping[str, Any]) -> SearchRequest:
        """``query`` itself where it is a request, else one made of it and ``options``."""
        if not isinstance(query, SearchRequest):
            return cls(query, **options)
        if options:
            raise RequestError(f"give a SearchRequest or options, not both: put {', '.join(options)} into the request")
        return query


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result: exact lines, the text, and how its score came about.

    ``score`` is in [0, 1], never rises with rank and is comparable across queries; the component
    scores are absolute too (``vector_score`` a cosine, ``text_score`` a share of the query's BM25
    mass, ``time_score`` the closeness to a date the query names).  In a timeline hits stand in order of
    time, and where nothing was asked each has the score 1: being in the range is all that was wanted.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    citation: str
    id: str
    heading: str
    date: date | None
    kind: Kind
    grain: Grain
    origin: Origin
    vector_score: float | None = None
    text_score: float | None = None
    graph_score: float | None = None
    time_score: float | None = None
    concepts: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    archived: bool = False
    source: str = "memory"
    why: str | None = None


EdgeKind = Literal["references", "related_to", "parent_of", "follows", "derived_from"]


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of a thread: from what, to what, how strong in [0, 1], and the same in words.

    ``source`` and ``target`` are citations (``path#L3-L9``) or names of concepts.
    """

    kind: EdgeKind
    source: str
    target: str
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class RecallHit(SearchHit):
    """A hit of a thread: the edges that lead to it from a hit of the question, which has ``distance`` 0."""

    via: tuple[Edge, ...] = ()
    distance: int = 0


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """A concept: found in the notes or curated; ``units`` mention it, ``related`` are the closest others."""

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
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ConceptsResult:
    """Concepts, and what a change of them did: ``linked`` units got or lost a reference."""

    rows: tuple[ConceptRow, ...]
    total: int
    linked: int = 0
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A statement that a rule found in a unit."""

    subject: str
    predicate: str
    object: str
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact as it is known: ``current`` unless something superseded, ended or removed it.

    ``rule`` is ``stated`` for what an agent or person wrote; ``source`` a citation, where there is one;
    ``valid_from`` and ``valid_to`` are days, the latter exclusive: on that day something else holds.
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


@dataclass(frozen=True, slots=True)
class FactsResult:
    """Facts, and for a change how many it added, ended or removed."""

    rows: tuple[FactRow, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ContextResult:
    """What is relevant to a message, in sentences; empty when nothing is.

    ``entities`` are the names of known concepts in the message; ``tokens`` the length of ``text``;
    ``skipped`` says why there is none, if there is a reason beside "nothing relevant".
    """

    text: str
    tokens: int
    entities: tuple[str, ...]
    sources: tuple[SearchHit, ...]
    facts: tuple[FactRow, ...] = ()
    took_ms: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first, and what answered it."""

    results: tuple[SearchHit, ...]
    provider: str
    model: str | None
    mode: str
    fallback: str | None = None
    took_ms: float = 0.0
    stale: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class RecallResult(SearchResult):
    """A thread in order of time, and what answered the question that it starts from."""

    results: tuple[RecallHit, ...]


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a workspace file; ``status`` is ``ok``, ``not_found`` or ``error``."""

    status: Literal["ok", "not_found", "error"]
    path: str
    text: str = ""
    from_line: int | None = None
    lines: int | None = None
    next_from: int | None = None
    truncated: bool = False
    error: str | None = None


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


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How ambient context was used since a day: ``share`` of the messages that got some, latency, tokens.

    ``late`` counts calls that were not done by their deadline; latencies are upper ends of classes a quarter apart.
    """

    since: date | None
    messages: int
    with_context: int
    share: float
    entities_per_message: float
    tokens_per_context: float
    p50_ms: float | None
    p95_ms: float | None
    late: int


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
    """What there is of a grain: ``archived`` and ``hidden`` (said by a finer summary too) units are among ``units``."""

    grain: Grain
    files: int
    units: int
    archived: int
    hidden: int
    bytes: int
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """A sentence that was kept of a turn: where it was written, and why it was worth it, in [0, 1]."""

    text: str
    score: float
    citation: str


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """What was kept of a turn; ``seen`` counts its sentences, ``skipped`` says why nothing was looked at."""

    captured: tuple[Captured, ...] = ()
    path: str | None = None
    seen: int = 0
    took_ms: float = 0.0
    skipped: str | None = None
    warning: str | None = None


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


@dataclass(frozen=True, slots=True)
class Replied:
    """How many of the hits that were given lately a reply quotes: those count as used."""

    quoted: int


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
    that are names rather than texts.  ``verified`` says that no column and no byte of the index holds any of it.
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
    dry_run: bool = False
    verified: bool = False
    seconds: float = 0.0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What the memory holds and how it is: counts, sizes, model, embedding states, plugins."""

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
    http_usage: dict[str, Any] | None = None
    context: ContextUse | None = None
    grains: tuple[GrainUse, ...] = ()
    consolidation: str | None = None
    retention: str | None = None
    binding: str | None = None
    fallback: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """The host's session that a hook is told about; ``deadline`` is what the hooks have in all, in seconds."""

    id: str
    agent: str
    reason: str = "start"
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """What the plugins did when a session began; ``report`` is that of the ingest."""

    report: IngestReport | None
    took_ms: float


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What the plugins did when the host was idle: whatever each of them returned."""

    ran: tuple[Any, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer of an SQL query: names of columns, and rows of plain values; ``truncated`` by a limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    took_ms: float = 0.0
    truncated: bool = False
    stale: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """A file of an export: the table, where it is, and its size in rows and bytes."""

    name: str
    file: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote."""

    folder: str
    tables: tuple[ExportedTable, ...]
    seconds: float = 0.0
    stale: bool = False
    warning: str | None = None


def citation(path: str, first: int, last: int) -> str:
    """``path#L3`` or ``path#L3-L9``."""
    return f"{path}#L{first}" + (f"-L{last}" if last > first else "")


_CITED = re.compile(r"(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)$")


def cited(text: str) -> tuple[str, int, int] | None:
    """Path, first and last line of a :func:`citation`, or of ``path:3-9`` as results are printed; else ``None``."""
    found = _CITED.search(text.strip())
    if found is None:
        return None
    first = int(found[1] or found[3])
    return text.strip()[: found.start()], first, int(found[2] or found[4] or first)


#: ``freshen(until)`` looks for changed files until a ``time.monotonic`` value; whether the answer may be stale, and
#: remarks.
Freshen = Callable[[float | None], tuple[bool, list[str]]]


def counted(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(parts: Sequence[str]) -> str | None:
    """``parts`` as one sentence list, or ``None`` when there are none."""
    return "; ".join(parts) or None


#: ``progress(stage, done, total)``: files read, or units embedded.
Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that shows nothing."""
