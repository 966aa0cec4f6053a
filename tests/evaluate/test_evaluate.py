"""Evaluation: questions that a memory is asked of its own notes, their scores, comparisons and history."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import run_command
from fakes import CountingEmbedder, Notes, ingested
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory import Memory
from openclaw_memory.errors import SettingsError
from openclaw_memory.evaluate.questions import NoteQuestion
from openclaw_memory.evaluate.scores import Outcome, compare, share, sign_test, summarise
from openclaw_memory.evaluate.service import note_questions

#: What happens to what, and where: a line for each pair, in words of its own.
_THINGS = "kiln boiler bicycle telescope dishwasher projector harmonium turntable compressor aquarium".split()
_PLACES = "Utrecht Ghent Malmo Turin Porto Krakow Bergen Graz Tartu Leeds".split()


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Notes:
    notes = Notes(tmp_path_factory.mktemp("evaluate") / "workspace")
    notes.write("MEMORY.md", "- Berta lives in Utrecht\n- The NAS is at 10.0.0.17\n- Tove's birthday is on 4 May\n")
    for day, (thing, place) in enumerate(zip(_THINGS, _PLACES, strict=True), 1):
        other = _PLACES[-day]
        lines = f"- The {thing} from {place} was repaired by the neighbour with spare part {thing[:3]}{day * 7}.\n"
        lines += f"- Nobody in {other} wanted to collect the broken {thing} before the winter holidays.\n"
        notes.write(f"memory/2026-03-{day:02}.md", f"# 2026-03-{day:02}\n\n## Repairs of the {thing}\n\n{lines}")
    return notes


def _questions(memory: Memory, most: int = 40) -> list[NoteQuestion]:
    return note_questions(memory, memory.facts, most)


def test_the_same_notes_give_the_same_questions(notes: Notes) -> None:
    with ingested(notes, CountingEmbedder(), name="first") as memory:
        first = _questions(memory)
        assert _questions(memory) == first
    with ingested(notes, CountingEmbedder(), name="second") as memory:  # whatever the order of ingest
        for file in sorted(notes.root.rglob("2026-*.md"), reverse=True)[::3]:
            text = file.read_text()
            notes.write(file.relative_to(notes.root).as_posix(), "- for a moment something else\n")
            memory.ingest()
            notes.write(file.relative_to(notes.root).as_posix(), text)
            memory.ingest()
        assert _questions(memory) == first


def test_questions_are_of_every_kind_and_spread_over_the_files(notes: Notes) -> None:
    with ingested(notes, CountingEmbedder()) as memory:
        questions = _questions(memory)
    kinds = Counter(question.kind for question in questions)
    assert set(kinds) == {"fact", "heading", "words", "nothing"} and max(kinds.values()) <= 10
    by_words = [question.answers[0][0] for question in questions if question.kind == "words"]
    assert len(set(by_words)) == len(by_words) == 10
    assert {question.language for question in questions} == {"english"}


def test_a_question_has_the_words_that_its_kind_gives_it_and_not_the_answer(notes: Notes) -> None:
    with ingested(notes, CountingEmbedder()) as memory:
        questions = _questions(memory)
    texts = {file.relative_to(notes.root).as_posix(): file.read_text() for file in notes.root.rglob("*.md")}
    facts = [question.text for question in questions if question.kind == "fact"]
    assert any("Berta" in text for text in facts) and not any("Utrecht" in text for text in facts)
    for question in questions:
        words = question.text.split()
        if question.kind == "words":
            (path, first, _), *_ = question.answers
            assert all(word in texts[path].splitlines()[first - 1] for word in words)
        if question.kind == "heading":
            (path, first, last), *_ = question.answers
            assert path == f"memory/{words[-1]}.md" and last > first
        if question.kind == "nothing":
            assert question.answers == () and len(words) == 3
            assert not any(sum(word in text for word in words) > 1 for text in texts.values())


def test_the_report_counts_what_is_found_and_status_tells_the_last_one(notes: Notes) -> None:
    with ingested(notes, CountingEmbedder()) as memory:
        assert memory.status().evaluation is None
        report = memory.evaluate(questions=50)
        found, run = report.scores.found, report.run
        assert found.at1.part <= found.at5.part <= found.at10.part <= found.at1.whole
        assert found.at1.low < found.at1.share < found.at1.high and found.at5.share > 0.6
        assert sum(each.at5.part for each in report.scores.by_kind.values()) == found.at5.part == run.found
        assert report.scores.silent.whole == run.unanswerable and report.scores.by_kind.keys() >= {"fact", "words"}
        assert memory.status().evaluation == run and report.before is None
        assert memory.evaluate(questions=50).before == run
        memory.settings = memory.settings.with_values({"search.mode": "keyword"})
        assert memory.status().evaluation is None


def test_an_evaluation_counts_no_use_and_keeps_no_question(notes: Notes) -> None:
    with ingested(notes, CountingEmbedder()) as memory:
        before = {file: file.read_bytes() for file in notes.root.rglob("*") if file.is_file()}
        questions = _questions(memory)
        memory.evaluate(questions=50)
        assert memory.usage.rows() == [] and memory.status().context.messages == 0  # type: ignore[union-attr]
        assert {file: file.read_bytes() for file in notes.root.rglob("*") if file.is_file()} == before
        kept = json.dumps(memory.state.flag("evaluations"))
        assert not any(question.text in kept or "memory/" in kept for question in questions)


def test_other_settings_are_asked_the_same_on_the_same_index(notes: Notes) -> None:
    embedder = CountingEmbedder()
    with ingested(notes, embedder) as memory:
        embedder.taken()
        report = memory.evaluate(questions=50, against={"search.mode": "keyword"})
        assert embedder.taken() == []  # nothing is embedded again
        assert report.comparison is not None
        assert (report.scores.mode, report.comparison.scores.mode) == ("hybrid", "keyword")
        assert report.comparison.scores.found.at1.whole == report.scores.found.at1.whole
        assert memory.search("kiln").mode == "hybrid"  # whose settings are as before
        same = memory.evaluate(questions=50, against={"search.max_results": 5}).comparison
        assert same is not None and (same.earlier, same.later, same.p, same.is_significant) == (0, 0, 1.0, False)
        with pytest.raises(SettingsError, match="search"):
            memory.evaluate(against={"search.nothing": 1})


def test_another_index_is_a_temporary_one(notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    embedder = CountingEmbedder()
    with ingested(notes, embedder) as memory:
        before = memory.status()
        embedder.taken()
        report = memory.evaluate(questions=50, against={"ingest.embed": "lazy"})
        assert len(embedder.taken()) >= before.chunks  # in an index of its own
        assert memory.status().generation == before.generation and report.comparison is not None
    assert list(tmp_path.iterdir()) == []


def test_a_difference_is_more_than_chance_only_if_it_is_consistent() -> None:
    def outcomes(ranks: list[int]) -> list[Outcome]:
        return [Outcome("words", "english", 1.0, rank) for rank in ranks]

    def compared(own: list[int], other: list[int]) -> tuple[int, int, bool]:
        made = compare({}, outcomes(own), outcomes(other), summarise(outcomes(other), None, "keyword"))
        return made.earlier, made.later, made.is_significant

    assert compared([3] * 8, [1] * 8) == (8, 0, True)
    assert compared([1] * 8, [3] * 8) == (0, 8, True)
    assert compared([3] * 5, [1] * 5) == (5, 0, False)
    assert compared([1, 2, 1, 2], [2, 1, 2, 1]) == (2, 2, False)


def test_the_sign_test_and_the_interval_have_their_textbook_values() -> None:
    assert sign_test(0, 0) == sign_test(3, 3) == 1.0
    assert sign_test(1, 9) == sign_test(9, 1) == pytest.approx(22 / 1024)
    both = share([True] * 15 + [False] * 5)  # Wilson's interval of 15 in 20
    assert (both.share, both.low, both.high) == (0.75, pytest.approx(0.5313, abs=1e-3), pytest.approx(0.8881, abs=1e-3))
    assert (share([]).low, share([]).high) == (0.0, 1.0)


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_share_lies_within_its_interval(part: int, rest: int) -> None:
    made = share([True] * part + [False] * rest)
    assert 0 <= made.low <= made.share <= made.high <= 1


def test_the_command_prints_a_table_and_a_verdict(tmp_path: Path, notes: Notes) -> None:
    copy = Notes(tmp_path / "workspace")
    for file in notes.root.rglob("*.md"):
        copy.write(file.relative_to(notes.root).as_posix(), file.read_text())
    run_command(copy, "ingest")
    out = run_command(copy, "evaluate", "--questions", "20", "--against", "search.use_weight=0").stdout
    assert "your memory answers " in out and "search.use_weight=0 finds 0 answers earlier and 0 later" in out
    report = json.loads(run_command(copy, "evaluate", "--questions", "20", "--json").stdout)
    assert report["before"]["found"] == report["run"]["found"] == report["scores"]["found"]["at5"]["part"]
    assert f"your memory answers {report['run']['found']} of" in run_command(copy, "status").stdout
    assert "KEY=VALUE" in run_command(copy, "evaluate", "--against", "search.mode", code=2).stderr


def test_an_empty_memory_is_asked_nothing(tmp_path: Path) -> None:
    empty = Notes(tmp_path / "workspace")
    empty.write("MEMORY.md", "")
    with ingested(empty) as memory:
        report = memory.evaluate()
    assert report.scores.found.at5.whole == 0 and report.scores.by_kind == {}
