"""The plugin's npm package holds the whole Python package: OpenClaw installs it from there."""

from __future__ import annotations

from pathlib import Path

import openclaw_memory
from openclaw_memory.hosts.plugin_files import copy_plugin


def test_every_file_of_the_python_package_is_in_the_plugin(tmp_path: Path) -> None:
    package = Path(openclaw_memory.__file__).parent
    staged = copy_plugin(tmp_path / "plugin") / package.name
    left_out = {"__pycache__", "_openclaw"}

    def files(folder: Path) -> set[Path]:
        found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
        return {file for file in found if not left_out.intersection(file.parts)}

    assert files(staged) == files(package)
