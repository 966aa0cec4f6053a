"""Tools of the server, the schemas of their arguments, and checks against these."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal

from ..errors import RequestError
from ..model import Progress
from ..model.bounds import check_number, shorten
from ..records import dataclass
from ..system.deadline import Deadline

if TYPE_CHECKING:
    from ..memory import Memory


Schema = Mapping[str, Any]
#: Python's types of JSON's, and their names in messages.
_TYPES: dict[str, tuple[type[Any], str]] = {
    "string": (str, "text"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
}


@dataclass(frozen=True)
class Call:
    """A call of a tool: the memory, the checked arguments, the deadline, and a callback for progress."""

    memory: Memory
    arguments: Mapping[str, Any]
    until: Deadline
    progress: Progress


@dataclass(frozen=True)
class Tool:
    """A capability of the server.

    ``arguments`` are JSON Schemas by name, ``result`` is the dataclass, or one of those, that ``run`` returns,
    ``deadline`` the default in seconds.  A ``long_running`` tool has threads of its own, so that it delays no
    answer.  One that ``embeds`` may send text to a configured embedding endpoint.  The ``audience`` ``client`` may
    call it though it is not listed; ``app`` has it listed if it shows pages (MCP Apps); ``host`` needs a server that
    was started for a host.  A ``destructive`` tool may remove text.  ``hint`` tells a model when to call it, in
    the system prompt.  ``reading_values`` names the values of arguments with which a writing tool only reads.
    ``host_arguments`` are accepted and not listed.
    ``openclaw`` are arguments of OpenClaw's tool of the same name that its plugin handles.
    """

    name: str
    title: str
    description: str
    result: type | UnionType
    run: Callable[[Call], Any]
    deadline: float
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    read_only: bool = True
    idempotent: bool = True
    destructive: bool = False
    embeds: bool = False
    long_running: bool = False
    audience: Literal["model", "app", "client", "host"] = "model"
    reading_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    hint: str = ""
    host_arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    openclaw: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def accepted_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of a model or a host."""
        schema = self.input_schema
        return {**schema, "properties": {**schema["properties"], **self.host_arguments}}

    @property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of a model."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }


def text_schema(description: str) -> dict[str, Any]:
    """Return the schema of a text that is not empty."""
    return {"type": "string", "minLength": 1, "description": description}


def integer_schema(description: str, minimum: int, maximum: int | None = None) -> dict[str, Any]:
    """Return the schema of a whole number within bounds."""
    bounds = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    return {"type": "integer", **bounds, "description": description}


def day_schema(description: str) -> dict[str, Any]:
    """Return the schema of a day, ``YYYY-MM-DD``."""
    return {"type": "string", "format": "date", "description": description}


def fraction_schema(description: str) -> dict[str, Any]:
    """Return the schema of a number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def check_arguments(name: str, schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as Python values: days as ``date``, whole numbers as ``int``, without ``null``.

    ``schema`` is an object of strings, numbers, booleans, days, objects and lists of them; within an inner object
    ``null`` is a value.  Raises :class:`RequestError` naming the tool, the argument and its valid values.
    """
    present = {key: value for key, value in arguments.items() if value is not None or key not in schema["properties"]}
    return _object(name, f"{name}: ", schema, present)


def _object(where: str, prefix: str, schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema["properties"]
    for key in value:
        if key not in properties:
            near = difflib.get_close_matches(str(key), properties, n=1, cutoff=0.5)
            valid = ", ".join(properties)
            hint = f"did you mean '{near[0]}'?" if near else f"valid are {valid}" if valid else "it takes none"
            raise RequestError(f"{where}: there is no argument {shorten(key)}", hint)
    out = {key: _value(f"{prefix}{key}", properties[key], inner) for key, inner in value.items()}
    for key in schema["required"]:
        if key not in out:
            raise RequestError(f"{where}: {key} is missing", properties[key]["description"])
    return out


def _value(where: str, schema: Schema, value: Any) -> Any:
    if "enum" in schema:
        if value not in schema["enum"] or not isinstance(value, str):
            raise RequestError(f"{where} must be one of {', '.join(schema['enum'])}, not {shorten(value)}")
        return value
    kind = schema["type"]
    if kind in ("integer", "number"):
        return check_number(where, value, schema.get("minimum"), schema.get("maximum"), whole=kind == "integer")
    python_type, noun = _TYPES[kind]
    if not isinstance(value, python_type):
        raise RequestError(f"{where} must be {noun}, not {shorten(value)}")
    if kind == "array":
        return [_value(f"{where}[{at}]", schema["items"], item) for at, item in enumerate(value)]
    if kind == "object":
        return _object(where, f"{where}.", schema, value)
    if schema.get("format") == "date":
        return _day(where, value)
    if kind == "string" and len(value.strip()) < schema.get("minLength", 0):
        raise RequestError(f"{where} is empty")
    return value


def _day(where: str, value: str) -> date:
    text = value.strip()
    try:
        return date.fromisoformat(text[:10] if len(text) > 10 and text[10] in "T " else text)
    except ValueError:
        raise RequestError(f"{where} must be a day such as 2026-02-13, not {shorten(value)}") from None
