"""Codex: ``[mcp_servers.openclaw-memory]`` and our hooks in ``config.toml`` in ``$CODEX_HOME`` or ``~/.codex``."""

from __future__ import annotations

import os
import re
from pathlib import Path

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from ..system import shell
from ..system.yaml_edit import line_break
from . import NAME, HostError
from .bundles import hooks
from .config_file import get_entry, read_text
from .events import ACTIONS
from .mcp import Registration, Server, plan_addition, plan_removal

TITLE = "Codex"
_TABLE = "mcp_servers"


def register(server: Server, project: Path | None) -> Registration:
    """Plan to add the server, or to bring its command up to date."""
    file = _file(project)
    text = read_text(file)
    next_step = "restart Codex; '/mcp' shows it with its tools, '/hooks' its hooks, which run once you trust them there"
    if project is not None:
        next_step += ". Codex reads a project's file only when the project is trusted"
    document, after = _parse(text or "", file), text or ""
    before, command = _entry(document, file), {"command": server.command, "args": server.args}
    if before is None or any(before.get(key) != value for key, value in command.items()):
        tables = document.setdefault(_TABLE, tomlkit.table(is_super_table=True))
        if before is None:
            tables[NAME] = tomlkit.inline_table() if isinstance(tables, InlineTable) else tomlkit.table()
        tables[NAME].update(command)  # its other keys and its own tables stay
    _remove_hooks(document)
    for event, groups in hooks("codex", shell.join(server.hook("codex")))["hooks"].items():
        tables = document.setdefault("hooks", tomlkit.table(is_super_table=True))
        tables.setdefault(event, tomlkit.aot()).extend(groups)
    if document.unwrap() != _parse(text or "", file).unwrap():
        after = _dump(document, after, file)
    return plan_addition(file, text, after, before is None, next_step)


def unregister(project: Path | None) -> Registration:
    """Plan to take the server out again."""
    file = _file(project)
    text = read_text(file)
    document, after = _parse(text or "", file), text or ""
    entry = _entry(document, file)
    if entry is not None:
        del document[_TABLE][NAME]
        if not document[_TABLE]:
            del document[_TABLE]
    if _remove_hooks(document) or entry is not None:
        after = _dump(document, after, file)
    return plan_removal(file, text, after, not after.strip(), "restart Codex")


def _file(project: Path | None) -> Path:
    if project is not None:
        return project / ".codex" / "config.toml"
    return Path(os.path.expanduser(os.environ.get("CODEX_HOME") or "~/.codex")) / "config.toml"


def _entry(document: TOMLDocument, file: Path) -> dict[str, object] | None:
    return get_entry(document.unwrap(), _TABLE, NAME, file, "a table")


def _remove_hooks(document: TOMLDocument) -> bool:
    """Remove our hooks; return true if there were any."""
    found, events = False, document.get("hooks", {})
    for event in [event for event in ACTIONS["codex"] if event in events]:
        groups = events[event]
        ours = [at for at, group in enumerate(groups.unwrap()) if f"{NAME} hook " in str(group.get("hooks"))]
        for at in reversed(ours):
            del groups[at]
        if ours and not groups:
            del events[event]
        found = found or bool(ours)
    if found and not events:
        del document["hooks"]
    return found


def _parse(text: str, file: Path) -> TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise HostError(f"{file}: not valid TOML ({error}); mend it and try again") from error


def _dump(document: TOMLDocument, before: str, file: Path) -> str:
    """Return the text of ``document`` with the line breaks of the text ``before``."""
    text = re.sub(r"\r?\n", line_break(before), tomlkit.dumps(document))
    try:
        intact = tomlkit.parse(text).unwrap() == document.unwrap()
    except TOMLKitError:
        intact = False
    if not intact:  # hooks in one line, for example
        raise HostError(f"{file}: cannot be changed without changing more than our entry; change it by hand")
    return text
