"""What setup has made around our entry in a file of a host, so that it goes with the entry."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..config.settings import data_dir
from ..system import atomic
from .change import writable

_FILE = "setup-files.json"


@dataclass(frozen=True, slots=True)
class Made:
    """What was not there before: the file, the object or table that holds our entry, folders from the inside out."""

    file: bool = False
    group: bool = False
    folders: list[str] = field(default_factory=list)


def around(file: Path, group_there: bool) -> Made:
    """What writing our entry into ``file`` is going to make."""
    target = file.resolve()
    folders = [str(folder) for folder in target.parents if not folder.exists()]
    return Made(not target.exists(), not group_there, folders)


def recall(file: Path) -> Made:
    """What was made around the entry in ``file``; nothing when that is not known."""
    try:
        return Made(**_read()[str(file.resolve())])
    except (KeyError, TypeError):
        return Made()


def remember(file: Path, made: Made | None) -> None:
    """Write it down, or forget it."""
    known = _read()
    known.pop(str(file.resolve()), None)
    if made is not None:
        known[str(file.resolve())] = asdict(made)
    record = data_dir() / _FILE
    with writable(record):
        atomic.swap(record, json.dumps(known, indent=1).encode(), 0o600)


def _read() -> dict[str, Any]:
    try:
        known = json.loads((data_dir() / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
