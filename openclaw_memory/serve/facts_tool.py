"""``memory_facts``: asking for facts and stating them, in one tool."""

from __future__ import annotations

from ..model import FactsResult
from .tool import Call, Tool, day, text

_ASKING = ("subject", "predicate", "object", "asOf", "history")


def _run(call: Call) -> FactsResult:
    from ..errors import RequestError

    given = dict(call.arguments)
    action = given.pop("action")
    book = call.memory.facts
    if action == "query":
        if strange := [key for key in given if key not in _ASKING]:
            raise RequestError(f"memory_facts: query takes no {strange[0]!r}; valid are {', '.join(_ASKING)}")
        return book.query(as_of=given.pop("asOf", None), **given)
    return book.batch([{"action": action, **given}])


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
        "id": text("For update and remove: the id that a row shows."),
        "subject": text("Whom or what the fact is about: a name."),
        "predicate": text("The relation, such as 'lives in'."),
        "object": text("The value; in a query a part of it."),
        "source": text("Where it is written: a citation."),
        "since": day("From when it holds; default the day of its source."),
        "asOf": day("In a query: what held on this day."),
        "history": {"type": "boolean", "description": "In a query: also what no longer holds."},
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
