"""What a thread brings of a question's evidence, against a search that may spend as many tokens.

    python -m benchmarks.recall --workspaces DIR --embedding-cache CACHE

DIR is laid out as for ``benchmarks.retrieval``; its questions also have ``evidence`` (``[{path, line}]``) and
``category_name``.  For each number of results, by category: the share of the evidence lines in a thread of one,
two and three hops, and in a search with the budget that the thread of two hops took.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.retrieval import DiskCachedEmbedder, questions
from openclaw_memory import Memory, SearchHit, Settings
from openclaw_memory.embed.factory import resolve
from openclaw_memory.model import CHARS_PER_TOKEN

Lines = set[tuple[str, int]]


def lines_of(hits: Iterable[SearchHit]) -> Lines:
    """The lines that hits stand on."""
    return {(hit.path, line) for hit in hits for line in range(hit.start_line, hit.end_line + 1)}


def tokens_of(workspace: Path, lines: Lines) -> float:
    """What reading these lines costs."""
    texts = {path: (workspace / path).read_text(encoding="utf-8").splitlines() for path, _ in lines}
    return sum(len(texts[path][line - 1]) + 1 for path, line in lines) / CHARS_PER_TOKEN


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with queries.jsonl and the workspaces")
    parser.add_argument("--embedding-cache", type=Path, required=True, help="folder that keeps vectors between runs")
    parser.add_argument("--results", type=int, nargs="+", default=[5, 10], help="results of a thread")
    options = parser.parse_args(arguments)
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9})
    embedder = resolve(settings).embedder
    assert embedder is not None, "needs a model"
    cached = DiskCachedEmbedder(embedder, options.embedding_cache)
    shares: defaultdict[tuple[int, str, str], list[float]] = defaultdict(list)
    for name, rows in questions(options.workspaces).items():
        workspace = options.workspaces / name
        with (
            tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder,
            Memory(
                workspace,
                settings=settings,
                db=Path(folder) / "index.duckdb",
                state=Path(folder) / "state.sqlite",
                embedder=cached,
            ) as memory,
        ):
            memory.ingest()
            for row in rows:
                for results in options.results:
                    for what, share in compared(memory, workspace, row, results):
                        shares[results, str(row["category_name"]), what].append(share)
                        shares[results, "all", what].append(share)
        cached.save()
    for results, category, what in sorted(shares, key=lambda key: (key[0], key[1] == "all", key[1], key[2])):
        values = shares[results, category, what]
        print(f"{results:>3} results  {category:<12} n={len(values):<4} {what:<32} {sum(values) / len(values):8.3f}")


def compared(memory: Memory, workspace: Path, row: dict[str, Any], results: int) -> Iterable[tuple[str, float]]:
    """Name and share of the evidence of each way to answer one question."""
    asked = date.fromisoformat(str(row["date_asked"])[:10].replace("/", "-"))
    evidence = {(one["path"], one["line"]) for one in row["evidence"]}
    if not evidence:
        return
    budget = 0.0
    for hops in (1, 2, 3):
        lines = lines_of(memory.recall(row["question"], hops=hops, max_results=results, now=asked).results)
        yield f"recall, {hops} hops", len(evidence & lines) / len(evidence)
        if hops == 2:
            budget = tokens_of(workspace, lines)
    yield "  its tokens", budget
    for what, found in (
        ("search, the same budget", memory.search(row["question"], budget=max(1, int(budget)), now=asked)),
        ("search, as many results", memory.search(row["question"], max_results=results, now=asked)),
    ):
        lines = lines_of(found.results)
        yield what, len(evidence & lines) / len(evidence)
    yield "  its tokens (as many results)", tokens_of(workspace, lines)


if __name__ == "__main__":
    main()
