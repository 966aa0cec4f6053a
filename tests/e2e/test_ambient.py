"""What memory adds of itself to a turn, and the tools over graph and facts, in a gateway with a real agent loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psutil
import pytest
from host import PLUGIN, Host, running, wait_for
from model import Request, ScriptedModel, call
from probe import write

pytestmark = pytest.mark.e2e

TAG = "<openclaw_memory"
QUESTION = "Shall I call Wren about the boat?"
CONCEPTS = """\
concepts:
  wren: {name: Wren, aliases: [Renny], kind: person}
  tidepool: {name: Tidepool, kind: project}
"""
NOTES = {
    "memory/2026-03-02.md": "# 2026-03-02\n\n- Wren keeps the spare boat key in the blue tin.\n",
    "memory/2026-03-03.md": "# 2026-03-03\n\n- Tidepool moved to the harbour office, as Wren had asked.\n",
    "memory/2026-03-04.md": "# 2026-03-04\n\n- The lease of the office ends in May, so Tidepool looks for a new room.\n",
    "concepts.yaml": CONCEPTS,
}


def added(request: Request) -> list[str]:
    """The user's messages of a request that something was added to."""
    return [text for role, text in request.messages if role == "user" and TAG in text]


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Iterator[Host]:
    host = new_host("context")
    agents = {"main": host.workspace, "quiet": host.folder / "quiet", "open": host.folder / "open"}
    for workspace in agents.values():
        for name, text in NOTES.items():
            write(workspace, name, text)
    # A deadline as on a machine with nothing else to do is not what these tests are about.
    own = {"quiet": {"enabled": False}, "open": {"turns": "private"}}
    settings = {"contextTimeoutMs": 5000, "contextAgents": own, "settings": {"context.deadline_ms": 5000}}
    host.configure(plugin(), {"plugins": {"entries": {PLUGIN: {"config": settings}}}}, agents=agents)
    with running(host):
        for agent in agents:
            host.tool("memory_search", agent=agent, query="boat")  # reads the notes
        yield host


def test_message_about_a_known_name_reaches_the_model_with_what_memory_knows(host: Host, model: ScriptedModel) -> None:
    host.turn(QUESTION, session="known")
    [message] = added(model.last)
    assert message.index(QUESTION) < message.index(TAG) < message.index("blue tin")
    assert "blue tin" not in model.last.system


def test_message_about_nothing_known_reaches_the_model_as_it_is(host: Host, model: ScriptedModel) -> None:
    host.turn("Good morning!", session="unknown")
    assert added(model.last) == []


def test_what_was_added_is_not_kept_in_the_conversation(host: Host, model: ScriptedModel) -> None:
    host.turn(QUESTION, session="kept")
    assert added(model.last)
    host.turn("Good night!", session="kept")
    assert any(QUESTION in text for _role, text in model.last.messages)
    assert added(model.last) == []


def test_turn_of_a_person_at_the_command_line_has_it_too(host: Host, model: ScriptedModel) -> None:
    host.cli_turn(QUESTION, session="typed")
    assert added(model.last)


def test_after_new_the_agent_is_given_it_again(host: Host, model: ScriptedModel) -> None:
    asked = []
    for message in (QUESTION, f"Once more: {QUESTION}", "/new", QUESTION):
        host.cli_turn(message, session="renewed")
        asked.append(bool(added(model.last)))
    assert [asked[0], asked[1], asked[3]] == [True, False, True]


def test_agent_that_has_it_off_gets_nothing_and_searches_all_the_same(host: Host, model: ScriptedModel) -> None:
    host.turn(QUESTION, agent="quiet", session="known")
    assert added(model.last) == []
    assert "openclaw_memory" not in model.last.system
    assert "blue tin" in host.turn(call("memory_search", query="spare boat key"), agent="quiet")


def test_turns_that_are_not_the_owners_own_get_nothing(host: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    host.cli_turn(QUESTION, session="telegram:group:77")
    assert added(model.last) == []
    host.turn(call("sessions_spawn", task=QUESTION))
    wait_for(lambda: _asked(model, before, "[Subagent Context]"), "the sub-agent's turn")
    host.run("system", "event", "--text", QUESTION, "--mode", "now")
    wait_for(lambda: _asked(model, before, "heartbeat"), "the heartbeat's turn")
    for request in model.requests[before:]:
        assert not [text for text in added(request) if "CALL" not in text]


def test_client_without_an_administrators_rights_counts_as_somebody_else(host: Host, model: ScriptedModel) -> None:
    for agent, expected in (("main", False), ("open", True)):
        before = len(model.requests)
        message = {"sessionKey": f"agent:{agent}:client", "message": QUESTION, "idempotencyKey": agent}
        host.run("gateway", "call", "chat.send", "--params", json.dumps(message))
        wait_for(lambda since=before: _asked(model, since, QUESTION), "the client's turn")
        assert bool(added(model.last)) == expected


def _asked(model: ScriptedModel, since: int, words: str) -> bool:
    requests = model.requests[since:]
    return any(words in text for request in requests for role, text in request.messages if role == "user")


def test_agents_loop_follows_a_thread_over_notes(host: Host, model: ScriptedModel) -> None:
    host.turn(
        call("graph_recall", query="Where does Wren keep the spare boat key?", hops=2, maxResults=5), session="thread"
    )
    found = model.tool_results()[-1]
    paths = [hit["path"] for hit in found["results"]]
    assert "memory/2026-03-02.md" in paths
    assert paths == sorted(paths)  # in order of time
    assert {"distance", "via", "provenance"} <= found["results"][0].keys()
    assert any("Wren" in edge["text"] for hit in found["results"] for edge in hit["via"])


def test_fact_that_an_agent_states_is_known_afterwards_and_its_past_too(host: Host, model: ScriptedModel) -> None:
    fact = {"action": "add", "subject": "Wren", "predicate": "lives in"}
    host.turn(call("memory_facts", **fact, object="Delft", since="2026-01-05"), session="facts")
    assert model.tool_results()[-1]["added"] == 1
    host.turn(call("memory_facts", **fact, object="Utrecht", since="2026-03-01"), session="facts")
    now = host.tool("memory_facts", action="query", subject="Wren", predicate="lives in")["rows"]
    assert [row["object"] for row in now] == ["Utrecht"]
    then = host.tool("memory_facts", action="query", subject="Wren", predicate="lives in", asOf="2026-02-01")["rows"]
    assert [row["object"] for row in then] == ["Delft"]
    assert "Utrecht" in (host.workspace / "facts.yaml").read_text()

    changed = host.tool("memory_facts", action="update", id=now[0]["id"], object="Gouda")
    assert changed["updated"] == 1
    [row] = host.tool("memory_facts", action="query", subject="Wren", predicate="lives in")["rows"]
    assert row["object"] == "Gouda"
    assert host.tool("memory_facts", action="remove", id=row["id"])["removed"] == 1
    left = host.tool("memory_facts", action="query", subject="Wren", predicate="lives in")["rows"]
    assert "Gouda" not in [row["object"] for row in left]


def test_fact_about_a_name_is_beside_the_message_as_it_holds_now(host: Host, model: ScriptedModel) -> None:
    fact = {"action": "add", "subject": "Wren", "predicate": "lives in"}
    host.tool("memory_facts", **fact, object="Delft", since="2026-01-05")
    host.tool("memory_facts", **fact, object="Utrecht", since="2026-03-01")
    host.turn(QUESTION, session="after the fact")
    [message] = added(model.last)
    assert "Utrecht" in message
    assert "Delft" not in message


def test_turn_does_not_wait_for_a_server_that_hangs(host: Host, model: ScriptedModel) -> None:
    servers: list[psutil.Process] = host.servers()
    for server in servers:
        server.suspend()
    try:
        assert host.turn(QUESTION, session="hanging") == "OK"
    finally:
        for server in servers:
            server.resume()
    assert added(model.last) == []
    host.turn(QUESTION, session="no longer hanging")
    assert added(model.last)
