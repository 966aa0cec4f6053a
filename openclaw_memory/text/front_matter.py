"""Parse front matter: the data of a note about itself, in YAML, as Hugo has it in TOML too, or in JSON."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .. import patterns as re
from ..records import NamedTuple
from .characters import join_surrogates

if TYPE_CHECKING:
    import yaml

_MAX_LINES = 400
_MAX_CHARS = 16_000
#: Opening fences of front matter, and their closing ones.
_FENCES = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
#: Invisible characters at the beginning of a text.
_INVISIBLE = " \t\ufeff\u200b"
_KEY = re.compile(r"""(?P<name>[^\W_][\w .-]*|"[^"]*"|'[^']*')[ \t]*(?P<sign>[:=])(?P<apart>\s|$)?""")
#: Keys that lower the trust in a file, or keep it out; without a blank behind it such a key is still one.
_TRUST = ("origin", "memory", "private")
_NO_VALUES = "false|no|off|0"
_DUPLICATE_KEY = "a key stands twice; keep one of them"


class _Invalid(ValueError):
    """Valid YAML that is no data of a note; the message names the fault and the next step."""


class FrontMatter(NamedTuple):
    """Parsed front matter: its ``values`` as JSON has them, and the number of ``lines`` with the fences.

    ``lines`` is 0 where a file has none, or none with an end.  ``fault`` names a fault in it and, after a ``;``, the
    next step; ``values`` are then those of the keys that can be read.  Where an unreadable key may decide about trust,
    they hold ``origin: untrusted``, and ``memory: false`` if a line withholds the file.
    """

    values: dict[str, Any]
    lines: int = 0
    fault: str | None = None


def front_matter_end(lines: Sequence[str]) -> int:
    """Return the number of lines that the front matter takes, fences included; 0 without any, or without an end.

    Only blank lines stand before it, it is closed, and its first line is a key, so a note that merely begins with a
    rule is left alone.
    """
    fence, opening = _opening(lines)
    first = opening + (fence != "{")
    closes = (at + 1 for at in range(first, min(len(lines), opening + _MAX_LINES)) if _closes(lines[at], fence))
    return next(closes, 0) if fence else 0


def parse_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Parse the front matter of the file ``lines``."""
    fence, opening = _opening(lines)
    if not fence:
        return FrontMatter({})
    end = front_matter_end(lines)
    if not end:
        unended = f"no line '{_FENCES[fence][0]}' ends it within {_MAX_LINES} lines; write one below it"
        return FrontMatter(_untrusted_values(lines[opening:]), 0, unended)
    # The object in JSON stands between no lines of its own.
    inner = lines[opening:end] if fence == "{" else lines[opening + 1 : end - 1]
    values, fault = read_values(inner, fence, opening + 2)
    return FrontMatter(values, end, fault)


def read_values(lines: Sequence[str], fence: str = "---", first: int = 2) -> tuple[dict[str, Any], str | None]:
    """Read the mapping in ``lines``, the first of which has the number ``first``; return its values and the fault."""
    try:
        return _parse_mapping(lines, fence, first), None
    except _Invalid as refused:
        return _untrusted_values(lines) if fence == "{" else _parse_by_key(lines, fence), str(refused)


def withholds(front: Mapping[str, Any]) -> bool:
    """Return true if front matter keeps its file out: ``memory: false``, or ``private:`` with any value but a no."""
    stated = [(fold_key(key), fold_key(str(value))) for key, value in front.items() if value is not None]
    no = _NO_VALUES.split("|")
    return any(value in no if key == "memory" else key == "private" and value not in no for key, value in stated)


def _parse_by_key(lines: Sequence[str], fence: str) -> dict[str, Any]:
    """Read the keys of broken ``lines`` one by one; the value of a line that cannot be parsed is its text."""
    stated: dict[str, Any] = {}
    unread: list[str] = []
    left = _MAX_CHARS
    lines = textwrap.dedent("\n".join(lines).expandtabs(2)).split("\n")
    for first, last in key_groups(lines, 0, len(lines)):
        part = lines[first:last]
        fits = sum(map(len, part)) <= left
        left -= sum(map(len, part)) if fits else 0
        try:
            values = _parse_mapping(part, fence) if fits else {}
            unread += part if not fits and any(map(_names_trust, part)) else []
        except _Invalid:
            key = _KEY.match(part[0])
            value = join_surrogates(part[0][key.end() :]).strip(" \"'") if key else ""
            values = {key["name"].strip(" \"'"): value} if key and value else {}
            # A line that begins with a mark may be a key in a form that only YAML itself reads.
            plain = part[0][:1].isalnum() or (key is not None and "\\" not in key["name"])
            unread += part if not plain or any(map(_names_trust, part)) else []
        # A key that decides about trust may not stand twice.
        if any(fold_key(name) in _TRUST and fold_key(name) in map(fold_key, stated) for name in values):
            unread += part
        stated = values | stated
    return stated | (_untrusted_values(unread) if unread else {})


def _names_trust(line: str) -> bool:
    return fold_key(re.split("[:=]", line)[0]) in _TRUST


def _without_quotations(reason: str) -> str:
    """Return a parser's ``reason`` without the words of the note that it quotes: they may be secret or forgotten."""
    return re.sub(r"""\s\(?(['"])(?![<>])[^'"]{2,}\1,?\)?""", "", reason)


def _parse_mapping(lines: Sequence[str], fence: str = "---", first: int = 1) -> dict[str, Any]:
    """Parse the mapping in ``lines``, the first of which has the number ``first``.  Raises :class:`_Invalid`."""
    text = "\n".join(lines)
    if len(text) > _MAX_CHARS:
        raise _Invalid(f"more than {_MAX_CHARS} characters; put what is no data of the note below it")
    import tomllib

    import yaml

    data: Any
    try:
        if fence == "+++":
            data = tomllib.loads(text)
        elif fence == "{":
            data = json.loads(text.lstrip(_INVISIBLE), object_pairs_hook=_unique_keys)
        else:
            data = yaml.load(re.sub(r"(?im)^((?:origin|memory|private):)(?=\S)", r"\1 ", text), _loader())
        if data is not None and not isinstance(data, dict):
            raise _Invalid("no 'key: value'; write one a line")
        stated: dict[str, Any] = {} if data is None else _json_value(data, [2_000], 0)
        return stated
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {first + mark.line}" if mark else ""
        reason = _without_quotations(error.problem or error.context or "")
        raise _Invalid(f"not valid YAML{where} ({reason}); mend that line") from error
    except yaml.YAMLError as error:
        raise _Invalid("a character that YAML does not have; take it out") from error
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        language = "JSON" if fence == "{" else "TOML"
        raise _Invalid(f"not valid {language} ({_without_quotations(str(error))}); mend that line") from error
    except _Invalid:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Errors of PyYAML's constructors for "2026-02-30" or "!!int x", besides its own.
        raise _Invalid("a value that cannot be, such as the day 2026-02-30; mend it") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the mapping of ``pairs``, in which a key stands once."""
    if len(dict(pairs)) < len(pairs):
        raise _Invalid(_DUPLICATE_KEY)
    return dict(pairs)


@lru_cache(maxsize=1)
def _loader() -> type[yaml.SafeLoader]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Loads plain data of which a key stands once; merged mappings grow without a bound."""

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            """Refuse a mapping that says two things of one key."""
            keys = {str(key.value) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"}
            if len(keys) < len(node.value):
                raise _Invalid(_DUPLICATE_KEY)

    return Loader


def fold_key(word: str) -> str:
    """Return ``word`` without case, blanks, marks and invisible characters; for the words that decide about trust."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", word).casefold()))


def _opening(lines: Sequence[str]) -> tuple[str, int]:
    """Return the fence that opens front matter and the number of its line; an empty fence without any."""
    standing = ((at, line.strip(_INVISIBLE)) for at, line in enumerate(lines[:_MAX_LINES]) if line.strip(_INVISIBLE))
    opening, line = next(standing, (0, ""))
    fence = line[:1] if line[:1] == "{" else line.rstrip()
    if fence not in _FENCES:
        return "", 0
    inside = line[1:].lstrip() if fence == "{" else ""
    first = inside or next((text for _, text in standing if not text.startswith("#")), "")
    if fence == "{":
        return (fence, opening) if first[:1] in ('"', "}") else ("", 0)
    key = _KEY.match(first)
    if key is None:
        looks = first.rstrip() in _FENCES[fence] or (fence == "+++" and first.startswith("["))
    else:
        sure = key["sign"] == "=" if fence == "+++" else key["sign"] == ":" and key["apart"] is not None
        looks = sure or fold_key(key["name"]) in _TRUST
    return (fence, opening) if looks else ("", 0)


def _closes(line: str, fence: str) -> bool:
    # One object may stand on one line.
    return line.rstrip() in _FENCES[fence] or (fence == "{" and line.startswith("{") and line.rstrip().endswith("}"))


def _untrusted_values(lines: Sequence[str]) -> dict[str, Any]:
    withholding = rf"(?i)\W*(?:memory\W*[:=]\W*(?:{_NO_VALUES})|private\W*[:=]\W*(?:true|yes|on|1))\b"
    withheld = any(re.match(withholding, line) for line in lines)
    return {"origin": "untrusted"} | ({"memory": False} if withheld else {})


def key_groups(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Cut lines ``start..end`` (0-based, end exclusive) where a top-level key begins."""
    borders = [number for number in range(start, end) if lines[number][:1].strip() and lines[number][0] not in "-#]}"]
    borders = [start, *(number for number in borders if number > start), end]
    return [(first, last) for first, last in pairwise(borders) if first < last]


def _json_value(value: Any, left: list[int], depth: int) -> Any:
    # Aliases make a small text a huge tree, so values are counted as they are visited.
    left[0] -= 1
    if left[0] < 0 or depth > 20:
        raise _Invalid("more values than a note states about itself; put some of them below it")
    if isinstance(value, dict):
        return {
            str(_json_value(key, left, depth + 1)): _json_value(inner, left, depth + 1) for key, inner in value.items()
        }
    if isinstance(value, (list, tuple, set)):
        return [_json_value(inner, left, depth + 1) for inner in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, str):
        return join_surrogates(value).replace("\0", "")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    return str(value)
