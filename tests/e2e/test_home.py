"""The folders that we take for OpenClaw's are those that it takes itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from host import ENVIRON
from openclaw_homes import HOMES, Home

from openclaw_memory.config.openclaw_home import OpenClawHome

pytestmark = pytest.mark.e2e


class Resolve(Protocol):
    def __call__(self, environ: dict[str, str], profile: str | None) -> Any: ...


@pytest.fixture(scope="module")
def resolve(openclaw: Path) -> Iterator[Resolve]:
    """The configuration and the workspaces that OpenClaw takes."""
    usual = {"PATH": f"{openclaw}{os.pathsep}{ENVIRON['PATH']}", "DO_NOT_TRACK": "1"}
    running = subprocess.Popen(
        [openclaw / "node", Path(__file__).with_name("homes.mjs"), openclaw.parent],
        env=usual | {"HOME": "/nonexistent"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdin is not None and running.stdout is not None

    def ask(environ: dict[str, str], profile: str | None) -> Any:
        print(json.dumps({"environ": environ | usual, "profile": profile}), file=running.stdin, flush=True)
        return json.loads(running.stdout.readline())

    with running:
        yield ask
        running.stdin.close()


@pytest.mark.parametrize("given", HOMES.values(), ids=HOMES)
def test_openclaw_resolves_the_same(given: Home, tmp_path: Path, resolve: Resolve) -> None:
    environ = given.make(tmp_path)
    home = OpenClawHome.for_environment(environ, given.profile)
    workspaces = {name: str(home.workspace(name)) for name in given.workspaces}
    assert resolve(environ, given.profile) == {"path": str(home.config_file), "workspaces": workspaces}
