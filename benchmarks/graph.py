"""Time the queries of the graph on a generated corpus, beside a plain search in the same run.

    python -m benchmarks.graph --units 25000 100000 --work FOLDER

The embedder takes almost no time, so that only this package is timed; every figure is the median (and the 95th
percentile) of its rounds in milliseconds, and its ratio to the median of a plain search of six hits.  Indexes are
kept in FOLDER for the next run; it may be the one of ``benchmarks.speed``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed import Bench, Options, queries
from openclaw_memory import Memory

#: What an agent is told in a chat: a question of the corpus with small talk around it.
MESSAGE = "good morning! quick one before the meeting: {question} - and thanks for yesterday, that helped a lot"


def timed(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median and 95th percentile of ``rounds`` calls, in milliseconds."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        took.append((time.perf_counter() - started) * 1000)
    took.sort()
    return statistics.median(took), took[min(len(took) - 1, int(0.95 * len(took)))]


def measured(bench: Bench, units: int, rounds: int) -> Iterator[tuple[str, float, float]]:
    """Name, median and 95th percentile of every measurement on one corpus."""
    with bench.memory(units) as memory:
        memory.warm()  # as a server does before the first question
        texts = queries()
        messages = [MESSAGE.format(question=text) for text in texts]
        known = [*texts, *messages]
        bench.embedder.known = dict(zip(known, bench.embedder.embed_query(known), strict=True))
        turn = iter(range(10**9))

        def ask(call: Callable[..., object], asked: Sequence[str], **options: Any) -> Callable[[], object]:
            call(asked[0], **options)
            return lambda: call(asked[next(turn) % len(asked)], **options)

        yield "search, six hits", *timed(ask(memory.search, texts), rounds)
        yield "search, concept graph left out", *timed(ask(plain(memory), texts), rounds)
        for hops in (1, 2, 3):
            yield f"recall, {hops} hops", *timed(ask(memory.recall, texts, hops=hops), rounds)
        yield "search near a concept", *timed(ask(memory.search, texts, near=(first_concept(memory),)), rounds)
        with memory._questions.graph() as view:
            yield "entities in a message", *timed(ask(view.find_mentioned, messages), rounds)
            spelt = [name for label in view.labels().values() for name in label.spellings]
            yield (
                "  the same name by name",
                *timed(ask(lambda text: by_name(spelt, text), messages), max(1, rounds // 5)),
            )
        yield "context of a message", *timed(ask(memory.context, messages), rounds)
        yield from changes(bench, memory, units)


def plain(memory: Memory) -> Callable[..., object]:
    """A search without the graph's share in the ranking."""
    index = memory._questions.index()

    def search(text: str) -> object:
        weights, index.weights = index.weights, {**index.weights, "graph": 0.0}
        try:
            return memory.search(text)
        finally:
            index.weights = weights

    return search


def by_name(names: Sequence[str], text: str) -> list[str]:
    """The straightforward way: every known name is looked for in the message."""
    small = text.lower()
    return [name for name in names if name.lower() in small]


def first_concept(memory: Memory) -> str:
    """A concept of middling frequency."""
    rows = memory.concepts.list().rows
    return rows[len(rows) // 2].name


def changes(bench: Bench, memory: Memory, units: int) -> Iterator[tuple[str, float, float]]:
    """One note gets a line more: writing it, and what the next question pays to follow."""
    note = sorted((bench.workspace(units) / "memory").rglob("*.md"))[3]
    original = note.read_text(encoding="utf-8")
    wrote, searched, built = [], [], []
    try:
        for number in range(15):
            note.write_text(f"{original}\n- Quimby measured the ingest for the {number}th time\n", encoding="utf-8")
            wrote.append(timed(memory.ingest, 1)[0])
            searched.append(timed(lambda: memory.search("measured the ingest"), 1)[0])
            built.append(timed(lambda: memory._questions.index().graph.network, 1)[0])
    finally:
        note.write_text(original, encoding="utf-8")
        memory.ingest()
    for name, took in (
        ("ingest of one changed note", wrote),
        ("first search after it", searched),
        ("graph rebuilt, when one is asked for", built),
    ):
        took.sort()
        yield name, statistics.median(took), took[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, nargs="+", default=[25_000, 100_000], help="sizes of the corpora")
    parser.add_argument("--work", type=Path, required=True, help="folder for workspaces and indexes")
    parser.add_argument("--rounds", type=int, default=100, help="calls of each kind")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    bench = Bench(Options(options.work.resolve(), tuple(options.units), None, 0))
    for units in options.units:
        base = 0.0
        for name, median, worst in measured(bench, units, options.rounds):
            base = base or median
            print(
                f"{units:>9,} units  {name:<42} {median:>8.2f} ms  p95 {worst:>8.2f} ms  x{median / base:.2f}",
                flush=True,
            )
        with bench.memory(units) as memory, memory._questions.graph() as view:
            print(
                f"{units:>9,} units  {len(view.index.references.keys):,} concepts, "
                f"{len(view.index.references.row):,} references, {len(view.network.day):,} sections, "
                f"{len(view.network.related.target) // 2:,} relations, {len(view.network.after.target):,} steps in time"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
