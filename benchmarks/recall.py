"""Measure the share of a question's evidence in a thread, against a search with the same number of tokens.

    python -m benchmarks.recall --workspaces DIR --embedding-cache CACHE

DIR is laid out as for ``benchmarks.workspaces``; its questions also have ``evidence`` (``[{path, line}]``) and
``category_name``.  For each budget, by category: the share of the evidence lines in a thread of one, two and three
hops, and in a search that may spend the tokens that the thread of two hops took.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.workspaces import DiskCachedEmbedder, questions
from openclaw_memory import Memory, SearchHit, Settings
from openclaw_memory.embed.manager import choose_embedder
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
    parser.add_argument("--budgets", type=int, nargs="+", default=[500, 1000, 2000], help="tokens of a thread")
    parser.add_argument("--categories", nargs="+", help="only questions of these categories")
    options = parser.parse_args(arguments)
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9})
    embedder = choose_embedder(settings).embedder
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
                if options.categories and row["category_name"] not in options.categories:
                    continue
                for budget in options.budgets:
                    for what, share in compared(memory, workspace, row, budget):
                        shares[budget, str(row["category_name"]), what].append(share)
                        shares[budget, "all", what].append(share)
        cached.save()
    for most, category, what in sorted(shares, key=lambda key: (key[0], key[1] == "all", key[1], key[2])):
        values = shares[most, category, what]
        print(f"{most:>5} tokens  {category:<12} n={len(values):<4} {what:<32} {sum(values) / len(values):8.3f}")


def compared(memory: Memory, workspace: Path, row: dict[str, Any], most: int) -> Iterable[tuple[str, float]]:
    """Name and share of the evidence of each way to answer one question."""
    asked = date.fromisoformat(str(row["date_asked"])[:10].replace("/", "-"))
    evidence = {(one["path"], one["line"]) for one in row["evidence"]}
    if not evidence:
        return
    spent = 0.0
    for hops in (1, 2, 3):
        found = memory.recall(row["question"], hops=hops, budget=most, now=asked).results
        lines = lines_of(found)
        yield f"recall, {hops} hops", len(evidence & lines) / len(evidence)
        if hops == 2:
            spent = tokens_of(workspace, lines)
            yield "  its results", len(found)
            yield "  of them by a step", sum(1 for hit in found if hit.distance)
    yield "  its tokens", spent
    lines = lines_of(memory.search(row["question"], budget=max(1, round(spent)), now=asked).results)
    yield "search, the same tokens", len(evidence & lines) / len(evidence)


if __name__ == "__main__":
    main()
