"""Conversations: what ChatGPT and Claude give their users as ``conversations.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .entry import LONGEST_FACT, SPEAKERS, Entry, Said, Unusable, day_of, first, identity_of, listed, text_of

#: What ChatGPT shows as a link, a picture or a name stands in its texts between two marks: its kind, then its fields.
_SHOWN = re.compile("\ue200([^\ue200-\ue202]*)\ue202?([^\ue200\ue201]*)\ue201")
_REMEMBERED = ("conversations_memory", "project_memories")
_MARKS = re.compile("[\ue200-\ue206]")


def chatgpt(item: Mapping[str, Any], zone: str) -> Entry:
    """A conversation of ChatGPT: the messages from the first one to ``current_node``, as ChatGPT shows them.

    Raises :class:`Unusable`.
    """
    nodes = item.get("mapping")
    if not isinstance(nodes, Mapping):
        raise Unusable("it has no 'mapping' of messages; it is no conversation of ChatGPT")
    spoken = (_spoken(nodes[name], zone) for name in _path(nodes, item.get("current_node")))
    said = [text for text in spoken if text is not None]
    return _conversation(item, ("conversation_id", "id"), item.get("create_time"), said, zone)


def claude(item: Mapping[str, Any], zone: str) -> Entry:
    """A conversation of Claude: its messages, and the texts of the files that were given to it; or what it remembers.

    Raises :class:`Unusable`.
    """
    if any(name in item for name in _REMEMBERED):
        return _remembered(item)
    messages = item.get("chat_messages")
    if not isinstance(messages, list):
        raise Unusable("it has no list 'chat_messages'; it is no conversation of Claude")
    said = []
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        sender = str(message.get("sender") or "")
        speaker, day = SPEAKERS.get(sender, sender.capitalize()), day_of(message.get("created_at"), zone)
        blocks = [one for one in listed(message.get("content")) if isinstance(one, Mapping)]
        texts = [one for one in blocks if one.get("type", "text") == "text" and text_of(one).strip()]
        said.append(Said(text_of(texts) or text_of(message.get("text")), speaker, day))
        for file in listed(message.get("attachments")):
            text = file.get("extracted_content") if isinstance(file, Mapping) else None
            if isinstance(text, str) and text.strip():
                said.append(Said(f"{file.get('file_name') or ''}\n\n{text}".strip(), speaker, day))
    return _conversation(item, ("uuid", "id"), item.get("created_at"), said, zone)


def _remembered(item: Mapping[str, Any]) -> Entry:
    """What Claude remembers of its user, and of each project."""
    of_all, projects = (item.get(name) for name in _REMEMBERED)
    texts = [of_all, *(projects.values() if isinstance(projects, Mapping) else ())]
    said = tuple(Said(text) for text in texts if isinstance(text, str) and text.strip())
    if not said:
        raise Unusable("nothing is remembered in it")
    return Entry(f"memory of {item.get('account_uuid') or ''}", said)


def _conversation(item: Mapping[str, Any], names: tuple[str, ...], begun: Any, said: list[Said], zone: str) -> Entry:
    said = [one for one in said if one.text.strip()]
    if not said:
        raise Unusable("nothing was said in it")
    day = day_of(begun, zone) or next((one.day for one in said if one.day), None)
    title = first(item, "title", "name")
    identity = identity_of(item, names, said)
    facts = {"id": identity} if identity == str(first(item, *names)) and len(identity) <= LONGEST_FACT else {}
    return Entry(identity, tuple(said), title if isinstance(title, str) else "", day, facts=facts)


def _path(nodes: Mapping[str, Any], last: Any) -> dict[str, None]:
    """The names of the nodes from the first one to ``last``, in this order; without it to the last leaf."""
    if not isinstance(last, str) or last not in nodes:
        leaves = [name for name, node in nodes.items() if isinstance(node, Mapping) and not node.get("children")]
        last = leaves[-1] if leaves else None
    path: dict[str, None] = {}
    while isinstance(last, str) and last in nodes and last not in path and isinstance(nodes[last], Mapping):
        path[last] = None
        last = nodes[last].get("parent")
    return dict.fromkeys(reversed(path))


def _spoken(node: Any, zone: str) -> Said | None:
    """What is said in a node of ChatGPT's tree, if anything: not to a tool, by none, and not hidden."""
    message = node.get("message") if isinstance(node, Mapping) else None
    if not isinstance(message, Mapping):
        return None  # the root has none
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    kind = content.get("content_type", "text") if isinstance(content, Mapping) else "text"
    about = message.get("metadata")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation") is True
    spoken = kind in ("text", "multimodal_text", "code")  # the others are what the program did
    if role not in SPEAKERS or hidden or not spoken or message.get("recipient") not in (None, "all"):
        return None
    text = _MARKS.sub("", _SHOWN.sub(_shown, text_of(content)))
    return Said(text, SPEAKERS[role], day_of(message.get("create_time"), zone)) if text.strip() else None


def _shown(found: re.Match[str]) -> str:
    """What a reader sees of a link or a name that ChatGPT marks; of a source or a picture nothing."""
    kind, fields = found.groups()
    if kind == "url":
        words, _, address = fields.partition("\ue202")
        return f"[{words}]({address})"
    if kind != "entity":
        return ""
    try:
        named = json.loads(fields)  # its category, its name, and more
    except ValueError:
        return fields
    return named[1] if isinstance(named, list) and len(named) > 1 and isinstance(named[1], str) else ""
