"""The generated corpus is the same every time, has the sizes it promises, and answers its queries."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import corpus


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    written = corpus.write_year(tmp_path / "one", notes=5)
    assert corpus.write_year(tmp_path / "two", notes=5) == written
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    corpus.write_year(tmp_path / "three", notes=5, seed=7)
    assert contents(tmp_path / "three") != contents(tmp_path / "one")


def test_the_stream_is_pinned_so_that_figures_stay_comparable() -> None:
    digest = hashlib.sha256("\n".join(corpus.units(2000)).encode()).hexdigest()
    assert digest == "4cfd3fb54821277225771cec5b8e06601533adb8b2b076c0bef6a17e15f0e267"


def test_a_year_has_a_note_a_day_of_about_ten_kilobytes(tmp_path: Path) -> None:
    written = corpus.write_year(tmp_path, notes=40)
    files = contents(tmp_path)
    assert written.files == len(files) == 42
    assert written.bytes == sum(map(len, files.values()))
    assert {"MEMORY.md", "USER.md", "memory/2022-01-01.md", "memory/2022-02-09.md"} <= set(files)
    assert 9.5 < written.bytes / 42 / 1024 < 10.8
    assert 65 <= written.units / 42 <= 75


@pytest.mark.parametrize("count", [1, 100, 1000, 2345])
def test_a_workspace_has_exactly_the_units_asked_for(tmp_path: Path, count: int) -> None:
    assert corpus.write_workspace(tmp_path, units=count).units == count
    text = "\n".join(content.decode() for content in contents(tmp_path).values())
    assert all(unit in text for unit in corpus.units(count))


def test_the_days_go_on_in_another_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(corpus, "DAYS_PER_FOLDER", 3)
    corpus.write_year(tmp_path, notes=7, kilobytes=1)
    assert {"memory/2022-01-03.md", "memory/agent-1/2022-01-01.md", "memory/agent-2/2022-01-01.md"} <= set(
        contents(tmp_path)
    )


def test_words_have_a_long_tail() -> None:
    words = Counter(re.findall(r"[a-z0-9_.-]{3,}", " ".join(corpus.units(5000)).lower()))
    assert len(words) > 4500
    assert sum(1 for count in words.values() if count == 1) > 1200
    assert len(set(corpus.units(5000))) > 4990


def test_queries_repeat_and_have_their_answers_in_the_smallest_corpus() -> None:
    queries = corpus.queries(100)
    assert queries == corpus.queries(100)
    units = set(corpus.units(1000))
    assert all(query.answer in units for query in queries)
    assert {query.kind for query in queries} == {"terms", "identifier", "name", "date"}
    for query in queries:
        if query.kind == "terms":
            assert all(term in query.answer.lower() for term in query.text.split())
            assert len(query.text.split()) <= 6
        if query.kind == "date":
            assert re.search(r"\d{1,2} [A-Z][a-z]+ 2022", query.text)
