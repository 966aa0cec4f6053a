"""Finding the agent's workspace, naming paths in it, and cutting lines out of a file."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from ..errors import WorkspaceError
from ..model import FileText
from .openclaw_home import OpenClawHome


def expanded(path: str | Path) -> Path:
    """``path`` with ``~`` replaced; unlike ``Path.expanduser`` it raises nothing for an unknown user."""
    return Path(os.path.expanduser(path))


def inside(workspace: Path, path: Path) -> str | None:
    """An absolute ``path`` as the index names it, ``""`` for the workspace itself; ``None`` outside.

    ``workspace`` is resolved.  Names below it are taken as they are written, as a scan does: only what
    leads to the workspace may be a link, such as ``/tmp`` on macOS.
    """
    path = Path(os.path.normpath(path))
    for folder in (path, *path.parents):
        if folder == workspace or folder.resolve() == workspace:
            below = path.relative_to(folder).as_posix()
            return "" if below == "." else below
    return None


def composed(path: str) -> str:
    """``path`` as two spellings of it are compared: a letter and its accent may be one character or two."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def looks_like_workspace(folder: Path) -> bool:
    """Whether a folder holds an agent's memory."""
    return (
        (folder / "MEMORY.md").is_file()
        or (folder / "USER.md").is_file()
        or any((folder / name).is_dir() for name in ("memory", "Memory"))
    )


def find_workspace(given: str | Path | None, environ: Mapping[str, str] | None = None, agent: str = "main") -> Path:
    """The workspace: as given, else the one that OpenClaw has for the agent, else this folder if it looks like one.

    Raises :class:`WorkspaceError` when there is none.
    """
    if given is not None and str(given):
        folder = expanded(given)
        if not folder.is_dir():
            what = "not a folder" if folder.exists() else "no such folder"
            raise WorkspaceError(f"{folder}: {what}; give the agent's workspace with --workspace")
        return folder.resolve()
    theirs = OpenClawHome.of(environ).workspace(agent)
    if theirs is not None and theirs.is_dir():
        return theirs.resolve()
    here = Path.cwd()
    if looks_like_workspace(here):
        return here
    looked = f" ({theirs} is not there)" if theirs else ""
    raise WorkspaceError(
        f"no workspace: OpenClaw has none here{looked} and this folder holds no MEMORY.md, USER.md or memory/; "
        "give one with --workspace DIR"
    )


def excerpt(path: str, text_lines: list[str], start: int | None, count: int | None, limit: int = 12_000) -> FileText:
    """Lines ``start``.. of a file, at most ``count`` lines and ``limit`` characters."""
    first = 1 if start is None else start
    if first > max(1, len(text_lines)):
        return FileText("error", path, error=f"there is no line {first}: the last one is {len(text_lines)}")
    wanted = text_lines[first - 1 :] if count is None else text_lines[first - 1 : first - 1 + count]
    kept: list[str] = []
    size = 0
    for line in wanted:
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
