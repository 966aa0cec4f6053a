"""Open a file in the user's editor, at a line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..errors import OpenClawMemoryError
from ..system import shell
from ..system.child import programs, start


def open_in_editor(file: Path, line: int | None = None) -> None:
    """Run $VISUAL, $EDITOR or the default editor on ``file``, at ``line`` (counted from 1), until it is closed.

    Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` when there is no such program, or it fails.
    """
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = shell.split(chosen) if chosen else _default_editor()
    name = Path(command[0]).stem.lower()
    if line is None:
        place = [str(file)]
    elif name in ("code", "code-insiders", "codium", "cursor", "windsurf"):
        place = ["--goto", f"{file}:{line}"]
    elif name in ("subl", "zed", "hx", "helix", "micro"):
        place = [f"{file}:{line}"]
    else:
        place = [str(file)] if os.name == "nt" and name == "notepad" else [f"+{line}", str(file)]
    try:
        # Where standard output is read as JSON, an editor in the terminal takes that of errors.
        stdout = None if sys.stdout.isatty() else 2
        # With its ending, which Windows wants of scripts such as code.cmd.
        program = next(programs(os.path.expanduser(command[0])), command[0])
        with start([program, *command[1:], *place], stdout=stdout) as editor:
            code = editor.wait()
    except OSError as error:
        raise OpenClawMemoryError(
            f"{command[0]} cannot be started ({error.strerror or error}); set EDITOR to your editor"
        ) from error
    if code:
        raise OpenClawMemoryError(f"{command[0]} ended with exit code {code}; set EDITOR to your editor")


def _default_editor() -> list[str]:
    names = ["notepad"] if os.name == "nt" else ["sensible-editor", "nano", "vim", "vi"]
    program = next((file for name in names for file in programs(name)), None)
    if program is None:
        raise OpenClawMemoryError("there is no editor; set EDITOR to yours")
    return [program]
