"""What memory adds of itself to a turn of a real agent loop, and what it keeps of one, also where it is cut off.

Besides the tools over graph and facts, sub-agents and conversations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from host import COMPACTION, PLUGIN, Host, running, wait_for
from model import Request, ScriptedModel, ask, call
from probe import write

pytestmark = pytest.mark.e2e

TAG = "<openclaw_memory"
OWNER = ["operator.admin", "operator.read", "operator.write"]
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


def _asked(model: ScriptedModel, since: int, words: str) -> bool:
    requests = model.requests[since:]
    return any(words in text for request in requests for role, text in request.messages if role == "user")


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Iterator[Host]:
    host = new_host("context")
    agents = {"main": host.workspace, "quiet": host.folder / "quiet", "open": host.folder / "open"}
    for workspace in agents.values():
        for name, text in NOTES.items():
            write(workspace, name, text)
    agents["helper"] = host.folder / "helper"
    write(agents["helper"], "memory/2026-03-03.md", "# 2026-03-03\n\n- The helper looks for keys.\n")
    # A deadline as on a machine with nothing else to do is not what these tests are about.
    own = {"quiet": {"enabled": False}, "open": {"turns": "private"}}
    settings = {"context.deadline_ms": 5000, "sharing.read_from": ["parent"], "ingest.session_days": 30}
    config = {"contextTimeoutMs": 5000, "contextAgents": own, "settings": settings}
    host.configure(
        plugin(),
        {
            "plugins": {"entries": {PLUGIN: {"config": config}}},
            "agents": {
                "defaults": {"compaction": COMPACTION},
                "entries": {"main": {"subagents": {"allowAgents": ["helper"]}}},
            },
        },
        agents=agents,
    )
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


def test_turn_of_a_client_has_it_too(host: Host, model: ScriptedModel) -> None:
    host.client_turn(QUESTION, session="typed")
    assert added(model.last)


def test_after_new_the_agent_is_given_it_again(host: Host, model: ScriptedModel) -> None:
    asked = []
    for message in (QUESTION, f"Once more: {QUESTION}", "/new", QUESTION):
        host.client_turn(message, session="renewed")
        asked.append(bool(added(model.last)))
    assert [asked[0], asked[1], asked[3]] == [True, False, True]


def test_agent_that_has_it_off_gets_nothing_and_searches_all_the_same(host: Host, model: ScriptedModel) -> None:
    host.turn(QUESTION, agent="quiet", session="known")
    assert added(model.last) == []
    assert "openclaw_memory" not in model.last.system
    assert "blue tin" in host.turn(call("memory_search", query="spare boat key"), agent="quiet")


def test_turns_that_are_not_the_owners_own_get_nothing(host: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    host.client_turn(QUESTION, session="telegram:group:77")
    assert added(model.last) == []
    host.turn(call("sessions_spawn", task=QUESTION))
    wait_for(lambda: _asked(model, before, "[Subagent Context]"), "the sub-agent's turn")
    host.heartbeat(QUESTION)
    wait_for(lambda: _asked(model, before, "heartbeat"), "the heartbeat's turn")
    for request in model.requests[before:]:
        assert not [text for text in added(request) if "CALL" not in text]


def test_client_without_an_administrators_rights_counts_as_somebody_else(host: Host, model: ScriptedModel) -> None:
    for agent, expected in (("main", False), ("open", True)):
        before = len(model.requests)
        message = {"sessionKey": f"agent:{agent}:client", "message": QUESTION, "idempotencyKey": agent}
        host.call("chat.send", **message)
        wait_for(lambda since=before: _asked(model, since, QUESTION), "the client's turn")
        assert bool(added(model.last)) == expected


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


def test_the_parent_is_read_by_its_sub_agent_only(host: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    host.turn(ask("spare boat key"), agent="helper", session="alone")
    assert "blue tin" not in str([request.messages for request in model.requests[before:]]), "nobody has started it"
    # Written so that only the sub-agent takes it for a command.
    task = call("sessions_spawn", task="TASK", agentId="helper").replace(
        "TASK", ask("spare boat key").replace('"', '\\"')
    )
    host.turn(task.replace("CALL memory", "\\u0043ALL memory"), session="parent")

    def hits() -> list[dict[str, Any]]:
        found = [result for result in model.tool_results() if isinstance(result, dict) and "results" in result]
        return [hit for hit in found[-1]["results"] if hit.get("memory") == "parent"]

    [hit] = wait_for(hits, "the sub-agent's search")
    assert "blue tin" in hit["snippet"] and hit["path"] == "@parent/memory/2026-03-02.md"
    assert hit["provenance"]["originClass"] == "agent"


def test_conversations_are_searched_and_the_owner_commands_the_memory(host: Host) -> None:
    rest = "\n\nIt rains over the harbour." * 60  # OpenClaw compresses what is long
    host.turn(f"The tent is lent to Juno until June.{rest}", agent="quiet", session="owner")
    asked = {"query": "who has the tent?", "minScore": 0}

    def search() -> list[dict[str, Any]]:
        found = host.tool("memory_search", agent="quiet", corpus="sessions", **asked)["results"]
        return [hit for hit in found if "tent" in hit["snippet"]]

    [hit, *_] = wait_for(search, "the conversation to be read")
    assert "User: The tent is lent to Juno" in hit["snippet"] and hit["corpus"] == hit["source"] == "sessions"
    assert hit["provenance"]["originClass"] == "untrusted"
    assert "tent" not in str(host.tool("memory_search", agent="quiet", **asked)["results"])
    assert "Juno" in host.tool("memory_get", agent="quiet", path=hit["path"])["text"]

    def writes(message: str) -> str:
        """The owner's client sends a message; the answer."""
        host.call("chat.send", scopes=OWNER, sessionKey="agent:quiet:owner", message=message, idempotencyKey=message)

        def answer() -> str:
            messages = host.call("chat.history", scopes=OWNER, sessionKey="agent:quiet:owner")["messages"]
            sent = [n for n, each in enumerate(messages) if each["role"] == "user" and message in str(each)]
            return str([each for each in messages[max(sent) :] if each["role"] == "assistant"] or "") if sent else ""

        return wait_for(answer, f"the answer to {message}")

    assert "Kept in memory/captures/" in writes("/remember The ferry leaves at nine on Sundays.")
    assert "ferry leaves at nine" in writes("/why When does the ferry leave?")
    assert "This would be forgotten" in writes("/forget lent to Juno")
    assert "Forgotten:" in writes("/forget --yes lent to Juno")
    assert not any("Juno until" in hit["snippet"] for hit in search())


def setting(on: bool) -> Mapping[str, Any]:
    return {"plugins": {"entries": {PLUGIN: {"config": {"capture": on}}}}}


def captured(host: Host, untrusted: bool = False) -> list[str]:
    """The sentences in the capture files of the owner and the agent, or of other people."""
    files = sorted((host.workspace / "memory" / "captures").glob("*.md"))
    texts = [file.read_text() for file in files if file.stem.endswith("-untrusted") == untrusted]
    return [line[2:] for text in texts for line in text.splitlines() if line.startswith("- ")]


@pytest.fixture(scope="module")
def capturing(host: Host) -> Host:
    change(host, True)
    return host


def change(host: Host, on: bool) -> None:
    """Have capture on or off, with the server that knows it."""
    servers = host.servers()
    host.change(setting(on))
    wait_for(lambda: not any(server.is_running() for server in servers), "the plugin to be replaced")


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


def test_what_the_owner_states_is_kept_and_found_in_another_session(capturing: Host) -> None:
    keeps(capturing, "We decided to sell the boat on Friday.", session="first")
    assert "sell the boat on Friday" in capturing.turn(call("memory_search", query="sell the boat"), session="second")
    [hit, *_] = capturing.tool("memory_search", query="sell the boat", minScore=0)["results"]
    assert hit["path"].startswith("memory/captures/") and hit["provenance"]["originClass"] == "agent"
    text = (capturing.workspace / hit["path"]).read_text()
    assert text.startswith("# Captured on 2") and " · session " in text and "· agent main\n" in text


def test_the_same_again_is_not_kept_twice(capturing: Host) -> None:
    keeps(capturing, "We decided to paint the shed green on Sunday.")
    capturing.turn("We decided to paint the shed green on Sunday.")
    capturing.client_turn("We decided to paint the shed green on Sunday.", session="again")
    keeps(capturing, "We decided to keep the oars in the attic.")
    assert [line for line in captured(capturing) if "shed" in line] == [
        "User: We decided to paint the shed green on Sunday."
    ]


def test_what_memory_gave_never_comes_back(capturing: Host, model: ScriptedModel) -> None:
    capturing.turn("Remember to ask Wren about the key.", session="given")
    message = next(text for role, text in reversed(model.last.messages) if role == "user")
    assert "blue tin" in message and "<openclaw_memory" in message, "it was put beside the message"
    assert "blue tin" in capturing.turn(call("memory_search", query="spare boat key"), session="given"), (
        "and in a reply"
    )
    keeps(capturing, "We decided to rent the garage from May on.", session="given")
    lines = captured(capturing) + captured(capturing, untrusted=True)
    assert not any("blue tin" in line or "openclaw_memory" in line for line in lines)
    assert any("ask Wren about the key" in line for line in lines)


def test_heartbeat_is_never_kept(capturing: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    capturing.heartbeat("We decided to sell the house on Monday.")
    wait_for(lambda: _asked(model, before, "heartbeat"), "the heartbeat's turn")
    keeps(capturing, "We decided to move the piano on Tuesday.")
    assert not any("house" in line for line in captured(capturing) + captured(capturing, untrusted=True))


def test_what_somebody_else_says_stands_apart_and_is_untrusted(capturing: Host) -> None:
    message = {
        "sessionKey": "agent:main:client",
        "message": "The ferry was moved to pier 47 on Friday.",
        "idempotencyKey": "a",
    }
    capturing.call("chat.send", **message)
    wait_for(lambda: any("ferry" in line for line in captured(capturing, untrusted=True)), "it to be captured")
    assert not any("ferry" in line for line in captured(capturing))
    hits = capturing.tool("memory_search", query="ferry", minScore=0)["results"]
    assert {hit["provenance"]["originClass"] for hit in hits if "ferry" in hit["snippet"]} == {"untrusted"}


def test_off_nothing_is_kept(capturing: Host) -> None:
    change(capturing, False)
    assert capturing.turn("We decided to sell the car on Wednesday.") == "OK"
    wait_for(capturing.servers, "the server to start")
    change(capturing, True)
    keeps(capturing, "We decided to sell the bicycle on Thursday.")
    assert not any("car" in line for line in captured(capturing) + captured(capturing, untrusted=True))


def test_after_a_compaction_the_next_turn_is_told_what_was_said(capturing: Host, model: ScriptedModel) -> None:
    capturing.turn("We decided to sell the boat to Quill for 4,300 euros.")
    for _ in range(4):
        capturing.turn("tell me more " * 50)
    assert capturing.call("sessions.compact", key="agent:main:main")["compacted"]
    assert kept(capturing, "sell the boat to Quill"), "before it is compacted"
    capturing.turn("go on")
    assert not any("Quill" in text for role, text in model.last.messages[:-1] if role != "system"), "it is compacted"
    assert "sell the boat to Quill for 4,300 euros" in said_last(model)
    capturing.turn("go on")
    assert "Quill" not in said_last(model), "once"


def test_what_was_said_outlives_a_gateway_that_is_killed(capturing: Host) -> None:
    server = stopped_server(capturing)
    capturing.turn("We decided to mend the fence on Saturday.")
    assert json.loads(waiting(capturing)[0].read_text())["parts"][0]["messages"][0]["text"].startswith("We decided")
    capturing.kill_gateway()
    server.kill()
    capturing.assert_nothing_runs()
    capturing.start_gateway()
    capturing.waits_for(lambda: kept(capturing, "mend the fence"), "it to be captured", 180)
    assert "blue tin" in capturing.turn(call("memory_search", query="spare boat key blue tin"))


def test_what_was_said_before_new_is_kept_though_the_server_dies(capturing: Host) -> None:
    server = stopped_server(capturing)
    capturing.turn("We decided to repair the pump in October.")
    server.kill()
    capturing.client_turn("/new")
    capturing.waits_for(lambda: kept(capturing, "repair the pump"), "it to be captured")


def test_turn_without_a_gateway_is_kept_too(capturing: Host) -> None:
    assert capturing.servers()
    capturing.stop_gateway()  # with its server
    capturing.local_turn("We decided to lend the tent to Juno until June.")
    assert "User: We decided to lend the tent to Juno until June." in captured(capturing)
