"""The common harness, ``vectorize-io/agent-memory-benchmark``: openclaw-memory as one of its memories.

    python -m benchmarks.public.harness run --dataset locomo --split locomo10 --memory openclaw-memory

is the harness's own command line with this memory added, and runs where the harness is installed; it answers and judges
by a language model.  ``python -m benchmarks.public harness FOLDER`` asks without one: the retrieval of each question of
the data that the checkout holds, with the same adapter.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import fmean, median
from typing import Any

from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.model import tokens_of
from openclaw_memory.model.embedder import Embedder

#: Data sets and splits of which the documents are in the checkout.
SPLITS = ("locomo/locomo10", "personamem/32k")


@dataclass(frozen=True, slots=True)
class Document:
    """What the adapter uses of a document of the harness."""

    id: str
    content: str
    user_id: str | None = None
    timestamp: str | None = None


class Adapter:
    """The memory that the harness asks: a workspace for each user, a note for each document."""

    name, kind, concurrency = "openclaw-memory", "local", 1
    description = "Markdown notes, BM25 and small embeddings on the machine; no language model."

    def __init__(self, settings: Settings | None = None, embedder: Embedder | None = None) -> None:
        self._settings, self._embedder = settings, embedder
        self._folder = Path(tempfile.gettempdir())
        self._memories: dict[str, Memory] = {}
        self._documents: dict[tuple[str, str], Any] = {}

    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None) -> None:
        """Keep workspaces and indexes in a folder."""
        self._folder = store_dir

    def ingest(self, documents: Sequence[Any]) -> None:
        """Write documents as notes and read them."""
        users: dict[str, list[str]] = {}
        for document in documents:
            user = _name(document.user_id or "all")
            path = f"memory/{_name(document.id)}.md"
            file = self._folder / user / "notes" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            day = f"---\ndate: {document.timestamp[:10]}\n---\n\n" if document.timestamp else ""
            file.write_text(day + _text(document.content) + "\n", encoding="utf-8")
            self._documents[user, path] = document
            users.setdefault(user, []).append(path)
        for user in users:
            self._memory(user).ingest()

    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Any], dict[str, Any] | None]:
        """Return the k best hits of a user's notes as documents, each with its day."""
        user = _name(user_id or "all")
        now = date.fromisoformat(query_timestamp[:10]) if query_timestamp else None
        found = self._memory(user).search(SearchRequest(query, max_results=k, now=now, min_score=0.0, dates=True))
        return [replace(self._documents[user, hit.path], content=hit.snippet) for hit in found.results], None

    def cleanup(self) -> None:
        """Close the workspaces."""
        while self._memories:
            self._memories.popitem()[1].close()

    def _memory(self, user: str) -> Memory:
        if user not in self._memories:
            home = self._folder / user
            self._memories[user] = Memory(
                home / "notes",
                settings=self._settings,
                db=home / "index.duckdb",
                state=home / "state.sqlite",
                embedder=self._embedder,
            )
        return self._memories[user]


def _name(text: str) -> str:
    return re.sub(r"[^\w.-]", "_", text)


def _text(content: str) -> str:
    """Return a document as Markdown: turns, which some data sets give as JSON, become a line each."""
    if not content.startswith("[{"):
        return content
    return "\n".join(" ".join(f"{turn['speaker']}: {turn['text']}".split()) for turn in json.loads(content))


def run(folder: Path, settings: Settings, embedder: Embedder | None) -> str:
    """Return a table of the retrieval of each split."""
    lines = ["| | questions | documents, R@10 hits | tokens of ten hits | ms |", "|---|---|---|---|---|"]
    for split in SPLITS:
        root = folder / "data" / split
        documents, queries = (
            json.loads(gzip.decompress((root / f"{name}.json.gz").read_bytes())) for name in ("documents", "queries")
        )
        names = Document.__dataclass_fields__
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as store:
            adapter = Adapter(settings, embedder)
            adapter.prepare(Path(store))
            adapter.ingest([Document(**{name: one.get(name) for name in names}) for one in documents])
            recalls, tokens, took = [], [], []
            for at, query in enumerate(queries, 1):
                began, meta = time.perf_counter(), query["meta"]
                found, _ = adapter.retrieve(
                    meta.get("retrieval_query") or query["query"],
                    user_id=query["user_id"],
                    query_timestamp=meta.get("query_timestamp"),
                )
                took.append((time.perf_counter() - began) * 1000)
                tokens.append(sum(tokens_of(one.content) for one in found))
                gold = set(query["gold_ids"])
                # A key that names all that was told before the question says nothing of retrieval.
                if split.startswith("locomo") and gold:
                    recalls.append(len(gold & {one.id for one in found}) / len(gold))
                if at % 100 == 0:
                    print(f"{split}: {at} of {len(queries)}", file=sys.stderr)
            adapter.cleanup()
        recall = f"{fmean(recalls):.3f}".removeprefix("0") if recalls else "-"
        lines.append(f"| {split} | {len(queries)} | {recall} | {median(tokens):,.0f} | {median(took):.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Run the harness's command line with this memory among its own."""
    from memory_bench import cli  # type: ignore[import-not-found]
    from memory_bench.memory import REGISTRY  # type: ignore[import-not-found]
    from memory_bench.memory.base import MemoryProvider  # type: ignore[import-not-found]

    REGISTRY[Adapter.name] = type("OpenclawMemory", (Adapter, MemoryProvider), {})
    cli.app()


if __name__ == "__main__":
    main()
