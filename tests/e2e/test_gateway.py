"""The plugin in a gateway: what a person's agents get, turn by turn, and what happens around the turns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psutil
import pytest
from host import COMPACTION, PLUGIN, Host, running, wait_for
from model import ScriptedModel, ask, call
from probe import Probe, write

from openclaw_memory.serve.registry import listed_tools

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def bare_host(new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]) -> Host:
    host = new_host("gateway")
    host.workspace = host.folder / "Notizen für Zoë 記憶"
    write(host.workspace, "MEMORY.md", "# Memory\n\n- Zoë's bicycle is called Rosinante.\n")
    write(host.workspace, "USER.md", "# User\n\n- Prefers metric units and short answers.\n")
    write(host.workspace, "memory/2026-03-03.md", "# 2026-03-03\n\n- The deploy passphrase is blue bunny.\n")
    write(host.folder / "other", "memory/2026-03-04.md", "# 2026-03-04\n\n- The harbour code is green heron.\n")
    host.configure(
        plugin(),
        {
            "agents": {
                "ownership": "explicit",
                "defaults": {"compaction": {**COMPACTION, "postIndexSync": "await"}},
            }
        },
        agents={"main": host.workspace, "other": host.folder / "other"},
    )
    return host


@pytest.fixture(scope="module")
def probe(bare_host: Host) -> Probe:
    return Probe(bare_host)


@pytest.fixture(scope="module")
def host(bare_host: Host, probe: Probe) -> Iterator[Host]:
    with running(bare_host):
        yield bare_host


def test_turn_answers_from_a_note_written_before_the_session(host: Host, model: ScriptedModel) -> None:
    assert "blue bunny" in host.cli_turn(ask("deploy passphrase"))
    everyday = {name for name, tool in listed_tools(for_host=False).items() if tool.hint}
    assert everyday <= model.last.tools
    schemas = [tool for tool in model.last.body["tools"] if tool["function"]["name"] in everyday]
    assert len(json.dumps(schemas)) <= 6_500, "of every request"


def test_curated_files_stay_in_the_system_prompt(host: Host, model: ScriptedModel) -> None:
    host.turn("hello")
    assert "Rosinante" in model.last.system
    assert "metric units" in model.last.system
    assert "memory_search" in model.last.system


def test_memory_tab_is_for_who_may_use_the_gateway(host: Host) -> None:
    found = host.page("/plugins/openclaw-memory/tab?view=search&q=harbour+code&agent=other")
    assert found.status_code == 200
    assert "green heron" in found.text
    assert host.page("/plugins/openclaw-memory/tab", token="wrong").status_code == 401


def test_search_result_has_the_shape_of_the_builtin_one(host: Host) -> None:
    found = host.tool("memory_search", query="deploy passphrase", maxResults=1)
    assert {"results", "provider", "model", "fallback", "citations", "mode", "debug"} <= found.keys()
    assert {"backend", "toolMs"} <= found["debug"].keys()
    [hit] = found["results"]
    assert (hit["path"], hit["source"], hit["corpus"]) == ("memory/2026-03-03.md", "memory", "memory")
    assert hit["startLine"] <= 3 <= hit["endLine"]
    assert hit["citation"].startswith("memory/2026-03-03.md#L")
    assert "blue bunny" in hit["snippet"]
    assert 0.35 <= hit["score"] <= 1
    assert hit["provenance"]["originClass"] == "agent"


def test_get_reads_lines_and_says_what_is_missing(host: Host) -> None:
    read = host.tool("memory_get", path="memory/2026-03-03.md", lines=3)
    assert (read["status"], read["text"].strip()) == ("ok", "# 2026-03-03\n\n- The deploy passphrase is blue bunny.")
    missing = host.tool("memory_get", path="memory/1999-01-01.md")
    assert missing == {"status": "not_found", "path": "memory/1999-01-01.md", "text": ""}


def test_timeline_answers_in_a_turn(host: Host) -> None:
    answer = host.turn(call("memory_timeline", since="2026-03-01", until="2026-03-31"))
    assert "[2026-03-03]" in answer
    assert "blue bunny" in answer


def test_agents_never_see_each_others_notes(host: Host) -> None:
    assert "green heron" in host.turn(ask("harbour code"), agent="other")
    theirs = host.tool("memory_search", query="harbour code green heron", minScore=0)
    assert "green heron" not in json.dumps(theirs)
    ours = host.tool("memory_search", agent="other", query="deploy passphrase blue bunny", minScore=0)
    assert [hit["path"] for hit in ours["results"]] == ["memory/2026-03-04.md"]
    assert host.tool("memory_get", path="memory/2026-03-04.md")["status"] == "not_found"
    assert host.tool("memory_get", path="../other/memory/2026-03-04.md")["status"] != "ok"


def test_every_tool_of_the_registry_answers_with_its_own_arguments(host: Host, model: ScriptedModel) -> None:
    [hit] = host.tool("memory_search", agent="other", query="harbour code", since="2026-03-01", budget=200, minScore=0,
                      now="2026-03-05")["results"]  # fmt: skip
    calls: dict[str, dict[str, Any]] = {
        "memory_search": {"query": "harbour"},
        "graph_recall": {"query": "harbour", "now": "2026-03-05"},
        "memory_timeline": {"until": "2026-12-31"},
        "memory_context": {"message": "harbour code?", "budget": 50},
        "memory_facts": {"action": "query", "history": True},
        "memory_feedback": {"id": hit["id"], "verdict": "useful"},
        "memory_capture": {"text": "The harbour office opens at nine."},
        "memory_get": {"path": hit["path"]},
    }
    assert list(calls) == list(listed_tools(for_host=False))
    for name, arguments in calls.items():
        answer = host.tool(name, agent="other", **arguments)
        assert not {"unavailable", "error"} & answer.keys(), (name, answer)
    answer = host.turn(call("memory_capture", text="The ferry leaves at six."))  # found by the host's search for tools
    assert "captured" in answer and "unavailable" not in answer


def test_note_written_between_two_sessions_is_found_in_the_second(host: Host) -> None:
    host.turn(ask("where is the piano?"), session="first")
    write(host.workspace, "memory/2026-03-05.md", "- Zoë moved the piano to the attic.\n")
    assert "attic" in host.client_turn(ask("where is the piano?"), session="second")


def test_session_start_reads_the_notes(host: Host, probe: Probe) -> None:
    write(host.workspace, "memory/2026-03-06.md", "- The ferry leaves at 06:40.\n")
    host.client_turn("hello", session="fresh")
    event = wait_for(lambda: probe.reading(host.workspace, "start"), "session_start to read the note")
    assert event["agent"] == "main"


def test_new_reads_the_notes(host: Host, probe: Probe) -> None:
    host.turn("hello")
    write(host.workspace, "memory/2026-03-07.md", "- The spare key hangs behind the barometer.\n")
    host.client_turn("/new")
    event = wait_for(lambda: probe.reading(host.workspace, "new"), "/new to read the note")
    assert event["agent"] == "main"


def test_compaction_reads_the_notes(host: Host, probe: Probe) -> None:
    for _ in range(4):
        host.turn("tell me more " * 50)
    write(host.workspace, "memory/2026-03-08.md", "- The plumber comes on Thursday.\n")
    assert host.call("sessions.compact", key="agent:main:main")["compacted"]
    event = wait_for(lambda: probe.reading(host.workspace, "compaction"), "the compaction to read the note")
    assert event["agent"] == "main"


def test_commands_answer_without_a_model_and_change_memory_for_the_owner_only(host: Host, model: ScriptedModel) -> None:
    before = len(model.requests)
    for message in ("/remember The cello is lent to Ilse.", "/why deploy passphrase"):
        # by a client that may only write
        host.call("chat.send", sessionKey="agent:main:commands", message=message, idempotencyKey=message)

    def answers() -> str:
        said = json.dumps(host.call("chat.history", sessionKey="agent:main:commands"))
        return said if "blue bunny" in said else ""

    assert "requires gateway scope: operator.admin" in wait_for(answers, "the answers", 180)
    assert len(model.requests) == before


def test_the_doctor_of_openclaw_asks_for_no_embedding_key(host: Host) -> None:
    check = "core/doctor/memory-search"
    # It ends with 1 for a plugin of OpenClaw's own that is off here.
    report = json.loads(host.ends("doctor", "--lint", "--only", check, "--json", code=1).splitlines()[0])
    assert (report["checksRun"], {finding["checkId"] for finding in report["findings"]}) == (1, {check})
    said = str(report["findings"])
    assert "Memory search provider" not in said and "No active memory plugin" not in said, said


def test_heartbeat_does_maintenance(host: Host, probe: Probe, model: ScriptedModel) -> None:
    before = len(model.requests)
    host.heartbeat("look around")
    wait_for(lambda: probe.events("heartbeat", agent="main"), "the heartbeat to reach Python")
    wait_for(lambda: len(model.requests) > before, "the heartbeat's turn")


def test_killed_server_answers_again_on_the_next_turn(host: Host) -> None:
    [server] = host.servers()
    server.kill()
    server.wait(10)
    assert "blue bunny" in host.turn(ask("deploy passphrase"))
    [other] = host.servers()
    assert other.pid != server.pid


def test_changed_configuration_replaces_the_server(host: Host, model: ScriptedModel) -> None:
    assert host.tool("memory_search", query="deploy passphrase")["model"]
    [server] = host.servers()
    host.change({"plugins": {"entries": {PLUGIN: {"config": {"settings": {"embedding.model": "none"}}}}}})
    assert not psutil.wait_procs([server], timeout=60)[1]
    assert "blue bunny" in host.turn(ask("deploy passphrase"))
    assert model.tool_results()[-1]["model"] is None
    assert len(host.servers()) == 1


def test_killed_gateway_takes_the_server_with_it(host: Host) -> None:
    assert host.servers()
    host.kill_gateway()
    wait_for(lambda: not host.servers(), "the server to end by itself")
