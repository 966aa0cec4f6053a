"""OpenClaw's state folder, configuration and workspaces, resolved as OpenClaw does.

Starting OpenClaw to ask it would take a second.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import HostError, SettingsError
from ..records import dataclass
from ..version import NAME

_CONFIG = ("openclaw.json", "clawdbot.json")
_STATE = (".openclaw", ".clawdbot")
#: Agent of a configuration without agents.
_MAIN = "main"
_PLUGIN = ("plugins", "entries", NAME, "config")


@dataclass(frozen=True, slots=True)
class OpenClawHome:
    """The folders of OpenClaw in one environment."""

    environ: Mapping[str, str]

    @classmethod
    def for_environment(cls, environ: Mapping[str, str] | None = None, profile: str | None = None) -> OpenClawHome:
        """Return the home in ``environ`` (default: the process's), changed as ``openclaw --profile`` does."""
        home = cls(os.environ if environ is None else environ)
        if not profile:
            return home
        # Variables that name folders of the profile in the environment do not apply to another profile.
        before, after = home._profile_state(home._set("OPENCLAW_PROFILE")), home._profile_state(profile)
        state, config = home._set("OPENCLAW_STATE_DIR"), home._set("OPENCLAW_CONFIG_PATH")
        if not state or home._path(state) == before:
            state = str(after)
            if config and home._path(config) == before / _CONFIG[0]:
                config = ""
        config = config or str(home._path(state) / _CONFIG[0])
        folders = {"OPENCLAW_PROFILE": profile, "OPENCLAW_STATE_DIR": state, "OPENCLAW_CONFIG_PATH": config}
        return cls({**home.environ, **folders})

    def _set(self, name: str) -> str:
        return self.environ.get(name, "").strip()

    @property
    def home(self) -> Path:
        """Return OpenClaw's home folder."""
        home = self._set("HOME") or self._set("USERPROFILE") or os.path.expanduser("~")
        named = self._set("OPENCLAW_HOME")
        return _absolute(named if named not in ("undefined", "null") and named else home, home)

    @property
    def state(self) -> Path:
        """Return the folder of its state, which may be missing."""
        if named := self._set("OPENCLAW_STATE_DIR"):
            return self._path(named)
        folders = [self.home / name for name in _STATE]
        return next((folder for folder in folders if folder.exists()), folders[0])

    @property
    def config_file(self) -> Path:
        """Return the path of its configuration, which may be missing."""
        if named := self._set("OPENCLAW_CONFIG_PATH"):
            return self._path(named)
        state = self.state
        folders = [state] if self._set("OPENCLAW_STATE_DIR") else [self.home / name for name in _STATE]
        files = [folder / name for folder in folders for name in _CONFIG]
        return next((file for file in files if file.exists()), state / _CONFIG[0])

    @property
    def plugin_state(self) -> Path:
        """Return the folder of this memory's plugin in the state."""
        return self.state / NAME

    def transcripts(self, agent: str) -> Path:
        """Return the database with the transcripts of an agent, which may be missing."""
        config, folder = {}, self.state / "agents" / agent_id(agent) / "agent"
        with suppress(HostError):
            config = self.config()
        if named := _text(agents_in(config).get(agent_id(agent), {}).get("agentDir")):
            folder = self.path(named, config)
        return folder / "openclaw-agent.sqlite"

    def conversations(self, agent: str) -> Path:
        """Return the folder of an agent's conversations as notes, which may be missing."""
        return self.plugin_state / "sessions" / agent_id(agent)

    def config(self) -> dict[str, Any]:
        """Return its configuration as written; raises :class:`HostError` when it cannot be read."""
        return read_config(self.config_file)

    def problems(self) -> list[str]:
        """Return the problem of a configuration that cannot be read; empty if it can, or is missing."""
        try:
            self.config()
        except HostError as error:
            return [f"openclaw: {error}"]
        return []

    def path(self, text: str, config: Mapping[str, Any]) -> Path:
        """Resolve a path of the configuration; ``~`` is OpenClaw's home."""
        return self._path(self.substitute_variables(text, config))

    def substitute_variables(self, text: str, config: Mapping[str, Any]) -> str:
        """Replace the variables ``${NAME}`` in a text of the configuration."""
        declared = value_at(config, ("env", "vars"))
        variables = {**(declared if isinstance(declared, dict) else {}), **self.environ}
        return re.sub(r"\$\{([A-Z_][A-Z0-9_]*)\}", lambda match: str(variables.get(match[1], match[0])), text)

    def plugin_config(self) -> tuple[Path | None, dict[str, Any]]:
        """Return the YAML file and the settings by dotted name in the plugin's configuration.

        Both are empty if the configuration cannot be read.  Raises :class:`SettingsError` for values of another type.
        """
        try:
            config = self.config()
        except HostError:
            return None, {}
        values: list[Any] = []
        for name, kind, noun in (("configFile", str, "text"), ("settings", dict, "an object")):
            value = value_at(config, (*_PLUGIN, name))
            if value is not MISSING and not isinstance(value, kind):
                raise SettingsError(f"{self.plugin_key(name)} must be {noun}, not {value!r}", "mend it")
            values.append(kind() if value is MISSING else value)
        file, settings = values
        texts = {k: self.substitute_variables(v, config) if isinstance(v, str) else v for k, v in settings.items()}
        return self.path(file, config) if file.strip() else None, texts

    def plugin_key(self, name: str) -> str:
        """Return the name of a key of the plugin's configuration for messages."""
        return f"{self.config_file}: {'.'.join((*_PLUGIN, name))}"

    def workspace(self, agent: str = _MAIN) -> Path | None:
        """Return the workspace of an agent, or of the default agent if there is none of this name.

        A configuration that cannot be read counts as empty (see :meth:`problems`).  ``None`` if there are several
        agents without a default.
        """
        try:
            config = self.config()
        except HostError:
            config = {}
        agents = agents_in(config)
        default = _default(config, agents)
        chosen = agent_id(agent) if agent_id(agent) in agents else default
        if chosen is None:
            return None
        if folder := _text(agents.get(chosen, {}).get("workspace")):
            return self.path(folder, config)
        shared = _text(value_at(config, ("agents", "defaults", "workspace")))
        if chosen != default:
            return self.path(shared, config) / chosen if shared else self.state / f"workspace-{chosen}"
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


def _text(value: Any) -> str:
    return value.replace("\0", "").strip() if isinstance(value, str) else ""


def agent_id(name: str) -> str:
    """Return the name of an agent as OpenClaw writes it: lower-case letters, digits, ``_`` and ``-``."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.strip().lower()).strip("-")[:64] or _MAIN


def agents_in(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the agents of a configuration by their id; it has them as an object or as a list."""
    entries = value_at(config, ("agents", "entries"))
    if entries is MISSING:
        listed = value_at(config, ("agents", "list"))
        rows = listed if isinstance(listed, list) else []
        named = [(str(row.get("id", "")), row) for row in rows if isinstance(row, dict)]
    else:
        named = list(entries.items()) if isinstance(entries, dict) else []
    agents: dict[str, dict[str, Any]] = {}
    for name, entry in named:
        if isinstance(entry, dict):
            agents.setdefault(agent_id(name), entry)
    return agents or {_MAIN: {}}


def _default(config: Mapping[str, Any], agents: Mapping[str, Mapping[str, Any]]) -> str | None:
    explicit = value_at(config, ("agents", "ownership")) == "explicit"
    marked = [] if explicit else [name for name, entry in agents.items() if entry.get("default") is True]
    names = marked if len(marked) == 1 else list(agents)
    return names[0] if len(names) == 1 else None


# -- the file -----------------------------------------------------------------------------------------

Key = tuple[str, ...]


#: The value of a missing key.
MISSING: Any = object()


def value_at(config: Any, path: Key) -> Any:
    """Return the value at ``path``, or :data:`MISSING`."""
    for key in path:
        if not isinstance(config, Mapping) or key not in config:
            return MISSING
        config = config[key]
    return config


def read_config(file: Path) -> dict[str, Any]:
    """Return the configuration with its ``$include`` files; empty without a file.

    Raises :class:`HostError` naming the file and the line when it cannot be read.
    """
    text = read_text(file)
    loaded = {} if text is None or not text.strip() else _parse(text, file)
    if not isinstance(loaded, dict):
        raise HostError("the top level must be an object {…}", "run: openclaw config validate", file)
    return loaded


def is_plain_json(file: Path) -> bool:
    """Return true if rewriting ``file`` as JSON loses nothing, such as comments."""
    text = read_text(file)
    try:
        json.loads(text or "{}")
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


def _parse(text: str, file: Path, depth: int = 0) -> Any:
    try:
        loaded = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        try:
            loaded = _json5(text)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split()).replace("<string>:", "line ")
            raise HostError(f"not valid JSON5 ({reason})", "run: openclaw config validate", file) from error
    return _resolve_includes(loaded, file, depth)


@lru_cache(maxsize=16)
def _json5(text: str) -> Any:
    """Parse ``text`` once, as it takes 10 ms a kilobyte; the result must not be changed."""
    import json5

    return json5.loads(text)


def _resolve_includes(value: Any, file: Path, depth: int, deepest: int = 10) -> Any:
    if isinstance(value, list):
        return [_resolve_includes(each, file, depth) for each in value]
    if not isinstance(value, dict):
        return value
    rest = {key: _resolve_includes(each, file, depth) for key, each in value.items() if key != "$include"}
    named = value.get("$include")
    if named is None:
        return rest
    if depth >= deepest:
        raise HostError(f"$include is nested more than {deepest} deep", "run: openclaw config validate", file)
    if not isinstance(named, (str, list)):
        raise HostError("$include must be a name or a list of names", "run: openclaw config validate", file)
    merged: Any = {}
    for name in [named] if isinstance(named, str) else named:
        other = file.parent / str(name)
        text = read_text(other)
        if text is None:
            raise HostError(f"no such file, and {file} includes it", "run: openclaw config validate", other)
        merged = _merge(merged, _parse(text, other, depth + 1))
    return _merge(merged, rest) if rest else merged


def _merge(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _merge(below.get(key), value) for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *above]
    return above


def read_text(file: Path) -> str | None:
    """Return the text of ``file`` with its line ends; ``None`` if it does not exist."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise HostError(f"not valid UTF-8 (byte {error.start})", "mend or move it", file) from error
    except OSError as error:
        raise HostError(f"cannot be read ({error.strerror or error})", "check its permissions", file) from error
