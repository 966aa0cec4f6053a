"""What a batch of changes may say, checked before any of it is made."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from ..errors import RequestError
from ..knowledge.predicates import normalise
from ..model import Origin
from ..text.characters import whole

#: What the operations of a batch take, and which of it they need.
OPERATIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "add": (("subject", "predicate", "object", "source", "confidence", "since", "until", "origin"),
            ("subject", "predicate", "object")),
    "update": (("id", "object", "predicate", "confidence", "since"), ("id",)),
    "remove": (("id",), ("id",)),
}  # fmt: skip


def checked(given: Mapping[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Action and arguments of an operation, texts trimmed and days made dates."""
    action = str(given.get("action"))
    if action not in OPERATIONS:
        raise RequestError(f"{where}action must be one of {', '.join(OPERATIONS)}, not {given.get('action')!r}")
    known, needed = OPERATIONS[action]
    out: dict[str, Any] = {}
    for key, value in given.items():
        if key == "action" or value is None:
            continue
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(known)}"
            raise RequestError(f"{where}{action} takes no {key!r}; {hint}")
        out[key] = _argument(where, key, value)
    for key in needed:
        if key not in out:
            raise RequestError(f"{where}{action} needs {key!r}")
    return action, out


def _argument(where: str, key: str, value: Any) -> Any:
    if key in ("since", "until"):
        return _day(where, key, value)
    if key == "confidence":
        usable = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not usable or not 0 <= value <= 1:
            raise RequestError(f"{where}confidence must be a number from 0 to 1, not {value!r}")
        return float(value)
    if not isinstance(value, str):
        raise RequestError(f"{where}{key} must be text, not {value!r}")
    if key == "origin":
        if value not in set(Origin):
            raise RequestError(f"{where}origin must be one of {', '.join(Origin)}, not {value!r}")
        return Origin(value)
    # One line of Unicode text: what no file can hold is replaced as any editor does.
    text = " ".join(whole(value).split())
    if not text:
        raise RequestError(f"{where}{key} is empty")
    longest = 2000
    if len(text) > longest:
        raise RequestError(f"{where}{key} has {len(text)} characters; a fact is short, at most {longest}")
    if key == "predicate" and not normalise(text):
        raise RequestError(f"{where}predicate has no letter: {text!r}")
    return text


def _day(where: str, key: str, value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        text = str(value).strip()
        return date.fromisoformat(text[:10] if len(text) > 10 and text[10] in "T " else text)
    except ValueError:
        raise RequestError(f"{where}{key} must be a day such as 2026-02-13, not {value!r}") from None
