"""Setting and removing one member of a JSON file while every other byte of it stays as it is."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import HostError
from .change import member

#: What an entry is in this format.
KIND = "an object {…}"
_SPACE = re.compile(r"[ \t\r\n]*")


def load(text: str, file: Path) -> dict[str, Any]:
    """The object that ``text`` holds; raises :class:`HostError` that names the line when it holds none."""
    try:
        loaded = json.loads(text) if text.strip() else {}
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
    """``text`` with ``group.name`` set to ``value``; ``group`` is made when it is not there."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) == value:
        return text
    if not text.strip():
        return json.dumps({group: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    wanted = copy.deepcopy(tree)
    wanted.setdefault(group, {})[name] = value
    root = _Object.at(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    inner = root.find(group)
    if inner is None:
        changed = root.put(group, {name: value})
    else:
        changed = _Object.at(text, inner.value).put(name, value)
    return _checked(changed, wanted, file)


def remove_member(text: str, file: Path, group: str, name: str, with_group: bool = False) -> str:
    """``text`` without ``group.name``; an empty ``group`` goes only ``with_group``."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) is None:
        return text
    wanted = copy.deepcopy(tree)
    del wanted[group][name]
    root = _Object.at(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    inner = root.find(group)
    assert inner is not None
    if with_group and not wanted[group]:
        del wanted[group]
        return _checked(root.drop(group), wanted, file)
    return _checked(_Object.at(text, inner.value).drop(name), wanted, file)


def _checked(changed: str, wanted: dict[str, Any], file: Path) -> str:
    try:
        kept = json.loads(changed) == wanted
    except json.JSONDecodeError:
        kept = False
    if not kept:  # a key that is there twice, for example
        raise HostError(f"{file}: cannot be changed without changing more than our entry; change it by hand")
    return changed


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member lies in the text: its key begins at ``key``, its value spans ``value``..``end``."""

    name: str
    key: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in a valid JSON text, from its ``{`` at ``start`` to its ``}`` at ``close``."""

    text: str
    start: int
    close: int
    members: tuple[_Member, ...]

    @classmethod
    def at(cls, text: str, start: int) -> _Object:
        decoder = json.JSONDecoder()
        members = []
        position = _skip(text, start + 1)
        while text[position] != "}":
            key, after = decoder.raw_decode(text, position)
            value = _skip(text, _skip(text, after) + 1)  # behind the colon
            _, end = decoder.raw_decode(text, value)
            members.append(_Member(key, position, value, end))
            position = _skip(text, end)
            if text[position] == ",":
                position = _skip(text, position + 1)
        return cls(text, start, position, tuple(members))

    def find(self, name: str) -> _Member | None:
        # Of members of the same name the last one counts, as for every reader.
        return next((each for each in reversed(self.members) if each.name == name), None)

    def put(self, name: str, value: Any) -> str:
        text, newline = self.text, "\r\n" if "\r\n" in self.text else "\n"
        there = self.find(name)
        if there is not None:
            return text[: there.value] + self._dump(value, self._indent(there.key), newline) + text[there.end :]
        if not self.members:
            outer = self._indent(self.start)
            inner = outer + self._step()
            entry = f"{json.dumps(name)}: {self._dump(value, inner, newline)}"
            return f"{text[: self.start]}{{{newline}{inner}{entry}{newline}{outer}}}{text[self.close + 1 :]}"
        last = self.members[-1]
        inner = self._indent(last.key)
        # On a line of its own if the last one is.
        first = text[: last.key].rpartition("\n")[2].strip() == ""
        dumped = self._dump(value, inner, newline) if first else json.dumps(value, ensure_ascii=False)
        entry = f"{json.dumps(name)}: {dumped}"
        return f"{text[: last.end]},{newline + inner if first else ' '}{entry}{text[last.end :]}"

    def drop(self, name: str) -> str:
        there = self.find(name)
        assert there is not None
        number = self.members.index(there)
        if number:
            return self.text[: self.members[number - 1].end] + self.text[there.end :]
        if len(self.members) > 1:
            return self.text[: there.key] + self.text[self.members[1].key :]
        return f"{self.text[: self.start]}{{}}{self.text[self.close + 1 :]}"

    def _indent(self, position: int) -> str:
        """The white space at the beginning of the line of ``position``."""
        line = self.text[: position + 1].rpartition("\n")[2]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _step(self) -> str:
        """One level of indentation, as the file does it."""
        found = re.search(r'\{\r?\n([ \t]+)"', self.text)
        return found[1] if found else "  "

    def _dump(self, value: Any, indent: str, newline: str) -> str:
        dumped = json.dumps(value, indent=self._step(), ensure_ascii=False)
        return dumped.replace("\n", newline + indent)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()
