"""A stand-in for the ``openclaw`` command: the part of its contract that ``setup`` uses, on real files.

The real one takes seconds for each call; tests/e2e runs against it.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

SCRIPT = """#!{python}
import json, os, shutil, sys
from pathlib import Path

arguments = sys.argv[1:]
home = Path(os.environ["HOME"])
state = Path(os.environ.get("OPENCLAW_STATE_DIR") or home / ".openclaw")
if arguments[:1] == ["--profile"]:
    state = home / (".openclaw-" + arguments[1])
    arguments = arguments[2:]
file = Path(os.environ.get("OPENCLAW_CONFIG_PATH") or state / "openclaw.json")
plugin = state / "extensions" / "openclaw-memory"
called = " ".join(arguments[:2])
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if os.environ.get("FAKE_FAIL") == called:
    print("Config warnings: plugins.entries.x: nothing", file=sys.stderr)
    sys.exit("it went wrong\\nfor a reason")

def load():
    if not file.exists():
        return {{}}
    try:
        return json.loads(file.read_text())
    except ValueError:
        import json5
        return json5.loads(file.read_text())

def save(config):
    state.mkdir(parents=True, exist_ok=True)
    config["meta"] = {{"lastTouchedVersion": "2026.9.6"}}
    file.write_text(json.dumps(config, indent=2))
    with open(os.environ["FAKE_LOG"] + ".slots", "a") as log:
        log.write(str(config.get("plugins", {{}}).get("slots", {{}}).get("memory")) + "\\n")

def merge(below, patch):
    for key, value in patch.items():
        if value is None:
            below.pop(key, None)
        elif isinstance(value, dict):
            merge(below.setdefault(key, {{}}), value)
        else:
            below[key] = value

def fail(message):
    print(json.dumps({{"ok": False, "error": {{"type": "cli_error", "message": message}}, "issues": [{{"path": "agents", "message": "bad"}}]}}))
    sys.exit(1)

if called == "--version":
    print(os.environ.get("FAKE_VERSION", "OpenClaw 2026.9.6 (eb377ac)"))
elif called == "config file":
    print(json.dumps({{"path": str(file)}}))
elif called == "config validate":
    if os.environ.get("FAKE_INVALID"):
        fail("OpenClaw config is invalid")
    print(json.dumps({{"valid": True}}))
elif called == "config patch":
    config = load()
    merge(config, json.load(sys.stdin))
    save(config)
    print(os.environ.get("FAKE_HINT", "Change will apply without restarting the gateway."))
elif called == "agents list":
    config = load()
    agents = config.get("agents", {{}})
    entries = agents.get("entries") or {{"main": {{}}}}
    usual = agents.get("defaults", {{}}).get("workspace", str(state / "workspace"))
    print(json.dumps([{{"id": name, "workspace": entry.get("workspace", usual), "isDefault": name == "main"}}
                      for name, entry in sorted(entries.items(), reverse=True)]))
elif called == "plugins list":
    ours = [{{"id": "openclaw-memory", "rootDir": str(plugin)}}] if plugin.is_dir() else []
    print(json.dumps({{"plugins": [{{"id": "memory-core", "rootDir": str(state)}}, *ours]}}))
elif called == "plugins install":
    assert arguments[3:] == ["--force", "--accept-capabilities"]
    shutil.rmtree(plugin, ignore_errors=True)
    shutil.copytree(arguments[2], plugin)
    config = load()
    plugins = config.setdefault("plugins", {{}})
    plugins.setdefault("entries", {{}}).setdefault("openclaw-memory", {{}}).setdefault("enabled", True)
    if plugins["entries"]["openclaw-memory"]["enabled"]:
        plugins.setdefault("slots", {{}})["memory"] = "openclaw-memory"
    if plugins.get("allow") and "openclaw-memory" not in plugins["allow"]:
        plugins["allow"].append("openclaw-memory")
    if "openclaw-memory" in plugins.get("deny", []):
        plugins["deny"].remove("openclaw-memory")
        if not plugins["deny"]:
            del plugins["deny"]
    save(config)
    print("Installed plugin: openclaw-memory\\nSaved for the next Gateway start.")
elif called == "plugins uninstall":
    assert arguments[2:] == ["openclaw-memory", "--force"]
    if not plugin.is_dir():
        sys.exit('Plugin "openclaw-memory" is not associated with a tracked package install.')
    shutil.rmtree(plugin)
    config = load()
    plugins = config.setdefault("plugins", {{}})
    plugins.setdefault("entries", {{}})["openclaw-memory"] = {{"enabled": False}}
    if plugins.get("slots", {{}}).pop("memory", None) and not plugins["slots"]:
        del plugins["slots"]
    if "openclaw-memory" in plugins.get("allow", []):
        plugins["allow"].remove("openclaw-memory")
    save(config)
elif called == "gateway status":
    print(json.dumps({{"rpc": {{"ok": os.environ.get("FAKE_GATEWAY") == "1"}}}}))
else:
    sys.exit("unknown command: " + called)
"""


class OpenClawDouble:
    """The command, its state and what it was called with."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.command = folder / "openclaw"
        self.state = home / ".openclaw"
        self.file = self.state / "openclaw.json"
        self.log = folder / "calls.jsonl"
        self.workspace = self.state / "workspace"
        folder.mkdir(parents=True, exist_ok=True)
        self.command.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
        self.command.chmod(self.command.stat().st_mode | stat.S_IXUSR)
        os.environ["FAKE_LOG"] = str(self.log)

    def write(self, config: Any) -> None:
        self.state.mkdir(parents=True, exist_ok=True)
        self.file.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")

    def config(self) -> dict[str, Any]:
        """The configuration without what OpenClaw itself notes in it."""
        found: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        found.pop("meta", None)
        return found

    def slots(self) -> list[str]:
        """Who had the memory slot after each change."""
        log = self.log.with_name(f"{self.log.name}.slots")
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    def calls(self, verb: str) -> list[list[str]]:
        """The calls that begin with these words."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        words = verb.split()
        return [call for line in lines if (call := json.loads(line))[: len(words)] == words]


def filled(config: Any) -> Any:
    """A configuration without empty objects, which say nothing."""
    if not isinstance(config, dict):
        return config
    return {key: value for key, value in ((key, filled(inner)) for key, inner in config.items()) if value != {}}
