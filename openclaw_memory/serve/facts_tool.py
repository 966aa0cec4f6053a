"""``memory_facts``: asking for facts and stating them, in one tool."""

from __future__ import annotations

from typing import Any

from ..model import FactsResult
from .tool import Call, Tool, day, share, text, whole

_ASKING = ("subject", "predicate", "object", "asOf", "history", "limit", "explain")
_NAMES = {"asOf": "as_of"}

_PARTS = {
    "id": text("Which fact to update or remove: the id that a row shows."),
    "subject": text("Whom or what the fact is about: a name."),
    "predicate": text("The relation in a few words, such as 'lives in' or 'favourite colour'."),
    "object": text("The value; in a query, a part of it is enough."),
    "source": text("Where it is written, such as memory/2026-03-01.md#L3."),
    "confidence": share("How sure it is; 1 unless told."),
    "since": day("The day from which it holds; the day of its source, else today, unless told."),
    "until": day("The day on which it ends, if that is known."),
}


def _run(call: Call) -> FactsResult:
    from ..errors import RequestError

    given = dict(call.arguments)
    action = given.pop("action")
    book = call.memory.facts
    if action == "batch":
        operations = given.pop("operations", None)
        if operations is None or given:
            raise RequestError("memory_facts: batch takes operations and nothing else")
        return book.batch(operations)
    if action == "query":
        if strange := [key for key in given if key not in _ASKING]:
            raise RequestError(f"memory_facts: query takes no {strange[0]!r}; valid are {', '.join(_ASKING)}")
        return book.query(**{_NAMES.get(key, key): value for key, value in given.items()})
    return book.batch([{"action": action, **given}])


def _operation() -> dict[str, Any]:
    actions = {"type": "string", "enum": ["add", "update", "remove"], "description": "What to do."}
    return {
        "type": "object",
        "properties": {"action": actions, **_PARTS},
        "required": ["action"],
        "additionalProperties": False,
    }


FACTS = Tool(
    name="memory_facts",
    title="Know and state facts",
    description=(
        "Facts as subject, predicate and object, with the days on which they held. query: what is known about a name "
        "now, on a day (asOf), or ever (history). add: state a lasting fact that you learnt; of what has one value at "
        "a time (lives in, works at, timezone, status, version ...) it takes the place of the old value, which stays "
        "in the history. update and remove change one by its id: what is removed on the day on which it was "
        "stated, or before it has held for a day, is undone, and the value before holds again; later it ends today, "
        "and no other value comes back. batch makes several changes, all of them or none."
    ),
    arguments={
        "action": {"type": "string", "enum": ["query", "add", "update", "remove", "batch"],
                   "description": "What to do; add needs subject, predicate and object."},
        **_PARTS,
        "asOf": day("In a query: what held on this day."),
        "history": {"type": "boolean", "description": "In a query: also what no longer holds."},
        "explain": {"type": "boolean", "description": "In a query: say in one line why each fact is there."},
        "limit": whole("In a query: most rows to return.", 1, 1000),
        "operations": {"type": "array", "items": _operation(), "description": "For batch: the changes, in order."},
    },
    required=("action",),
    result=FactsResult,
    run=_run,
    deadline=15.0,
    read_only=False,
    idempotent=False,
    asks={"action": ("query",)},
    hint="For what is known about a name now, or was on a day, call memory_facts; when you learn a lasting fact, or "
    "that one changed, add it there.",
)  # fmt: skip
