"""When and with what texts are embedded: eager, lazy, in the background, after a change of the model, not at all."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import CountingEmbedder, HashingEmbedder, Notes, ingested, open_memory
from local_server import Handler, local_server
from tiny_gguf import make_tiny_gguf

from openclaw_memory import Memory
from openclaw_memory.embed.manager import model_of
from openclaw_memory.embed.vectorizer import embed_pending
from openclaw_memory.errors import ModelError
from openclaw_memory.ingest import pipeline
from openclaw_memory.search import answers

#: A file each, so that none is another's neighbour.
LINES = ("- tents leak", "- stoves smoke", "- maps tear", "- boots rub")


@pytest.fixture
def notes(notes: Notes) -> Notes:
    for line in LINES:
        notes.write(f"memory/{line[2:]}.md", line)
    return notes


def states(memory: Memory) -> tuple[int, int, int, int]:
    vectors = memory.status().vectors
    return vectors["ready"], vectors["pending"], vectors["failed"], vectors["outdated"]


# -- eager, lazy, background ------------------------------------------------------------------------


def test_lazy_embeds_the_candidates_of_a_search_and_no_more(notes: Notes, embedder: CountingEmbedder) -> None:
    with open_memory(notes, embedder, ingest__embed="lazy") as memory:
        report = memory.ingest()
        assert (report.embedded, report.pending, embedder.taken()) == (0, 4, [])
        result = memory.search("tents")
        assert embedder.taken() == ["- tents leak"]
        assert result.results[0].vector_score is not None
        assert result.warning is not None and "1 of 4 units are embedded" in result.warning
        memory.search("tents")
        assert embedder.taken() == []


def test_a_lazy_ingest_is_made_up_for_by_searches_whatever_the_setting(
    notes: Notes, embedder: CountingEmbedder
) -> None:
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        assert memory.search("stoves").results[0].vector_score is not None
        assert embedder.taken() == ["- stoves smoke"]
        assert (memory.ingest().embedded, states(memory)) == (3, (4, 0, 0, 0))


def test_a_question_without_time_left_embeds_nothing(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, late = time.monotonic, [0.0]
    found = answers.keyword_candidates

    def slow(*given: Any) -> Any:
        late[0] += 60
        return found(*given)

    monkeypatch.setattr(time, "monotonic", lambda: clock() + late[0])
    monkeypatch.setattr(answers, "keyword_candidates", slow)
    with ingested(notes, embedder, ingest__embed="lazy") as memory:
        assert memory.search("tents", deadline=30).results and late == [60]
        assert embedder.taken() == []
        assert memory.search("tents").results and embedder.taken() == ["- tents leak"]


def test_the_index_is_read_while_the_model_of_the_first_question_loads(
    notes: Notes, embedder: CountingEmbedder
) -> None:
    notes.write("MEMORY.md", "- the tent leaks\n")
    with open_memory(notes, embedder) as memory:
        memory.ingest()
    with open_memory(notes, embedder) as memory:
        embedder.gate.clear()
        asking = threading.Thread(target=memory.search, args=["tent"])
        asking.start()
        try:
            end = time.monotonic() + 20
            while (index := memory._questions._index) is None or index.keyword is None:
                assert time.monotonic() < end
                time.sleep(0.01)
        finally:
            embedder.gate.set()
            asking.join()


def test_background_embeds_while_others_go_on(notes: Notes, embedder: CountingEmbedder) -> None:
    with open_memory(notes, embedder, ingest__embed="background") as memory:
        embedder.gate.clear()
        report = memory.ingest()
        assert (report.embedded, report.pending) == (0, 4)
        assert not memory.wait_for_background(0.01)
        assert memory.search("tents", mode="keyword").results
        embedder.gate.set()
        assert memory.wait_for_background(20)
        assert states(memory) == (4, 0, 0, 0)
        assert memory.search("tents").results[0].vector_score is not None


def test_closing_stops_background_work_and_the_rest_is_done_later(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("memory/a.md", "\n".join(f"- tents {n}" for n in range(200)))
    memory = open_memory(notes, embedder, ingest__embed="background")
    embedder.gate.clear()
    memory.ingest()
    closing = threading.Thread(target=memory.close)
    closing.start()
    embedder.gate.set()
    closing.join(20)
    assert not closing.is_alive()
    with open_memory(notes, embedder) as again:
        done = states(again)[0]
        assert again.ingest().embedded == 204 - done
        assert states(again) == (204, 0, 0, 0)


def test_a_deadline_stops_embedding_between_batches_and_the_next_ingest_goes_on(
    notes: Notes, embedder: CountingEmbedder
) -> None:
    notes.write("memory/a.md", "\n".join(f"- tents {n}" for n in range(200)))
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        report = memory.ingest(deadline=0.0)
        assert report.pending == 204 - report.embedded > 0
        assert memory.ingest().embedded == report.pending
        assert states(memory) == (204, 0, 0, 0)


def test_an_interrupt_keeps_the_batches_that_are_done(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("memory/a.md", "\n".join(f"- tents {n}" for n in range(200)))

    def interrupt(stage: str, done: int, total: int) -> None:
        if stage == "embed" and done >= 64:
            raise KeyboardInterrupt

    with open_memory(notes, embedder) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.ingest(progress=interrupt)
        ready, pending, _, _ = states(memory)
        assert (ready + pending, 0 <= ready < 204) == (204, True)
        report = memory.ingest()
        assert (report.added, report.unchanged, report.embedded) == (0, 204, pending)


def test_a_first_ingest_embeds_what_it_has_read_while_it_reads_on(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_UNITS_PER_TRANSACTION", 20)
    for month in (1, 2):
        notes.write(f"memory/2026-0{month}-01.md", "\n".join(f"- month {month} line {n}" for n in range(20)))
    notes.write("MEMORY.md", "\n".join(f"- keep {n}" for n in range(20)))
    early: list[str] = []

    def wait_for_embedder(stage: str, done: int, total: int) -> None:
        end = time.monotonic() + 20
        while stage == "read" and done == total and not early and time.monotonic() < end:
            early.extend(embedder.texts)
            time.sleep(0.01)

    with open_memory(notes, embedder) as memory:
        report = memory.ingest(progress=wait_for_embedder)
        assert {text.split()[1] for text in early[:20]} == {"keep"}
        assert (report.embedded, report.pending, states(memory)) == (64, 0, (64, 0, 0, 0))
        assert len(embedder.taken()) == 64  # none twice


# -- which texts first ------------------------------------------------------------------------------


def test_curated_files_come_first_then_the_newest_days(notes: Notes, embedder: CountingEmbedder) -> None:
    for day in ("2026-01-05", "2024-06-30", "2026-03-02", "2025-12-31"):
        notes.write(f"memory/{day}.md", "\n".join(f"- {day} line {n}" for n in range(40)))
    notes.write("USER.md", "\n".join(f"- likes {n}" for n in range(10)))
    notes.write("MEMORY.md", "\n".join(f"- keep {n}" for n in range(20)))
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        embed_pending(memory.store, embedder, batch=30, limit=120)
        texts = embedder.taken()
    assert {text.split()[1] for text in texts[:30]} == {"keep", "likes"}
    assert [text for text in texts[30:] if text.startswith("- 20")][:86] == [
        *(f"- 2026-03-02 line {n}" for n in range(40)),
        *(f"- 2026-01-05 line {n}" for n in range(40)),
        *(f"- 2025-12-31 line {n}" for n in range(6)),
    ]


def test_a_changed_note_of_today_does_not_wait_for_the_rest_of_a_long_history(
    notes: Notes, embedder: CountingEmbedder
) -> None:
    notes.write("memory/2025-06-30.md", "\n".join(f"- old line {n}" for n in range(40)))
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        notes.write("memory/2030-03-02.md", "- written a moment ago")
        memory.ingest(embed="lazy")
        embed_pending(memory.store, embedder, limit=1)
        assert embedder.taken() == ["- written a moment ago"]


def test_what_a_question_asks_for_is_embedded_next_in_the_background(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "embed_query", lambda texts: HashingEmbedder.embed_documents(embedder, texts))
    notes.write("memory/2026-03-02.md", "\n".join(f"- stream {n}" for n in range(200)))
    notes.write("memory/2019-03-02.md", "- the lantern is in the shed")
    with open_memory(notes, embedder, ingest__embed="background") as memory:
        memory.store.put_noise(model_of(embedder), 0.2)
        embedder.gate.clear()
        memory.ingest()
        warning = memory.search("lantern").warning or ""
        embedder.gate.set()
        assert memory.wait_for_background(20)
        assert "0 of 205 units are embedded" in warning
        assert embedder.taken().index("- the lantern is in the shed") in range(64, 70)


def test_a_text_that_stands_in_many_places_is_embedded_once(notes: Notes, embedder: CountingEmbedder) -> None:
    for month in range(1, 7):
        notes.write(f"memory/2026-0{month}-01.md", f"- backups ran\n- line {month}\n- water the plants")
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        done, _ = embed_pending(memory.store, embedder, batch=3)
        texts = embedder.taken()
        assert done == len(LINES) + 3 * 6 and states(memory) == (done, 0, 0, 0)
        assert len(texts) == len(set(texts)) == len(LINES) + 6 + 2


# -- a change of the model --------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [64, 32])
def test_another_model_makes_vectors_outdated_and_search_goes_on(notes: Notes, dimensions: int) -> None:
    old, new = CountingEmbedder("old"), CountingEmbedder("new", dimensions)
    with open_memory(notes, old) as memory:
        memory.ingest()
    with open_memory(notes, new) as memory:
        assert states(memory) == (0, 0, 0, 4)
        result = memory.search("tents")
        assert result.results[0].snippet.startswith("- tents leak")
        assert result.model == new.model
        assert new.taken() == ["- tents leak"]  # the candidates first
        assert states(memory) == (1, 0, 0, 3)
        report = memory.ingest()
        assert (report.embedded, report.pending, report.unchanged) == (3, 0, 4)
        assert states(memory) == (4, 0, 0, 0)
    with open_memory(notes, old) as memory:
        assert states(memory) == (0, 0, 0, 4)  # one model at a time has a place in the index


def test_embedding_anew_is_resumable(notes: Notes) -> None:
    notes.write("memory/a.md", "\n".join(f"- tents {n}" for n in range(200)))
    with open_memory(notes, CountingEmbedder("old")) as memory:
        memory.ingest()
    new = CountingEmbedder("new")

    def fail(stage: str, done: int, total: int) -> None:
        new.down = stage == "embed" and done >= 64

    with open_memory(notes, new) as memory:
        report = memory.ingest(progress=fail)
        assert report.warning is not None and "not everything was embedded" in report.warning
        assert report.embedded + report.pending == 204 and report.embedded == states(memory)[0] >= 64
        new.down = False
        assert memory.ingest().embedded == report.pending
        assert len(new.taken()) == 204


# -- an index that is made anew ---------------------------------------------------------------------


def put_aside(memory: Memory) -> Path:
    """Close the memory and put its index aside, as is done where the file is damaged."""
    memory.close()
    [file] = memory.store.files()
    return file.rename(f"{file}.damaged-20260301-120000")


def test_an_index_that_is_made_anew_embeds_no_text_that_is_as_it_was(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("memory/twice.md", "- the same line\n\n- the same line\n\n- another one\n")
    with ingested(notes, embedder) as memory:
        before = {hit.snippet: hit.vector_score for hit in memory.search("tents leak").results}
    put_aside(memory)
    embedder.taken()
    notes.write("memory/twice.md", "- the same line\n\n- the same line\n\n- a new one\n")
    with open_memory(notes, embedder) as memory:
        report = memory.ingest()
        assert (report.embedded, report.pending, states(memory)) == (7, 0, (7, 0, 0, 0))
        assert embedder.taken() == ["- a new one"]
        after = {hit.snippet: hit.vector_score for hit in memory.search("tents leak").results}
        assert after["- tents leak"] == pytest.approx(before["- tents leak"], abs=1e-3)


def test_vectors_of_another_model_or_that_cannot_be_read_are_made_again(notes: Notes) -> None:
    with open_memory(notes, CountingEmbedder("old")) as memory:
        memory.ingest()
    aside, new = put_aside(memory), CountingEmbedder("new")
    with open_memory(notes, new) as memory:
        assert memory.ingest().embedded == len(new.taken()) == 4
    memory.store.files()[0].unlink()
    content = aside.read_bytes()
    aside.write_bytes(content[:20_000] + bytes(len(content) - 20_000))
    with open_memory(notes, new) as memory:
        assert memory.ingest().embedded == len(new.taken()) == 4


# -- texts and models that fail ---------------------------------------------------------------------


def test_a_text_that_cannot_be_embedded_is_marked_and_the_others_go_on(
    notes: Notes, embedder: CountingEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    embedder.bad = {"- maps tear"}
    with open_memory(notes, embedder) as memory:
        for _ in range(2):
            report = memory.ingest()
            assert (report.pending, states(memory)) == (0, (3, 0, 1, 0))
            assert report.warning == "1 unit could not be embedded; the log names them"
        assert "- maps tear" in caplog.text
        assert memory.search("maps", mode="keyword").results
        embedder.bad = set()
        assert memory.ingest().embedded == 1
        assert states(memory) == (4, 0, 0, 0)


def test_a_model_that_is_down_fails_no_text_and_no_ingest(notes: Notes, embedder: CountingEmbedder) -> None:
    embedder.down = True
    with open_memory(notes, embedder) as memory:
        report = memory.ingest()
        assert (report.added, report.embedded, report.pending) == (4, 0, 4)
        assert report.warning is not None and "the endpoint is down" in report.warning
        result = memory.search("tents")
        assert result.results and result.mode == "keyword"
        assert result.fallback is not None and "the endpoint is down" in result.fallback
        embedder.down = False
        assert memory.ingest().embedded == 4


def test_a_model_that_cannot_be_measured_is_used_all_the_same(
    notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from openclaw_memory.embed import vectorizer

    def fail(*_: Any) -> float:
        raise ModelError("the endpoint is down")

    with open_memory(notes, embedder) as memory:
        monkeypatch.setattr(vectorizer, "measure_noise", fail)
        assert memory.ingest().embedded == 4
        assert memory.search("tents").mode == "hybrid"


# -- no model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("none", "embedding.model is none"),
        ("all-minilm-l6-v2", "model pull all-minilm-l6-v2"),
        ("nosuch", "no model is called 'nosuch'"),
        ("/nowhere/x.gguf", "/nowhere/x.gguf"),
    ],
)
def test_without_a_model_keywords_answer_and_say_why(notes: Notes, model: str, words: str) -> None:
    with open_memory(notes, embedding__model=model) as memory:
        report = memory.ingest()
        assert (report.embedded, report.pending) == (0, 4)
        assert report.warning is not None and words in report.warning
        for mode in (None, "hybrid", "vector"):
            result = memory.search("tents", mode=mode)
            assert result.results[0].snippet.startswith("- tents leak")
            assert (result.provider, result.model, result.mode) == ("none", None, "keyword")
            assert result.fallback is not None and words in result.fallback
        assert memory.search("tents", mode="keyword").fallback is None
        status = memory.status()
        assert status.fallback is not None and words in status.fallback


def test_a_file_that_is_no_model_is_said_everywhere(notes: Notes, tmp_path: Path, tiny_gguf: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_gguf.read_bytes()[:-5000])
    for file in (page, cut):
        with open_memory(notes, embedding__model=str(file)) as memory:
            report = memory.ingest()
            assert report.warning is not None and str(file) in report.warning
            assert report.chunks == 4
            fallback = memory.search("tents").fallback
            assert fallback is not None and str(file) in fallback
            assert memory.status().model is None


def test_a_real_model_embeds_and_another_file_in_its_place_is_another_model(
    notes: Notes, tiny_gguf: Path, tmp_path: Path
) -> None:
    with open_memory(notes, embedding__model=str(tiny_gguf)) as memory:
        assert memory.ingest().embedded == 4
        result = memory.search("tents")
        assert result.provider == "llama.cpp" and result.model is not None and result.model.startswith("tiny@")
        assert result.results[0].vector_score is not None
    other = make_tiny_gguf(tmp_path / "tiny.gguf", "another")
    with open_memory(notes, embedding__model=str(other)) as memory:
        assert states(memory) == (0, 0, 0, 4)
        assert memory.ingest().embedded == 4


# -- an endpoint ------------------------------------------------------------------------------------


@pytest.fixture
def endpoint() -> Iterator[Any]:
    class Endpoint(Handler):
        down = False

        def respond(self) -> None:
            texts = json.loads(self.body())["input"]
            rows = [np.random.default_rng(len(text)).normal(size=8).tolist() for text in texts]
            content = {"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}
            self.answer(400 if Endpoint.down else 200, json.dumps(content).encode())

    with local_server(Endpoint) as address:
        Endpoint.url = f"{address}/v1"  # type: ignore[attr-defined]
        yield Endpoint


def test_an_endpoint_that_fails_falls_back_to_keywords_and_keeps_its_vectors(
    notes: Notes, endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    settings = {"embedding__provider": "http", "embedding__http_url": endpoint.url, "embedding__http_model": "m"}
    with open_memory(notes, **settings) as memory:
        assert memory.ingest().embedded == 4
        result = memory.search("tents")
        assert (result.provider, result.mode, result.fallback) == ("http", "hybrid", None)
        assert memory.status().http_usage is not None
        endpoint.down = True
        result = memory.search("stoves")
        assert (result.mode, len(result.results) > 0) == ("keyword", True)
        assert result.fallback is not None and result.fallback.startswith("searching by keywords: ")


def test_a_question_without_a_known_word_is_answered_by_meaning_after_a_lazy_ingest(notes: Notes) -> None:
    notes.write("MEMORY.md", "- otters hold hands\n")
    embedder = CountingEmbedder()
    with open_memory(notes, embedder) as memory:
        memory.ingest(embed="lazy")
        assert embedder.texts == []
        found = memory.search("sea mammals asleep")
        assert "- otters hold hands" in embedder.texts
        assert found.results[0].vector_score is not None
