"""Summaries for tests, written as consolidation writes them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from fakes import Notes

from openclaw_memory.ingest.summary_files import content_hash

#: A hash of nothing that is there.
UNKNOWN = "0" * 64


def sha256(notes: Notes, path: str) -> str:
    """Of a file as it is on disk now."""
    return hashlib.sha256((notes.root / path).read_bytes()).hexdigest()


def write_summary(
    notes: Notes,
    grain: str,
    period: str,
    body: str,
    sources: Sequence[str],
    day: str,
    *,
    origin: str = "agent",
    edited: bool = False,
) -> str:
    """Write a summary and return its path; notes among the ``sources`` are named as they are on disk now."""
    named = [f"{path} {sha256(notes, path)}" if "consolidated" not in path else path for path in sources]
    front = [
        f"grain: {grain}", f"period: {period}", f"date: {day}", f"origin: {origin}", "format: 1",
        f"digest: {UNKNOWN}", f"content: {UNKNOWN}", "sources:", *(f"  - {source}" for source in named),
    ]  # fmt: skip
    text = "---\n" + "\n".join(front) + "\n---\n" + body
    if not edited:
        text = text.replace(f"content: {UNKNOWN}", f"content: {content_hash(text)}")
    path = f"memory/consolidated/{grain}/{period}.md"
    notes.write(path, text)
    return path
