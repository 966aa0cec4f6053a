"""Ambient context as people and hosts ask for it: the command, the tool, the figures in ``status``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from fakes import Notes, ingested, open_memory
from jsonschema import Draft202012Validator

from docs.schema import json_schema
from openclaw_memory.serve.registry import memory_context
from openclaw_memory.serve.tool import Call
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.system.serialize import to_json

NOTE = "# 2026-03-01\n\n## Kiln trouble\n\n- The kiln Vesuvius tripped the fuse when its lower element glowed.\n"
SAID = "On 1 Mar 2026 (Kiln trouble): The kiln Vesuvius tripped the fuse when its lower element glowed."


@pytest.fixture
def kiln(notes: Notes) -> Notes:
    notes.write("memory/2026-03-01.md", NOTE)
    notes.write("memory/ledger.md", "".join(f"- Line {number}: {number * 7} paid.\n" for number in range(60)))
    notes.write("concepts.yaml", "concepts:\n  vesuvius: {name: Vesuvius}\n")
    return notes


def test_the_command_prints_the_sentences_and_nothing_else(kiln: Notes) -> None:
    assert run_command(kiln, "context", "how", "is", "Vesuvius?", "--now", "2026-03-10").stdout == SAID + "\n"
    nothing = run_command(kiln, "context", "thanks!")
    assert nothing.stdout == "" and "nothing that is sure enough" in nothing.stderr


def test_the_command_explains(kiln: Notes) -> None:
    shown = run_command(kiln, "context", "how is Vesuvius?", "--explain", "--budget", "100").stdout
    assert "entities: Vesuvius" in shown and "memory/2026-03-01.md#L5" in shown and "mentions Vesuvius" in shown


def test_the_commands_json_is_the_contract(kiln: Notes) -> None:
    found = json.loads(run_command(kiln, "context", "how is Vesuvius?", "--json").stdout)
    assert list(found) == ["text", "tokens", "entities", "sources", "facts", "took_ms"]
    assert found["text"] == SAID and found["entities"] == ["Vesuvius"]
    assert found["sources"][0]["citation"] == "memory/2026-03-01.md#L5" and "why" not in found["sources"][0]


def test_wrong_usage_is_said_in_one_line(kiln: Notes) -> None:
    assert "the message is empty" in run_command(kiln, "context", " ", code=2).stderr
    assert "--budget" in run_command(kiln, "context", "x", "--budget", "0", code=2).stderr


def test_status_shows_the_counters_of_every_process(kiln: Notes) -> None:
    for message in ("how is Vesuvius?", "thanks!"):
        run_command(kiln, "context", message)
    assert "messages 2, withContext 1, share 0.5," in run_command(kiln, "status", "--verbose").stdout
    use = json.loads(run_command(kiln, "status", "--json").stdout)["context"]
    assert use["messages"] == 2 and use["withContext"] == 1 and use["share"] == 0.5 and use["late"] == 0
    assert not Path(f"{kiln.root.parent / 'cli.duckdb'}.context.json").exists()


def called(memory: Any, seconds: float = 30.0, **arguments: Any) -> dict[str, Any]:
    result = memory_context.run(Call(memory, arguments, Deadline.after(seconds), lambda *_: None))
    made: dict[str, Any] = to_json(result)
    Draft202012Validator(json_schema(memory_context.result)).validate(made)
    return made


def test_the_tool_gives_what_the_command_gives(kiln: Notes) -> None:
    assert memory_context.read_only and memory_context.deadline == 1.0 and memory_context.required == ("message",)
    with ingested(kiln, context__deadline_ms=30_000) as memory:
        assert called(memory, message="how is Vesuvius?", session="s")["text"] == SAID
        assert called(memory, message="how is Vesuvius?", session="s")["text"] == ""
        assert len(called(memory, message="how is Vesuvius?", budget=12)["text"]) <= 48


def test_the_tool_keeps_the_deadline_of_the_host_and_of_the_settings(kiln: Notes) -> None:
    with ingested(kiln, context__deadline_ms=30_000) as memory:
        assert "not done by the deadline" in called(memory, seconds=0.0, message="how is Vesuvius?")["warning"]
    with open_memory(kiln, context__deadline_ms=1) as memory:
        assert called(memory, message="how is Vesuvius?")["text"] in ("", SAID)
        assert memory.ambient.use().messages == 2


def test_a_broken_index_is_a_warning_to_a_host(kiln: Notes) -> None:
    memory = open_memory(kiln, context__deadline_ms=30_000)
    memory.ingest()
    memory.close()
    assert "text" in called(memory, message="how is Vesuvius?")
