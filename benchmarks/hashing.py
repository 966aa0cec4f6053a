"""An embedder that costs next to nothing, for measuring everything but the embedding."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from openclaw_memory.model.embedder import Progress, Vectors

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts that share words get similar vectors: each word hashes to a fixed random direction."""

    provider = "hashing"

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.model = f"hashing-{dimensions}"
        self._directions = np.random.default_rng(7).standard_normal((4096, dimensions)).astype(np.float32)
        self._rows: dict[str, int] = {}
        #: Questions whose vectors are at hand, so that asking them costs nothing here.
        self.known: dict[str, Vectors] = {}

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Sums of the words' directions: ``float32[n, d]``, unit rows."""
        out = np.empty((len(texts), self.dimensions), np.float32)
        for at, text in enumerate(texts):
            rows = [self._row(word) for word in _WORD.findall(text.lower())] or [0]
            out[at] = self._directions[rows].sum(axis=0)
        out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)
        return out

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """As documents, unless it is known."""
        if all(text in self.known for text in texts):
            return np.stack([self.known[text] for text in texts])
        return self.embed_documents(texts)

    def _row(self, word: str) -> int:
        row = self._rows.get(word)
        if row is None:
            row = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big") % 4096
            self._rows[word] = row
        return row

    def close(self) -> None:
        """Nothing to release."""
