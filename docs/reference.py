"""Write docs/tools.md and hooks/tools.json: the tools that a model is offered, for readers and for OpenClaw's plugin.

python docs/reference.py

The command line's page is made by mkdocs-click when the site is built, the schema of answers by schema.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openclaw_memory.model import FactChanges, FactConflicts, FactsResult, FileText, RecallResult, SearchResult
from openclaw_memory.serve.registry import listed_tools

OUT = Path(__file__).parent / "tools.md"
PLUGIN = Path(__file__).parent.parent / "hooks" / "tools.json"
#: Shape of OpenClaw in which the plugin returns a result; others are returned unchanged.
SHAPES: dict[Any, str] = {
    SearchResult: "hits",
    RecallResult: "hits",
    FactsResult | FactChanges | FactConflicts: "facts",
    FileText: "text",
}

_HEAD = """# Tools

What a model is offered, as `openclaw-memory serve` tells it; `python docs/reference.py` writes this page from the code.
How to use them: [MCP](mcp.md). What they answer is what a command prints with `--json`: [schema.json](schema.json).
Arguments in bold are required.
"""


def text() -> str:
    """The page of tools, in the order in which they are offered."""
    parts = [_HEAD]
    for tool in listed_tools(for_host=False).values():
        given = tool.input_schema
        mark = " *reads only*" if tool.read_only else " *may remove*" if tool.destructive else ""
        parts.append(f"\n## {tool.name}\n\n{_cell(tool.description)}{mark}\n")
        if given["properties"]:
            parts.append("\n| argument | type | meaning |\n|---|---|---|\n")
        for name, schema in given["properties"].items():
            named = f"**`{name}`**" if name in given.get("required", ()) else f"`{name}`"
            parts.append(f"| {named} | {_type(schema)} | {_cell(schema.get('description', ''))} |\n")
    return "".join(parts)


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return _cell(", ".join(f"`{one}`" for one in schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kinds = schema.get("type", "any")
    said = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    low, high = schema.get("minimum"), schema.get("maximum")
    return (
        f"{said}, {'' if low is None else low}–{'' if high is None else high}" if (low, high) != (None, None) else said
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


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
    OUT.write_text(text(), encoding="utf-8")
    PLUGIN.write_text(plugin_tools(), encoding="utf-8")
