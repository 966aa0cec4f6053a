"""Single texts that were remembered: of mem0, of OpenClaw's memory-lancedb, and of any program that writes JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .entry import LONGEST_FACT, SPEAKERS, Entry, Said, Unusable, day_of, first, identity_of, listed, text_of

_TEXT = ("memory", "text", "content")
#: Members that say what an entry is about, or where it is from.
_FACTS = ("id", "uuid", "user_id", "agent_id", "app_id", "run_id", "agentId", "importance", "metadata", "source", "url")


def memory(item: Mapping[str, Any], zone: str) -> Entry:
    """A text with what stands beside it; raises :class:`Unusable` for what has none."""
    said_by = next((name for name in _TEXT if text_of(item.get(name)).strip()), None)
    if said_by is None:
        raise Unusable(f"it has no text; a member of {', '.join(map(repr, _TEXT))} must say something")
    facts = {}
    for name in _FACTS:
        if (value := item.get(name)) not in (None, "", [], {}):
            written = (
                json.dumps(value, ensure_ascii=False, default=float) if isinstance(value, (dict, list)) else str(value)
            )
            if len(written) <= LONGEST_FACT:
                facts[name] = written
    days = (day_of(item.get(name), zone) for name in ("date", "created_at", "createdAt", "timestamp", "updated_at"))
    day = next(filter(None, days), None)
    role, title, tags = item.get("role"), item.get("title"), first(item, "tags", "categories", "category")
    speaker = SPEAKERS.get(role.lower(), role.strip()) if isinstance(role, str) else ""
    said = (Said(text_of(item[said_by]), speaker, day),)
    each = tags.split(",") if isinstance(tags, str) else listed(tags)
    words = [word for one in each if isinstance(one, str) and (word := one.strip().lstrip("#"))]
    return Entry(
        identity_of(item, ("id", "uuid"), said),
        said,
        title if isinstance(title, str) else "",
        day,
        tuple(word for word in words if len(word) <= LONGEST_FACT),
        facts,
    )
