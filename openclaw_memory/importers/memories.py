"""Single texts that were remembered: of mem0, of OpenClaw's memory-lancedb, and of any program that writes JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .entry import SPEAKERS, Entry, Said, Unusable, day_of, first, identity_of, listed, text_of

_TEXT = ("memory", "text", "content")
_DAY = ("date", "created_at", "createdAt", "timestamp", "updated_at")
_TAGS = ("tags", "categories", "category")
#: Members that say what an entry is about, or where it is from; each is kept if it is as short as this.
_FACTS = ("id", "uuid", "user_id", "agent_id", "app_id", "run_id", "agentId", "importance", "metadata", "source", "url")
_FACT_CHARS = 200
_NAME_CHARS = 40
_TAG_CHARS, _MOST_TAGS = 60, 30


def memory(item: Mapping[str, Any], zone: str) -> Entry:
    """A text with what stands beside it; raises :class:`Unusable` for what has none."""
    said_by = next((name for name in _TEXT if text_of(item.get(name)).strip()), None)
    if said_by is None:
        raise Unusable(f"it has no text; a member of {', '.join(map(repr, _TEXT))} must say something")
    known = {said_by, "role", "title", *_DAY, *_TAGS, *_FACTS}
    left = Counter(f"member '{name[:_NAME_CHARS]}'" for name, value in item.items() if name not in known and value)
    facts = {}
    for name in _FACTS:
        if (value := item.get(name)) not in (None, "", [], {}):
            written = (
                json.dumps(value, ensure_ascii=False, default=float) if isinstance(value, (dict, list)) else str(value)
            )
            if len(written) <= _FACT_CHARS:
                facts[name] = written
            else:
                left[f"member '{name}' of more than {_FACT_CHARS} characters"] += 1
    day = next((found for name in _DAY if (found := day_of(item.get(name), zone))), None)
    role, title, tags = item.get("role"), item.get("title"), first(item, *_TAGS)
    speaker = SPEAKERS.get(role.lower(), role.strip()) if isinstance(role, str) else ""
    said = (Said(text_of(item[said_by]), speaker, day),)
    each = tags.split(",") if isinstance(tags, str) else listed(tags)
    words = [word for one in each if isinstance(one, str) and (word := one.strip().lstrip("#"))]
    kept = [word for word in words if len(word) <= _TAG_CHARS][:_MOST_TAGS]
    left[f"tag of more than {_TAG_CHARS} characters, or beyond the first {_MOST_TAGS}"] += len(words) - len(kept)
    return Entry(
        identity_of(item, ("id", "uuid"), said),
        said,
        title if isinstance(title, str) else "",
        day,
        tuple(kept),
        facts,
        +left,
    )
