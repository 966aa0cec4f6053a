"""Edit the configuration file of a host, and remember the original, so that uninstall restores it byte for byte.

One member of a JSON file is set or removed while every other byte of it stays as it is.  Comments and a comma behind
the last member, as editors allow them in their settings, stay too: Python's libraries for JSON with comments read it,
or write it without them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import patterns as re
from ..config.openclaw_home import read_text as read_text
from ..config.settings import data_dir
from ..errors import writing
from ..records import NamedTuple
from ..system import atomic
from ..system.yaml_edit import line_break
from . import HostError

#: The kind of an entry in an error message.
_KIND = "an object {…}"
_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT = re.compile(rf"{_STRING}|(?P<blank>//[^\r\n]*|/\*(?s:.*?)\*/)")
_LAST_COMMA = re.compile(rf"{_STRING}|(?P<blank>,)(?=[ \t\r\n]*+[}}\]])")


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
    with writing(file, HostError):
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
    with writing(_records_file(), HostError):
        atomic.write_bytes(_records_file(), json.dumps(records, indent=1).encode(), 0o600)


def _records_file() -> Path:
    return data_dir() / "setup-files.json"


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8")).hexdigest()


# -- one member of a JSON file -------------------------------------------------------------------------


class _Member(NamedTuple):
    """Position of a member in the text: its key begins at ``key``, its value spans ``value:end``."""

    key: int
    value: int
    end: int


def load(text: str, file: Path) -> dict[str, Any]:
    """Parse ``text``; raises :class:`HostError` that names the line unless it holds an object."""
    try:
        loaded = json.loads(_plain(text)) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise HostError(
            f"{file}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); mend it and try again"
        ) from error
    if not isinstance(loaded, dict):
        raise HostError(f"{file}: line 1: the top level must be an object {{…}}; mend it and try again")
    return loaded


def entry_in(text: str, file: Path, group: str, name: str) -> dict[str, Any] | None:
    """Return the object at ``group.name`` of the text, or ``None`` if it is missing."""
    return get_entry(load(text, file), group, name, file, _KIND)


def set_member(text: str, file: Path, group: str, name: str, value: dict[str, Any]) -> str:
    """Set ``group.name`` to ``value``; a new member comes first in its object."""
    before = entry_in(text, file, group, name)
    if before == value:
        return text
    if not text.strip():
        return json.dumps({group: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    expected = load(text, file)
    expected.setdefault(group, {})[name] = value
    root = _plain(text).index("{")
    groups = _members(text, root)
    if group not in groups:
        changed = _insert_first(text, root, group, {name: value})
    elif before is None:
        changed = _insert_first(text, groups[group].value, name, value)
    else:
        at = _members(text, groups[group].value)[name]
        changed = text[: at.value] + _dump(text, value, _indent(text, at.key)) + text[at.end :]
    return _verify(changed, expected, file)


def remove_member(text: str, file: Path, group: str, name: str) -> str:
    """Remove ``group.name``, and the ``group`` if nothing else is in it."""
    expected = load(text, file)
    if get_entry(expected, group, name, file, _KIND) is None:
        return text
    del expected[group][name]
    at = _members(text, _plain(text).index("{"))[group]
    if expected[group]:
        at = _members(text, at.value)[name]
    else:
        del expected[group]
    return _verify(_remove(text, at), expected, file)


def _plain(text: str) -> str:
    """Blank out comments and last commas; every other character keeps its place."""
    return _blank(_blank(text, _COMMENT), _LAST_COMMA)


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]) if match["blank"] else match[0], text)


def _members(text: str, start: int) -> dict[str, _Member]:
    """Return the members of the object at ``start``; of duplicates the last counts, as for every reader."""
    decoder, plain = json.JSONDecoder(), _plain(text)
    members = {}
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        name, end = decoder.raw_decode(plain, at)
        value = _skip(plain, _skip(plain, end) + 1)
        members[name] = _Member(at, value, decoder.raw_decode(plain, value)[1])
        at = _skip(plain, members[name].end)
        at = _skip(plain, at + 1) if plain[at] == "," else at
    return members


def _insert_first(text: str, start: int, name: str, value: dict[str, Any]) -> str:
    """Insert a member before those of the object at ``start``, on a line of its own if they are."""
    plain, end = _plain(text), line_break(text)
    first = _skip(plain, start + 1)
    head, tail = text[: start + 1], text[start + 1 :]
    if plain[first] == "}":
        outer = _indent(text, start)
        inner = outer + _step(text)
        close = "" if tail[: first - start - 1].strip() else f"{end}{outer}"
        tail = tail if close == "" else tail.lstrip(" \t\r\n")
        return f"{head}{end}{inner}{json.dumps(name)}: {_dump(text, value, inner)}{close}{tail}"
    if "\n" not in plain[start:first]:
        return f"{head}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}, {tail.lstrip(' ')}"
    inner = _indent(text, first)
    return f"{head}{end}{inner}{json.dumps(name)}: {_dump(text, value, inner)},{tail}"


def _remove(text: str, at: _Member) -> str:
    """Remove a member and one comma, but no comment."""
    uncommented = _blank(text, _COMMENT)
    head, tail = text[: at.key], text[at.end :]
    after, before = _skip(uncommented, at.end), len(uncommented[: at.key].rstrip()) - 1
    if uncommented[after] == ",":
        tail = text[at.end : after] + text[after + 1 :]
    elif uncommented[before] == ",":
        head = text[:before] + text[before + 1 : at.key]
    if tail.lstrip(" \t").startswith(("\n", "\r", "}")):
        return head.rstrip(" \t\r\n" if not head.rstrip(" \t").endswith("{") else " \t") + tail
    return head + tail.lstrip(" \t")


def _verify(changed: str, expected: dict[str, Any], file: Path) -> str:
    try:
        intact = json.loads(_plain(changed)) == expected
    except json.JSONDecodeError:
        intact = False
    if not intact:  # a duplicate key, for example
        raise HostError(f"{file}: cannot be changed without changing more than our entry; change it by hand")
    return changed


def _skip(text: str, at: int) -> int:
    """Return the end of the white space that begins at ``at``."""
    return len(text) - len(text[at:].lstrip(" \t\r\n"))


def _indent(text: str, at: int) -> str:
    """Return the white space at the beginning of the line of ``at``."""
    line = text[: at + 1].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return one level of indentation: that of the first indented line."""
    lines = (line[: len(line) - len(line.lstrip(" \t"))] for line in text.splitlines() if line.strip())
    return next(filter(None, lines), "  ")


def _dump(text: str, value: dict[str, Any], indent: str) -> str:
    dumped = json.dumps(value, indent=_step(text), ensure_ascii=False)
    return dumped.replace("\n", line_break(text) + indent)
