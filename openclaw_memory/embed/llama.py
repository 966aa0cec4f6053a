"""Embeddings by llama.cpp, for encoders (BERT) and for decoders with last-token pooling (Qwen3).

Texts are sorted by length and packed into small batches: attention runs over the whole batch, so on
a CPU a large batch costs more than it saves.  The lock is held for one batch at a time, so that a
query does not wait for a background ingest.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import ModelError
from .base import Progress, Vectors
from .llama_session import MAX_SEQUENCES, Session, Tokens
from .registry import Pooling

# Texts tokenised while the lock is held once.
_TOKENIZE_STEP = 256


def available_cores() -> int:
    """CPU cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class LlamaCppEmbedder:
    """Embeds texts with a GGUF model in this process.

    ``model`` is the identity of the vectors; ``dimensions``, when given, is what the file must have.
    A text, prefix included, is cut to ``max_tokens`` of the model's own tokens, its closing token
    kept.  ``pooling`` overrides what the file says.  The model is loaded on first use or by
    :meth:`load`; every method is safe to call from several threads.
    """

    provider = "llama.cpp"

    def __init__(
        self,
        path: Path | str,
        *,
        model: str,
        threads: int = 1,
        gpu: bool = True,
        batch_tokens: int = 192,
        max_tokens: int = 256,
        dimensions: int | None = None,
        pooling: Pooling | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        self.path = Path(path)
        self.model = model
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        self._gpu = gpu
        self._batch_tokens = batch_tokens
        self._max_tokens = max_tokens
        self._pooling = pooling
        self._dimensions = dimensions
        self._threads = max(1, threads)
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._closed = False
        self._release: weakref.finalize[[Session, threading.Lock], LlamaCppEmbedder] | None = None

    @property
    def dimensions(self) -> int:
        """Length of a vector; loads the model unless it was given."""
        return self._dimensions or self.load()._dimensions or 0

    @property
    def context(self) -> int:
        """Model tokens that a text is cut to, opening and closing tokens included; loads the model."""
        with self._lock:
            return self._loaded().max_tokens

    @property
    def threads(self) -> int:
        """CPU threads of the next batch; may be set at any time."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        with self._lock:
            self._threads = max(1, count)
            if self._session is not None:
                self._session.set_threads(self._threads)

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._session is not None

    def load(self) -> LlamaCppEmbedder:
        """Load the model now; raises :class:`~openclaw_memory.errors.ModelError` if that fails."""
        with self._lock:
            self._loaded()
        return self

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts: ``float32[n, d]``, unit rows, in the order of ``texts``."""
        return self._embed([self.document_prefix + text for text in texts], progress)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: ``float32[n, d]``, unit rows, in the order of ``texts``."""
        return self._embed([self.query_prefix + text for text in texts], None)

    def close(self) -> None:
        """Release the model; calling twice is harmless, embedding afterwards is an error."""
        with self._lock:
            self._closed = True
            if self._release is not None:
                self._release.detach()
            if self._session is not None:
                self._session.free()
                self._session = None

    def _loaded(self) -> Session:
        if self._closed:
            raise ModelError(f"{self.model}: the embedder was closed; open the memory again")
        if self._session is None:
            session = Session(
                self.path,
                threads=self._threads,
                gpu=self._gpu,
                batch_tokens=self._batch_tokens,
                max_tokens=self._max_tokens,
                pooling=self._pooling,
            )
            if self._dimensions and session.dimensions != self._dimensions:
                found = session.dimensions
                session.free()
                raise ModelError(
                    f"{self.path}: makes vectors of {found} dimensions where {self.model} has "
                    f"{self._dimensions}; pull the model again, or name the file itself in embedding.model"
                )
            self._dimensions = session.dimensions
            self._session = session
            # Runs at exit too: some GPU back ends abort when their buffers outlive the process's own exit.
            self._release = weakref.finalize(self, _free_when_idle, session, self._lock)
        return self._session

    def _embed(self, texts: Sequence[str], progress: Progress | None) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        tokens: list[Tokens] = []
        for start in range(0, len(texts), _TOKENIZE_STEP):
            with self._lock:
                session = self._loaded()
                tokens += [session.tokenize(text) for text in texts[start : start + _TOKENIZE_STEP]]
        out = np.empty((len(texts), session.dimensions), np.float32)
        for group in _packed([len(t) for t in tokens], session.batch_tokens):
            with self._lock:
                out[group] = self._loaded().run([tokens[i] for i in group])
            if progress is not None:
                progress(len(group))
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            bad = int(np.flatnonzero(~np.isfinite(norms[:, 0]) | (norms[:, 0] == 0))[0])
            raise ModelError(
                f"{self.model}: the vector of text {bad + 1} of {len(texts)} is not a finite number; "
                "pull the model again, or set embedding.gpu to false if a GPU computes"
            )
        out /= norms
        return out


def _packed(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Positions of texts in groups of similar length, each of at most ``budget`` tokens."""
    groups: list[list[int]] = []
    size = budget
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or size + lengths[i] > budget or len(groups[-1]) == MAX_SEQUENCES:
            groups.append([])
            size = 0
        groups[-1].append(i)
        size += lengths[i]
    return groups


def _free_when_idle(session: Session, lock: threading.Lock) -> None:
    # At exit a daemon thread may still be inside a batch; then the process's end frees the memory.
    if lock.acquire(timeout=2):
        try:
            session.free()
        finally:
            lock.release()
