"""Our keys in OpenClaw's configuration: plan their change, and remember their state for uninstall.

Only OpenClaw's own command writes it.  It is read as its author wrote it (:mod:`.openclaw_home`): OpenClaw's answer
mixes the authored values with the defaults of the moment.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from ..config.openclaw_home import MISSING, Key, agent_id, agents_in, value_at
from ..errors import writing
from ..records import dataclass
from ..system import atomic
from . import NAME, HostError
from .config_file import read_text

ALLOW = ("plugins", "allow")
DENY = ("plugins", "deny")
SLOT = ("plugins", "slots", "memory")
ENTRY = ("plugins", "entries", NAME)
ENABLED = (*ENTRY, "enabled")
HOOKS = ((*ENTRY, "hooks", "allowConversationAccess"), (*ENTRY, "hooks", "allowPromptInjection"))
COMMAND = (*ENTRY, "config", "command")
EXTRA = (*ENTRY, "config", "settings", "ingest.extra_paths")
_SNAPSHOT = "setup.json"
#: Objects that OpenClaw makes around our keys; those that were missing before go again when they are empty.
_CONTAINERS: tuple[Key, ...] = (("plugins", "entries"), ("plugins", "slots"), ("plugins",))


def memory_search_enabled(config: dict[str, Any], agent: str) -> bool:
    """Return true if memory search is on for an agent; its own setting precedes the general one."""
    general = value_at(config, ("memory", "search", "enabled"))
    specific = value_at(agents_in(config).get(agent_id(agent), {}), ("memory", "search", "enabled"))
    return (general if specific is MISSING else specific) is not False


def _names_at(config: dict[str, Any], path: Key) -> list[str]:
    names = value_at(config, path)
    return [str(name) for name in names] if isinstance(names, list) else []


# -- the plan -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key of the configuration, before and after; :data:`MISSING` is a key without a value."""

    path: Key
    before: Any
    after: Any

    def lines(self) -> list[str]:
        """Return the lines of a diff, one for each value in it that changes."""
        name = ".".join(self.path)
        if isinstance(self.before, dict) or isinstance(self.after, dict):
            before, after = (side if isinstance(side, dict) else {} for side in (self.before, self.after))
            inner = [
                KeyChange((*self.path, key), before.get(key, MISSING), after.get(key, MISSING))
                for key in {**before, **after}
            ]
            return [line for change in inner if change.before != change.after for line in change.lines()]
        if self.before is MISSING:
            return [f"+ {name}: {_show(self.after)}"]
        if self.after is MISSING:
            return [f"- {name}: {_show(self.before)}"]
        return [f"~ {name}: {_show(self.before)} → {_show(self.after)}"]


def _show(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def extra_paths(config: dict[str, Any], workspaces: Mapping[str, Path]) -> tuple[list[dict[str, str]], list[str]]:
    """Return OpenClaw's ``memory.search.extraPaths`` as our ``ingest.extra_paths``, and those that cannot be.

    ``workspaces`` are the agents', by name.  Ours takes a folder or file as a whole, so one with a pattern is left out.
    """
    key, readers, left_out = ("memory", "search", "extraPaths"), dict[str, list[str]](), dict[str, None]()
    for agent, folder in workspaces.items():
        for source in (config, agents_in(config).get(agent_id(agent), {})):
            entries = value_at(source, key)
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, str) and entry.strip():
                    path = os.path.normpath(folder / os.path.expanduser(entry.strip()))
                    readers.setdefault(path, []).append(str(folder))
                else:
                    left_out[_show(entry)] = None
    names, rows = list[str](), list[dict[str, str]]()
    for path, folders in readers.items():
        stem = re.sub(r"[^a-z0-9]+", "-", Path(path).stem.lower()).strip("-") or "notes"
        for workspace in [""] if set(folders) >= set(map(str, workspaces.values())) else sorted(set(folders)):
            names.append(next(name for n in count(1) if (name := f"{stem}-{n}" if n > 1 else stem) not in names))
            rows.append({"path": path, "name": names[-1]} | ({"workspace": workspace} if workspace else {}))
    return rows, list(left_out)


def setup_changes(
    config: dict[str, Any], command: str | None, extra: Sequence[Mapping[str, str]] = ()
) -> list[KeyChange]:
    """Return the changes that put this memory into OpenClaw's memory slot and let it see conversations.

    ``command`` is the executable that the plugin shall start, ``None`` for the one that it finds itself; ``extra`` are
    the :func:`extra_paths`, taken unless there are some in the configuration.
    """
    values: dict[Key, Any] = {
        SLOT: NAME,
        ENABLED: True,
        **dict.fromkeys(HOOKS, True),
        COMMAND: MISSING if command is None else command,
        # OpenClaw asks the slot's owner whether its own memory shall run beside it, and its default is yes.
        (*ENTRY, "config", "dreaming", "enabled"): False,
    }
    if extra and value_at(config, EXTRA) is MISSING:
        values[EXTRA] = list(extra)
    # A list that lets nothing else in is OpenClaw's way to say "only these"; it is not made, only joined.
    allowed, denied = _names_at(config, ALLOW), _names_at(config, DENY)
    if allowed and NAME not in allowed:
        values[ALLOW] = [*allowed, NAME]
    if NAME in denied:
        values[DENY] = [name for name in denied if name != NAME] or MISSING
    return _changes_to(config, values)


def _changes_to(config: dict[str, Any], values: dict[Key, Any]) -> list[KeyChange]:
    changes = [KeyChange(path, value_at(config, path), value) for path, value in values.items()]
    return [change for change in changes if change.before != change.after]


def disable_before_install(config: dict[str, Any]) -> list[KeyChange]:
    """Return the change that keeps OpenClaw from giving us the slot when it installs our plugin; none if it is ours."""
    enabled = value_at(config, ENABLED)
    if value_at(config, SLOT) == NAME or enabled is False:
        return []
    return [KeyChange(ENABLED, enabled, False)]


def to_patch(changes: Iterable[KeyChange]) -> dict[str, Any]:
    """Return the object that ``openclaw config patch`` takes: ``null`` removes a key."""
    patch: dict[str, Any] = {}
    for change in changes:
        inner = patch
        for key in change.path[:-1]:
            inner = inner.setdefault(key, {})
        inner[change.path[-1]] = _patch_value(change.before, change.after)
    return patch


def _patch_value(before: Any, after: Any) -> Any:
    """Return the patch from one value to the other; it names removed keys, as OpenClaw merges objects."""
    if after is MISSING:
        return None
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    keys = [key for key in {**before, **after} if before.get(key, MISSING) != after.get(key, MISSING)]
    return {key: _patch_value(before.get(key, MISSING), after.get(key, MISSING)) for key in keys}


# -- restoring -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfigSnapshot:
    """The state of our keys before setup.

    ``slot`` and ``entry`` hold one value, or none for a missing key; ``allowed`` and ``denied`` are our position in
    these lists, -1 for none.
    """

    config: str
    plugin_installed: bool = False
    slot: list[str] = field(default_factory=list)
    entry: list[dict[str, Any]] = field(default_factory=list)
    allowed: int = -1
    denied: int = -1
    containers: list[str] = field(default_factory=list)
    at: str = ""

    @classmethod
    def take(cls, config: dict[str, Any], file: Path, plugin_installed: bool) -> ConfigSnapshot:
        """Record the state of ``config``."""
        slot, entry = value_at(config, SLOT), value_at(config, ENTRY)
        return cls(
            config=str(file),
            plugin_installed=plugin_installed,
            slot=[] if slot is MISSING else [str(slot)],
            entry=[entry] if isinstance(entry, dict) else [],
            allowed=_position(_names_at(config, ALLOW)),
            denied=_position(_names_at(config, DENY)),
            containers=[".".join(path) for path in _CONTAINERS if value_at(config, path) is not MISSING],
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def restoring_changes(self, config: dict[str, Any]) -> list[KeyChange]:
        """Return the changes that restore this state in ``config``; later changes by others stay."""
        values: dict[Key, Any] = {ENTRY: self.entry[0] if self.entry else MISSING}
        slot = value_at(config, SLOT)
        if slot is MISSING or slot == NAME:
            values[SLOT] = self.slot[0] if self.slot else MISSING
        for path, place in ((ALLOW, self.allowed), (DENY, self.denied)):
            names = _names_at(config, path)
            if (NAME in names) != (place >= 0):
                others = [name for name in names if name != NAME]
                values[path] = [*others[:place], NAME, *others[place:]] if place >= 0 else others or MISSING
        after = _with_values(config, values)
        for outer in _CONTAINERS:
            if ".".join(outer) not in self.containers and value_at(after, outer) == {}:
                values = {key: value for key, value in values.items() if key[: len(outer)] != outer}
                values[outer] = MISSING
                after = _with_values(after, {outer: MISSING})
        return _changes_to(config, values)

    def save(self, folder: Path) -> None:
        """Write it into ``folder``, readable by its owner only, as an entry may hold private values."""
        with writing(folder / _SNAPSHOT, HostError, why=", and without it setup could not be undone"):
            text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
            atomic.write_bytes(folder / _SNAPSHOT, text.encode("utf-8"), 0o600)

    @classmethod
    def load(cls, folder: Path) -> ConfigSnapshot | None:
        """Read it from ``folder``; ``None`` if there is none, or it cannot be understood."""
        try:
            stored = json.loads(read_text(folder / _SNAPSHOT) or "null")
            return cls(**stored) if stored else None
        except (ValueError, TypeError, AttributeError, HostError):
            return None

    @staticmethod
    def delete(folder: Path) -> None:
        """Delete the one in ``folder``."""
        (folder / _SNAPSHOT).unlink(missing_ok=True)


def _position(names: list[str]) -> int:
    return names.index(NAME) if NAME in names else -1


def _with_values(config: dict[str, Any], values: dict[Key, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(config))
    for path, value in values.items():
        inner: Any = changed
        for key in path[:-1]:
            inner = inner.setdefault(key, {}) if value is not MISSING else inner.get(key, {})
        if value is MISSING:
            inner.pop(path[-1], None)
        else:
            inner[path[-1]] = value
    return changed
