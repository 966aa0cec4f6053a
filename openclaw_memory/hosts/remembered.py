"""What OpenClaw's configuration was before ``setup`` changed it, and the way back to it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config.openclaw_home import MISSING, Key, value_at
from ..system import atomic
from . import NAME, HostError
from .change import read_text, writable
from .openclaw_config import ALLOW, DENY, ENTRY, SLOT, KeyChange, names_at

_FILE = "setup.json"
#: Objects that OpenClaw makes around our keys; those that were not there before go again when they are empty.
_CONTAINERS: tuple[Key, ...] = (("plugins", "entries"), ("plugins", "slots"), ("plugins",))


@dataclass(frozen=True, slots=True)
class Before:
    """The state to go back to.

    ``slot`` and ``entry`` hold one value, or none when the key was not there; ``allowed`` and ``denied``
    are our place in these lists, -1 for none.
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
    def of(cls, config: dict[str, Any], file: Path, plugin_installed: bool) -> Before:
        """What ``config`` is now."""
        slot, entry = value_at(config, SLOT), value_at(config, ENTRY)
        return cls(
            config=str(file),
            plugin_installed=plugin_installed,
            slot=[] if slot is MISSING else [str(slot)],
            entry=[entry] if isinstance(entry, dict) else [],
            allowed=_place(config, ALLOW),
            denied=_place(config, DENY),
            containers=[".".join(path) for path in _CONTAINERS if value_at(config, path) is not MISSING],
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def restoring(self, config: dict[str, Any]) -> list[KeyChange]:
        """The changes that lead from ``config`` back; what others have changed since is left as it is."""
        wanted: dict[Key, Any] = {ENTRY: self.entry[0] if self.entry else MISSING}
        slot = value_at(config, SLOT)
        if slot is MISSING or slot == NAME:
            wanted[SLOT] = self.slot[0] if self.slot else MISSING
        for path, place in ((ALLOW, self.allowed), (DENY, self.denied)):
            names = names_at(config, path)
            if (NAME in names) != (place >= 0):
                others = [name for name in names if name != NAME]
                wanted[path] = [*others[:place], NAME, *others[place:]] if place >= 0 else others or MISSING
        after = _with(config, wanted)
        for outer in _CONTAINERS:
            if ".".join(outer) not in self.containers and value_at(after, outer) == {}:
                wanted = {key: value for key, value in wanted.items() if key[: len(outer)] != outer}
                wanted[outer] = MISSING
                after = _with(after, {outer: MISSING})
        changes = [KeyChange(path, value_at(config, path), value) for path, value in wanted.items()]
        return [change for change in changes if change.before != change.after]


def _place(config: dict[str, Any], path: Key) -> int:
    names = names_at(config, path)
    return names.index(NAME) if NAME in names else -1


def _with(config: dict[str, Any], values: dict[Key, Any]) -> dict[str, Any]:
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


def recall(folder: Path) -> Before | None:
    """What was remembered in ``folder``; ``None`` when nothing was, or when it cannot be understood."""
    try:
        stored = json.loads(read_text(folder / _FILE) or "null")
        return Before(**stored) if stored else None
    except (ValueError, TypeError, AttributeError, HostError):
        return None


def remember(folder: Path, before: Before) -> None:
    """Write it down for good, readable by its owner only, as an entry may hold what is private."""
    with writable(folder / _FILE, ", and without it setup could not be undone"):
        written = json.dumps(asdict(before), indent=1, ensure_ascii=False)
        atomic.swap(folder / _FILE, written.encode("utf-8"), 0o600)


def forget(folder: Path) -> None:
    """Remove what was remembered."""
    (folder / _FILE).unlink(missing_ok=True)
