"""A conversation that is cut off: what was said before a compaction or `/new` is kept, and given back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from host import PLUGIN, Host, running, wait_for
from model import ScriptedModel

pytestmark = pytest.mark.e2e

COMPACTION = {
    "mode": "default",
    "keepRecentTokens": 1,
    "recentTurnsPreserve": 0,
    "qualityGuard": {"enabled": False},
    "memoryFlush": {"enabled": False},
}
CAPTURE = {"capture": True, "contextTimeoutMs": 5000, "settings": {"context.deadline_ms": 5000}}


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Iterator[Host]:
    host = new_host("compaction")
    host.configure(
        plugin(),
        {"plugins": {"entries": {PLUGIN: {"config": CAPTURE}}}, "agents": {"defaults": {"compaction": COMPACTION}}},
        agents={"main": host.workspace},
    )
    with running(host):
        yield host


def waiting(host: Host) -> list[Path]:
    return sorted((host.state / "openclaw-memory" / "waiting").glob("*.json"))


def kept(host: Host, sentence: str) -> bool:
    files = (host.workspace / "memory" / "captures").glob("*.md")
    return any(sentence in file.read_text() for file in files) and not waiting(host)


def stopped_server(host: Host) -> psutil.Process:
    """The server, which answers nothing from now on."""
    [server] = wait_for(host.servers, "the server to start")
    server.suspend()
    return server


def said_last(model: ScriptedModel) -> str:
    return next(text for role, text in reversed(model.last.messages) if role == "user")


def test_after_a_compaction_the_next_turn_is_told_what_was_said(host: Host, model: ScriptedModel) -> None:
    host.turn("We decided to sell the boat to Quill for 4,300 euros.")
    for _ in range(4):
        host.turn("tell me more " * 50)
    assert host.run_json("sessions", "compact", "agent:main:main")["compacted"]
    assert kept(host, "sell the boat to Quill"), "before it is compacted"
    host.turn("go on")
    assert not any("Quill" in text for role, text in model.last.messages[:-1] if role != "system"), "it is compacted"
    assert "sell the boat to Quill for 4,300 euros" in said_last(model)
    host.turn("go on")
    assert "Quill" not in said_last(model), "once"


def test_what_was_said_outlives_a_gateway_that_is_killed(host: Host) -> None:
    server = stopped_server(host)
    host.turn("We decided to paint the shed green on Sunday.")
    assert json.loads(waiting(host)[0].read_text())["parts"][0]["messages"][0]["text"].startswith("We decided")
    host.kill_gateway()
    server.kill()
    host.assert_nothing_runs()
    host.start_gateway()
    wait_for(lambda: kept(host, "paint the shed green"), "it to be captured")


def test_what_was_said_before_new_is_kept_though_the_server_dies(host: Host) -> None:
    server = stopped_server(host)
    host.turn("We decided to lend the tent to Juno until June.")
    server.kill()
    host.cli_turn("/new")
    wait_for(lambda: kept(host, "lend the tent to Juno"), "it to be captured")
