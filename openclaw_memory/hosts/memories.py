"""What other hosts write down themselves, which can be read where it is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

#: Places of each host's memory and of its standing instructions: for every project, and in that folder.
_PLACES: dict[str, Callable[[Path], tuple[Path, ...]]] = {
    "claude-code": lambda project: (
        _home("CLAUDE_CONFIG_DIR", ".claude") / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory",
        _home("CLAUDE_CONFIG_DIR", ".claude") / "CLAUDE.md",
        project / "CLAUDE.md",
    ),
    "codex": lambda project: (
        _home("CODEX_HOME", ".codex") / "memories",
        _home("CODEX_HOME", ".codex") / "AGENTS.md",
        project / "AGENTS.md",
    ),
    "gemini": lambda project: (_home("GEMINI_CLI_HOME", "") / ".gemini" / "GEMINI.md", project / "GEMINI.md"),
    "opencode": lambda project: (_home("XDG_CONFIG_HOME", ".config") / "opencode" / "AGENTS.md", project / "AGENTS.md"),
}


def own_memories(host: str, project: Path) -> list[Path]:
    """Return the files and folders of notes of ``host`` for every project and for the folder ``project``."""
    places = _PLACES[host](project) if host in _PLACES else ()
    return [place for place in places if place.is_file() or (place.is_dir() and any(place.rglob("*.md")))]


def _home(variable: str, folder: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / folder)
