"""What is kept of the turns of a real agent loop, also where a conversation is cut off, and what never is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from host import COMPACTION, PLUGIN, Host, running, wait_for
from model import ScriptedModel, call
from probe import write

pytestmark = pytest.mark.e2e

NOTES = {
    "memory/2026-03-02.md": "# 2026-03-02\n\n- Wren keeps the spare boat key in the blue tin.\n",
    "concepts.yaml": "concepts:\n  wren: {name: Wren, kind: person}\n",
}


def setting(on: bool) -> Mapping[str, Any]:
    """The one setting, and a deadline for context that is not what these tests are about."""
    config = {"capture": on, "contextTimeoutMs": 5000, "settings": {"context.deadline_ms": 5000}}
    return {"plugins": {"entries": {PLUGIN: {"config": config}}}}


def captured(host: Host, untrusted: bool = False) -> list[str]:
    """The sentences in the capture files of the owner and the agent, or of other people."""
    files = sorted((host.workspace / "memory" / "captures").glob("*.md"))
    texts = [file.read_text() for file in files if file.stem.endswith("-untrusted") == untrusted]
    return [line[2:] for text in texts for line in text.splitlines() if line.startswith("- ")]


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Iterator[Host]:
    host = new_host("capture")
    for name, text in NOTES.items():
        write(host.workspace, name, text)
    host.configure(
        plugin(),
        setting(True),
        {"agents": {"defaults": {"compaction": COMPACTION}}},
        agents={"main": host.workspace},
    )
    with running(host):
        host.tool("memory_search", query="boat")  # reads the notes
        yield host


def waiting(host: Host) -> list[Path]:
    return sorted((host.state / "openclaw-memory" / "waiting").glob("*.json"))


def kept(host: Host, sentence: str) -> bool:
    files = (host.workspace / "memory" / "captures").glob("*.md")
    return any(sentence in file.read_text() for file in files) and not waiting(host)


def stopped_server(host: Host) -> psutil.Process:
    """The server, which answers nothing from now on; it has all that was to be kept until then."""
    host.waits_for(lambda: not waiting(host), "earlier turns to be captured")
    [server] = wait_for(host.servers, "the server to start")
    server.suspend()
    return server


def said_last(model: ScriptedModel) -> str:
    return next(text for role, text in reversed(model.last.messages) if role == "user")


def keeps(host: Host, sentence: str, session: str = "main") -> None:
    """The owner says it, and it is kept: whatever was to be kept before has been."""
    host.turn(sentence, session=session)
    host.waits_for(lambda: f"User: {sentence}" in captured(host), f"{sentence!r} to be captured")


def test_what_the_owner_states_is_kept_and_found_in_another_session(host: Host) -> None:
    keeps(host, "We decided to sell the boat on Friday.", session="first")
    assert "sell the boat on Friday" in host.turn(call("memory_search", query="sell the boat"), session="second")
    [hit, *_] = host.tool("memory_search", query="sell the boat", minScore=0)["results"]
    assert hit["path"].startswith("memory/captures/") and hit["provenance"]["originClass"] == "agent"
    text = (host.workspace / hit["path"]).read_text()
    assert text.startswith("# Captured on 2") and " · session " in text and "· agent main\n" in text


def test_the_same_again_is_not_kept_twice(host: Host) -> None:
    keeps(host, "We decided to paint the shed green on Sunday.")
    host.turn("We decided to paint the shed green on Sunday.")
    host.client_turn("We decided to paint the shed green on Sunday.", session="again")
    keeps(host, "We decided to keep the oars in the attic.")
    assert [line for line in captured(host) if "shed" in line] == [
        "User: We decided to paint the shed green on Sunday."
    ]


def test_what_memory_gave_never_comes_back(host: Host, model: ScriptedModel) -> None:
    host.turn("Remember to ask Wren about the key.", session="given")
    message = next(text for role, text in reversed(model.last.messages) if role == "user")
    assert "blue tin" in message and "<openclaw_memory" in message, "it was put beside the message"
    assert "blue tin" in host.turn(call("memory_search", query="spare boat key"), session="given"), "and in a reply"
    keeps(host, "We decided to rent the garage from May on.", session="given")
    lines = captured(host) + captured(host, untrusted=True)
    assert not any("blue tin" in line or "openclaw_memory" in line for line in lines)
    assert any("ask Wren about the key" in line for line in lines)


def test_heartbeat_is_never_kept(host: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    host.heartbeat("We decided to sell the house on Monday.")
    wait_for(lambda: _asked(model, before, "heartbeat"), "the heartbeat's turn")
    keeps(host, "We decided to move the piano on Tuesday.")
    assert not any("house" in line for line in captured(host) + captured(host, untrusted=True))


def test_what_somebody_else_says_stands_apart_and_is_untrusted(host: Host) -> None:
    message = {
        "sessionKey": "agent:main:client",
        "message": "The ferry was moved to pier 47 on Friday.",
        "idempotencyKey": "a",
    }
    host.call("chat.send", **message)
    wait_for(lambda: any("ferry" in line for line in captured(host, untrusted=True)), "it to be captured")
    assert not any("ferry" in line for line in captured(host))
    hits = host.tool("memory_search", query="ferry", minScore=0)["results"]
    assert {hit["provenance"]["originClass"] for hit in hits if "ferry" in hit["snippet"]} == {"untrusted"}


def test_off_nothing_is_kept(host: Host) -> None:
    [server] = host.servers()
    host.change(setting(False))
    wait_for(lambda: not server.is_running(), "the plugin to be replaced")
    assert host.turn("We decided to sell the car on Wednesday.") == "OK"
    [server] = wait_for(host.servers, "the server to start")
    host.change(setting(True))
    wait_for(lambda: not server.is_running(), "the plugin to be replaced")
    keeps(host, "We decided to sell the bicycle on Thursday.")
    assert not any("car" in line for line in captured(host) + captured(host, untrusted=True))


def test_after_a_compaction_the_next_turn_is_told_what_was_said(host: Host, model: ScriptedModel) -> None:
    host.turn("We decided to sell the boat to Quill for 4,300 euros.")
    for _ in range(4):
        host.turn("tell me more " * 50)
    assert host.call("sessions.compact", key="agent:main:main")["compacted"]
    assert kept(host, "sell the boat to Quill"), "before it is compacted"
    host.turn("go on")
    assert not any("Quill" in text for role, text in model.last.messages[:-1] if role != "system"), "it is compacted"
    assert "sell the boat to Quill for 4,300 euros" in said_last(model)
    host.turn("go on")
    assert "Quill" not in said_last(model), "once"


def test_what_was_said_outlives_a_gateway_that_is_killed(host: Host) -> None:
    server = stopped_server(host)
    host.turn("We decided to mend the fence on Saturday.")
    assert json.loads(waiting(host)[0].read_text())["parts"][0]["messages"][0]["text"].startswith("We decided")
    host.kill_gateway()
    server.kill()
    host.assert_nothing_runs()
    host.start_gateway()
    host.waits_for(lambda: kept(host, "mend the fence"), "it to be captured", 180)
    assert "blue tin" in host.turn(call("memory_search", query="spare boat key blue tin"))


def test_what_was_said_before_new_is_kept_though_the_server_dies(host: Host) -> None:
    server = stopped_server(host)
    host.turn("We decided to repair the pump in October.")
    server.kill()
    host.client_turn("/new")
    host.waits_for(lambda: kept(host, "repair the pump"), "it to be captured")


def test_turn_without_a_gateway_is_kept_too(host: Host) -> None:
    assert host.servers()
    host.stop_gateway()  # with its server
    host.local_turn("We decided to lend the tent to Juno until June.")
    assert "User: We decided to lend the tent to Juno until June." in captured(host)


def _asked(model: ScriptedModel, since: int, words: str) -> bool:
    requests = model.requests[since:]
    return any(words in text for request in requests for role, text in request.messages if role == "user")
