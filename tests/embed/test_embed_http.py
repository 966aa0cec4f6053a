"""The HTTP embedder against a real server on this machine: batches, retries, clear errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_server import Handler, local_server

from openclaw_memory.embed.http import HttpEmbedder
from openclaw_memory.errors import ModelError
from openclaw_memory.model.embedder import Embedder


class Endpoint:
    """What the server answers (``answers`` first, then embeddings) and what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.dimensions = 8
        self.delay = 0.0
        self.url = ""

    def embeddings(self, body: dict[str, Any]) -> bytes:
        size = body.get("dimensions", self.dimensions)
        rows = []
        for i, text in enumerate(body["input"]):
            seed = np.random.default_rng([ord(c) for c in text][:50])
            rows.append({"index": i, "embedding": (5 * seed.normal(size=size)).tolist()})
        # The protocol promises no order: only "index" says which text a row belongs to.
        return json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()

    class Answering(Handler):
        def respond(self) -> None:
            body = json.loads(self.body())
            state.requests.append({"path": self.path, **body})
            state.keys.append(self.headers.get("authorization"))
            time.sleep(state.delay)
            status, headers, content = state.answers.pop(0) if state.answers else (200, {}, b"")
            self.answer(status, content or state.embeddings(body), headers)

    with local_server(Answering) as address:
        state.url = f"{address}/v1"
        yield state


@pytest.fixture
def slept() -> list[float]:
    """The seconds between attempts, which no test waits."""
    return []


@pytest.fixture
def make(endpoint: Endpoint, slept: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    made: list[HttpEmbedder] = []

    def build(**options: Any) -> HttpEmbedder:
        defaults = {"folder": tmp_path, "sleep": slept.append}
        made.append(HttpEmbedder(options.pop("url", endpoint.url), "small", **{**defaults, **options}))
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()


def test_rows_are_unit_and_in_order(endpoint: Endpoint, make: Any) -> None:
    embedder = make()
    assert isinstance(embedder, Embedder)
    rows = embedder.embed_documents(["one", "two", "three"])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.allclose(rows[1], embedder.embed_query(["two"])[0], atol=1e-6)
    assert embedder.dimensions == 8
    assert embedder.model == f"http:{endpoint.url.split('/')[2]}/small"
    assert endpoint.requests[0]["path"] == "/v1/embeddings"
    assert endpoint.requests[0]["model"] == "small"
    assert endpoint.keys[0] == "Bearer sk-secret"


def test_batches_hold_64_texts_or_8000_tokens(endpoint: Endpoint, make: Any) -> None:
    seen: list[int] = []
    make().embed_documents(["short"] * 150, seen.append)
    assert [len(r["input"]) for r in endpoint.requests] == [64, 64, 22] == seen
    endpoint.requests.clear()
    make(max_tokens=5000).embed_documents(["x" * 16_000] * 3)
    assert [len(r["input"]) for r in endpoint.requests] == [2, 1]


def test_awkward_texts_are_sent_as_valid_json(endpoint: Endpoint, make: Any) -> None:
    make(max_tokens=10).embed_documents(["", "a\0b", "\ud800", "x" * 1_000_000])
    assert endpoint.requests[0]["input"] == ["-", "a b", "?", "x" * 40]


def test_prefixes_and_dimensions_are_sent(endpoint: Endpoint, make: Any) -> None:
    embedder = make(dimensions=4, query_prefix="q: ", document_prefix="d: ")
    assert embedder.dimensions == 4
    assert not endpoint.requests
    assert embedder.embed_query(["x"]).shape == (1, 4)
    embedder.embed_documents(["x"])
    assert [r["input"] for r in endpoint.requests] == [["q: x"], ["d: x"]]
    assert endpoint.requests[0]["dimensions"] == 4


def test_dimensions_are_asked_for_once_and_remembered(endpoint: Endpoint, make: Any, tmp_path: Path) -> None:
    assert make().dimensions == 8
    assert make().dimensions == 8
    assert len(endpoint.requests) == 1
    (remembered,) = tmp_path.iterdir()
    for broken in ("[1, 2", "[]"):
        remembered.write_text(broken)
        assert make().dimensions == 8
    assert len(endpoint.requests) == 3
    (tmp_path / "a file").write_text("")
    assert make(folder=tmp_path / "a file").dimensions == 8


def test_retry_honours_retry_after(endpoint: Endpoint, make: Any, slept: list[float]) -> None:
    endpoint.answers = [(429, {"Retry-After": "7"}, b"{}"), (503, {}, b"{}")]
    assert make().embed_documents(["x"]).shape == (1, 8)
    assert slept == [7, 1.0]


def test_retries_are_bounded(endpoint: Endpoint, make: Any, slept: list[float]) -> None:
    endpoint.answers = [(500, {}, b'{"error": {"message": "on fire"}}')] * 50
    with pytest.raises(ModelError, match="answered 500: on fire; gave up after 9 attempts"):
        make().embed_documents(["x"])
    assert sum(slept) <= 90 and len(endpoint.requests) == 9
    endpoint.answers = [(429, {"Retry-After": "3600"}, b"{}")]
    with pytest.raises(ModelError, match="429"):
        make().embed_documents(["x"])
    assert 3600 not in slept


def test_a_query_counts_the_time_that_the_endpoint_takes(endpoint: Endpoint, make: Any, slept: list[float]) -> None:
    endpoint.delay = 1.6
    endpoint.answers = [(503, {}, b"{}")] * 50
    with pytest.raises(ModelError, match=r"ReadTimeout.*gave up after [12] attempts"):
        make().embed_query(["x"])
    assert sum(slept) <= 0.5 and len(endpoint.requests) <= 2


@pytest.mark.parametrize(
    ("status", "answer", "options", "words"),
    [
        (401, '{"error": {"message": "bad key"}}', {}, "refused the key in OPENAI_API_KEY"),
        (200, "<html>", {}, "did not answer with JSON"),
        (200, '{"ok": true}', {}, "did not answer with embeddings"),
        (200, '{"data": []}', {}, "0 vectors for 1 texts"),
        (200, '{"data": [{"index": 0, "embedding": [1, 2, 3]}]}', {"dimensions": 4}, "3 dimensions where 4 were expected"),
        (0, "", {"api_key_env": "NO_KEY"}, "NO_KEY is not set"),
        (0, "", {"url": "http://127.0.0.1:1/v1"}, "cannot be reached"),
        (0, "", {"url": "localhost:8080"}, "not an http address"),
        (0, "", {"url": "http://me:pass@127.0.0.1/v1"}, "holds a password"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do_and_keep_the_key_secret(
    endpoint: Endpoint, make: Any, status: int, answer: str, options: dict[str, Any], words: str
) -> None:
    endpoint.answers = [(status, {}, answer.encode())]
    with pytest.raises(ModelError, match=words) as refused:
        make(**options).embed_query(["x"])
    assert "sk-secret" not in str(refused.value)
    assert len(endpoint.requests) == bool(status)


def test_an_endpoint_without_keys(endpoint: Endpoint, make: Any) -> None:
    make(api_key_env="").embed_query(["x"])
    assert endpoint.keys == [None]


def test_closed_is_closed(make: Any) -> None:
    embedder = make()
    embedder.close()
    embedder.close()
    with pytest.raises(ModelError, match="was closed"):
        embedder.embed_query(["x"])
