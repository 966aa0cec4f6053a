"""Run benchmarks that others made.

    python -m benchmarks.public                                     where each data set comes from
    python -m benchmarks.public NAME FOLDER [--model none] [--sample N] [--out ROWS.jsonl] [--write docs/benchmarks.md]

FOLDER holds a checkout of the data set; nothing is fetched.  With ``--out`` a row for each question is kept, and a run
that was broken off goes on from there.  A sample is the beginning of an order by chance, the same one each time, in
which the categories are in proportion; so a larger one goes on from a smaller one.  ``--write`` puts the tables, with
their command, time and machine, between the marks of that page.  ``--workspaces`` asks nothing, but writes notes and
questions as the other benchmarks read them.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import page
from benchmarks.workspaces import DiskCachedEmbedder
from openclaw_memory import Settings
from openclaw_memory.embed.manager import choose_embedder
from openclaw_memory.model.embedder import Embedder

from . import brainbench, fact_consolidation, halumem, harness, locomo, longmemeval, precision, retrieval
from .notes import Workspace, write_workspaces

#: Runs a benchmark on a folder and returns its table.
Run = Callable[[Path, Settings, "Embedder | None"], str]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where a data set comes from, and how it is run: ``read`` for questions with evidence, ``run`` for the others.

    ``measures`` are the columns by grain, ``published`` rows that others state of themselves.
    """

    origin: str
    licence: str
    read: Callable[[Path], Iterator[Workspace]] | None = None
    run: Run | None = None
    measures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    published: Sequence[retrieval.Row] = ()


def _session(system: str, n: int, **values: float) -> dict[str, Any]:
    return {"grain": "session", "system": system, "n": n, **{key.replace("_", "@"): one for key, one in values.items()}}


DATA_SETS = {
    "longmemeval": DataSet(
        "longmemeval_s.json of xiaowu0162/LongMemEval, or the folders lme_jsons of hussainzs/Memoria (499 of 500)",
        "MIT",
        longmemeval.read,
        measures={
            "session": ("any@1", "any@5", "all@5", "all@10", "nDCG@10", "MRR"),
            "turn": ("any@1", "any@5", "all@5", "all@10", "T@1000", "T@2000"),
        },
        published=(
            _session("BM25, reproduced by others", 500, any_5=0.952),
            _session("MemPalace", 500, any_5=0.984),
            _session("memweave", 500, any_1=0.900, any_5=0.980),
            _session("a trained reranker", 500, all_5=0.964),
        ),
    ),
    "precision": DataSet("tenurehq/precisionMemBench", "MIT", run=precision.run),
    "locomo": DataSet(
        "data/locomo10.json of snap-research/locomo",
        "CC BY-NC 4.0",
        locomo.read,
        measures={
            "session": ("R@1", "R@5", "R@10", "all@10", "nDCG@10", "MRR"),
            "turn": ("R@1", "R@5", "R@10", "all@10", "T@1000", "T@2000"),
        },
        published=(
            _session("the best without a model", 1986, R_10=0.889),
            _session("with a large embedder", 1986, R_10=0.924),
        ),
    ),
    "harness": DataSet("vectorize-io/agent-memory-benchmark", "none stated", run=harness.run),
    "brainbench": DataSet("evals/brainbench of garrytan/gbrain", "MIT", run=brainbench.run),
    "factconsolidation": DataSet(
        "Conflict_Resolution of ai-hyz/MemoryAgentBench, or fixtures of syntarus12/evals (6k and 32k)",
        "MIT",
        run=fact_consolidation.run,
    ),
    "halumem": DataSet(
        "HaluMem-Medium.jsonl of IAAR-Shanghai/HaluMem, or data/pilot_slices of 77samuel/HaluMem (3 of 20 people)",
        "CC BY-NC-ND 4.0",
        halumem.read,
        measures={"session": ("R@1", "R@5", "R@10", "all@10", "nDCG@10", "MRR")},
    ),
}


def listing() -> str:
    """Return the data sets as a table."""
    rows = [f"| {name} | {one.origin} | {one.licence} |" for name, one in DATA_SETS.items()]
    return "\n".join(["| name | data | licence |", "|---|---|---|", *rows])


def measured(
    chosen: DataSet, options: argparse.Namespace, embedder: Embedder | None, settings: Settings
) -> tuple[str, dict[str, str]]:
    """Run a data set; return its tables below what was run, on what, and for how long, and plots by file name."""
    began = time.process_time()
    asked: list[str] = []
    plots: dict[str, str] = {}
    absent = f"{options.folder} does not hold {options.name}: {chosen.origin}"
    if chosen.run is not None:
        try:
            text = chosen.run(options.folder, settings, embedder)
        except FileNotFoundError as problem:
            raise SystemExit(absent) from problem
        seconds = time.process_time() - began
    else:
        assert chosen.read is not None
        workspaces = retrieval.spread(chosen.read(options.folder))
        if not workspaces:
            raise SystemExit(absent)
        runner = retrieval.Runner(settings, embedder, {"mode": options.mode}, options.misspelt)
        rows = retrieval.run(workspaces[: options.sample], runner, options.out)
        file = f"public-{options.name}.svg"
        plots[file] = retrieval.plot(rows, f"{options.name}: evidence found")
        text = f"{retrieval.tables(rows, chosen.measures, chosen.published)}\n\n![{options.name}](images/{file})"
        asked = [f"{len(rows)} questions about {sum(row['units'] for row in rows):,.0f} units"]
        seconds = sum(row["seconds"] for row in rows)
    words = [options.name, "FOLDER", *(f"--{name} {shlex.quote(str(value))}" for name, value in _named(options))]
    model = embedder.model if embedder else "words only"
    line = page.heading(f"public {' '.join(words)}", model, *asked, spent=f"{seconds:,.0f} s of this process")
    return f"{line}\n\n{text}", plots


def _named(options: argparse.Namespace) -> Iterator[tuple[str, object]]:
    for name in ("model", "sample"):
        if (value := getattr(options, name)) is not None:
            yield name, value
    if options.mode != "hybrid":
        yield "mode", options.mode


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=DATA_SETS)
    parser.add_argument("folder", nargs="?", type=Path, help="folder that holds the data set")
    parser.add_argument("--model", help="embedding.model: a name of model list, the path of a GGUF file, or none")
    parser.add_argument("--mode", choices=["hybrid", "vector", "keyword"], default="hybrid")
    parser.add_argument("--sample", type=int, metavar="N", help="only the first N workspaces of the order by chance")
    parser.add_argument("--misspelt", action="store_true", help="with a slip of the finger in each question")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting")
    parser.add_argument("--embedding-cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--out", type=Path, help="file of a row of JSON for each question; an earlier one is continued")
    parser.add_argument("--write", type=Path, help="page whose part between the marks is replaced")
    parser.add_argument("--workspaces", type=Path, metavar="DIR", help="write notes and questions to this folder")
    options = parser.parse_args(arguments)
    if options.name is None:
        print(listing())
        return
    if options.folder is None or not options.folder.is_dir():
        parser.error(f"give the folder of {options.name}: {DATA_SETS[options.name].origin}")
    values: dict[str, object] = dict(item.split("=", 1) for item in options.set)
    if options.model:
        values["embedding.model"] = options.model
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, **values})
    chosen = DATA_SETS[options.name]
    if options.workspaces:
        if chosen.read is None:
            parser.error(f"{options.name} has no questions with evidence")
        workspaces = retrieval.spread(chosen.read(options.folder))[: options.sample]
        if not workspaces:
            parser.error(f"{options.folder} does not hold {options.name}: {chosen.origin}")
        print(f"{write_workspaces(workspaces, options.workspaces)} questions: {options.workspaces}")
        return
    choice = choose_embedder(settings)
    if choice.embedder is None:
        print(f"without vectors: {choice.reason}", file=sys.stderr)
    embedder = choice.embedder
    if embedder is not None and options.embedding_cache:
        embedder = DiskCachedEmbedder(embedder, options.embedding_cache)
    text, plots = measured(chosen, options, embedder, settings)
    if embedder is not None and choice.embedder is not None:
        embedder.close()
        choice.embedder.close()
    print(text)
    if options.write:
        page.replace(options.write, f"public {options.name}", text, plots)


if __name__ == "__main__":
    main()
