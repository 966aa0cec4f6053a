"""Time and use in the ranking: recency, a bounded gain by use, and nothing of it unless it is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory
from grains import write_summary
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from tables import table, yes

from openclaw_memory import Memory, SearchRequest
from openclaw_memory.errors import RequestError
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.model import SearchHit
from openclaw_memory.search import decay
from openclaw_memory.search.features import scaled
from openclaw_memory.search.question import Question
from openclaw_memory.search.ranking import Query, rank
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.use.tracker import UsageBoosts

TODAY = date(2026, 3, 10)
OLD, NEW = "memory/2025-06-01.md", "memory/2026-03-09.md"


def fill(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the lantern stands in the hall\n")
    notes.write(OLD, "- the lantern was lit in the big barn\n")
    notes.write(NEW, "- bread and a lantern, some other words and more of them\n")
    notes.write("memory/garden.md", "---\ndate: 2026-02-08\n---\n- roses near a lantern by the pond\n")


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    fill(notes)
    with ingested(notes) as memory:
        yield memory


def hits(memory: Memory, query: str = "lantern lit in the big barn", **options: Any) -> list[SearchHit]:
    return list(memory.search(query, now=TODAY, max_results=20, explain=True, **options).results)


def order(memory: Memory, query: str = "lantern lit in the big barn", **options: Any) -> list[str]:
    return [hit.path for hit in hits(memory, query, **options)]


def with_uses(memory: Memory, uses: UsageBoosts) -> None:
    """Let the index know of use, as the memory's wiring does."""
    memory._questions._boosts_on = memory._questions.index()._boosts_on = lambda day: uses


def corpus_of(memory: Memory) -> Corpus:
    index = memory._questions.index()
    index.refresh(None)
    return index.graph.corpus


def test_recency_is_that_of_the_formula_and_curated_files_stay_young(memory: Memory) -> None:
    corpus = corpus_of(memory)
    paths = [corpus.documents[document].path for document in corpus.rows.document_id.tolist()]
    young = dict(zip(paths, decay.recency(corpus, TODAY), strict=True))
    assert young[NEW] == pytest.approx(1 / (1 + math.log(2)))
    assert young[OLD] == pytest.approx(1 / (1 + math.log(1 + (TODAY - date(2025, 6, 1)).days)))
    assert young["memory/garden.md"] == pytest.approx(1 / (1 + math.log(1 + 30)))
    assert young["MEMORY.md"] == 1
    assert decay.recency(corpus, date(2025, 1, 1)).tolist() == [1.0] * len(corpus), "of that day or later"
    corpus.rows.day[:] = 0
    assert decay.recency(corpus, TODAY).tolist() == [float(corpus.shape.kind[row] == 0) for row in range(len(corpus))]


def test_a_weight_brings_the_young_forward_and_says_so(memory: Memory) -> None:
    assert order(memory)[0] == OLD
    assert order(memory, recency_weight=0.9)[:2] == ["MEMORY.md", NEW]
    assert order(memory, recency_weight=0.0) == order(memory)
    new = next(hit for hit in hits(memory, recency_weight=0.5) if hit.path == NEW)
    plain = next(hit for hit in hits(memory) if hit.path == NEW)
    assert new.why is not None and "youth 0.59" in new.why and plain.why is not None and "youth" not in plain.why
    scores = [hit.score for hit in hits(memory, recency_weight=0.5)]
    assert all(0 <= score <= 1 for score in scores)


def test_with_all_the_weight_only_recency_counts(memory: Memory) -> None:
    results = hits(memory, recency_weight=1.0, kinds=("daily", "note"))
    assert [hit.path for hit in results] == [NEW, "memory/garden.md", OLD]
    assert [hit.score for hit in results] == pytest.approx(
        [1 / (1 + math.log(2)), 1 / (1 + math.log(31)), 1 / (1 + math.log(283))], abs=1e-4
    )


def test_the_setting_is_the_default_and_a_request_overrules_it(notes: Notes) -> None:
    fill(notes)
    with open_memory(notes, search__recency_weight=0.9) as memory:
        assert order(memory)[0] == "MEMORY.md"
        assert order(memory, recency_weight=0.0)[0] == OLD
        for wrong in (-0.1, 1.5, float("nan")):
            with pytest.raises(RequestError, match="recency_weight must be "):
                memory.search("lantern", recency_weight=wrong)


@given(st.lists(st.floats(0, 9, width=32), min_size=2, max_size=8), st.floats(0.01, 1))
def test_recency_mixes_with_the_scaled_score(values: list[float], weight: float) -> None:
    score = np.array(values, np.float32)
    young = np.linspace(1, 0, len(values), dtype=np.float32)
    moved = decay.Adjustment(recency=young, weight=weight).apply(score, None)
    assert np.allclose(moved, (1 - weight) * scaled(score) + weight * young, atol=2e-5)
    assert moved.dtype == np.float32 and moved.min() >= 0 and moved.max() <= 1 + 1e-6


def test_use_moves_a_little_and_never_more(memory: Memory) -> None:
    plain = {hit.path: hit for hit in hits(memory)}
    score = ranked(memory).score
    ids = {path: hit.id for path, hit in plain.items()}
    for value in (1.0, -1.0, 0.25):
        with_uses(memory, UsageBoosts(str(value), {ids[NEW]: value, "gone": 1.0}, {ids[NEW]: NEW, "gone": NEW}))
        moved = ranked(memory)
        (row,) = np.flatnonzero(moved.score != score).tolist()
        corpus = memory._questions.index().graph.corpus
        assert corpus.documents[int(corpus.rows.document_id[row])].path == NEW
        assert moved.score[row] - score[row] == pytest.approx(0.05 * value * (score.max() - score.min()), abs=1e-5)
        (hit,) = [hit for hit in hits(memory) if hit.path == NEW]
        assert hit.why is not None and f"use {0.05 * value:+.3f}" in hit.why
        assert (hit.text_score, hit.id) == (plain[NEW].text_score, plain[NEW].id)


def ranked(memory: Memory) -> Any:
    index = memory._questions.index()
    index.refresh(None)
    with memory.store.session():
        return rank(Query(Question("lantern", TODAY), SearchRequest("lantern"), "keyword"), index)


def test_of_two_that_are_alike_the_used_one_comes_first(notes: Notes) -> None:
    for n in range(1, 6):
        notes.write(f"memory/2026-03-0{n}.md", "- the lantern was lit\n")
    with open_memory(notes) as memory:
        assert order(memory, "lantern")[0] == "memory/2026-03-05.md"
        (third,) = [hit for hit in hits(memory, "lantern") if "03-03" in hit.path]
        (first,) = [hit for hit in hits(memory, "lantern") if "03-01" in hit.path]
        with_uses(
            memory, UsageBoosts("1", {third.id: 0.5, first.id: -0.5}, {third.id: third.path, first.id: first.path})
        )
        # Alike in everything else, use alone orders them.
        assert order(memory, "lantern") == [f"memory/2026-03-0{n}.md" for n in (3, 5, 4, 2, 1)]
        notes.write("memory/2026-03-09.md", "- something else entirely\n")
        assert order(memory, "lantern") == [f"memory/2026-03-0{n}.md" for n in (3, 5, 4, 2, 1)]


def test_without_use_and_wishes_every_score_is_the_same_to_the_bit(memory: Memory) -> None:
    index = memory._questions.index()
    index.refresh(None)
    query = Query(Question("lantern in the barn", TODAY), SearchRequest("lantern in the barn"), "keyword")
    with memory.store.session():
        before = rank(query, index)
        assert before.adjustment is None
        with_uses(memory, UsageBoosts("1", {}, {}))
        after = rank(query, index)
        assert after.adjustment is None
        with_uses(memory, UsageBoosts("2", {"gone": 1.0}, {"gone": "memory/gone.md"}))
        gone = rank(query, index)
    for other in (after, gone):
        assert_array_equal(before.score, other.score)
        assert_array_equal(before.order, other.order)


def test_no_use_counts_when_it_is_switched_off(notes: Notes) -> None:
    fill(notes)
    with open_memory(notes, search__use_weight=0.0) as memory:
        before = order(memory)
        ids = {hit.path: hit.id for hit in hits(memory)}
        with_uses(memory, UsageBoosts("1", {ids[NEW]: 1.0}, {ids[NEW]: NEW}))
        assert order(memory) == before and "use" not in str([hit.why for hit in hits(memory)])


def test_use_is_followed_through_changes_of_files_and_of_use(memory: Memory, notes: Notes) -> None:
    def boosted() -> dict[str, float]:
        index = memory._questions.index()
        adjustment = ranked(memory).adjustment
        corpus = index.graph.corpus
        if adjustment is None or adjustment.use is None:
            return {}
        rows = np.flatnonzero(adjustment.use).tolist()
        return {corpus.documents[int(corpus.rows.document_id[row])].path: float(adjustment.use[row]) for row in rows}

    ids = {hit.path: hit.id for hit in hits(memory)}
    with_uses(memory, UsageBoosts("1", {ids[NEW]: 0.5}, {ids[NEW]: NEW}))
    assert boosted() == {NEW: 0.5}
    notes.write("memory/2026-01-01.md", "- a note that moves every row\n")
    memory.ingest()
    assert boosted() == {NEW: 0.5}
    with_uses(memory, UsageBoosts("2", {ids[NEW]: 0.25, ids[OLD]: -1.0}, {ids[NEW]: NEW, ids[OLD]: OLD}))
    assert boosted() == {NEW: 0.25, OLD: -1.0}
    notes.write(NEW, "- bread and no light\n")
    memory.ingest()
    assert boosted() == {OLD: -1.0}
    notes.write(NEW, "- bread and a lantern, some other words and more of them\n")
    notes.remove(OLD)
    memory.ingest()
    assert boosted() == {NEW: 0.25}


def test_use_of_a_note_goes_to_its_summary(notes: Notes) -> None:
    fill(notes)
    with open_memory(notes) as memory:
        (old,) = [hit for hit in hits(memory) if hit.path == OLD]
        summary = write_summary(
            notes, "daily", "2025-06-01", f"# 1 June 2025\n\n## Notes\n- the lantern was lit in the big barn [{OLD}#L1]\n",
            [OLD], "2025-06-01",
        )  # fmt: skip
        with_uses(memory, UsageBoosts("1", {old.id: 0.8}, {old.id: OLD}))
        assert OLD not in order(memory)
        (hit,) = [hit for hit in hits(memory) if hit.path == summary]
        assert hit.why is not None and "use +0.040" in hit.why
        with_uses(memory, UsageBoosts("2", {old.id: 0.8, hit.id: 0.8}, {old.id: OLD, hit.id: summary}))
        (hit,) = [hit for hit in hits(memory) if hit.path == summary]
        assert hit.why is not None and "use +0.050" in hit.why


@pytest.mark.parametrize("vectors", [False, True])
def test_a_verdict_moves_what_is_nearly_equal_and_no_more(notes: Notes, vectors: bool) -> None:
    for day, statement in enumerate(("was lit by Anna", "was lit by Berta", "and bread"), 1):
        notes.write(f"memory/2026-03-0{day}.md", f"- the lantern {statement}\n")
    with open_memory(notes, *([CountingEmbedder()] if vectors else [])) as memory:
        query = "which lantern was lit"
        first, second, worse = hits(memory, query)
        assert worse.path.endswith("03.md")
        for _ in range(9):
            memory.feedback(worse.id, "useful")
        assert [hit.id for hit in hits(memory, query)] == [first.id, second.id, worse.id]
        memory.feedback(first.id, "irrelevant")
        memory.feedback(second.id, "useful")
        moved = hits(memory, query)
        assert [hit.id for hit in moved] == [second.id, first.id, worse.id]
        assert [str(hit.why).partition("use ")[2] for hit in moved] == ["+0.032", "-0.038", "+0.050"]
        for _ in range(20):
            memory.feedback(first.id, "irrelevant")
            memory.feedback(second.id, "irrelevant")
        assert hits(memory, query)[2].id == worse.id


def test_of_equal_notes_alone_in_a_memory_the_useful_one_comes_first(notes: Notes) -> None:
    for day in (1, 2):
        notes.write(f"memory/2026-03-0{day}.md", "- the lantern was lit\n")
    with open_memory(notes) as memory:
        first, second = hits(memory, "lantern")
        memory.feedback(second.id, "useful")
        assert [hit.id for hit in hits(memory, "lantern")] == [second.id, first.id]


def test_results_may_begin_with_their_day(memory: Memory) -> None:
    for result in (
        memory.search("lantern", dates=True),
        memory.recall("lantern", dates=True),
        memory.timeline("lantern", dates=True),
        memory.timeline(dates=True),
    ):
        assert result.results and all(
            hit.snippet.count(f"[{hit.date}]") == hit.snippet.startswith(f"[{hit.date}] ") == (hit.date is not None)
            for hit in result.results
        )
    assert not any(hit.snippet.startswith("[") for hit in memory.search("lantern").results)


def called(memory: Memory, tool: str, **arguments: Any) -> Any:
    from openclaw_memory.serve.registry import listed_tools
    from openclaw_memory.serve.tool import Call, check_arguments

    definition = listed_tools(False)[tool]
    return definition.run(
        Call(memory, check_arguments(tool, definition.input_schema, arguments), Deadline.after(30), lambda *_: None)
    )


def test_tools_take_days(memory: Memory) -> None:
    for tool in ("memory_search", "graph_recall", "memory_timeline"):
        results = called(memory, tool, query="lantern", since="2000-01-01").results
        assert results and all(hit.snippet.startswith(f"[{hit.date}] ") for hit in results)
        with pytest.raises(RequestError, match="is after until"):
            called(memory, tool, query="lantern", since="2026-02-02", until="2026-02-01")
    assert not any(hit.snippet.startswith("[") for hit in called(memory, "memory_search", query="lantern").results)
    assert len(called(memory, "graph_recall", query="lantern").results) <= 5


def test_meaning_and_time_go_together(notes: Notes) -> None:
    fill(notes)
    with open_memory(notes, CountingEmbedder()) as memory:
        assert order(memory, recency_weight=0.95)[0] == "MEMORY.md"
        assert order(memory, recency_weight=0.95, near=()) == order(memory, recency_weight=0.95)


@pytest.mark.parametrize(
    ("question", "newest_first"), table("decay.tsv", "of equal statements the newest answers how things are", str, yes)
)
def test_of_equal_statements_the_newest_answers_how_things_are(notes: Notes, question: str, newest_first: bool) -> None:
    # The older statement says a little more of the question's words.
    notes.write("memory/2026-01-03.md", "- Petra has the keys of the boathouse, and the rope over there too.\n")
    notes.write("memory/2026-03-09.md", "- Marek has the boathouse keys, and the rope too.\n")
    for day in range(1, 9):
        notes.write(f"memory/2026-02-0{day}.md", f"- Oil number {day} for the index and a rope for the mast.\n")
    with open_memory(notes) as memory:
        first = memory.search(question, now=TODAY, mode="keyword").results[0]
    assert (first.date == date(2026, 3, 9)) == newest_first
