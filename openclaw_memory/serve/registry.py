"""The tools: one list, so that a new capability is one entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..ingest.pipeline import Progress
from ..serialize import json_schema
from ..types import (
    FileText,
    Grain,
    Heartbeat,
    IngestReport,
    Kind,
    SearchRequest,
    SearchResult,
    Session,
    SessionStarted,
    Status,
)

if TYPE_CHECKING:
    from ..memory import Memory


@dataclass(frozen=True)
class Call:
    """One call of a tool: whose memory, the checked arguments, and how long there is to answer."""

    memory: Memory
    arguments: Mapping[str, Any]
    until: float
    progress: Progress

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self.until - time.monotonic())


@dataclass(frozen=True)
class Tool:
    """A capability as MCP sees it.

    ``arguments`` are JSON Schemas by name, ``result`` is the dataclass that ``run`` returns, ``deadline``
    the seconds it has unless the host says otherwise.  ``upkeep`` may take long and has threads of its
    own.  ``embeds`` may send text to an embedding endpoint where one is configured.
    """

    name: str
    title: str
    description: str
    result: type
    run: Callable[[Call], Any]
    deadline: float
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    embeds: bool = False
    upkeep: bool = False
    audience: Literal["model", "host"] = "model"

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured content."""
        return json_schema(self.result)


# -- what the tools do ----------------------------------------------------------------------------


def _request(call: Call) -> dict[str, Any]:
    """The arguments as fields of a :class:`SearchRequest`."""
    given = dict(call.arguments)
    if "maxResults" in given and "budget" in given:
        from ..errors import RequestError

        raise RequestError("give maxResults or budget, not both")
    names = {"maxResults": "max_results", "minScore": "min_score"}
    kinds = (Kind(given.pop("kind")),) if "kind" in given else ()
    grains = (Grain(given.pop("grain")),) if "grain" in given else ()
    return {names.get(key, key): value for key, value in given.items()} | {
        "kinds": kinds,
        "grains": grains,
        "deadline": call.left,
    }


def _search(call: Call) -> SearchResult:
    from ..search.timeline import check_range

    request = SearchRequest(**_request(call))
    check_range(request.since, request.until)
    return call.memory.search(request)


def _timeline(call: Call) -> SearchResult:
    options = _request(call)
    least, most = options.pop("minimumDaysAgo", None), options.pop("maximumDaysAgo", None)
    return call.memory.timeline(options.pop("query", ""), minimum_days_ago=least, maximum_days_ago=most, **options)


def _get(call: Call) -> FileText:
    return call.memory.get(call.arguments["path"], call.arguments.get("from"), call.arguments.get("lines"))


def _ingest(call: Call) -> IngestReport:
    return call.memory.ingest(call.arguments.get("paths", ()), progress=call.progress, deadline=call.left)


def _status(call: Call) -> Status:
    return call.memory.status()


def _session_start(call: Call) -> SessionStarted:
    started = time.monotonic()
    given = call.arguments
    session = Session(given.get("sessionId", ""), call.memory.agent, given.get("reason", "start"), call.left)
    reports = [made for made in call.memory.session_start(session) if isinstance(made, IngestReport)]
    return SessionStarted(reports[0] if reports else None, (time.monotonic() - started) * 1000)


def _heartbeat(call: Call) -> Heartbeat:
    started = time.monotonic()
    return Heartbeat(tuple(call.memory.heartbeat()), (time.monotonic() - started) * 1000)


# -- what their arguments are ---------------------------------------------------------------------


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _whole(description: str, minimum: int, maximum: int | None = None) -> dict[str, Any]:
    bounds = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    return {"type": "integer", **bounds, "description": description}


def _day(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "date", "description": description}


_BUDGET = _whole("Return lines worth this many tokens (of four characters) instead of a number of hits.", 1, 100_000)
_FILTERS = {
    "kind": {"type": "string", "enum": [kind.value for kind in Kind],
             "description": "Only curated files (MEMORY.md, USER.md), daily notes, or other notes."},
    "grain": {"type": "string", "enum": [grain.value for grain in Grain],
              "description": "Only texts of this resolution in time: working is notes, the others are summaries."},
    "since": _day("Only what is dated on or after this day, YYYY-MM-DD."),
    "until": _day("Only what is dated on or before this day, YYYY-MM-DD."),
}  # fmt: skip
_HITS = _whole("Most hits to return, each with its surrounding lines; 6 unless told.", 1, 50)

TOOLS = (
    Tool(
        name="memory_search",
        title="Search memory",
        description=(
            "Search the agent's long-term memory (MEMORY.md, USER.md, memory/**/*.md) by meaning and by exact "
            "terms. Returns the best lines with path, line numbers, date and score. Use it before answering about "
            "earlier work, decisions, dates, people, preferences or to-dos."
        ),
        arguments={
            "query": _text("The question, in plain words; names, numbers and dates in it count."),
            "maxResults": _HITS,
            "minScore": {"type": "number", "minimum": 0, "maximum": 1,
                         "description": "Leave out hits below this score; nonsense stays below 0.35."},
            "budget": _BUDGET,
            "mode": {"type": "string", "enum": ["hybrid", "vector", "keyword"], "description": "Which signals rank."},
            **_FILTERS,
            "explain": {"type": "boolean", "description": "Say of each hit what each signal contributed."},
        },
        required=("query",),
        result=SearchResult,
        run=_search,
        deadline=15.0,
        embeds=True,
    ),
    Tool(
        name="memory_timeline",
        title="Look through memory by time",
        description=(
            "What was noted when, oldest first, each snippet begun by its date. Without a query: the newest "
            "sections of the range. With a query: what the range says about it. Use it for 'what happened last "
            "week' or 'how did this go on'."
        ),
        arguments={
            "query": {"type": "string", "description": "What it should be about; leave it out to list what there is."},
            **_FILTERS,
            "minimumDaysAgo": _whole("Only what is at least this many days old; 0 is today.", 0),
            "maximumDaysAgo": _whole("Only what is at most this many days old; 7 is the last week.", 0),
            "budget": _BUDGET,
            "maxResults": _HITS,
        },
        result=SearchResult,
        run=_timeline,
        deadline=15.0,
        embeds=True,
    ),
    Tool(
        name="memory_get",
        title="Read a memory file",
        description=(
            "Read lines of a memory file by the path that a search result names, exactly as they are on disk now. "
            "Use it when a hit needs more of its surroundings."
        ),
        arguments={
            "path": _text("Path as a hit names it; a citation such as memory/a.md#L3-L9 works too."),
            "from": _whole("First line, counted from 1.", 1),
            "lines": _whole("How many lines.", 1),
        },
        required=("path",),
        result=FileText,
        run=_get,
        deadline=10.0,
    ),
    Tool(
        name="memory_ingest",
        title="Read what changed into memory",
        description=(
            "Bring the index to the state of the Markdown files now. Searches look for changed files by themselves, "
            "so this is only needed after large changes or to embed everything at once. Writes to no note."
        ),
        arguments={
            "paths": {"type": "array", "items": {"type": "string", "minLength": 1},
                      "description": "Only these files and folders of the workspace."},
        },
        result=IngestReport,
        run=_ingest,
        deadline=600.0,
        read_only=False,
        embeds=True,
        upkeep=True,
    ),
    Tool(
        name="memory_status",
        title="State of the memory",
        description="Counts, sizes, embedding model, state of the vectors, plugins, and what is wrong, if anything.",
        result=Status,
        run=_status,
        deadline=15.0,
    ),
    Tool(
        name="memory_session_start",
        title="A session begins",
        description="Told by the host when a session begins: the plugins bring the memory up to date.",
        arguments={
            "sessionId": {"type": "string", "description": "The host's id of the session."},
            "reason": {"type": "string", "description": "Why it begins: start, new, reset, resume."},
        },
        result=SessionStarted,
        run=_session_start,
        deadline=120.0,
        read_only=False,
        embeds=True,
        upkeep=True,
        audience="host",
    ),
    Tool(
        name="memory_heartbeat",
        title="Time for upkeep",
        description="Told by the host when it is idle: the plugins do bounded maintenance.",
        result=Heartbeat,
        run=_heartbeat,
        deadline=120.0,
        read_only=False,
        upkeep=True,
        audience="host",
    ),
)  # fmt: skip


def offered(for_host: bool) -> dict[str, Tool]:
    """The tools by name: those for models, and with ``for_host`` those that only a host should call."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience == "model"}
