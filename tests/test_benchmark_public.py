"""The data sets of others are read as they are laid out, and scored as their authors score them."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchmarks import workspaces
from benchmarks.public import __main__ as public
from benchmarks.public import brainbench, fact_consolidation, halumem, harness, locomo, longmemeval, retrieval
from benchmarks.public.notes import Notes, Question, Session, Turn, write_sessions
from benchmarks.real import Span
from openclaw_memory import Settings

SETTINGS = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"})


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def haystack(name: str, *, sessions: int = 30) -> dict[str, Any]:
    """Made-up sessions about boats, one of which says what the winch lifts."""
    talk: list[list[dict[str, Any]]] = [
        [
            {"role": "user", "content": f"We painted boat number {number} red."},
            {"role": "assistant", "content": "Good.\n\n- Let it dry."},
        ]
        for number in range(sessions)
    ]
    talk[7][0] = {"role": "user", "content": "The winch of the slipway lifts two tonnes.", "has_answer": True}
    return {
        "question_id": name, "question_type": "single-session-user", "question": "How much does the winch lift?",
        "question_date": "2023/05/30 (Tue) 10:00", "answer": "two tonnes", "answer_session_ids": ["s7"],
        "haystack_session_ids": [f"s{number}" for number in range(sessions)],
        "haystack_dates": [f"2023/05/{1 + number % 28:02} (Mon) 09:0{number // 28}" for number in range(sessions)],
        "haystack_sessions": talk,
    }  # fmt: skip


def test_sessions_of_a_day_share_a_note_and_passages_are_its_lines() -> None:
    day = datetime(2026, 3, 1, 9)
    notes = write_sessions(
        [
            Session("late", day.replace(hour=18), "", [Turn("c", "Ilse: Red.\n\n- twice")]),
            Session("early", day, ", on deck", [Turn("a", "Ilse: Which colour?"), Turn("b", "Odd: Blue.")]),
        ]
    )
    (lines,) = notes.files.values()
    assert lines[0] == "# 2026-03-01" and "## 09:00, on deck" in lines
    for key, text in {"a": "Ilse: Which colour?", "b": "Odd: Blue.", "c": "Ilse: Red.\n\n- twice"}.items():
        span = notes.passages["turn"][key]
        assert "\n".join(lines[span.start - 1 : span.end]) == text
    early, late = (notes.passages["session"][key] for key in ("early", "late"))
    assert early.end < late.start and lines[late.start - 1] == "## 18:00"


def test_a_passage_counts_once_and_at_its_first_rank() -> None:
    found = retrieval.measure([{"a"}, {"b", "c"}, {"c"}], {"c", "d"})
    assert (found["R@1"], found["R@5"], found["any@1"], found["any@5"], found["all@5"]) == (0, 0.5, 0, 1, 0)
    assert found["MRR"] == 0.5
    assert retrieval.measure([{"c", "d"}], {"c", "d"})["nDCG@10"] == 1


def test_a_hit_over_the_edge_of_a_session_belongs_to_that_of_most_of_its_lines() -> None:
    sessions = {"a": Span("x", 1, 10), "b": Span("x", 11, 30), "c": Span("y", 1, 30)}
    hit = Span("x", 9, 20)
    assert retrieval.touched(hit, sessions) == ["b", "a"]
    notes, day = Notes({}, {"session": sessions}), datetime(2026, 3, 1).date()
    for key, share in {"a": 0, "b": 1}.items():
        question = Question("1", "Which?", "any", day, "", {"session": frozenset(key)})
        assert retrieval.scores([hit], (), question, notes)["session"]["R@10"] == share


def test_the_interval_holds_the_mean_and_narrows() -> None:
    for mean in (0.0, 0.5, 0.95, 1.0):
        wide, narrow = retrieval.interval(mean, 20), retrieval.interval(mean, 500)
        assert -1e-9 <= wide[0] <= mean <= wide[1] <= 1 + 1e-9
        assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_a_run_that_was_broken_off_goes_on_and_its_tables_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("aa", "bb_abs"):
        write(tmp_path / "data" / f"30_{name}.json", haystack(name))
        write(tmp_path / "data" / f"480_{name}.json", {"not": "read"})
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.md"
    page.write_text("before\n<!-- benchmarks.public longmemeval --><!-- /benchmarks.public longmemeval -->\nafter\n")
    command = ["longmemeval", str(tmp_path / "data"), "--model", "none", "--out", str(rows)]
    public.main([*command, "--sample", "1"])
    first = rows.read_text()
    public.main([*command, "--write", str(page)])
    assert "BM25, by turn" in (page.parent / "images" / "public-longmemeval.svg").read_text(encoding="utf-8")
    assert rows.read_text().startswith(first) and len(rows.read_text().splitlines()) == 2
    text = page.read_text()
    assert text.startswith("before") and text.endswith("after\n")
    assert "| openclaw-memory | 2 | 1.000" in text and "| … abstention | 1 |" in text and "(published)" in text
    assert "python -m benchmarks.public longmemeval FOLDER --model none`" in capsys.readouterr().out


def test_the_whole_file_of_longmemeval_is_read_as_the_folder_is(tmp_path: Path) -> None:
    write(tmp_path / "longmemeval_s_cleaned.json", [haystack("aa"), haystack("bb")])
    one, other = longmemeval.read(tmp_path)
    assert (one.name, other.name) == ("aa", "bb")
    assert one.questions[0].evidence == {"session": {"7"}, "turn": {"7 0"}}
    span = other.build().passages["turn"]["7 0"]
    assert other.build().files[span.path][span.start - 1] == "User: The winch of the slipway lifts two tonnes."


def test_locomo_leaves_out_questions_without_an_answer_and_splits_joined_evidence(tmp_path: Path) -> None:
    turns = [{"speaker": "Odd", "dia_id": f"D1:{at}", "text": f"Plank {at}."} for at in (1, 2, 3)]
    turns[1]["blip_caption"] = "a boat"
    write(tmp_path / "data" / "locomo10.json", [{
        "sample_id": "conv-1",
        "conversation": {"speaker_a": "Odd", "speaker_b": "Ilse", "session_1": turns, "session_2": [],
                         "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [{"question": "Which?", "answer": "1", "evidence": ["D1:1; D1:3"], "category": 1},
               {"question": "Who?", "evidence": ["D1:1"], "category": 5},
               {"question": "What?", "answer": "2", "evidence": ["D9:9"], "category": 2}],
    }])  # fmt: skip
    (workspace,) = locomo.read(tmp_path)
    (question,) = workspace.questions
    assert question.evidence == {"session": {"session_1"}, "turn": {"D1:1", "D1:3"}}
    notes = workspace.build()
    assert notes.files["memory/2023-05-08.md"][3:7][2] == "Odd: Plank 2. [shared a photo: a boat]"
    assert notes.passages["turn"]["D1:1"] == Span("memory/2023-05-08.md", 5, 5)
    public.main(["locomo", str(tmp_path), "--workspaces", str(tmp_path / "spaces")])
    (row,) = workspaces.questions(tmp_path / "spaces")["conv-1"]
    assert row["evidence"] == [{"path": "memory/2023-05-08.md", "line": line} for line in (5, 7)]
    assert (tmp_path / "spaces" / "conv-1" / "memory" / "2023-05-08.md").is_file()


def test_samples_hold_the_categories_in_proportion_and_begin_alike(tmp_path: Path) -> None:
    rows = [haystack(f"q{at}") for at in range(8)] + [haystack(f"q{at}_abs") for at in range(4)]
    write(tmp_path / "longmemeval_s.json", rows)
    order = retrieval.spread(longmemeval.read(tmp_path))
    assert [one.name for one in retrieval.spread(reversed(order))] == [one.name for one in order]
    for at in (3, 6, 9):
        assert sum(one.name.endswith("_abs") for one in order[:at]) == at / 3


def test_brainbench_counts_what_is_given_kept_and_continued(tmp_path: Path) -> None:
    page = {"slug": "people/ilse-vorland", "content": "---\ntitle: Ilse Vorland\n---\n\nIlse Vorland builds boats.\n"}
    writer = {
        "fixture_id": "w", "suites": ["know-to-ask", "push", "write-back", "continuity"],
        "seed_pages": [page, page | {"slug": "other", "source_id": "team"}],
        "continuity": {"pair_id": "p", "pair_role": "writer"},
        "turns": [
            {"turn_id": 1, "role": "user", "text": "What does Ilse Vorland build?", "ts": "2026-08-14T10:48:00Z"},
            {"turn_id": 2, "role": "user", "text": "We decided to sell the winch to Ilse Vorland.",
             "ts": "2026-08-14T10:50:00Z"},
        ],
    }  # fmt: skip
    reader = {
        "fixture_id": "r", "suites": ["continuity"], "continuity": {"pair_id": "p", "pair_role": "reader"},
        "turns": [{"turn_id": 1, "role": "user", "text": "To whom do we sell the winch?"}],
    }  # fmt: skip
    keywords = ["sell", "winch"]
    gold = {
        "w": {"fixture_id": "w", "turns": {
            "1": {"should_retrieve": True, "gold_slugs": ["people/ilse-vorland"]},
            "2": {"should_retrieve": False, "gold_facts": [{"match_keywords": keywords}]}}},
        "r": {"fixture_id": "r", "turns": {}, "continuity": {
            "decisions": [{"decision_id": "d", "expected_slugs": ["absent"], "match_keywords": keywords}]}},
    }  # fmt: skip
    for fixture in (writer, reader):
        name = fixture["fixture_id"]
        write(tmp_path / "fixtures" / f"{name}.fixture.json", fixture)
        write(tmp_path / "gold" / f"{name}.gold.json", gold[str(name)])
    assert brainbench.notes_of(writer).keys() == {"memory/people/ilse-vorland.md"}
    table = brainbench.run(tmp_path, SETTINGS, None)
    assert "| messages that need a page and get none | 0 of 1 |" in table
    assert "| facts kept | 1 of 1 |" in table
    assert "| decisions that the next host gets | 1 of 1 |" in table


def test_the_adapter_of_the_harness_answers_with_the_documents_of_the_user(tmp_path: Path) -> None:
    documents = [
        {"id": "a 1", "user_id": "ilse", "timestamp": "2026-03-01T09:00:00+00:00",
         "content": json.dumps([{"speaker": "Ilse", "text": "The winch lifts two tonnes."}])},
        {"id": "b 1", "user_id": "odd", "content": "[USER] My winch lifts three tonnes."},
    ]  # fmt: skip
    adapter = harness.Adapter(SETTINGS)
    adapter.prepare(tmp_path / "store")
    adapter.ingest([harness.Document(**one) for one in documents])
    (found,), _ = adapter.retrieve("How much does the winch lift?", user_id="ilse", query_timestamp="2026-03-02")
    adapter.cleanup()
    assert found.id == "a 1" and "2026-03-01" in found.content and "two tonnes" in found.content
    query = {"query": "How much does the winch lift?", "user_id": "ilse", "gold_ids": ["a 1"], "meta": {}}
    for split in harness.SPLITS:
        write(tmp_path / "data" / split / "documents.json.gz", documents)
        write(tmp_path / "data" / split / "queries.json.gz", [query])
    table = harness.run(tmp_path, SETTINGS, None)
    assert "| locomo/locomo10 | 1 | 1.000 |" in table and "| personamem/32k | 1 | - |" in table


def test_halumem_asks_for_the_sessions_that_state_what_changed(tmp_path: Path) -> None:
    def point(content: str, *, update: bool = False, source: str = "primary") -> dict[str, Any]:
        return {"memory_content": content, "is_update": str(update), "memory_source": source}

    def session(day: int, text: str, *points: dict[str, Any]) -> dict[str, Any]:
        return {
            "start_time": f"Mar {day:02}, 2026, 09:00:00", "end_time": f"Mar {day:02}, 2026, 10:00:00",
            "dialogue": [{"role": "user", "content": text}], "memory_points": points,
        }  # fmt: skip

    old, new = point("Ilse's winch lifts two tonnes"), point("Ilse's winch lifts three tonnes", update=True)
    question = {"question": "How much does it lift?", "answer": "three", "question_type": "Dynamic Update",
                "evidence": [new]}  # fmt: skip
    sessions = [
        session(1, "My winch lifts two tonnes.", old),
        session(2, "Now it lifts three.", new, point("four", update=True, source="interference")) | {
            "questions": [question, question | {"evidence": []}]
        },
    ]  # fmt: skip
    row = {"uuid": "ilse", "persona_info": "", "sessions": sessions}
    (tmp_path / "people.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    (workspace,) = halumem.read(tmp_path)
    assert [(one.category, one.evidence["session"]) for one in workspace.questions] == [
        ("Dynamic Update", {"1"}), ("update", {"1"}),
    ]  # fmt: skip
    assert workspace.build().files["memory/2026-03-02.md"][4] == "User: Now it lifts three."


def test_of_facts_that_contradict_each_other_the_last_one_has_to_come_first(tmp_path: Path) -> None:
    facts = ["The winch of Vorland is a Kestrel.", "The crane of Vorland is a Kestrel.", "Odd paints boats.",
             "The winch of Vorland is a Merlin."]  # fmt: skip
    question = "What is the winch of Vorland?"
    assert fact_consolidation.versions(question, ["Merlin"], facts) == (facts[3], [facts[0]])
    assert fact_consolidation.versions(question, ["a Kestrel"], facts) == (facts[0], [facts[3]])
    assert [fact_consolidation.first_of(text, facts[3], facts[:1]) for text in ("\n".join(facts), facts[3], "")] == [
        "one that it replaced", "the fact that holds", "neither",
    ]  # fmt: skip
    row = {
        "context": "Here is a list of facts:\n" + "".join(f"{at}. {fact}\n" for at, fact in enumerate(facts)),
        "questions": [question], "answers": [["Merlin"]], "metadata": {"source": "factconsolidation_sh_6k"},
    }  # fmt: skip
    write(tmp_path / "fixture.json", {"data": [row, row | {"metadata": {"source": "factconsolidation_mh_6k"}}]})
    assert "| search, factconsolidation_sh_6k | 4 | 1 |" in fact_consolidation.run(tmp_path, SETTINGS, None)
    rows = tmp_path / "fixture.json"
    duckdb.sql(f"select unnest(data, max_depth := 2) from '{rows}'").to_parquet(
        str(tmp_path / "Conflict_Resolution-0.parquet")
    )
    rows.unlink()
    assert [one["metadata"]["source"][-5:] for one in fact_consolidation.rows_of(tmp_path)] == ["sh_6k", "mh_6k"]
    (tmp_path / "Conflict_Resolution-0.parquet").unlink()
    with pytest.raises(FileNotFoundError):
        fact_consolidation.run(tmp_path, SETTINGS, None)


def test_without_a_name_the_data_sets_are_listed_and_a_wrong_folder_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public.main([])
    assert "| locomo | data/locomo10.json of snap-research/locomo | CC BY-NC 4.0 |" in capsys.readouterr().out
    for name, one in public.DATA_SETS.items():
        with pytest.raises(SystemExit, match="does not hold") as raised:
            public.main([name, str(tmp_path), "--model", "none"])
        assert one.origin in str(raised.value)
