"""The folders that we take for OpenClaw's are those that it takes itself."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from openclaw_homes import HOMES, Home

from openclaw_memory.config.openclaw_home import OpenClawHome

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("given", HOMES.values(), ids=HOMES)
def test_openclaw_resolves_the_same(given: Home, tmp_path: Path, openclaw: Path) -> None:
    environ = given.make(tmp_path) | {"PATH": f"{openclaw}{os.pathsep}{os.environ['PATH']}", "DO_NOT_TRACK": "1"}
    options = ["--profile", given.profile] if given.profile else []

    def told(words: str) -> object:
        done = subprocess.run(
            [openclaw / "openclaw", *options, *words.split(), "--json"],
            env=environ, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        return json.loads(done.stdout)

    home = OpenClawHome.for_environment(environ, given.profile)
    moved = bool(given.environ or given.profile)  # else the workspaces show that the usual file was read
    with ThreadPoolExecutor() as pool:
        agents, *files = pool.map(told, ["agents list", *(["config file"] if moved else [])])
    assert files == [{"path": str(home.config_file)}] * moved
    assert isinstance(agents, list)
    assert {each["id"]: each["workspace"] for each in agents} == {
        each["id"]: str(home.workspace(each["id"])) for each in agents
    }
    assert {each["id"] for each in agents} == set(given.workspaces)
