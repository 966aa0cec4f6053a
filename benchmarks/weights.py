"""Measure what each weight of the ranking contributes: leave out, halve and double it over the same features.

    python -m benchmarks.weights --workspaces DIR --questions DIR [--index DIR] [--factors 0 0.5 2]

Folders and questions are as for ``benchmarks.real``.  Features are computed once a question; a row is the fused sum
with one weight changed, cut into hits as ``search`` cuts them.  The scores from concepts are those of the default
weights.
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
from openclaw_memory.embed.vocabulary import language_coverage
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.search import features, hits
from openclaw_memory.search.question import Question
from openclaw_memory.search.ranking import Query, Ranking, rank

#: Tokens that a hit grows to, and hits that count.
GROWN, HITS = 400, 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the notes that it was asked of, and what each row of them had."""

    question: Row
    files: dict[str, list[str]]
    corpus: Corpus
    ranking: Ranking

    def measures(self, weights: dict[str, float]) -> dict[str, float]:
        """R@k and T@n with these weights."""
        corpus, allowed = self.corpus, self.ranking.allowed
        score = np.round(features.fuse(self.ranking.features, weights, allowed), 5)
        if self.ranking.graph is not None:
            score = score + np.float32(weights["graph"]) * self.ranking.graph
        grown = hits.grow_hits(corpus, score, allowed, GROWN, HITS, allowed)
        spans = [hits.fill_budget(corpus, score, allowed, budget) for budget in (1000, 2000)]
        first, small, large = ([self._span(one) for one in found] for found in (grown, *spans))
        return scored(self.question, (first, small, large), self.files)

    def _span(self, found: hits.Range) -> Span:
        path = self.corpus.documents[int(self.corpus.rows.document_id[found.first])].path
        return Span(path, *hits.line_range(self.corpus, found))


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
        service, resident = memory._questions, memory._questions.index()
        for question in questions:
            if not needed(question):
                continue
            now = date.fromisoformat(question["date_asked"]) if question.get("date_asked") else date.today()
            request = SearchRequest(question["query"], mode="hybrid", now=now, min_score=0.0)
            memory.search(request)
            embedder, _, _, vector = service._vectorizer.embed_question(request.query)
            assert embedder is not None and vector is not None
            noise, coverage = service._vectorizer.noise_level(embedder), language_coverage(embedder, request.query)
            query = Query(Question(request.query, now), request, "hybrid", vector, noise, coverage)
            with resident.reading():
                yield Asked(question, files, resident.corpus, rank(query, resident))


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--questions", type=Path, required=True, help="folder with NAME.jsonl for each of them")
    parser.add_argument("--index", type=Path, help="folder that keeps indexes between runs")
    parser.add_argument("--factors", type=float, nargs="+", default=[0, 0.5, 2], help="what weights are multiplied by")
    options = parser.parse_args(arguments)
    variants = {"as they are": features.WEIGHTS} | {
        f"`{name}` × {factor:g}": features.WEIGHTS | {name: weight * factor}
        for name, weight in features.WEIGHTS.items()
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
