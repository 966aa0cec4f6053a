"""Where OpenClaw keeps its state, its configuration and its agents' workspaces, resolved as OpenClaw itself does.

It is read here and not asked, as a start of OpenClaw takes a second.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import HostError, SettingsError
from ..version import NAME

_CONFIG = ("openclaw.json", "clawdbot.json")
_STATE = (".openclaw", ".clawdbot")
#: The agent of a configuration that names none.
_MAIN = "main"
_PLUGIN = ("plugins", "entries", NAME, "config")


@dataclass(frozen=True, slots=True)
class OpenClawHome:
    """The folders of OpenClaw in one environment."""

    environ: Mapping[str, str]

    @classmethod
    def of(cls, environ: Mapping[str, str] | None = None, profile: str | None = None) -> OpenClawHome:
        """That of ``environ``, the process's unless told, as ``openclaw --profile`` changes it."""
        here = cls(os.environ if environ is None else environ)
        if not profile:
            return here
        # What names the folders of the profile that the environment is of, names none of another profile.
        before, after = here._profile_state(here._set("OPENCLAW_PROFILE")), here._profile_state(profile)
        state, config = here._set("OPENCLAW_STATE_DIR"), here._set("OPENCLAW_CONFIG_PATH")
        if not state or here._path(state) == before:
            state = str(after)
            if config and here._path(config) == before / _CONFIG[0]:
                config = ""
        config = config or str(here._path(state) / _CONFIG[0])
        folders = {"OPENCLAW_PROFILE": profile, "OPENCLAW_STATE_DIR": state, "OPENCLAW_CONFIG_PATH": config}
        return cls({**here.environ, **folders})

    def _set(self, name: str) -> str:
        return self.environ.get(name, "").strip()

    @property
    def home(self) -> Path:
        """What OpenClaw takes for the home folder."""
        home = self._set("HOME") or self._set("USERPROFILE") or os.path.expanduser("~")
        named = self._set("OPENCLAW_HOME")
        return _absolute(named if named not in ("undefined", "null") and named else home, home)

    @property
    def state(self) -> Path:
        """The folder of its state, whether it is there or not."""
        if named := self._set("OPENCLAW_STATE_DIR"):
            return self._path(named)
        folders = [self.home / name for name in _STATE]
        return next((folder for folder in folders if folder.exists()), folders[0])

    @property
    def config_file(self) -> Path:
        """Its configuration, whether it is there or not."""
        if named := self._set("OPENCLAW_CONFIG_PATH"):
            return self._path(named)
        state = self.state
        folders = [state] if self._set("OPENCLAW_STATE_DIR") else [self.home / name for name in _STATE]
        files = [folder / name for folder in folders for name in _CONFIG]
        return next((file for file in files if file.exists()), state / _CONFIG[0])

    @property
    def ours(self) -> Path:
        """The folder of this memory's plugin in the state."""
        return self.state / NAME

    def config(self) -> dict[str, Any]:
        """Its configuration as authored; raises :class:`HostError` when it cannot be read."""
        return read_config(self.config_file)

    def problems(self) -> list[str]:
        """Return the problem of a configuration that cannot be read; empty if it can, or is missing."""
        try:
            self.config()
        except HostError as error:
            return [f"openclaw: {error}"]
        return []

    def path(self, text: str, config: Mapping[str, Any]) -> Path:
        """A path of the configuration; ``~`` is OpenClaw's home."""
        return self._path(self.filled(text, config))

    def filled(self, text: str, config: Mapping[str, Any]) -> str:
        """A text of the configuration with its variables, which are written ``${NAME}``."""
        own = value_at(config, ("env", "vars"))
        known = {**(own if isinstance(own, dict) else {}), **self.environ}
        return re.sub(r"\$\{([A-Z_][A-Z0-9_]*)\}", lambda found: str(known.get(found[1], found[0])), text)

    def plugin_config(self) -> tuple[Path | None, dict[str, Any]]:
        """The YAML file and the settings by dotted name that the plugin is configured with.

        Nothing of a configuration that cannot be read.  Raises :class:`SettingsError` when they are not what they
        must be.
        """
        try:
            config = self.config()
        except HostError:
            return None, {}
        file, settings = (value_at(config, (*_PLUGIN, name)) for name in ("configFile", "settings"))
        for name, value, kind, noun in (("configFile", file, str, "text"), ("settings", settings, dict, "an object")):
            if value is not MISSING and not isinstance(value, kind):
                raise SettingsError(f"{self.plugin_key(name)} must be {noun}, not {value!r}; mend it")
        return (
            self.path(file, config) if isinstance(file, str) and file.strip() else None,
            {
                key: self.filled(value, config) if isinstance(value, str) else value
                for key, value in (settings.items() if isinstance(settings, dict) else ())
            },
        )

    def plugin_key(self, name: str) -> str:
        """How a key of the plugin's configuration is named to a person."""
        return f"{self.config_file}: {'.'.join((*_PLUGIN, name))}"

    def workspace(self, agent: str = _MAIN) -> Path | None:
        """The workspace of an agent, or of the default agent when there is none of this name.

        A configuration that cannot be read counts as an empty one (:meth:`trouble` tells).  ``None`` when there are
        several agents and none of them is the default.
        """
        try:
            config = self.config()
        except HostError:
            config = {}
        agents = agents_in(config)
        default = _default(config, agents)
        wanted = agent_id(agent) if agent_id(agent) in agents else default
        if wanted is None:
            return None
        if own := _words(agents.get(wanted, {}).get("workspace")):
            return self.path(own, config)
        shared = _words(value_at(config, ("agents", "defaults", "workspace")))
        if wanted != default:
            return self.path(shared, config) / wanted if shared else self.state / f"workspace-{wanted}"
        return self.path(shared, config) if shared else self._usual_workspace()

    def _usual_workspace(self) -> Path:
        if named := self._set("OPENCLAW_WORKSPACE_DIR"):
            return Path(os.path.abspath(named))
        if self._set("OPENCLAW_STATE_DIR"):
            return self.state / "workspace"
        return self._profile_state(self._set("OPENCLAW_PROFILE")) / "workspace"

    def _profile_state(self, profile: str) -> Path:
        return self.home / (_STATE[0] if profile.lower() in ("", "default") else f"{_STATE[0]}-{profile}")

    def _path(self, text: str) -> Path:
        return _absolute(text.strip(), str(self.home))


def _absolute(path: str, home: str) -> Path:
    return Path(os.path.abspath(re.sub(r"^~(?=$|[\\/])", lambda _: home, path)))


def _words(value: Any) -> str:
    return value.replace("\0", "").strip() if isinstance(value, str) else ""


def agent_id(name: str) -> str:
    """The name of an agent as OpenClaw writes it: small letters, digits, ``_`` and ``-``."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.strip().lower()).strip("-")[:64] or _MAIN


def agents_in(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The agents of a configuration by their id; it writes them as an object or as a list."""
    entries = value_at(config, ("agents", "entries"))
    if entries is MISSING:
        listed = value_at(config, ("agents", "list"))
        rows = listed if isinstance(listed, list) else []
        named = [(str(row.get("id", "")), row) for row in rows if isinstance(row, dict)]
    else:
        named = list(entries.items()) if isinstance(entries, dict) else []
    found: dict[str, dict[str, Any]] = {}
    for name, entry in named:
        if isinstance(entry, dict):
            found.setdefault(agent_id(name), entry)
    return found or {_MAIN: {}}


def _default(config: Mapping[str, Any], agents: Mapping[str, Mapping[str, Any]]) -> str | None:
    explicit = value_at(config, ("agents", "ownership")) == "explicit"
    marked = [] if explicit else [name for name, entry in agents.items() if entry.get("default") is True]
    names = marked if len(marked) == 1 else list(agents)
    return names[0] if len(names) == 1 else None


# -- the file -----------------------------------------------------------------------------------------

Key = tuple[str, ...]


class Missing:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "(not set)"


MISSING = Missing()


def value_at(config: Any, path: Key) -> Any:
    """The value at ``path``, or :data:`MISSING`."""
    for key in path:
        if not isinstance(config, Mapping) or key not in config:
            return MISSING
        config = config[key]
    return config


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
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


def _parsed(text: str, file: Path, depth: int = 0) -> Any:
    try:
        loaded = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        try:
            loaded = _json5(text)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split()).replace("<string>:", "line ")
            raise HostError(f"{file}: not valid JSON5 ({reason}); run: openclaw config validate") from error
    return _included(loaded, file, depth)


@lru_cache(maxsize=16)
def _json5(text: str) -> Any:
    """What ``text`` holds, not to be changed; read once, as it takes 10 ms a kilobyte."""
    import json5

    return json5.loads(text)


def _included(value: Any, file: Path, depth: int, deepest: int = 10) -> Any:
    if isinstance(value, list):
        return [_included(each, file, depth) for each in value]
    if not isinstance(value, dict):
        return value
    rest = {key: _included(each, file, depth) for key, each in value.items() if key != "$include"}
    named = value.get("$include")
    if named is None:
        return rest
    if depth >= deepest:
        raise HostError(f"{file}: $include is nested more than {deepest} deep; run: openclaw config validate")
    if not isinstance(named, (str, list)):
        raise HostError(f"{file}: $include must be a name or a list of names; run: openclaw config validate")
    merged: Any = {}
    for name in [named] if isinstance(named, str) else named:
        other = file.parent / str(name)
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


def read_text(file: Path) -> str | None:
    """The text of ``file`` with its line ends as they are; ``None`` when there is no such file."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise HostError(f"{file}: not valid UTF-8 (byte {error.start}); mend or move it") from error
    except OSError as error:
        raise HostError(f"{file}: cannot be read ({error.strerror or error}); check its permissions") from error
