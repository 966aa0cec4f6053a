"""Embeddings from an OpenAI-compatible endpoint.

This is the only module that sends text anywhere, and only when ``embedding.provider`` is ``http``.  A small file holds
the length of the vectors of each model, so that nothing is sent to learn it.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..errors import ModelError
from ..model import CHARS_PER_TOKEN
from ..model.embedder import Progress, Vectors
from ..system import atomic
from ..system.deadline import Deadline
from .bindings import pack

#: Seconds for all attempts of a request.
_SECONDS = 90.0


class HttpEmbedder:
    """Embed texts by ``POST {url}/embeddings``.

    ``api_key_env`` names the environment variable that holds the bearer key; empty means that the
    endpoint needs none.  ``dimensions`` 0 takes the endpoint's own.  ``max_tokens`` cuts longer texts
    (a token is four characters).  ``folder`` holds what was learned of models.  Raises
    :class:`~openclaw_memory.errors.ModelError` without a key; calls do when the endpoint cannot be reached or
    refuses, and on wrong dimensions.
    """

    provider = "http"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        folder: Path,
        api_key_env: str = "OPENAI_API_KEY",
        dimensions: int = 0,
        timeout: float = 20.0,
        max_tokens: int = 256,
        query_prefix: str = "",
        document_prefix: str = "",
        sleep: Callable[[float], None] = time.sleep,
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
        self._timeout = timeout
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._sleep = sleep
        self._dimensions_file = folder / "http-dimensions.json"
        self._lock = threading.Lock()
        self._client: Any = None
        self._closed = False
        self._headers()  # raises without a key

    @property
    def dimensions(self) -> int:
        """Length of a vector; asks the endpoint once if it is not known."""
        if not self._dimensions:
            self._dimensions = self._known_dimensions().get(self.model, 0)
        if not self._dimensions:
            self._embed(["dimensions"], "query", _SECONDS, None)
        return self._dimensions

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts: ``float32[n, d]``, unit rows."""
        return self._embed(texts, "document", _SECONDS, progress)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions within a few seconds, as a host waits: ``float32[n, d]``, unit rows."""
        return self._embed(texts, "query", 3.0, None)

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
        for group in pack([math.ceil(len(text) / CHARS_PER_TOKEN) for text in prepared], 8_000):
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
            dimensions = {**self._known_dimensions(), self.model: self._dimensions}
            with suppress(OSError):
                atomic.write_bytes(self._dimensions_file, json.dumps(dimensions).encode())
        return vectors

    def _known_dimensions(self) -> dict[str, int]:
        """Return the length of the vectors of models by their identity."""
        with suppress(OSError, ValueError, TypeError, AttributeError):  # no file yet, or an edited one
            stored = json.loads(self._dimensions_file.read_text(encoding="utf-8"))
            return {str(model): int(dimensions) for model, dimensions in stored.items()}
        return {}

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
        attempt = 0
        while True:
            attempt += 1
            delay = min(0.25 * 2**attempt, 20.0)
            try:
                seconds = max(0.001, until.within(self._timeout))
                response = self._http().post(self._url, json=body, headers=headers, timeout=seconds)
            except httpx.HTTPError as error:
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


def _error_message(response: Any) -> str:
    try:
        error = response.json()["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        text = response.text
    return " ".join(text.split())[:200] or "no message"
