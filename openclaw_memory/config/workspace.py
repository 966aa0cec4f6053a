"""Find the agent's workspace, convert paths to names in the index, and cut lines out of a file."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from ..errors import WorkspaceError
from ..model import FileText
from .openclaw_home import OpenClawHome


def expand_home(path: str | Path) -> Path:
    """Return ``path`` with ``~`` replaced; unlike ``Path.expanduser`` raise nothing for an unknown user."""
    return Path(os.path.expanduser(path))


def inside(workspace: Path, path: Path) -> str | None:
    """Return the name in the index of an absolute ``path``, ``""`` for the workspace itself; ``None`` outside.

    ``workspace`` is resolved.  As in a scan, only folders above the workspace may be links, such as ``/tmp`` on macOS.
    """
    path = Path(os.path.normpath(path))
    for folder in (path, *path.parents):
        if folder == workspace or folder.resolve() == workspace:
            below = path.relative_to(folder).as_posix()
            return "" if below == "." else below
    return None


def to_nfc(path: str) -> str:
    """Return ``path`` in NFC, to compare paths: file systems store a letter with its accent as one character or two."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def looks_like_workspace(folder: Path) -> bool:
    """Return true if a folder has an agent's memory files."""
    return (
        (folder / "MEMORY.md").is_file()
        or (folder / "USER.md").is_file()
        or any((folder / name).is_dir() for name in ("memory", "Memory"))
    )


def find_workspace(named: str | Path | None, environ: Mapping[str, str] | None = None, agent: str = "main") -> Path:
    """Return the ``named`` workspace, else OpenClaw's for the agent, else the current folder if it looks like one.

    Raises :class:`WorkspaceError` when there is none.
    """
    if named is not None and str(named):
        folder = expand_home(named)
        if not folder.is_dir():
            what = "not a folder" if folder.exists() else "no such folder"
            raise WorkspaceError(what, "give the agent's workspace with --workspace", folder)
        return folder.resolve()
    configured = OpenClawHome.for_environment(environ).workspace(agent)
    if configured is not None and configured.is_dir():
        return configured.resolve()
    current = Path.cwd()
    if looks_like_workspace(current):
        return current
    looked = f" ({configured} is not there)" if configured else ""
    raise WorkspaceError(
        f"no workspace: OpenClaw has none here{looked} and this folder holds no MEMORY.md, USER.md or memory/; "
        "give one with --workspace DIR"
    )


def excerpt(path: str, text_lines: list[str], start: int | None, count: int | None, limit: int = 12_000) -> FileText:
    """Return lines of a file from ``start`` on, at most ``count`` lines and ``limit`` characters."""
    first = 1 if start is None else start
    if first > max(1, len(text_lines)):
        return FileText("error", path, error=f"there is no line {first}: the last one is {len(text_lines)}")
    selected = text_lines[first - 1 :] if count is None else text_lines[first - 1 : first - 1 + count]
    kept: list[str] = []
    size = 0
    for line in selected:
        size += len(line) + 1
        if kept and size > limit:
            break
        kept.append(line)
    following = first + len(kept)
    return FileText(
        "ok",
        path,
        text="\n".join(kept),
        from_line=first,
        lines=len(kept),
        next_from=following if following <= len(text_lines) else None,
        truncated=following <= len(text_lines),
    )
