"""A cross-encoder that orders the best hits again: by its scores, within its time, and never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from fakes import Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st
from tiny_gguf import make_tiny_reranker

from openclaw_memory import Memory, SearchRequest
from openclaw_memory.config.settings import Settings
from openclaw_memory.embed.bindings import BINDINGS
from openclaw_memory.embed.llama import LlamaCppEmbedder, LlamaCppReranker
from openclaw_memory.errors import ModelError
from openclaw_memory.model import Grain, Kind, Origin, SearchHit
from openclaw_memory.search import service
from openclaw_memory.search.reranked import reordered, text_of
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.upkeep.doctor import reranker_checks

QUESTION = "where do the backups go?"
TEXTS = [
    "The NAS keeps the backups.",
    "Felix likes tuna.",
    "备份在地下室。",
    "",
    "backups " * 2000,
    "[SEP] <s> </s>",
    "a\0b \ud800",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_reranker(tmp_path_factory.mktemp("reranker") / "tiny-reranker.gguf")


@pytest.fixture(scope="module", params=[binding.name for binding in BINDINGS if binding.installed])
def reranker(request: pytest.FixtureRequest, model: Path) -> Iterator[LlamaCppReranker]:
    opened = LlamaCppReranker(model, model="r", pooling="rank", max_tokens=256, batch_tokens=256, binding=request.param)
    yield opened
    opened.close()


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    notes = Notes(tmp_path / "workspace")
    for day, text in enumerate(TEXTS[:3], 1):
        notes.write(f"memory/2026-03-0{day}.md", f"# Day\n\n- backups: {text}\n- we water the tomatoes\n")
    return notes


def order(memory: Memory, **how: object) -> list[str]:
    return [hit.path for hit in memory.search(SearchRequest(QUESTION, **how)).results]  # type: ignore[arg-type]


def test_texts_have_scores_of_their_own_in_any_company(reranker: LlamaCppReranker) -> None:
    scores = reranker.rank(QUESTION, TEXTS)
    assert scores.shape == (len(TEXTS),) and scores.dtype == np.float32
    assert len(set(scores[:3].tolist())) == 3
    alone = [float(reranker.rank(QUESTION, [text])[0]) for text in TEXTS]
    assert scores == pytest.approx(alone, abs=1e-3)
    assert reranker.rank("something else", TEXTS[:1])[0] != pytest.approx(float(scores[0]), abs=1e-3)
    assert reranker.rank(QUESTION, []).shape == (0,)


def test_a_question_of_any_length_is_answered(reranker: LlamaCppReranker) -> None:
    for question in ("backups " * 2000, "备份" * 2000, "\ud800\0", ""):
        assert np.isfinite(reranker.rank(question, TEXTS[:2])).all()


def test_what_nobody_waits_for_any_more_is_not_scored(reranker: LlamaCppReranker) -> None:
    with pytest.raises(ModelError, match=r"scored 0 of 7 texts in time; choose a smaller reranker"):
        reranker.rank(QUESTION, TEXTS, Deadline.after(0))


@pytest.mark.parametrize("binding", [binding.name for binding in BINDINGS if binding.installed])
def test_a_models_own_template_is_used_and_notes_have_no_part_in_it(tmp_path: Path, model: Path, binding: str) -> None:
    templated = make_tiny_reranker(tmp_path / "templated.gguf", "[CLS]asked: {query} told: {document}[SEP]")
    scores: list[list[float]] = []
    for file in (templated, model):
        with closing(LlamaCppReranker(file, model="r", pooling="rank", binding=binding)) as opened:
            scores.append(opened.rank(QUESTION, TEXTS).tolist())
            sly, apart, named, asked = opened.rank(QUESTION, ["a [SEP] b", "a [ SEP] b", "{query}", QUESTION])
            assert sly == apart and named != asked
    assert np.isfinite(scores).all() and scores[0] != pytest.approx(scores[1], abs=0.01)


def test_every_binding_gives_the_same_scores(model: Path, reranker: LlamaCppReranker) -> None:
    first = LlamaCppReranker(model, model="r", pooling="rank", max_tokens=256, batch_tokens=256)
    assert reranker.rank(QUESTION, TEXTS[:4]) == pytest.approx(first.rank(QUESTION, TEXTS[:4]), abs=0.02)
    first.close()


@pytest.mark.parametrize("binding", [binding.name for binding in BINDINGS if binding.installed])
def test_an_embedder_is_no_reranker_and_the_other_way_round(tiny_gguf: Path, model: Path, binding: str) -> None:
    with pytest.raises(ModelError, match=r"is no reranker; set search\.reranker"):
        LlamaCppReranker(tiny_gguf, model="t", pooling="rank", binding=binding).rank("a", ["b"])
    # One binding gave what was in memory for a vector, which now and then looked like one.
    with pytest.raises(ModelError, match="is a reranker, not an embedding model"):
        LlamaCppEmbedder(model, model="r", binding=binding).embed_query(["a"])


def test_the_best_hits_come_in_its_order(notes: Notes, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "RERANK_SECONDS", 60.0)
    with open_memory(notes) as memory:
        before = memory.search(SearchRequest(QUESTION, explain=True)).results
    assert all("reranker" not in (hit.why or "") for hit in before)
    judge = LlamaCppReranker(model, model="r", pooling="rank", max_tokens=512, batch_tokens=512)
    scores = judge.rank(QUESTION, [text_of(hit) for hit in before])
    judge.close()
    wanted = [before[at].path for at in np.argsort(-scores, kind="stable")]
    with open_memory(notes, search__reranker=str(model)) as memory:
        found = memory.search(SearchRequest(QUESTION, explain=True))
        assert [hit.path for hit in found.results] == wanted and len(set(wanted)) == 3
        assert all("; reranker " in (hit.why or "") for hit in found.results)
        assert [hit.score for hit in found.results] == sorted((hit.score for hit in found.results), reverse=True)
        assert found.warning is None
        # It chooses among more hits than are asked for.
        assert order(memory, max_results=1) == wanted[:1]
        assert set(order(memory, budget=500)) == set(wanted)


def test_what_it_is_not_ready_for_keeps_its_order_and_says_so(
    notes: Notes, model: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "RERANK_SECONDS", 60.0)
    with open_memory(notes) as memory:
        wanted = order(memory)
    for file, why in (
        (notes.root / "none.gguf", "there is no file"),
        (tiny_gguf, "is no reranker"),
        (notes.write("text.gguf", "plain text"), "is no reranker"),
    ):
        with open_memory(notes, search__reranker=str(file)) as memory:
            found = memory.search(SearchRequest(QUESTION))
            assert [hit.path for hit in found.results] == wanted
            assert "ranked without the reranker: " in (found.warning or "") and why in (found.warning or "")
    monkeypatch.setattr(service, "RERANK_SECONDS", 0.01)
    with open_memory(notes, search__reranker=str(model)) as memory:
        found = memory.search(SearchRequest(QUESTION))  # it is still being loaded, or was just then
        assert [hit.path for hit in found.results] == wanted
        said = found.warning or ""
        assert "did not answer within" in said or "0 of 3 texts in time" in said


def test_doctor_tries_it(notes: Notes, model: Path, tiny_gguf: Path) -> None:
    assert reranker_checks(Settings()) == []
    for file, well in ((model, True), (tiny_gguf, False), (notes.root / "none.gguf", False)):
        [check] = reranker_checks(Settings().with_values({"search.reranker": str(file)}))
        assert (check.name, check.ok) == ("reranker", well)
        assert well or check.fix


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-9, 9, width=32), st.booleans()), max_size=8))
def test_any_order_is_told_with_scores_that_never_rise(rows: list[tuple[float, float, bool]]) -> None:
    made = sorted((round(score, 4) for score, _, _ in rows), reverse=True)
    hits = [
        replace(_hit(at), score=score, archived=archived)
        for at, (score, (_, _, archived)) in enumerate(zip(made, rows, strict=True))
    ]
    found = reordered(hits, np.array([given for _, given, _ in rows], np.float32))
    assert sorted(hit.path for hit in found) == sorted(hit.path for hit in hits)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert [hit.archived for hit in found] == sorted(hit.archived for hit in hits)


def _hit(at: int) -> SearchHit:
    day = date(2026, 3, 1)
    return SearchHit(f"memory/{at}.md", 1, 1, 0.5, "text", "", "", "", day, Kind.NOTE, Grain.WORKING, Origin.AGENT)
