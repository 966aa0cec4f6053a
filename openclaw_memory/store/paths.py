"""Where an index file lies by default."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from ..settings import APP, data_dir
from ..workspace import expanded, openclaw_state


def default_path(workspace: Path, agent: str, folder: str = "") -> Path:
    """One file per agent and workspace below :func:`index_folder`; the name tells a person which it is."""
    real = workspace.expanduser().resolve()
    digest = hashlib.sha256(str(real).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", real.name).strip("-")[:40] or "workspace"
    owner = re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip(".-") or "main"
    return index_folder(folder) / owner / f"{readable}-{digest}.duckdb"


def index_folder(folder: str = "", environ: Mapping[str, str] | None = None) -> Path:
    """The folder of the index files: as given, else that of the OpenClaw plugin if it is here, else the data folder."""
    if folder:
        return expanded(folder).absolute()
    plugin = openclaw_state(os.environ if environ is None else environ) / APP
    return plugin / "index" if plugin.is_dir() else data_dir()
