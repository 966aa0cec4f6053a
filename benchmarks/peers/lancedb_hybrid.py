"""LanceDB's hybrid search over chunks: full text and vectors, fused by its own ``RRFReranker``."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from pathlib import Path

from .peer import Absent, Peer, Span, chunks, embed


class LanceHybrid(Peer):
    """A table on disk with a full-text index; vectors are scanned, as LanceDB advises below 100,000 rows."""

    name = "LanceDB hybrid"
    install = "pip install lancedb"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        try:
            import lancedb
            from lancedb.rerankers import RRFReranker
        except ImportError as error:
            raise Absent(str(error)) from error
        self._lancedb, self._reranker = lancedb, RRFReranker()

    def version(self) -> str:
        """Of the wheel."""
        return version("lancedb")

    def index(self, workspace: Path, folder: Path) -> None:
        """Cut, embed, write the table, build the full-text index."""
        parts = chunks(workspace)
        vectors = embed(self.endpoint, [one.text for one in parts])
        rows = [
            {"vector": vector.tolist(), "text": one.text, "path": one.path, "first": one.first, "last": one.last}
            for one, vector in zip(parts, vectors, strict=True)
        ]
        self._table = self._lancedb.connect(str(folder / "lance")).create_table("chunks", data=rows)
        self._table.create_fts_index("text")

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Both searches in one call."""
        query = self._table.search(query_type="hybrid").vector(embed(self.endpoint, [question])[0]).text(question)
        found = query.rerank(reranker=self._reranker).limit(limit).to_list()
        return [Span(row["path"], row["first"], row["last"]) for row in found]


PEER = LanceHybrid
