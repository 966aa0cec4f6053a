"""The tool that hosts call before the model speaks: what memory knows about the message."""

from __future__ import annotations

from ..model import ContextResult
from .tool import Call, Tool, text, whole


def _context(call: Call) -> ContextResult:
    given = call.arguments
    limit = call.memory.settings.context.deadline_ms / 1000
    return call.memory.context(
        given["message"],
        budget=given.get("budget"),
        session=given.get("session"),
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
        "message": text("The message, in the words in which it was written."),
        "budget": whole("Most tokens of the text; default 200.", 1, 100_000),
    },
    host_arguments={
        "session": {"type": "string", "description": "Id of the session, which is not given the same again soon."},
    },
    required=("message",),
    result=ContextResult,
    run=_context,
    deadline=1.0,
    embeds=True,
)
