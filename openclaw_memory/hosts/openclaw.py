"""OpenClaw through its own command: inspect it, install the plugin, change the configuration."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from ..config.openclaw_home import OpenClawHome
from ..config.workspace import expand_home
from ..records import dataclass
from . import NAME, HostError
from .openclaw_config import KeyChange, to_patch
from .plugin_files import MANIFEST, copy_plugin
from .process import CommandResult, find_program, run_command

OLDEST = (2026, 9, 6)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of OpenClaw, and the folder of its memory."""

    id: str
    workspace: Path


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """One installation of OpenClaw and one of its profiles."""

    command: str
    profile: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    #: Output of its commands that changed something.
    outputs: list[str] = field(default_factory=list)

    def call(self, *arguments: str, timeout: float = 120, input: str | None = None) -> CommandResult:
        """Run ``openclaw`` with these arguments; a Raspberry Pi takes ten times as long as a laptop."""
        options = ["--profile", self.profile] if self.profile else []
        node = [find_program("node") or "node"] if self.command.endswith((".js", ".mjs")) else []
        return run_command(
            [*node, self.command, *options, *arguments], timeout=timeout, input=input, environ=self.environ
        )

    def version(self) -> tuple[int, ...]:
        """Return its version; raises :class:`HostError` when it does not run, or is too old."""
        result = self.call("--version")
        match = re.search(r"(\d+)\.(\d+)\.(\d+)", result.out)
        if result.code or not match:
            raise HostError(f"'{self.command} --version' failed: {result.reason}")
        version = tuple(int(part) for part in match.groups())
        if version < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            lacks = "earlier ones do not say who wrote a message, so that your own would count as a stranger's"
            raise HostError(f"OpenClaw {match[0]} is too old: this needs {oldest}, as {lacks}; run: openclaw update")
        return version

    @property
    def home(self) -> OpenClawHome:
        """Its folders."""
        return OpenClawHome.for_environment(self.environ, self.profile)

    def validate(self) -> None:
        """Let OpenClaw check its configuration; raises :class:`HostError` when it would refuse to work with it."""
        file = self.home.config_file
        result = self.call("config", "validate", "--json") if file.exists() else None
        if result is not None and result.code:
            raise HostError(f"{file}: OpenClaw does not accept it: {result.reason}; run: openclaw doctor --fix")

    def read_only(self) -> str | None:
        """Return the reason why its command cannot change its configuration; ``None`` if it can."""
        for name in ("OPENCLAW_NIX_MODE", "OPENCLAW_CONFIG_READONLY"):
            if self.environ.get(name) == "1":
                return f"{name}=1: OpenClaw's configuration is managed elsewhere"
        return None

    def agents(self) -> list[Agent]:
        """Return its agents, the default one first."""
        result = self.call("agents", "list", "--json")
        rows = result.json
        if result.code or not isinstance(rows, list):
            raise HostError(f"'openclaw agents list' failed: {result.reason}; run: openclaw doctor")
        rows = [row for row in rows if isinstance(row, dict) and row.get("id") and row.get("workspace")]
        rows.sort(key=lambda row: not row.get("isDefault"))
        return [Agent(str(row["id"]), Path(row["workspace"])) for row in rows]

    def plugin_folder(self) -> Path | None:
        """Return the folder of the installed plugin, or ``None``."""
        return find_plugin_folder(self.home.state) or self.reported_plugin_folder()

    def reported_plugin_folder(self) -> Path | None:
        """Return the plugin's folder as OpenClaw reports it: it knows more places."""
        result = self.call("plugins", "list", "--json")  # ``inspect`` loads every plugin, which takes seconds
        rows = result.json.get("plugins", ()) if isinstance(result.json, dict) and not result.code else ()
        root = next((row.get("rootDir") for row in rows if row.get("id") == NAME), None)
        return Path(root) if root and (Path(root) / MANIFEST).is_file() else None

    def install_plugin(self) -> None:
        """Install the plugin that this package carries."""
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-plugin-") as temporary:
            folder = copy_plugin(Path(temporary) / NAME)
            self._change("plugins", "install", str(folder), "--force", "--accept-capabilities")

    def uninstall_plugin(self) -> None:
        """Remove the plugin and its part of the configuration."""
        self._change("plugins", "uninstall", NAME, "--force")

    def change(self, changes: Iterable[KeyChange]) -> None:
        """Change the configuration in one write that OpenClaw validates."""
        patch = to_patch(changes)
        if patch:
            self._change("config", "patch", "--stdin", input=json.dumps(patch, ensure_ascii=False))

    def _change(self, *arguments: str, input: str | None = None) -> None:
        result = self.call(*arguments, timeout=600, input=input)  # an install may wait for the network
        if result.code:
            shown = " ".join(arguments[:2])
            raise HostError(f"'openclaw {shown}' failed: {result.reason}; mend that and run this again")
        self.outputs.append(result.out + result.err)

    @property
    def wants_restart(self) -> bool:
        """True if a running gateway applies the changes only when it starts again."""
        return any(
            words in output
            for output in self.outputs
            for words in ("Saved for the next Gateway start", "Restart the gateway to apply")
        )

    def gateway_runs(self) -> bool:
        """Return true if a gateway of this configuration answers."""
        result = self.call("gateway", "status", "--json")
        rpc = result.json.get("rpc") if isinstance(result.json, dict) else None
        return isinstance(rpc, dict) and rpc.get("ok") is True


def find_plugin_folder(state: Path) -> Path | None:
    """Return the plugin's folder where an install from a folder, an archive or npm puts it, or ``None``."""
    folders = [state / "extensions" / NAME]
    folders += sorted(state.glob(f"npm/projects/*/node_modules/{NAME}"))
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def find_openclaw(path: str | None) -> str | None:
    """Return the command at ``path``, which may be a script of OpenClaw, else the one on PATH, or ``None``."""
    if path is not None and path.endswith((".js", ".mjs")):
        script = os.path.abspath(expand_home(path))
        return script if os.path.isfile(script) else None
    return find_program("openclaw", path)
