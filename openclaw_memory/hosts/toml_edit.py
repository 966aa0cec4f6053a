"""Setting and removing one table of a TOML file while every other byte of it stays as it is.

tomlkit keeps the layout too, but does not give the same bytes back after an entry was added and removed again.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from . import HostError
from .change import member

#: What an entry is in this format.
KIND = "a table"
_HEADER = re.compile(r"^[ \t]*\[{1,2}([^\[\]\r\n]*)\]{1,2}[ \t]*(?:#.*)?\r?$")


def load(text: str, file: Path) -> dict[str, Any]:
    """What ``text`` holds; raises :class:`HostError` that names the line when it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HostError(f"{file}: not valid TOML ({error}); mend it and try again") from error


def set_table(text: str, file: Path, group: str, name: str, values: dict[str, Any]) -> str:
    """``text`` with ``values`` in the table ``[group.name]``; its other keys and its own tables stay."""
    tree = load(text, file)
    before = member(tree, group, name, file, KIND) or {}
    if all(before.get(key) == value for key, value in values.items()):
        return text
    wanted = copy.deepcopy(tree)
    wanted.setdefault(group, {})[name] = {**before, **values}
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    found = _section(lines, [group, name]) if name in tree.get(group, {}) else None
    if found is None:
        body = [f"[{group}.{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items())]
        head = "" if not text else text if text.endswith("\n") else text + newline
        changed = head + (newline if head else "") + newline.join(body) + newline
    else:
        start, end = found
        below = {key for key, value in before.items() if isinstance(value, dict)}
        own = {key: value for key, value in {**before, **values}.items() if key not in below}
        end_of_line = "\r" if newline == "\r\n" else ""
        body = [lines[start], *(f"{_key(key)} = {_value(value)}{end_of_line}" for key, value in own.items())]
        changed = "\n".join([*lines[:start], *body, *lines[end:]])
    return _checked(changed, wanted, file, group, name)


def remove_table(text: str, file: Path, group: str, name: str) -> str:
    """``text`` without the table ``[group.name]`` and those below it."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) is None:
        return text
    wanted = copy.deepcopy(tree)
    del wanted[group][name]
    if not wanted[group]:
        del wanted[group]
    lines = text.split("\n")
    while (found := _section(lines, [group, name], below=True)) is not None:
        start, end = found
        if start and not lines[start - 1].strip():
            start -= 1
        del lines[start:end]
    changed = "\n".join(lines)
    if group in load(changed, file) and group not in wanted:
        wanted[group] = {}  # [group] has a header of its own
    return _checked(changed, wanted, file, group, name)


def _section(lines: list[str], path: list[str], below: bool = False) -> tuple[int, int] | None:
    """Lines ``start``..``end`` of a table: its header and its keys, without what stands before the next header."""
    start = None
    for number, line in enumerate(lines):
        header = _HEADER.match(line)
        if not header:
            continue
        if start is not None:
            return start, _trimmed(lines, start, number)
        parts = _key_parts(header[1])
        if parts == path or (below and parts[: len(path)] == path):
            start = number
    return None if start is None else (start, _trimmed(lines, start, len(lines)))


def _trimmed(lines: list[str], start: int, end: int) -> int:
    """``end`` without trailing blank lines and comments, which belong to what follows."""
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _key_parts(header: str) -> list[str]:
    try:
        tree: Any = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return []
    parts = []
    while tree:
        key = next(iter(tree))
        parts.append(key)
        tree = tree[key]
    return parts


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        # JSON's escapes are a part of TOML's; what JSON leaves as it is and TOML forbids is DEL alone.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    return str(value)


def _checked(changed: str, wanted: dict[str, Any], file: Path, group: str, name: str) -> str:
    try:
        kept = tomllib.loads(changed) == wanted
    except tomllib.TOMLDecodeError:
        kept = False
    if not kept:  # an inline table, or dotted keys elsewhere
        raise HostError(
            f"{file}: [{group}.{name}] is not written as a table of its own there, so changing it would change more; "
            "change it by hand"
        )
    return changed
