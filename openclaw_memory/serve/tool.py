"""Tools of the server, and the schemas of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..model import Progress
from ..system.deadline import Deadline

if TYPE_CHECKING:
    from ..memory import Memory


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

    ``arguments`` are JSON Schemas by name, ``result`` is the dataclass that ``run`` returns, ``deadline`` the default
    in seconds.  A tool with ``upkeep`` may take long and has separate threads.  One that ``embeds`` may send text to a
    configured embedding endpoint.  The ``audience`` ``client`` may call it though it is not listed; ``host`` needs a
    server that was started for a host.  A ``destructive`` tool may remove text.  ``hint`` tells a model when to call
    it, in the system prompt.  ``asks`` names the values of arguments with which a writing tool only reads.
    ``host_arguments`` are accepted and not listed.  ``openclaw`` are arguments of OpenClaw's tool of the same name that
    its plugin handles.
    """

    name: str
    title: str
    description: str
    result: type
    run: Callable[[Call], Any]
    deadline: float
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    read_only: bool = True
    idempotent: bool = True
    destructive: bool = False
    embeds: bool = False
    upkeep: bool = False
    audience: Literal["model", "client", "host"] = "model"
    asks: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
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


def text(description: str) -> dict[str, Any]:
    """Return the schema of a text that is not empty."""
    return {"type": "string", "minLength": 1, "description": description}


def whole(description: str, minimum: int, maximum: int | None = None) -> dict[str, Any]:
    """Return the schema of a whole number within bounds."""
    bounds = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    return {"type": "integer", **bounds, "description": description}


def day(description: str) -> dict[str, Any]:
    """Return the schema of a day, ``YYYY-MM-DD``."""
    return {"type": "string", "format": "date", "description": description}


def share(description: str) -> dict[str, Any]:
    """Return the schema of a number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}
