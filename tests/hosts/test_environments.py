"""The plugin's environments: the one in use is found, and what nothing uses any more is removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_memory.hosts.plugin_files import current_environment, list_environments, remove_unused_environments


def make(home: Path, *names: str) -> list[Path]:
    folders = [home / name for name in names]
    for folder in folders:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "openclaw-memory").write_text("import sys\nprint('runs', flush=True)\nsys.stdin.read()\n")
    return folders


def test_the_one_in_use_is_the_one_that_is_named(tmp_path: Path) -> None:
    assert current_environment(tmp_path) == tmp_path / "venv"
    pointer = tmp_path / "venv.current"
    pointer.write_text("venv-0.2.0\n")
    assert current_environment(tmp_path) == tmp_path / "venv-0.2.0"
    for odd in ("../elsewhere", "/etc", "", "index"):
        pointer.write_text(odd)
        assert current_environment(tmp_path) == tmp_path / "venv"
    pointer.write_bytes(b"\xff\xfe")
    assert current_environment(tmp_path) == tmp_path / "venv"


@pytest.mark.skipif(sys.platform == "win32", reason="the file that is run is no program there")
def test_what_a_process_runs_from_stays_until_it_ends(tmp_path: Path) -> None:
    old, newer, new = make(tmp_path, "venv", "venv-0.2.0", "venv-0.2.0-2")
    (tmp_path / "index").mkdir()
    (tmp_path / "venv.current").write_text("venv-0.2.0-2\n")
    with subprocess.Popen(
        [sys.executable, str(newer / "bin" / "openclaw-memory")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None and running.stdout.readline() == "runs\n"
        assert remove_unused_environments(tmp_path) == [old]
        assert list_environments(tmp_path) == [newer, new]
    assert remove_unused_environments(tmp_path) == [newer]
    assert remove_unused_environments(tmp_path) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["index", "venv-0.2.0-2", "venv.current"]
