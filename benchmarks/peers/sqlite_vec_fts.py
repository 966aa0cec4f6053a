"""SQLite: FTS5 and sqlite-vec over chunks, fused by rank, as its documentation's hybrid search does."""

from __future__ import annotations

import re
from datetime import date
from importlib.metadata import version
from pathlib import Path

from .peer import Absent, Peer, Span, chunks, embed, fused

#: Results of each kind that are fused.
_EACH = 100


class SqliteVecFts(Peer):
    """One file with both tables."""

    name = "sqlite-vec + FTS5"
    install = "pip install sqlite-vec pysqlite3-binary"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        try:
            import pysqlite3  # loads extensions, which not every Python's own does
            import sqlite_vec
        except ImportError as error:
            raise Absent(str(error)) from error
        self._vec, self._sqlite = sqlite_vec, pysqlite3

    def version(self) -> str:
        """Of the wheel, and SQLite's."""
        return f"{version('sqlite-vec')}, SQLite {self._sqlite.sqlite_version}"

    def index(self, workspace: Path, folder: Path) -> None:
        """Cut, embed, insert."""
        self._chunks = chunks(workspace)
        texts = [one.text for one in self._chunks]
        vectors = embed(self.endpoint, texts)
        self._db = self._sqlite.connect(str(folder / "index.sqlite"))
        self._db.enable_load_extension(True)
        self._vec.load(self._db)
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._db.execute(f"CREATE VIRTUAL TABLE meaning USING vec0(vector float[{vectors.shape[1]}])")
        with self._db:
            self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts, 1))
            rows = ((at, self._vec.serialize_float32(row.tolist())) for at, row in enumerate(vectors, 1))
            self._db.executemany("INSERT INTO meaning (rowid, vector) VALUES (?, ?)", rows)

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Both lists, fused."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        by_words = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?"
        query = self._vec.serialize_float32(embed(self.endpoint, [question])[0].tolist())
        nearest = "SELECT rowid FROM meaning WHERE vector MATCH ? ORDER BY distance LIMIT ?"
        asked_for = ((by_words, words), (nearest, query)) if words else ((nearest, query),)
        lists = [[row[0] for row in self._db.execute(sql, (given, _EACH))] for sql, given in asked_for]
        return [self._chunks[row - 1] for row in fused(lists, limit)]

    def close(self) -> None:
        """Close the file."""
        self._db.close()


PEER = SqliteVecFts
