"""Default paths of index files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .openclaw_home import OpenClawHome
from .settings import data_dir
from .workspace import expand_home


def default_path(workspace: Path, agent: str, folder: str = "") -> Path:
    """Return the index file of an agent and workspace below :func:`index_folder`, with a readable name."""
    return index_folder(folder) / _owner(agent) / _name(workspace)


def index_files(workspace: Path, folder: str = "") -> list[Path]:
    """Return the index files of all agents of a workspace, also from before OpenClaw's plugin was installed."""
    roots = dict.fromkeys((index_folder(folder), data_dir()))
    return [root / agent / _name(workspace) for root in roots for agent in sorted(_list_names(root))]


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


def _list_names(folder: Path) -> set[str]:
    with suppress(OSError):
        return set(os.listdir(folder))
    return set()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
