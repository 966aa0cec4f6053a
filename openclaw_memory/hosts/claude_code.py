"""Claude Code: by its own command for every project, by ``.mcp.json`` for one."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import NAME, HostError
from .change import FileChange, read_text
from .json_edit import entry_in, remove_member, set_member
from .mcp import SERVERS, Registration, Server, entry_diff, of_file
from .process import find, run

TITLE = "Claude Code"
_SECONDS = 60.0


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    then = "start Claude Code anew; '/mcp' shows it with its tools"
    if project is not None:
        file = project / ".mcp.json"
        text = read_text(file)
        before = entry_in(text or "", file, SERVERS, NAME)
        after = set_member(text or "", file, SERVERS, NAME, server.entry(before))
        return of_file(FileChange(file, text, after), then + ". It asks once whether to trust the project's servers")
    claude, file = _claude(), _user_file()
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    entry = server.entry(before)

    def apply() -> None:
        # Its file is changed by its own command only: a running Claude Code writes there too.
        if before is not None:
            _run(claude, "remove", "--scope", "user", NAME)
        _run(claude, "add-json", "--scope", "user", NAME, json.dumps(entry, ensure_ascii=False))

    where = f"{SERVERS}.{NAME} of {file}"
    return Registration(where, [] if before == entry else entry_diff(where, before, entry), apply, then)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    then = "start Claude Code anew"
    if project is not None:
        file = project / ".mcp.json"
        text = read_text(file)
        change = FileChange(file, text, remove_member(text or "", file, SERVERS, NAME))
        return of_file(change, then)
    file = _user_file()
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    where = f"{SERVERS}.{NAME} of {file}"
    if before is None:
        return Registration(where, [], lambda: None, then)
    claude = _claude()
    lines = entry_diff(where, before, None)
    return Registration(where, lines, lambda: _run(claude, "remove", "--scope", "user", NAME), then)


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
    done = run([claude, "mcp", *arguments], timeout=_SECONDS)
    if done.code:
        raise HostError(f"'claude mcp {arguments[0]}' failed: {done.reason}; run it yourself, or use --project DIR")
