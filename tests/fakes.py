"""Stand-ins that honour the real contracts: an embedder that counts, fails and waits, and a workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import indexing

from benchmarks.hashing import HashingEmbedder
from openclaw_memory import Memory, Settings
from openclaw_memory.errors import ModelError
from openclaw_memory.model.embedder import Progress, Vectors


class CountingEmbedder(HashingEmbedder):
    """Remembers what it embedded; ``bad`` texts fail, ``down`` fails them all, ``gate`` holds them back."""

    def __init__(self, name: str = "counting", dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.model = f"{name}-{dimensions}"
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.bad: set[str] = set()
        self.down = False
        self.gate = threading.Event()
        self.gate.set()

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        assert self.gate.wait(20)
        if self.down:
            raise ModelError("the endpoint is down; try again later")
        if spoilt := [text for text in texts if text in self.bad]:
            raise ModelError(f"cannot embed {spoilt[0]!r}")
        self.texts += [text for text in texts if text != "memory"]  # the probe for a model that works
        if progress is not None:
            progress(len(texts))
        return super().embed_documents(texts)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        assert self.gate.wait(20)
        if self.down:
            raise ModelError("the endpoint is down; try again later")
        self.questions += texts
        return super().embed_documents(texts)

    def taken(self) -> list[str]:
        """The texts embedded since the last call, the probes of the noise measurement aside."""
        from openclaw_memory.embed.smalltalk import read_texts

        probes = read_texts("unrelated_texts.txt")["statements"]
        texts, self.texts = [text for text in self.texts if text not in probes], []
        return texts


class Notes:
    """A workspace on disk whose files get a new time with every write."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._time = 1_700_000_000

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.touch(name)
        return path

    def touch(self, name: str) -> None:
        self._time += 60
        os.utime(self.root / name, (self._time, self._time))

    def remove(self, name: str) -> None:
        (self.root / name).unlink()

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)


def open_memory(
    notes: Notes, embedder: Any = None, *, name: str = "index", idle: float | None = None, **values: Any
) -> Memory:
    """A memory whose index lies beside the workspace; ``values`` are settings, ``group__name=value``.

    A file of which nobody asks anything is let go after ``idle`` seconds.

    It looks at the files at every search, and takes no model unless one is given.
    """
    given = {"ingest.fresh_seconds": 0.0, "embedding.model": "none"}
    given |= {key.replace("__", "."): value for key, value in values.items() if "__" in key}
    options = {key: value for key, value in values.items() if "__" not in key}
    place: dict[str, Any] = {"db": notes.root.parent / f"{name}.duckdb"}
    if indexing.SERVER:
        place = {"store": indexing.SERVER[0]}
        given["store.workspace"] = str(notes.root.parent / name)
    memory = Memory(notes.root, settings=Settings().with_values(given), embedder=embedder, **{**place, **options})
    return memory if idle is None else let_go(memory, idle)


def ingested(notes: Notes, embedder: Any = None, **values: Any) -> Memory:
    """Open a memory as :func:`open_memory` does, and read the notes."""
    memory = open_memory(notes, embedder, **values)
    memory.ingest()
    return memory


def let_go(memory: Memory, idle: float) -> Memory:
    """``memory``, which lets its file go after so many seconds of idleness."""
    store: Any = memory.store
    if not indexing.SERVER:
        store._db.lease._idle = idle
    return memory


def snippets(memory: Memory, query: str, **options: Any) -> list[str]:
    """What a search by keywords finds."""
    return [hit.snippet for hit in memory.search(query, mode="keyword", **options).results]


def everything(memory: Memory, query: str, path: str | None = None) -> list[tuple[str, int, int, str]]:
    """Path, lines and text of every hit, or of those in one file."""
    hits = memory.search(query, mode="keyword", max_results=1000).results
    return [(hit.path, hit.start_line, hit.end_line, hit.snippet) for hit in hits if path in (None, hit.path)]
