"""What a file of a host was before setup changed it, so that it can be put back byte for byte."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..config.settings import data_dir
from ..system import atomic
from .change import writable


@dataclass(frozen=True, slots=True)
class Backup:
    """The text of a file, ``None`` for one that was not there, and the folders that were made for it.

    ``made`` is the SHA-256 of what setup wrote: nobody has changed the file as long as it has that.
    """

    text: str | None
    made: str
    folders: list[str]

    def is_of(self, text: str | None) -> bool:
        """Whether ``text`` is what setup wrote."""
        return self.made == _digest(text)


def kept(file: Path) -> Backup | None:
    """What ``file`` was before setup; ``None`` when that is not known."""
    try:
        return Backup(**_read()[_name(file)])
    except (KeyError, TypeError):
        return None


def keep(file: Path, before: str | None, after: str, new: bool) -> None:
    """Remember what ``file`` is ``before`` setup writes ``after``; where our entry is not ``new``, what it was once."""
    earlier = kept(file)
    if new:
        folders = [str(folder) for folder in file.resolve().parents if not folder.exists()]
        _write(file, Backup(before, _digest(after), folders))
    elif earlier is not None and earlier.is_of(before):
        _write(file, replace(earlier, made=_digest(after)))


def drop(file: Path) -> None:
    """Forget what ``file`` was."""
    if kept(file) is not None:
        _write(file, None)


def _write(file: Path, backup: Backup | None) -> None:
    backups = _read()
    backups.pop(_name(file), None)
    if backup is not None:
        backups[_name(file)] = asdict(backup)
    record = _record()
    with writable(record):
        atomic.swap(record, json.dumps(backups, indent=1).encode(), 0o600)


def _read() -> dict[str, Any]:
    try:
        backups = json.loads(_record().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return backups if isinstance(backups, dict) else {}


def _record() -> Path:
    return data_dir() / "setup-files.json"


def _name(file: Path) -> str:
    return str(file.resolve())


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8")).hexdigest()
