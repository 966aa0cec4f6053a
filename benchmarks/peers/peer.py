"""The protocol of a peer, and the chunks and vectors for peers without a chunker of their own."""

from __future__ import annotations

import json
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Characters of a chunk and of what the next one repeats of it: 400 and 80 tokens, as OpenClaw's memory cuts.
CHUNK, OVERLAP = 1_600, 320
#: Texts embedded with one request.
_BATCH = 64
#: Results that a peer without a token budget is asked for, to be read until the budget is spent.
DEEP = 40


class Absent(Exception):
    """The peer is not installed; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file of the workspace, counted from 1, both included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Chunk(Span):
    """A span and its text."""

    text: str


class Peer(ABC):
    """A memory over the Markdown files of one workspace; the constructor raises :class:`Absent`."""

    #: What the tables call it, what installs it, and what there is to know to read its figures.
    name: str
    install: str
    remark: str = ""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    @abstractmethod
    def index(self, workspace: Path, folder: Path) -> None:
        """Read ``workspace`` into an index in the empty ``folder``."""

    @abstractmethod
    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """At most ``limit`` results as of a day, best first."""

    def within(self, question: str, asked: date, budget: int) -> list[Span]:
        """Results to be read until ``budget`` tokens are spent, best first."""
        return self.search(question, asked, DEEP)

    @abstractmethod
    def version(self) -> str:
        """What is installed."""

    def close(self) -> None:  # noqa: B027 - who holds nothing has nothing to do
        """Let go of everything."""


def embed(endpoint: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of an OpenAI-compatible endpoint: ``float32[n, d]``, unit rows."""
    rows: list[list[float]] = []
    for at in range(0, len(texts), _BATCH):
        body = json.dumps({"input": list(texts[at : at + _BATCH]), "model": "local"}).encode()
        request = urllib.request.Request(f"{endpoint}/embeddings", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            rows += [row["embedding"] for row in json.load(answer)["data"]]
    vectors = np.asarray(rows, np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors


def files(workspace: Path) -> Iterator[tuple[str, list[str]]]:
    """Markdown files with their lines, in alphabetical order."""
    for file in sorted(workspace.rglob("*.md")):
        yield file.relative_to(workspace).as_posix(), file.read_text(encoding="utf-8").splitlines()


def chunks(workspace: Path) -> list[Chunk]:
    """Whole lines of about :data:`CHUNK` characters, each chunk beginning with the end of the one before it."""
    out: list[Chunk] = []
    for path, lines in files(workspace):
        first = 0
        while first < len(lines):
            last, size = first, len(lines[first])
            while last + 1 < len(lines) and size + len(lines[last + 1]) < CHUNK:
                last += 1
                size += len(lines[last]) + 1
            if any(line.strip() for line in lines[first : last + 1]):
                out.append(Chunk(path, first + 1, last + 1, "\n".join(lines[first : last + 1])))
            if last + 1 == len(lines):
                break
            again, begin = 0, last + 1
            while begin - 1 > first and again + len(lines[begin - 1]) < OVERLAP:
                begin -= 1
                again += len(lines[begin]) + 1
            first = begin
    return out


def fused(lists: Sequence[Sequence[Any]], limit: int) -> list[Any]:
    """Reciprocal rank fusion, ``Σ 1 / (60 + rank)``, of ranked ids (Cormack, Clarke and Büttcher, 2009)."""
    score: dict[Any, float] = {}
    for ranked in lists:
        for rank, one in enumerate(ranked, 1):
            score[one] = score.get(one, 0.0) + 1 / (60 + rank)
    return sorted(score, key=lambda one: -score[one])[:limit]
