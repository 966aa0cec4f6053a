"""Find the agent's workspace and its index files, convert paths to names in the index, and cut lines out of a file."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import WorkspaceError
from ..model import FileText
from .openclaw_home import OpenClawHome
from .settings import data_dir


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


def conversations_of(agent: str, workspace: Path) -> Path | None:
    """Return the folder of the conversations of OpenClaw's ``agent`` as notes; ``None`` where the workspace is not its.

    It may be missing.
    """
    home = OpenClawHome.for_environment()
    folder = home.workspace(agent)
    return home.conversations(agent) if folder is not None and folder.resolve() == workspace else None


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
    files, folders = ("MEMORY.md", "USER.md"), ("memory", "Memory")
    if any((current / name).is_file() for name in files) or any((current / name).is_dir() for name in folders):
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


# -- index files -------------------------------------------------------------------------------------


def default_path(workspace: Path, agent: str, folder: str = "") -> Path:
    """Return the index file of an agent and workspace below :func:`index_folder`, with a readable name."""
    return index_folder(folder) / _owner(agent) / _name(workspace)


def index_files(workspace: Path, folder: str = "") -> list[Path]:
    """Return the index files of all agents of a workspace, also from before OpenClaw's plugin was installed."""
    files: list[Path] = []
    for root in dict.fromkeys((index_folder(folder), data_dir())):
        with suppress(OSError):
            files += [root / agent / _name(workspace) for agent in sorted(os.listdir(root))]
    return files


def index_folder(folder: str = "", environ: Mapping[str, str] | None = None) -> Path:
    """Return ``folder``, else that of the OpenClaw plugin if it is installed, else the data folder."""
    if folder:
        return expand_home(folder).absolute()
    plugin = OpenClawHome.for_environment(environ).plugin_state
    return plugin / "index" if plugin.is_dir() else data_dir()


def _name(workspace: Path) -> str:
    real = workspace.expanduser().resolve()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", real.name).strip("-")[:40] or "workspace"
    return f"{readable}-{_digest(os.fsencode(real))}.duckdb"


def _owner(agent: str) -> str:
    """Return the folder name of an agent: its name, with a hash where another agent's folder may have the same."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip(".-") or "main"
    if (agent or "main") == readable.lower() and len(readable) <= 100:
        return readable
    return f"{readable[:40]}~{_digest(agent.encode('utf-8', 'surrogatepass'))}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
