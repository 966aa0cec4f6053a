"""Codex: the table ``[mcp_servers.openclaw-memory]`` of ``config.toml`` in ``$CODEX_HOME`` or ``~/.codex``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..system.yaml_edit import line_break
from . import NAME, HostError
from .change import member, read_text
from .mcp import Registration, Server, added, removed

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

TITLE = "Codex"
_TABLE = "mcp_servers"


def register(server: Server, project: Path | None) -> Registration:
    """Add the server, or bring its command up to date."""
    file = _file(project)
    text = read_text(file)
    then = "restart Codex; '/mcp' shows it with its tools"
    if project is not None:
        then += ". Codex reads a project's file only when the project is trusted"
    new = _entry(_parsed(text or "", file), file) is None
    return added(file, text, _with_entry(text or "", file, server), new, then)


def unregister(project: Path | None) -> Registration:
    """Take the server out again."""
    file = _file(project)
    text = read_text(file)
    after = _without_entry(text or "", file)
    return removed(file, text, after, not after.strip(), "restart Codex")


def _file(project: Path | None) -> Path:
    if project is not None:
        return project / ".codex" / "config.toml"
    return Path(os.path.expanduser(os.environ.get("CODEX_HOME") or "~/.codex")) / "config.toml"


def _with_entry(text: str, file: Path, server: Server) -> str:
    """``text`` with the command of the server in our table; its other keys and its own tables stay."""
    import tomlkit
    from tomlkit.items import InlineTable

    document, wanted = _parsed(text, file), {"command": server.command, "args": server.args}
    before = _entry(document, file)
    if before is not None and all(before.get(key) == value for key, value in wanted.items()):
        return text
    tables = document.setdefault(_TABLE, tomlkit.table(is_super_table=True))
    if before is None:
        tables[NAME] = tomlkit.inline_table() if isinstance(tables, InlineTable) else tomlkit.table()
    tables[NAME].update(wanted)
    return _dumped(document, text)


def _without_entry(text: str, file: Path) -> str:
    document = _parsed(text, file)
    if _entry(document, file) is None:
        return text
    del document[_TABLE][NAME]
    if not document[_TABLE]:
        del document[_TABLE]
    return _dumped(document, text)


def _entry(document: TOMLDocument, file: Path) -> dict[str, object] | None:
    return member(document.unwrap(), _TABLE, NAME, file, "a table")


def _parsed(text: str, file: Path) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise HostError(f"{file}: not valid TOML ({error}); mend it and try again") from error


def _dumped(document: TOMLDocument, before: str) -> str:
    """The text of ``document`` with the line ends that it had."""
    import tomlkit

    return re.sub(r"\r?\n", line_break(before), tomlkit.dumps(document))
