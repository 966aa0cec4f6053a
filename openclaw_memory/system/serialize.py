"""Turn dataclasses into the JSON of the contract."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

from ..errors import substitute_command
from .sanitize import escape_json

#: Fields that are left out when ``None``; every other one is always present.
OPTIONAL = frozenset(
    {
        "vector_score", "text_score", "graph_score", "time_score", "why", "warning", "error", "next_from",
        "from_line", "lines", "fix", "http_usage", "context", "superseded_by",
        "recorded_at", "newer", "under", "memory", "evaluation", "comparison",
    }
)  # fmt: skip
_NAMES = {"from_line": "from", "took_ms": "took_ms", "concepts_linked": "concepts_linked"}
#: Fields that are left out unless true.
FLAGS = frozenset({"truncated", "stale", "unconfirmed"})
#: Fields that are left out when empty.
UNLESS_EMPTY = frozenset({"skipped", "superseded", "also", "corrected", "before"})
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
            if (inner is None and f.name in OPTIONAL) or (inner is False and f.name in FLAGS):
                continue
            if f.name in UNLESS_EMPTY and not inner:
                continue
            advice = f.name in _ADVICE and isinstance(inner, str)
            converted: Any = substitute_command(inner) if advice else to_json(inner)
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
