"""What each weight of the ranking is worth: every one left out, halved and doubled, over the same features.

    python -m benchmarks.weights --workspaces DIR --questions DIR [--index DIR] [--factors 0 0.5 2]

Folders and questions are as for ``benchmarks.real``.  Features are computed once a question; a row is the fused sum
with one weight changed, cut into hits as ``search`` cuts them.  What the concepts give is that of the default weights.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.real import METRICS, Row, Span, needed, scored
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.search import hits, ranking
from openclaw_memory.search.engine import Ranked

#: Tokens that a hit grows to, and hits that count.
GROWN, HITS = 400, 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the notes that it was asked of, and what each row of them had."""

    question: Row
    files: dict[str, list[str]]
    corpus: Corpus
    ranked: Ranked

    def measures(self, weights: dict[str, float]) -> dict[str, float]:
        """R@k and T@n with these weights."""
        corpus, allowed = self.corpus, self.ranked.allowed
        score = np.round(ranking.fuse(self.ranked.features, weights, allowed), 5)
        if self.ranked.graph is not None:
            score = score + np.float32(weights["graph"]) * self.ranked.graph
        grown = hits.grown(corpus, score, allowed, GROWN, HITS, allowed)
        spans = [hits.spans(corpus, score, allowed, budget) for budget in (1000, 2000)]
        first, small, large = ([self._span(one) for one in found] for found in (grown, *spans))
        return scored(self.question, (first, small, large), self.files)

    def _span(self, found: hits.Range) -> Span:
        path = self.corpus.documents[int(self.corpus.rows.document_id[found.first])].path
        return Span(path, *hits.lines(self.corpus, found))


def ask(workspace: Path, questions: Sequence[Row], index: Path) -> Iterator[Asked]:
    """Ask all questions that have an answer of one workspace."""
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9})
    name = workspace.name
    with Memory(workspace, settings=settings, db=index / f"{name}.duckdb", state=index / f"{name}.sqlite") as memory:
        memory.ingest()
        memory.search("")
        files = {
            path.relative_to(workspace).as_posix(): path.read_text(encoding="utf-8", errors="replace").split("\n")
            for path in sorted(workspace.rglob("*.md"))
        }
        asked, engine = memory._questions, memory._questions.engine()
        for question in questions:
            if not needed(question):
                continue
            now = date.fromisoformat(question["date_asked"]) if question.get("date_asked") else date.today()
            request = SearchRequest(question["query"], mode="hybrid", now=now, min_score=0.0)
            memory.search(request)
            vector = asked._vectorizer.embed_question(request.query)[3]
            with asked._store.session(), engine.lock:
                yield Asked(question, files, engine.graph.corpus, engine.weigh(request, "hybrid", now, vector)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--questions", type=Path, required=True, help="folder with NAME.jsonl for each of them")
    parser.add_argument("--index", type=Path, help="folder that keeps indexes between runs")
    parser.add_argument("--factors", type=float, nargs="+", default=[0, 0.5, 2], help="what weights are multiplied by")
    options = parser.parse_args(arguments)
    variants = {"as they are": ranking.WEIGHTS} | {
        f"`{name}` × {factor:g}": ranking.WEIGHTS | {name: weight * factor}
        for name, weight in ranking.WEIGHTS.items()
        for factor in options.factors
    }
    found: dict[str, list[dict[str, float]]] = {title: [] for title in variants}
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        for file in sorted(options.questions.glob("*.jsonl")):
            questions = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            for one in ask(options.workspaces / file.stem, questions, options.index or Path(folder)):
                for title, weights in variants.items():
                    found[title].append(one.measures(weights))
    print(f"| weights | {' | '.join(METRICS)} |", "|---" * (1 + len(METRICS)) + "|", sep="\n")
    for title, those in found.items():
        print(f"| {title} | {' | '.join(f'{statistics.fmean(one[m] for one in those):.3f}' for m in METRICS)} |")


if __name__ == "__main__":
    main()
