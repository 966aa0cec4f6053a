"""memsearch with Milvus Lite: its own chunks, dense vectors and BM25 in one Milvus file."""

from __future__ import annotations

import asyncio
from datetime import date
from importlib.metadata import version
from pathlib import Path

from .peer import Absent, Peer, Span


class MemSearch(Peer):
    """Embeds at the endpoint by its OpenAI provider."""

    name = "memsearch (Milvus Lite)"
    install = "pip install memsearch milvus-lite"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        try:
            import memsearch
            import milvus_lite  # noqa: F401
        except ImportError as error:
            raise Absent(str(error)) from error
        self._memsearch = memsearch
        self._loop = asyncio.new_event_loop()

    def version(self) -> str:
        """Of both wheels."""
        return f"{version('memsearch')}, Milvus Lite {version('milvus-lite')}"

    def index(self, workspace: Path, folder: Path) -> None:
        """Index all files of the workspace."""
        self._workspace = workspace.resolve()
        self._memory = self._memsearch.MemSearch(
            [str(self._workspace)],
            embedding_provider="openai",
            embedding_model="local",
            embedding_base_url=self.endpoint,
            embedding_api_key="none",
            milvus_uri=str(folder / "milvus.db"),
        )
        self._loop.run_until_complete(self._memory.index())

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Its hybrid search."""
        found = self._loop.run_until_complete(self._memory.search(question, top_k=limit))
        return [
            Span(Path(row["source"]).relative_to(self._workspace).as_posix(), row["start_line"], row["end_line"])
            for row in found
        ]

    def close(self) -> None:
        """Close Milvus."""
        self._memory.close()
        self._loop.close()


PEER = MemSearch
