"""YAML front matter: the data a note states about itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any

_MAX_LINES = 400
_MAX_CHARS = 16_000
_MAX_VALUES = 2_000
_MAX_DEPTH = 20
_KEY = re.compile(r"""(?:[^\W_][\w .-]*|"[^"]*"|'[^']*')[ \t]*:(?:\s|$)""")
# What PyYAML's constructors raise for values such as "2026-02-30" or "!!int x", besides its own error.
_CONSTRUCTOR_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_TOO_MUCH = "more values than a note states about itself"


def front_matter_end(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, its two fences included; 0 when there is none.

    It starts on the first line, is closed, and its first line is a ``key:``, so a note that merely
    begins with a rule is left alone.
    """
    if not lines or lines[0].rstrip() != "---":
        return 0
    stated = False
    for number, line in enumerate(lines[1:_MAX_LINES], start=1):
        if line.rstrip() in ("---", "..."):
            return number + 1
        if not stated and line.strip() and not line.startswith("#"):
            if _KEY.match(line) is None:
                return 0
            stated = True
    return 0


def read_front_matter(lines: Sequence[str]) -> dict[str, Any]:
    """The mapping in ``lines`` (without fences), in values that JSON has; dates as ISO text.

    Broken YAML, anything but a mapping, and what is too large to be a note's own data give ``{}``.
    """
    text = "\n".join(lines)
    if len(text) > _MAX_CHARS:
        return {}
    import yaml

    try:
        data = yaml.safe_load(text)
        return _plain(data, [_MAX_VALUES], 0) if isinstance(data, dict) else {}
    except (yaml.YAMLError, *_CONSTRUCTOR_ERRORS):
        return {}


def groups(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Cut lines ``start..end`` (0-based, end exclusive) where a top-level key begins."""
    borders = [number for number in range(start, end) if lines[number][:1].strip() and lines[number][0] not in "-#]}"]
    borders = [start, *(number for number in borders if number > start), end]
    return [(first, last) for first, last in pairwise(borders) if first < last]


def _plain(value: Any, left: list[int], depth: int) -> Any:
    # Aliases make a small text a huge tree, so values are counted as they are visited.
    left[0] -= 1
    if left[0] < 0 or depth > _MAX_DEPTH:
        raise ValueError(_TOO_MUCH)
    if isinstance(value, dict):
        return {str(_plain(key, left, depth + 1)): _plain(inner, left, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(inner, left, depth + 1) for inner in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    return str(value)
