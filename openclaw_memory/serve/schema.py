"""Write the tools for OpenClaw's plugin: ``python -m openclaw_memory.serve.schema > hooks/tools.json``."""

from __future__ import annotations

import json
import sys
from typing import Any

from ..model import FactsResult, FileText, RecallResult, SearchResult
from .registry import listed_tools
from .tool import Tool

#: Shape of OpenClaw in which the plugin returns a result; others are returned unchanged.
_SHAPES: dict[type, str] = {SearchResult: "hits", RecallResult: "hits", FactsResult: "facts", FileText: "text"}


def text() -> str:
    """Return the tools for models as JSON, in the order of the registry."""
    return json.dumps([_describe(tool) for tool in listed_tools(for_host=False).values()], indent=2) + "\n"


def _describe(tool: Tool) -> dict[str, Any]:
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
        "asks": {name: list(values) for name, values in tool.reading_values.items()},
    }


if __name__ == "__main__":
    sys.stdout.write(text())
