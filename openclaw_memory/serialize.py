"""The one place where dataclasses become the JSON of the contract."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

#: Left out when ``None``; every other field is always there.
_OPTIONAL = frozenset(
    {
        "vector_score", "text_score", "graph_score", "time_score", "why", "warning", "error", "next_from",
        "from_line", "lines", "fix", "http_usage",
    }
)  # fmt: skip
_NAMES = {"from_line": "from", "took_ms": "took_ms", "concepts_linked": "concepts_linked"}
#: Fields that hold records, whose keys are names of ours; the keys of any other mapping are data.
_RECORDS = frozenset({"http_usage"})
#: Left out unless true.
_FLAGS = frozenset({"truncated", "stale"})


def camel(name: str) -> str:
    """``start_line`` as ``startLine``; the few names of the contract that stay as they are."""
    if name in _NAMES:
        return _NAMES[name]
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def to_json(value: Any) -> Any:
    """A JSON-ready copy of dataclasses, enums, dates, paths, tuples and mappings."""
    if is_dataclass(value) and not isinstance(value, type):
        out = {}
        for f in fields(value):
            inner = getattr(value, f.name)
            if (inner is None and f.name in _OPTIONAL) or (inner is False and f.name in _FLAGS):
                continue
            if f.name == "skipped" and not inner:
                continue
            made = to_json(inner)
            out[camel(f.name)] = {camel(k): v for k, v in made.items()} if f.name in _RECORDS and made else made
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
    """``value`` as JSON text, on one line without ``indent``; lone surrogates come out escaped."""
    text = json.dumps(to_json(value), ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(to_json(value), ensure_ascii=True, indent=indent)
    return text
