"""The tools: one list, so that a new capability is one entry."""

from __future__ import annotations

import time
from typing import Any

from ..model import (
    FileText,
    Grain,
    Heartbeat,
    IngestReport,
    Kind,
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
from .tool import Call, Tool, day, names, share, text, whole

# -- what the tools do ----------------------------------------------------------------------------


def _request(call: Call) -> dict[str, Any]:
    """The arguments as fields of a :class:`SearchRequest`."""
    given = dict(call.arguments)
    if "maxResults" in given and "budget" in given:
        from ..errors import RequestError

        raise RequestError("give maxResults or budget, not both")
    fields = {
        "maxResults": "max_results", "minScore": "min_score", "maxDistance": "max_distance",
        "vectorWeight": "vector_weight", "includeArchived": "include_archived", "recencyWeight": "recency_weight",
    }  # fmt: skip
    several: dict[str, tuple[Any, ...]] = {
        "kinds": (Kind(given.pop("kind")),) if "kind" in given else (),
        "grains": (Grain(given.pop("grain")),) if "grain" in given else (),
        "concepts": tuple(given.pop("concept", ())),
        "concept_kinds": tuple(given.pop("conceptKind", ())),
        "near": tuple(given.pop("near", ())),
    }
    return {fields.get(key, key): value for key, value in given.items()} | several | {"deadline": call.until.left()}


def _bounded(options: dict[str, Any]) -> SearchRequest:
    """The request; where it names days or grains, what is found tells its day unless told otherwise."""
    from ..search.timeline import bounded

    least, most = options.pop("minimumDaysAgo", None), options.pop("maximumDaysAgo", None)
    by_time = any(given is not None for given in (least, most, options.get("since"), options.get("until")))
    options.setdefault("dates", by_time or bool(options["grains"]))
    return bounded(SearchRequest(**options), least, most)


def _search(call: Call) -> SearchResult:
    return call.memory.search(_bounded(_request(call)))


def _recall(call: Call) -> RecallResult:
    options = _request(call)
    hops = options.pop("hops", 2)
    return call.memory.recall(_bounded(options), hops=hops)


def _timeline(call: Call) -> SearchResult:
    options = _request(call)
    least, most = options.pop("minimumDaysAgo", None), options.pop("maximumDaysAgo", None)
    return call.memory.timeline(options.pop("query", ""), minimum_days_ago=least, maximum_days_ago=most, **options)


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


_BUDGET = whole("Return lines worth this many tokens instead of a number of hits.", 1, 100_000)
_FILTERS = {
    "kind": {"type": "string", "enum": [kind.value for kind in Kind],
             "description": "Only curated files (MEMORY.md, USER.md), daily notes, or other notes."},
    "grain": {"type": "string", "enum": [grain.value for grain in Grain],
              "description": "Only texts of this resolution in time: working is notes, the others are summaries."},
    "since": day("Only what is dated on or after this day, YYYY-MM-DD."),
    "until": day("Only what is dated on or before this day, YYYY-MM-DD."),
    "minimumDaysAgo": whole("Only what is at least this many days old; 0 is today.", 0),
    "maximumDaysAgo": whole("Only what is at most this many days old; 7 is the last week.", 0),
    "includeArchived": {"type": "boolean",
                        "description": "Give old notes that a summary covers too, ranked behind it."},
    "recencyWeight": share("Share of the score that is youth alone, for 'latest' and 'current'; 0 unless set."),
}  # fmt: skip
_DATES = {
    "dates": {"type": "boolean",
              "description": "Begin each snippet with its day; so it is when days or a grain are given."},
}  # fmt: skip
_CONCEPTS = {
    "concept": names("Only what mentions one of these concepts, or one that is a kind of it; by name or alias."),
    "conceptKind": names("Only what mentions a concept of such a kind, such as person, project, tool."),
}
_CORPUS = "memory and all are these notes; nothing else is part of this memory."
_HITS = whole("Most hits to return, each with its surrounding lines; 6 unless told.", 1, 50)

TOOLS = (
    Tool(
        name="memory_search",
        title="Search memory",
        description=(
            "Search the agent's long-term memory (MEMORY.md, USER.md, memory/**/*.md) by meaning, by exact terms such "
            "as names, numbers and codes, and by the dates that the question names. Returns the best lines with path, "
            "line numbers, date and score. Use it before answering about earlier work, decisions, dates, people, "
            "preferences or to-dos. A hit with `superseded` is out of date: what it says there holds now. If the "
            "result has unavailable, stale or warning, tell the user, with the action that it names."
        ),
        arguments={
            "query": text("The question, in plain words; names, numbers and dates in it count."),
            "maxResults": _HITS,
            "minScore": {"type": "number", "minimum": 0, "maximum": 1,
                         "description": "Leave out hits below this score; nonsense stays below 0.35."},
            "budget": _BUDGET,
            "mode": {"type": "string", "enum": ["hybrid", "vector", "keyword", "graph"],
                     "description": "Which signals rank; graph: by the concepts that the query names."},
            **_FILTERS,
            **_DATES,
            **_CONCEPTS,
            "near": names("Concepts that what is wanted hangs together with: nearer hits rank higher."),
            "maxDistance": whole("With near: steps from those concepts that still count; 3 unless told.", 1, 6),
            "vectorWeight": share("With near: the share of relevance, the rest is nearness; 0.5 unless told."),
            "explain": {"type": "boolean", "description": "Say of each hit what each signal contributed."},
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
            "What hangs together with the answer to a question: from the best hits over shared and related concepts "
            "and forth and back in time, in order of time, even where the notes share no words with the question. "
            "`distance` 0 answers the question itself; `via` says in words how the others are connected with it. "
            "`relevance` is how surely a hit itself answers: below 0.3 in all of them the notes have no answer. Use "
            "it for 'why', 'how did that come about' and 'what followed from it'; for a single fact use memory_search."
        ),
        arguments={
            "query": text("The question that the thread starts from, in words or as exact terms."),
            "hops": whole("Steps from the best hits at most; 2 unless told.", 1, 4),
            "maxResults": whole("Most results, each a passage; single lines of some 2000 tokens unless told.", 1, 20),
            **_FILTERS,
            **_DATES,
            **_CONCEPTS,
            "now": day("The day the question is asked, for 'last week'; today unless told."),
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
            "What was noted when, oldest first, each snippet begun by its date. Without a query: the newest "
            "sections of the range. With a query: what the range says about it. Use it for 'what happened last "
            "week' or 'how did this go on'."
        ),
        arguments={
            "query": {"type": "string", "description": "What it should be about; leave it out to list what there is."},
            **_FILTERS,
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
            "Read lines of a memory file by the path that a search result names, exactly as they are on disk now. "
            "Use it when a hit needs more of its surroundings. Without `lines` it reads a bounded part and says in "
            "`nextFrom` where to go on; status not_found means that there is no such file."
        ),
        arguments={
            "path": text("Path as a hit names it; a citation such as memory/a.md#L3-L9 works too."),
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
    TURN,
    REPLIED,
)  # fmt: skip


def offered(for_host: bool) -> dict[str, Tool]:
    """The tools by name: those for models, and with ``for_host`` those that only a host should call."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience == "model"}
