"""The OpenClaw plugin that ships inside this package, put together as a folder that OpenClaw can install."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ..system import atomic
from . import HostError

MANIFEST = "openclaw.plugin.json"
_PACKAGE = "openclaw_memory"
#: npm packs these whether they are listed or not.
_ALWAYS = ("package.json", MANIFEST, "README.md", "LICENSE")


def plugin_source() -> Path:
    """The folder of the plugin's manifest: in a wheel below the package, else the repository.

    Raises :class:`HostError` when this copy of the package has none.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_openclaw", package.parent):
        if (folder / MANIFEST).is_file() and (folder / "package.json").is_file():
            return folder
    raise HostError(f"{package}: this copy of openclaw-memory ships no OpenClaw plugin; install it from its wheel")


def plugin_version(folder: Path) -> str | None:
    """The version that the manifest in ``folder`` states."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    version = manifest.get("version") if isinstance(manifest, dict) else None
    return version if isinstance(version, str) else None


def stage(target: Path) -> Path:
    """Copy the plugin into ``target``, with the Python source as the npm package has it; returns ``target``."""
    for name, file in sorted(_files().items()):
        atomic.make_folder((target / name).parent)
        shutil.copy(file, target / name)  # with its mode: the skill has scripts
    return target


def same_files(folder: Path) -> bool:
    """Whether ``folder`` holds this plugin as it is here, byte for byte."""
    try:
        return all((folder / name).read_bytes() == file.read_bytes() for name, file in _files().items())
    except OSError:
        return False


def _files() -> dict[str, Path]:
    """The files of the npm package: the name there, and where each is here."""
    root, package = plugin_source(), Path(__file__).resolve().parent.parent
    try:
        patterns = json.loads((root / "package.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError) as error:
        raise HostError(f"{root / 'package.json'}: cannot be read ({error}); reinstall openclaw-memory") from error
    found: dict[str, Path] = {}
    for pattern in [*_ALWAYS, *patterns]:
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
                    found[name.as_posix()] = file
    return found
