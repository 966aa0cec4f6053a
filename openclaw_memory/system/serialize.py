"""Turn dataclasses into the JSON of the contract, and their types into its JSON Schema."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import substitute_command
from .sanitize import escape_json

#: Fields that are left out when ``None``; every other one is always present.
_OPTIONAL = frozenset(
    {
        "vector_score", "text_score", "graph_score", "time_score", "why", "warning", "error", "next_from",
        "from_line", "lines", "fix", "http_usage", "context", "superseded_by",
        "recorded_at", "newer", "under", "memory",
    }
)  # fmt: skip
_NAMES = {"from_line": "from", "took_ms": "took_ms", "concepts_linked": "concepts_linked"}
#: Fields that are left out unless true.
_FLAGS = frozenset({"truncated", "stale"})
#: Fields that are left out when empty.
_UNLESS_EMPTY = frozenset({"skipped", "superseded", "also", "corrected"})
#: Fields with advice, in which the program's name is replaced by the command that the host uses.
_ADVICE = frozenset({"warning", "fallback", "error", "detail", "fix"})


def camel(name: str) -> str:
    """Turn ``start_line`` into ``startLine``, except for a few names of the contract."""
    if name in _NAMES:
        return _NAMES[name]
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def to_json(value: Any) -> Any:
    """Return a JSON-ready copy of dataclasses, enums, dates, paths, tuples and mappings."""
    if is_dataclass(value) and not isinstance(value, type):
        out = {}
        for f in fields(value):
            inner = getattr(value, f.name)
            if (inner is None and f.name in _OPTIONAL) or (inner is False and f.name in _FLAGS):
                continue
            if f.name in _UNLESS_EMPTY and not inner:
                continue
            converted: Any = (
                substitute_command(inner) if f.name in _ADVICE and isinstance(inner, str) else to_json(inner)
            )
            if f.name == "http_usage" and converted:  # its keys are names of ours; those of other mappings are data
                converted = {camel(k): v for k, v in converted.items()}
            out[camel(f.name)] = converted
        return out
    if isinstance(value, dict):
        return {str(key): to_json(v) for key, v in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value


def dumps(value: Any, indent: int | None = 2) -> str:
    """Return ``value`` as JSON text, on one line without ``indent``.

    Lone surrogates, and characters that a terminal obeys or hides, are escaped.
    """
    text = escape_json(json.dumps(to_json(value), ensure_ascii=False, indent=indent))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return escape_json(json.dumps(to_json(value), ensure_ascii=True, indent=indent))
    return text


def json_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the type ``kind`` as :func:`to_json` writes it, with finite numbers.

    Raises ``TypeError`` for a type that the contract does not use.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin in (Union, UnionType):
        return _either([json_schema(each) for each in arguments])
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (tuple, list, set, frozenset, Sequence):
        return {"type": "array", "items": json_schema(arguments[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": json_schema(arguments[1])}
    if isinstance(kind, type):
        if is_dataclass(kind):
            return _object_schema(kind)
        if issubclass(kind, Enum):
            return {"type": "string", "enum": [member.value for member in kind]}
        if issubclass(kind, date):
            return {"type": "string", "format": "date"}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
    raise TypeError(f"no JSON Schema for {kind!r}")


_PLAIN = {str: "string", Path: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


def _either(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine alternatives; plain types are written as a list, which every client understands."""
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _object_schema(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties, required = {}, []
    for f in fields(kind):
        hint = hints[f.name]
        if f.name in _OPTIONAL:  # left out rather than null
            present = tuple(each for each in get_args(hint) if each is not NoneType)
            hint = Union[present] if NoneType in get_args(hint) else hint  # noqa: UP007
        properties[camel(f.name)] = {"type": "boolean", "const": True} if f.name in _FLAGS else json_schema(hint)
        if f.name not in _OPTIONAL | _FLAGS | _UNLESS_EMPTY:
            required.append(camel(f.name))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
