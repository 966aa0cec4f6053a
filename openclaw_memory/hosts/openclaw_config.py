"""The few keys of OpenClaw's configuration that are ours, and what has to change in them.

Only OpenClaw's own command writes it.  It is read as its author wrote it (:mod:`.openclaw_home`): OpenClaw's answer
mixes the authored values with the defaults of the moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..config.openclaw_home import MISSING, Key, agent_id, agents_in, value_at
from . import NAME

ALLOW = ("plugins", "allow")
DENY = ("plugins", "deny")
SLOT = ("plugins", "slots", "memory")
ENTRY = ("plugins", "entries", NAME)
ENABLED = (*ENTRY, "enabled")
HOOKS = ((*ENTRY, "hooks", "allowConversationAccess"), (*ENTRY, "hooks", "allowPromptInjection"))
COMMAND = (*ENTRY, "config", "command")


def remembers(config: dict[str, Any], agent: str) -> bool:
    """Whether memory search is on for an agent; its own setting goes before the general one."""
    general = value_at(config, ("memory", "search", "enabled"))
    own = value_at(agents_in(config).get(agent_id(agent), {}), ("memory", "search", "enabled"))
    return (general if own is MISSING else own) is not False


def names_at(config: dict[str, Any], path: Key) -> list[str]:
    """The list of names at ``path``; empty when there is none."""
    found = value_at(config, path)
    return [str(each) for each in found] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One key of the configuration, before and after; :data:`MISSING` is a key that is not there."""

    path: Key
    before: Any
    after: Any

    def lines(self) -> list[str]:
        """As lines of a diff, one for each value in it that changes."""
        name = ".".join(self.path)
        if isinstance(self.before, dict) or isinstance(self.after, dict):
            before, after = (side if isinstance(side, dict) else {} for side in (self.before, self.after))
            inner = [
                KeyChange((*self.path, key), before.get(key, MISSING), after.get(key, MISSING))
                for key in {**before, **after}
            ]
            return [line for change in inner if change.before != change.after for line in change.lines()]
        if self.before is MISSING:
            return [f"+ {name}: {_shown(self.after)}"]
        if self.after is MISSING:
            return [f"- {name}: {_shown(self.before)}"]
        return [f"~ {name}: {_shown(self.before)} → {_shown(self.after)}"]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def wanted_changes(config: dict[str, Any], command: str | None) -> list[KeyChange]:
    """What has to change for this memory to be in OpenClaw's memory slot and to be told of what happens.

    ``command`` is the executable that the plugin shall start, ``None`` for the one that it finds itself.
    """
    wanted: dict[Key, Any] = {
        SLOT: NAME,
        ENABLED: True,
        **dict.fromkeys(HOOKS, True),
        COMMAND: MISSING if command is None else command,
        # OpenClaw asks the slot's owner whether its own memory shall run beside it, and its default is yes.
        (*ENTRY, "config", "dreaming", "enabled"): False,
    }
    # A list that lets nothing else in is OpenClaw's way to say "only these"; it is not made, only joined.
    allowed, denied = names_at(config, ALLOW), names_at(config, DENY)
    if allowed and NAME not in allowed:
        wanted[ALLOW] = [*allowed, NAME]
    if NAME in denied:
        wanted[DENY] = [name for name in denied if name != NAME] or MISSING
    changes = [KeyChange(path, value_at(config, path), value) for path, value in wanted.items()]
    return [change for change in changes if change.before != change.after]


def without_slot(config: dict[str, Any]) -> list[KeyChange]:
    """What keeps OpenClaw from giving us the memory slot as soon as our plugin is installed; nothing if it is ours."""
    enabled = value_at(config, ENABLED)
    if value_at(config, SLOT) == NAME or enabled is False:
        return []
    return [KeyChange(ENABLED, enabled, False)]


def as_patch(changes: Iterable[KeyChange]) -> dict[str, Any]:
    """The changes as the object that ``openclaw config patch`` takes: ``null`` removes a key."""
    patch: dict[str, Any] = {}
    for change in changes:
        inner = patch
        for key in change.path[:-1]:
            inner = inner.setdefault(key, {})
        inner[change.path[-1]] = _step(change.before, change.after)
    return patch


def _step(before: Any, after: Any) -> Any:
    """What leads from one value to the other: objects are merged, so what shall go is named."""
    if after is MISSING:
        return None
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    keys = [key for key in {**before, **after} if before.get(key, MISSING) != after.get(key, MISSING)]
    return {key: _step(before.get(key, MISSING), after.get(key, MISSING)) for key in keys}
