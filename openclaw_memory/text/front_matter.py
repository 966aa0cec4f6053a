"""YAML front matter: the data a note states about itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

_MAX_LINES = 400
_MAX_CHARS = 16_000
_KEY = re.compile(r"""(?:[^\W_][\w .-]*|"[^"]*"|'[^']*')[ \t]*:(?:\s|$)""")
_WITHHELD = re.compile(r"\W*memory\W*:\W*(?:false|no|off)\b", re.IGNORECASE)
# What PyYAML's constructors raise for values such as "2026-02-30" or "!!int x", besides its own error.
_CONSTRUCTOR_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_NOT_A_VALUE = "a value that cannot be, such as the day 2026-02-30; mend it"


class _Refused(ValueError):
    """Valid YAML that is no data of a note; the message says why and what to do."""


def front_matter_end(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, its two fences included; 0 when there is none, or none with an end.

    Only blank lines stand before it, it is closed, and its first line is a ``key:``, so a note that merely
    begins with a rule is left alone.
    """
    opening = _opening(lines)
    if opening is None:
        return 0
    return next((at + 1 for at in range(opening + 1, min(len(lines), opening + _MAX_LINES)) if _closes(lines[at])), 0)


def front_matter(lines: Sequence[str]) -> dict[str, Any]:
    """What the front matter of the file ``lines`` states, ``{}`` without any; as :func:`read_front_matter`."""
    opening = _opening(lines)
    if opening is None:
        return {}
    end = front_matter_end(lines)
    return read_front_matter(lines[opening + 1 : end - 1]) if end else _unread(lines[opening + 1 :])


def trouble(lines: Sequence[str]) -> str | None:
    """Why the front matter of the file ``lines`` cannot be read; what is wrong and, after a ``;``, what to do."""
    opening = _opening(lines)
    if opening is None:
        return None
    end = front_matter_end(lines)
    if not end:
        return f"no line '---' ends it within {_MAX_LINES} lines; write one below it"
    try:
        _stated(lines[opening + 1 : end - 1], opening + 2)
    except _Refused as refused:
        return str(refused)
    return None


def read_front_matter(lines: Sequence[str]) -> dict[str, Any]:
    """The mapping in ``lines`` (without fences), in values that JSON has; dates as ISO text.

    What cannot be read may have said anything of its file: of broken YAML, a key that stands twice, anything but a
    mapping, and what is too large to be a note's own data comes ``{"origin": "untrusted"}``, with ``memory: false``
    where a line says so.
    """
    try:
        return _stated(lines)
    except _Refused:
        return _unread(lines)


def _stated(lines: Sequence[str], first: int = 1) -> dict[str, Any]:
    """The mapping in ``lines``, the first of which has the number ``first``.  Raises :class:`_Refused`."""
    text = "\n".join(lines)
    if len(text) > _MAX_CHARS:
        raise _Refused(f"more than {_MAX_CHARS} characters; put what is no data of the note below it")
    import yaml

    try:
        data = yaml.load(text, _loader())
        if data is not None and not isinstance(data, dict):
            raise _Refused("no 'key: value'; write one a line")
        return {} if data is None else _plain(data, [2_000], 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {first + mark.line}" if mark else ""
        raise _Refused(f"not valid YAML{where} ({error.problem or error.context}); mend that line") from error
    except yaml.YAMLError as error:
        raise _Refused("a character that YAML does not have; take it out") from error
    except _CONSTRUCTOR_ERRORS as error:
        raise error if isinstance(error, _Refused) else _Refused(_NOT_A_VALUE) from error


@lru_cache(maxsize=1)
def _loader() -> type[yaml.SafeLoader]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Loads plain data of which a key stands once; merged mappings grow without a bound."""

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            """Refuse a mapping that says two things of one key."""
            keys = {str(key.value) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"}
            if len(keys) < len(node.value):
                raise _Refused("a key stands twice; keep one of them")

    return Loader


def bare(word: str) -> str:
    """``word`` without case, blanks, marks and what nobody sees; for the words that decide about trust."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", word).casefold()))


def _opening(lines: Sequence[str]) -> int | None:
    """The number of the line that opens front matter, if something looks like it."""
    said = ((at, line) for at, line in enumerate(lines[:_MAX_LINES]) if line.strip())
    opening, fence = next(said, (0, ""))
    if fence.strip() != "---":
        return None
    first = next((line for _, line in said if not line.lstrip().startswith("#")), "")
    return opening if _closes(first) or _KEY.match(first.lstrip()) else None


def _closes(line: str) -> bool:
    return line.rstrip() in ("---", "...")


def _unread(lines: Sequence[str]) -> dict[str, Any]:
    withheld = any(_WITHHELD.match(line) for line in lines)
    return {"origin": "untrusted"} | ({"memory": False} if withheld else {})


def groups(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Cut lines ``start..end`` (0-based, end exclusive) where a top-level key begins."""
    borders = [number for number in range(start, end) if lines[number][:1].strip() and lines[number][0] not in "-#]}"]
    borders = [start, *(number for number in borders if number > start), end]
    return [(first, last) for first, last in pairwise(borders) if first < last]


def _plain(value: Any, left: list[int], depth: int) -> Any:
    # Aliases make a small text a huge tree, so values are counted as they are visited.
    left[0] -= 1
    if left[0] < 0 or depth > 20:
        raise _Refused("more values than a note states about itself; put some of them below it")
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
