"""The tools ``memory_capture`` for models, and ``memory_turn`` for hosts after a turn."""

from __future__ import annotations

from ..model import CaptureReport, Origin
from .tool import Call, Tool, text


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
    arguments={"text": text("What should be remembered, in plain sentences.")},
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
