"""Setting and removing one member of a JSON file while every other byte of it stays as it is.

Comments and a comma behind the last member, as editors allow them in their settings, stay too: what Python has for JSON
with comments reads it, or writes it without them.
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from ..system.yaml_edit import line_break
from . import HostError
from .change import member

#: What an entry is in this format.
KIND = "an object {…}"
_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT = re.compile(rf"{_STRING}|(?P<gone>//[^\r\n]*|/\*(?s:.*?)\*/)")
_LAST_COMMA = re.compile(rf"{_STRING}|(?P<gone>,)(?=[ \t\r\n]*+[}}\]])")


class _Member(NamedTuple):
    """Where a member lies in the text: its key begins at ``key``, its value spans ``value``..``end``."""

    key: int
    value: int
    end: int


def load(text: str, file: Path) -> dict[str, Any]:
    """The object that ``text`` holds; raises :class:`HostError` that names the line when it holds none."""
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
    """The object at ``group.name`` of the text, or ``None`` when it is not there."""
    return member(load(text, file), group, name, file, KIND)


def set_member(text: str, file: Path, group: str, name: str, value: dict[str, Any]) -> str:
    """``text`` with ``group.name`` set to ``value``; what is new stands first in its object."""
    tree = load(text, file)
    before = member(tree, group, name, file, KIND)
    if before == value:
        return text
    if not text.strip():
        return json.dumps({group: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    wanted = copy.deepcopy(tree)
    wanted.setdefault(group, {})[name] = value
    root = _plain(text).index("{")
    groups = _members(text, root)
    if group not in groups:
        changed = _with_first(text, root, group, {name: value})
    elif before is None:
        changed = _with_first(text, groups[group].value, name, value)
    else:
        at = _members(text, groups[group].value)[name]
        changed = text[: at.value] + _dump(text, value, _indent(text, at.key)) + text[at.end :]
    return _checked(changed, wanted, file)


def remove_member(text: str, file: Path, group: str, name: str) -> str:
    """``text`` without ``group.name``, and without the ``group`` where nothing else is in it."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) is None:
        return text
    wanted = copy.deepcopy(tree)
    del wanted[group][name]
    at = _members(text, _plain(text).index("{"))[group]
    if wanted[group]:
        at = _members(text, at.value)[name]
    else:
        del wanted[group]
    return _checked(_without(text, at), wanted, file)


def _plain(text: str) -> str:
    """The JSON that ``text`` is without its comments and last commas; every other character keeps its place."""
    return _blank(_blank(text, _COMMENT), _LAST_COMMA)


def _blank(text: str, what: re.Pattern[str]) -> str:
    return what.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]) if match["gone"] else match[0], text)


def _members(text: str, start: int) -> dict[str, _Member]:
    """The members of the object that begins at ``start``; of those of one name the last counts, as for every reader."""
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


def _with_first(text: str, start: int, name: str, value: dict[str, Any]) -> str:
    """``text`` with a member before those of the object that begins at ``start``, on a line of its own if they are."""
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


def _without(text: str, at: _Member) -> str:
    """``text`` without a member and one comma; no comment goes with it."""
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


def _checked(changed: str, wanted: dict[str, Any], file: Path) -> str:
    try:
        kept = json.loads(_plain(changed)) == wanted
    except json.JSONDecodeError:
        kept = False
    if not kept:  # a key that is there twice, for example
        raise HostError(f"{file}: cannot be changed without changing more than our entry; change it by hand")
    return changed


def _skip(text: str, at: int) -> int:
    """Where the white space that begins at ``at`` ends."""
    return len(text) - len(text[at:].lstrip(" \t\r\n"))


def _indent(text: str, at: int) -> str:
    """The white space at the beginning of the line of ``at``."""
    line = text[: at + 1].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """One level of indentation: that of the first line which has any."""
    lines = (line[: len(line) - len(line.lstrip(" \t"))] for line in text.splitlines() if line.strip())
    return next(filter(None, lines), "  ")


def _dump(text: str, value: dict[str, Any], indent: str) -> str:
    dumped = json.dumps(value, indent=_step(text), ensure_ascii=False)
    return dumped.replace("\n", line_break(text) + indent)
