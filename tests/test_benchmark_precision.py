"""The benchmark of exact retrieval counts as the harness of PrecisionMemBench does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.public import precision
from openclaw_memory import Settings


def belief(name: str, content: str, **values: Any) -> dict[str, Any]:
    return {
        "_id": f"b-{name}", "user_id": "test-user", "type": "entity", "canonical_name": name, "aliases": [],
        "content": content, "why_it_matters": "", "scope": ["domain:yard"], "pinned": False, "resolved_at": None,
        "superseded_by": None, "updated_at": "2026-09-01T00:00:00Z", **values,
    }  # fmt: skip


BELIEFS = [
    belief("winch", "The winch lifts two tonnes.", aliases=["capstan"]),
    belief("dry_dock", "The dock is flooded on Sundays.", pinned=True),
    belief("paint", "Undecided: red lead or zinc.", type="open_question"),
    belief("slipway", "The slipway is greased with tallow.", type="relation", participants=["b-winch", "b-paint"]),
]
CASES = [
    {"caseId": "alias", "query": "how strong is the capstan?", "only": ["b-winch"]},
    {"caseId": "pinned", "query": "when is the dry dock flooded?", "only": []},
    {"caseId": "relation", "query": "what greases the slipway?", "only": ["b-slipway", "b-winch"]},
    {"caseId": "empty", "query": " ", "only": []},
    {"caseId": "stranger", "query": "how strong is the capstan?", "only": ["b-winch"], "userId": "nobody"},
]


def test_cases_are_counted_as_the_harness_counts(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    cases = [
        {
            **case,
            "category": "",
            "scope": ["domain:yard"],
            "expect": {"relevantBeliefs": {"shouldOnlyInclude": case["only"]}},
        }
        for case in CASES
    ]
    for name, rows in (("beliefs.seed.json", BELIEFS), ("retrieval.cases.json", cases)):
        (tmp_path / "fixtures" / name).write_text(json.dumps(rows), encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"})
    found, beliefs = precision.outcomes_of(tmp_path, settings, None)
    outcomes = {outcome.case: outcome for outcome in found}
    report = precision.table(found, beliefs)
    assert outcomes["alias"].retrieved == ("b-winch",)
    assert outcomes["pinned"].retrieved == outcomes["empty"].retrieved == outcomes["stranger"].retrieved == ()
    assert outcomes["relation"].extra == ("b-paint",) and not outcomes["relation"].missing
    assert outcomes["stranger"].missing == ("b-winch",)
    passes = "active cases", "active passes", "active passes, questions apart", "all passes"
    assert [report[name] for name in passes] == [3, 1, 2, 3]
