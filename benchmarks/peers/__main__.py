"""Ask local memories the same questions in one run: what they find, how long they take, how they grow.

    pip install -e '.[dev]' memsearch milvus-lite sqlite-vec pysqlite3-binary lancedb faiss-cpu
    npm install -g bun @tobilu/qmd && .ci/openclaw
    python -m benchmarks.peers --workspaces DIR [--only 26 30] [--write docs/benchmarks.md]

DIR is laid out as for ``benchmarks.workspaces``; a question's ``evidence`` is a list of ``{"path", "line"}``.  A peer
that is not installed is left out and named.  Each has a process of its own, and embeds at one endpoint on this machine:
the default model for the questions; for growth, over generated notes of 10 KB a day, one that costs next to nothing.
Latency includes the request for the question's vector, which the endpoint knows already; one question before all
others is not timed.  Peers that bring no chunks of their own get those of ``peer.chunks``.  ``--write`` puts tables
between two marks of a page and the plots into ``images/`` beside it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from benchmarks.openclaw import embedding_endpoint
from benchmarks.peers import PEERS
from benchmarks.peers.measures import Question, costs, questions, recall, recall_by_tokens
from benchmarks.peers.peer import Span, embed
from benchmarks.peers.report import write
from benchmarks.workspaces import DiskCachedEmbedder
from openclaw_memory import Settings
from openclaw_memory.embed.manager import choose_embedder

#: Results and tokens by which recall is measured.
FIRST = (1, 5, 10)
BUDGETS = (250, 500, 1000, 2000, 4000)
#: Questions about generated notes.
_ASKED = 40


@dataclass(frozen=True, slots=True)
class Found:
    """How well and how fast a peer answered the questions of all workspaces; milliseconds, shares."""

    name: str
    version: str
    questions: int
    first: dict[int, float]
    tokens: dict[int, float]
    median: float
    slow: float


@dataclass(frozen=True, slots=True)
class Grown:
    """A peer over so many days of notes: seconds to index, milliseconds a search, bytes in memory and on disk."""

    name: str
    days: int
    index: float
    median: float
    slow: float
    resident: int
    disk: int


class Worker:
    """A peer's process; raises :class:`LookupError` when it is not installed."""

    def __init__(self, module: str, endpoint: str) -> None:
        command = [sys.executable, "-m", "benchmarks.peers.worker", module, endpoint]
        self._process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True)
        said = self._heard()
        if "absent" in said:
            self.close()
            raise LookupError(said["absent"])
        self.version = str(said["version"])

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        said: dict[str, Any] = json.loads(line) if line else {"failed": "its process ended"}
        if "failed" in said:
            raise RuntimeError(said["failed"])
        return said

    def do(self, **order: Any) -> tuple[float, list[Span]]:
        """Seconds and results of one order; raises :class:`RuntimeError` with what the peer raised."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        said = self._heard()
        return float(said["seconds"]), [Span(*row) for row in said["results"]]

    def resident(self) -> int:
        """Bytes that its process and their children hold."""
        own = psutil.Process(self._process.pid)
        return sum(one.memory_info().rss for one in (own, *own.children(recursive=True)))

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()


@contextmanager
def indexed(module: str, endpoint: str, workspace: Path) -> Iterator[tuple[Worker, float, Path]]:
    """A peer that has read a copy of ``workspace``, the seconds that it took, and the folder of its index."""
    with tempfile.TemporaryDirectory(prefix="peers-") as made:
        copy, folder = Path(made) / "workspace", Path(made) / "index"
        shutil.copytree(workspace, copy)
        folder.mkdir()
        worker = Worker(module, endpoint)
        try:
            seconds, _ = worker.do(do="index", workspace=str(copy), folder=str(folder))
            worker.do(do="search", amount=1, question="what is noted here", asked="2026-01-01")
            yield worker, seconds, folder
        finally:
            worker.close()


def found(module: str, endpoint: str, root: Path, asked: dict[str, list[Question]]) -> Found:
    """Ask everything of every workspace."""
    first, tokens = defaultdict(list), defaultdict(list)
    times: list[float] = []
    version = ""
    for workspace, rows in asked.items():
        cost = costs(root / workspace)
        with indexed(module, endpoint, root / workspace) as (worker, _, _):
            version = worker.version
            for row in rows:
                order = {"question": row.text, "asked": row.asked}
                seconds, results = worker.do(do="search", amount=max(FIRST), **order)
                times.append(seconds * 1000)
                for number in FIRST:
                    first[number].append(recall(row, results, number))
                _, results = worker.do(do="within", amount=max(BUDGETS), **order)
                for budget, share in zip(BUDGETS, recall_by_tokens(row, results, cost, BUDGETS), strict=True):
                    tokens[budget].append(share)
    mean = {number: statistics.fmean(shares) for number, shares in first.items()}
    by_tokens = {budget: statistics.fmean(shares) for budget, shares in tokens.items()}
    return Found(name_of(module), version, len(times), mean, by_tokens, *_middle(times))


def grown(module: str, endpoint: str, days: int, work: Path) -> Grown:
    """A peer over the first ``days`` generated notes."""
    notes = work / f"days-{days}"
    if not notes.exists():
        corpus.write_year(notes, days)
    with indexed(module, endpoint, notes) as (worker, seconds, folder):
        times = []
        for query in corpus.queries(_ASKED):
            took, _ = worker.do(do="search", amount=6, question=query.text, asked="2026-01-01")
            times.append(took * 1000)
        disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        return Grown(name_of(module), days, seconds, *_middle(times), worker.resident(), disk)


def name_of(module: str) -> str:
    """What the tables call a peer."""
    return str(import_module(f"benchmarks.peers.{module}").PEER.name)


def _middle(times: Sequence[float]) -> tuple[float, float]:
    """Median, and what 19 of 20 stay below."""
    return statistics.median(times), sorted(times)[len(times) * 19 // 20]


def _each(modules: Sequence[str], what: str, skipped: dict[str, str]) -> Iterator[str]:
    for module in modules:
        if name_of(module) not in skipped:
            print(f"{what}: {name_of(module)}", file=sys.stderr, flush=True)
            yield module


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with queries.jsonl and the workspaces")
    parser.add_argument("--only", nargs="+", help="names of workspaces (default: all)")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS, help="peers to ask (default: all)")
    parser.add_argument(
        "--questions", type=int, default=60, help="questions a workspace (default: 60); 0 for growth alone"
    )
    parser.add_argument("--days", type=int, nargs="*", default=[30, 90, 180, 365], help="sizes of generated notes")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--write", type=Path, help="page whose part between the marks to replace")
    options = parser.parse_args(arguments)
    lines = (options.workspaces / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    names = options.only or sorted({str(json.loads(line)["workspace"]) for line in lines})
    asked = {name: questions(options.workspaces, name, options.questions) for name in names}
    answers: list[Found] = []
    sizes: list[Grown] = []
    skipped: dict[str, str] = {}

    def keep() -> None:
        """Write what is known so far: a run takes its time."""
        if options.json:
            rows = {"answers": [*map(asdict, answers)], "sizes": [*map(asdict, sizes)], "skipped": skipped}
            options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")

    embedder = choose_embedder(Settings()).embedder
    if embedder is None:
        parser.error("there is no embedding model; run: openclaw-memory models pull")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for module in options.peers:  # who is absent is known before anything is measured
            try:
                Worker(module, "").close()
            except LookupError as error:
                skipped[name_of(module)] = f"not installed ({error})"
        with embedding_endpoint(DiskCachedEmbedder(embedder, work)) as endpoint:
            embed(
                endpoint, [one.text for rows in asked.values() for one in rows]
            )  # or the first peer would pay for all
            for module in _each(options.peers if options.questions else (), "questions", skipped):
                try:
                    answers.append(found(module, endpoint, options.workspaces, asked))
                except RuntimeError as error:
                    skipped[name_of(module)] = str(error)
                keep()
        with embedding_endpoint(HashingEmbedder()) as endpoint:
            for days in options.days:
                for module in _each(options.peers, f"{days} days", skipped):
                    try:
                        sizes.append(grown(module, endpoint, days, work))
                    except RuntimeError as error:
                        skipped[name_of(module)] = f"{days} days of notes: {error}"
                    keep()
    print(write(answers, sizes, skipped, options.write))


if __name__ == "__main__":
    main()
