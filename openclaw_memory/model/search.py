"""Requests and results of search and recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import Any, Literal, TypedDict, get_args

from ..errors import RequestError
from ..records import dataclass
from . import bounds
from .notes import Grain, Kind, Origin
from .size import keep_ends

Mode = Literal["hybrid", "vector", "keyword", "graph"]
Fusion = Literal["score", "rrf"]
#: Tokens up to which a hit grows over neighbouring units.
HIT_TOKENS = 400
_WHOLE = {"max_results": (1, 1000), "budget": (1, 100_000), "max_distance": (1, 6)}
_SHARES = ("min_score", "recency_weight", "vector_weight")

#: Suffixes of files beside an index: path, line and id of each hit that a person was shown last; and the map.
LAST_SHOWN, MAP_SUFFIX = ".shown.json", ".map.html"


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of a question: the fields of :class:`SearchRequest` but for ``query``."""

    max_results: int | None
    budget: int | None
    min_score: float | None
    now: date | None
    as_of: date | None
    mode: Mode | None
    fusion: Fusion | None
    kinds: Sequence[Kind | str]
    grains: Sequence[Grain | str]
    since: date | None
    until: date | None
    concepts: Sequence[str]
    near: Sequence[str]
    max_distance: int
    vector_weight: float
    include_archived: bool
    recency_weight: float | None
    dates: bool
    explain: bool
    deadline: float | None


#: Names of the fields of :class:`SearchOptions`.
SEARCH_OPTIONS = tuple(SearchOptions.__annotations__)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to the memory.

    Give ``max_results`` for hits of about 400 tokens, or ``budget`` for spans of units up to that many tokens.
    ``now`` is the day of the question, for "last week"; what is dated after ``as_of`` is left out; ``since`` and
    ``until`` are inclusive.  ``deadline`` is in seconds.  ``concepts`` filter by mentions.
    With ``near`` the score is ``vector_weight`` times relevance plus the rest times ``1 / 2**distance`` to the nearest
    of those concepts, up to ``max_distance``.  ``include_archived``, or the grain ``working``, adds notes that
    summaries cover.  With ``dates`` snippets begin with their day.  A longer ``query`` is cut to 6,000 and 2,000
    characters at its ends.  Raises :class:`~openclaw_memory.errors.RequestError` for an invalid value.
    """

    query: str
    max_results: int | None = None
    budget: int | None = None
    min_score: float | None = None
    now: date | None = None
    as_of: date | None = None
    mode: Mode | None = None
    fusion: Fusion | None = None
    kinds: tuple[Kind, ...] = ()
    grains: tuple[Grain, ...] = ()
    since: date | None = None
    until: date | None = None
    concepts: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    max_distance: int = 3
    vector_weight: float = 0.5
    include_archived: bool = False
    recency_weight: float | None = None
    dates: bool = False
    explain: bool = False
    deadline: float | None = None

    def __post_init__(self) -> None:
        """Check the values, convert lists and numbers, and cut a long query."""
        if not isinstance(self.query, str):
            raise RequestError(f"query must be text, not {bounds.shorten(self.query)}")
        self._set(query=keep_ends(self.query, 6_000, 2_000))
        for name in (*_WHOLE, *_SHARES, "deadline"):
            value, whole = getattr(self, name), name in _WHOLE
            if value is not None or name in ("max_distance", "vector_weight"):
                low, high = _WHOLE.get(name, (0, 1 if name in _SHARES else 86_400))
                self._set(**{name: bounds.check_number(name, value, low, high, whole)})
        if self.max_results is not None and self.budget is not None:
            raise RequestError("give max_results or budget, not both")
        for name, valid in (("mode", Mode), ("fusion", Fusion)):
            if getattr(self, name) is not None:
                bounds.check_choice(name, getattr(self, name), get_args(valid))
        for name in ("now", "as_of", "since", "until"):
            if getattr(self, name) is not None:
                bounds.check_day(name, getattr(self, name))
        if self.since is not None and self.until is not None and self.since > self.until:
            raise RequestError(f"since ({self.since}) is after until ({self.until})", "swap them")
        self._set(
            kinds=bounds.convert_items("kinds", self.kinds, Kind, ", ".join(Kind)),
            grains=bounds.convert_items("grains", self.grains, Grain, ", ".join(Grain)),
        )
        for name in ("concepts", "near"):
            self._set(**{name: bounds.convert_items(name, getattr(self, name), bounds.check_name, "names")})

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_options(cls, query: str | SearchRequest, options: Mapping[str, Any]) -> SearchRequest:
        """Return ``query`` itself if it is a request, else build one from it and ``options``."""
        if not isinstance(query, SearchRequest):
            return cls(query, **options)
        if options:
            raise RequestError(f"give a SearchRequest or options, not both: put {', '.join(options)} into the request")
        return query


@dataclass(frozen=True, slots=True)
class DatedLines:
    """Lines of a file, and their day."""

    path: str
    start_line: int
    end_line: int
    date: date | None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A result: exact lines, their text, and the parts of its score.

    ``score`` is in [0, 1], independent of the other hits, and comparable across queries; the ranking also uses other
    features, so it may rise with rank.  The parts are absolute too: ``vector_score`` is a cosine, ``text_score`` a
    share of the query's BM25 mass, ``time_score`` the closeness to a date of the query.  In a timeline without a query
    each hit has the score 1.  ``best_line`` is the line that ranks, ``snippet_line`` the first line of the snippet.
    ``also`` are the latest other lines with the same text but for days and times, in order of time; ``superseded_by``
    are later lines that say what holds now.  ``memory`` is the name of another memory
    that contains the hit, ``None`` for its own.
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
    also: tuple[DatedLines, ...] = ()
    superseded_by: DatedLines | None = None
    memory: str | None = None
    best_line: int | None = None
    snippet_line: int | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first, and the model and mode that found them.

    ``corrected`` maps misspelt words of the question to those that were searched.  ``good_match`` is false if the hits
    do not answer the question; ``left_out`` counts further sections in the range of a timeline.
    """

    results: tuple[SearchHit, ...]
    provider: str
    model: str | None
    mode: str
    fallback: str | None = None
    took_ms: float = 0.0
    stale: bool = False
    warning: str | None = None
    corrected: dict[str, str] = field(default_factory=dict)
    good_match: bool = True
    left_out: int | None = None


#: Most sections that a thread starts from; without a budget it is as long as so many hits.
SEEDS = 5

EdgeKind = Literal["references", "related_to", "parent_of", "follows", "derived_from"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step of a thread: its ends, its weight in [0, 1], and its description.

    ``source`` and ``target`` are citations (``path#L3-L9``) or names of concepts.
    """

    kind: EdgeKind
    source: str
    target: str
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class RecallHit(SearchHit):
    """A hit of a thread: the edges that lead to it from a hit of the question, which has ``distance`` 0.

    ``score`` is comparable within one thread.  ``relevance`` is the score of a search, in [0, 1].
    """

    via: tuple[Edge, ...] = ()
    distance: int = 0
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class RecallResult(SearchResult):
    """A thread in order of time, and the model and mode that found its start."""

    results: tuple[RecallHit, ...]
