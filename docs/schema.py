"""Write docs/schema.json: the JSON Schema of what every command prints with --json, and of a failure.

python docs/schema.py

A schema is made of the dataclass that a command returns (``system/serialize.py``), or where a command puts a few
values together, of a shape: a dict of names (``name?`` may be missing) and types, or a list of one type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from openclaw_memory import model as of
from openclaw_memory.store.state.database import StateReport
from openclaw_memory.system.serialize import FLAGS, OPTIONAL, UNLESS_EMPTY, camel

OUT = Path(__file__).parent / "schema.json"

_ENTRIES = [{"name": str, "action": str, "to": str}]
#: What each command prints; a command that prints something else with an option has a list of alternatives.
ANSWERS: dict[str, Any] = {
    "error": {"error": {"message": str, "next": str | None}, "warning": str},
    "--version": {"name": str, "version": str, "build": str},
    "demo": {
        "workspace": str,
        "files": int,
        "searches": [{"query": str, "shows": str, "result": of.SearchResult}],
        "ingest": of.IngestReport,
        "reingest": of.IngestReport,
        "recall": {"query": str, "result": of.RecallResult},
    },
    "ingest": of.IngestReport,
    "ingest --all-agents": (
        {"agentId": str, "...": of.IngestReport},
        {"agentId": str, "ok": bool, "error": str},
    ),
    "search": of.SearchResult,
    "recall": of.RecallResult,
    "timeline": of.SearchResult,
    "get": (of.FileText, {"...": of.FileText, "error": {"message": str, "next": str | None}, "warning": str}),
    "open": {"path": str, "file": str, "line": int | None},
    "context": of.ContextResult,
    "map": of.MapReport,
    "concepts": of.ConceptsResult,
    "facts": of.FactsResult,
    "changes": of.FactChanges,
    "conflicts": of.FactConflicts,
    "capture": of.CaptureReport,
    "feedback": of.FeedbackReport,
    "forget": of.ForgetReport,
    "consolidate": of.ConsolidateReport,
    "evaluate": of.EvaluationReport,
    "status": of.Status,
    "doctor": {"ok": bool, "checks": [of.Check]},
    "sql": of.QueryResult,
    "export": of.ExportReport,
    "import": of.ImportReport,
    "state": StateReport,
    "backup": {"file": str, "bytes": int, "holds": [str], "warning": str | None},
    "restore": {"file": str, "dryRun": bool, "entries": _ENTRIES, "addresses": [str], "warning": str | None},
    "setup": {
        "host": str,
        "steps": [of.Check],
        "changes": [{"where": str, "lines": [str]}],
        "applied": bool,
        "next": str | None,
        "ingest?": [{"agent": str, "workspace": str, "report": of.IngestReport}],
        "search?": {"query": str, "agent": str, "result": of.SearchResult},
    },
    "setup --print": Mapping[str, Any],
    "config show": {"file": str, "settings": [{"key": str, "value": Any, "source": str, "help": str}]},
    "config set": {"file": str, "key": str, "value": Any, "inForce": Any, "source": str},
    "config unset": {"file": str, "key": str, "removed": bool, "inForce": Any, "source": str},
    "model list": {
        "models": [
            {
                "name": str, "title": str, "dimensions": int | None, "context": int | None, "download": int,
                "memory": int | None, "time": float | None, "recall": float | None, "retrieval": float | None,
                "retrievalBy": str | None, "needs": str | None, "licence": str, "verified": bool, "source": str,
                "multilingual": bool | None, "path": str | None,
                "inUse": bool,
            }
        ]
    },
    "model pull": {
        "name": str, "path": str, "size": int, "sha256": str, "sourceSha256": str, "verified": bool,
    },
    "model use": {
        "model": str, "before": str, "config": str, "present": bool, "evaluation": dict[str, Any] | None,
    },
}  # fmt: skip


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
        if f.name in OPTIONAL:  # left out rather than null
            present = tuple(each for each in get_args(hint) if each is not NoneType)
            hint = Union[present] if NoneType in get_args(hint) else hint  # noqa: UP007
        properties[camel(f.name)] = {"type": "boolean", "const": True} if f.name in FLAGS else json_schema(hint)
        if f.name not in OPTIONAL | FLAGS | UNLESS_EMPTY:
            required.append(camel(f.name))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schemas(closed: bool = False) -> dict[str, dict[str, Any]]:
    """The schema of every answer by command; ``closed`` ones refuse a field that they do not name."""
    found = {name: _schema(shape) for name, shape in ANSWERS.items()}
    return found if closed else {name: _open(schema) for name, schema in found.items()}


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(one) for one in shape]}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if not isinstance(shape, dict):
        return json_schema(shape)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, inner in shape.items():
        made = _schema(inner)
        if name == "...":  # the fields of another answer stand beside these
            properties |= made["properties"]
            required += made["required"]
            continue
        properties[name.removesuffix("?")] = made
        required += [] if name.endswith("?") else [name]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _open(schema: Any) -> Any:
    """The same for readers, who meet further fields in a later version."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _open(value) for key, value in schema.items() if not (key == "additionalProperties" and value is False)
    }


def text() -> str:
    """The file; the same code makes the same bytes."""
    said = "What openclaw-memory prints with --json: $defs has a schema a command. A later version may add fields."
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "openclaw-memory",
        "description": said,
        "$defs": schemas(),
    }
    return json.dumps(document, indent=1) + "\n"


if __name__ == "__main__":
    OUT.write_text(text(), encoding="utf-8")
