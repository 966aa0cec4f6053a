"""Local long-term memory for OpenClaw agents and any MCP client: no LLM call, no network.

from openclaw_memory import Memory

with Memory(workspace="~/notes") as memory:
    memory.ingest()
    for hit in memory.search("which GPU do we have?").results:
        print(hit.citation, hit.snippet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

__all__ = [
    "Embedder",
    "Memory",
    "SearchHit",
    "SearchRequest",
    "SearchResult",
    "Section",
    "Settings",
    "Unit",
    "__version__",
    "hookimpl",
    "hookspec",
    "hookspecs",
]

if TYPE_CHECKING:
    from . import hookspecs
    from .config.settings import Settings
    from .hookspecs import hookimpl, hookspec
    from .memory import Memory
    from .model import SearchHit, SearchRequest, SearchResult, Section, Unit
    from .model.embedder import Embedder

_HOME = {
    "Embedder": "model.embedder",
    "Memory": "memory",
    "Settings": "config.settings",
    "hookimpl": "hookspecs",
    "hookspec": "hookspecs",
} | dict.fromkeys(("SearchHit", "SearchRequest", "SearchResult", "Section", "Unit"), "model")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``--help`` stays instant."""
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
