"""Setting and removing one member of a JSON file while every other byte of it stays as it is.

Comments and a comma behind the last member, as editors allow them in their settings, stay too.
"""

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
_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT = re.compile(rf"{_STRING}|(?P<gone>//[^\r\n]*|/\*(?s:.*?)\*/)")
_LAST_COMMA = re.compile(rf"{_STRING}|(?P<gone>,)(?=[ \t\r\n]*+[}}\]])")


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


def _blank(text: str, what: re.Pattern[str]) -> str:
    """``text`` with spaces in the place of what is found, so that places stay."""
    return what.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]) if match["gone"] else match[0], text)


def _plain(text: str) -> str:
    """The JSON that ``text`` is without its comments and last commas."""
    return _blank(_blank(text, _COMMENT), _LAST_COMMA)


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
    root = _Object.at(text, _skip(_plain(text), 0))
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
    root = _Object.at(text, _skip(_plain(text), 0))
    inner = root.find(group)
    assert inner is not None
    if with_group and not wanted[group]:
        del wanted[group]
        return _checked(root.drop(group), wanted, file)
    return _checked(_Object.at(text, inner.value).drop(name), wanted, file)


def _checked(changed: str, wanted: dict[str, Any], file: Path) -> str:
    try:
        kept = json.loads(_plain(changed)) == wanted
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
    """An object in a JSON text with or without comments, from its ``{`` at ``start`` to its ``}`` at ``close``."""

    text: str
    start: int
    close: int
    members: tuple[_Member, ...]

    @classmethod
    def at(cls, whole: str, start: int) -> _Object:
        decoder, text = json.JSONDecoder(), _plain(whole)
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
        return cls(whole, start, position, tuple(members))

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
            if said := text[self.start + 1 : self.close].rstrip():
                return f"{text[: self.start + 1]}{said}{newline}{inner}{entry}{newline}{outer}{text[self.close :]}"
            return f"{text[: self.start]}{{{newline}{inner}{entry}{newline}{outer}}}{text[self.close + 1 :]}"
        last = self.members[-1]
        inner = self._indent(last.key)
        # On a line of its own if the last one is.
        said = text[last.end : self.close].rstrip()  # comments, or a last comma
        first = said != "" or text[: last.key].rpartition("\n")[2].strip() == ""
        dumped = self._dump(value, inner, newline) if first else json.dumps(value, ensure_ascii=False)
        entry = f"{json.dumps(name)}: {dumped}"
        if said:
            comma = self._comma(last.end) is not None
            head = f"{text[: last.end]}{'' if comma else ','}{said}{newline}{inner}{entry}{',' if comma else ''}"
            return head + text[last.end + len(said) :]
        return f"{text[: last.end]},{newline + inner if first else ' '}{entry}{text[last.end :]}"

    def drop(self, name: str) -> str:
        there = self.find(name)
        assert there is not None
        number = self.members.index(there)
        if self.text != _plain(self.text):
            return self._drop_beside_comments(there, number)
        if number:
            return self.text[: self.members[number - 1].end] + self.text[there.end :]
        if len(self.members) > 1:
            return self.text[: there.key] + self.text[self.members[1].key :]
        return f"{self.text[: self.start]}{{}}{self.text[self.close + 1 :]}"

    def _drop_beside_comments(self, there: _Member, number: int) -> str:
        """The text without a member and one comma; the blank in front of it goes, and no comment."""
        after = self._comma(there.end)
        before = self._comma(self.members[number - 1].end) if number and after is None else None
        head, tail = self.text[: there.key], self.text[there.end :]
        if after is not None:
            tail = self.text[there.end : after] + self.text[after + 1 :]
        alone = tail.lstrip(" \t").startswith(("\n", "\r"))  # else what follows would stand in a comment
        head, tail = (head.rstrip(" \t\r\n"), tail) if alone else (head, tail.lstrip(" \t"))
        if before is not None:
            head = head[:before] + head[before + 1 :]
        return head + tail

    def _comma(self, end: int) -> int | None:
        """Where the comma behind a value that ends at ``end`` stands, if there is one."""
        blank = _blank(self.text, _COMMENT)
        at = _skip(blank, end)
        return at if blank[at] == "," else None

    def _indent(self, position: int) -> str:
        """The white space at the beginning of the line of ``position``."""
        line = self.text[: position + 1].rpartition("\n")[2]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _step(self) -> str:
        """One level of indentation, as the file does it."""
        found = re.search(r'\{(?:[ \t]*+\r?\n)++([ \t]++)"', _plain(self.text))
        return found[1] if found else "  "

    def _dump(self, value: Any, indent: str, newline: str) -> str:
        dumped = json.dumps(value, indent=self._step(), ensure_ascii=False)
        return dumped.replace("\n", newline + indent)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()
