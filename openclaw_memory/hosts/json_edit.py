"""Setting and removing one member of a JSON file, which keeps its order, its indentation and its line ends."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..system.yaml_edit import line_break
from . import HostError
from .change import member

#: What an entry is in this format.
KIND = "an object {…}"


def load(text: str, file: Path) -> dict[str, Any]:
    """The object that ``text`` holds; raises :class:`HostError` that names the line when it holds none."""
    try:
        loaded = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise HostError(
            f"{file}: line {error.lineno}, column {error.colno}: not plain JSON ({error.msg}); mend it, or, where it "
            "has comments to keep, change it by hand: openclaw-memory setup --print shows the entry"
        ) from error
    if not isinstance(loaded, dict):
        raise HostError(f"{file}: line 1: the top level must be an object {{…}}; mend it and try again")
    return loaded


def entry_in(text: str, file: Path, group: str, name: str) -> dict[str, Any] | None:
    """The object at ``group.name`` of the text, or ``None`` when it is not there."""
    return member(load(text, file), group, name, file, KIND)


def set_member(text: str, file: Path, group: str, name: str, value: dict[str, Any]) -> str:
    """``text`` with ``group.name`` set to ``value``."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) == value:
        return text
    tree.setdefault(group, {})[name] = value
    return _written(tree, text)


def remove_member(text: str, file: Path, group: str, name: str) -> str:
    """``text`` without ``group.name``, and without the ``group`` where nothing else is in it."""
    tree = load(text, file)
    if member(tree, group, name, file, KIND) is None:
        return text
    del tree[group][name]
    if not tree[group]:
        del tree[group]
    return _written(tree, text)


def _written(tree: dict[str, Any], before: str) -> str:
    """The text of ``tree``, laid out as the one ``before``: by its first indentation, line ends and last line."""
    step = re.search(r"^[ \t]+(?=\S)", before, re.MULTILINE)
    text = json.dumps(tree, indent=step[0] if step else 2, ensure_ascii=False)
    return (text + ("\n" if not before or before.endswith("\n") else "")).replace("\n", line_break(before))
