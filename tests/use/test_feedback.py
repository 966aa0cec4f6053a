"""Use and feedback as people, models and other processes see them: the command, the tool, the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from fakes import Notes, ingested
from jsonschema import Draft202012Validator
from states import state_file

from docs.schema import json_schema
from openclaw_memory.errors import RequestError
from openclaw_memory.serve.registry import memory_feedback
from openclaw_memory.serve.tool import Call
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.system.serialize import to_json

PATH = "memory/2026-03-01.md"
KILN = "The kiln Vesuvius tripped the fuse when its lower element glowed in the dark."
NOTE = f"# 2026-03-01\n\n## Kiln trouble\n\n- {KILN}\n- Glaze Celadon ran off the plates.\n"


@pytest.fixture
def kiln(notes: Notes) -> Notes:
    notes.write(PATH, NOTE)
    notes.write("memory/ledger.md", "".join(f"- Line {number}: {number * 7} paid.\n" for number in range(60)))
    return notes


def test_the_command_takes_ids_and_lines(kiln: Notes) -> None:
    hit = json.loads(run_command(kiln, "search", "Vesuvius", "fuse", "--json", "-n", "1").stdout)["results"][0]
    report = json.loads(run_command(kiln, "feedback", hit["id"], "useful", "--json").stdout)
    assert list(report) == ["id", "verdict", "useful", "irrelevant", "used", "shown", "boost", "last"]
    assert (report["id"], report["useful"], report["shown"]) == (hit["id"], 1, 1)
    assert report["boost"] == 0.6464
    shown = run_command(kiln, "feedback", hit["citation"], "irrelevant").stdout
    assert shown == f"{hit['id']}: 1 useful, 1 irrelevant, 0 used, 1 shown; boost -0.29\n"
    assert state_file().is_file()


def test_wrong_usage_is_said_in_one_line(kiln: Notes) -> None:
    assert "great" in run_command(kiln, "feedback", f"{PATH}#L5", "great", code=2).stderr
    wrong = run_command(kiln, "feedback", "memory/none.md#L1", "useful", code=1).stderr
    assert wrong.startswith("error: 'memory/none.md#L1' names nothing") and wrong.count("\n") == 1


def called(memory: Any, **arguments: Any) -> dict[str, Any]:
    result = memory_feedback.run(Call(memory, arguments, Deadline.after(30), lambda *_: None))
    made: dict[str, Any] = to_json(result)
    Draft202012Validator(json_schema(memory_feedback.result)).validate(made)
    return made


def test_the_tool_does_what_the_command_does(kiln: Notes) -> None:
    assert not memory_feedback.read_only and not memory_feedback.idempotent
    with ingested(kiln) as memory:
        made = called(memory, id=f"{PATH}#L5", verdict="useful")
        assert called(memory, id=made["id"], verdict="useful")["useful"] == 2
        with pytest.raises(RequestError):
            called(memory, id="0" * 16, verdict="useful")


def test_what_is_found_is_shown_and_what_is_opened_or_quoted_is_used(kiln: Notes) -> None:
    with ingested(kiln) as memory:
        hit = memory.search("Vesuvius fuse", mode="keyword", max_results=1).results[0]
        memory.get(PATH, hit.end_line + 1, hit.end_line + 2)
        memory.get("memory/ledger.md")
        assert [(row.id, row.shown, row.used) for row in memory.usage.rows()] == [(hit.id, 1, 0)]
        memory.get(f"{PATH}#L{hit.start_line}")
        memory.recall("Vesuvius fuse", mode="keyword", max_results=1)
        memory.timeline(max_results=1)
        assert hit.id in memory.usage.quoted(f"Your note says: {KILN}")
        rows = {row.id: row for row in memory.usage.rows()}
        assert rows[hit.id].used == 2
        assert sum(row.shown for row in rows.values()) == 3


def test_use_survives_the_database_and_a_rebuild(kiln: Notes) -> None:
    with ingested(kiln) as memory:
        first = memory.feedback(f"{PATH}#L5", "useful")
    for file in kiln.root.parent.glob("index.duckdb*"):
        file.unlink()
    kiln.write(PATH, NOTE.replace("## Kiln trouble", "Some more words.\n\n## Kiln trouble"))
    with ingested(kiln) as memory:
        second = memory.feedback(f"{PATH}#L7", "useful")
    assert (second.id, second.useful) == (first.id, 2)


def test_it_is_a_table(kiln: Notes, tmp_path: Path) -> None:
    with ingested(kiln) as memory:
        made = memory.feedback(f"{PATH}#L5", "irrelevant")
        query = "SELECT hit, irrelevant, boost, text FROM usage JOIN hits USING (hit) JOIN memories USING (id)"
        assert memory.sql(query).rows == ((made.id, 1, made.boost, f"- {KILN}"),)
        assert [table.rows for table in memory.export(tmp_path / "out").tables if table.name == "usage"] == [1]
