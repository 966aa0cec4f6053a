"""Plugins of hosts: setup writes and removes them byte for byte, and the repository's are what the code makes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commands
import pytest
from click.testing import Result
from fakes import Notes

from openclaw_memory.hosts import NAME
from openclaw_memory.hosts.bundles import repository_files
from openclaw_memory.hosts.events import ACTIONS
from openclaw_memory.hosts.process import own_command

ROOT = Path(__file__).parent.parent.parent
HOSTS = ["claude-code", "codex", "cursor", "gemini", "opencode", "vscode"]
ALONE = ["claude-code", "codex", "opencode", "vscode"]


@pytest.fixture
def run(notes: Notes) -> Callable[..., Result]:
    notes.write("MEMORY.md", "- a lamp\n")
    return partial(commands.run, "-w", str(notes.root), "setup")


def tree(folder: Path) -> dict[str, bytes | None]:
    """Files with their bytes, and folders, but not what the command keeps for itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if "data" not in path.relative_to(folder).parts[:1]
    }


@pytest.mark.parametrize("host", ["codex", "cursor", "gemini", "opencode", "vscode"])
def test_a_home_is_as_it_was(run: Callable[..., Result], host: str) -> None:
    home = Path(os.environ["HOME"])
    before = tree(home)
    assert "captures" in run(host, "--yes").stdout
    made = {path: text.decode() for path, text in tree(home).items() if text is not None and path not in before}
    assert any("openclaw-memory hook" in text or f'"{own_command()}", "hook"' in text for text in made.values())
    assert "nothing to change" in run(host).stdout
    run(host, "--uninstall", "--yes")
    assert tree(home) == before
    assert "nothing to change" in run(host, "--uninstall").stdout


@pytest.mark.parametrize("host", ALONE)
def test_a_project_is_as_it_was(run: Callable[..., Result], tmp_path: Path, host: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".claude").mkdir()
    before = tree(project)
    run(host, "--project", str(project), "--yes")
    assert any(b" hook " in (text or b"") or b'"hook"' in (text or b"") for text in tree(project).values())
    run(host, "--project", str(project), "--uninstall", "--yes")
    assert tree(project) == before


def test_gemini_has_no_extension_of_a_project(run: Callable[..., Result], tmp_path: Path) -> None:
    assert "all projects only" in run("gemini", "--project", str(tmp_path), code=1).stderr


@pytest.mark.parametrize(
    "text",
    [
        '[[hooks.Stop]]\nmatcher = "x"  # mine\n\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "mine"\n',
        "[hooks]\nother = 1\n\n[z]\na = 1\n",
    ],
)
def test_codex_keeps_other_hooks(run: Callable[..., Result], text: str) -> None:
    file = Path(os.environ["HOME"], ".codex", "config.toml")
    file.parent.mkdir()
    file.write_text(text)
    run("codex", "--yes")
    hooks = tomllib.loads(file.read_text())["hooks"]
    assert set(ACTIONS["codex"]) <= set(hooks)
    commands_of_stop = [hook["command"] for group in hooks["Stop"] for hook in group["hooks"]]
    assert ("mine" in commands_of_stop) == ("mine" in text) and len(commands_of_stop) == 1 + ("mine" in text)
    own = file.read_text()
    run("codex", "--yes")
    assert file.read_text() == own
    file.write_text(f"{own}\n[y]\nb = 2\n")
    run("codex", "--uninstall", "--yes")
    left = tomllib.loads(file.read_text())
    assert left == tomllib.loads(text) | {"y": {"b": 2}}


def test_a_codex_file_with_its_hooks_in_one_line_is_left_as_it_is(run: Callable[..., Result]) -> None:
    file = Path(os.environ["HOME"], ".codex", "config.toml")
    file.parent.mkdir()
    text = 'hooks = { Stop = [ { hooks = [ { type = "command", command = "mine" } ] } ] }\n'
    file.write_text(text)
    assert "change it by hand" in run("codex", "--yes", code=1).stderr
    assert file.read_text() == text


def test_who_has_set_capture_is_heeded(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_CAPTURE_ENABLED", "false")
    assert "captures" not in run("gemini", "--yes").stdout
    entry = json.loads(Path(os.environ["HOME"], f".gemini/extensions/{NAME}/gemini-extension.json").read_text())
    assert "--set" not in entry["mcpServers"][NAME]["args"]


def test_a_path_with_spaces_reaches_the_hook(tmp_path: Path) -> None:
    root = tmp_path / "my notes"
    root.mkdir()
    commands.run("-w", str(root), "setup", "gemini", "--yes")
    hooks = json.loads(Path(os.environ["HOME"], f".gemini/extensions/{NAME}/hooks/hooks.json").read_text())["hooks"]
    assert list(hooks) == list(ACTIONS["gemini"])
    words = shlex.split(hooks["BeforeAgent"][0]["hooks"][0]["command"])
    assert words == [own_command(), "hook", "--workspace", str(root), "--set", "capture.enabled=true", "gemini"]


def test_the_repositorys_plugins_are_what_the_code_makes() -> None:
    done = subprocess.run([sys.executable, ROOT / ".ci" / "bundles", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for path, text in repository_files().items():
        assert path.endswith(".js") or NAME in json.dumps(json.loads(text))
    marketplace = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert (ROOT / marketplace["plugins"][0]["source"] / ".claude-plugin" / "plugin.json").is_file()
