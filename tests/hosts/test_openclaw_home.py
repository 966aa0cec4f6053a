"""Where OpenClaw's folders are, and what is said when its configuration cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import Notes
from openclaw_homes import HOMES, USUAL, Home, configured

from openclaw_memory.cli.main import cli
from openclaw_memory.config.openclaw_home import OpenClawHome
from openclaw_memory.config.workspace import find_workspace, index_folder
from openclaw_memory.errors import WorkspaceError


@pytest.mark.parametrize("given", HOMES.values(), ids=HOMES)
def test_folders_are_where_openclaw_has_them(given: Home, tmp_path: Path) -> None:
    home = OpenClawHome.for_environment(given.make(tmp_path), given.profile)
    assert str(home.config_file) == given.config.replace("~", str(tmp_path))
    found = {agent: str(home.workspace(agent)) for agent in given.workspaces}
    assert found == {agent: folder.replace("~", str(tmp_path)) for agent, folder in given.workspaces.items()}


@pytest.mark.parametrize("given", HOMES.values(), ids=HOMES)
def test_the_workspace_and_the_index_are_those_of_that_home(given: Home, tmp_path: Path) -> None:
    home = OpenClawHome.for_environment(given.make(tmp_path), given.profile)
    home.plugin_state.mkdir(parents=True)
    assert index_folder(environ=home.environ) == home.state / "openclaw-memory" / "index"
    for agent in given.workspaces:
        folder = home.workspace(agent)
        assert folder is not None
        if not folder.is_relative_to(tmp_path):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        assert find_workspace(None, home.environ, agent) == folder.resolve()


def test_an_agent_that_openclaw_does_not_know_has_the_workspace_of_the_default_one(tmp_path: Path) -> None:
    home = OpenClawHome.for_environment(configured("{agents:{entries:{a:{},'Ops':{default:true}}}}").make(tmp_path))
    assert home.workspace("main") == home.workspace("OPS") == tmp_path / ".openclaw" / "workspace"
    several = OpenClawHome.for_environment(
        configured("{agents:{ownership:'explicit',entries:{a:{},b:{}}}}").make(tmp_path)
    )
    assert several.workspace("main") is None


def test_a_workspace_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = configured("{agents:{defaults:{workspace:'~/gone'}}}").make(tmp_path)
    (tmp_path / ".openclaw" / "workspace").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceError, match="gone is not there"):
        find_workspace(None, environ)


UNREADABLE = {
    "no JSON5": "{ broken",
    "a list": "[]",
    "nested too deep": "[" * 100_000,
    "an include of a number": "{$include: 3}",
    "no include": "{$include: 'none.json'}",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_a_configuration_that_cannot_be_read_is_said(notes: Notes, text: str) -> None:
    home = Path(os.environ["HOME"])
    configured(text).make(home)
    (home / ".openclaw" / "workspace" / "memory").mkdir(parents=True)
    run = ["--set", "embedding.model=none"]
    status = CliRunner().invoke(cli, [*run, "status"])
    assert status.exit_code == 0 and status.stderr.count("note: openclaw: ") == 1
    assert USUAL in status.stderr or "none.json" in status.stderr
    assert "openclaw: " in json.loads(CliRunner().invoke(cli, [*run, "status", "--json"]).stdout)["warning"]
    (check,) = [
        each
        for each in json.loads(CliRunner().invoke(cli, [*run, "doctor", "--json"]).stdout)["checks"]
        if each["name"] == "openclaw"
    ]
    assert not check["ok"] and "run: openclaw config validate" in check["detail"]
