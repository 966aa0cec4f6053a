"""Write hooks/tools.json: the tools that a model is offered, for OpenClaw's plugin.

python docs/reference.py

The command line's page is made by mkdocs-click when the site is built, the schema of answers by schema.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openclaw_memory.model import FactChanges, FactConflicts, FactsResult, FileText, RecallResult, SearchResult
from openclaw_memory.serve.registry import listed_tools

PLUGIN = Path(__file__).parent.parent / "hooks" / "tools.json"
#: Shape of OpenClaw in which the plugin returns a result; others are returned unchanged.
SHAPES: dict[Any, str] = {
    SearchResult: "hits",
    RecallResult: "hits",
    FactsResult | FactChanges | FactConflicts: "facts",
    FileText: "text",
}


def plugin_tools() -> str:
    """Return the tools for models as JSON, in the order of the registry."""
    tools = [
        {
            "name": tool.name,
            "label": tool.title,
            "description": tool.description,
            "hint": tool.hint,
            "parameters": {**tool.input_schema, "properties": {**tool.arguments, **tool.openclaw}},
            "result": SHAPES.get(tool.result, "report"),
            "deadlineMs": round(tool.deadline * 1000),
            "readOnly": tool.read_only,
            "idempotent": tool.idempotent,
            "asks": tool.reading_values,
        }
        for tool in listed_tools(for_host=False).values()
    ]
    return json.dumps(tools, indent=2) + "\n"


if __name__ == "__main__":
    PLUGIN.write_text(plugin_tools(), encoding="utf-8")
