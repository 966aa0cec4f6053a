"""Check the arguments of a call against a tool's input schema."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from datetime import date
from typing import Any

from ..errors import RequestError
from ..model.bounds import number, shown

Schema = Mapping[str, Any]


def check_arguments(name: str, schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as Python values: days as ``date``, whole numbers as ``int``, without ``null``.

    ``schema`` is an object of strings, numbers, booleans, days, objects and lists of them; within an inner object
    ``null`` is a value.  Raises :class:`RequestError` naming the tool, the argument and its valid values.
    """
    present = {key: value for key, value in arguments.items() if value is not None or key not in schema["properties"]}
    return _object(name, f"{name}: ", schema, present)


def _object(where: str, prefix: str, schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema["properties"]
    for key in value:
        if key not in properties:
            near = difflib.get_close_matches(str(key), properties, n=1, cutoff=0.5)
            valid = ", ".join(properties)
            hint = f"did you mean '{near[0]}'?" if near else f"valid are {valid}" if valid else "it takes none"
            raise RequestError(f"{where}: there is no argument {shown(key)}", hint)
    out = {key: _value(f"{prefix}{key}", properties[key], inner) for key, inner in value.items()}
    for key in schema["required"]:
        if key not in out:
            raise RequestError(f"{where}: {key} is missing", properties[key]["description"])
    return out


def _value(where: str, schema: Schema, value: Any) -> Any:
    if "enum" in schema:
        if value not in schema["enum"] or not isinstance(value, str):
            raise RequestError(f"{where} must be one of {', '.join(schema['enum'])}, not {shown(value)}")
        return value
    match schema["type"]:
        case "string":
            if not isinstance(value, str):
                raise RequestError(f"{where} must be text, not {shown(value)}")
            if schema.get("format") == "date":
                return _day(where, value)
            if len(value.strip()) < schema.get("minLength", 0):
                raise RequestError(f"{where} is empty")
            return value
        case "boolean":
            if not isinstance(value, bool):
                raise RequestError(f"{where} must be true or false, not {shown(value)}")
            return value
        case "array":
            if not isinstance(value, list):
                raise RequestError(f"{where} must be a list, not {shown(value)}")
            return [_value(f"{where}[{at}]", schema["items"], item) for at, item in enumerate(value)]
        case "object":
            if not isinstance(value, dict):
                raise RequestError(f"{where} must be an object, not {shown(value)}")
            return _object(where, f"{where}.", schema, value)
        case kind:
            return number(where, value, schema.get("minimum"), schema.get("maximum"), whole=kind == "integer")


def _day(where: str, value: str) -> date:
    text = value.strip()
    try:
        return date.fromisoformat(text[:10] if len(text) > 10 and text[10] in "T " else text)
    except ValueError:
        raise RequestError(f"{where} must be a day such as 2026-02-13, not {shown(value)}") from None
