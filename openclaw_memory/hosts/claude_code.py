"""Claude Code: by its own command for every project, by ``.mcp.json`` for one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import NAME, HostError
from .change import read_text
from .json_edit import entry_in
from .json_hosts import JsonHost
from .mcp import SERVERS, Registration, Server, entry_diff
from .process import find, run

TITLE = "Claude Code"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    if project is not None:
        return _project().register(server, project)
    claude, file = _claude(), _user_file()
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    entry = server.entry(before)

    def apply() -> None:
        # Its file is changed by its own command only: a running Claude Code writes there too.
        if before is None:
            _add(claude, entry)
        else:
            _replace(claude, before, entry)

    where = f"{SERVERS}.{NAME} of {file}"
    then = "restart Claude Code; '/mcp' shows it with its tools"
    return Registration(where, [] if before == entry else entry_diff(where, before, entry), apply, then)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    if project is not None:
        return _project().unregister(project)
    file, then = _user_file(), "restart Claude Code"
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    where = f"{SERVERS}.{NAME} of {file}"
    if before is None:
        return Registration(where, [], lambda: None, then)
    claude = _claude()
    lines = entry_diff(where, before, None)
    return Registration(where, lines, lambda: _run(claude, "remove", "--scope", "user", NAME), then)


def _project() -> JsonHost:
    then = "restart Claude Code; '/mcp' shows the project's servers, and it asks once whether to trust them"
    return JsonHost(TITLE, _user_file, ".mcp.json", then, typed=True)


def _add(claude: str, entry: dict[str, Any]) -> None:
    _run(claude, "add-json", "--scope", "user", NAME, json.dumps(entry, ensure_ascii=False))


def _replace(claude: str, before: dict[str, Any], entry: dict[str, Any]) -> None:
    """Put our entry in the place of the one ``before``, which comes back when that fails."""
    _run(claude, "remove", "--scope", "user", NAME)
    try:
        _add(claude, entry)
    except BaseException as error:
        try:
            _add(claude, before)
        except HostError:
            raise HostError(f"{error}. Add the entry that was there by hand: {json.dumps(before)}") from error
        if isinstance(error, HostError):
            raise HostError(f"{error}. The entry that was there is back") from error
        raise


def _claude() -> str:
    found = find("claude")
    if found is None:
        raise HostError(
            "claude is not on PATH, and only Claude Code itself changes the settings of all projects; "
            "put it on PATH, or give one project: --project DIR writes DIR/.mcp.json"
        )
    return found


def _user_file() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or "~"
    return Path(os.path.expanduser(folder)) / ".claude.json"


def _run(claude: str, *arguments: str) -> None:
    done = run([claude, "mcp", *arguments], timeout=60)
    if done.code:
        raise HostError(f"'claude mcp {arguments[0]}' failed: {done.reason}; run it yourself, or use --project DIR")
