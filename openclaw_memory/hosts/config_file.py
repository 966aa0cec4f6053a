"""Write the configuration file of a host, and remember the original, so that uninstall restores it byte for byte."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..config.openclaw_home import read_text as read_text
from ..config.settings import data_dir
from ..errors import next_step_for
from ..system import atomic
from . import HostError


@contextlib.contextmanager
def writable(file: Path, why: str = "") -> Iterator[None]:
    """Turn an ``OSError`` in the block into a :class:`HostError` about ``file``; ``why`` says what it prevents."""
    try:
        yield
    except OSError as error:
        step = next_step_for(error, "make its folder writable")
        raise HostError(f"{file}: cannot be written ({error.strerror or error}){why}; {step}") from error


def get_entry(tree: dict[str, Any], group: str, name: str, file: Path, kind: str) -> dict[str, Any] | None:
    """Return ``tree[group][name]``, ``None`` if missing; raises :class:`HostError` unless both are of the ``kind``."""
    inner = tree.get(group, {})
    entry = inner.get(name) if isinstance(inner, dict) else None
    for key, value in ((group, inner), (f"{group}.{name}", entry)):
        if value is not None and not isinstance(value, dict):
            raise HostError(f"{file}: {key} must be {kind}; mend it and try again")
    return entry


def write_change(file: Path, before: str | None, after: str | None, folders: Sequence[Path] = ()) -> None:
    """Replace the text ``before`` by ``after``; ``None`` stands for no file, and takes the empty ``folders`` along.

    Links are followed and the mode is kept.  Raises :class:`HostError` when the file has changed since it was read,
    or cannot be written.
    """
    if read_text(file) != before:
        raise HostError(f"{file}: it has changed meanwhile; run the command again")
    with writable(file):
        target = file.resolve()
        if after is not None:
            # New files are for their owner only: these hold commands that a host will run.
            atomic.write_bytes(target, after.encode("utf-8"), 0o600)
            return
        target.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for folder in folders:
                folder.rmdir()


def remember_original(file: Path, before: str | None, after: str, new: bool) -> None:
    """Record ``before`` as the original of ``file``, and the hash of ``after``, which setup writes now.

    Unless our entry is ``new`` the recorded original stays, if nobody else has changed the file since.
    """
    record = _read_records().get(str(file.resolve()))
    if new:
        folders = [str(folder) for folder in file.resolve().parents if not folder.exists()]
        _save_record(file, {"text": before, "made": _digest(after), "folders": folders})
    elif record is not None and record["made"] == _digest(before):
        _save_record(file, {**record, "made": _digest(after)})


def text_after_uninstall(
    file: Path, before: str | None, after: str, empty: bool
) -> tuple[str | None, tuple[Path, ...]]:
    """Return the text that uninstall leaves instead of ``before``, and the folders that go with the file.

    That is the original if nobody has changed the file since setup, else ``after``, the text without our entry;
    ``None`` if that is ``empty`` and setup made the file.
    """
    record = _read_records().get(str(file.resolve()))
    if record is None or after == (before or ""):
        return after, ()
    folders = tuple(map(Path, record["folders"]))
    if record["made"] == _digest(before):
        return record["text"], folders
    return None if record["text"] is None and empty else after, folders


def forget_original(file: Path) -> None:
    """Delete the record of ``file``."""
    if str(file.resolve()) in _read_records():
        _save_record(file, None)


def _read_records() -> dict[str, dict[str, Any]]:
    """Return the records by file: ``text`` before setup, SHA-256 of what setup ``made``, ``folders`` made for it."""
    try:
        records = json.loads(_records_file().read_text(encoding="utf-8"))
        return {file: record for file, record in records.items() if record.keys() == {"text", "made", "folders"}}
    except (OSError, ValueError, AttributeError):
        return {}


def _save_record(file: Path, record: dict[str, Any] | None) -> None:
    records = _read_records()
    records.pop(str(file.resolve()), None)
    if record is not None:
        records[str(file.resolve())] = record
    with writable(_records_file()):
        atomic.write_bytes(_records_file(), json.dumps(records, indent=1).encode(), 0o600)


def _records_file() -> Path:
    return data_dir() / "setup-files.json"


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8")).hexdigest()
