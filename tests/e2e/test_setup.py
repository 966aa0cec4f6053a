"""`openclaw-memory setup` for those who have the Python package first, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from host import EXECUTABLE, PLUGIN, Host
from model import ask
from probe import write

pytestmark = pytest.mark.e2e


def test_setup_and_back(new_host: Callable[[str], Host], tiny_gguf: Path) -> None:
    host = new_host("python-first")
    host.env["OPENCLAW_MEMORY_EMBEDDING_MODEL"] = str(tiny_gguf)
    host.configure()
    write(host.workspace, "memory/2026-03-03.md", "- The deploy passphrase is blue bunny.\n")

    assert "blue bunny" in host.execute(EXECUTABLE, "setup", "--yes", "--query", "deploy passphrase")
    assert "blue bunny" in host.local_turn(ask("deploy passphrase"))

    host.execute(EXECUTABLE, "setup", "--uninstall", "--yes")
    assert PLUGIN not in host.config_file.read_text()
    plugins = {plugin["id"]: plugin for plugin in host.run_json("plugins", "list")["plugins"]}
    assert plugins["memory-core"]["enabled"] and PLUGIN not in plugins
    host.assert_nothing_runs()
