"""Set and remove one member of a JSON file while every other byte of it stays as it is.

Comments and a comma behind the last member, as editors allow them in their settings, stay too: Python's libraries for
JSON with comments read it, or write it without them.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, NamedTuple

from .. import patterns as re
from ..system.yaml_edit import line_break
from . import HostError
from .config_file import get_entry

#: The kind of an entry in an error message.
_KIND = "an object {…}"
_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT = re.compile(rf"{_STRING}|(?P<blank>//[^\r\n]*|/\*(?s:.*?)\*/)")
_LAST_COMMA = re.compile(rf"{_STRING}|(?P<blank>,)(?=[ \t\r\n]*+[}}\]])")


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
    tree = load(text, file)
    before = get_entry(tree, group, name, file, _KIND)
    if before == value:
        return text
    if not text.strip():
        return json.dumps({group: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    expected = copy.deepcopy(tree)
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
    tree = load(text, file)
    if get_entry(tree, group, name, file, _KIND) is None:
        return text
    expected = copy.deepcopy(tree)
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
