"""OpenClaw's configuration: read as its author wrote it, and the few keys of it that are ours.

Only OpenClaw's own command writes it.  Reading is done here, as a start of OpenClaw takes a second and
its answer mixes the authored values with the defaults of the moment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..workspace import expanded, openclaw_state
from . import NAME, HostError
from .change import read_text

ALLOW = ("plugins", "allow")
DENY = ("plugins", "deny")
SLOT = ("plugins", "slots", "memory")
ENTRY = ("plugins", "entries", NAME)
ENABLED = (*ENTRY, "enabled")
HOOKS = ((*ENTRY, "hooks", "allowConversationAccess"), (*ENTRY, "hooks", "allowPromptInjection"))
COMMAND = (*ENTRY, "config", "command")
DREAMING = (*ENTRY, "config", "dreaming", "enabled")

#: Who has the memory slot when the configuration names nobody.
DEFAULT_SLOT = "memory-core"

Key = tuple[str, ...]
_DEPTH = 10


class Missing:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "(not set)"


MISSING = Missing()


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where OpenClaw's configuration is, whether it is there or not."""
    environ = os.environ if environ is None else environ
    named = environ.get("OPENCLAW_CONFIG_PATH")
    return expanded(named) if named else openclaw_state(environ) / "openclaw.json"


def read_config(file: Path) -> dict[str, Any]:
    """The authored configuration with its ``$include`` files; empty when there is no file.

    Raises :class:`HostError` naming the file and the line when it cannot be read.
    """
    text = read_text(file)
    loaded = {} if text is None or not text.strip() else _parsed(text, file)
    if not isinstance(loaded, dict):
        raise HostError(f"{file}: the top level must be an object {{…}}; run: openclaw config validate")
    return loaded


def is_plain_json(file: Path) -> bool:
    """Whether ``file`` has nothing that writing it as JSON loses, such as comments."""
    text = read_text(file)
    try:
        json.loads(text or "{}")
    except json.JSONDecodeError:
        return False
    return True


def _parsed(text: str, file: Path, depth: int = 0) -> Any:
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError:
        import json5

        try:
            loaded = json5.loads(text)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split()).replace("<string>:", "line ")
            raise HostError(f"{file}: not valid JSON5 ({reason}); run: openclaw config validate") from error
    return _included(loaded, file, depth)


def _included(value: Any, file: Path, depth: int) -> Any:
    if isinstance(value, list):
        return [_included(each, file, depth) for each in value]
    if not isinstance(value, dict):
        return value
    rest = {key: _included(each, file, depth) for key, each in value.items() if key != "$include"}
    named = value.get("$include")
    if named is None:
        return rest
    if depth >= _DEPTH:
        raise HostError(f"{file}: $include is nested more than {_DEPTH} deep; run: openclaw config validate")
    merged: Any = {}
    for name in [named] if isinstance(named, str) else named:
        other = file.parent / expanded(str(name))
        text = read_text(other)
        if text is None:
            raise HostError(f"{other}: no such file, and {file} includes it; run: openclaw config validate")
        merged = _merged(merged, _parsed(text, other, depth + 1))
    return _merged(merged, rest) if rest else merged


def _merged(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *above]
    return above


def value_at(config: Any, path: Key) -> Any:
    """The value at ``path``, or :data:`MISSING`."""
    for key in path:
        if not isinstance(config, dict) or key not in config:
            return MISSING
        config = config[key]
    return config


def remembers(config: dict[str, Any], agent: str) -> bool:
    """Whether memory search is on for an agent; its own setting goes before the general one."""
    general = value_at(config, ("memory", "search", "enabled"))
    entries = value_at(config, ("agents", "entries"))
    named = entries if isinstance(entries, dict) else {}
    key = next((key for key in named if key.strip().lower() == agent.lower()), agent)
    own = value_at(named, (key, "memory", "search", "enabled"))
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
        DREAMING: False,
    }
    # A list that lets nothing else in is OpenClaw's way to say "only these"; it is not made, only joined.
    allowed, denied = names_at(config, ALLOW), names_at(config, DENY)
    if allowed and NAME not in allowed:
        wanted[ALLOW] = [*allowed, NAME]
    if NAME in denied:
        wanted[DENY] = [name for name in denied if name != NAME] or MISSING
    changes = [KeyChange(path, value_at(config, path), value) for path, value in wanted.items()]
    return [change for change in changes if change.before != change.after]


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
