"""The hooks of plugins.

A plugin is a module with functions of these names, marked ``@openclaw_memory.hookimpl``, and registered under the
entry-point group ``openclaw_memory``.  The built-in redaction registers the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from .config.settings import Settings
    from .model import (
        IngestReport,
        SearchHit,
        SearchRequest,
        SearchResult,
        Section,
        Session,
        Status,
        Unit,
    )
    from .model.embedder import Embedder

PROJECT = "openclaw_memory"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class MemoryApi(Protocol):
    """The part of :class:`openclaw_memory.Memory` that hooks may count on; they get the whole object."""

    agent: str
    workspace: Path

    def ingest(self, paths: Sequence[str] = (), *, deadline: float | None = None) -> IngestReport: ...
    def search_index(self, request: SearchRequest) -> SearchResult: ...
    def status(self) -> Status: ...


@hookspec
def openclaw_memory_session_start(memory: MemoryApi, session: Session) -> Any:
    """Run when a host session begins, before changed notes are read."""


@hookspec
def openclaw_memory_heartbeat(memory: MemoryApi, now: datetime) -> Any:
    """Run bounded maintenance while the host is idle, before ours."""


@hookspec(firstresult=True)
def openclaw_memory_search(memory: MemoryApi, request: SearchRequest) -> SearchResult | None:
    """Answer a search; the first result of a plugin is returned; without any the index answers."""


@hookspec
def openclaw_memory_register_embedders(
    register: Callable[[str, Callable[[Settings], Embedder]], None],
) -> None:
    """Register embedders: call ``register(name, factory)``; ``embedding.model: name`` selects one."""


@hookspec
def openclaw_memory_prepare_lines(path: str, lines: list[str]) -> list[str] | None:
    """Change a file's lines before they are parsed: return as many lines, or ``None``."""


@hookspec
def openclaw_memory_prepare_unit(unit: Unit) -> Unit | bool | None:
    """Change a unit before it is indexed: return another one, ``False`` to drop it, ``None`` to keep it."""


@hookspec
def openclaw_memory_chunk(path: str, section: Section) -> Sequence[Unit] | None:
    """Cut a section of the note ``path`` into other units, in order, each the text of its lines; ``None`` keeps them.

    It runs after ``prepare_lines`` and before ``prepare_unit``, and not on summaries.
    """


@hookspec
def openclaw_memory_rerank(query: str, hits: Sequence[SearchHit]) -> Sequence[SearchHit] | None:
    """Reorder or drop hits before they are returned; ``None`` leaves them.

    A thread of recall stays in order of time, and context has its own order: there hits can only be dropped.
    """
