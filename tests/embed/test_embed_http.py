"""The HTTP embedder against a real server on this machine: batches, limits, retries, clear errors."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
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


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.time = datetime(2024, 5, 1, 23, 0, tzinfo=UTC)
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(endpoint: Endpoint, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    made: list[HttpEmbedder] = []

    def build(**options: Any) -> HttpEmbedder:
        defaults = {"usage_dir": tmp_path, "sleep": clock.sleep, "now": lambda: clock.time}
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


def test_dimensions_are_asked_for_once_and_remembered(endpoint: Endpoint, make: Any) -> None:
    assert make().dimensions == 8
    assert make().dimensions == 8
    assert len(endpoint.requests) == 1


def test_retry_honours_retry_after(endpoint: Endpoint, make: Any, clock: Clock) -> None:
    endpoint.answers = [(429, {"Retry-After": "7"}, b"{}"), (503, {}, b"{}")]
    assert make().embed_documents(["x"]).shape == (1, 8)
    assert clock.slept == [7, 1.0]


def test_retries_are_bounded(endpoint: Endpoint, make: Any, clock: Clock) -> None:
    endpoint.answers = [(500, {}, b'{"error": {"message": "on fire"}}')] * 50
    with pytest.raises(ModelError, match="answered 500: on fire; gave up after 9 attempts"):
        make().embed_documents(["x"])
    assert sum(clock.slept) <= 90 and len(endpoint.requests) == 9
    endpoint.answers = [(429, {"Retry-After": "3600"}, b"{}")]
    with pytest.raises(ModelError, match="429"):
        make().embed_documents(["x"])
    assert 3600 not in clock.slept


def test_requests_per_minute_are_kept(endpoint: Endpoint, make: Any, clock: Clock) -> None:
    embedder = make(requests_per_minute=2)
    for _ in range(2):
        embedder.embed_documents(["x"])
    assert clock.slept == []
    with pytest.raises(ModelError, match="2 requests in the last minute"):
        embedder.embed_query(["x"])
    embedder.embed_documents(["x"])
    assert clock.slept == [60]


def test_day_limit_holds_across_embedders_and_ends_with_the_utc_day(
    endpoint: Endpoint, make: Any, clock: Clock
) -> None:
    make(tokens_per_day=10).embed_documents(["x" * 32])
    other = make(tokens_per_day=10)
    assert (other.usage()["tokens"], other.usage()["requests"], other.usage()["date"]) == (8, 1, "2024-05-01")
    with pytest.raises(ModelError, match="day limit reached: 8 of 10 tokens"):
        other.embed_documents(["x" * 12])
    assert len(endpoint.requests) == 1
    clock.time += timedelta(hours=1)
    assert other.usage()["tokens"] == 0
    other.embed_documents(["x" * 12])
    assert other.usage()["tokens"] == 3


def test_what_was_sent_counts_whatever_the_answer_is(endpoint: Endpoint, make: Any) -> None:
    endpoint.answers = [(400, {}, b'{"error": "bad input"}'), (503, {}, b"{}"), (503, {}, b"{}")]
    embedder = make()
    with pytest.raises(ModelError, match="400: bad input"):
        embedder.embed_query(["x"])
    assert (embedder.usage()["tokens"], embedder.usage()["requests"]) == (1, 1)
    embedder.embed_query(["x" * 8])  # the third attempt succeeds
    assert (embedder.usage()["tokens"], embedder.usage()["requests"]) == (7, 4)
    assert len(endpoint.requests) == 4


def test_a_retry_does_not_go_beyond_the_limit_of_the_day(endpoint: Endpoint, make: Any) -> None:
    endpoint.answers = [(503, {}, b"{}")] * 50
    with pytest.raises(ModelError, match="day limit reached: 2 of 3 tokens"):
        make(tokens_per_day=3).embed_documents(["x" * 8])
    assert len(endpoint.requests) == 1


def test_what_was_not_sent_costs_nothing(make: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    embedder = make(url=f"http://127.0.0.1:{free}/v1")
    with pytest.raises(ModelError, match="cannot be reached"):
        embedder.embed_query(["x"])
    assert (embedder.usage()["tokens"], embedder.usage()["requests"]) == (0, 0)


def test_a_query_counts_the_time_that_the_endpoint_takes(endpoint: Endpoint, make: Any, clock: Clock) -> None:
    endpoint.delay = 1.6
    endpoint.answers = [(503, {}, b"{}")] * 50
    with pytest.raises(ModelError, match=r"ReadTimeout.*gave up after [12] attempts"):
        make().embed_query(["x"])
    assert sum(clock.slept) <= 0.5 and len(endpoint.requests) <= 2


def test_usage_survives_parallel_calls_and_a_broken_file(make: Any, tmp_path: Path) -> None:
    embedders = [make(requests_per_minute=0) for _ in range(4)]
    threads = [threading.Thread(target=lambda e=e: [e.embed_documents(["four"]) for _ in range(5)]) for e in embedders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (embedders[0].usage()["tokens"], embedders[0].usage()["requests"]) == (20, 20)
    (tmp_path / "http-usage.json").write_text("[1, 2")
    assert embedders[0].usage()["tokens"] == 0
    embedders[0].embed_documents(["four"])
    assert embedders[0].usage()["tokens"] == 1
    assert not list(tmp_path.glob("*.tmp"))


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


def test_where_the_usage_cannot_be_written_nothing_is_sent(endpoint: Endpoint, make: Any, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    with pytest.raises(ModelError, match="the day's usage cannot be written"):
        make(usage_dir=tmp_path / "a file").embed_query(["x"])
    assert not endpoint.requests
