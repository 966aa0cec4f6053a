"""Plugins of hosts: files that bring them our hooks, for :mod:`openclaw_memory.cli.setup` and for the repository.

``.ci/bundles`` writes those of the repository, which start the command that is on PATH.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..system import shell
from ..version import __version__
from . import NAME, HostError, config_file
from .events import ACTIONS, TIMEOUT
from .mcp import SERVERS, Registration, Server, plan_addition, plan_removal

_ABOUT = {
    "name": NAME,
    "version": __version__,
    "description": "Long-term memory over Markdown notes: it reminds and remembers by itself; no LLM call, no network",
}
_AUTHOR = {"author": {"name": "The openclaw-memory authors"}, "license": "MIT"}
_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"


def hooks(host: str, command: str) -> dict[str, Any]:
    """Return the hooks of ``host`` as its JSON, each a run of ``command``."""
    handler: dict[str, Any] = {"type": "command", "command": command, "timeout": TIMEOUT}
    if host == "gemini":
        handler["timeout"] = TIMEOUT * 1000  # it counts milliseconds
    group: Any = {"hooks": [handler]}
    if host == "vscode":
        group = handler
    if host == "cursor":
        group = {"command": command, "timeout": TIMEOUT}
    return {**({"version": 1} if host == "cursor" else {}), "hooks": {event: [group] for event in ACTIONS[host]}}


def plugin_files(host: str, server: Server) -> dict[str, str]:
    """Return the files of the plugin of ``host`` that ``setup`` makes, by their paths in its folder."""
    told = _dump(hooks(host, shell.join(server.hook(host))))
    if host == "claude-code":
        return {".claude-plugin/plugin.json": _dump({**_ABOUT, **_AUTHOR}), "hooks/hooks.json": told}
    if host == "cursor":
        manifest = {**_ABOUT, **_AUTHOR, "hooks": "./hooks/hooks.json"}
        return {".cursor-plugin/plugin.json": _dump(manifest), "hooks/hooks.json": told}
    if host == "gemini":
        entry = {SERVERS: {NAME: {"command": server.command, "args": server.args}}}
        return {"gemini-extension.json": _dump({**_ABOUT, **entry}), "hooks/hooks.json": told}
    if host == "opencode":
        return {f"{NAME}.js": opencode_plugin(server)}
    return {f"{NAME}.json": told}


def opencode_plugin(server: Server) -> str:
    """Return opencode's plugin, which is one module."""
    text = Path(__file__).with_name("opencode.js").read_text(encoding="utf-8")
    for name, command in (("HOOK", server.hook("opencode")), ("SERVER", [server.command, *server.args])):
        text = text.replace(f"const {name} = [];", f"const {name} = {json.dumps(command, ensure_ascii=False)};")
    return text


def repository_files() -> dict[str, str]:
    """Return the plugins that stand in this repository, for the marketplaces of hosts."""
    server, about = Server(NAME, None, capture=True), {**_ABOUT, **_AUTHOR}
    entry = {SERVERS: {NAME: {"command": server.command, "args": server.args}}}
    plain = {"type": "stdio", "command": server.command, "args": Server(NAME, None).args}
    claude, market = "bundles/claude-code", {"name": NAME, "description": _ABOUT["description"]}
    told = {host: _dump(hooks(host, shell.join(server.hook(host)))) for host in ("claude-code", "cursor", "gemini")}
    cursor = {**about, "hooks": "./bundles/cursor/hooks.json", **entry}
    # Agent Plugins has skills and servers, and no hooks.
    generic = {**about, "description": "Long-term memory over Markdown notes: no LLM call, no network"}
    plugins = [{"name": NAME, "source": f"./{claude}", "description": _ABOUT["description"], "version": __version__}]
    return {
        ".claude-plugin/marketplace.json": _dump({**market, "owner": _AUTHOR["author"], "plugins": plugins}),
        f"{claude}/.claude-plugin/plugin.json": _dump(about),
        f"{claude}/.codex-plugin/plugin.json": _dump(about),
        f"{claude}/.mcp.json": _dump(entry),
        f"{claude}/hooks/hooks.json": told["claude-code"],  # Codex has the same events, fields and answers
        ".cursor-plugin/plugin.json": _dump(cursor),
        "bundles/cursor/hooks.json": told["cursor"],
        "gemini-extension.json": _dump({**_ABOUT, **entry}),
        "hooks/hooks.json": told["gemini"],
        "plugin.json": _dump({"$schema": f"{_SCHEMAS}/plugin.schema.json", **generic}),
        "mcp.json": _dump({"$schema": f"{_SCHEMAS}/mcp.schema.json", SERVERS: {NAME: plain}}),
        f"bundles/opencode/{NAME}.js": opencode_plugin(server),
    }


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# -- setup ---------------------------------------------------------------------------------------------

#: The folder of our plugin for every project, and for one (``None``: the host has none there).
_FOLDERS: dict[str, tuple[Callable[[], str], str | None]] = {
    "claude-code": (
        lambda: f"{os.environ.get('CLAUDE_CONFIG_DIR') or '~/.claude'}/skills/{NAME}", f".claude/skills/{NAME}"
    ),
    "cursor": (lambda: f"~/.cursor/plugins/local/{NAME}", None),
    "gemini": (lambda: f"{os.environ.get('GEMINI_CLI_HOME') or '~'}/.gemini/extensions/{NAME}", None),
    "opencode": (lambda: f"{os.environ.get('XDG_CONFIG_HOME') or '~/.config'}/opencode/plugins", ".opencode/plugins"),
    "vscode": (lambda: "~/.copilot/hooks", ".github/hooks"),
}  # fmt: skip
TITLES = {"gemini": "Gemini CLI", "opencode": "opencode"}


def plan_plugin(host: str, server: Server | None, project: Path | None) -> list[Registration]:
    """Plan to write the plugin of ``host`` for ``server``, or without one to delete it; nothing for other hosts."""
    if host not in _FOLDERS:
        return []
    every, one = _FOLDERS[host]
    if project is not None and one is None:
        if host in TITLES:
            raise HostError(f"{TITLES[host]} has extensions for all projects only; leave --project out")
        return []
    folder = Path(every()).expanduser() if project is None else project / str(one)
    next_step = f"restart {TITLES.get(host, 'it')}; it then has the memory and its hooks"
    if server is not None:
        planned = []
        for path, text in plugin_files(host, server).items():
            before = config_file.read_text(folder / path)
            planned.append(plan_addition(folder / path, before, text, before is None, next_step))
        return planned
    names = plugin_files(host, Server(NAME, None))
    # The first file has the record of the folders that were made for all, so it goes last.
    files = [(folder / path, config_file.read_text(folder / path)) for path in reversed(names)]
    return [plan_removal(file, text, "", True, next_step) for file, text in files if text is not None]
