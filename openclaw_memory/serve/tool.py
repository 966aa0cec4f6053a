"""What a tool is, and the schemas that its arguments are made of."""

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
    """One call of a tool: whose memory, the checked arguments, and how long there is to answer."""

    memory: Memory
    arguments: Mapping[str, Any]
    until: Deadline
    progress: Progress


@dataclass(frozen=True)
class Tool:
    """A capability as every host sees it.

    ``arguments`` are JSON Schemas by name, ``result`` is the dataclass that ``run`` returns, ``deadline``
    the seconds it has unless the host says otherwise.  ``upkeep`` may take long and has threads of its
    own.  ``embeds`` may send text to an embedding endpoint where one is configured.  A tool for a ``client`` may be
    called by whoever knows of it and is not listed; one for a ``host`` only by a server that was started for a host.
    A ``destructive`` one may take away what was written before.
    ``hint`` tells a model when to call a tool of every day: it goes into the system prompt, and a host that lets the
    model look for tools shows this one at once.  ``asks`` names the values of arguments with which a tool that writes
    only reads.  ``host_arguments`` are accepted and not listed.
    ``openclaw`` are arguments that OpenClaw's own tool of this name has and that its plugin answers.
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
        """JSON Schema of the arguments of a model or a host."""
        schema = self.input_schema
        return {**schema, "properties": {**schema["properties"], **self.host_arguments}}

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments of a model."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }


def text(description: str) -> dict[str, Any]:
    """Schema of a text that is not empty."""
    return {"type": "string", "minLength": 1, "description": description}


def whole(description: str, minimum: int, maximum: int | None = None) -> dict[str, Any]:
    """Schema of a whole number within bounds."""
    bounds = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    return {"type": "integer", **bounds, "description": description}


def day(description: str) -> dict[str, Any]:
    """Schema of a day, ``YYYY-MM-DD``."""
    return {"type": "string", "format": "date", "description": description}


def share(description: str) -> dict[str, Any]:
    """Schema of a number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}
