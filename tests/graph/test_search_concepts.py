"""Search by concepts: filters, nearness in the graph, the graph alone, and statements that no longer hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from commands import run_command
from fakes import CountingEmbedder, Notes, ingested

from openclaw_memory import Memory
from openclaw_memory.errors import RequestError

QUIET = "\n".join(f"- a quiet hour, number {n}, passed without news" for n in range(10))

NOTES = {
    "memory/2026-01-03.md": "# Pump\n\n- Marlowe tested the pump and wrote down the pressure.\n",
    "memory/2026-01-08.md": "# Garden\n\n- The pump ran all night, Zorblatt slept badly.\n",
    "memory/2026-01-12.md": "# Market\n\n- Bought seeds with Zorblatt and Marlowe.\n",
    "memory/2026-01-15.md": "# Workshop of Zorblatt\n\n- the bench is finished\n- the lamp is not\n",
    "memory/2026-01-20.md": f"# Quiet\n\n{QUIET}\n- a pump was seen in a shop window\n",
}


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    for path, text in NOTES.items():
        notes.write(path, text)
    with ingested(notes, CountingEmbedder()) as memory:
        yield memory


def paths(memory: Memory, query: str, **options: object) -> list[str]:
    return [hit.path[7:-3] for hit in memory.search(query, max_results=10, **options).results]


def test_a_filter_leaves_what_mentions_the_concept_or_stands_below_its_heading(memory: Memory) -> None:
    assert set(paths(memory, "pump", concepts=("Zorblatt",))) == {"2026-01-08", "2026-01-12", "2026-01-15"}
    (below,) = [hit for hit in memory.search("bench lamp", concepts=("zorblatt",)).results if "01-15" in hit.path]
    assert "the lamp is not" in below.snippet
    assert set(paths(memory, "pump", concepts=("Marlowe",))) == {"2026-01-03", "2026-01-12"}
    assert set(paths(memory, "pump", concepts=("Marlowe", "Zorblatt"))) >= {"2026-01-03", "2026-01-08"}


def test_an_unknown_concept_is_named_with_the_closest_ones(memory: Memory) -> None:
    with pytest.raises(RequestError, match="no concept is called 'Zorblat'; did you mean Zorblatt"):
        memory.search("pump", concepts=("Zorblat",))
    with pytest.raises(RequestError, match="concepts list"):
        memory.search("pump", near=("xyz",))


def test_what_is_near_a_concept_ranks_higher_the_more_nearness_counts(memory: Memory) -> None:
    assert paths(memory, "pump in a shop window")[0] == "2026-01-20"
    near = memory.search("pump in a shop window", near=("Zorblatt",), vector_weight=0.2, max_results=10).results
    assert near[0].path == "memory/2026-01-08.md"
    scores = {hit.path[7:-3]: hit.graph_score for hit in near}
    assert scores["2026-01-08"] == 0.5 and scores["2026-01-20"] == 0
    assert [hit.score for hit in near] == sorted((hit.score for hit in near), reverse=True)
    only_relevance = paths(memory, "pump in a shop window", near=("Zorblatt",), vector_weight=1.0)
    assert only_relevance == paths(memory, "pump in a shop window", near=("Marlowe",), vector_weight=1.0)


def test_nearness_halves_with_each_step_and_ends_at_the_largest_distance(memory: Memory) -> None:
    memory.concepts.add("Zorblatt", related=["Marlowe"])
    memory.concepts.add("Marlowe", parents=["people"])

    def nearness(most: int) -> dict[str, float | None]:
        hits = memory.search("pump", near=("people",), max_distance=most, max_results=10).results
        return {hit.path[7:-3]: hit.graph_score for hit in hits}

    full = nearness(3)
    assert full["2026-01-03"] == 0.25  # people is the parent of Marlowe, whom the line mentions
    assert full["2026-01-08"] == 0.125  # over Marlowe to Zorblatt
    assert nearness(2)["2026-01-08"] == 0
    assert nearness(2)["2026-01-03"] == 0.25


def test_the_graph_alone_finds_what_mentions_the_concepts_of_the_question(memory: Memory) -> None:
    result = memory.search("what did Marlowe do?", mode="graph", max_results=10)
    assert result.mode == "graph"
    assert {hit.path[7:-3] for hit in result.results} == {"2026-01-03", "2026-01-12"}
    assert all(hit.graph_score and "Marlowe" in hit.concepts for hit in result.results)


def test_the_graph_alone_goes_by_the_best_hits_when_the_question_names_nothing(memory: Memory) -> None:
    hits = memory.search("seeds from the market", mode="graph", max_results=10).results
    assert {"2026-01-12", "2026-01-08"} <= {hit.path[7:-3] for hit in hits}
    assert "2026-01-20" not in {hit.path[7:-3] for hit in hits}


def test_hits_name_the_concepts_of_their_lines_rarest_first(memory: Memory) -> None:
    (hit,) = [hit for hit in memory.search("bought seeds").results if "01-12" in hit.path]
    assert hit.concepts == ("Marlowe", "Zorblatt")


def test_wrong_usage_is_said(notes: Notes, memory: Memory) -> None:
    assert "did you mean Zorblatt" in run_command(notes, "search", "pump", "--concept", "Zorblat", code=1).output
    assert "2026-01-08" in run_command(notes, "search", "pump", "--near", "Zorblatt").output


def test_a_line_whose_fact_was_superseded_is_marked_and_ranks_below_the_one_that_holds(notes: Notes) -> None:
    notes.write("memory/2026-01-03.md", "# JR\n\n- **Editor:** Vim (the editor of JR for years)\n")
    notes.write("memory/2026-02-09.md", "# JR\n\n- **Editor:** Helix\n")
    notes.write("memory/2026-02-10.md", f"# Quiet\n\n{QUIET}\n")
    with ingested(notes) as memory:
        hits = memory.search("which editor does JR use", max_results=2).results
        assert [hit.path for hit in hits] == ["memory/2026-02-09.md", "memory/2026-01-03.md"]
        assert hits[0].superseded == ()
        (words,) = hits[1].superseded
        assert "Helix" in words and "2026-02-09" in words


def test_what_no_longer_holds_changes_nothing_for_other_questions(notes: Notes) -> None:
    for path, text in NOTES.items():
        notes.write(path, text)
    notes.write("memory/2026-01-02.md", "# JR\n\n- **Editor:** Vim\n")
    with ingested(notes, CountingEmbedder()) as memory:

        def scored_hits(query: str, **options: object) -> list[tuple[str, float]]:
            return [(hit.id, hit.score) for hit in memory.search(query, max_results=4, **options).results]

        questions = [("pump in a shop window", {}), ("nothing of that kind", {}), ("seeds", {"fusion": "rrf"})]
        before = [scored_hits(query, **options) for query, options in questions]
        threads = [(hit.id, hit.score) for hit in memory.recall("seeds from the market").results]
        memory.facts.add("JR", "editor", "Helix")
        assert memory.facts.superseded()
        assert [scored_hits(query, **options) for query, options in questions] == before
        assert [(hit.id, hit.score) for hit in memory.recall("seeds from the market").results] == threads


def test_the_graph_alone_finds_nothing_where_nothing_is(notes: Notes) -> None:
    for path, text in NOTES.items():
        notes.write(path, text)
    with ingested(notes) as memory:
        assert memory.search("xylophone quartet", mode="graph").results == ()
