"""The thread behind an answer: what is reached, by which steps, and in which order it is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from commands import run_command
from fakes import CountingEmbedder, Notes, ingested, open_memory
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table

from openclaw_memory import Memory
from openclaw_memory.errors import RequestError
from openclaw_memory.graph import walk as graph_walk
from openclaw_memory.graph.network import Network, SparseRows
from openclaw_memory.graph.walk import walk
from openclaw_memory.model import CHARS_PER_TOKEN
from openclaw_memory.model.embedder import Vectors

FILLER = "\n".join(f"- routine number {n} of the day was done as usual" for n in range(12))

#: A question about the leaking roof leads to the carpenter by a note that has no word of the question.
NOTES = {
    "memory/2026-01-10.md": "# Roof\n\n- The roof above the kitchen leaks, so we asked Osgood to look at it.\n",
    "memory/2026-01-14.md": "# Visit\n\n- Osgood came by and found rotten beams, he named Pemberton for such work.\n",
    "memory/2026-02-02.md": "# Bill\n\n- Pemberton sent 840 euros for oak, to be paid in March.\n",
    "memory/2026-02-11.md": "# Errands\n\n- Bought a new lid because the kitchen bin leaks.\n",
    "memory/2026-02-20.md": f"# Routine\n\n{FILLER}\n",
}


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    for path, text in NOTES.items():
        notes.write(path, text)
    with ingested(notes) as memory:
        yield memory


def days(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.path[12:-3] for hit in memory.recall(query, **options).results]


def test_a_note_without_a_word_of_the_question_is_reached_over_the_middle_link(memory: Memory) -> None:
    result = memory.recall("leaking roof above the kitchen", max_results=3, hops=2)
    assert [hit.path for hit in result.results] == [
        "memory/2026-01-10.md",
        "memory/2026-01-14.md",
        "memory/2026-02-02.md",
    ]
    seed, middle, end = result.results
    assert (seed.distance, middle.distance, end.distance) == (0, 1, 2)
    assert seed.via == ()
    assert {edge.target for edge in middle.via} == {"Osgood"} or middle.via[0].kind == "follows"
    assert any("Osgood" in edge.text for edge in middle.via)
    assert [name for name in ("Osgood", "Pemberton") if any(name in edge.text for edge in end.via)] == [
        "Osgood",
        "Pemberton",
    ]
    assert all(edge.text and 0 < edge.weight <= 1 for hit in result.results for edge in hit.via)
    searched = [hit.path for hit in memory.search("leaking roof above the kitchen", max_results=2).results]
    assert "memory/2026-02-02.md" not in searched and "memory/2026-02-11.md" in searched


def test_every_edge_cites_lines_that_name_its_concept(memory: Memory, notes: Notes) -> None:
    notes.write("memory/people.md", "# People\n\n- Osgood knows roofs, Pemberton beams.\n")

    def line(citation: str) -> str:
        path, _, number = citation.partition("#L")
        return (notes.root / path).read_text().splitlines()[int(number.split("-")[0]) - 1]

    kinds = set()
    for hit in memory.recall("leaking roof above the kitchen", max_results=6, hops=3).results:
        for edge in hit.via:
            kinds.add(edge.kind)
            if edge.kind == "references":
                assert edge.target in line(edge.source)
            elif edge.kind == "follows":
                name = edge.text.rpartition(" on ")[2]
                assert name in line(edge.source) and name in line(edge.target)
    assert kinds >= {"references", "follows"}


def test_one_hop_reaches_less_than_two_and_filters_hold_for_what_is_shown_only(memory: Memory) -> None:
    query = "leaking roof above the kitchen"
    assert "02-02" not in [day[3:] if day else "" for day in days(memory, query, hops=1, max_results=10)]
    assert days(memory, query, since=date(2026, 2, 1), until=date(2026, 2, 5), hops=2) == []
    shown = memory.recall(query, hops=2, concepts=("Pemberton",), max_results=10).results
    assert {hit.path for hit in shown} <= {"memory/2026-01-14.md", "memory/2026-02-02.md"}


@pytest.mark.parametrize("hops", [0, 5, -1])
def test_hops_have_bounds(memory: Memory, hops: int) -> None:
    with pytest.raises(RequestError, match="from 1 to 4"):
        memory.recall("roof", hops=hops)


def test_nothing_is_recalled_of_nothing(memory: Memory, notes: Notes) -> None:
    assert memory.recall("xylophone quartet", mode="keyword").results == ()
    assert memory.recall("  ").results == ()


def test_related_and_parent_concepts_carry_a_thread(notes: Notes) -> None:
    notes.write("memory/2026-01-10.md", "# Storage\n\n- moved the archive to SurrealDB\n")
    notes.write("memory/2026-01-20.md", "# Backup\n\n- tried a restore of the Postgres cluster\n")
    notes.write("memory/2026-01-25.md", f"# Routine\n\n{FILLER}\n")
    with ingested(notes) as memory:
        memory.concepts.add("SurrealDB", parents=["database"])
        memory.concepts.add("Postgres", parents=["database"])
        hits_by_path = {hit.path: hit for hit in memory.recall("where did the archive go?", hops=1).results}
        assert "memory/2026-01-20.md" not in hits_by_path
        memory.concepts.add("SurrealDB", related=["Postgres"])
        (hit,) = [hit for hit in memory.recall("where did the archive go?", hops=1).results if hit.distance]
        assert hit.path == "memory/2026-01-20.md"
        assert [edge.kind for edge in hit.via] == ["references", "related_to", "references"]
        assert hit.via[1].text == "SurrealDB is related to Postgres"


def test_a_parent_is_found_from_its_child(notes: Notes) -> None:
    notes.write("memory/2026-01-10.md", "# Storage\n\n- moved the archive to SurrealDB\n")
    notes.write("memory/2026-01-20.md", "# Thoughts\n\n- every database needs a restore that was tried\n")
    notes.write("memory/2026-01-25.md", f"# Routine\n\n{FILLER}\n")
    with ingested(notes) as memory:
        memory.concepts.add("SurrealDB", parents=["database"])
        up = [hit for hit in memory.recall("where did the archive go?", hops=1).results if hit.distance]
        assert [edge.text for edge in up[0].via][1] == "SurrealDB is a kind of database"
        down = [hit for hit in memory.recall("restore that was tried", hops=1).results if hit.distance]
        assert [edge.text for edge in down[0].via][1] == "SurrealDB is a kind of database"


def test_results_come_in_order_of_time_with_undated_ones_last(memory: Memory, notes: Notes) -> None:
    notes.write("memory/people.md", "# People\n\n- Osgood knows roofs, Pemberton beams.\n")
    hits = memory.recall("leaking roof above the kitchen", max_results=5).results
    dated = [hit.date for hit in hits if hit.path != "memory/people.md"]
    assert dated == sorted(dated, key=lambda day: day or date.max)
    assert "memory/people.md" in [hit.path for hit in hits]
    assert hits[-1].path == "memory/people.md"


def test_vectors_find_where_the_thread_starts(notes: Notes) -> None:
    for path, text in NOTES.items():
        notes.write(path, text)
    with ingested(notes, CountingEmbedder()) as memory:
        result = memory.recall("leaking roof above the kitchen", mode="vector", max_results=3)
        assert result.mode == "vector" and result.provider == "hashing"
        assert result.results[0].path == "memory/2026-01-10.md" and result.results[0].vector_score


def test_a_thread_finds_what_a_search_of_its_size_finds_and_tells_it_in_order_of_time(memory: Memory) -> None:
    query = "leaking roof above the kitchen"
    hits = memory.recall(query, budget=120).results
    searched = memory.search(query, budget=60).results
    lines = {(hit.path, line) for hit in hits for line in range(hit.start_line, hit.end_line + 1)}
    assert {(hit.path, hit.start_line) for hit in searched if hit.score > 0.5} <= lines
    assert [hit.date for hit in hits] == sorted(hit.date for hit in hits if hit.date)
    assert any(hit.distance for hit in hits) and all(hit.via for hit in hits if hit.distance)


def test_a_thread_has_the_best_lines_of_a_search_of_its_size_and_few_stops(notes: Notes) -> None:
    rooms = "kitchen attic hall cellar porch stable granary chapel study pantry nursery scullery larder loft".split()
    people = "Ana Bram Cleo Dov Esme Finn".split()
    for at, (room, name) in enumerate((room, name) for room in rooms for name in people):
        day = date(2026, 1, 1) + timedelta(at)
        notes.write(f"memory/{day}.md", f"# Visit\n\n- Osgood measured the {room} roof with {name}.\n")
    with open_memory(notes) as memory:
        memory.ingest()
        told = memory.recall("which roof did Osgood measure?", budget=4000).results
        searched = memory.search("which roof did Osgood measure?", budget=4000).results
    assert 20 <= len(told) <= 25
    best = {hit.citation for hit in searched[: sum(not hit.distance for hit in told)]}
    assert best == {hit.citation for hit in told if not hit.distance}


@pytest.mark.parametrize(
    ("question", "routine", "day", "cause"),
    [
        (
            "Why did the new glaze spoil the kiln load?",
            ("Kiln load {n} waits for the new glaze", "Idea {n} for the new glaze: more blue"),
            "## 09:10 New glaze, first try\n### What went well\n- 4 shelves fired\n### What did not\n"
            "- The new glaze spoiled the kiln load\n- An old bag of feldspar had been taken for the fresh one\n"
            "- Back to the grey one\n",
            (7, 8),
        ),
        (
            "为什么把默认的面粉换成青川？",
            ("每日检查：默认的面粉是青川，未变（第{n}天）", "空闲：用青川面粉试了第{n}种配方"),
            "## 18:02 更换\n- 小周要求换成禾田\n## 18:26 修正\n### 问题\n总是塌，原因如下\n1. 禾田 - 筋度不够\n"
            "2. 山口 - 已停产\n### 解决\n默认的面粉换成青川\n",
            (6, 8),
        ),
        (
            "なぜ船のエンジンを交換したの？",
            ("船のエンジンの点検 {n} 回目、異常なし", "船のエンジンの写真 {n} 枚を整理"),
            "## 問題\n- 港で止まった\n- 冷却水に砂が混ざっていた\n## 対策\n- 船のエンジンを交換した\n",
            (3, 4),
        ),
    ],
)
def test_the_lines_beside_an_answer_come_before_single_lines_of_other_days(
    notes: Notes, question: str, routine: tuple[str, ...], day: str, cause: tuple[int, int]
) -> None:
    for n in range(1, 29):
        lines = "".join(f"- {line.format(n=n)}\n" for line in routine)
        notes.write(f"memory/2026-02-{n:02}.md", f"# 2026-02-{n:02}\n{lines}")
    notes.write("memory/2026-03-01.md", f"# 2026-03-01\n{day}")
    with ingested(notes) as memory:
        stops = memory.recall(question, now=date(2026, 3, 5)).results
    told = {line for stop in stops if "03-01" in stop.path for line in range(stop.start_line, stop.end_line + 1)}
    assert told >= set(range(cause[0], cause[1] + 1))
    assert len(stops) <= 16


class Translating(CountingEmbedder):
    """Gives a question the vector of what it means in the language of the notes."""

    def __init__(self, meaning: str) -> None:
        super().__init__()
        self.meaning = meaning

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        return super().embed_query([self.meaning for _ in texts])


@pytest.mark.parametrize(
    ("question", "task"),
    [
        ("¿Por qué cambiamos el bote de pintura?", "# Tareas\n\n## Bote de pintura\n- Lo recoge Inés.\n"),
        ("なぜ船のペンキを変えたの？", "# 予定\n\n## 船のペンキ\n- 船のペンキを変えたら連絡する。\n"),
        (
            "Warum haben wir den Bootslack gewechselt?",
            "# Aufgaben\n\n## Bootslack\n- Bootslack gewechselt am Samstag.\n",
        ),
    ],
)
def test_a_thread_in_another_language_than_the_question_is_told(notes: Notes, question: str, task: str) -> None:
    notes.write("memory/tasks.md", task)
    notes.write("memory/2026-02-03.md", "# Boat\n\n- The boat varnish peeled off after the frost.\n")
    notes.write("memory/2026-02-09.md", "# Boat\n\n- New boat varnish for the frost, the old one peeled.\n")
    notes.write("memory/2026-02-20.md", f"# Routine\n\n{FILLER}\n")
    with open_memory(notes, Translating("boat varnish changed since spring")) as memory:
        memory.ingest()
        result = memory.recall(question)
    assert [hit.path[7:-3] for hit in result.results] == ["2026-02-03", "2026-02-09", "tasks"]
    assert result.good_match


@pytest.mark.parametrize("budget", [150, 300])
def test_lines_that_answer_fill_the_budget(notes: Notes, budget: int) -> None:
    for day in range(10, 29):
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(day))
        rest = " ".join(f"{word}{letters}" for word in ("slate", "gutter", "rafter", "ladder", "cornice", "mortar"))
        notes.write(f"memory/2026-01-{day}.md", f"# Visit\n\n- Osgood measured the roof: {rest}.\n")
    with ingested(notes) as memory:
        hits = memory.recall("roof that Osgood measured", budget=budget).results
    spent = sum(len(hit.snippet) + 1 for hit in hits) / CHARS_PER_TOKEN
    assert 0.9 * budget < spent <= budget


@pytest.mark.parametrize(
    ("line", "question"), table("search_languages.tsv", "a line of several notes, and a question for it")
)
def test_what_several_notes_repeat_is_told_once_as_it_is_now(notes: Notes, line: str, question: str) -> None:
    for day in range(3, 9):
        notes.write(f"memory/2026-03-{day:02}.md", f"# Carried over\n\n- {line}\n")
    with ingested(notes) as memory:
        assert [hit.path for hit in memory.recall(question).results] == ["memory/2026-03-08.md"]


@pytest.mark.parametrize(
    ("line", "question"), table("search_languages.tsv", "a line that a program repeats, and a question for it")
)
def test_what_a_program_wrote_is_told_only_where_it_answers_best(notes: Notes, line: str, question: str) -> None:
    notes.write("memory/2026-03-04.md", f"# Garden\n\n- {line}\n")
    notes.write("memory/2026-03-05.md", f"# Light Sleep\n\n- 2026-03-05T02:14:55Z INFO candidate {line}\n")
    notes.write("memory/2026-03-06.md", "# Pump\n\n- 2026-03-06T02:14:55Z ERROR pump QX-7714 stopped, code 40163\n")
    notes.write("memory/2026-03-09.md", f"# Routine\n\n{FILLER}\n")
    with ingested(notes) as memory:
        for size in ({}, {"max_results": 6}):
            assert "03-05" not in days(memory, question, **size)
            assert "03-06" in days(memory, "error QX-7714 code 40163", **size)


def test_a_hit_says_how_surely_it_answers_as_a_search_does(memory: Memory) -> None:
    for query in (
        "leaking roof above the kitchen",
        "which lighthouse keeper painted a kitchen for the visiting astronomer?",
    ):
        searched = {hit.citation: hit.score for hit in memory.search(query, budget=200).results}
        hits = memory.recall(query, budget=200).results
        shared = [hit for hit in hits if hit.citation in searched]
        assert shared and all(hit.relevance == searched[hit.citation] for hit in shared)
    assert max(hit.relevance for hit in hits) < 0.3


def test_the_command_tells_the_thread(memory: Memory, notes: Notes) -> None:
    shown = run_command(notes, "recall", "leaking", "roof", "above", "the", "kitchen", "-n", "3")
    assert shown.output.index("2026-01-10") < shown.output.index("2026-01-14") < shown.output.index("2026-02-02")
    assert "Pemberton" in shown.output and "↳" in shown.output
    answer = json.loads(run_command(notes, "recall", "leaking roof", "--json").stdout)
    hit = answer["results"][1]
    assert {"path", "startLine", "score", "via", "distance", "concepts"} <= set(hit)
    assert set(hit["via"][0]) == {"kind", "source", "target", "weight", "text"}
    run_command(notes, "recall", "roof", "--hops", "9", code=2)
    run_command(notes, "recall", " ", code=2)
    assert "no good match" in run_command(notes, "recall", "xylophone").output


def test_a_thread_is_the_same_whatever_was_read_first(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_walk, "_DEGREE", 4)
    monkeypatch.setattr(graph_walk, "_BEAM", 3)
    days = [f"2026-0{1 + n % 6}-{10 + n}" for n in range(8)]
    for n, day in enumerate(days):
        notes.write(f"memory/{day}.md", f"# Day\n\n- Heron Attic Ana\n- {['Router', 'Kestrel'][n % 2]} Heron disk\n")
    threads = []
    for number, order in enumerate((days, days[1::2] + days[::2])):
        with open_memory(notes, db=notes.root.parent / f"{number}.duckdb") as memory:
            for day in order:
                memory.ingest([f"memory/{day}.md"])
            threads_found = [
                memory.recall("Heron router", **how).results for how in ({}, {"max_results": 5}, {"budget": 40})
            ]
            threads.append([[(hit.citation, hit.via) for hit in thread] for thread in threads_found])
            first = memory.search("Heron Attic Ana", mode="keyword").results[0]
            assert first.path == f"memory/{max(days)}.md"
    assert threads[0] == threads[1]


def lists(pairs: list[tuple[int, int, float]], n: int) -> SparseRows:
    pairs = sorted(pairs)
    offset = np.zeros(n + 1, np.int64)
    for source, _, _ in pairs:
        offset[source + 1 :] += 1
    return SparseRows(offset, np.array([p[1] for p in pairs], np.int32), np.array([p[2] for p in pairs], np.float32))


def network(
    references: dict[tuple[int, int], float], sections: int, concepts: int, follows: set[tuple[int, int]]
) -> Network:
    none = np.zeros(0, np.int32)
    empty = lists([], concepts)
    after = [(a, b, 0.5) for a, b in follows]
    before = [(b, a, 0.5) for a, b in follows]
    return Network(
        lists([(s, c, w) for (s, c), w in references.items()], sections),
        lists([(c, s, w) for (s, c), w in references.items()], concepts),
        np.full(concepts, 0.8, np.float32), empty, np.zeros(0, bool), empty, empty,
        lists(after, sections), lists(before, sections),
        np.zeros(len(after), np.int32), np.zeros(len(before), np.int32),
        np.arange(sections, dtype=np.int32), np.ones(sections, bool), none, none, none, lists([], sections),
        (none, none), np.arange(sections, dtype=np.int32),
    )  # fmt: skip


GRAPHS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.dictionaries(st.tuples(st.integers(0, n - 1), st.integers(0, 4)), st.floats(0.1, 1), max_size=25),
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1]), max_size=8),
        st.dictionaries(st.integers(0, n - 1), st.floats(0.05, 1), min_size=1, max_size=3),
    )
)


@examples(120)
@given(graph=GRAPHS, hops=st.integers(1, 4))
def test_a_walk_reaches_what_is_connected_and_never_gains_strength(
    graph: tuple[int, dict[tuple[int, int], float], set[tuple[int, int]], dict[int, float]], hops: int
) -> None:
    n, references, follows, seeds = graph
    reached = walk(network(references, n, 5, follows), seeds, hops)
    neighbours: dict[int, set[int]] = {s: set() for s in range(n)}
    for a, c in references:
        neighbours[a] |= {b for (b, other) in references if other == c and b != a}
    for a, b in follows:
        neighbours[a].add(b)
        neighbours[b].add(a)
    distance = dict.fromkeys(seeds, 0)
    layer = set(seeds)
    for hop in range(1, hops + 1):
        layer = {t for s in layer for t in neighbours[s]} - set(distance)
        distance |= dict.fromkeys(layer, hop)
    assert set(reached) <= set(distance)
    for section, arrival in reached.items():
        assert 0 < arrival.strength <= 1 and distance[section] <= arrival.distance <= hops
        if section in seeds:
            assert (arrival.distance, arrival.strength) == (0, pytest.approx(seeds[section]))
            continue
        assert arrival.origin in neighbours[section]
        origin = reached[arrival.origin]
        assert origin.distance == arrival.distance - 1
        assert arrival.strength <= origin.strength


def test_a_rare_concept_binds_more_than_a_common_one_and_two_more_than_one(notes: Notes) -> None:
    shared = {(0, 0): 1.0, (1, 0): 1.0, (0, 1): 1.0, (2, 1): 1.0, (3, 0): 1.0, (3, 1): 1.0}
    reached = walk(network(shared, 4, 2, set()), {0: 0.5}, 1)
    assert reached[3].strength > reached[1].strength == pytest.approx(reached[2].strength)
    rare = walk(network(shared, 4, 2, set())._replace(rarity=np.array([0.8, 0.2], np.float32)), {0: 0.5}, 1)
    assert rare[1].strength > rare[2].strength


def test_a_hub_is_left_by_its_strongest_mentions_only() -> None:
    references = {(s, 0): 1.0 if s < 50 else 0.5 for s in range(400)}
    reached = walk(network(references, 400, 1, set()), {0: 1.0}, 1)
    assert len(reached) <= 201 and set(range(1, 50)) <= set(reached)
