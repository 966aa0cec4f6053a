"""Compare search with the baseline of ``benchmarks.speed`` by alternating their questions in one process.

    python -m benchmarks.turns --work FOLDER [--units 25000 …] [--questions 100]

Prints ratios of median CPU times, which other processes on the machine hardly change: ``new`` asks no question twice,
``again`` asks a hundred questions three times each.  Embedding is excluded.  Indexes are kept in FOLDER.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from openclaw_memory import Memory
from openclaw_memory.model.embedder import Vectors

from . import corpus, speed


def main() -> None:
    """Measure and print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for workspaces and indexes")
    parser.add_argument("--units", type=int, nargs="+", default=[25_000, 100_000], help="sizes of the corpora")
    parser.add_argument("--questions", type=int, default=100, help="how many are asked")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    bench = speed.Bench(speed.Options(chosen.work.resolve(), tuple(chosen.units), None, 0))
    texts = [query.text for query in corpus.queries(chosen.questions, within=1000)]
    vectors = dict(zip(texts, bench.embedder.embed_query(texts), strict=True))
    for units in chosen.units:
        baseline = speed.Baseline(units, bench.embedder)
        memory = bench.memory(units)
        bench.embedder.known = vectors
        memory.warm()
        _turn(memory, baseline, texts[:1], vectors)
        for name, asked in (("new", texts[1:]), ("again", texts[:100] * 3)):
            ours, theirs = _turn(memory, baseline, asked, vectors)
            print(f"{units} units, {name:5}: {ours:6.1f} ms, baseline {theirs:6.1f} ms, ratio {ours / theirs:.2f}")
        memory.close()
        bench.embedder.known = {}


def _turn(
    memory: Memory, baseline: speed.Baseline, texts: list[str], vectors: dict[str, Vectors]
) -> tuple[float, float]:
    """Medians of both, in milliseconds of the processor."""
    ours: list[float] = []
    theirs: list[float] = []
    for text in texts:
        ours.append(_milliseconds(partial(memory.search, text, max_results=6)))
        theirs.append(_milliseconds(partial(baseline.ask, text, vectors[text])))
    return statistics.median(ours), statistics.median(theirs)


def _milliseconds(ask: Callable[[], object]) -> float:
    started = time.process_time()
    ask()
    return (time.process_time() - started) * 1e3


if __name__ == "__main__":
    main()
