"""The JSON of the contract: exact field names, and nothing that JSON does not have."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.model import FileText, Grain, SkippedFile
from openclaw_memory.system.serialize import camel, dumps, to_json

HIT = [
    "path", "startLine", "endLine", "score", "snippet", "citation", "id", "heading", "date", "kind", "grain",
    "origin", "vectorScore", "textScore", "concepts", "archived", "source", "why",
    "bestLine", "snippetLine",
]  # fmt: skip
INGEST = [
    "files", "chunks", "added", "updated", "deleted", "unchanged", "embedded", "pending", "concepts_linked", "seconds",
]  # fmt: skip


@pytest.fixture
def memory(notes: Notes, embedder: CountingEmbedder) -> Any:
    notes.write("memory/2026-02-13.md", "# Lamps\n\n- a lamp broke\n")
    with open_memory(notes, embedder) as memory:
        yield memory


def names(value: Any) -> list[str]:
    made = json.loads(dumps(value))
    assert isinstance(made, dict)
    return list(made)


def test_an_ingest(memory: Memory) -> None:
    report = memory.ingest()
    assert names(report) == INGEST
    skipped = replace(report, skipped=(SkippedFile("a.md", "binary"),), warning="w")
    assert names(skipped) == [*INGEST, "skipped", "warning"]
    assert to_json(skipped)["skipped"] == [{"path": "a.md", "reason": "binary"}]


def test_a_search_and_its_hits(memory: Memory) -> None:
    result = memory.search("lamp", explain=True)
    assert names(result) == ["results", "provider", "model", "mode", "fallback", "took_ms", "goodMatch", "leftOut"]
    assert names(replace(result, stale=True, warning="w")) == [
        "results", "provider", "model", "mode", "fallback", "took_ms", "stale", "warning", "goodMatch", "leftOut",
    ]  # fmt: skip
    hit = json.loads(dumps(result))["results"][0]
    assert list(hit) == HIT
    assert hit | {"score": 0, "vectorScore": 0, "id": "", "why": ""} == {
        "path": "memory/2026-02-13.md", "startLine": 1, "endLine": 3, "score": 0,
        "snippet": "# Lamps\n\n- a lamp broke", "citation": "memory/2026-02-13.md#L1-L3", "id": "", "heading": "Lamps", "date": "2026-02-13", "kind": "daily",
        "grain": "working", "origin": "agent", "vectorScore": 0, "textScore": 1.0, "concepts": [], "archived": False,
        "source": "memory", "why": "", "bestLine": 3, "snippetLine": 1,
    }  # fmt: skip
    full = replace(result.results[0], graph_score=0.5, time_score=0.25)
    assert {"graphScore", "timeScore"} <= set(names(full))
    bare = replace(result.results[0], vector_score=None, text_score=None, why=None, date=None)
    assert names(bare) == [name for name in HIT if name not in ("vectorScore", "textScore", "why")]
    assert to_json(bare)["date"] is None


def test_a_file(memory: Memory) -> None:
    assert names(memory.get("memory/2026-02-13.md")) == ["status", "path", "text", "from", "lines"]
    assert names(memory.get("memory/2026-02-13.md", 1, 1)) == [
        "status", "path", "text", "from", "lines", "nextFrom", "truncated",
    ]  # fmt: skip
    assert to_json(memory.get("no.md")) == {"status": "not_found", "path": "no.md", "text": ""}
    assert names(FileText("error", "a.md", error="e")) == ["status", "path", "text", "error"]


def test_a_status(memory: Memory) -> None:
    usage = to_json(replace(memory.status(), http_usage={"requests_today": 3}, warning="w"))
    assert usage["httpUsage"] == {"requestsToday": 3} and usage["warning"] == "w"


def test_keys_that_are_data_stay_as_they_are(memory: Memory) -> None:
    status = replace(memory.status(), plugin_failures={"my_own_plugin": "load: no"})
    assert to_json(status)["pluginFailures"] == {"my_own_plugin": "load: no"}
    assert to_json({"bm25_unit": 1, 3: date(2026, 2, 13)}) == {"bm25_unit": 1, "3": "2026-02-13"}


def test_values_become_json() -> None:
    assert to_json([Grain.DAILY, Path("a/b"), (1, 2), 0.123456789, float("nan"), float("inf"), None, True]) == [
        "daily", "a/b", [1, 2], 0.1235, None, None, None, True,
    ]  # fmt: skip
    assert json.loads(dumps({"a": "\ud800", "b": "é"})) == {"a": "\ud800", "b": "é"}
    assert "é" in dumps("é") and "\n" not in dumps({"a": [1]}, None)
    names = {"start_line": "startLine", "took_ms": "took_ms", "from_line": "from", "a": "a"}
    assert {name: camel(name) for name in names} == names


def test_hits_hold_no_numbers_of_numpy(memory: Memory) -> None:
    memory.ingest()
    for hit in memory.search("lamp").results:
        for value in (hit.start_line, hit.end_line, hit.score, hit.vector_score, hit.text_score):
            assert not isinstance(value, np.generic)
