"""Claude Code, Codex, Gemini CLI and opencode themselves list our server and our hooks, and have neither afterwards.

They come from npm into the cache of the other tests here; where npm is not reachable, nothing is run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from host import ENVIRON, EXECUTABLE, cache_folder

PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.197", "codex": "@openai/codex@0.171.0",
    "gemini": "@google/gemini-cli@0.61.0", "opencode": "opencode-ai@1.18.33",
}  # fmt: skip
pytestmark = pytest.mark.e2e

#: Seconds for a command of a host.
TIMEOUT = 180


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the hosts' commands."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm")
    folder = Path(ENVIRON.get("OPENCLAW_E2E_CACHE") or cache_folder() / "openclaw-memory-e2e") / "hosts"
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / "node_modules" / ".bin" / name).exists() for name in PACKAGES):
        if subprocess.run([npm, "ping"], env=ENVIRON, capture_output=True, timeout=TIMEOUT).returncode:
            pytest.skip("npm is not reachable")
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES.values()]
        subprocess.run(install, env=ENVIRON, check=True, timeout=900)
    return folder / "node_modules" / ".bin"


class Home:
    """Runs commands of the hosts, and ours, in a home of its own."""

    def __init__(self, programs: Path, folder: Path) -> None:
        home, self.notes = folder / "home", folder / "notes"
        home.mkdir()
        self.notes.mkdir()
        (self.notes / "MEMORY.md").write_text("# Lamps\n\n- The green lamp stands by the door\n")
        folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
        self.environ = ENVIRON | folders | {"HOME": str(home), "OPENCLAW_MEMORY_EMBEDDING_MODEL": "none"}
        self.environ |= {"NO_COLOR": "1", "PATH": f"{programs}{os.pathsep}{ENVIRON['PATH']}"}

    def __call__(self, *command: str) -> str:
        if command[0] == "setup":
            command = (str(EXECUTABLE), "--workspace", str(self.notes), *command)
        done = subprocess.run(
            command, env=self.environ, cwd=self.notes, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=TIMEOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def run(programs: Path, tmp_path: Path) -> Home:
    return Home(programs, tmp_path)


def codex_hooks(environ: dict[str, str], folder: Path) -> list[dict[str, Any]]:
    """What Codex's own server says of hooks."""
    codex = shutil.which("codex", path=environ["PATH"])
    assert codex is not None
    with subprocess.Popen(
        [codex, "app-server"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        client = {"clientInfo": {"name": "test", "title": "test", "version": "1"}}
        for number, (method, params) in enumerate([("initialize", client), ("hooks/list", {"cwds": [str(folder)]})]):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = next(found for line in process.stdout if (found := json.loads(line)).get("id") == number)
        process.kill()
    hooks: list[dict[str, Any]] = answer["result"]["data"][0]["hooks"]
    return hooks


def test_claude_code(run: Home) -> None:
    run("setup", "claude-code", "--yes")
    assert "Connected" in run("claude", "mcp", "list")
    assert "openclaw-memory@skills-dir" in run("claude", "plugin", "list")
    details = run("claude", "plugin", "details", "openclaw-memory@skills-dir")
    assert "SessionStart, UserPromptSubmit, Stop, PreCompact, SessionEnd" in details
    run("setup", "claude-code", "--uninstall", "--yes")
    assert "openclaw-memory" not in run("claude", "mcp", "list") + run("claude", "plugin", "list")


def test_claude_code_and_codex_take_the_repository_as_a_marketplace(run: Home) -> None:
    root = str(Path(__file__).parent.parent.parent)
    for claude in (True, False):
        program, install = ("claude", "install") if claude else ("codex", "add")
        run(program, "plugin", "marketplace", "add", root)
        run(program, "plugin", install, "openclaw-memory@openclaw-memory")
        assert "openclaw-memory@openclaw-memory" in run(program, "plugin", "list")
    assert "passed" in run("claude", "plugin", "validate", f"{root}/bundles/claude-code")
    assert "openclaw-memory" in run("codex", "mcp", "list")
    assert len(codex_hooks(run.environ, Path(root))) == 5


def test_codex(run: Home) -> None:
    run("setup", "codex", "--yes")
    assert "openclaw-memory" in run("codex", "mcp", "list")
    hooks = codex_hooks(run.environ, run.notes)
    events = {"preCompact", "sessionStart", "sessionEnd", "userPromptSubmit", "stop"}
    assert {hook["eventName"] for hook in hooks if " hook " in hook["command"]} == events
    run("setup", "codex", "--uninstall", "--yes")
    assert "openclaw-memory" not in run("codex", "mcp", "list")


def test_gemini_cli(run: Home, tmp_path: Path) -> None:
    run("setup", "gemini", "--yes")
    listed = run("gemini", "extensions", "list")
    assert "✓ openclaw-memory" in listed and "MCP servers:" in listed
    folder = tmp_path / "home" / ".gemini" / "extensions" / "openclaw-memory"
    assert "successfully validated" in run("gemini", "extensions", "validate", str(folder))
    run("setup", "gemini", "--uninstall", "--yes")
    assert "openclaw-memory" not in run("gemini", "extensions", "list")


def test_opencode(run: Home) -> None:
    run("setup", "opencode", "--yes")
    listed = run("opencode", "mcp", "list")
    assert "openclaw-memory" in listed and "connected" in listed
    run("setup", "opencode", "--uninstall", "--yes")
    assert "openclaw-memory" not in run("opencode", "mcp", "list")
