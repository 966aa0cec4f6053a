"""The tools: one list, so that a new capability is one entry."""

from __future__ import annotations

import time
from typing import Any

from ..model import (
    FileText,
    Heartbeat,
    IngestReport,
    RecallResult,
    SearchRequest,
    SearchResult,
    Session,
    SessionStarted,
    Status,
)
from .capture_tool import CAPTURE, TURN
from .consolidate_tool import CONSOLIDATE
from .context_tool import CONTEXT
from .facts_tool import FACTS
from .feedback_tool import FEEDBACK, REPLIED
from .tool import Call, Tool, day, share, text, whole

# -- what the tools do ----------------------------------------------------------------------------


def _request(call: Call) -> dict[str, Any]:
    """The arguments as fields of a :class:`SearchRequest`."""
    given = call.arguments
    if "maxResults" in given and "budget" in given:
        from ..errors import RequestError

        raise RequestError("give maxResults or budget, not both")
    fields = {"maxResults": "max_results", "minScore": "min_score"}
    return {fields.get(key, key): value for key, value in given.items()} | {"deadline": call.until.left()}


def _dated(options: dict[str, Any]) -> SearchRequest:
    """The request; where it names days, what is found tells its day."""
    return SearchRequest(dates="since" in options or "until" in options, **options)


def _search(call: Call) -> SearchResult:
    return call.memory.search(_dated(_request(call)))


def _recall(call: Call) -> RecallResult:
    options = _request(call)
    hops = options.pop("hops", 2)
    return call.memory.recall(_dated(options), hops=hops)


def _timeline(call: Call) -> SearchResult:
    options = _request(call)
    return call.memory.timeline(options.pop("query", ""), **options)


def _get(call: Call) -> FileText:
    return call.memory.get(call.arguments["path"], call.arguments.get("from"), call.arguments.get("lines"))


def _ingest(call: Call) -> IngestReport:
    return call.memory.ingest(call.arguments.get("paths", ()), progress=call.progress, deadline=call.until.left())


def _status(call: Call) -> Status:
    return call.memory.status()


def _session_start(call: Call) -> SessionStarted:
    started = time.monotonic()
    given = call.arguments
    session = Session(given.get("sessionId", ""), call.memory.agent, given.get("reason", "start"), call.until.left())
    reports = [made for made in call.memory.session_start(session) if isinstance(made, IngestReport)]
    return SessionStarted(reports[0] if reports else None, (time.monotonic() - started) * 1000)


def _heartbeat(call: Call) -> Heartbeat:
    started = time.monotonic()
    return Heartbeat(tuple(call.memory.heartbeat()), (time.monotonic() - started) * 1000)


# -- what their arguments are ---------------------------------------------------------------------


_BUDGET = whole("Tokens of lines to return, instead of maxResults.", 1, 100_000)
_SINCE = day("Only what is dated on or after this day.")
_UNTIL = day("Only what is dated on or before this day.")
_NOW = day("The day of asking; default today.")
_CORPUS = "memory and all are these notes; nothing else is part of this memory."
_HITS = whole("Most hits to return; default 6.", 1, 50)

TOOLS = (
    Tool(
        name="memory_search",
        title="Search memory",
        description=(
            "Search the agent's long-term memory (MEMORY.md, USER.md, memory/**/*.md) by meaning, exact names, "
            "numbers and codes, and by dates that the question names. Use it before answering about earlier work, "
            "decisions, dates, people, preferences or to-dos. A hit with `superseded` is out of date: what it says "
            "there holds now. If the result has unavailable, stale or warning, tell the user."
        ),
        arguments={
            "query": text("The question in plain words."),
            "maxResults": _HITS,
            "minScore": share("Leave out hits below this score; nonsense stays below 0.35."),
            "budget": _BUDGET,
            "since": _SINCE,
            "until": _UNTIL,
            "now": _NOW,
        },
        required=("query",),
        result=SearchResult,
        run=_search,
        deadline=15.0,
        embeds=True,
        hint=(
            "Call memory_search before you answer about earlier work, decisions, dates, people, preferences or open "
            "tasks; ask with the words and names that the notes would use. If nothing relevant comes back, say "
            "that you looked."
        ),
        openclaw={
            "corpus": {"type": "string", "enum": ["memory", "wiki", "all", "sessions"], "description": _CORPUS}
        },
    ),
    Tool(
        name="graph_recall",
        title="Follow the thread behind a memory",
        description=(
            "What hangs together with the answer to a question, in order of time: from the best hits over related "
            "concepts and time. `distance` 0 answers the question itself; `via` says how the others are connected. "
            "`relevance` below 0.3 in all of them means that the notes have no answer. Use it for 'why', 'how did "
            "that come about' and 'what followed from it'."
        ),
        arguments={
            "query": text("The question that the thread starts from."),
            "hops": whole("Steps from the best hits at most; default 2.", 1, 4),
            "maxResults": whole("Most results, each a passage.", 1, 20),
            "since": _SINCE,
            "until": _UNTIL,
            "now": _NOW,
        },
        required=("query",),
        result=RecallResult,
        run=_recall,
        deadline=15.0,
        embeds=True,
        hint="For why something was decided, what came of it or what else it touches, call graph_recall.",
    ),
    Tool(
        name="memory_timeline",
        title="Look through memory by time",
        description=(
            "What was noted when, oldest first, each snippet begun by its date: the newest sections of the range, or "
            "with a query what the range says about it. Use it for 'what happened last week'."
        ),
        arguments={
            "query": {"type": "string", "description": "What it should be about."},
            "since": _SINCE,
            "until": _UNTIL,
            "budget": _BUDGET,
            "maxResults": _HITS,
        },
        result=SearchResult,
        run=_timeline,
        deadline=15.0,
        embeds=True,
        hint="For what happened in a span of time, or in which order, call memory_timeline.",
    ),
    CONTEXT,
    FACTS,
    FEEDBACK,
    CONSOLIDATE,
    CAPTURE,
    Tool(
        name="memory_get",
        title="Read a memory file",
        description=(
            "Read lines of a memory file as they are now, by the path that a search result names. "
            "Without `lines` it reads a bounded part and says in `nextFrom` where to go on."
        ),
        arguments={
            "path": text("Path as a hit names it, or its citation."),
            "from": whole("First line, counted from 1.", 1),
            "lines": whole("How many lines.", 1),
        },
        required=("path",),
        result=FileText,
        run=_get,
        deadline=10.0,
        hint="Read around a hit, or in a memory file that you answer from, with memory_get.",
        openclaw={"corpus": {"type": "string", "enum": ["memory", "wiki", "all"], "description": _CORPUS}},
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
        audience="client",
    ),
    Tool(
        name="memory_status",
        title="State of the memory",
        description="Counts, sizes, embedding model, state of the vectors, plugins, and what is wrong, if anything.",
        result=Status,
        run=_status,
        deadline=15.0,
        audience="client",
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
    TURN,
    REPLIED,
)  # fmt: skip


def offered(for_host: bool) -> dict[str, Tool]:
    """The tools that are listed, by name: those for models, and with ``for_host`` all."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience == "model"}


def answered(for_host: bool) -> dict[str, Tool]:
    """The tools that may be called, by name: also those for clients, and with ``for_host`` all."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience != "host"}
