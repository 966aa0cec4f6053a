"""What every keyword index promises, for each of them; and BM25 against independent computations."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from indexing import drop, open_store, put, texts_of
from markers import both, file_only
from properties import examples
from tables import table

from benchmarks import corpus as generated
from openclaw_memory.index.corpus import RADIUS, Corpus
from openclaw_memory.search import bm25
from openclaw_memory.store.api import KeywordIndex
from openclaw_memory.store.duckdb import database
from openclaw_memory.store.duckdb.extensions import FtsIndex
from openclaw_memory.store.duckdb.store import DuckStore
from openclaw_memory.text import analysis

pytestmark = both

WORDS = ["wolf", "fox", "10.0.0.17", "QX-7714", "東京", "v2.3.1", "snake_case", "Größe", "42", "fox fox fox"]
TERMS = sorted({term for word in [*WORDS, "absent"] for term in analysis.terms(word)})


@pytest.fixture(params=["postings", "fts"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Any:
    return open_store(tmp_path / "i.duckdb", keyword_index=kind)


def living(store: DuckStore, index: KeywordIndex, terms: list[str]) -> dict[str, dict[int, float]]:
    """Frequency by unit of each term, units that are gone left out; no unit may come twice."""
    alive = set(store.unit_rows(None).unit_id.tolist())
    found = index.postings(terms)
    assert len(found.offsets) == len(terms) + 1
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.unit_id) == len(found.tf)
    out: dict[str, dict[int, float]] = {}
    for at, term in enumerate(terms):
        ids, tf = found.for_term(at)
        pairs = [(i, float(f)) for i, f in zip(ids.tolist(), tf, strict=True) if i in alive]
        assert len(pairs) == len(dict(pairs)), f"a unit twice for {term}"
        out[term] = dict(pairs)
    return out


def brute_force(store: DuckStore, terms: list[str]) -> dict[str, dict[int, float]]:
    counted = {unit_id: Counter(analysis.terms(text)) for unit_id, text in texts_of(store).items()}
    return {term: {i: float(c[term]) for i, c in counted.items() if c[term]} for term in terms}


class Histories(RuleBasedStateMachine):
    """Random writes by two store objects on one file; a resident and a fresh index must agree with the texts."""

    kind = "postings"

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "i.duckdb"
        # Neither keeps the file, as if they were two processes.
        self.stores = [open_store(path, keyword_index=self.kind, idle=0) for _ in range(2)]
        self.resident = self.stores[0].keyword_index()
        self.resident.refresh()

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    lines = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=4)

    @rule(who=st.integers(0, 1), path=st.sampled_from("abc"), sections=st.lists(lines, min_size=1, max_size=2))
    def write(self, who: int, path: str, sections: list[list[str]]) -> None:
        put(self.stores[who], {path: sections})

    @rule(who=st.integers(0, 1), path=st.sampled_from("abc"))
    def remove(self, who: int, path: str) -> None:
        if path in self.stores[who].documents().by_path:
            drop(self.stores[who], path)

    @rule(who=st.integers(0, 1))
    def compact(self, who: int) -> None:
        assert self.stores[who].maintain(force=True)

    @rule()
    def refresh(self) -> None:
        self.resident.refresh()

    @invariant()
    def a_fresh_index_is_right(self) -> None:
        store = self.stores[1]
        with store.session():  # the file is opened once
            fresh = store.keyword_index()
            fresh.refresh()
            assert living(store, fresh, TERMS) == brute_force(store, TERMS)

    @rule()
    def a_resident_index_is_right_once_refreshed(self) -> None:
        with self.stores[0].session():
            self.resident.refresh()
            assert living(self.stores[0], self.resident, TERMS) == brute_force(self.stores[0], TERMS)


@pytest.mark.parametrize(("kind", "number", "steps"), [("postings", 4, 12), ("fts", 1, 5)])
def test_postings_equal_the_texts_after_any_history(
    kind: str, number: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_POSTINGS_AT_ONCE", 3)  # several ranges of terms
    machine = type("Of", (Histories,), {"kind": kind})
    run_state_machine_as_test(machine, settings=settings(examples(number), stateful_step_count=steps))


def test_an_empty_index_answers_nothing(store: DuckStore) -> None:
    index = store.keyword_index()
    index.refresh()
    assert len(index.postings(["fox", "wolf"]).unit_id) == 0
    assert index.postings([]).offsets.tolist() == [0]


@file_only
def test_the_setting_chooses_the_index(store: DuckStore, kind: str) -> None:
    assert isinstance(store.keyword_index(), FtsIndex) == (kind == "fts")


def test_digits_scripts_and_identifiers_are_found(store: DuckStore) -> None:
    index = store.keyword_index()
    for text, query, wanted in table("store.tsv", "keywords"):
        put(store, {"a.md": [["something else entirely", text]]})
        index.refresh()
        terms = wanted.split()
        assert set(terms) <= set(analysis.query_terms(query))
        found = living(store, index, terms)
        assert [len(found[term]) for term in terms] == [1] * len(terms), text


def test_repeated_terms_are_counted_and_unknown_ones_keep_their_place(store: DuckStore) -> None:
    put(store, {"a.md": [["fox fox wolf fox"], ["fox"]]})
    index = store.keyword_index()
    index.refresh()
    counts = living(store, index, ["absent", "fox", "nowhere", "wolf", "gone"])
    assert [sorted(counted.values()) for counted in counts.values()] == [[], [1, 3], [], [1], []]


@file_only
def test_a_resident_index_sees_what_another_compacted_before_it_looked(
    store: DuckStore, kind: str, tmp_path: Path
) -> None:
    put(store, {"a.md": [["fox one", "fox two"]]})
    index = store.keyword_index()
    index.refresh()
    other = open_store(tmp_path / "i.duckdb", keyword_index=kind, idle=0)
    store._db.lease.release()
    put(other, {"b.md": [["fox three"]], "a.md": [["fox two"]]})
    other.maintain(force=True)
    put(other, {"c.md": [["fox four"]]})
    other.maintain(force=True)
    put(other, {"d.md": [["fox five"]]})
    other.close()
    index.refresh()
    assert living(store, index, ["fox"]) == brute_force(store, ["fox"])
    assert len(living(store, index, ["fox"])["fox"]) == 4


def test_many_refreshes_merge_without_loss(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.duckdb")
    index = store.keyword_index()
    for turn in range(12):
        put(store, {f"{turn}.md": [[f"fox number {turn}", "wolf"]]})
        index.refresh()
    assert living(store, index, ["fox", "wolf", "number"]) == brute_force(store, ["fox", "wolf", "number"])


@file_only
def test_an_fts_index_survives_reopening_without_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "i.duckdb"
    store = open_store(path, keyword_index="fts")
    put(store, {"a.md": [["fox"]]})
    store.keyword_index().refresh()
    store.close()
    store = open_store(path)
    put(store, {"b.md": [["fox"]]})
    store.close()
    store = open_store(path, keyword_index="fts")
    index = store.keyword_index()
    index.refresh()
    assert len(living(store, index, ["fox"])["fox"]) == 2
    assert store.warnings() == []


# -- BM25 ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DuckStore, Corpus, KeywordIndex]]:
    store = open_store(tmp_path_factory.mktemp("bm25") / "i.duckdb")
    units = list(generated.units(1500))
    notes = {}
    sizes = [1, 7, 2, 12, 4]
    at = number = 0
    while at < len(units):
        sections = []
        for size in sizes[: 1 + number % 5]:
            if units[at : at + size]:
                sections.append([unit.replace("\n", " ") for unit in units[at : at + size]])
            at += size
        if sections:
            notes[f"{number}.md"] = sections
        number += 1
    put(store, notes)
    put(store, {"0.md": [["a changed line about the fox", "another"]]})  # dead postings must not count
    corpus = Corpus()
    corpus.refresh(store)
    index = store.keyword_index()
    index.refresh()
    yield store, corpus, index
    store.close()


QUERIES = [query.text for query in generated.queries(20, within=1400)] + ["fox another line", "nosuchword fox"]


@file_only
def test_unit_scores_equal_those_of_bm25s(scored: tuple[DuckStore, Corpus, KeywordIndex]) -> None:
    store, corpus, index = scored
    texts = texts_of(store)
    other = bm25s.BM25(method="lucene", k1=bm25.UNIT.k1, b=bm25.UNIT.b)
    other.index([analysis.terms(texts[int(i)]) for i in corpus.rows.unit_id], show_progress=False)
    for query in QUERIES:
        terms = analysis.query_terms(query)
        mine = bm25.score(corpus, index, terms).unit
        theirs = other.get_scores([t for t in terms if t in other.vocab_dict])
        np.testing.assert_allclose(mine, theirs * (bm25.UNIT.k1 + 1), rtol=2e-4, atol=1e-4, err_msg=query)


def plain_bm25(bags: list[Counter[str]], terms: list[str], p: bm25.Parameters) -> list[float]:
    """Okapi BM25 with Lucene's idf, written down as it stands in the books."""
    lengths = [bag.total() for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = [0.0] * len(bags)
    for term in terms:
        df = sum(term in bag for bag in bags)
        idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        for at, bag in enumerate(bags):
            tf = bag[term]
            scores[at] += idf * tf * (p.k1 + 1) / (tf + p.k1 * (1 - p.b + p.b * lengths[at] / mean))
    return scores


@file_only
def test_window_scores_equal_those_of_their_texts(scored: tuple[DuckStore, Corpus, KeywordIndex]) -> None:
    store, corpus, index = scored
    texts = texts_of(store)
    rows = [Counter(analysis.terms(texts[int(i)])) for i in corpus.rows.unit_id]
    section = corpus.rows.section_id.tolist()
    windows = []
    for at in range(len(rows)):
        near = [i for i in range(max(0, at - RADIUS), min(len(rows), at + RADIUS + 1)) if section[i] == section[at]]
        windows.append(sum((rows[i] for i in near), Counter[str]()))
    for query in QUERIES[::3]:
        terms = analysis.query_terms(query)
        mine = bm25.score(corpus, index, terms)
        np.testing.assert_allclose(mine.window, plain_bm25(windows, terms, bm25.WINDOW), rtol=1e-4, atol=1e-4)
        for at, term in enumerate(terms):
            assert mine.windows[at].tolist() == [i for i, bag in enumerate(windows) if bag[term]], query


@file_only
def test_coverage_is_a_share_of_the_idf(scored: tuple[DuckStore, Corpus, KeywordIndex]) -> None:
    _, corpus, index = scored
    found = bm25.score(corpus, index, ["fox", "nosuchword"])
    row = int(np.argmax(found.unit))
    share, words = found.coverage(row)
    assert words == ["fox"] and 0 < share < 1
    assert found.coverage(int(np.argmin(found.window))) == (0.0, [])
    either = bm25.score(corpus, index, [("fox", "fox"), ("nosuchword", "fox")])
    assert either.terms == ("fox", "nosuchword")
    np.testing.assert_allclose(
        either.unit, 2 * found.unit, rtol=1e-6
    )  # a word in two forms counts once, in any of them
    nothing = bm25.score(corpus, index, [])
    assert nothing.coverage(0) == (0.0, []) and not nothing.unit.any()
