"""``ingest --all-agents``: the workspace of every agent that OpenClaw is configured for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from openclaw_memory.cli.main import cli

RUN = ["--set", "embedding.model=none"]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """OpenClaw's folder with three agents: two with notes, one without a folder."""
    state = Path(os.environ["HOME"]) / ".openclaw"
    folders = {name: tmp_path / name for name in ("broken", "main", "idle")}
    for name in ("broken", "main"):
        folders[name].mkdir()
        (folders[name] / "MEMORY.md").write_text(f"# {name}\n\n- a green lamp\n")
    state.mkdir(parents=True)
    entries = {name: {"workspace": str(folder)} for name, folder in folders.items()}
    (state / "openclaw.json").write_text(json.dumps({"agents": {"entries": entries}}))
    return state


def test_each_agent_with_a_workspace_is_read_and_told_of_in_a_line(state: Path) -> None:
    done = CliRunner().invoke(cli, [*RUN, "ingest", "--all-agents", "--json"])
    assert done.exit_code == 0, done.output
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["agentId"], one["files"], one["added"]) for one in told] == [("broken", 1, 2), ("main", 1, 2)]
    shown = CliRunner().invoke(cli, [*RUN, "ingest", "--all-agents"]).stdout
    assert shown.splitlines()[::2] == ["agent broken", "agent main"] and "2 unchanged" in shown


def test_what_fails_for_one_agent_does_not_keep_the_others(state: Path) -> None:
    shown = CliRunner().invoke(cli, [*RUN, "--agent", "broken", "status", "--json"]).stdout
    database = Path(json.loads(shown)["database"])
    database.unlink()
    database.mkdir()
    done = CliRunner().invoke(cli, [*RUN, "ingest", "--all-agents", "--json"])
    told = {one["agentId"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert done.exit_code == 1 and told["main"]["files"] == 1
    assert (told["broken"]["ok"], str(database) in told["broken"]["error"]) == (False, True)
    assert f"error: agent broken: {database}" in done.stderr


@pytest.mark.parametrize("options", [["ingest", "MEMORY.md"], ["ingest", "--watch"], ["--db", "x.duckdb", "ingest"]])
def test_all_agents_goes_with_nothing_that_is_of_one(options: list[str]) -> None:
    done = CliRunner().invoke(cli, [*options, "--all-agents"])
    assert done.exit_code == 2 and "--all-agents goes with no PATH" in done.stderr


def test_where_openclaw_has_no_agent_that_is_said() -> None:
    done = CliRunner().invoke(cli, [*RUN, "ingest", "--all-agents"])
    assert done.exit_code == 0 and "OpenClaw has no agent whose workspace is there; name a folder" in done.stderr
