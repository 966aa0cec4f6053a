"""The files of the OpenClaw plugin: the folder that OpenClaw installs, and the Python environments that it uses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from pathlib import Path

import psutil

from ..system import atomic
from . import HostError

MANIFEST = "openclaw.plugin.json"
_PACKAGE = "openclaw_memory"


def plugin_source() -> Path:
    """Return the folder of the plugin's manifest: in a wheel below the package, else the repository.

    Raises :class:`HostError` when this copy of the package has none.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_openclaw", package.parent):
        if (folder / MANIFEST).is_file() and (folder / "package.json").is_file():
            return folder
    raise HostError(f"{package}: this copy of openclaw-memory ships no OpenClaw plugin; install it from its wheel")


def plugin_version(folder: Path) -> str | None:
    """Return the version in the manifest of ``folder``."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    version = manifest.get("version") if isinstance(manifest, dict) else None
    return version if isinstance(version, str) else None


def copy_plugin(target: Path) -> Path:
    """Copy the plugin into ``target``, with the Python source as in the npm package; returns ``target``."""
    for name, file in sorted(_files().items()):
        atomic.make_folder((target / name).parent)
        shutil.copy(file, target / name)  # keeps the mode: the skill has scripts
    return target


def same_files(folder: Path) -> bool:
    """Return true if ``folder`` holds this plugin, byte for byte."""
    try:
        return all((folder / name).read_bytes() == file.read_bytes() for name, file in _files().items())
    except OSError:
        return False


def _files() -> dict[str, Path]:
    """Return the files of the npm package: their paths here by the names there."""
    root, package = plugin_source(), Path(__file__).resolve().parent.parent
    try:
        patterns = json.loads((root / "package.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError) as error:
        raise HostError(f"{root / 'package.json'}: cannot be read ({error}); reinstall openclaw-memory") from error
    sources: dict[str, Path] = {}
    # npm packs these whether they are listed or not.
    for pattern in ["package.json", MANIFEST, "README.md", "LICENSE", *patterns]:
        # In a wheel the package itself is the Python source.
        base, below = root, pattern.strip("/")
        if below == _PACKAGE or below.startswith(f"{_PACKAGE}/"):
            base, below = package, below.removeprefix(_PACKAGE).strip("/") or "**/*"
        for match in base.glob(below):
            files = [each for each in match.rglob("*") if each.is_file()] if match.is_dir() else [match]
            for file in files:
                inside = file.relative_to(base)
                if not {"__pycache__", "_openclaw", "node_modules"}.intersection(inside.parts):
                    name = inside if base == root else Path(_PACKAGE) / inside
                    sources[name.as_posix()] = file
    return sources


# -- its environments: ``openclaw memory setup`` makes them, a file beside them names the one in use ------------


def current_environment(home: Path) -> Path:
    """Return the environment in use below our folder in OpenClaw's state; ``venv``, the former name, by default."""
    try:
        name = (home / "venv.current").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        name = ""
    return home / (name if re.fullmatch(r"venv[\w.+-]*", name, re.ASCII) else "venv")


def list_environments(home: Path) -> list[Path]:
    """Return all environments, in use or not."""
    return sorted(folder for folder in home.glob("venv*") if folder.is_dir())


def remove_unused_environments(home: Path) -> list[Path]:
    """Remove the environments that are neither in use nor run by a process, such as a gateway's; returns them."""
    old = [folder for folder in list_environments(home) if folder != current_environment(home)]
    running: list[str] = []
    for process in psutil.process_iter() if old else ():
        with contextlib.suppress(psutil.Error, OSError):
            running += process.cmdline()
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
