"""Labelled questions over a folder of workspaces: what counts as found, as read, and as an answer that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import evaluate, real

NOTES = {
    "a/MEMORY.md": "# House\n\n- The boiler was repaired on 13 February by Ilse.\n\n- The roof is of slate.\n",
    "b/memory/2026-03-01.md": "# Воскресенье\n\n- Лодку покрасили в синий цвет.\n",
}
QUESTIONS = {
    "a": [
        {"id": "1", "query": "Who repaired the boiler?", "category": "exact", "lang": "en", "query_lang": "en",
         "date_asked": "2026-03-02", "evidence_any": [{"path": "MEMORY.md", "start": 3, "end": 3}]},
        {"id": "2", "query": "boiler and roof", "evidence_all": [
            [{"path": "MEMORY.md", "start": 3, "end": 3}], [{"path": "MEMORY.md", "start": 9, "end": 9}]]},
        {"id": "3", "query": "Which violin did the tenor buy?", "lang": "en"},
    ],
    "b": [{"id": "4", "query": "В какой цвет покрасили лодку?", "lang": "ru", "query_lang": "ru",
           "evidence_any": [{"path": "memory/2026-03-01.md", "start": 3, "end": 3}]}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in NOTES.items():
        file = tmp_path / "workspaces" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "questions").mkdir()
    for name, rows in QUESTIONS.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / "questions" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def ask(folder: Path, *more: str) -> dict[tuple[str, str], dict[str, object]]:
    real.main(
        ["--workspaces", str(folder / "workspaces"), "--questions", str(folder / "questions"), "--mode", "keyword",
         "--model", "none", "--out", str(folder / "rows.jsonl"), *more]
    )  # fmt: skip
    rows = map(json.loads, (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    return {(row["id"], row["system"]): row for row in rows}


def test_each_question_is_scored_beside_chunks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(folder)
    assert {system for _, system in rows} == {"keyword", "chunks"}
    for number in ("1", "4"):
        assert rows[number, "keyword"]["R@1"] == rows[number, "keyword"]["T@1000"] == 1
    assert rows["2", "keyword"]["R@10"] == 0.5  # line 9 is not there
    assert "R@1" not in rows["3", "keyword"]
    report = capsys.readouterr().out
    assert "notes ru, question ru" in report and "| all | keyword | 3 |" in report
    assert "| en | 1: median" in report  # questions without an answer, against those with one


def test_one_workspace_alone(folder: Path) -> None:
    assert {key for key, _ in ask(folder, "--only", "b")} == {"4"}


def test_a_budget_ends_in_the_middle_of_a_hit() -> None:
    files = {"n.md": ["four letters", "x" * 40, "never read"]}
    spans = real.read([real.Span("n.md", 1, 3)], files, budget=15)
    assert spans == [real.Span("n.md", 1, 2)]
    again = real.read([real.Span("n.md", 1, 1), real.Span("n.md", 1, 2)], files, budget=15)
    assert again == [real.Span("n.md", 1, 1), real.Span("n.md", 1, 2)]  # a line is paid for once


def test_what_evaluate_finds_is_compared_by_rank(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rising = [0.1, 0.2, 0.2, 0.4]
    assert (
        evaluate.spearman(rising, rising)
        == pytest.approx(1)
        == -evaluate.spearman(rising, [-value for value in rising])
    )
    page = folder / "page.md"
    page.write_text("<!-- benchmarks.evaluate --><!-- /benchmarks.evaluate -->", encoding="utf-8")
    evaluate.main(
        ["--workspaces", str(folder / "workspaces"), "--questions", str(folder / "questions"), "--write", str(page),
         "--set", "search.mode=keyword", "--set", "search.fusion=rrf"]
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert "`python -m benchmarks.evaluate" in text and " s of the processor; " in text
    assert "| `search.fusion=rrf` | " in text and "over 6 settings of workspaces" in text
    assert text.split("\n\n", 1)[1].rpartition("\n\n")[0] in capsys.readouterr().out
