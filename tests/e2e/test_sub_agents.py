"""A sub-agent that runs as another agent reads the memory of the agent that started it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from host import PLUGIN, Host, running, wait_for
from model import ScriptedModel, ask, call
from probe import write

pytestmark = pytest.mark.e2e

KEY = "Wren keeps the spare boat key in the blue tin."


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Iterator[Host]:
    host = new_host("children")
    agents = {name: host.folder / name for name in ("main", "helper")}
    write(agents["main"], "memory/2026-03-02.md", f"# 2026-03-02\n\n- {KEY}\n")
    write(agents["helper"], "memory/2026-03-03.md", "# 2026-03-03\n\n- The helper looks for keys.\n")
    settings = {"settings": {"sharing.read_from": ["parent"]}}
    host.configure(
        plugin(),
        {
            "plugins": {"entries": {PLUGIN: {"config": settings}}},
            "agents": {"entries": {"main": {"subagents": {"allowAgents": ["helper"]}}}},
        },
        agents=agents,
    )
    with running(host):
        yield host


def hits(model: ScriptedModel) -> list[dict[str, Any]]:
    found = [result for result in model.tool_results() if isinstance(result, dict) and "results" in result]
    return found[-1]["results"] if found else []


def test_the_parent_is_read_by_its_sub_agent_only(host: Host, model: ScriptedModel) -> None:
    host.turn(ask("spare boat key"), agent="helper", session="alone")
    assert KEY not in str(model.tool_results()), "nobody has started it"
    # Written so that only the sub-agent takes it for a command.
    task = call("sessions_spawn", task="TASK", agentId="helper").replace(
        "TASK", ask("spare boat key").replace('"', '\\"')
    )
    host.turn(task.replace("CALL memory", "\\u0043ALL memory"), session="parent")
    [hit] = wait_for(lambda: [hit for hit in hits(model) if hit.get("memory") == "parent"], "the sub-agent's search")
    assert KEY in hit["snippet"] and hit["path"] == "@parent/memory/2026-03-02.md"
    assert hit["provenance"]["originClass"] == "agent"
