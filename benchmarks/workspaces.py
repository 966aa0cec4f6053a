"""Read labelled questions about a folder of workspaces, and keep vectors between runs.

The folder holds ``queries.jsonl`` beside one folder per workspace; ``python -m benchmarks.public locomo FOLDER
--workspaces DIR`` makes it of LoCoMo.  A row has ``id``, ``workspace``, ``question``, ``answer``, ``date_asked``,
``category_name``, ``evidence`` (rows of ``path`` and ``line``) and an optional ``flag``; rows with a flag are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openclaw_memory.model.embedder import Embedder, Progress, Vectors


class DiskCachedEmbedder:
    """An embedder that keeps every vector in one file per model, for repeated runs."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._file = folder / f"{hashlib.sha256(inner.model.encode()).hexdigest()[:16]}.npz"
        self._known: dict[str, Vectors] = {}
        self._grew = False
        if self._file.is_file():
            with np.load(self._file) as saved:
                self._known = dict(zip(saved["keys"].tolist(), saved["vectors"], strict=True))

    @property
    def model(self) -> str:
        """Identity of the wrapped embedder."""
        return self._inner.model

    @property
    def provider(self) -> str:
        """Provider of the wrapped embedder."""
        return self._inner.provider

    @property
    def dimensions(self) -> int:
        """Dimensions of the wrapped embedder."""
        return self._inner.dimensions

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of texts, computed once."""
        return self._get("d", texts)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, computed once."""
        return self._get("q", texts)

    def _get(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest()[:32] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            embed = self._inner.embed_documents if kind == "d" else self._inner.embed_query
            self._known |= dict(zip(missing, embed(list(missing.values())), strict=True))
            self._grew = True
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Write what was computed."""
        if self._grew:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
            self._grew = False

    def close(self) -> None:
        """Write what was computed; the wrapped embedder stays open for the next workspace."""
        self.save()


def questions(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Questions that count, by workspace, in the order of the file."""
    by_workspace: dict[str, list[dict[str, Any]]] = {}
    with open(root / "queries.jsonl", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row.get("flag") is None:
                by_workspace.setdefault(str(row["workspace"]), []).append(row)
    return by_workspace
