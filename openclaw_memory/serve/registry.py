"""The tools of the server: a new capability is one more function.

The name of a function is that of its tool, its docstring is what a model reads of it.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, get_type_hints

from ..errors import RequestError, SettingsError
from ..model import (
    CaptureReport,
    ConsolidateReport,
    ContextResult,
    FactChanges,
    FactConflicts,
    FactsResult,
    FeedbackReport,
    FileText,
    Grain,
    Heartbeat,
    IngestReport,
    Kind,
    MapReport,
    Origin,
    Page,
    QuotedHits,
    RecallResult,
    SearchRequest,
    SearchResult,
    Session,
    SessionStarted,
    Status,
    tokens_of,
)
from ..model.reports import VERDICTS
from .brief import session_brief
from .tool import Call, Tool, day_schema, fraction_schema, integer_schema, text_schema

TOOLS: list[Tool] = []


def tool(title: str, deadline: float, **options: Any) -> Callable[[Callable[[Call], Any]], Tool]:
    """Return a decorator that makes a :class:`Tool` of a function, and adds it to :data:`TOOLS`."""

    def register(run: Callable[[Call], Any]) -> Tool:
        description = " ".join((run.__doc__ or "").split())
        result = get_type_hints(run)["return"]
        TOOLS.append(Tool(run.__name__, title, description, result, run, deadline, **options))
        return TOOLS[-1]

    return register


def _build_request(call: Call) -> SearchRequest:
    """Return the question of a call; if it names days, snippets begin with theirs."""
    options = _search_options(call)
    return SearchRequest(dates="since" in options or "until" in options, **options)


def _search_options(call: Call) -> dict[str, Any]:
    """Return the arguments as fields of a :class:`SearchRequest`."""
    if "maxResults" in call.arguments and "budget" in call.arguments:
        raise RequestError("give maxResults or budget, not both")
    fields = {"maxResults": "max_results", "minScore": "min_score"}
    corpus = call.arguments.get("corpus", "memory")
    if corpus == "sessions" and not any(extra.kind == "session" for extra in call.memory.settings.ingest.extra_paths):
        raise SettingsError("no conversations are read here", "ingest.session_days says of how many days they are")
    kinds = {"memory": (), "sessions": (Kind.SESSION,), "all": tuple(Kind)}[corpus]
    options = {fields.get(key, key): value for key, value in call.arguments.items() if key not in ("hops", "corpus")}
    return options | {"kinds": kinds, "deadline": call.until.left()}


_BUDGET = integer_schema("Tokens of lines, instead of maxResults.", 1, 100_000)
_RANGE = {
    "since": day_schema("Only from this day on."),
    "until": day_schema("Only up to this day."),
    "now": day_schema("Day of asking."),
}
_CORPUS = "memory: these notes; sessions: what was said in conversations, if the owner has it read; all: both."
_HITS = integer_schema("Most hits; default 6.", 1, 50)


# -- tools for models -----------------------------------------------------------------------------


@tool(
    "Search memory",
    15.0,
    arguments={
        "query": text_schema("The question in plain words."),
        "maxResults": _HITS,
        "minScore": fraction_schema("Leave out hits below this score; nonsense stays below 0.35."),
        "budget": _BUDGET,
        **_RANGE,
    },
    required=("query",),
    embeds=True,
    hint="Call memory_search before you answer about earlier work, decisions, dates, people, preferences or open "
    "tasks; ask with the words and names that the notes would use. If nothing relevant comes back, say that you "
    "looked.",
    openclaw={"corpus": {"type": "string", "enum": ["memory", "wiki", "all", "sessions"], "description": _CORPUS}},
    host_arguments={
        "corpus": {"type": "string", "enum": ["memory", "all", "sessions"], "description": _CORPUS},
        "mode": {"type": "string", "enum": ["keyword"], "description": "By words alone."},
    },
)
def memory_search(call: Call) -> SearchResult:
    """Search the agent's long-term memory (MEMORY.md, USER.md, memory/**/*.md) by meaning, exact names,
    numbers and codes, and by dates that the question names. Use it before answering about earlier work,
    decisions, dates, people, preferences or to-dos. A hit with `superseded` is out of date: what it says
    there holds now; with `goodMatch: false` the notes have no answer. If the result has unavailable, stale
    or warning, tell the user.
    """
    return call.memory.search(_build_request(call))


@tool(
    "Follow the thread behind a memory",
    15.0,
    arguments={
        "query": text_schema("The question that the thread starts from."),
        "hops": integer_schema("Steps from the best hits at most; default 2.", 1, 4),
        "maxResults": integer_schema("Most results, each a passage.", 1, 20),
        **_RANGE,
    },
    required=("query",),
    embeds=True,
    hint="For why something was decided, what came of it or what else it touches, call graph_recall.",
)
def graph_recall(call: Call) -> RecallResult:
    """What hangs together with the answer to a question, in order of time: from the best hits over related
    concepts and time. `distance` 0 answers the question itself; `via` says how the others are connected.
    `goodMatch: false` means that the notes have no answer. Use it for 'why', 'how did that come about' and
    'what followed from it'.
    """
    return call.memory.recall(_build_request(call), hops=call.arguments.get("hops", 2))


@tool(
    "Look through memory by time",
    15.0,
    arguments={
        "query": {"type": "string", "description": "What it should be about."},
        **_RANGE,
        "budget": _BUDGET,
        "maxResults": _HITS,
    },
    embeds=True,
    hint="For what happened in a span of time, or in which order, call memory_timeline.",
)
def memory_timeline(call: Call) -> SearchResult:
    """What was noted when, oldest first, each snippet begun by its date: the newest sections of the range, or
    with a query what the range says about it. Use it for 'what happened last week'.
    """
    return call.memory.timeline(**{"query": "", **_search_options(call)})


@tool(
    "What memory knows about a message",
    1.0,
    arguments={
        "message": text_schema("The message, in the words in which it was written."),
        "budget": integer_schema("Most tokens; default 200.", 1, 100_000),
        "now": _RANGE["now"],
    },
    host_arguments={
        "session": {"type": "string", "description": "Id of the session, which is not given the same again soon."},
        "missed": integer_schema("Earlier messages for which no answer came in time.", 0, 1000),
        "compacted": {
            "type": "string",
            "description": "Id under which turns of the session were captured, if it was "
            "just compacted: what is known of it comes first, in as many tokens again.",
        },
    },
    required=("message",),
    embeds=True,
)
def memory_context(call: Call) -> ContextResult:
    """Plain sentences, with their days, that the notes hold about what a message names or asks; empty when nothing
    is sure enough. Call it at the start of a task to be reminded of what is known.
    """
    arguments = call.arguments
    limit = call.memory.settings.context.deadline_ms / 1000
    call.memory.ambient.count_missed(arguments.get("missed", 0))
    result = call.memory.context(
        arguments["message"],
        budget=arguments.get("budget"),
        session=arguments.get("session"),
        now=arguments.get("now"),
        deadline=call.until.within(limit),
    )
    if "compacted" not in arguments:
        return result
    state = call.memory.ambient.conversation(
        arguments["compacted"], budget=arguments.get("budget"), now=arguments.get("now"), deadline=call.until.left()
    )
    text = "\n\n".join(filter(None, [state, result.text]))
    return replace(result, text=text, tokens=ceil(tokens_of(text)))


#: Arguments of the actions of memory_facts that change nothing.
_ASKING: dict[str, tuple[str, ...]] = {
    "query": ("subject", "predicate", "object", "asOf", "history"),
    "changes": ("since",),
    "conflicts": (),
}


@tool(
    "Know and state facts",
    15.0,
    arguments={
        "action": {"type": "string", "enum": ["query", "changes", "conflicts", "add", "update", "remove"],
                   "description": "add needs subject, predicate and object."},
        "id": text_schema("For update and remove: the id that a row shows."),
        "subject": text_schema("Whom or what the fact is about: a name."),
        "predicate": text_schema("The relation: 'lives in'."),
        "object": text_schema("The value; in a query a part of it."),
        "source": text_schema("Where it is written: a citation."),
        "since": day_schema("From this day; default its source's. Of changes: after it."),
        "asOf": day_schema("In a query: held on this day."),
        "history": {"type": "boolean", "description": "In a query: also what no longer holds."},
    },
    required=("action",),
    read_only=False,
    destructive=True,
    idempotent=False,
    reading_values={"action": tuple(_ASKING)},
    hint="For what is known about a name now, or was on a day, call memory_facts; when you learn a lasting fact, or "
    "that one changed, add it there.",
)  # fmt: skip
def memory_facts(call: Call) -> FactsResult | FactChanges | FactConflicts:
    """Facts as subject, predicate and object, with their days. query: what is known of a name now, on a day
    (asOf), or ever (history). changes: what replaced what. conflicts: values that both claim to hold; ask which,
    then remove one. add: state a lasting fact; where one value holds at a time (lives in, status ...) it
    replaces the old one. update and remove change one by its id: stated today, remove undoes it, else it ends.
    """
    arguments = dict(call.arguments)
    action = arguments.pop("action")
    book = call.memory.facts
    if action in _ASKING:
        if strange := [key for key in arguments if key not in _ASKING[action]]:
            valid = ", ".join(_ASKING[action]) or "none"
            raise RequestError(f"memory_facts: {action} takes no {strange[0]!r}", f"valid are {valid}")
        if action == "changes":
            return book.changes(arguments.get("since") or call.memory.today() - timedelta(days=7))
        if action == "conflicts":
            return book.conflicts()
        return book.query(as_of=arguments.pop("asOf", None), **arguments)
    return book.batch([{"action": action, **arguments}])


@tool(
    "Say whether a hit was of use",
    10.0,
    arguments={
        "id": text_schema("The id of the result, or its citation."),
        "verdict": {"type": "string", "enum": list(VERDICTS), "description": "What it was."},
    },
    required=("id", "verdict"),
    read_only=False,
    idempotent=False,
)
def memory_feedback(call: Call) -> FeedbackReport:
    """Note that a search result was useful, or irrelevant to what was asked: it will rank a little higher or lower
    from now on. Use it when a result settled a question, or misled.
    """
    return call.memory.feedback(call.arguments["id"], call.arguments["verdict"])


@tool(
    "Remember something",
    15.0,
    arguments={"text": text_schema("What should be remembered, in plain sentences.")},
    required=("text",),
    read_only=False,
    embeds=True,
)
def memory_capture(call: Call) -> CaptureReport:
    """Write down what should be remembered, in a few plain sentences that can be understood without the
    conversation: name people and things, and give days as dates. It is found from then on. For one fact about a
    name that can change, memory_facts is better.
    """
    from ..capture.capturer import Message, Turn

    turn = Turn((Message("assistant", call.arguments["text"]),), agent=call.memory.agent, origin=Origin.AGENT)
    return call.memory.capture(turn, everything=True, deadline=call.until.left())


@tool(
    "Read a memory file",
    10.0,
    arguments={
        "path": text_schema("Path as a hit names it, or its citation."),
        "from": integer_schema("First line, counted from 1.", 1),
        "lines": integer_schema("How many lines.", 1),
    },
    required=("path",),
    hint="Read around a hit, or in a memory file that you answer from, with memory_get.",
    openclaw={"corpus": {"type": "string", "enum": ["memory", "wiki", "all"], "description": "These notes."}},
)
def memory_get(call: Call) -> FileText:
    """Read lines of a memory file as they are now, by the path that a search result names. Without `lines` it
    reads a bounded part and says in `nextFrom` where to go on.
    """
    return call.memory.get(call.arguments["path"], call.arguments.get("from"), call.arguments.get("lines"))


# -- tools for clients ----------------------------------------------------------------------------


@tool(
    "Summarise old notes",
    300.0,
    arguments={
        "dryRun": {"type": "boolean", "description": "Only tell what would be done; true unless told."},
        "olderThanDays": integer_schema("Leave periods alone that ended at most this many days ago; 3 unless told.", 0),
        "grain": {"type": "string", "enum": [grain.value for grain in Grain if grain is not Grain.WORKING],
                  "description": "Only the summaries of this grain."},
        "now": _RANGE["now"],
    },
    read_only=False,
    destructive=True,
    embeds=True,
    long_running=True,
    audience="client",
)  # fmt: skip
def memory_consolidate(call: Call) -> ConsolidateReport:
    """Write short extractive summaries of the days, weeks, months, quarters and years that are over, each sentence
    with the lines it comes from; no note is changed. Without dryRun: false it only tells what it would do: ask
    the user before you let it write.
    """
    arguments = call.arguments
    return call.memory.consolidate(
        dry_run=arguments.get("dryRun", True),
        older_than_days=arguments.get("olderThanDays"),
        grain=Grain(arguments["grain"]) if "grain" in arguments else None,
        now=arguments.get("now"),
        deadline=call.until.left(0.5),  # the other half is for ingesting the summaries
        progress=call.progress,
    )


@tool(
    "Read what changed into memory",
    600.0,
    arguments={
        "paths": {"type": "array", "items": {"type": "string", "minLength": 1},
                  "description": "Only these files and folders of the workspace."},
    },
    read_only=False,
    embeds=True,
    long_running=True,
    audience="client",
)  # fmt: skip
def memory_ingest(call: Call) -> IngestReport:
    """Bring the index to the state of the Markdown files now. Searches look for changed files by themselves, so this
    is only needed after large changes or to embed everything at once. Writes to no note.
    """
    return call.memory.ingest(call.arguments.get("paths", ()), progress=call.progress, deadline=call.until.left())


@tool("Show the map", 60.0, audience="app")
def memory_map(call: Call) -> MapReport:
    """Show the person a page of all that is remembered: concepts, times, meanings, facts."""
    return call.memory.map(progress=call.progress)


@tool("State of the memory", 15.0, audience="client")
def memory_status(call: Call) -> Status:
    """Counts, sizes, embedding model, state of the vectors, plugins, and what is wrong, if anything."""
    return call.memory.status()


# -- tools for hosts ------------------------------------------------------------------------------


@tool(
    "A session begins",
    120.0,
    arguments={
        "sessionId": {"type": "string", "description": "The host's id of the session."},
        "reason": {"type": "string", "description": "Why it begins: start, new, reset, resume."},
        "brief": integer_schema("Tokens of a brief for a host that shows no file of the workspace.", 1, 100_000),
    },
    read_only=False,
    embeds=True,
    long_running=True,
    audience="host",
)
def memory_session_start(call: Call) -> SessionStarted:
    """Told by the host when a session begins: the plugins bring the memory up to date."""
    started = time.monotonic()
    arguments = call.arguments
    reason = arguments.get("reason", "start")
    session = Session(arguments.get("sessionId", ""), call.memory.agent, reason, call.until.left())
    reports = [result for result in call.memory.session_start(session) if isinstance(result, IngestReport)]
    brief = session_brief(call.memory, arguments["brief"]) if "brief" in arguments else ""
    return SessionStarted(reports[0] if reports else None, (time.monotonic() - started) * 1000, brief)


@tool("Time for upkeep", 120.0, read_only=False, destructive=True, long_running=True, audience="host")
def memory_heartbeat(call: Call) -> Heartbeat:
    """Told by the host when it is idle: the plugins do bounded maintenance."""
    started = time.monotonic()
    return Heartbeat(tuple(call.memory.heartbeat()), (time.monotonic() - started) * 1000)


@tool(
    "A turn has ended",
    10.0,
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
        "at": integer_schema("When it was said, in milliseconds since 1970; now unless given.", 0, 10**14),
    },
    required=("messages",),
    read_only=False,
    embeds=True,
    audience="host",
)  # fmt: skip
def memory_turn(call: Call) -> CaptureReport:
    """Told by the host when a turn has ended: the few sentences of it that are worth keeping and new are appended
    to the captures of the day, if capture.enabled is set.
    """
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
        now=datetime.fromtimestamp(arguments["at"] / 1000, UTC) if "at" in arguments else None,
    )
    return call.memory.capture(turn, deadline=call.until.left())


@tool(
    "A reply was given",
    5.0,
    arguments={"text": text_schema("The reply.")},
    required=("text",),
    read_only=False,
    audience="host",
)
def memory_replied(call: Call) -> QuotedHits:
    """Told by the host what the agent replied: hits that were given lately and are quoted count as used."""
    return call.memory.replied(call.arguments["text"])


@tool(
    "A page of the memory's tab",
    30.0,
    arguments={
        "view": {"type": "string", "description": "Which page."},
        "query": {"type": "string", "description": "What is searched, read or would be forgotten."},
        "agents": {"type": "array", "items": {"type": "string"}, "description": "Agents to choose from."},
    },
    embeds=True,
    audience="host",
)
def memory_page(call: Call) -> Page:
    """Asked by the host for its Control UI: the memory as a page that changes nothing."""
    from .tab import render_tab

    arguments = call.arguments
    view, query = arguments.get("view", ""), arguments.get("query", "").strip()
    html = render_tab(call.memory, view, query, arguments.get("agents", ()))
    return Page(b64encode(html.encode("utf-8")).decode("ascii"))


def listed_tools(for_host: bool, apps: bool = False) -> dict[str, Tool]:
    """Return the listed tools by name: for models, with ``apps`` also those that show a page, with ``for_host`` all."""
    audiences = {"model", "app"} if apps else {"model"}
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience in audiences}


def callable_tools(for_host: bool) -> dict[str, Tool]:
    """Return the callable tools by name: those for models and clients, and with ``for_host`` all."""
    return {tool.name: tool for tool in TOOLS if for_host or tool.audience != "host"}
