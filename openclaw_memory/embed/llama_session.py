"""A model loaded through llama.cpp's C API: token lists in, pooled vectors out, one thread at a time."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .base import Vectors
from .registry import Pooling

Tokens = NDArray[np.int32]

#: Sequences of one batch: llama.cpp sizes tables by it, and 192 tokens rarely hold more lines.
MAX_SEQUENCES = 64

# A token of prose is far shorter than this, so what is cut off here would not reach the model anyway,
# and the regular expressions of BPE tokenizers, which can overflow their stack, never see a megabyte.
_CHARS_PER_TOKEN = 64

_MAGIC = b"GGUF"

# C keeps the pointer for the life of the process, so the callback must never be collected.
_log_callback: Any = None
_log_errors: deque[str] = deque(maxlen=8)
_GGML_LOG_WARN, _GGML_LOG_ERROR = 3, 4


def check_gguf(path: Path) -> None:
    """Raise :class:`~openclaw_memory.errors.ModelError` unless ``path`` is a file that starts like GGUF."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror}); run 'openclaw-memory model pull' "
            "or set embedding.model to a GGUF file"
        ) from error
    if magic != _MAGIC:
        raise ModelError(f"{path}: is not a GGUF file; pull the model again, or set embedding.model to another")


def _llama() -> Any:
    """The ``llama_cpp`` module with its log kept off stderr."""
    global _log_callback
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(
            f"llama-cpp-python cannot be imported ({error}); reinstall it with 'pip install "
            "--force-reinstall llama-cpp-python', or set embedding.model to none for keywords only"
        ) from error
    if _log_callback is None:

        def keep_errors(level: int, text: bytes | None, _data: Any) -> None:
            if level in (_GGML_LOG_WARN, _GGML_LOG_ERROR) and text:
                _log_errors.append(text.decode("utf-8", "replace").strip())

        _log_callback = llama_cpp.llama_log_callback(keep_errors)
        llama_cpp.llama_log_set(_log_callback, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
    return llama_cpp


def _logged() -> str:
    return f" (llama.cpp: {_log_errors[-1]})" if _log_errors else ""


class Session:
    """A loaded model with its context and one batch; for one thread at a time."""

    def __init__(
        self,
        path: Path,
        *,
        threads: int,
        gpu: bool,
        batch_tokens: int,
        max_tokens: int,
        pooling: Pooling | None,
    ) -> None:
        check_gguf(path)
        self._c = c = _llama()
        self._path = path
        self._model: Any = None
        self._context: Any = None
        _log_errors.clear()
        on_gpu = gpu and bool(c.llama_supports_gpu_offload())
        params = c.llama_model_default_params()
        params.n_gpu_layers = -1 if on_gpu else 0
        self._model = c.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            raise ModelError(
                f"{path}: llama.cpp cannot load this model{_logged()}; pull it again, "
                "or upgrade llama-cpp-python if the model is newer than it"
            )
        try:
            self._vocabulary = c.llama_model_get_vocab(self._model)
            self.dimensions = int(c.llama_model_n_embd_out(self._model))
            self.max_tokens = max(8, min(max_tokens, int(c.llama_model_n_ctx_train(self._model))))
            self.batch_tokens = batch_tokens
            # All of a sequence must be in one micro-batch; more would only reserve memory, because
            # llama.cpp allocates n_batch times the vocabulary.
            self._size = max(batch_tokens, self.max_tokens)
            self._context = self._open_context(threads, on_gpu, pooling)
            self._memory = c.llama_get_memory(self._context)
            self._make_batch()
        except BaseException:
            self.free()
            raise

    def _open_context(self, threads: int, on_gpu: bool, pooling: Pooling | None) -> Any:
        c = self._c
        kinds = {
            None: c.LLAMA_POOLING_TYPE_UNSPECIFIED,
            "mean": c.LLAMA_POOLING_TYPE_MEAN,
            "cls": c.LLAMA_POOLING_TYPE_CLS,
            "last": c.LLAMA_POOLING_TYPE_LAST,
        }
        params = c.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._size
        params.n_seq_max = MAX_SEQUENCES
        params.kv_unified = params.embeddings = params.no_perf = True
        params.n_threads = params.n_threads_batch = threads
        params.pooling_type = kinds[pooling]
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
                f"{self._path}: llama.cpp cannot make room for {self._size} tokens{_logged()}; free memory, "
                "lower embedding.max_tokens and embedding.batch_tokens, or choose a smaller model"
            )
        kind = int(c.llama_pooling_type(context))
        if kind in (c.LLAMA_POOLING_TYPE_MEAN, c.LLAMA_POOLING_TYPE_CLS, c.LLAMA_POOLING_TYPE_LAST):
            return context
        c.llama_free(context)
        if kind == c.LLAMA_POOLING_TYPE_RANK:
            raise ModelError(f"{self._path}: is a reranker, not an embedding model; choose another")
        if pooling is not None:
            raise ModelError(f"{self._path}: does not allow {pooling} pooling; choose another model")
        # The file does not say: an encoder is averaged, a decoder's last token has seen all the others.
        return self._open_context(threads, on_gpu, "last" if self._is_decoder() else "mean")

    def _is_decoder(self) -> bool:
        value = ctypes.create_string_buffer(64)
        c, name = self._c, ctypes.create_string_buffer(64)
        c.llama_model_meta_val_str(self._model, b"general.architecture", name, 64)
        c.llama_model_meta_val_str(self._model, name.value + b".attention.causal", value, 64)
        return value.value != b"false" and "bert" not in name.value.decode("utf-8", "replace")

    def _make_batch(self) -> None:
        size = self._size
        self._token, self._position = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self._sequence = np.zeros(size, np.int32)
        # Each token names its sequences by a pointer to a list; here all the lists have length one.
        self._lists = (self._sequence.ctypes.data + 4 * np.arange(size)).astype(np.uintp)
        self._counts, self._wanted = np.ones(size, np.int32), np.ones(size, np.int8)
        self._batch = batch = self._c.llama_batch()
        for field, values in (
            ("token", self._token),
            ("pos", self._position),
            ("n_seq_id", self._counts),
            ("seq_id", self._lists),
            ("logits", self._wanted),
        ):
            kind = dict(batch._fields_)[field]
            setattr(batch, field, ctypes.cast(ctypes.c_void_p(values.ctypes.data), kind))

    def set_threads(self, count: int) -> None:
        """Use ``count`` CPU threads from the next batch on."""
        self._c.llama_set_n_threads(self._context, count, count)

    def tokenize(self, text: str) -> Tokens:
        """The model's tokens of ``text``, at least one and at most ``max_tokens``."""
        data = text[: self.max_tokens * _CHARS_PER_TOKEN].encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (self._c.llama_token * room)()
        count = self._c.llama_tokenize(self._vocabulary, data, len(data), buffer, room, True, False)
        if count < 0:
            buffer = (self._c.llama_token * -count)()
            count = self._c.llama_tokenize(self._vocabulary, data, len(data), buffer, -count, True, False)
        if count <= 0:
            return self._nothing()
        tokens: Tokens = np.frombuffer(buffer, np.int32, count)
        if count <= self.max_tokens:
            return tokens
        cut = tokens[: self.max_tokens].copy()
        if self._c.llama_vocab_is_control(self._vocabulary, int(tokens[-1])):
            cut[-1] = tokens[-1]
        return cut

    def _nothing(self) -> Tokens:
        c = self._c
        ends = (c.llama_vocab_eos(self._vocabulary), c.llama_vocab_bos(self._vocabulary), 0)
        return np.array([next(t for t in ends if t >= 0)], np.int32)

    def run(self, group: Sequence[Tokens]) -> Vectors:
        """The pooled vectors of one batch of token lists: ``float32[n, d]``, not normalised."""
        c, n = self._c, sum(map(len, group))
        self._token[:n] = np.concatenate(group)
        self._position[:n] = np.concatenate([np.arange(len(t)) for t in group])
        self._sequence[:n] = np.repeat(np.arange(len(group)), [len(t) for t in group])
        self._batch.n_tokens = n
        if self._memory:
            c.llama_memory_clear(self._memory, True)
            code = c.llama_decode(self._context, self._batch)
        else:
            code = c.llama_encode(self._context, self._batch)
        if code:
            raise ModelError(
                f"{self._path}: llama.cpp failed on a batch of {n} tokens with code {code}{_logged()}; "
                "lower embedding.batch_tokens or choose a smaller model"
            )
        rows = np.empty((len(group), self.dimensions), np.float32)
        for i in range(len(group)):
            pointer = c.llama_get_embeddings_seq(self._context, i)
            if not pointer:
                raise ModelError(f"{self._path}: llama.cpp gave no vector{_logged()}; choose another model")
            rows[i] = np.ctypeslib.as_array(pointer, (self.dimensions,))
        return rows

    def free(self) -> None:
        """Give the memory back to the system; calling twice is harmless."""
        if self._context:
            self._c.llama_free(self._context)
        if self._model:
            self._c.llama_model_free(self._model)
        self._context = self._model = None
