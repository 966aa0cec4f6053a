"""Embeddings from an OpenAI-compatible endpoint, within limits per minute and per day.

This is the only module that sends text anywhere, and only when ``embedding.provider`` is ``http``.  A small file holds
the day's usage, so that all processes share the limit.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..errors import ModelError, WorkspaceError
from ..model import CHARS_PER_TOKEN
from ..model.embedder import Progress, Vectors
from ..system import atomic
from ..system.deadline import Deadline
from .bindings import pack

#: Seconds for all attempts of a request, with the wait for the limit per minute.
_SECONDS = 90.0


class HttpEmbedder:
    """Embed texts by ``POST {url}/embeddings``.

    ``api_key_env`` names the environment variable that holds the bearer key; empty means that the
    endpoint needs none.  ``dimensions`` 0 takes the endpoint's own.  ``max_tokens`` cuts longer texts
    (a token is four characters).  ``usage_dir`` holds the day's usage.  Raises
    :class:`~openclaw_memory.errors.ModelError` without a key; calls do when the endpoint cannot be reached or
    refuses, on wrong dimensions, and at the day's limit.
    """

    provider = "http"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        usage_dir: Path,
        api_key_env: str = "OPENAI_API_KEY",
        dimensions: int = 0,
        requests_per_minute: int = 60,
        tokens_per_day: int = 1_000_000,
        timeout: float = 20.0,
        max_tokens: int = 256,
        query_prefix: str = "",
        document_prefix: str = "",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"embedding.http_url: {url!r} is not an http address; set it up to and with /v1")
        if "@" in parts.netloc:
            raise ModelError("embedding.http_url holds a password; name the key's variable in http_api_key_env")
        if not model:
            raise ModelError("embedding.http_model is empty; set it to the model name of the endpoint")
        host = parts.hostname + (f":{parts.port}" if parts.port else "")
        self.model = f"http:{host}/{model}"
        self._max_tokens = max_tokens
        self._url = url.rstrip("/") + "/embeddings"
        self._name = model
        self._host = host
        self._key_env = api_key_env
        self._requested_dimensions = dimensions
        self._dimensions = dimensions
        self._per_minute = requests_per_minute
        self._per_day = tokens_per_day
        self._timeout = timeout
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._sleep = sleep
        self._now = now
        self._usage_file = usage_dir / "http-usage.json"
        self._sent: deque[float] = deque()
        self._lock = threading.Lock()
        self._client: Any = None
        self._closed = False
        self._headers()  # raises without a key

    @property
    def dimensions(self) -> int:
        """Length of a vector; asks the endpoint once if it is not known."""
        if not self._dimensions:
            self._dimensions = self._read_usage()["dimensions"].get(self.model, 0)
        if not self._dimensions:
            self._embed(["dimensions"], "query", _SECONDS, None)
        return self._dimensions

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts: ``float32[n, d]``, unit rows."""
        return self._embed(texts, "document", _SECONDS, progress)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions within a few seconds, as a host waits: ``float32[n, d]``, unit rows."""
        return self._embed(texts, "query", 3.0, None)

    def usage(self) -> dict[str, Any]:
        """Return the requests and tokens of all processes on this UTC day, and the limits (0: none)."""
        state = self._read_usage()
        del state["dimensions"]
        return {**state, "tokens_per_day": self._per_day, "requests_per_minute": self._per_minute}

    def close(self) -> None:
        """Close the connections; calling twice is harmless, embedding afterwards is an error."""
        with self._lock:
            self._closed = True
            if self._client is not None:
                self._client.close()
                self._client = None

    def _embed(self, texts: Sequence[str], kind: str, seconds: float, progress: Progress | None) -> Vectors:
        """Embed in batches, each within ``seconds``; a question is one batch."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        prepared = [self._prepare(self._prefixes[kind] + text) for text in texts]
        rows: dict[int, Vectors] = {}
        # Every known endpoint takes requests of this size.
        for group in pack([_tokens(text) for text in prepared], 8_000):
            vectors = self._request([prepared[i] for i in group], Deadline.after(seconds))
            rows.update(zip(group, vectors, strict=True))
            if progress is not None:
                progress(len(group))
        return np.stack([rows[i] for i in range(len(texts))])

    def _prepare(self, text: str) -> str:
        cut = text[: self._max_tokens * CHARS_PER_TOKEN].replace("\0", " ")
        # Lone surrogates have no JSON form in UTF-8, and endpoints refuse an empty input.
        return cut.encode("utf-8", "replace").decode("utf-8").strip() or "-"

    def _request(self, batch: Sequence[str], until: Deadline) -> Vectors:
        body: dict[str, Any] = {"model": self._name, "input": list(batch)}
        if self._requested_dimensions:
            body["dimensions"] = self._requested_dimensions
        vectors = self._vectors(self._post(body, until), len(batch))
        if not self._dimensions:
            self._dimensions = vectors.shape[1]
            with self._update_usage() as state:
                state["dimensions"][self.model] = self._dimensions
        return vectors

    def _headers(self) -> dict[str, str]:
        if not self._key_env:
            return {}
        key = os.environ.get(self._key_env, "").strip()
        if not key:
            raise ModelError(
                f"no key for {self._host}: the environment variable {self._key_env} is not set; set it, or "
                "set embedding.http_api_key_env to the right name (empty for an endpoint without keys)"
            )
        if not key.isascii() or any(c.isspace() for c in key):
            raise ModelError(f"the key in {self._key_env} holds a character that no key has; set it again")
        return {"Authorization": f"Bearer {key}"}

    def _post(self, body: Mapping[str, Any], until: Deadline) -> Any:
        import httpx

        headers = self._headers()
        tokens = sum(_tokens(text) for text in body["input"])
        attempt = 0
        while True:
            self._wait_for_turn(until)
            self._spend(tokens)
            attempt += 1
            delay = min(0.25 * 2**attempt, 20.0)
            try:
                seconds = max(0.001, until.within(self._timeout))
                response = self._http().post(self._url, json=body, headers=headers, timeout=seconds)
            except httpx.HTTPError as error:
                if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
                    self._spend(-tokens, requests=-1)  # nothing was sent
                reason = f"cannot be reached ({type(error).__name__}: {error})"
            else:
                if response.is_success:
                    return response
                reason = f"answered {response.status_code}: {_error_message(response)}"
                if response.status_code in (401, 403):
                    raise ModelError(f"{self._host} refused the key in {self._key_env or 'no variable'} ({reason})")
                if response.status_code not in (408, 409, 425, 429, 500, 502, 503, 504, 529):
                    raise ModelError(f"{self._url} {reason}; check embedding.http_url and embedding.http_model")
                with suppress(KeyError, ValueError):
                    delay = max(0.0, float(response.headers["retry-after"]))
            if attempt == 9 or delay > until.within():
                raise ModelError(
                    f"{self._url} {reason}; gave up after {attempt} attempts, try again later or set "
                    "embedding.provider to local"
                )
            self._sleep(delay)

    def _http(self) -> Any:
        import httpx

        with self._lock:
            if self._closed:
                raise ModelError(f"{self.model}: the embedder was closed; open the memory again")
            if self._client is None:
                self._client = httpx.Client()
            return self._client

    def _wait_for_turn(self, until: Deadline) -> None:
        """Wait until one more request fits into the last 60 seconds."""
        while self._per_minute:
            with self._lock:
                now = self._now().timestamp()
                while self._sent and self._sent[0] <= now - 60:
                    self._sent.popleft()
                if len(self._sent) < self._per_minute:
                    self._sent.append(now)
                    return
                delay = min(self._sent[0] + 60 - now, 60.0)
            if delay > until.within():
                raise ModelError(
                    f"{self._per_minute} requests in the last minute, which is the limit; try again in "
                    f"{math.ceil(delay)} seconds"
                )
            self._sleep(delay)

    def _vectors(self, response: Any, count: int) -> Vectors:
        try:
            answer = response.json()
        except ValueError as error:
            raise ModelError(f"{self._url} did not answer with JSON; check embedding.http_url") from error
        try:
            rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0)))
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"{self._url} did not answer with embeddings; check embedding.http_url") from error
        if vectors.ndim != 2 or len(vectors) != count:
            raise ModelError(f"{self._url} answered {len(vectors)} vectors for {count} texts; choose another model")
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise ModelError(
                f"{self._url} answered vectors of {vectors.shape[1]} dimensions where {self._dimensions} "
                "were expected; set embedding.http_dimensions to what the model makes"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise ModelError(f"{self._url} answered a vector that is not a finite number; choose another model")
        vectors /= norms
        return vectors

    # -- the usage file ---------------------------------------------------------------------------------

    def _spend(self, tokens: int, requests: int = 1) -> None:
        with self._update_usage() as state:
            if tokens > 0 and self._per_day and state["tokens"] + tokens > self._per_day:
                raise ModelError(
                    f"day limit reached: {state['tokens']:,} of {self._per_day:,} tokens were sent to "
                    f"{self._host} today; wait until 00:00 UTC"
                )
            state["tokens"] = max(0, state["tokens"] + tokens)
            state["requests"] = max(0, state["requests"] + requests)

    @contextmanager
    def _update_usage(self) -> Iterator[dict[str, Any]]:
        """Lock the day's usage for the block, and write it at the end."""
        try:
            with atomic.locked(self._usage_file):
                state = self._read_usage()
                yield state
                atomic.write_bytes(self._usage_file, json.dumps(state).encode())
        except (OSError, WorkspaceError) as error:
            raise ModelError(
                f"{self._usage_file}: the day's usage cannot be written ({error}), and nothing is sent uncounted; "
                "make the folder writable"
            ) from error

    def _read_usage(self) -> dict[str, Any]:
        today = self._now().astimezone(UTC).date().isoformat()
        state: dict[str, Any] = {"date": today, "requests": 0, "tokens": 0, "dimensions": {}}
        try:
            stored = json.loads(self._usage_file.read_text(encoding="utf-8"))
            state["dimensions"] = {str(k): int(v) for k, v in dict(stored.get("dimensions", {})).items()}
            if stored["date"] == today:
                state |= {"requests": int(stored["requests"]), "tokens": int(stored["tokens"])}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # no file yet, or an edited one: the day starts at zero
        return state


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _error_message(response: Any) -> str:
    try:
        error = response.json()["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        text = response.text
    return " ".join(text.split())[:200] or "no message"
