"""Reading lines of one memory file, by the path that a search result names."""

from __future__ import annotations

from pathlib import Path

from ..settings import IngestSettings
from ..types import FileText
from ..workspace import excerpt
from .lines import split_lines
from .scan import Unreadable, max_bytes, read_text, scan


def read_lines(
    workspace: Path, settings: IngestSettings, path: str, start: int | None = None, count: int | None = None
) -> FileText:
    """Lines ``start``.. (1-based, default 1) of a file that a scan finds, at most ``count`` of them.

    What the scan leaves out (ignored, hidden, outside the workspace) is ``not_found`` here too.
    """
    if (start is not None and start < 1) or (count is not None and count < 1):
        return FileText("error", path, error="line numbers and counts start at 1")
    wanted = path.strip().replace("\\", "/").removeprefix("./")
    inside = str(workspace).rstrip("/") + "/"
    wanted = wanted.removeprefix(inside)
    found = next((file for file in scan(workspace, settings).files if file.path == wanted), None)
    if found is None:
        return FileText("not_found", path)
    try:
        text = read_text(found, max_bytes(settings))
    except Unreadable as problem:
        return FileText("error", found.path, error=problem.reason)
    return excerpt(found.path, split_lines(text), start, count)
