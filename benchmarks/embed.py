"""Compare the embedding speed of an ingest with that of llama.cpp alone: same short lines, same binding, one run.

    python -m benchmarks.embed [--model MODEL …] [--lines 512] [--rounds 3] [--threads 1] [--gpu] [--binding NAME]

First llama.cpp embeds in this process, with each of several batch sizes.  Then four candidates take turns: the best
batch size (by CPU time, with ``--gpu`` by wall time); the best one that computes each text alone, so that its vector
does not depend on the others; our worker, which also computes each text alone; and a whole ingest (worker and index).
Printed are medians and their ratio to llama.cpp alone, in lines per second of wall time and of the CPU time of all
processes.  MODEL is one of the registry, a GGUF file, or as ``bge-m3-random`` the shape of a model with random weights.
The CPU computes, and with ``--gpu`` a GPU where the binding was built for one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import psutil

from openclaw_memory import Memory, Settings
from openclaw_memory.embed import registry
from openclaw_memory.embed.bindings import COMPILED, Binding, ModelOptions, installed_bindings
from openclaw_memory.embed.llama import LlamaCppEmbedder
from openclaw_memory.embed.pull import pull
from openclaw_memory.embed.vectorizer import embed_pending

from . import corpus, random_gguf

#: The end of a name that means random weights.
RANDOM = "-random"
#: Tokens of a batch, and texts that are computed side by side, of which llama.cpp alone has the best.
TOKENS, BESIDE = (192, 512, 2048), (1, 4, 16)
#: Lines that the sizes of batches are tried with.
_TRIED = 64


@dataclass(frozen=True)
class Chosen:
    """What is measured, and how it is opened."""

    binding: Binding
    path: Path
    entry: registry.ModelEntry | None
    threads: int
    gpu: bool

    def embedder(self, name: str) -> LlamaCppEmbedder:
        """Ours, as an ingest opens it."""
        return LlamaCppEmbedder(
            self.path,
            model=name,
            binding=self.binding.name,
            threads=self.threads,
            gpu=self.gpu,
            context=self.entry.context if self.entry else 0,
            document_prefix=self.entry.document_prefix if self.entry else "",
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    both = [registry.DEFAULT.name, registry.MULTILINGUAL.name]
    parser.add_argument("--model", nargs="+", default=both, help="names, or GGUF files")
    parser.add_argument("--lines", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gpu", action="store_true", help="compute on a GPU; left out where the build has none")
    parser.add_argument("--binding", default="auto")
    chosen = parser.parse_args(arguments)
    texts = list(corpus.units(chosen.lines))
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.model:
            path, entry = _file(name, Path(folder), texts)
            for binding in installed_bindings(chosen.binding):
                print(f"\n{name}, {binding}, {len(texts)} lines, threads: {chosen.threads}{', GPU' * chosen.gpu}")
                one = Chosen(binding, path, entry, chosen.threads, chosen.gpu)
                if chosen.gpu and not _has_gpu(one):
                    print("left out: this build computes on no GPU")
                    continue
                _compare(one, texts, chosen.rounds, Path(folder))


def _file(name: str, folder: Path, texts: Sequence[str]) -> tuple[Path, registry.ModelEntry | None]:
    if name.endswith(RANDOM):
        return random_gguf.write(folder / f"{name}.gguf", random_gguf.SHAPES[name.removesuffix(RANDOM)], texts), None
    entry = registry.get(name)
    return (Path(name), None) if entry is None else (pull(name).path, entry)


def _has_gpu(one: Chosen) -> bool:
    embedder = one.embedder("asked")
    try:
        return embedder.gpu
    finally:
        embedder.close()


def _compare(one: Chosen, texts: Sequence[str], rounds: int, folder: Path) -> None:
    prefix = one.entry.document_prefix if one.entry else ""
    raw = [prefix + text for text in texts]
    some = raw[:: max(1, len(raw) // _TRIED)]
    tried: dict[tuple[int, int], float] = {}
    for size in product(TOKENS, BESIDE):
        wall, cpu = _timed(partial(_alone(one, *size), some), len(some))
        print(f"  {size[0]:4} tokens, {size[1]:2} beside: {wall:7.1f} lines a second, {cpu:7.1f} by processor time")
        tried[size] = wall if one.gpu else cpu
    best = max(tried, key=tried.__getitem__)
    single = max((size for size in tried if size[1] == 1), key=tried.__getitem__)
    embed, embed_single = _alone(one, *best), _alone(one, *single)
    worker = one.embedder("worker")
    worker.embed_documents(texts[:8])
    with _memory(folder / one.path.stem, texts) as memory:
        steps: dict[str, Callable[[], object]] = {
            f"llama.cpp alone ({best[0]} tokens, {best[1]} beside)": lambda: embed(raw),
            f"llama.cpp alone ({single[0]} tokens, each text alone)": lambda: embed_single(raw),
            "our worker": lambda: worker.embed_documents(texts),
            "an ingest": lambda: _ingest(memory, worker),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
        for _ in range(rounds):
            for name, step in steps.items():
                found[name].append(_timed(step, len(texts)))
    worker.close()
    rows = {name: tuple(map(statistics.median, zip(*each, strict=True))) for name, each in found.items()}
    wall, cpu = next(iter(rows.values()))
    for name, (by_clock, by_processor) in rows.items():
        print(
            f"  {name:44} {by_clock:7.1f} lines a second ({by_clock / wall:.2f}), "
            f"{by_processor:7.1f} by processor time ({by_processor / cpu:.2f})"
        )


def _memory(folder: Path, texts: Sequence[str]) -> Memory:
    """A memory of the lines, none of them embedded."""
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text("\n".join(f"- {text}" for text in texts), encoding="utf-8")
    settings = Settings().with_values({"embedding.model": "none"})
    memory = Memory(folder, settings=settings, db=folder / "index.duckdb", state=folder / "state.sqlite")
    memory.ingest()
    return memory


def _ingest(memory: Memory, embedder: LlamaCppEmbedder) -> None:
    """Embed what is pending, as an ingest does; under another name all of it is."""
    embedder.model = f"{embedder.model}+"
    done, failed = embed_pending(memory.store, embedder)
    assert done and not failed


def _timed(step: Callable[[], object], lines: int) -> tuple[float, float]:
    """Lines a second by the clock, and by the time of the processor in this process and its children."""
    before, started = _processor(), time.perf_counter()
    step()
    wall, cpu = time.perf_counter() - started, _processor() - before
    return lines / wall, lines / max(cpu, 1e-9)


def _processor() -> float:
    own = psutil.Process()
    return sum(each.cpu_times().user + each.cpu_times().system for each in (own, *own.children(recursive=True)))


# -- llama.cpp alone ------------------------------------------------------------------------------


def _alone(one: Chosen, tokens: int, beside: int) -> Callable[[Sequence[str]], object]:
    """The binding's own way to embed many texts at once, with batches of ``tokens``, ``beside`` texts side by side."""
    embed = (_llama_cpp_python if one.binding is COMPILED else _xllamacpp)(one, tokens, beside)
    embed(["warm"])
    return embed


def _llama_cpp_python(one: Chosen, tokens: int, beside: int) -> Callable[[Sequence[str]], object]:
    from llama_cpp import Llama

    size = max(tokens, 256)
    llama = Llama(
        str(one.path), embedding=True, n_ctx=size, n_batch=size, n_ubatch=size, n_threads=one.threads,
        n_threads_batch=one.threads, n_gpu_layers=-1 if one.gpu else 0, n_seq_max=beside, verbose=False,
    )  # fmt: skip
    return lambda texts: llama.embed(list(texts), normalize=False)


def _xllamacpp(one: Chosen, tokens: int, beside: int) -> Callable[[Sequence[str]], object]:
    import xllamacpp as x

    params: Any = x.CommonParams()
    params.model.path = str(one.path)
    params.embedding = True
    params.n_batch = params.n_ubatch = max(tokens, 256)
    params.n_parallel = beside
    params.n_ctx = 256 * beside
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = one.threads
    params.n_gpu_layers = -1 if one.gpu else 0
    params.no_extra_bufts = not ModelOptions("").repacks(x.get_system_info())
    params.warmup = params.fit_params = params.ui = params.endpoint_slots = False
    params.cache_ram_mib = 0
    params.verbosity = -1
    with tempfile.TemporaryDirectory() as folder:
        if os.name == "posix":
            params.hostnames = [os.path.join(folder, "s.sock")]
        server = x.Server(params)

    def embed(texts: Sequence[str]) -> object:
        told = json.loads(server.handle_embeddings(json.dumps({"input": list(texts), "encoding_format": "base64"})))
        assert len(told["data"]) == len(texts)
        return told

    return embed


if __name__ == "__main__":
    main()
