"""OpenClaw through its own command: what it is, what it has, installing the plugin and changing the configuration."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..config.openclaw_home import OpenClawHome
from ..config.workspace import expanded
from . import NAME, HostError
from .openclaw_config import KeyChange, as_patch
from .plugin_files import MANIFEST, stage
from .process import Done, find, run

OLDEST = (2026, 9, 6)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of OpenClaw's, and the folder of its memory."""

    id: str
    workspace: Path
    default: bool = False


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """One installation of OpenClaw and one of its profiles."""

    command: str
    profile: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    #: What its command said when it changed something.
    said: list[str] = field(default_factory=list)

    def call(self, *arguments: str, timeout: float = 120, input: str | None = None) -> Done:
        """Run ``openclaw`` with these arguments; a Raspberry Pi takes ten times as long as a laptop."""
        options = ["--profile", self.profile] if self.profile else []
        node = [find("node") or "node"] if self.command.endswith((".js", ".mjs")) else []
        return run([*node, self.command, *options, *arguments], timeout=timeout, input=input, environ=self.environ)

    def version(self) -> tuple[int, ...]:
        """Its version; raises :class:`HostError` when it does not run, or is too old."""
        done = self.call("--version")
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", done.out)
        if done.code or not found:
            raise HostError(f"'{self.command} --version' failed: {done.reason}")
        version = tuple(int(part) for part in found.groups())
        if version < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise HostError(f"OpenClaw {found[0]} is too old: this needs {oldest}; run: openclaw update")
        return version

    @property
    def home(self) -> OpenClawHome:
        """Where it keeps things."""
        return OpenClawHome.for_environment(self.environ, self.profile)

    def validate(self) -> None:
        """Let OpenClaw check its configuration; raises :class:`HostError` when it would refuse to work with it."""
        file = self.home.config_file
        done = self.call("config", "validate", "--json") if file.exists() else None
        if done is not None and done.code:
            raise HostError(f"{file}: OpenClaw does not accept it: {done.reason}; run: openclaw doctor --fix")

    def read_only(self) -> str | None:
        """Why its configuration cannot be changed by its command; ``None`` when it can."""
        for name in ("OPENCLAW_NIX_MODE", "OPENCLAW_CONFIG_READONLY"):
            if self.environ.get(name) == "1":
                return f"{name}=1: OpenClaw's configuration is managed elsewhere"
        return None

    def agents(self) -> list[Agent]:
        """Its agents, the default one first."""
        done = self.call("agents", "list", "--json")
        rows = done.json
        if done.code or not isinstance(rows, list):
            raise HostError(f"'openclaw agents list' failed: {done.reason}; run: openclaw doctor")
        agents = [
            Agent(str(row["id"]), Path(row["workspace"]), bool(row.get("isDefault")))
            for row in rows
            if isinstance(row, dict) and row.get("id") and row.get("workspace")
        ]
        return sorted(agents, key=lambda agent: not agent.default)

    def plugin_folder(self) -> Path | None:
        """Where the plugin is installed; ``None`` when it is not."""
        return usual_plugin_folder(self.home.state) or self.told_plugin_folder()

    def told_plugin_folder(self) -> Path | None:
        """Where OpenClaw itself says that the plugin is: it knows more places."""
        done = self.call("plugins", "inspect", NAME, "--json")
        told = done.json
        root = told.get("plugin", {}).get("rootDir") if isinstance(told, dict) and not done.code else None
        return Path(root) if root and (Path(root) / MANIFEST).is_file() else None

    def install_plugin(self) -> None:
        """Install the plugin that this package carries."""
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-plugin-") as temporary:
            folder = stage(Path(temporary) / NAME)
            self._change("plugins", "install", str(folder), "--force", "--accept-capabilities")

    def uninstall_plugin(self) -> None:
        """Take the plugin, and all that the configuration says of it, away."""
        self._change("plugins", "uninstall", NAME, "--force")

    def change(self, changes: Iterable[KeyChange]) -> None:
        """Change the configuration in one write that OpenClaw validates."""
        patch = as_patch(changes)
        if patch:
            self._change("config", "patch", "--stdin", input=json.dumps(patch, ensure_ascii=False))

    def _change(self, *arguments: str, input: str | None = None) -> None:
        done = self.call(*arguments, timeout=600, input=input)  # an install may wait for the network
        if done.code:
            shown = " ".join(arguments[:2])
            raise HostError(f"'openclaw {shown}' failed: {done.reason}; mend that and run this again")
        self.said.append(done.out + done.err)

    @property
    def wants_restart(self) -> bool:
        """Whether what was changed reaches a running gateway only when it starts again."""
        return any(
            words in said
            for said in self.said
            for words in ("Saved for the next Gateway start", "Restart the gateway to apply")
        )

    def gateway_runs(self) -> bool:
        """Whether a gateway of this configuration answers."""
        done = self.call("gateway", "status", "--json")
        rpc = done.json.get("rpc") if isinstance(done.json, dict) else None
        return isinstance(rpc, dict) and rpc.get("ok") is True


def usual_plugin_folder(state: Path) -> Path | None:
    """The plugin's folder where an install from a folder, an archive or npm puts it."""
    folders = [state / "extensions" / NAME]
    folders += sorted(state.glob(f"npm/projects/*/node_modules/{NAME}"))
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def find_openclaw(given: str | None) -> str | None:
    """The command as ``given``, a script of OpenClaw's included, else from PATH; ``None`` when it is not there."""
    if given is not None and given.endswith((".js", ".mjs")):
        script = os.path.abspath(expanded(given))
        return script if os.path.isfile(script) else None
    return find("openclaw", given)
