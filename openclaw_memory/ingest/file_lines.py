"""Reading lines of one memory file, by the path that a search result names."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from ..config.settings import IngestSettings
from ..config.workspace import excerpt, inside
from ..model import FileText, SourceFile, bounds, cited
from ..system.inert import without_turns
from ..text.lines import split_lines
from .notes import Mask
from .scan import Unreadable, max_bytes, read_text, scan


def read_lines(
    workspace: Path,
    settings: IngestSettings,
    path: str,
    start: int | None = None,
    count: int | None = None,
    mask: Mask | None = None,
) -> FileText:
    """Lines ``start``.. (1-based, default 1) of a file that a scan finds, at most ``count`` of them.

    A path may carry the lines it is cited with (``memory/a.md#L3-L9``, ``memory/a.md:3-9``), which count
    unless ``start`` or ``count`` is given.  What the scan leaves out (ignored, hidden, outside the workspace)
    is ``not_found`` here too.  ``mask`` takes out what nobody may read.
    """
    if (start is not None and start < 1) or (count is not None and count < 1):
        return FileText("error", path, error="line numbers and counts start at 1")
    if len(path) > bounds.LONGEST_NAME:
        return FileText("error", f"{path[:60]}...", error=f"a path has at most {bounds.LONGEST_NAME} characters")
    files = scan(workspace, settings).files
    found = _find(files, workspace, path)
    if found is None and (place := cited(path)) is not None:
        found = _find(files, workspace, place[0])
        if start is None and count is None:
            start = max(1, place[1])
            count = max(1, place[2] - start + 1)
    if found is None:
        near = _nearest([file.path for file in files], path)
        return FileText("not_found", path, error=f"did you mean {', '.join(near)}?" if near else None)
    try:
        text = read_text(found, max_bytes(settings))
    except Unreadable as problem:
        return FileText("error", found.path, error=problem.reason)
    return excerpt(found.path, split_lines(text if mask is None else mask(found.path, text)), start, count)


def _nearest(paths: Sequence[str], path: str) -> tuple[str, ...]:
    """The paths that are most like ``path``, whose name counts as much as the whole."""
    place = cited(path)
    wanted = os.path.splitext(path if place is None else place[0])[0].casefold()
    named: dict[str, list[str]] = {}
    for one in paths:
        whole = os.path.splitext(one)[0].casefold()
        for key in dict.fromkeys((whole, os.path.basename(whole))):
            named.setdefault(key, []).append(one)
    near = [key for name in dict.fromkeys((wanted, os.path.basename(wanted))) for key in get_close_matches(name, named)]
    return tuple(dict.fromkeys(one for key in near for one in named[key]))[:3]


def _find(files: Sequence[SourceFile], workspace: Path, path: str) -> SourceFile | None:
    """The file that ``path`` names: as it is, else absolute, from Windows, or composed another way."""
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
    # As it was shown: what hides in a name, or begins a turn, is not.
    composed = without_turns(unicodedata.normalize("NFC", names[-1]))
    same = [file for file in files if without_turns(unicodedata.normalize("NFC", file.path)) == composed]
    return same[0] if len(same) == 1 else None
