"""Text that does nothing: no terminal obeys it, no model takes it for a turn, and what it says is what one sees.

The one place that knows which characters act or hide: control characters, overrides of the direction of writing,
and what has no width. Where they are a part of writing they stay: in emoji, between letters of Arabic, Persian or an
Indic script, beside Hebrew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

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
#: What is left as it is, and one character that is not.
_SEEN_OR_NOT = re.compile(
    f"(?P<seen>{_FLAGS}|[{_EMOJI}][{_STYLE}]?(?:\u200d[{_EMOJI}][{_STYLE}]?)*|[0-9#*\xa9\xae\u203c\u2049\u2122\u2139][{_STYLE}]"
    f"|[{_JOINED}][\u200c\u200d]|[{_LEFTWARD}][\u061c\u200e\u200f]|[\u061c\u200e\u200f](?=[{_LEFTWARD}])"
    f"|[{_IDEOGRAPH}][{_VARIANT}])|{_SUSPECT.pattern}"
)
#: How a model is told that somebody else speaks now: its opening character is enough.
_IN_BRACKETS = (
    r"\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|ARGS"
    r"|CALL_ID|IMG(?:_BREAK|_END)?|[gs]MASK|[se]op|PREFIX|MIDDLE|SUFFIX)\])"
)
_MARKER = re.compile(rf"<(?=[/!?|\uff5c<a-z])|{_IN_BRACKETS}", re.IGNORECASE)
#: The same where lines are to be read as they are: ``cat <file``, ``a<b`` and ``<https://…>`` are none.
_TURN = re.compile(rf"<(?=/?[|\uff5c]|/?[a-z_][\w.:=-]*>)|{_IN_BRACKETS}", re.IGNORECASE)


def inert(text: str) -> str:
    """``text`` for people and models: control characters as their pictures, what hides taken out.

    Tabs and line feeds stay. Doing it twice changes nothing.
    """
    return _replaced(text, _visible)


def inert_values(value: Any, made_inert: Callable[[str], str] = inert) -> Any:
    """JSON data with every text in it, keys too, made :func:`inert`."""
    if isinstance(value, str):
        return made_inert(value)
    if isinstance(value, dict):
        return {made_inert(key): inert_values(inner, made_inert) for key, inner in value.items()}
    return [inert_values(inner, made_inert) for inner in value] if isinstance(value, list) else value


def quoted(text: str) -> str:
    """``text`` to stand inside a prompt: :func:`inert`, and no mark of a chat's template or of an element."""
    return _MARKER.sub(_entity, inert(text))


def without_turns(text: str) -> str:
    """``text`` as a tool's answer to a model: :func:`inert`, and no mark by which a chat's template begins a turn."""
    return _TURN.sub(_entity, inert(text))


def escaped(document: str) -> str:
    """A JSON document that says the same and is inert: what acts, hides or begins a turn is escaped as in JSON."""
    unseen = _replaced(document, lambda found: json.dumps(found[0])[1:-1])
    return _TURN.sub(lambda found: f"\\u{ord(found[0]):04x}", unseen)


def _entity(found: re.Match[str]) -> str:
    return "&lt;" if found[0] == "<" else "&#91;"


def _replaced(text: str, replace: Any) -> str:
    if _SUSPECT.search(text) is None:
        return text
    return _SEEN_OR_NOT.sub(lambda found: found[0] if found["seen"] else replace(found), text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code <= 0x9F:
        return "\u2421" if code == 0x7F else "\ufffd"
    return " " if code in (0x2028, 0x2029) else ""
