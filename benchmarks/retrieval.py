"""Rank the answers to labelled questions with the public API, one result file per run.

    python -m benchmarks.retrieval --workspaces DIR --out RUN.jsonl --budget 2000

DIR is a folder as ``benchmarks.workspaces`` says.  Each question is asked as of its date.  RUN.jsonl gets a row for
each: ``{"id", "results": [{"path", "start_line", "end_line"}, ...], "latency_ms"}`` in rank order.  Each workspace's
index lives in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from benchmarks import slips
from benchmarks.workspaces import DiskCachedEmbedder, questions
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.model.embedder import Embedder


def run(
    root: Path, settings: Settings, request: dict[str, object], cache: Path | None, misspelt: bool = False
) -> Iterator[dict[str, object]]:
    """Rows of the result file, workspace by workspace."""
    from openclaw_memory.embed.manager import choose_embedder

    resolved = choose_embedder(settings)
    if resolved.embedder is None:
        print(f"without vectors: {resolved.reason}", file=sys.stderr)
    embedder: Embedder | None = resolved.embedder
    cached = DiskCachedEmbedder(embedder, cache) if cache and embedder else None
    for name, rows in questions(root).items():
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
            memory = Memory(
                root / name,
                settings=settings,
                db=None if settings.store.url else Path(folder) / "index.duckdb",
                state=Path(folder) / "state.sqlite",
                embedder=cached or embedder,
            )
            started = time.perf_counter()
            report = memory.ingest()
            print(
                f"{name}: {report.files} files, {report.chunks} units, {report.embedded} vectors, "
                f"{time.perf_counter() - started:.1f} s",
                file=sys.stderr,
            )
            for row in rows:
                asked = date.fromisoformat(str(row["date_asked"])[:10].replace("/", "-"))
                question = slips.misspelt(str(row["question"])) if misspelt else str(row["question"])
                asked_for = SearchRequest(question, now=asked, min_score=0.0, **request)  # type: ignore[arg-type]
                began = time.perf_counter()
                found = memory.search(asked_for)
                yield {
                    "id": row["id"],
                    "results": [
                        {"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line}
                        for hit in found.results
                    ],
                    "scores": [hit.score for hit in found.results],
                    "latency_ms": round((time.perf_counter() - began) * 1000, 2),
                }
            memory.close()
            if cached is not None:
                cached.save()


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with queries.jsonl and the workspaces")
    parser.add_argument("--out", type=Path, required=True, help="result file to write")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--max-results", type=int, help="results per question, each grown to about 400 tokens")
    size.add_argument("--budget", type=int, help="tokens per question, in spans of lines")
    parser.add_argument("--mode", choices=["hybrid", "vector", "keyword"], default="hybrid")
    parser.add_argument("--fusion", choices=["score", "rrf"], default="score")
    parser.add_argument("--model", help="embedding.model: a registry name or the path of a GGUF file")
    parser.add_argument("--embedding-cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--misspelt", action="store_true", help="with a slip of the finger in each question")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting")
    options = parser.parse_args(arguments)
    values: dict[str, object] = dict(item.split("=", 1) for item in options.set)
    if options.model:
        values["embedding.model"] = options.model
    request: dict[str, object] = {"mode": options.mode, "fusion": options.fusion}
    if options.budget:
        request["budget"] = options.budget
    else:
        request["max_results"] = options.max_results or 10
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, **values})
    with open(options.out, "w", encoding="utf-8") as out:
        for row in run(options.workspaces, settings, request, options.embedding_cache, options.misspelt):
            out.write(json.dumps(row) + "\n")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
