"""Files of captures are ours: what redaction has learned to see since they were written is taken out of them."""

from __future__ import annotations

import logging
from pathlib import Path

from ..errors import WorkspaceError
from ..model import SourceFile
from ..plugins.manager import Plugins
from ..system import atomic

log = logging.getLogger("openclaw_memory.ingest")

#: Folder of the captures in a workspace.
FOLDER = "memory/captures"


def redact(workspace: Path, file: SourceFile, text: str, plugins: Plugins) -> None:
    """Write the file again without its secrets, if it is one of ours whose ``text`` holds any.

    What cannot be written is left as it is, with a warning: the index is redacted all the same.
    """
    if not file.path.startswith(f"{FOLDER}/") or plugins.without_secrets(text) == text:
        return
    path = Path(file.absolute)
    try:
        with atomic.locked(workspace / FOLDER, root=workspace):
            there = atomic.read(path, workspace).decode("utf-8", "surrogateescape")
            atomic.replace(path, plugins.without_secrets(there), workspace)
    except (OSError, UnicodeError, WorkspaceError) as error:
        log.warning("%s: holds a secret and cannot be rewritten (%s); make it writable", file.path, error)
