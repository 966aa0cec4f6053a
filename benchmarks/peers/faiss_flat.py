"""FAISS' exact index over chunks: vectors only."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from pathlib import Path

from .peer import Absent, Peer, Span, chunks, embed


class FaissFlat(Peer):
    """``IndexFlatIP`` in memory, written to a file."""

    name = "FAISS flat"
    install = "pip install faiss-cpu"
    remark = "vectors only"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        try:
            import faiss
        except ImportError as error:
            raise Absent(str(error)) from error
        self._faiss = faiss

    def version(self) -> str:
        """Of the wheel."""
        return version("faiss-cpu")

    def index(self, workspace: Path, folder: Path) -> None:
        """Cut, embed, add."""
        self._chunks = chunks(workspace)
        vectors = embed(self.endpoint, [one.text for one in self._chunks])
        self._index = self._faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)
        self._faiss.write_index(self._index, str(folder / "index.faiss"))

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """The nearest chunks."""
        _, near = self._index.search(embed(self.endpoint, [question]), limit)
        return [self._chunks[at] for at in near[0].tolist() if at >= 0]


PEER = FaissFlat
