"""Read lines of a memory file by the path that a search result names."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import IngestSettings
from ..config.workspace import excerpt, inside
from ..model import FileText, SourceFile, bounds, parse_citation
from ..system.sanitize import sanitize_turns
from ..text.lines import split_lines
from .scan import Unreadable, max_bytes, read_note, scan

if TYPE_CHECKING:
    from .notes import Mask


def read_lines(
    workspace: Path,
    settings: IngestSettings,
    path: str,
    start: int | None = None,
    count: int | None = None,
    mask: Mask | None = None,
) -> FileText:
    """Return at most ``count`` lines from line ``start`` (1-based, default 1) of a file that a scan finds.

    A path may carry the lines of its citation (``memory/a.md#L3-L9``, ``memory/a.md:3-9``), which count unless
    ``start`` or ``count`` is given.  A file that the scan leaves out (ignored, hidden, outside the workspace) is
    ``not_found`` here too.  ``mask`` takes out what nobody may read.
    """
    if (start is not None and start < 1) or (count is not None and count < 1):
        return FileText("error", path, error="line numbers and counts start at 1")
    if len(path) > bounds.LONGEST_NAME:
        return FileText("error", f"{path[:60]}...", error=f"a path has at most {bounds.LONGEST_NAME} characters")
    files = scan(workspace, settings).files
    file = _find(files, workspace, path)
    if file is None and (place := parse_citation(path)) is not None:
        file = _find(files, workspace, place[0])
        if start is None and count is None:
            start = max(1, place[1])
            count = max(1, place[2] - start + 1)
    if file is None:
        near = _nearest([file.path for file in files], path)
        return FileText("not_found", path, error=f"did you mean {', '.join(near)}?" if near else None)
    try:
        text, _ = read_note(file, max_bytes(settings))
    except Unreadable as problem:
        return FileText("error", file.path, error=problem.reason)
    return excerpt(file.path, split_lines(text if mask is None else mask(file.path, text)), start, count)


def _nearest(paths: Sequence[str], path: str) -> tuple[str, ...]:
    """Return the three paths most like ``path``, whose name counts as much as the whole."""
    from difflib import get_close_matches

    place = parse_citation(path)
    stem = os.path.splitext(path if place is None else place[0])[0].casefold()
    by_key: dict[str, list[str]] = {}
    for other in paths:
        whole = os.path.splitext(other)[0].casefold()
        for key in dict.fromkeys((whole, os.path.basename(whole))):
            by_key.setdefault(key, []).append(other)
    near = [key for name in dict.fromkeys((stem, os.path.basename(stem))) for key in get_close_matches(name, by_key)]
    return tuple(dict.fromkeys(other for key in near for other in by_key[key]))[:3]


def _find(files: Sequence[SourceFile], workspace: Path, path: str) -> SourceFile | None:
    """Return the file that ``path`` names: literally, else absolute, from Windows, or composed another way."""
    if "\0" in path:
        return None
    by_path = {file.path: file for file in files}
    bare = path.strip().removeprefix("./")
    names = [path, bare]
    if os.path.isabs(bare):
        names.append(inside(workspace, Path(bare)) or "")
    names.append(bare.replace("\\", "/").removeprefix("./"))
    for name in names:
        if name in by_path:
            return by_path[name]
    # Shown names lack hidden characters and beginnings of turns.
    composed = sanitize_turns(unicodedata.normalize("NFC", names[-1]))
    same = [file for file in files if sanitize_turns(unicodedata.normalize("NFC", file.path)) == composed]
    return same[0] if len(same) == 1 else None
