"""The registry as OpenClaw's plugin reads it: ``python -m openclaw_memory.serve.schema > hooks/tools.json``."""

from __future__ import annotations

import json
import sys
from typing import Any

from ..model import FactsResult, FileText, RecallResult, SearchResult
from .registry import offered
from .tool import Tool

#: In which shape of OpenClaw's the plugin gives a result; any other is given as it is.
_SHAPES: dict[type, str] = {SearchResult: "hits", RecallResult: "hits", FactsResult: "facts", FileText: "text"}


def text() -> str:
    """The tools for models as JSON, in the order of the registry; the same registry makes the same bytes."""
    return json.dumps([_described(tool) for tool in offered(for_host=False).values()], indent=2) + "\n"


def _described(tool: Tool) -> dict[str, Any]:
    parameters = tool.input_schema
    return {
        "name": tool.name,
        "label": tool.title,
        "description": tool.description,
        "hint": tool.hint,
        "parameters": {**parameters, "properties": {**parameters["properties"], **tool.openclaw}},
        "result": _SHAPES.get(tool.result, "report"),
        "deadlineMs": round(tool.deadline * 1000),
        "readOnly": tool.read_only,
        "idempotent": tool.idempotent,
        "asks": {name: list(values) for name, values in tool.asks.items()},
    }


if __name__ == "__main__":
    sys.stdout.write(text())
