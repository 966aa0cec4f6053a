"""The session of xllamacpp: llama.cpp's own server object, prebuilt, called in this process.

The object also listens and takes over the process's signals, so only the worker creates it; it listens on a socket
whose name is deleted at once, where the system has such sockets, and refuses requests without a random key.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import EngineError, ModelError
from .bindings import CHARS_PER_TOKEN, PREBUILT, ModelOptions
from .gguf_file import check_gguf, pooling


class EngineSession:
    """A loaded model; for one thread at a time."""

    def __init__(self, options: ModelOptions) -> None:
        path = Path(options.path)
        check_gguf(path)
        try:
            import xllamacpp as x
        except (ImportError, OSError, RuntimeError) as error:
            raise EngineError(f"{PREBUILT} cannot be imported ({error})") from error
        self._x: Any = x
        kinds = x.ggml_backend_dev_type
        accelerators = (kinds.GGML_BACKEND_DEVICE_TYPE_GPU, kinds.GGML_BACKEND_DEVICE_TYPE_IGPU)
        self.gpu = any(device["type"] in accelerators for device in x.get_device_info())
        self.max_tokens = max(8, min(options.max_tokens, options.context or options.max_tokens))
        self._options = options
        self._pooling = getattr(x.llama_pooling_type, f"LLAMA_POOLING_TYPE_{options.pooling or pooling(path)}")
        self._server = self._open()
        self.dimensions = len(self._request(["a"])[0]) // 4

    def _open(self) -> Any:
        x, options = self._x, self._options
        params = x.CommonParams()
        params.model.path = options.path
        params.embedding = True
        params.embd_normalize = -1
        params.pooling_type = self._pooling
        size = max(options.batch_tokens, self.max_tokens)
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_parallel = 1  # else the vector of a text depends on those beside it
        params.n_threads_http = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
        params.n_gpu_layers = -1 if options.gpu and self.gpu else 0
        params.no_extra_bufts = not options.repacks(x.get_system_info())
        params.warmup = params.fit_params = params.ui = params.endpoint_slots = False
        params.cache_ram_mib = 0
        params.verbosity = -1
        params.api_keys = [secrets.token_hex(16)]
        folder = tempfile.mkdtemp(prefix="ocm-")
        try:
            socket = os.path.join(folder, "s.sock")
            if sys.platform != "win32" and len(socket) <= 100:  # the limit of some systems
                params.hostnames = [socket]
            return x.Server(params)
        except RuntimeError as error:
            raise ModelError(
                f"{options.path}: llama.cpp cannot load this model ({error}); pull it again, "
                "or upgrade xllamacpp if the model is newer than it"
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the pooled vector of each text: *d* values of float32, not normalised."""
        plain = [_break_control_tokens(text[: self.max_tokens * CHARS_PER_TOKEN]) for text in texts]
        try:
            return self._request(plain)
        except _TooLongError:
            return [self._embed_beginning(text) for text in plain]

    def _embed_beginning(self, text: str) -> bytes:
        """Return the vector of the longest beginning of ``text`` that is known to fit."""
        while True:
            try:
                return self._request([text])[0]
            except _TooLongError as error:
                if error.limit:
                    self.max_tokens = min(self.max_tokens, error.limit)
                kept = int(len(text) * self.max_tokens / error.tokens)
                text = text[: max(len(text) > 1, min(kept, len(text) - 1))]

    def _request(self, texts: Sequence[str]) -> list[bytes]:
        request = json.dumps({"input": list(texts), "encoding_format": "base64"})
        try:
            answer = json.loads(self._server.handle_embeddings(request))
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self._options.path}: llama.cpp failed ({error}); choose another model") from error
        if "data" not in answer:
            failure = answer.get("error") or {}
            message = str(failure.get("message", answer))
            # The server names the length of a text that it refuses only in words.
            if refused := re.search(r"\((\d+) tokens\) (?:is too large|is larger|exceeds)", message):
                raise _TooLongError(int(refused[1]), int(failure.get("n_ctx") or 0))
            raise ModelError(f"{self._options.path}: llama.cpp failed: {message}; choose another model")
        rows = sorted(answer["data"], key=lambda row: int(row["index"]))
        return [base64.b64decode(row["embedding"]) for row in rows]


class _TooLongError(Exception):
    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(tokens)
        self.tokens = tokens
        self.limit = limit


def _break_control_tokens(text: str) -> str:
    """Put a blank into the spelling of control tokens, so that the server reads text; drop what has no UTF-8."""
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"(?<=[\[<])(?=(?:CLS|SEP|PAD|UNK|MASK)\]|[|/]?\w+[|]?>)", " ", encodable)
