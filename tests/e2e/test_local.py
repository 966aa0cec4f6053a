"""The plugin without a gateway: one-shot turns, its command line, and the server as a plain MCP server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from host import EXECUTABLE, Host
from probe import write

from openclaw_memory.serve.registry import listed_tools

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Host:
    host = new_host("local")
    write(host.workspace, "memory/2026-03-03.md", "# 2026-03-03\n\n- The deploy passphrase is blue bunny.\n")
    host.configure(plugin())
    return host


@pytest.fixture(autouse=True)
def _leaves_nothing(host: Host) -> Any:
    yield
    host.assert_nothing_runs()


def test_command_line_shows_searches_and_indexes(host: Host) -> None:
    write(host.workspace, "memory/2026-03-04.md", "- The ferry leaves at 06:40.\n")
    [report] = host.run_json("memory", "index")
    assert (report["agentId"], report["files"], report["pending"]) == ("main", 2, 0)
    [hit, *_others] = host.run_json("memory", "search", "ferry")["results"]
    assert (hit["path"], hit["startLine"]) == ("memory/2026-03-04.md", 1)
    [status] = host.run_json("memory", "status")
    assert (status["agentId"], status["files"]) == ("main", 2)


def test_any_other_command_reaches_our_command_line_as_it_is(host: Host) -> None:
    captured = host.ends("memory", "capture", "--json", given="We decided to sell the boat on Friday.", code=0)
    assert captured.startswith("{") and "sell the boat" in captured
    assert "No such command 'nonsense'" in host.ends("memory", "nonsense", code=2)


def test_other_hosts_reach_the_server_over_mcp(host: Host, tiny_gguf: Path) -> None:
    options = ["--workspace", str(host.workspace), "--set", f"embedding.model={tiny_gguf}"]
    host.change({"mcp": {"servers": {"notes": {"command": str(EXECUTABLE), "args": [*options, "serve"]}}}})
    probed = host.run_json("mcp", "probe", "notes")
    # OpenClaw makes tools of the notes as resources and of the prompts, too.
    offered = {f"notes__{name}" for name in listed_tools(for_host=False)}
    assert {name for name in probed["tools"] if "__prompts_" not in name and "__resources_" not in name} == offered
    assert probed["diagnostics"] == []
