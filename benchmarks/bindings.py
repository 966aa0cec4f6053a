"""The bindings of llama.cpp side by side: size, start, a question, many lines, memory; one model, one run.

    python -m benchmarks.bindings [--model MODEL] [--rounds 3]

Rounds alternate between the bindings, and the medians are printed with the ratio to the first one.  ``start`` is the
time until a new process has the model loaded and proved.  Lines are short, as those of notes are.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import psutil

from openclaw_memory.embed.bindings import Binding, installed_bindings
from openclaw_memory.embed.llama import LlamaCppEmbedder, available_cores
from openclaw_memory.embed.pull import pull
from openclaw_memory.embed.registry import DEFAULT

from . import corpus

QUESTIONS, LINES = 40, 300


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default=DEFAULT.name, help="a model of the registry")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    path = pull(chosen.model).path
    found = installed_bindings()
    texts = list(corpus.units(QUESTIONS + LINES))
    measured: dict[str, list[dict[str, float]]] = {binding.name: [] for binding in found}
    for _ in range(chosen.rounds):
        for binding in found:
            measured[binding.name].append(_measure(binding, path, texts))
    print(f"{'':26}" + "".join(f"{binding!s:>34}" for binding in found))
    for key in measured[found[0].name][0]:
        row = [statistics.median(each[key] for each in measured[binding.name]) for binding in found]
        print(f"{key:26}" + "".join(f"{value:>24.4g} ({value / row[0]:6.2f})" for value in row))


def _measure(binding: Binding, path: Path, texts: list[str]) -> dict[str, float]:
    embedder = LlamaCppEmbedder(path, model="measured", binding=binding.name, context=DEFAULT.context)
    started = time.perf_counter()
    embedder.load()
    figures = {"size on disk, MB": _size(binding) / 1e6, "start, s": time.perf_counter() - started}
    embedder.embed_query(["warm"])
    times = []
    for text in texts[:QUESTIONS]:
        started = time.perf_counter()
        embedder.embed_query([text])
        times.append(time.perf_counter() - started)
    figures["question, ms"] = statistics.median(times) * 1000
    for cores, use in ((1, nullcontext()), (available_cores(), embedder.use_all_cores())):
        with use:
            embedder.embed_documents(texts[:QUESTIONS])
            started = time.perf_counter()
            embedder.embed_documents(texts[QUESTIONS:])
            figures[f"lines a second, {cores} cores"] = LINES / (time.perf_counter() - started)
    workers = psutil.Process().children()
    figures["memory of the worker, MB"] = sum(worker.memory_info().rss for worker in workers) / 1e6
    embedder.close()
    return figures


def _size(binding: Binding) -> int:
    spec = find_spec(binding.package)
    assert spec is not None and spec.origin is not None
    return sum(file.stat().st_size for file in Path(spec.origin).parent.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
