"""Sanitize text: defuse terminal controls, marks that a model reads as a new speaker, and invisible characters.

The only module that knows which characters these are: control characters, overrides of the direction of writing, and
characters without width. They stay where they are a part of writing: in emoji, between letters of Arabic, Persian or
an Indic script, beside Hebrew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .. import patterns as re

_EMOJI = "\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED = "\u0600-\u06ff\u0700-\u0dff\u1000-\u109f\u1780-\u180a\u1820-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_LEFTWARD = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u1820-\u18aa"
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_STYLE, _VARIANT = "\ufe0e\ufe0f", "\ufe00-\ufe0d\u180b-\u180d\U000e0100-\U000e01ef"
_ACTS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_HIDES = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SUSPECT = re.compile(f"[{_ACTS}{_HIDES}{_STYLE}{_VARIANT}]")
#: A sequence that stays, or one character that does not.
_SEEN_OR_NOT = re.compile(
    f"(?P<seen>{_FLAGS}|[{_EMOJI}][{_STYLE}]?(?:\u200d[{_EMOJI}][{_STYLE}]?)*|[0-9#*\xa9\xae\u203c\u2049\u2122\u2139][{_STYLE}]"
    f"|[{_JOINED}][\u200c\u200d]|[{_LEFTWARD}][\u061c\u200e\u200f]|[\u061c\u200e\u200f](?=[{_LEFTWARD}])"
    f"|[{_IDEOGRAPH}][{_VARIANT}])|{_SUSPECT.pattern}"
)
#: The opening character of a mark by which a chat's template changes the speaker.
_IN_BRACKETS = (
    r"\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|ARGS"
    r"|CALL_ID|IMG(?:_BREAK|_END)?|[gs]MASK|[se]op|PREFIX|MIDDLE|SUFFIX)\])"
)
_MARKER = re.compile(rf"<(?=[/!?|\uff5c<a-z])|{_IN_BRACKETS}", re.IGNORECASE)
#: The same for lines that shall stay readable: ``cat <file``, ``a<b`` and ``<https://…>`` are none.
_TURN = re.compile(rf"<(?=/?[|\uff5c]|/?[a-z_][\w.:=-]*>)|{_IN_BRACKETS}", re.IGNORECASE)


def sanitize(text: str) -> str:
    """Show control characters as their pictures and remove hidden ones; tabs and line feeds stay. Idempotent."""
    return _replaced(text, _visible)


def sanitize_values(value: Any, function: Callable[[str], str] = sanitize) -> Any:
    """Apply ``function`` to every text in JSON data, keys too."""
    if isinstance(value, str):
        return function(value)
    if isinstance(value, dict):
        return {function(key): sanitize_values(inner, function) for key, inner in value.items()}
    if isinstance(value, list):  # columns of numbers are long
        return [sanitize_values(inner, function) if isinstance(inner, (str, dict, list)) else inner for inner in value]
    return value


def sanitize_for_prompt(text: str) -> str:
    """Sanitize ``text`` for a prompt, with the marks of chat templates and of elements escaped."""
    return _MARKER.sub(_entity, sanitize(text))


def sanitize_turns(text: str) -> str:
    """Sanitize ``text`` for a tool's answer, with the marks by which chat templates begin a turn escaped."""
    return _TURN.sub(_entity, sanitize(text))


def escape_json(document: str) -> str:
    """Escape the characters of a JSON document that act, hide or begin a turn; it means the same."""
    unseen = _replaced(document, lambda match: json.dumps(match[0])[1:-1])
    return _TURN.sub(lambda match: f"\\u{ord(match[0]):04x}", unseen)


def _entity(match: re.Match[str]) -> str:
    return "&lt;" if match[0] == "<" else "&#91;"


def _replaced(text: str, replace: Any) -> str:
    if _SUSPECT.search(text) is None:
        return text
    return _SEEN_OR_NOT.sub(lambda match: match[0] if match["seen"] else replace(match), text)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code <= 0x9F:
        return "\u2421" if code == 0x7F else "\ufffd"
    return " " if code in (0x2028, 0x2029) else ""
