"""Ask labelled questions of real workspaces, beside BM25 over chunks; tables by workspace, language and category.

    python -m benchmarks.real --workspaces DIR --questions DIR [--only NAME] [--mode hybrid] [--index DIR] [--out FILE]

DIR of the workspaces holds one folder each, DIR of the questions one ``NAME.jsonl`` for each folder, a question a line:

    {"id": "1", "query": "When was the boiler repaired?", "category": "temporal", "date_asked": "2026-03-01",
     "lang": "en", "query_lang": "en", "evidence_any": [{"path": "memory/2026-02-13.md", "start": 4, "end": 4}]}

``evidence_any`` are alternatives, ``evidence_all`` is a list of lists of alternatives of which one each is needed, and
a question without either has no answer; ``category``, ``lang``, ``query_lang`` and ``date_asked`` may be left out.
R@k is the share of the needed places that one of the first k hits overlaps, T@n the share of those that are read when
hits are read in rank order until n tokens are spent.  Workspaces are copied before they are read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks import slips
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.model import tokens_of
from openclaw_memory.text import analysis

#: Characters of a chunk: 400 tokens of four, as long as a hit.
CHUNK = 1_600
METRICS = ("R@1", "R@5", "R@10", "MRR", "T@1000", "T@2000")


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file that a system returned, and how sure it is of them."""

    path: str
    start: int
    end: int
    score: float = 0.0

    def overlaps(self, evidence: dict[str, Any]) -> bool:
        """Whether it holds a line of ``evidence``."""
        return bool(self.path == evidence["path"] and self.start <= evidence["end"] and evidence["start"] <= self.end)


#: Hits by count, and by budgets of 1,000 and 2,000 tokens.
Answer = tuple[list[Span], list[Span], list[Span]]
Row = dict[str, Any]


def chunked(files: dict[str, list[str]]) -> Iterator[Span]:
    """Yield whole lines of about :data:`CHUNK` characters."""
    for path, lines in files.items():
        start, length = 1, 0
        for number, line in enumerate([*lines, None], 1):
            if line is None or (length and length + len(line) > CHUNK):
                yield Span(path, start, number - 1)
                start, length = number, 0
            length += len(line or "") + 1


def line_terms(files: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    """Return the terms of each line of each file."""
    return {path: [analysis.terms(line) for line in lines] for path, lines in files.items()}


class Chunks:
    """BM25 of the package ``bm25s`` over spans, in the terms of the product, which are given for each line."""

    def __init__(self, terms: Mapping[str, list[list[str]]], spans: Iterable[Span]) -> None:
        import bm25s  # type: ignore[import-untyped]

        self._spans = list(spans)
        texts = [list(chain.from_iterable(terms[span.path][span.start - 1 : span.end])) or [""] for span in self._spans]
        self._index = bm25s.BM25(k1=1.5, b=0.75)
        self._index.index(texts, show_progress=False)

    def ask(self, query: str) -> Answer:
        """The 40 best chunks, whatever the size."""
        terms = [analysis.query_terms(query) or [""]]
        places, scores = self._index.retrieve(terms, k=min(40, len(self._spans)), show_progress=False)
        found = [
            Span(one.path, one.start, one.end, float(score))
            for one, score in ((self._spans[place], score) for place, score in zip(places[0], scores[0], strict=True))
            if score > 0
        ]
        return found[:10], found, found


def needed(question: Row) -> list[list[Row]]:
    """Places that the answer needs, each as alternatives."""
    if "evidence_any" in question:
        return [question["evidence_any"]]
    groups: list[list[Row]] = question.get("evidence_all", [])
    return groups


def read(found: Sequence[Span], files: dict[str, list[str]], budget: float) -> list[Span]:
    """What is read of ``found`` in rank order for ``budget`` tokens; a line is paid for once."""
    seen: set[tuple[str, int]] = set()
    out = []
    for span in found:
        last = span.start - 1
        for number in range(span.start, min(span.end, len(files.get(span.path, []))) + 1):
            if (span.path, number) not in seen:
                budget -= tokens_of(files[span.path][number - 1]) + 0.25
                if budget < 0:
                    break
                seen.add((span.path, number))
            last = number
        if last >= span.start:
            out.append(Span(span.path, span.start, last))
        if budget < 0:
            break
    return out


def scored(question: Row, answer: Answer, files: dict[str, list[str]]) -> dict[str, float]:
    """The measures of one question that has an answer."""
    groups = needed(question)
    ranks = [
        next((at for at, hit in enumerate(answer[0], 1) if any(map(hit.overlaps, group))), None) for group in groups
    ]
    out = {f"R@{k}": sum(rank is not None and rank <= k for rank in ranks) / len(groups) for k in (1, 5, 10)}
    out["MRR"] = 1 / min((rank for rank in ranks if rank), default=float("inf"))
    for budget, found in ((1000, answer[1]), (2000, answer[2])):
        spans = read(found, files, budget)
        out[f"T@{budget}"] = sum(any(span.overlaps(one) for span in spans for one in group) for group in groups) / len(
            groups
        )
    return out


def asked(memory: Memory, question: Row, mode: str) -> tuple[Answer, float]:
    """The product's answer, and the milliseconds of the one by count."""
    now = date.fromisoformat(question["date_asked"]) if question.get("date_asked") else None
    sizes: list[list[Span]] = []
    took = 0.0
    for size in ({"max_results": 10}, {"budget": 1000}, {"budget": 2000}):
        result = memory.search(SearchRequest(question["query"], mode=mode, now=now, min_score=0.0, **size))  # type: ignore[arg-type]
        took = took or result.took_ms
        sizes.append([Span(hit.path, hit.start_line, hit.end_line, hit.score) for hit in result.results])
    return (sizes[0], sizes[1], sizes[2]), took


def copied(workspace: Path, kept: Path) -> tuple[Path, dict[str, list[str]]]:
    """The copy of a workspace in the folder ``kept``, and the lines of its files."""
    own = kept / "workspaces" / workspace.name
    if not own.exists():
        shutil.copytree(workspace, own)
    return own, {
        path.relative_to(own).as_posix(): path.read_text(encoding="utf-8", errors="replace").split("\n")
        for path in sorted(own.rglob("*.md"))
    }


def run(workspace: Path, questions: Sequence[Row], settings: Settings, mode: str, kept: Path) -> list[Row]:
    """A row for each question and system."""
    name = workspace.name
    own, files = copied(workspace, kept)
    rows: list[Row] = []
    with Memory(own, settings=settings, db=kept / f"{name}.duckdb", state=kept / f"{name}.sqlite") as memory:
        report = memory.ingest()
        print(f"{name}: {report.files} files, {report.chunks} units", file=sys.stderr)
        chunks = Chunks(line_terms(files), chunked(files))
        for question in questions:
            about = {
                "id": question["id"],
                "workspace": name,
                "category": question.get("category", "any"),
                "language": f"notes {question.get('lang', '?')}, question {question.get('query_lang', '?')}",
                "lang": question.get("lang", "?"),
            }
            answer, took = asked(memory, question, mode)
            for system, found, ms in ((mode, answer, took), ("chunks", chunks.ask(question["query"]), None)):
                row = about | {"system": system, "top": found[0][0].score if found[0] else 0.0, "ms": ms}
                rows.append(row | scored(question, found, files) if needed(question) else row)
    return rows


def table(title: str, rows: Iterable[Row], key: Callable[[Row], str]) -> str:
    """Means by ``key`` and system, as Markdown."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "R@1" in row:
            parts.setdefault((key(row), row["system"]), []).append(row)
    lines = [f"### {title}", "", f"| | system | n | {' | '.join(METRICS)} |", "|---" * (3 + len(METRICS)) + "|"]
    for (value, system), part in sorted(parts.items(), key=lambda one: (one[0][0], one[0][1] == "chunks")):
        means = " | ".join(f"{statistics.fmean(row[metric] for row in part):.3f}" for metric in METRICS)
        lines.append(f"| {value} | {system} | {len(part)} | {means} |")
    return "\n".join([*lines, ""])


def sureness(rows: Sequence[Row], mode: str) -> str:
    """How well the best score tells questions with an answer from those without, by language of the notes."""
    lines = ["### Best score", "", "| notes | with an answer | without | AUC |", "|---|---|---|---|"]
    for lang in sorted({row["lang"] for row in rows}):
        mine = [row for row in rows if row["system"] == mode and row["lang"] == lang]
        high = [row["top"] for row in mine if "R@1" in row]
        low = [row["top"] for row in mine if "R@1" not in row]
        if high and low:
            auc = statistics.fmean((a > b) + 0.5 * (a == b) for a in high for b in low)
            lines.append(
                f"| {lang} | {len(high)}: median {statistics.median(high):.2f} "
                f"| {len(low)}: median {statistics.median(low):.2f}, most {max(low):.2f} | {auc:.2f} |"
            )
    return "\n".join([*lines, ""])


def report(rows: Sequence[Row], mode: str) -> str:
    """All tables."""
    took = sorted(row["ms"] for row in rows if row["ms"] is not None)
    parts = [table("All", rows, lambda row: "all")]
    parts += [table(f"By {name}", rows, itemgetter(name)) for name in ("workspace", "language", "category")]
    parts.append(sureness(rows, mode))
    if took:
        parts.append(f"Ten hits: median {statistics.median(took):.1f} ms, longest {took[-1]:.1f} ms.")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--questions", type=Path, required=True, help="folder with NAME.jsonl for each of them")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this workspace alone")
    parser.add_argument("--mode", choices=["hybrid", "vector", "keyword"], default="hybrid")
    parser.add_argument("--index", type=Path, help="folder that keeps copies and indexes between runs")
    parser.add_argument("--out", type=Path, help="file for a row of JSON for each question and system")
    parser.add_argument("--model", help="embedding.model: a name of model list or the path of a GGUF file")
    parser.add_argument("--misspelt", action="store_true", help="with a slip of the finger in each question")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting")
    options = parser.parse_args(arguments)
    values: dict[str, object] = dict(item.split("=", 1) for item in options.set)
    if options.model:
        values["embedding.model"] = options.model
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, **values})
    rows: list[Row] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        for file in sorted(options.questions.glob("*.jsonl")):
            if options.only and file.stem not in options.only:
                continue
            asked_for = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            if options.misspelt:
                asked_for = [one | {"query": slips.misspelt(one["query"])} for one in asked_for]
            rows += run(
                options.workspaces / file.stem, asked_for, settings, options.mode, options.index or Path(folder)
            )
    if options.out:
        options.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(report(rows, options.mode))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
