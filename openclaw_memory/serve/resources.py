"""What a person picks in a client: notes and hits as resources, and prompts.

The URI of a resource is ``memory:///`` with the path of a note or a citation, such as
``memory:///memory/2026-03-01.md#L3-L5``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from mcp.types import (
    Annotations,
    ClientCapabilities,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ResourceLink,
    ResourceTemplate,
    TextContent,
)

from ..errors import RequestError
from .tool import Call, Tool, integer_schema

_SCHEME = "memory:///"
_MARKDOWN = "text/markdown"
#: Notes of one page of the list.
_PAGE = 500

TEMPLATE = ResourceTemplate(
    name="note",
    title="A note, or lines of it",
    uri_template=f"{_SCHEME}{{+citation}}",
    description="The path of a note, or a citation as hits have it: memory/2026-03-01.md#L3-L5.",
    mime_type=_MARKDOWN,
)


def link_hits(result: Mapping[str, Any]) -> list[ResourceLink]:
    """Return links to the hits of a tool's result, for the person rather than for the model, which has them in it."""
    return [
        ResourceLink(
            name=hit["citation"],
            uri=_SCHEME + quote(hit["path"]) + hit["citation"].removeprefix(hit["path"]),
            description=hit["heading"] or None,
            mime_type=_MARKDOWN,
            annotations=Annotations(audience=["user"]),
        )
        for hit in result.get("results", ())
    ]


def parse_uri(uri: str) -> str:
    """Return the path or citation of a resource; raises :class:`RequestError` for another URI."""
    path, mark, lines = uri.removeprefix(_SCHEME).partition("#")
    if not uri.startswith(_SCHEME) or not path:
        raise RequestError(f"{uri!r} is no note", f"resources are {TEMPLATE.uri_template}")
    return unquote(path) + mark + lines


def _list_notes(call: Call) -> dict[str, Any]:
    """Return a page of the notes, those changed last first, and the ``cursor`` of the next page."""
    start = call.arguments.get("cursor", 0)
    rows = sorted(call.memory.store.documents().by_path.values(), key=lambda row: (-row.mtime_ns, row.path))
    notes = [
        {"name": row.path, "uri": _SCHEME + quote(row.path), "mimeType": _MARKDOWN, "size": row.size}
        for row in rows[start : start + _PAGE]
    ]
    return {"resources": notes} | ({"nextCursor": str(start + _PAGE)} if len(rows) > start + _PAGE else {})


#: The list of notes, which runs as tools do and is none.
NOTES = Tool("resources/list", "Notes", "", dict, _list_notes, 15.0, {"cursor": integer_schema("Place.", 0)})


#: The map as a page for clients that show one: MCP Apps, 2026-01-26.
MAP, APPS, PAGE = "ui://openclaw-memory/map", "io.modelcontextprotocol/ui", "text/html;profile=mcp-app"


def shows_pages(capabilities: ClientCapabilities | None) -> bool:
    """Return true if a client shows pages."""
    extensions = (capabilities and capabilities.extensions) or {}
    return PAGE in extensions.get(APPS, {}).get("mimeTypes", ())


#: Prompts: title, argument, what it is, what stands in its place where it may be missing, and the text.
_PROMPTS = {
    "remember": (
        "Remember something", "text", "What should be remembered.", "",
        "Keep this in memory: one fact about a name that can change with memory_facts (action add), the rest with "
        "memory_capture. Then tell me what was kept and where.\n\n{}",
    ),
    "what_changed": (
        "What changed", "since", "A day; else a week ago.", "a week ago",
        "What has changed since {}? Ask memory_facts (action changes) for facts that were replaced, and "
        "memory_timeline for what was noted since. Tell me in a few lines, the newest first, with citations.",
    ),
}  # fmt: skip
PROMPTS = [
    Prompt(name=name, title=title, arguments=[PromptArgument(name=key, description=about, required=not otherwise)])
    for name, (title, key, about, otherwise, _) in _PROMPTS.items()
]


def write_prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Return the message of a prompt; raises :class:`RequestError` for an unknown one or a missing argument."""
    if name not in _PROMPTS:
        raise RequestError(f"there is no prompt {name}", f"there are {', '.join(_PROMPTS)}")
    _, key, about, otherwise, text = _PROMPTS[name]
    value = arguments.get(key, "").strip() or otherwise
    if not value:
        raise RequestError(f"{name}: {key} is missing", about)
    content = TextContent(type="text", text=text.format(value))
    return GetPromptResult(messages=[PromptMessage(role="user", content=content)])
