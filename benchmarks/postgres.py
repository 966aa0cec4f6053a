"""Compare the speed and memory of a server with those of a file.

    python -m benchmarks.postgres --store URL --lines 100000 --memories 1

The same generated notes are read into files and into the server.  Then gateways, a process each, answer the same
questions in turns: one over the files and one over the server.  Times are those of the gateway, p50 / p95 in
milliseconds; its memory is what the process takes once all memories were asked.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks import copies, corpus
from benchmarks.hashing import HashingEmbedder
from benchmarks.postgres_crowd import opened
from openclaw_memory.embed.manager import model_of
from openclaw_memory.memory import Memory

#: Of the vectors, as those of the default model.
DIMENSIONS = 384
#: Changes of a line, and questions right after one, that are measured.
_CHANGES = 20


class Gateway:
    """A process with memories of its own that does what it is told, a line of JSON a task."""

    def __init__(self, folder: Path, store: str) -> None:
        command = [sys.executable, "-m", "benchmarks.postgres", "--gateway", str(folder)]
        self._process = subprocess.Popen(
            [*command, "--store", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def told(self, does: str, agent: int = 0, text: str = "") -> tuple[float, Any]:
        """Milliseconds that it took, and what it says."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps([does, agent, text]), file=process.stdin, flush=True)
        took, answer = json.loads(process.stdout.readline())
        return took, answer

    def megabytes(self) -> float:
        """What the process takes."""
        return round(psutil.Process(self._process.pid).memory_info().rss / 1e6)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _gateway(folder: Path, store: str) -> None:
    """What a :class:`Gateway` runs."""
    embedder = HashingEmbedder(DIMENSIONS)
    memories: dict[int, Memory] = {}

    def act(does: str, agent: int, text: str) -> Any:
        if agent not in memories:
            memories[agent] = opened(folder, agent, store, "eager", embedder, store__memory_limit_mb=2048)
        memory = memories[agent]
        if does == "ingest":
            memory.ingest([text] if text else ())
            if not text:
                memory.maintain(force=True)
            return None
        if does == "context":
            return memory.context(text).tokens
        hits = memory.search(text, deadline=60.0).results
        return [(hit.path, hit.start_line, hit.score) for hit in hits]

    for line in sys.stdin:
        task = json.loads(line)
        began = time.monotonic()
        answer = act(*task)
        print(json.dumps([(time.monotonic() - began) * 1000, answer]), flush=True)
    for memory in memories.values():
        memory.close()


def run(store: str, folder: Path, lines: int, memories: int, questions: int, read: int = 0) -> dict[str, Any]:
    """Figures by name, of each kind of gateway; with ``read`` that many lines are read and the rest are copies."""
    each = min(read or lines, lines // memories)
    for agent in range(1 if read else memories):
        if not (folder / f"agent-{agent}").exists():
            corpus.write_workspace(folder / f"agent-{agent}", each, seed=1 + agent)
    asked = [query.text for query in corpus.queries(questions, within=each)]
    kinds = {"file": "", "server": store}
    figures: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for kind in ("file", "server"):
        gateway = Gateway(folder, kinds[kind])
        took = [gateway.told("ingest", agent)[0] for agent in range(1 if read else memories)]
        figures[kind]["first ingest s"] = round(sum(took) / 1000, 1)
        gateway.close()
    if read:
        _copy(store, folder, lines // memories // each, memories)
    for kind, size in copies.megabytes(store, folder).items():
        figures[kind]["MB on disk"] = size
    gateways = {kind: Gateway(folder, given) for kind, given in kinds.items()}
    for kind, gateway in gateways.items():
        took = [gateway.told("search", agent, "warm")[0] for agent in range(memories)]
        figures[kind]["first searches s"] = round(sum(took) / 1000, 2)
    times: dict[str, dict[str, list[float]]] = {kind: defaultdict(list) for kind in kinds}
    answers: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for what in ("search", "context"):
        for at, question in enumerate(asked):
            for kind, gateway in gateways.items():
                took_ms, answer = gateway.told(what, at % memories, question)
                times[kind][what].append(took_ms)
                answers[kind] += [answer] if what == "search" else []
    for kind, gateway in gateways.items():
        figures[kind]["MB"] = gateway.megabytes()
    for at in range(_CHANGES):
        agent = at % memories
        file = folder / f"agent-{agent}" / "memory" / "new.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# New\n\n- a heron number {at} at the quay\n")
        for kind, gateway in gateways.items():
            times[kind]["ingest of a line"].append(gateway.told("ingest", agent, "memory/new.md")[0])
        for kind, gateway in gateways.items():
            times[kind]["search after it"].append(gateway.told("search", agent, "heron at the quay")[0])
    for kind, gateway in gateways.items():
        gateway.close()
        figures[kind] |= {what: _shown(values) for what, values in times[kind].items()}
        figures[kind]["same hits as the file"] = f"{_same(answers[kind], answers['file'])} of {len(asked)}"
    return {"lines": lines, "memories": memories, **figures}


def _copy(store: str, folder: Path, times: int, memories: int) -> None:
    embedder = HashingEmbedder(DIMENSIONS)
    for url in ("", store):
        with opened(folder, 0, url, "lazy", embedder, store__memory_limit_mb=4096) as memory:
            copies.multiply(memory, model_of(embedder), times)
    copies.copy_files(folder / "agent-0", times)
    copies.spread(store, folder, memories)


def _shown(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} / {statistics.quantiles(values, n=20)[-1]:.0f}"


def _same(ours: Sequence[Any], theirs: Sequence[Any]) -> int:
    return sum([hit[:2] for hit in a] == [hit[:2] for hit in b] for a, b in zip(ours, theirs, strict=True))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--lines", type=int, default=10_000, help="of all memories together")
    parser.add_argument("--memories", type=int, default=1)
    parser.add_argument("--read", type=int, default=0, help="lines to read; the rest are copies, made by a superuser")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keeps notes and files for another run")
    parser.add_argument("--gateway", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.gateway:
        _gateway(given.gateway, given.store)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = given.work or Path(name)
        some = given.lines, given.memories, given.questions, given.read
        print(json.dumps(run(given.store, folder, *some), indent=2))


if __name__ == "__main__":
    main()
