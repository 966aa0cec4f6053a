"""The session of llama-cpp-python: a model loaded through llama.cpp's C API.

Texts are sorted by length and packed into small batches: attention runs over the whole batch, so on a CPU a large
batch costs more than it saves.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import EngineError, ModelError
from .bindings import CHARS_PER_TOKEN, COMPILED, MAX_SEQUENCES, ModelOptions, pack
from .gguf_file import check_gguf, pooling

# C keeps the pointer for the life of the process, so the callback must never be collected.
_log_callback: Any = None
_log_errors: deque[str] = deque(maxlen=8)


def _llama() -> Any:
    """Return the C API of ``llama_cpp``, with its log kept off stderr."""
    global _log_callback
    try:
        c = _c_api()
    except (ImportError, OSError, RuntimeError) as error:
        raise EngineError(f"{COMPILED} cannot be imported ({error})") from error
    if _log_callback is None:

        def keep_errors(level: int, text: bytes | None, _data: Any) -> None:
            if level in (3, 4) and text:  # GGML_LOG_LEVEL_WARN and GGML_LOG_LEVEL_ERROR
                _log_errors.append(text.decode("utf-8", "replace").strip())

        _log_callback = c.llama_log_callback(keep_errors)
        c.llama_log_set(_log_callback, ctypes.c_void_p(0))
        c.llama_backend_init()
    return c


def _c_api() -> Any:
    """Import the C API alone: the package around it loads chat templates and numpy, which takes 16 MB."""
    name = COMPILED.package
    spec = find_spec(name)
    if name not in sys.modules and spec is not None and spec.submodule_search_locations:
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = package
        try:
            return import_module(f"{name}.{name}")
        except ImportError:
            del sys.modules[name]  # another layout: import all of it
    return import_module(name)


def _last_error() -> str:
    return f" (llama.cpp: {_log_errors[-1]})" if _log_errors else ""


class EngineSession:
    """A loaded model with its context and one batch; for one thread at a time."""

    def __init__(self, options: ModelOptions) -> None:
        path = Path(options.path)
        check_gguf(path)
        self._c = c = _llama()
        self._path = path
        _log_errors.clear()
        self.gpu = bool(c.llama_supports_gpu_offload())
        on_gpu = options.gpu and self.gpu
        params = c.llama_model_default_params()
        params.n_gpu_layers = -1 if on_gpu else 0
        params.use_extra_bufts = options.repacks(c.llama_print_system_info().decode())
        self._model = c.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            raise ModelError(
                f"{path}: llama.cpp cannot load this model{_last_error()}; pull it again, "
                "or upgrade llama-cpp-python if the model is newer than it"
            )
        self._vocabulary = c.llama_model_get_vocab(self._model)
        self.dimensions = int(c.llama_model_n_embd_out(self._model))
        self.max_tokens = max(8, min(options.max_tokens, int(c.llama_model_n_ctx_train(self._model))))
        self.batch_tokens = options.batch_tokens
        # All of a sequence must be in one micro-batch; more would only reserve memory, because
        # llama.cpp allocates n_batch times the vocabulary.
        self._size = max(self.batch_tokens, self.max_tokens)
        self._context = self._open_context(options, on_gpu)
        self._memory = c.llama_get_memory(self._context)
        self._batch = c.llama_batch_init(self._size, 0, 1)
        for i in range(self._size):
            self._batch.n_seq_id[i] = self._batch.logits[i] = 1

    def _open_context(self, options: ModelOptions, on_gpu: bool) -> Any:
        c = self._c
        params = c.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._size
        params.n_seq_max = MAX_SEQUENCES
        params.kv_unified = params.embeddings = params.no_perf = True
        params.n_threads = params.n_threads_batch = options.threads
        params.pooling_type = getattr(c, f"LLAMA_POOLING_TYPE_{options.pooling or pooling(self._path)}")
        params.offload_kqv = params.op_offload = on_gpu
        # The CPU can always do flash attention and is slower without; a GPU may lack it for some shapes.
        auto = c.LLAMA_FLASH_ATTN_TYPE_AUTO
        params.flash_attn_type = auto if on_gpu else c.LLAMA_FLASH_ATTN_TYPE_ENABLED
        context = c.llama_init_from_model(self._model, params)
        if not context and not on_gpu:
            params.flash_attn_type = auto
            context = c.llama_init_from_model(self._model, params)
        if not context:
            raise ModelError(
                f"{self._path}: llama.cpp cannot make room for {self._size} tokens{_last_error()}; free memory, "
                "or choose a smaller model"
            )
        return context

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the pooled vector of each text: *d* values of float32, not normalised."""
        tokens = [self.tokenize(text) for text in texts]
        rows = [b""] * len(tokens)
        for group in pack([len(t) for t in tokens], self.batch_tokens):
            for i, row in zip(group, self._run([tokens[i] for i in group]), strict=True):
                rows[i] = row
        return rows

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of ``text``, at least one and at most ``max_tokens``; the closing one is kept."""
        tokens = self._all_tokens(text) or self._empty_text()
        cut = tokens[: self.max_tokens]
        if len(cut) < len(tokens) and self._c.llama_vocab_is_control(self._vocabulary, tokens[-1]):
            cut[-1] = tokens[-1]
        return cut

    def _all_tokens(self, text: str) -> list[int]:
        """Return the tokens of ``text`` with those that the model opens and closes a text with."""
        data = text[: self.max_tokens * CHARS_PER_TOKEN].encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (self._c.llama_token * room)()
        count = self._c.llama_tokenize(self._vocabulary, data, len(data), buffer, room, True, False)
        if count < 0:
            buffer = (self._c.llama_token * -count)()
            count = self._c.llama_tokenize(self._vocabulary, data, len(data), buffer, -count, True, False)
        return list(buffer[: max(0, count)])

    def _empty_text(self) -> list[int]:
        c = self._c
        ends = (c.llama_vocab_eos(self._vocabulary), c.llama_vocab_bos(self._vocabulary), 0)
        return [next(t for t in ends if t >= 0)]

    def _run(self, group: Sequence[list[int]]) -> list[bytes]:
        """Return the pooled vectors of one batch of token lists."""
        c, batch, n = self._c, self._batch, 0
        for number, tokens in enumerate(group):
            for position, token in enumerate(tokens):
                batch.token[n], batch.pos[n], batch.seq_id[n][0] = token, position, number
                n += 1
        batch.n_tokens = n
        if self._memory:
            c.llama_memory_clear(self._memory, True)
            code = c.llama_decode(self._context, batch)
        else:
            code = c.llama_encode(self._context, batch)
        if code:
            raise ModelError(
                f"{self._path}: llama.cpp failed on a batch of {n} tokens with code {code}{_last_error()}; "
                "choose a smaller model"
            )
        rows = []
        for i in range(len(group)):
            pointer = c.llama_get_embeddings_seq(self._context, i)
            if not pointer:
                raise ModelError(f"{self._path}: llama.cpp gave no vector{_last_error()}; choose another model")
            rows.append(ctypes.string_at(pointer, self.dimensions * ctypes.sizeof(ctypes.c_float)))
        return rows
