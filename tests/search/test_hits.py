"""What a search returns, over random small corpora in the real store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table, yes

from benchmarks import corpus as generated
from benchmarks.hashing import HashingEmbedder
from openclaw_memory.config.settings import Settings
from openclaw_memory.memory import Memory
from openclaw_memory.model import CHARS_PER_TOKEN, Grain, Kind, SearchHit, SearchRequest, tokens_of
from openclaw_memory.model.embedder import Vectors
from openclaw_memory.search import features, hits
from openclaw_memory.search.bm25 import KeywordScores
from openclaw_memory.search.display import Place, snippet
from openclaw_memory.store.api import SectionText


class SignEmbedder(HashingEmbedder):
    """Vectors of ±1/8 in 64 dimensions: every sum of their products is exact, in whichever order.

    BLAS rounds a row's dot product by its place in the matrix, so near ties may fall either way in another
    index; with these vectors a difference between two indexes is a mistake.
    """

    def __init__(self) -> None:
        super().__init__(64)

    def embed_documents(self, texts: Sequence[str], progress: Any = None) -> Vectors:
        made: Vectors = np.where(super().embed_documents(texts) >= 0, 0.125, -0.125).astype(np.float32)
        return made


EMBEDDER = SignEmbedder()
WORDS = "fox wolf owl QX-7714 10.0.0.17 deploy invoice 東京 garden yesterday".split()

sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(lambda words: " ".join(words))
block = st.one_of(
    sentence,
    st.lists(sentence, min_size=1, max_size=5).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(sentence, min_size=2, max_size=4).map(lambda items: "- " + "\n  - ".join(items) + "\n- end"),
    st.lists(sentence, min_size=2, max_size=9).map(lambda some: ". ".join(some) + "."),
    st.lists(sentence, min_size=1, max_size=4).map(lambda lines: "```\n" + "\n\n".join(lines) + "\n```"),
    st.lists(sentence, min_size=1, max_size=3).map(
        lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | x |" for row in rows)
    ),
    st.lists(sentence, min_size=1, max_size=3).map(lambda lines: "\n".join(f"> {line}" for line in lines)),
    st.lists(sentence, min_size=1, max_size=3).map(lambda lines: "\n".join(f"Ann: {line}" for line in lines)),
    st.tuples(sentence, st.integers(50, 400)).map(lambda of: f"{of[0]} " * (of[1] // 10)),
    sentence.map(lambda line: f"1. {line}\n\n   {line} more\n\n   ```\n   {line}\n   ```"),
)
section = st.tuples(st.sampled_from(["", "# A fox", "## B", "### 2024-05-04"]), st.lists(block, max_size=4)).map(
    lambda of: "\n\n".join([part for part in (of[0], *of[1]) if part])
)
PATHS = ["MEMORY.md", "memory/2024-05-01.md", "memory/2024-06-02.md", "memory/topics/garden.md"]
document = st.lists(section, min_size=1, max_size=4).map("\n\n".join)
files = st.dictionaries(st.sampled_from(PATHS), document, min_size=1)
question = st.lists(st.sampled_from([*WORDS, "when", "in May", "nonsense", "Ann"]), min_size=1, max_size=4).map(
    " ".join
)

quick = examples(14)


def write(workspace: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000 + len(text) % 997))


@contextmanager
def remembered(texts: dict[str, str], **overrides: Any) -> Iterator[Memory]:
    """A memory of these files, ingested."""
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name) / "workspace"
        workspace.mkdir()
        write(workspace, texts)
        with memory_of(workspace, Path(name) / "i.duckdb", **overrides) as memory:
            memory.ingest()
            yield memory


def memory_of(workspace: Path, db: Path, **overrides: Any) -> Memory:
    given = {"ingest.fresh_seconds": 1e9, **{k.replace("__", "."): v for k, v in overrides.items()}}
    return Memory(workspace, settings=Settings.load(overrides=given, environ={}), db=db, embedder=EMBEDDER)


def ask(memory: Memory, query: str, **options: Any) -> tuple[SearchHit, ...]:
    return memory.search(SearchRequest(query, now=date(2024, 7, 1), **options)).results


def file_lines(memory: Memory, hit: SearchHit) -> list[str]:
    text = (memory.workspace / hit.path).read_text(encoding="utf-8")
    return text.split("\n")[hit.start_line - 1 : hit.end_line]


def in_one_section(memory: Memory, hit: SearchHit) -> bool:
    rows = memory.store.unit_rows(None)
    mine = rows.document_id == next(info.id for info in memory.store.document_infos() if info.path == hit.path)
    inside = mine & (rows.start_line >= hit.start_line) & (rows.end_line <= hit.end_line)
    return len(set(rows.section_id[inside].tolist())) == 1


def check(memory: Memory, answer: tuple[SearchHit, ...]) -> None:
    """What holds for every answer."""
    seen: set[tuple[str, int]] = set()
    assert all(0 <= hit.score <= 1 for hit in answer)
    assert len({hit.id for hit in answer}) == len(answer)
    store = memory.store
    rows = store.unit_rows(None)
    infos = {info.path: info for info in store.document_infos()}
    for hit in answer:
        assert 1 <= hit.start_line <= hit.end_line
        lines = {(hit.path, line) for line in range(hit.start_line, hit.end_line + 1)}
        assert not lines & seen, "a line was returned twice"
        seen |= lines
        text = "\n".join(file_lines(memory, hit))
        assert len(hit.snippet) <= 700
        parts = hit.snippet.replace("\n…", "…").replace("…\n", "…").strip("…")
        assert parts in text and ("…" in hit.snippet) == (parts.strip() != text.strip())
        info = infos[hit.path]
        mine = rows.document_id == info.id
        inside = mine & (rows.start_line >= hit.start_line) & (rows.end_line <= hit.end_line)
        assert inside.any()
        assert (hit.kind, hit.grain, hit.origin) == (info.kind, info.grain, info.origin)
        for part in (hit.vector_score, hit.text_score, hit.time_score):
            assert part is None or 0 <= part <= 1
        end = f"-L{hit.end_line}" if hit.end_line > hit.start_line else ""
        assert hit.citation == f"{hit.path}#L{hit.start_line}{end}"


@quick
@given(files, question, st.sampled_from(["hybrid", "vector", "keyword"]), st.sampled_from(["score", "rrf"]))
def test_grown_hits_keep_the_promises(texts: dict[str, str], query: str, mode: Any, fusion: Any) -> None:
    with remembered(texts) as memory:
        results = ask(memory, query, mode=mode, fusion=fusion, max_results=8)
        assert len(results) <= 8
        check(memory, results)


@quick
@given(files, question, st.integers(1, 600))
def test_spans_keep_the_promises_and_the_budget(texts: dict[str, str], query: str, budget: int) -> None:
    with remembered(texts) as memory:
        results = ask(memory, query, budget=budget)
        check(memory, results)
        assert all(in_one_section(memory, hit) for hit in results)
        index = memory._questions.index()
        corpus = index.corpus
        score = np.random.default_rng(budget).random(len(corpus)).astype(np.float32)
        ranges = hits.fill_budget(corpus, score, None, budget)
        assert sum(hits.token_cost(corpus, r.first, r.last, r.max_tokens) for r in ranges) <= budget + 1e-6
        for r in ranges:
            assert r.first <= r.best <= r.last
            assert len(set(corpus.shape.section[r.first : r.last + 1].tolist())) == 1
        best = [float(score[r.best]) for r in ranges]
        assert best == sorted(best, reverse=True)


@quick
@given(files, st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 9))
def test_grown_ranges_come_in_the_order_of_their_best_units(
    texts: dict[str, str], seed: int, tokens: int, limit: int
) -> None:
    with remembered(texts) as memory:
        ask(memory, "fox")
        corpus = memory._questions.index().corpus
        score = np.random.default_rng(seed).random(len(corpus)).astype(np.float32)
        ranges = hits.grow_hits(corpus, score, None, tokens, limit)
        assert all(len(set(corpus.rows.document_id[r.first : r.last + 1].tolist())) == 1 for r in ranges)
        best = [float(score[r.best]) for r in ranges]
        assert best == sorted(best, reverse=True)
        rows = [row for r in ranges for row in range(r.first, r.last + 1)]
        assert len(rows) == len(set(rows))
        if len(corpus) and ranges:
            anchors = np.flatnonzero(corpus.shape.anchor)
            assert best[0] == pytest.approx(float(score[anchors].max()))
        for r in ranges:
            alone = hits._whole_lines(corpus, hits.Range(r.best, r.best, r.best))
            if (r.first, r.last) != (alone.first, alone.last):
                chars = corpus.rows.chars[r.first : r.last + 1]
                assert (chars.sum() + len(chars)) / CHARS_PER_TOKEN <= tokens


def test_a_hit_grows_past_the_ends_of_its_section_but_not_of_its_file() -> None:
    texts = {
        "MEMORY.md": "# Trips\n\n## Lisbon\n\nThe fox sleeps.\n\n## Costs\n\n- hotel 340\n- train 55\n",
        "memory/2024-05-01.md": "# Wolf\n\nNothing else.\n",
    }
    with remembered(texts) as memory:
        for mode in ("hybrid", "keyword"):
            (first, *_) = ask(memory, "fox", mode=mode, max_results=3)
            assert (first.path, first.start_line, first.end_line) == ("MEMORY.md", 1, 10)
            assert first.heading.endswith("Lisbon") and first.snippet == texts["MEMORY.md"].rstrip("\n")
            (first, *_) = ask(memory, "fox", mode=mode, budget=400)
            assert in_one_section(memory, first)


@pytest.mark.parametrize(("query", "lines"), [("owl", (8, 10)), ("heron", (2, 10))])
def test_a_text_does_not_grow_over_its_front_matter_which_grows_over_the_text(
    query: str, lines: tuple[int, int]
) -> None:
    head = "---\ntags:\n  - heron\nsource: vault\naliases: [fox]\n---\n\n# Wolf\n\nThe owl is deployed.\n"
    with remembered({"memory/2024-05-01.md": head}) as memory:
        [hit] = ask(memory, query)  # nor is the front matter a hit beside its text
    assert (hit.start_line, hit.end_line) == lines


def test_a_hit_grows_over_nothing_that_the_request_leaves_out() -> None:
    lines = "# 2024-05-01\n\n- the fox came\n\n# 2024-05-02\n\n- it left\n"
    with remembered({"memory/topics/garden.md": lines}) as memory:
        (hit,) = ask(memory, "fox", mode="keyword", until=date(2024, 5, 1))
        assert (hit.start_line, hit.end_line) == (1, 3)


@pytest.mark.parametrize(
    ("kayak", "mended", "question", "other"),
    table("search_languages.tsv", "a thing, what was done to it, a question how often, and another one"),
)
def test_what_is_counted_is_looked_for_in_every_section_before_twice_in_one(
    kayak: str, mended: str, question: str, other: str
) -> None:
    filling = "".join(f"- 7{n:02} / 3{n:02} / 9{n:02} / {'x' * 60} {n}\n" for n in range(28))
    often = filling.join(f"- {kayak}: {mended}, {kayak}, {number}\n" for number in ("one", "two"))
    texts = {
        "memory/2024-05-01.md": f"# A\n\n{often}{filling}",
        "memory/2024-05-01-b.md": f"# B\n\n- {kayak}: {mended}, three\n{filling}",
    }
    with remembered(texts) as memory:
        counted = [hit.path for hit in ask(memory, question, mode="keyword", max_results=2)]
        assert sorted(counted) == sorted(texts)
        paths = [hit.path for hit in ask(memory, other, mode="keyword", max_results=2)]
        assert paths == ["memory/2024-05-01.md"] * 2, "else nothing was shown"


def test_a_question_since_a_month_is_answered_from_then_on_and_surely_only_where_that_says_something() -> None:
    days = {month: f"memory/2024-{month:02}-07.md" for month in (1, 2, 4, 5)}
    texts = {path: f"# Pump\n\n- the pump was seen to, {month}\n" for month, path in days.items()}
    with remembered(texts) as memory:

        def answered(query: str) -> list[SearchHit]:
            return ask(memory, query, mode="keyword", max_results=4)

        assert {hit.path for hit in answered("what about the pump since March?")[:2]} == {days[4], days[5]}
        assert {hit.path for hit in answered("what about the pump before March?")[:2]} == {days[1], days[2]}
        subject = "the pump and the zebra"
        everything, plain = answered(f"{subject} since January?")[0], answered(f"{subject}?")[0]
        assert everything.score == plain.score < answered(f"{subject} since May?")[0].score


@quick
@given(files, st.integers(0, 10**6), st.integers(1, 9))
def test_hits_that_lie_apart_are_the_same_ones_in_another_order(texts: dict[str, str], seed: int, limit: int) -> None:
    with remembered(texts) as memory:
        ask(memory, "fox")
        corpus = memory._questions.index().corpus
        score = np.random.default_rng(seed).random(len(corpus)).astype(np.float32)
        everything = len(corpus) + 1
        first, other = (hits.grow_hits(corpus, score, None, 1, everything, spread=spread) for spread in (False, True))
        assert {(r.first, r.last) for r in first} == {(r.first, r.last) for r in other}
        assert [r.best for r in first[:1]] == [r.best for r in other[:1]]
        assert hits.grow_hits(corpus, score, None, 1, limit, spread=True) == other[:limit]


days = st.dates(date(2024, 4, 28), date(2024, 6, 5))
spans = st.tuples(days, days).map(sorted) | st.tuples(days, st.none()) | st.tuples(st.none(), st.none() | days)


@quick
@given(
    files,
    question,
    st.lists(st.sampled_from(list(Kind)), max_size=2).map(tuple),
    st.lists(st.sampled_from(list(Grain)), max_size=2).map(tuple),
    spans,
    st.none() | st.just(300),
)
def test_filters_exclude_the_rest(
    texts: dict[str, str], query: str, kinds: Any, grains: Any, span: Any, budget: Any
) -> None:
    since, until = span
    with remembered(texts) as memory:
        results = ask(memory, query, kinds=kinds, grains=grains, since=since, until=until, budget=budget)
        check(memory, results)
        for hit in results:
            assert not kinds or hit.kind in kinds
            assert not grains or hit.grain in grains
            assert since is None or (hit.date is not None and hit.date >= since)
            assert until is None or (hit.date is not None and hit.date <= until)
        everything = memory.store.unit_rows(None)
        if len(everything.unit_id) and not (kinds or grains or since or until) and budget is None:
            assert results


@examples(12)
@given(st.lists(st.tuples(st.sampled_from(PATHS), st.none() | document), min_size=2, max_size=5), question)
def test_an_incremental_index_answers_as_a_fresh_one(history: list[tuple[str, str | None]], query: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name) / "workspace"
        (workspace / "memory").mkdir(parents=True)
        write(workspace, {"memory/2024-05-09.md": "# Seed\n\n- the wolf owns the garden\n- an invoice came\n"})
        with memory_of(workspace, Path(name) / "grown.duckdb") as grown:
            for turn, (path, text) in enumerate(history):
                if text is None:
                    (workspace / path).unlink(missing_ok=True)
                else:
                    write(workspace, {path: text})
                    os.utime(workspace / path, (1_700_000_000, 1_700_000_000 + turn))
                grown.ingest()
                ask(grown, query)
                if turn == 1:
                    grown.maintain(force=True)
            with memory_of(workspace, Path(name) / "fresh.duckdb") as fresh:
                fresh.ingest()
                for mode in ("keyword", "hybrid"):
                    for options in ({"max_results": 9}, {"budget": 400}):
                        results = ask(grown, query, mode=mode, **options)
                        two = ask(fresh, query, mode=mode, **options)
                        assert [(h.citation, h.id, h.snippet) for h in results] == [
                            (h.citation, h.id, h.snippet) for h in two
                        ]
                        np.testing.assert_allclose([h.score for h in results], [h.score for h in two], atol=2e-4)


def test_a_real_workspace_is_answered_within_the_promises() -> None:
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name) / "workspace"
        generated.write_workspace(workspace, 300)
        with memory_of(workspace, Path(name) / "i.duckdb") as memory:
            memory.ingest()
            first = 0
            queries = generated.queries(12, within=300)
            for query in queries:
                for options in ({"max_results": 6}, {"budget": 1000}):
                    results = ask(memory, query.text, **options)
                    check(memory, results)
                    if "budget" in options:
                        continue
                    # The whole answer must be in the lines that are returned.
                    first += any(query.answer[:40] in "\n".join(file_lines(memory, hit)) for hit in results)
            assert first >= 0.7 * len(queries)


def test_long_lines_are_cut_around_the_best_unit() -> None:
    lines = [f"line {n} " + "x" * 90 for n in range(20)]
    made = SectionText(1, "H", None, 11, tuple(lines))
    for best in range(11, 31):
        text, shown = snippet([made], (11, 30), Place(best, best), 700)
        assert text.split("\n")[best - shown].startswith(f"line {best - 11} ")
        assert f"line {best - 11} " in text and len(text) <= 700
        assert text.startswith("…\n") == ("line 0 " not in text) and text.endswith("\n…") == ("line 19 " not in text)
        assert text.strip("…\n") in "\n".join(lines)
    assert snippet([made], (12, 13), Place(12, 12), 700) == ("\n".join(lines[1:3]), 12)
    assert snippet([made], (11, 30), Place(11, 30), 700)[0].endswith("…")


NEIGHBOURS = "We spoke of the weather and of lunch, and nobody had an idea."
LONG = "The compressor was bought second hand in the harbour from a dealer who sold us hoses, its serial is {} he said,"


@pytest.mark.parametrize(
    "line",
    [
        LONG.format("ZX81QF") + " with a filter set and the long cable that runs to the pontoon",
        " ".join([NEIGHBOURS] * 12 + ["The serial is ZX81QF."] + [NEIGHBOURS] * 12),
        "log " * 90 + "ZX81QF " + "log " * 90,
    ],
)
def test_a_budget_pays_for_the_line_that_matches_before_its_neighbours(line: str) -> None:
    note = f"# Boat\n\nThe fee is paid.\n\n{line}\n\nPaint the hull.\n\nFetch the sails.\n"
    with remembered({"memory/2024-05-01.md": note}, search__snippet_chars=100_000) as memory:
        for budget in (12, 20, 40, 60, 100, 300):
            thread = memory.recall(SearchRequest("ZX81QF", budget=budget, dates=True)).results
            shown_hits = ask(memory, "ZX81QF", budget=budget)
            for results in (shown_hits, ask(memory, "ZX81QF", budget=budget, dates=True), thread):
                assert any("ZX81QF" in hit.snippet for hit in results)
                assert sum(tokens_of(hit.snippet) for hit in results) <= 1.1 * budget
            assert all("ZX81QF" in hit.snippet or not hit.text_score for hit in shown_hits)
            listed = memory.timeline(budget=budget).results
            assert listed and sum(tokens_of(hit.snippet) for hit in listed) <= 1.1 * budget


@pytest.mark.parametrize(("query", "good"), table("hits.tsv", "a result says whether it answers", str, yes))
def test_a_result_says_whether_it_answers(query: str, good: bool) -> None:
    texts = {
        "memory/2024-05-01.md": "# House\n\n- The boiler is serviced by Marlowe every spring.\n- The wolf sleeps.\n",
        "memory/2024-05-02.md": "# Harbour\n\n- The mooring has cost 400 euros since the new owner came.\n",
    }
    with remembered(texts, embedding__model="none") as memory:
        result = memory.search(SearchRequest(query, mode="keyword", now=date(2024, 7, 1)))
        assert result.good_match is good
        assert memory.recall(SearchRequest(query, mode="keyword", now=date(2024, 7, 1))).good_match is good


def test_a_text_without_a_vector_has_no_score_of_meaning() -> None:
    texts = {f"memory/n{n}.md": f"# {word}\n\nThe {word} stands alone.\n" for n, word in enumerate(WORDS)}
    with remembered(texts, ingest__embed="lazy") as memory:
        results = ask(memory, "fox", max_results=10)
        assert results[0].path == "memory/n0.md" and results[0].vector_score is not None
        assert all(hit.vector_score is None and hit.score < 0.3 for hit in results[1:])


def test_the_first_hit_has_the_same_score_at_any_number_of_results() -> None:
    texts = {f"memory/n{n}.md": f"# Note {n}\n\n{' '.join(WORDS[n % 5 : n % 5 + 3])}\n\nA fox.\n" for n in range(9)}
    with remembered(texts) as memory:
        whole = ask(memory, "fox river " + WORDS[2], max_results=9)
        for number in range(1, 9):
            some = ask(memory, "fox river " + WORDS[2], max_results=number)
            assert [hit.score for hit in some] == [hit.score for hit in whole[:number]]


def test_reciprocal_rank_fusion_is_the_formula_of_the_paper() -> None:
    keyword = np.array([3.0, 0.0, 2.0, 1.0], np.float32)
    vector = np.array([0.1, 0.9, 0.5, 0.2], np.float32)
    computed = features.Features({"bm25_unit": keyword, "vector_unit": vector, "length": vector})
    ranks = features.reciprocal_ranks(computed, features.WEIGHTS)
    expected = [1 / 61 + 1 / 64, 1 / 61, 1 / 62 + 1 / 62, 1 / 63 + 1 / 63]
    np.testing.assert_allclose(ranks, expected, rtol=1e-6)
    only = features.reciprocal_ranks(computed, features.WEIGHTS, np.array([False, False, True, True]))
    # Ranks count among the allowed ones; scaled to their range, the last of them scores nothing by keywords.
    np.testing.assert_allclose(only[2:], [2 / 61, 1 / 62], rtol=1e-6)


def test_rounding_is_not_scaled_to_a_difference() -> None:
    x = np.array([0.37628552, 0.37628552, 0.37628555], np.float32)
    assert features.scaled(x).tolist() == [0, 0, 0]
    assert features.scaled(np.array([1, 3, 2], np.float32)).tolist() == [0, 1, 0.5]
    assert features.scaled(np.array([1, 3, 2], np.float32), np.array([True, False, True])).tolist() == [0, 2, 1]


def test_the_budget_is_counted_in_characters_and_line_ends() -> None:
    with remembered({"MEMORY.md": "fox one\n\nfox two two\n"}) as memory:
        ask(memory, "fox")
        corpus = memory._questions.index().corpus
        assert hits.token_cost(corpus, 0, 1) == (len("fox one") + len("fox two two") + 2) / CHARS_PER_TOKEN


@pytest.mark.parametrize("lines", [1, 2, 3, 10])
def test_a_small_budget_is_spent_on_the_best_lines(lines: int) -> None:
    # The best twenty lines stand side by side: as one span they would cost more than there is.
    with remembered({"memory/2026-03-01.md": "\n".join(f"- fox number {n:02}" for n in range(40))}) as memory:
        ask(memory, "fox")
        corpus = memory._questions.index().corpus
        score = np.arange(len(corpus), 0, -1).astype(np.float32)
        score[17] = 100
        ranges = hits.fill_budget(corpus, score, None, lines * hits.token_cost(corpus, 17, 17))
        assert ranges[0].best == 17
        assert {row for span in ranges for row in range(span.first, span.last + 1)} == {17, *range(lines - 1)}


@pytest.mark.parametrize(("share", "first"), [(0.15, 1), (0.5, 0), (1.0, 0)])
def test_keywords_count_by_what_they_hold_of_the_question(share: float, first: int) -> None:
    # Row 0 holds one of two terms, row 1 is nearer in meaning, by less than a keyword match in full is worth.
    held = np.array([1.0, 0.0], np.float32)
    idf = np.array([share, 1 - share], np.float32)
    keyword = KeywordScores(("a", "b"), idf, held, held, (np.array([0], np.int32), np.zeros(0, np.int32)))
    values = dict.fromkeys(features.KEYWORD_FEATURES, held) | {"vector_unit": np.array([0.2, 0.6], np.float32)}
    computed = features.Features(values, keyword)
    assert int(np.argmax(features.fuse(computed, features.WEIGHTS))) == first


def test_what_a_filter_leaves_out_gives_keywords_no_weight() -> None:
    # Row 0 holds the whole question and is filtered out; row 1 has one common word, row 2 is nearer in meaning.
    held = np.array([2.0, 1.0, 0.0], np.float32)
    windows = (np.array([0, 1], np.int32), np.array([0], np.int32))
    keyword = KeywordScores(("a", "b"), np.array([0.1, 0.9], np.float32), held, held, windows)
    values = dict.fromkeys(features.KEYWORD_FEATURES, held) | {"vector_unit": np.array([0.9, 0.2, 0.6], np.float32)}
    allowed = np.array([False, True, True])
    score = features.fuse(features.Features(values, keyword), features.WEIGHTS, allowed)
    assert score[2] > score[1]


def test_a_day_of_which_there_is_no_note_is_found_where_it_is_named() -> None:
    texts = {"memory/2024-05-03.md": "- The dentist expects us on Monday at ten.\n", "memory/2024-05-02.md": "- Tea.\n"}
    with remembered(texts, embedding__model="none") as memory:
        result = memory.search(SearchRequest("what is on Monday?", now=date(2024, 5, 5)))
        assert "dentist" in result.results[0].snippet and result.good_match
        assert not memory.search(SearchRequest("what is on Tuesday?", now=date(2024, 5, 5))).good_match
