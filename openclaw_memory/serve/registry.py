"""The tools of the server: a new capability is one entry of the list."""

from __future__ import annotations

import time
from typing import Any

from ..model import (
    CaptureReport,
    ConsolidateReport,
    ContextResult,
    FactsResult,
    FeedbackReport,
    FileText,
    Grain,
    Heartbeat,
    IngestReport,
    Origin,
    QuotedHits,
    RecallResult,
    SearchRequest,
    SearchResult,
    Session,
    SessionStarted,
    Status,
)
from ..model.reports import VERDICTS
from .tool import Call, Tool, day_schema, fraction_schema, integer_schema, text_schema

# -- functions of the tools -----------------------------------------------------------------------


def _request(call: Call) -> dict[str, Any]:
    """Return the arguments as fields of a :class:`SearchRequest`."""
    arguments = call.arguments
    if "maxResults" in arguments and "budget" in arguments:
        from ..errors import RequestError

        raise RequestError("give maxResults or budget, not both")
    fields = {"maxResults": "max_results", "minScore": "min_score"}
    return {fields.get(key, key): value for key, value in arguments.items()} | {"deadline": call.until.left()}


def _build_request(options: dict[str, Any]) -> SearchRequest:
    """Return the request; if it names days, snippets begin with theirs."""
    return SearchRequest(dates="since" in options or "until" in options, **options)


def _recall(call: Call) -> RecallResult:
    options = _request(call)
    hops = options.pop("hops", 2)
    return call.memory.recall(_build_request(options), hops=hops)


def _timeline(call: Call) -> SearchResult:
    options = _request(call)
    return call.memory.timeline(options.pop("query", ""), **options)


def _session_start(call: Call) -> SessionStarted:
    started = time.monotonic()
    arguments = call.arguments
    reason = arguments.get("reason", "start")
    session = Session(arguments.get("sessionId", ""), call.memory.agent, reason, call.until.left())
    reports = [result for result in call.memory.session_start(session) if isinstance(result, IngestReport)]
    return SessionStarted(reports[0] if reports else None, (time.monotonic() - started) * 1000)


def _heartbeat(call: Call) -> Heartbeat:
    started = time.monotonic()
    return Heartbeat(tuple(call.memory.heartbeat()), (time.monotonic() - started) * 1000)


# -- descriptions of the tools --------------------------------------------------------------------


_BUDGET = integer_schema("Tokens of lines, instead of maxResults.", 1, 100_000)
_SINCE = day_schema("Only from this day on.")
_UNTIL = day_schema("Only up to this day.")
_NOW = day_schema("Day of asking.")
_CORPUS = "memory and all are these notes; nothing else is part of this memory."
_HITS = integer_schema("Most hits; default 6.", 1, 50)


def _context(call: Call) -> ContextResult:
    arguments = call.arguments
    limit = call.memory.settings.context.deadline_ms / 1000
    call.memory.ambient.count_missed(arguments.get("missed", 0))
    return call.memory.context(
        arguments["message"],
        budget=arguments.get("budget"),
        session=arguments.get("session"),
        now=arguments.get("now"),
        deadline=call.until.within(limit),
    )


CONTEXT = Tool(
    name="memory_context",
    title="What memory knows about a message",
    description=(
        "Plain sentences, with their days, that the notes hold about what a message names or asks; empty when nothing "
        "is sure enough. Call it at the start of a task to be reminded of what is known."
    ),
    arguments={
        "message": text_schema("The message, in the words in which it was written."),
        "budget": integer_schema("Most tokens; default 200.", 1, 100_000),
        "now": _NOW,
    },
    host_arguments={
        "session": {"type": "string", "description": "Id of the session, which is not given the same again soon."},
        "missed": integer_schema("Earlier messages for which no answer came in time.", 0, 1000),
    },
    required=("message",),
    result=ContextResult,
    run=_context,
    deadline=1.0,
    embeds=True,
)


FEEDBACK = Tool(
    name="memory_feedback",
    title="Say whether a hit was of use",
    description=(
        "Note that a search result was useful, or irrelevant to what was asked: it will rank a little higher or lower "
        "from now on. Use it when a result settled a question, or misled."
    ),
    arguments={
        "id": text_schema("The id of the result, or its citation."),
        "verdict": {"type": "string", "enum": list(VERDICTS), "description": "What it was."},
    },
    required=("id", "verdict"),
    result=FeedbackReport,
    run=lambda call: call.memory.feedback(call.arguments["id"], call.arguments["verdict"]),
    deadline=10.0,
    read_only=False,
    idempotent=False,
)

REPLIED = Tool(
    name="memory_replied",
    title="A reply was given",
    description="Told by the host what the agent replied: hits that were given lately and are quoted count as used.",
    arguments={"text": text_schema("The reply.")},
    required=("text",),
    result=QuotedHits,
    run=lambda call: call.memory.replied(call.arguments["text"]),
    deadline=5.0,
    read_only=False,
    audience="host",
)


def _consolidate(call: Call) -> ConsolidateReport:
    arguments = call.arguments
    return call.memory.consolidate(
        dry_run=arguments.get("dryRun", True),
        older_than_days=arguments.get("olderThanDays"),
        grain=Grain(arguments["grain"]) if "grain" in arguments else None,
        now=arguments.get("now"),
        deadline=call.until.left(0.5),  # the other half is for ingesting the summaries
        progress=call.progress,
    )


CONSOLIDATE = Tool(
    name="memory_consolidate",
    title="Summarise old notes",
    description=(
        "Write short extractive summaries of the days, weeks, months, quarters and years that are over, each sentence "
        "with the lines it comes from; no note is changed. Without dryRun: false it only tells what it would do: ask "
        "the user before you let it write."
    ),
    arguments={
        "dryRun": {"type": "boolean", "description": "Only tell what would be done; true unless told."},
        "olderThanDays": integer_schema("Leave periods alone that ended at most this many days ago; 3 unless told.", 0),
        "grain": {"type": "string", "enum": [grain.value for grain in Grain if grain is not Grain.WORKING],
                  "description": "Only the summaries of this grain."},
        "now": _NOW,
    },
    result=ConsolidateReport,
    run=_consolidate,
    deadline=300.0,
    read_only=False,
    destructive=True,
    embeds=True,
    long_running=True,
    audience="client",
)  # fmt: skip

_ASKING = ("subject", "predicate", "object", "asOf", "history")


def _facts(call: Call) -> FactsResult:
    from ..errors import RequestError

    arguments = dict(call.arguments)
    action = arguments.pop("action")
    book = call.memory.facts
    if action == "query":
        if strange := [key for key in arguments if key not in _ASKING]:
            raise RequestError(f"memory_facts: query takes no {strange[0]!r}", f"valid are {', '.join(_ASKING)}")
        return book.query(as_of=arguments.pop("asOf", None), **arguments)
    return book.batch([{"action": action, **arguments}])


FACTS = Tool(
    name="memory_facts",
    title="Know and state facts",
    description=(
        "Facts as subject, predicate and object, with the days on which they held. query: what is known about a name "
        "now, on a day (asOf), or ever (history). add: state a lasting fact; where one value holds at a time (lives "
        "in, status, version ...) it takes the place of the old one. update and remove change one by its id: a fact "
        "stated today is undone by remove, an older one ends today."
    ),
    arguments={
        "action": {"type": "string", "enum": ["query", "add", "update", "remove"],
                   "description": "add needs subject, predicate and object."},
        "id": text_schema("For update and remove: the id that a row shows."),
        "subject": text_schema("Whom or what the fact is about: a name."),
        "predicate": text_schema("The relation, such as 'lives in'."),
        "object": text_schema("The value; in a query a part of it."),
        "source": text_schema("Where it is written: a citation."),
        "since": day_schema("From when it holds; default the day of its source."),
        "asOf": day_schema("In a query: what held on this day."),
        "history": {"type": "boolean", "description": "In a query: also what no longer holds."},
    },
    required=("action",),
    result=FactsResult,
    run=_facts,
    deadline=15.0,
    read_only=False,
    destructive=True,
    idempotent=False,
    reading_values={"action": ("query",)},
    hint="For what is known about a name now, or was on a day, call memory_facts; when you learn a lasting fact, or "
    "that one changed, add it there.",
)  # fmt: skip


def _capture(call: Call) -> CaptureReport:
    from ..capture.capturer import Message, Turn

    turn = Turn((Message("assistant", call.arguments["text"]),), agent=call.memory.agent, origin=Origin.AGENT)
    return call.memory.capture(turn, everything=True, deadline=call.until.left())


def _turn(call: Call) -> CaptureReport:
    from ..capture.capturer import Message, Turn

    arguments = call.arguments
    trigger = arguments.get("trigger", "user")
    if not call.memory.settings.capture.enabled:
        return CaptureReport(skipped="capture is off (capture.enabled)")
    if trigger != "user":
        return CaptureReport(skipped=f"it is a turn of {trigger}, not of a user")
    turn = Turn(
        tuple(Message(message["role"], message["text"]) for message in arguments["messages"]),
        session=arguments.get("sessionId", ""),
        agent=call.memory.agent,
        origin=Origin(arguments.get("origin", Origin.UNTRUSTED.value)),
    )
    return call.memory.capture(turn, deadline=call.until.left())


CAPTURE = Tool(
    name="memory_capture",
    title="Remember something",
    description=(
        "Write down what should be remembered, in a few plain sentences that can be understood without the "
        "conversation: name people and things, and give days as dates. It is found from then on. For one fact about a "
        "name that can change, memory_facts is better."
    ),
    arguments={"text": text_schema("What should be remembered, in plain sentences.")},
    required=("text",),
    result=CaptureReport,
    run=_capture,
    deadline=15.0,
    read_only=False,
    embeds=True,
)

TURN = Tool(
    name="memory_turn",
    title="A turn has ended",
    description=(
        "Told by the host when a turn has ended: the few sentences of it that are worth keeping and new are appended "
        "to the captures of the day, if capture.enabled is set."
    ),
    arguments={
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "role": {"type": "string", "enum": ["user", "assistant"], "description": "Who said it."},
                    "text": {"type": "string", "description": "What was said, without attachments and tool results."},
                },
                "required": ["role", "text"],
                "additionalProperties": False,
            },
            "description": "What was said in the turn, in order.",
        },
        "sessionId": {"type": "string", "description": "The host's id of the session."},
        "origin": {"type": "string", "enum": ["owner", "agent", "untrusted"],
                   "description": "Who sent the message; what is not known to be the owner's is untrusted."},
        "trigger": {"type": "string", "description": "What the turn was for; only turns of a user are captured."},
    },
    required=("messages",),
    result=CaptureReport,
    run=_turn,
    deadline=10.0,
    read_only=False,
    embeds=True,
    audience="host",
)  # fmt: skip

TOOLS = (
    Tool(
        name="memory_search",
        title="Search memory",
        description=(
            "Search the agent's long-term memory (MEMORY.md, USER.md, memory/**/*.md) by meaning, exact names, "
            "numbers and codes, and by dates that the question names. Use it before answering about earlier work, "
            "decisions, dates, people, preferences or to-dos. A hit with `superseded` is out of date: what it says "
            "there holds now; with `goodMatch: false` the notes have no answer. If the result has unavailable, stale "
            "or warning, tell the user."
        ),
        arguments={
            "query": text_schema("The question in plain words."),
            "maxResults": _HITS,
            "minScore": fraction_schema("Leave out hits below this score; nonsense stays below 0.35."),
            "budget": _BUDGET,
            "since": _SINCE,
            "until": _UNTIL,
            "now": _NOW,
        },
        required=("query",),
        result=SearchResult,
        run=lambda call: call.memory.search(_build_request(_request(call))),
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
            "`goodMatch: false` means that the notes have no answer. Use it for 'why', 'how did "
            "that come about' and 'what followed from it'."
        ),
        arguments={
            "query": text_schema("The question that the thread starts from."),
            "hops": integer_schema("Steps from the best hits at most; default 2.", 1, 4),
            "maxResults": integer_schema("Most results, each a passage.", 1, 20),
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
            "now": _NOW,
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
            "path": text_schema("Path as a hit names it, or its citation."),
            "from": integer_schema("First line, counted from 1.", 1),
            "lines": integer_schema("How many lines.", 1),
        },
        required=("path",),
        result=FileText,
        run=lambda call: call.memory.get(
            call.arguments["path"], call.arguments.get("from"), call.arguments.get("lines")
        ),
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
        run=lambda call: call.memory.ingest(
            call.arguments.get("paths", ()), progress=call.progress, deadline=call.until.left()
        ),
        deadline=600.0,
        read_only=False,
        embeds=True,
        long_running=True,
        audience="client",
    ),
    Tool(
        name="memory_status",
        title="State of the memory",
        description="Counts, sizes, embedding model, state of the vectors, plugins, and what is wrong, if anything.",
        result=Status,
        run=lambda call: call.memory.status(),
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
        long_running=True,
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
        destructive=True,
        long_running=True,
        audience="host",
    ),
    TURN,
    REPLIED,
)  # fmt: skip


def listed_tools(for_host: bool) -> dict[str, Tool]:
    """Return the listed tools by name: those for models, and with ``for_host`` all."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience == "model"}


def callable_tools(for_host: bool) -> dict[str, Tool]:
    """Return the callable tools by name: those for models and clients, and with ``for_host`` all."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience != "host"}
