"""Where an index file lies by default."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ..settings import data_dir


def default_path(workspace: Path, agent: str) -> Path:
    """One file per agent and workspace in the data folder; the name tells a person which it is."""
    real = workspace.expanduser().resolve()
    digest = hashlib.sha256(str(real).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", real.name).strip("-")[:40] or "workspace"
    owner = re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip(".-") or "main"
    return data_dir() / owner / f"{readable}-{digest}.duckdb"
