"""The environments that ``openclaw memory setup`` makes for the plugin; a file beside them names the one in use."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path


def current(home: Path) -> Path:
    """The environment in use below our folder in OpenClaw's state; ``venv``, its name of old, if none is named."""
    try:
        name = (home / "venv.current").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        name = ""
    return home / (name if re.fullmatch(r"venv[\w.+-]*", name, re.ASCII) else "venv")


def made(home: Path) -> list[Path]:
    """All environments that are there, in use or not."""
    return sorted(folder for folder in home.glob("venv*") if folder.is_dir())


def remove_unused(home: Path) -> list[Path]:
    """Remove what is neither in use nor run by a process, such as that of a gateway; returns what was removed."""
    old = [folder for folder in made(home) if folder != current(home)]
    running = _arguments() if old else []
    removed = []
    for folder in old:
        inside = tuple(f"{path}{os.sep}" for path in (folder, folder.resolve()))
        if any(argument.startswith(inside) for argument in running):
            continue
        with contextlib.suppress(OSError):
            # One step: what cannot be removed is left whole, and no process can start from half of it.
            shutil.rmtree(folder.rename(home / f"removed-{folder.name}"), ignore_errors=True)
            removed.append(folder)
    return removed


def _arguments() -> list[str]:
    """The command lines of all processes that may be seen."""
    import psutil

    found: list[str] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            found += process.cmdline()
    return found
