"""This package, through its Python interface."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.embed.http import HttpEmbedder
from openclaw_memory.version import __version__

from .peer import Peer, Span


class Ours(Peer):
    """Embeds at the same endpoint as all others."""

    name = "openclaw-memory"
    install = "pip install -e ."

    def version(self) -> str:
        """Of this checkout."""
        return __version__

    def index(self, workspace: Path, folder: Path) -> None:
        """Ingest, vectors included."""
        embedder = HttpEmbedder(
            self.endpoint,
            "local",
            usage_dir=folder,
            api_key_env="",
            requests_per_minute=0,
            tokens_per_day=0,
            timeout=600,
        )
        settings = Settings().with_values({"ingest.fresh_seconds": 1e9})
        self._memory = Memory(
            workspace, settings=settings, db=folder / "index.duckdb", state=folder / "state.sqlite", embedder=embedder
        )
        report = self._memory.ingest(embed="sync")
        if report.warning:
            raise RuntimeError(report.warning)

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Passages, grown to about 400 tokens."""
        return self._ask(question, asked, max_results=limit)

    def within(self, question: str, asked: date, budget: int) -> list[Span]:
        """Single lines."""
        return self._ask(question, asked, budget=budget)

    def _ask(self, question: str, asked: date, **options: Any) -> list[Span]:
        found = self._memory.search(SearchRequest(question, now=asked, min_score=0.0, **options))
        if found.fallback:
            raise RuntimeError(found.fallback)
        return [Span(hit.path, hit.start_line, hit.end_line) for hit in found.results]

    def close(self) -> None:
        """Close the index."""
        self._memory.close()


PEER = Ours
