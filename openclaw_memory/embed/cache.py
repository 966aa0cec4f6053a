"""A small memory of query embeddings: agents ask the same thing more than once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from ..model.embedder import Embedder, Progress, Vectors


class CachedEmbedder:
    """An embedder that keeps the vectors of the last ``size`` queries; documents pass through.

    Returned arrays are copies.  Safe to call from several threads; the lock is not held while the
    wrapped embedder works.
    """

    def __init__(self, inner: Embedder, size: int = 256) -> None:
        self.inner = inner
        self.size = size
        self._rows: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Identity of the wrapped embedder."""
        return self.inner.model

    @property
    def provider(self) -> str:
        """Provider of the wrapped embedder."""
        return self.inner.provider

    @property
    def dimensions(self) -> int:
        """Dimensions of the wrapped embedder."""
        return self.inner.dimensions

    @property
    def context(self) -> int:
        """Context of the wrapped embedder."""
        return self.inner.context

    def start(self) -> None:
        """Let the wrapped embedder begin to load, where it can."""
        start = getattr(self.inner, "start", None)
        if start is not None:
            start()

    def unload(self) -> None:
        """Let the wrapped embedder give its memory back, where it can."""
        unload = getattr(self.inner, "unload", None)
        if unload is not None:
            unload()

    @property
    def failure(self) -> str | None:
        """Why the wrapped embedder cannot be used; ``None`` where it does not tell."""
        failure: str | None = getattr(self.inner, "failure", None)
        return failure

    @property
    def threads(self) -> int:
        """CPU threads of the wrapped embedder; setting it does nothing where there are none to set."""
        return int(getattr(self.inner, "threads", 1))

    @threads.setter
    def threads(self, count: int) -> None:
        if hasattr(self.inner, "threads"):
            self.inner.threads = count

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts, uncached: ``float32[n, d]``, unit rows."""
        return self.inner.embed_documents(texts, progress)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, each distinct text once: ``float32[n, d]``, unit rows."""
        rows: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if text in self._rows:
                    self._rows.move_to_end(text)
                    rows[text] = self._rows[text]
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing:
            made = self.inner.embed_query(missing)
            # A copy of each row: a view would keep the whole batch alive.
            rows |= {text: row.copy() for text, row in zip(missing, made, strict=True)}
            with self._lock:
                for text in missing:
                    self._rows[text] = rows[text]
                while len(self._rows) > self.size:
                    self._rows.popitem(last=False)
        if not rows:
            return self.inner.embed_query([])
        return np.stack([rows[text] for text in texts])

    def clear(self) -> None:
        """Forget every query."""
        with self._lock:
            self._rows.clear()

    def close(self) -> None:
        """Forget every query and close the wrapped embedder."""
        self.clear()
        self.inner.close()
