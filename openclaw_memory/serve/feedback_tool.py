"""How what was given was of use: said by the model itself, and seen by the host in a reply that quotes it."""

from __future__ import annotations

from ..model import FeedbackReport, Replied
from ..use.tracker import VERDICTS
from .tool import Call, Tool, text


def _feedback(call: Call) -> FeedbackReport:
    return call.memory.feedback(call.arguments["id"], call.arguments["verdict"])


FEEDBACK = Tool(
    name="memory_feedback",
    title="Say whether a hit was of use",
    description=(
        "Note that a search result was useful, or irrelevant to what was asked: it will rank a little higher or lower "
        "from now on. Use it when a result settled a question, or misled."
    ),
    arguments={
        "id": text("The id of the result, or its citation."),
        "verdict": {"type": "string", "enum": list(VERDICTS), "description": "What it was."},
    },
    required=("id", "verdict"),
    result=FeedbackReport,
    run=_feedback,
    deadline=10.0,
    read_only=False,
    idempotent=False,
)

REPLIED = Tool(
    name="memory_replied",
    title="A reply was given",
    description="Told by the host what the agent replied: hits that were given lately and are quoted count as used.",
    arguments={"text": text("The reply.")},
    required=("text",),
    result=Replied,
    run=lambda call: call.memory.replied(call.arguments["text"]),
    deadline=5.0,
    read_only=False,
    audience="host",
)
