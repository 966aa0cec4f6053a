"""Ingest when a session starts, maintain the index when the host is idle, and answer searches."""

from __future__ import annotations

from datetime import datetime

from ..hookspecs import MemoryApi, hookimpl
from ..model import ConsolidateReport, IngestReport, SearchRequest, SearchResult, Session


@hookimpl
def openclaw_memory_session_start(memory: MemoryApi, session: Session) -> IngestReport:
    """Bring the index up to date with the files."""
    return memory.ingest(deadline=session.deadline)


@hookimpl
def openclaw_memory_heartbeat(memory: MemoryApi, now: datetime) -> ConsolidateReport | bool:
    """Consolidate when that is due; else fold the postings' delta into their base when it has grown."""
    report = memory.consolidate_if_due(now)
    compacted = memory.maintain()
    return compacted if report is None else report


@hookimpl(trylast=True)
def openclaw_memory_search(memory: MemoryApi, request: SearchRequest) -> SearchResult:
    """Answer from the index."""
    return memory.search_index(request)
