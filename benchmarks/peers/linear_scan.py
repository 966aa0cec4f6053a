"""Search without an index: every question reads every file and ranks the chunks by how many of its words they hold."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from .peer import Peer, Span, chunks

_WORD = re.compile(r"\w{3,}")


class LinearScan(Peer):
    """What ``grep`` over the notes gives an agent, ranked."""

    name = "linear scan"
    install = "nothing to install"
    remark = "words only; reads all files for every question"

    def version(self) -> str:
        """None of its own."""
        return "-"

    def index(self, workspace: Path, folder: Path) -> None:
        """Note where the files are."""
        self._workspace = workspace

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Chunks with the most distinct words of the question, ties in the order of the files."""
        words = set(_WORD.findall(question.lower()))
        found = [(len(words & set(_WORD.findall(one.text.lower()))), one) for one in chunks(self._workspace)]
        ranked = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])
        return [Span(one.path, one.first, one.last) for _, one in ranked[:limit]]


PEER = LinearScan
