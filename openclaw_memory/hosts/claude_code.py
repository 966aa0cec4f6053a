"""Claude Code: by its own command for every project, by ``.mcp.json`` for one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..config.settings import data_dir
from ..errors import writing
from ..system import atomic
from . import NAME, HostError
from .config_file import entry_in, read_text
from .mcp import SERVERS, Registration, Server, add_to_json, entry_diff, remove_from_json
from .process import find_program, run_command

TITLE = "Claude Code"


def register(server: Server, project: Path | None) -> Registration:
    """Plan to add the server, or to bring its command up to date."""
    next_step = "restart Claude Code; '/mcp' shows it with its tools"
    if project is not None:
        next_step += ". It asks once whether to trust the project's servers"
        return add_to_json(project / ".mcp.json", server, next_step)
    claude, file = _claude(), _user_file()
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    entry = server.entry(before)

    def apply() -> None:
        # Only its own command changes its file: a running Claude Code writes there too.
        if before is None:
            _add(claude, entry)
        else:
            _replace(claude, before, entry)

    where = f"{SERVERS}.{NAME} of {file}"
    return Registration(where, [] if before == entry else entry_diff(where, before, entry), apply, next_step)


def unregister(project: Path | None) -> Registration:
    """Plan to take the server out again."""
    next_step = "restart Claude Code"
    if project is not None:
        return remove_from_json(project / ".mcp.json", next_step)
    file = _user_file()
    before = entry_in(read_text(file) or "", file, SERVERS, NAME)
    where = f"{SERVERS}.{NAME} of {file}"
    if before is None:
        return Registration(where, [], lambda: None, next_step)
    claude = _claude()
    lines = entry_diff(where, before, None)
    return Registration(where, lines, lambda: _run(claude, "remove", "--scope", "user", NAME), next_step)


def _add(claude: str, entry: dict[str, Any]) -> None:
    _run(claude, "add-json", "--scope", "user", NAME, json.dumps(entry, ensure_ascii=False))


def _replace(claude: str, before: dict[str, Any], entry: dict[str, Any]) -> None:
    """Replace our entry ``before``, which a file keeps until that is done."""
    copy = data_dir() / "claude-code-entry.json"
    with writing(copy, HostError):
        atomic.write_bytes(copy, json.dumps(before, indent=2, ensure_ascii=False).encode(), 0o600)
    _run(claude, "remove", "--scope", "user", NAME)
    try:
        _add(claude, entry)
    except BaseException as error:
        try:
            _add(claude, before)
        except HostError:
            raise HostError(f"{error}. The entry that was there is kept in {copy}; add it by hand") from error
        copy.unlink()
        if isinstance(error, HostError):
            raise HostError(f"{error}. The entry that was there is back") from error
        raise
    copy.unlink()


def _claude() -> str:
    claude = find_program("claude")
    if claude is None:
        raise HostError(
            "claude is not on PATH, and only Claude Code itself changes the settings of all projects; "
            "put it on PATH, or give one project: --project DIR writes DIR/.mcp.json"
        )
    return claude


def _user_file() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or "~"
    return Path(os.path.expanduser(folder)) / ".claude.json"


def _run(claude: str, *arguments: str) -> None:
    result = run_command([claude, "mcp", *arguments], timeout=60)
    if result.code:
        raise HostError(f"'claude mcp {arguments[0]}' failed: {result.reason}; run it yourself, or use --project DIR")
