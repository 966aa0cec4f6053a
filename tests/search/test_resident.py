"""What a process that lives for months holds in memory: as much as there is, and what a fresh process would."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, Notes, ingested, let_go, open_memory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from indexing import embed, open_store, put, unit_vectors
from properties import examples
from test_hits import EMBEDDER, PATHS, document, question

from benchmarks import corpus as generated
from benchmarks.hashing import HashingEmbedder
from openclaw_memory.config.settings import SearchSettings, Settings
from openclaw_memory.embed.vectorizer import Vectorizer
from openclaw_memory.index.corpus import RADIUS, Corpus
from openclaw_memory.memory import Memory
from openclaw_memory.model import SearchRequest
from openclaw_memory.search import answers, bm25, features, service
from openclaw_memory.search.confidence import assess
from openclaw_memory.search.display import SectionCache
from openclaw_memory.search.hits import Range
from openclaw_memory.search.question import Question
from openclaw_memory.search.ranking import Query, rank
from openclaw_memory.search.resident import ResidentIndex
from openclaw_memory.store.api import VectorIndex, VectorModel
from openclaw_memory.store.duckdb.store import DuckStore

TODAY = date(2024, 7, 1)
KINDS: dict[str, dict[str, str]] = {
    "exact": {"vector_index": "exact", "vector_dtype": "float32"},
    "int8": {"vector_index": "exact", "vector_dtype": "int8"},
    "vss": {"vector_index": "vss", "vector_dtype": "float32"},
}


@pytest.fixture(autouse=True, scope="module")
def questions_embed_nothing() -> Iterator[None]:
    """Units without a vector stay without one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "LAZY_CANDIDATES", 0)
        yield


class Months(RuleBasedStateMachine):
    """Random edits in one process, some of them taken over by another one; each answer equals a fresh process'."""

    store: dict[str, str] = {}  # noqa: RUF012

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.workspace = Path(self.folder.name) / "workspace"
        self.workspace.mkdir()
        self.turn = 0
        self.write("MEMORY.md", "# Seed\n\n- the wolf owns the garden\n- an invoice came\n\n## Other\n\n- a fox\n")
        self.resident = self.process()
        self.resident.ingest()

    def process(self) -> Memory:
        given: dict[str, Any] = {"ingest.fresh_seconds": 1e9, "ingest.embed": "lazy"}
        given |= {f"store.{name}": value for name, value in self.store.items()}
        read = Settings.load(overrides=given, environ={})
        return let_go(
            Memory(self.workspace, settings=read, db=Path(self.folder.name) / "i.duckdb", embedder=EMBEDDER), 0
        )

    def teardown(self) -> None:
        self.resident.close()
        self.folder.cleanup()

    @rule(path=st.sampled_from(PATHS), text=document)
    def write(self, path: str, text: str) -> None:
        self.turn += 1
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000 + self.turn))

    @rule(path=st.sampled_from(PATHS))
    def remove(self, path: str) -> None:
        (self.workspace / path).unlink(missing_ok=True)

    @rule(path=st.sampled_from(PATHS), to=st.sampled_from(PATHS))
    def rename(self, path: str, to: str) -> None:
        if (self.workspace / path).exists():
            (self.workspace / to).parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / path).replace(self.workspace / to)

    @rule(elsewhere=st.booleans(), embed=st.booleans())
    def ingest(self, elsewhere: bool, embed: bool) -> None:
        if not elsewhere:
            self.resident.ingest(embed="sync" if embed else "lazy")
            return
        with self.process() as other:
            other.ingest(embed="sync" if embed else "lazy")

    @rule()
    def compact(self) -> None:
        self.resident.maintain(force=True)

    @rule(query=question)
    def ask(self, query: str) -> None:
        with self.process() as fresh:
            fresh.search("anything")  # it looks at the files, once
            assert all_answers(self.resident, query) == all_answers(fresh, query)
            differing = [name for name, same in compared(self.resident, fresh) if not same]
            assert not differing


def compared(first: Memory, other: Memory) -> Iterator[tuple[str, bool]]:
    """What two processes hold of the same index, part by part, and whether it is the same to the last bit."""
    indexes = [memory._questions.index() for memory in (first, other)]
    parts = [
        {
            "rows": index.corpus.rows,
            "shape": index.corpus.shape,
            "shown": index.corpus.shown_tokens,
            "documents": index.corpus.documents,
            "references": index.graph.index.references,
            "rarity": index.graph.index.rarity,
            "places": (index.graph.index.references.concept, index.graph.index.references.row),
            "by row": [index.graph.index.of_rows(row, row + 1) for row in range(len(index.corpus) - 1)],
            "labels": index.graph.labels(),
            "network": index.graph.network,
            "facts": memory.facts._now().history,
            "superseded": memory.facts.superseded(),
        }
        for memory, index in zip((first, other), indexes, strict=True)
    ]
    for name, value in parts[0].items():
        yield name, equal(value, parts[1][name])


def equal(a: Any, b: Any) -> bool:
    """Whether two values, arrays in them included, are the same; dictionaries in any order."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if is_dataclass(a):
        return all(equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def all_answers(memory: Memory, query: str) -> list[Any]:
    """Everything that ``query`` gets, by all ways of asking."""
    out: list[Any] = []
    for mode in ("keyword", "hybrid", "vector", "graph"):
        out.append(memory.search(SearchRequest(query, now=TODAY, mode=mode, explain=True)).results)  # type: ignore[arg-type]
    out.append(memory.search(SearchRequest(query, now=TODAY, budget=300)).results)
    out.append(memory.recall(SearchRequest(query, now=TODAY), hops=2).results)
    context = memory.context(query, now=TODAY)
    return [*out, (context.text, context.entities, context.sources, context.facts)]


@pytest.mark.parametrize(
    ("store", "number", "steps"),
    [({}, 8, 14), ({"vector_index": "vss", "keyword_index": "fts"}, 6, 6), ({"vector_dtype": "float32"}, 4, 7)],
    ids=["default", "vss-fts", "float32"],
)
def test_a_process_of_any_age_answers_as_a_fresh_one(store: dict[str, str], number: int, steps: int) -> None:
    machine = type("Of", (Months,), {"store": store})
    run_state_machine_as_test(machine, settings=settings(examples(number), stateful_step_count=steps))


def test_a_step_names_the_first_line_that_mentions_a_concept_in_a_process_of_any_age(tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    for day, text in {
        "2026-01-05": "# Plan\n\n- We ask Zorblatt about the boards.\n- The fence is Zorblatt again.\n",
        "2026-01-09": "# Visit\n\n- Saw Zorblatt at the harbour.\n- There Zorblatt had a boat.\n",
    }.items():
        (workspace / "memory" / f"{day}.md").write_text(text, encoding="utf-8")
    read = Settings.load(overrides={"ingest.fresh_seconds": 0, "ingest.embed": "lazy"}, environ={})
    with Memory(workspace, settings=read, db=tmp_path / "i.duckdb", embedder=EMBEDDER) as memory:
        memory.recall("boards")
        note = workspace / "memory" / "2026-01-05.md"
        note.write_text(note.read_text(encoding="utf-8") + "- Later Zorblatt left.\n", encoding="utf-8")
        memory.search("boards")
        references = memory._questions.index().graph.index.references
        for concept in range(len(references.keys)):
            assert (np.diff(references.row[references.slice_of(concept)]) > 0).all()


def test_a_name_becomes_a_concept_and_none_again_with_all_that_mentions_it(tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    other, note = (workspace / "memory" / f"2026-01-0{day}.md" for day in (5, 9))
    other.write_text("# Plan\n\n- We ask Zorblatt about the boards.\n- The fence is green.\n", encoding="utf-8")
    note.write_text("# Visit\n\n- Saw nobody at the harbour.\n", encoding="utf-8")
    read = Settings.load(overrides={"ingest.fresh_seconds": 0, "ingest.embed": "lazy"}, environ={})
    with Memory(workspace, settings=read, db=tmp_path / "i.duckdb", embedder=EMBEDDER) as memory:
        for more, is_known in (("", False), ("- There Zorblatt had a boat.\n", True), ("", False)):
            note.write_text(f"# Visit\n\n- Saw nobody at the harbour.\n{more}", encoding="utf-8")
            memory.search("boards")
            index = memory._questions.index().graph.index
            place = index.find("Zorblatt")
            assert (place is not None) is is_known
            if place is not None:
                rows = index.references.rows(place).tolist()
                assert len(rows) == 2 and all(place in index.of_rows(row, row) for row in rows)


# -- how much is held -----------------------------------------------------------------------------------


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Iterator[DuckStore]:
    opened = open_store(tmp_path / "i.duckdb", **KINDS[kind])
    yield opened
    opened.close()


def engine_of(store: DuckStore, model: VectorModel) -> Any:
    index = ResidentIndex(store, SearchSettings())
    index.refresh(model)
    return index


def test_a_file_that_is_written_anew_all_the_time_leaves_nothing_behind(store: DuckStore) -> None:
    embedder = HashingEmbedder(32)
    put(store, {"a.md": [["a line that stays"] * 10]})
    model = embed(store, embedder)
    index = engine_of(store, model)
    for turn in range(7):
        put(store, {"b.md": [[f"line {n} of turn {turn}" for n in range(50)]]})
        embed(store, embedder)
        store.maintain()
        index.refresh(model)
    live = len(index.corpus)
    assert live == 60
    matrix = index.vectors._matrix
    assert matrix.used - matrix.dead == live and matrix.used <= live * 4 / 3
    assert len(matrix._data) <= live * 2 and len(matrix._unit_of) == matrix.used
    if index.vectors.name == "vss":
        assert index.vectors._graph().execute("SELECT count(*) FROM v").fetchone() == (live,)
    assert store.maintain(force=True)  # without it postings of what is gone wait until there are 20,000
    index.refresh(model)
    assert len(set(np.concatenate([s.unit_id for s in index.keyword._segments]).tolist())) == live


def held_postings(index: Any) -> int:
    return sum(len(segment.unit_id) for segment in index.keyword._segments)


def test_what_a_compaction_of_the_file_drops_leaves_memory_too(store: DuckStore) -> None:
    put(store, {f"{n}.md": [[f"fox {n} {word}" for word in "abcdefgh"]] for n in range(30)})
    model = embed(store, HashingEmbedder(32))
    index = engine_of(store, model)
    documents = store.documents()
    store.remove([row.id for path, row in documents.by_path.items() if path != "3.md"], documents.version)
    assert store.maintain(force=True)
    index.refresh(model)
    fresh = engine_of(store, model)
    assert held_postings(index) == held_postings(fresh)
    assert index.vectors._matrix.used == fresh.vectors._matrix.used == 8


# -- the nearest, and windows -----------------------------------------------------------------------------


def rewritten(store: DuckStore, n: int, d: int) -> tuple[VectorModel, VectorIndex, Corpus, list[int]]:
    """An index that has lived through the loss of nine units in ten: model, index, corpus, ids."""
    model = VectorModel("test", d)
    put(store, {f"{at}.md": [[f"{at} line {i}" for i in range(n)]] for at in range(10)})
    ids = store.unit_rows(None).unit_id.tolist()
    store.put_vectors(model, ids, unit_vectors(len(ids), d, 1))
    index = store.vector_index(model)
    index.refresh()
    documents = store.documents()
    store.remove([row.id for path, row in documents.by_path.items() if path != "7.md"], documents.version)
    corpus = Corpus()
    corpus.refresh(store)
    return model, index, corpus, corpus.rows.unit_id.tolist()


def test_the_nearest_are_units_that_are_there(store: DuckStore) -> None:
    model, index, _, living = rewritten(store, 300, 32)
    changed = index.refresh()
    assert len(changed) == 2700 and not set(changed.tolist()) & set(living)
    fresh = store.vector_index(model)
    fresh.refresh()
    right = 0
    for query in unit_vectors(10, 32, 2):
        nearest, _ = index.search(query, 128)
        assert len(nearest) == 128 and set(nearest.tolist()) <= set(living)
        right += len(set(nearest.tolist()) & set(fresh.search(query, 128)[0].tolist()))
    assert right >= 0.98 * 1280
    assert index.has(np.array([living[0], int(changed[0]), 10**6], np.int32)).tolist() == [True, False, False]
    assert np.isnan(index.similarities(query, changed)).all()


def test_a_few_lost_units_are_not_among_the_nearest(store: DuckStore) -> None:
    model = VectorModel("test", 32)
    put(store, {"a.md": [[f"line {i}" for i in range(300)]], "b.md": [["one", "two"]]})
    ids = store.unit_rows(None).unit_id.tolist()
    store.put_vectors(model, ids, unit_vectors(302, 32, 1))
    index = store.vector_index(model)
    index.refresh()
    query = unit_vectors(302, 32, 1)[-1]
    assert index.search(query, 1)[0].tolist() == [ids[-1]]
    documents = store.documents()
    store.remove([documents.by_path["b.md"].id], documents.version)
    index.refresh()
    nearest, _ = index.search(query, 301)
    assert sorted(nearest.tolist()) == ids[:300]


def test_vectors_that_came_back_after_they_were_dropped_are_found(store: DuckStore) -> None:
    model, index, _, living = rewritten(store, 20, 32)
    index.refresh()
    store.put_vectors(VectorModel("other", 8), living[:10], unit_vectors(10, 8))
    assert sorted(index.refresh().tolist()) == living[:10]
    vectors = unit_vectors(10, 32, 5)
    store.put_vectors(model, living[:10], vectors)
    assert sorted(index.refresh().tolist()) == living[:10]
    for unit_id, vector in zip(living[:10], vectors, strict=True):
        assert index.search(vector, 1)[0].tolist() == [unit_id]


@pytest.mark.parametrize(
    ("kind", "steps"), [*((kind, "texts first") for kind in KINDS), ("exact", "together")], indirect=["kind"]
)
def test_windows_are_as_long_as_the_sums_of_their_vectors(store: DuckStore, kind: str, steps: str) -> None:
    model = VectorModel("test", 32)
    corpus, index = Corpus(), store.vector_index(model)
    vectors: dict[int, Any] = {}
    for turn, path in enumerate(["a.md", "b.md", "a.md", "c.md", "b.md"]):
        put(store, {path: [[f"{path} {turn} {n}" for n in range(9)], [f"{path} {n} stays" for n in range(4)]]})
        if steps == "texts first":
            corpus.refresh(store)
            corpus.refresh_windows(index, index.refresh(), turn == 0)
        new = [i for i in store.unit_rows(None).unit_id.tolist() if i not in vectors]
        vectors |= dict(zip(new, unit_vectors(len(new), 32, turn), strict=True))
        store.put_vectors(model, new, np.array([vectors[i] for i in new]))
        corpus.refresh(store)
        corpus.refresh_windows(index, index.refresh(), turn == 0)
    # Vectors of units that stay may change: those of another model took their place for a while.
    last = corpus.rows.unit_id[-3:].tolist()
    store.put_vectors(model, last, again := unit_vectors(3, 32, 99))
    vectors |= dict(zip(last, again, strict=True))
    corpus.refresh_windows(index, index.refresh(), False)
    fresh = Corpus()
    fresh.refresh(store)
    own = store.vector_index(model)
    fresh.refresh_windows(own, own.refresh(), True)
    np.testing.assert_array_equal(corpus.rows.unit_id, fresh.rows.unit_id)
    np.testing.assert_array_equal(corpus.window_norm, fresh.window_norm)
    rows = corpus.rows
    for at in range(len(corpus)):
        near = [i for i in range(at - 2, at + 3) if 0 <= i < len(corpus) and rows.section_id[i] == rows.section_id[at]]
        whole = sum(vectors[int(rows.unit_id[i])] for i in near)
        assert corpus.window_norm[at] == pytest.approx(np.linalg.norm(whole), abs=0.02 if kind == "int8" else 2e-3)


def test_units_without_a_vector_are_counted_by_every_index(store: DuckStore) -> None:
    put(store, {"a.md": [["the red fox", "a blue whale"]]})
    embedder = HashingEmbedder(32)
    model = embed(store, embedder)
    put(store, {"b.md": [["a green fox"]]})
    index = engine_of(store, model)
    vector = embedder.embed_query(["fox"])[0]
    ranking = answers.search(Query(Question("fox", TODAY), SearchRequest("fox"), "hybrid", vector), index)
    assert ranking.missing == 1
    assert {hit.path for hit in ranking.hits} == {"a.md", "b.md"}


def test_a_process_that_only_asks_drops_what_is_dead_too(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    given = Settings.load(overrides={"ingest.fresh_seconds": 0}, environ={})
    with Memory(workspace, settings=given, db=tmp_path / "i.duckdb", embedder=EMBEDDER) as memory:
        words = " ".join(f"word{n}" for n in range(95))
        for turn in range(6):
            (workspace / "MEMORY.md").write_text("".join(f"- fox {turn} line {n} {words}\n" for n in range(60)))
            assert memory.search("fox", mode="keyword").results
        counts = memory.store.statistics()
    assert counts.units == 60
    # Of 36,000 postings those that are gone wait until there are 20,000.
    assert counts.postings + counts.postings_delta <= 20_000 + 2 * 60 * 100


def test_both_vector_indexes_answer_alike(tmp_path: Path) -> None:
    answers_by_kind = {}
    for kind in ("exact", "vss"):
        workspace = tmp_path / kind
        generated.write_workspace(workspace, 100)
        given = Settings.load(overrides={"store.vector_index": kind, "ingest.fresh_seconds": 1e9}, environ={})
        with Memory(workspace, settings=given, db=tmp_path / f"{kind}.duckdb", embedder=EMBEDDER) as memory:
            memory.ingest()
            answers_by_kind[kind] = [
                [(hit.citation, hit.vector_score, hit.score) for hit in memory.search(request).results]
                for query in generated.queries(5, within=100)
                for request in (
                    SearchRequest(query.text, mode="vector", now=TODAY),
                    SearchRequest(query.text, now=TODAY),
                )
            ]
    for vss, exact in zip(answers_by_kind["vss"], answers_by_kind["exact"], strict=True):
        assert vss == exact


def test_candidates_are_as_sure_as_where_every_row_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "_CANDIDATES", 40)  # of millions of rows some are candidates, and some tell the noise
    monkeypatch.setattr(features, "_SAMPLE_ROWS", 60)
    store = open_store(tmp_path / "i.duckdb")
    texts = list(generated.units(300))
    put(store, {"a.md": [texts[at : at + 10] for at in range(0, 300, 10)]})
    embedder = HashingEmbedder(32)
    model = embed(store, embedder)
    store.close()
    compared = 0
    made = []
    for kind in ("exact", "vss"):
        own = open_store(tmp_path / "i.duckdb", vector_index=kind, idle=0)
        index = ResidentIndex(own, SearchSettings())
        index.refresh(model)
        made.append((own, index))
    (_, exact), (_, vss) = made
    for query in generated.queries(10, within=300):
        vector = embedder.embed_query([query.text])[0]
        request = Query(Question(query.text, TODAY), SearchRequest(query.text), "vector", vector)
        ours, theirs = rank(request, vss), rank(request, exact)
        np.testing.assert_array_equal(ours.features.noise, theirs.features.noise)
        assert ours.similarities is not None and theirs.similarities is not None
        for row in np.flatnonzero(ours.similarities == theirs.similarities).tolist():
            near = slice(max(0, row - 2), row + 3)
            if (ours.similarities[near] == theirs.similarities[near]).all():
                assert assess(ours, Range.of_row(row)) == assess(theirs, Range.of_row(row))
                compared += 1
    assert compared > 200
    for own, _ in made:
        own.close()


# -- the texts of hits -----------------------------------------------------------------------------------


def test_texts_of_hits_are_kept_up_to_a_limit_and_until_they_change(store: DuckStore) -> None:
    put(store, {f"{n}.md": [[f"fox {n} in section {s} é 狐" for _ in range(3)] for s in range(4)] for n in range(6)})
    model = embed(store, HashingEmbedder(32))
    index = engine_of(store, model)
    rows, cache = index.corpus.rows, SectionCache(store, 300)
    with store.session():
        for first, last in [(0, 4), (0, 4), (30, 40), (2, 9), (0, len(rows.unit_id) - 1), (0, 4)]:
            ids = sorted(set(rows.section_id[first : last + 1].tolist()))
            assert cache.get(ids) == store.section_texts(ids)
            kept = cache._sections
            assert cache._chars == sum(len(line) for section in kept.values() for line in section.lines) <= 300
    assert set(ids) <= kept.keys()
    cache.keep(ids[:1])
    assert list(kept) == ids[:1] and cache._chars == sum(map(len, kept[ids[0]].lines))


# -- windows of a term --------------------------------------------------------------------------------------


@given(st.data())
@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_term_counts_in_every_window_that_holds_it(tmp_path: Path, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=120))
    corpus = Corpus()
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        opened = open_store(Path(folder) / "i.duckdb")
        put(opened, {"a.md": [["line"] * length for length in lengths]})
        corpus.refresh(opened)
        opened.close()
    n, section = len(corpus), corpus.shape.section
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))), np.int32)
    tf = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows))), np.float32)
    expected = np.zeros(n, np.float32)
    for row, count in zip(rows.tolist(), tf.tolist(), strict=True):
        for near in range(max(0, row - RADIUS), min(n, row + RADIUS + 1)):
            expected[near] += count * (section[near] == section[row])
    scratch = np.zeros(n, np.float32)
    held, frequency = bm25._spread(rows, tf, corpus.shape, scratch)
    assert held.tolist() == np.flatnonzero(expected).tolist() and not scratch.any()
    np.testing.assert_array_equal(frequency, expected[held])


# -- what is answered without opening the index -------------------------------------------------------------


class Beside:
    """Two processes with one index, the times of whose file lie back so far that a write shows."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.workspace = folder, folder / "notes"
        (self.workspace / "memory").mkdir(parents=True)
        self.write("2026-01-05", "# Plan\n\n- The fox asks about the boards.\n")
        self.write("2026-01-06", "# Later\n\n- The wolf paints the fence.\n")
        self.one, self.other = self.process(), self.process()
        self.one.ingest(embed="sync")
        self.opened = 0
        database = self.one.store._db  # type: ignore[attr-defined]
        connect = database._open

        def counted() -> Any:
            self.opened += 1
            return connect()

        monkeypatch.setattr(database, "_open", counted)
        self.settle()

    def process(self) -> Memory:
        given = {"ingest.fresh_seconds": 0, "ingest.embed": "lazy"}
        read = Settings.load(overrides=given, environ={})
        return let_go(Memory(self.workspace, settings=read, db=self.folder / "i.duckdb", embedder=EMBEDDER), 0)

    def write(self, day: str, text: str) -> None:
        (self.workspace / "memory" / f"{day}.md").write_text(text, encoding="utf-8")

    def settle(self) -> None:
        for file in ("i.duckdb", "i.duckdb.wal"):
            with contextlib.suppress(FileNotFoundError):
                os.utime(self.folder / file, (1_700_000_000, 1_700_000_000))

    def search(self, question: str) -> list[str]:
        return [hit.snippet for hit in self.one.search(SearchRequest(question, now=TODAY)).results]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beside]:
    made = Beside(tmp_path, monkeypatch)
    yield made
    made.one.close()
    made.other.close()


def test_a_question_about_what_is_known_opens_no_file(beside: Beside) -> None:
    first = beside.search("fox boards")
    opened = beside.opened
    assert opened and beside.search("fox boards") == first
    assert beside.search("boards of the fox")[0] == first[0]
    assert beside.opened == opened


def test_what_another_process_wrote_is_in_the_next_answer(beside: Beside) -> None:
    assert not any("heron" in text for text in beside.search("fox boards"))
    for turn in range(3):
        beside.settle()
        beside.search("fox boards")
        beside.write("2026-01-05", f"# Plan\n\n- The heron {turn} asks about the boards.\n")
        beside.other.ingest(embed="sync")
        assert f"heron {turn}" in beside.search("heron boards")[0]
        assert not any("fox" in text for text in beside.search("fox boards"))


def test_a_write_that_leaves_the_same_time_behind_is_seen_too(beside: Beside) -> None:
    beside.search("fox boards")
    file = beside.folder / "i.duckdb"
    beside.write("2026-01-05", "# Plan\n\n- The stork asks about the boards.\n")
    beside.one.ingest(embed="sync")  # the file is as new as a clock can tell
    before = file.stat().st_mtime_ns
    beside.write("2026-01-05", "# Plan\n\n- The crane asks about the boards.\n")
    beside.other.ingest(embed="sync")
    os.utime(file, ns=(before, before))
    assert "crane" in beside.search("crane boards")[0]


def test_an_answer_that_is_overtaken_by_a_write_is_made_again(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    beside.search("fence")
    index = beside.one._questions.index()
    search, turns = answers.search, []

    def overtaken(*given: Any) -> Any:
        turns.append(len(turns))
        if len(turns) == 1:
            beside.write("2026-01-05", "# Plan\n\n- The ibis asks about the boards.\n")
            beside.other.ingest(embed="sync")
            index.display.sections.keep(())  # what it shows is to be read
        return search(*given)

    monkeypatch.setattr(answers, "search", overtaken)
    assert "ibis" in beside.search("boards asks")[0]
    assert len(turns) == 2


def answered(memory: Memory, query: str, deadline: float | None = None) -> tuple[set[str], bool, str | None]:
    result = memory.search(SearchRequest(query, mode="keyword", max_results=99, deadline=deadline))
    return {hit.path for hit in result.results}, result.stale, result.warning


def test_a_question_is_answered_from_before_while_others_have_the_index(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with ingested(notes) as memory, open_memory(notes) as other:
        assert answered(other, "lantern")[0] == {"MEMORY.md"}
        memory.ingest()  # has the file, and somebody may have written since
        other.store.close()
        with memory.store.session():
            paths, stale, warning = answered(other, "lantern shed", deadline=4.0)
        assert (paths, stale) == ({"MEMORY.md"}, True)
        assert warning is not None and "the index is in use; answered from before that" in warning
        assert not answered(other, "lantern shed", deadline=20.0)[1]


def test_a_question_is_answered_from_before_while_another_thread_writes(notes: Notes) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with ingested(notes, ingest__fresh_seconds=0.0) as memory:
        assert answered(memory, "lantern")[0] == {"MEMORY.md"}
        writing, go_on = threading.Event(), threading.Event()

        def write() -> None:
            with memory.store._db.write():  # type: ignore[attr-defined]
                writing.set()
                go_on.wait(20)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert writing.wait(20)
            paths, stale, warning = answered(memory, "lantern shed", deadline=2.0)
        finally:
            go_on.set()
            writer.join()
        assert (paths, stale) == ({"MEMORY.md"}, True)
        assert warning is not None and "the index is in use; answered from before that" in warning
        assert not answered(memory, "lantern shed", deadline=20.0)[1]


@pytest.mark.parametrize("missing", [True, False], ids=["missing", "complete"])
def test_two_questions_at_once_keep_their_own_warnings(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    notes.write("MEMORY.md", "- the lantern is in the shed\n")
    with open_memory(notes, CountingEmbedder(), ingest__embed="lazy") as memory:
        memory.ingest(embed="lazy" if missing else "sync")
        warnings: list[str | None] = []

        def ask_meanwhile() -> None:
            if missing:
                memory.ingest(embed="sync")
            else:
                notes.write("memory/2026-01-05.md", "- a second lantern\n")
                memory.ingest(embed="lazy")
            warnings.append(memory.search("lantern shed").warning)

        def candidates(*given: Any) -> int:
            """Ask another question when the first one is ranked, and its result is not made yet."""
            if threading.current_thread() is threading.main_thread():
                other = threading.Thread(target=ask_meanwhile)
                other.start()
                other.join()
            return 0

        monkeypatch.setattr(Vectorizer, "embed_candidates", candidates)
        warnings.append(memory.search("lantern").warning)
    other, first = ("units are embedded" in (warning or "") for warning in warnings)
    assert (first, other) == (missing, not missing)
