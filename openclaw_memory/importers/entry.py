"""An entry of an export, whatever program it is from: a conversation, or a text that was remembered."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from ..text import calendar

#: What is longer is no id, fact or tag that is worth reading in a note.
LONGEST_FACT = 200


class Unusable(ValueError):
    """An entry that becomes no note; the message says why."""


#: How the two sides of a chat are named in a note, by how exports name them: roles are told by these names.
SPEAKERS = {"user": "User", "human": "User", "assistant": "Assistant"}


class Said(NamedTuple):
    """A text, who said it (empty where nobody speaks), and on which day, if that is known."""

    text: str
    speaker: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What becomes one note; ``identity`` is the same for the same entry of a later export.

    ``facts`` are short texts that the export has beside it.
    """

    identity: str
    said: tuple[Said, ...]
    title: str = ""
    day: date | None = None
    tags: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a person knows the entry by: its title, or how it begins."""
        return " ".join((self.title.strip() or self.said[0].text)[:60].split())

    @property
    def key(self) -> str:
        """Twelve letters that stand for ``identity``."""
        digest = hashlib.sha256(self.identity.encode("utf-8", "replace")).hexdigest()[:12]
        # No digits: the name of a file must not state a date by accident.
        return digest.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))


def identity_of(item: Mapping[str, Any], names: Iterable[str], said: Iterable[Said]) -> str:
    """The first of the members ``names`` that is there, else what is said: the same text is then the same entry."""
    for name in names:
        value = item.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return json.dumps([[one.speaker, str(one.day), one.text] for one in said])


def day_of(value: Any, zone: str) -> date | None:
    """The day of a moment in ``zone`` (as :func:`~..text.calendar.now_in`): ISO text, or seconds or ms since 1970.

    ``None`` for what is neither.  A text without a time zone names its own day.
    """
    try:
        if isinstance(value, str) and not value.strip().replace(".", "", 1).isdecimal():
            moment = datetime.fromisoformat(value.strip())
            return moment.date() if moment.tzinfo is None else calendar.now_in(zone, moment).date()
        if value is None or isinstance(value, bool):
            return None
        seconds = float(value)
        if not math.isfinite(seconds) or seconds <= 0:
            return None
        seconds = seconds / 1000 if seconds > 1e11 else seconds  # no export has seconds as large
        return calendar.now_in(zone, datetime.fromtimestamp(seconds, UTC)).date()
    except (OSError, OverflowError, TypeError, ValueError):
        return None


def first(item: Mapping[str, Any], *names: str) -> Any:
    """The first of the members ``names`` that says something."""
    return next((item[name] for name in names if item.get(name) not in (None, "", [], {})), None)


def text_of(content: Any) -> str:
    """The text of a message: a text, or the texts among its parts, a blank line between them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(first(content, "text", "parts", "content"))
    if isinstance(content, list):
        return "\n\n".join(text for part in content if (text := text_of(part)).strip())
    return ""


def listed(value: Any) -> list[Any]:
    """``value`` if it is a list, else nothing."""
    return value if isinstance(value, list) else []
