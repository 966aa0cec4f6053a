"""Ask the questions of a data set, beside BM25 over the same notes, and score by session and by turn."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import slips
from benchmarks.peers.plots import chart
from benchmarks.real import Chunks, Span, chunked, line_terms, read
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.model.embedder import Embedder

from .notes import Notes, Question, Workspace, opened

Row = dict[str, Any]
OURS, BASELINE = "openclaw-memory", "BM25"
#: Hits asked for, so that ten sessions are among them.
_HITS = 50
_BUDGETS = (1000, 2000)


def measure(ranked: Sequence[AbstractSet[str]], gold: Collection[str]) -> dict[str, float]:
    """Score passages by rank: the share of the evidence, any and all of it in the first k, nDCG@10 and MRR."""
    missing = set(gold)
    gains: list[int] = []
    out: dict[str, float] = {}
    for rank in range(1, 11):
        new = missing & ranked[rank - 1] if rank <= len(ranked) else set()
        missing -= new
        gains.append(len(new))
        if rank in (1, 5, 10):
            out[f"R@{rank}"] = 1 - len(missing) / len(gold)
            out[f"any@{rank}"] = float(len(missing) < len(gold))
            out[f"all@{rank}"] = float(not missing)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(gold)) + 1))
    out["nDCG@10"] = min(1.0, sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1)) / ideal)
    out["MRR"] = next((1 / rank for rank, keys in enumerate(ranked, 1) if keys & set(gold)), 0.0)
    return out


def touched(hit: Span, passages: Mapping[str, Span]) -> list[str]:
    """Return the passages that a hit overlaps, the one with most of its lines first: hits grow over their edges."""
    shared = {
        key: min(hit.end, one.end) - max(hit.start, one.start) + 1
        for key, one in passages.items()
        if one.path == hit.path and hit.start <= one.end and one.start <= hit.end
    }
    return sorted(shared, key=lambda key: -shared[key])


def scores(hits: Sequence[Span], budgets: Sequence[Sequence[Span]], question: Question, notes: Notes) -> Row:
    """Score an answer: hits folded to sessions, hits by the turns that they hold, and turns read within budgets."""
    out: Row = {}
    if question.evidence.get("session"):
        sessions = dict.fromkeys(key for hit in hits for key in touched(hit, notes.passages["session"])[:1])
        out["session"] = measure([{key} for key in sessions], question.evidence["session"])
    if gold := question.evidence.get("turn"):
        turns = notes.passages["turn"]
        out["turn"] = measure([set(touched(hit, turns)) for hit in hits[:10]], gold)
        for budget, found in zip(_BUDGETS, budgets, strict=True):
            keys = {key for span in read(found, notes.files, budget) for key in touched(span, turns)}
            out["turn"][f"T@{budget}"] = len(keys & gold) / len(gold)
    return out


@dataclass(frozen=True, slots=True)
class Runner:
    """What is asked, and how."""

    settings: Settings
    embedder: Embedder | None
    request: Mapping[str, Any]
    misspelt: bool = False

    def ask(self, memory: Memory, question: Question) -> tuple[list[list[Span]], float]:
        """Return the hits by count and within each budget, and the milliseconds of the first."""
        sizes: list[dict[str, Any]] = [{"max_results": _HITS}, *({"budget": budget} for budget in _BUDGETS)]
        text = slips.misspelt(question.text) if self.misspelt else question.text
        found = [
            memory.search(SearchRequest(text, now=question.asked, min_score=0.0, **size, **self.request))
            for size in sizes
        ]
        spans = [[Span(hit.path, hit.start_line, hit.end_line, hit.score) for hit in one.results] for one in found]
        return spans, found[0].took_ms

    def rows(self, workspace: Workspace) -> Iterator[Row]:
        """Read the notes of a workspace, and yield a row for each question."""
        notes = workspace.build()
        began = time.process_time()
        files = {path: "\n".join(lines) + "\n" for path, lines in notes.files.items()}
        with opened(files, self.settings, self.embedder) as memory:
            units = memory.ingest().chunks
            answers = [(question, *self.ask(memory, question)) for question in workspace.questions]
        seconds = time.process_time() - began
        terms = line_terms(notes.files)
        chunks = Chunks(terms, chunked(notes.files))
        sessions = Chunks(terms, notes.passages["session"].values())
        for question, (hits, *budgets), took in answers:
            ours = scores(hits, budgets, question, notes)
            read_by_words = chunks.ask(question.text)
            words = scores(read_by_words[0], read_by_words[1:], question, notes)
            if "session" in words:
                words["session"] = scores(sessions.ask(question.text)[0], ((), ()), question, notes)["session"]
            yield {
                "id": question.id, "category": question.category, OURS: ours, BASELINE: words, "ms": took,
                "units": units / len(answers), "seconds": seconds / len(answers),
                "results": [{"path": hit.path, "start_line": hit.start, "end_line": hit.end} for hit in hits],
            }  # fmt: skip


def spread(workspaces: Iterable[Workspace]) -> list[Workspace]:
    """Order workspaces by chance, the same one each time, so that each beginning has the categories in proportion."""
    by_category: dict[str, list[Workspace]] = {}
    for one in workspaces:
        by_category.setdefault(one.questions[0].category, []).append(one)
    placed: list[tuple[float, str, Workspace]] = []
    for members in by_category.values():
        members.sort(key=lambda one: hashlib.sha256(one.name.encode()).digest())
        placed += [((at + 0.5) / len(members), one.name, one) for at, one in enumerate(members)]
    return [one for *_, one in sorted(placed, key=lambda one: one[:2])]


def run(workspaces: Sequence[Workspace], runner: Runner, out: Path | None) -> list[Row]:
    """Return a row for each question; those that ``out`` holds already are not asked again."""
    rows: list[Row] = []
    if out is not None and out.exists():
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    done = {row["id"] for row in rows}
    began = time.monotonic()
    for count, workspace in enumerate(workspaces, 1):
        if all(question.id in done for question in workspace.questions):
            continue
        new = list(runner.rows(workspace))
        rows += new
        if out is not None:
            with open(out, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
        print(f"{count} of {len(workspaces)}: {workspace.name}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    asked = {question.id for workspace in workspaces for question in workspace.questions}
    return [row for row in rows if row["id"] in asked]


def interval(mean: float, number: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; for means of shares it is a little too wide."""
    z = 1.96
    middle = (mean + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(max(0.0, mean * (1 - mean)) / number + z * z / (4 * number * number))
    return middle - half, middle + half


def tables(rows: Sequence[Row], measures: Mapping[str, Sequence[str]], published: Iterable[Row]) -> str:
    """Return a table for each grain: ours and BM25 with intervals, what others publish, and first ours by category."""
    parts: list[str] = []
    for grain, names in measures.items():
        lines = [f"| by {grain} | n | {' | '.join(names)} |", "|---" * (2 + len(names)) + "|"]
        for system in (OURS, BASELINE):
            own = [row[system][grain] for row in rows if grain in row[system]]
            cells = [_share(fmean(one[name] for one in own), len(own)) for name in names]
            lines.append(f"| {system} | {len(own)} | {' | '.join(cells)} |")
        for other in published:
            if other["grain"] == grain:
                cells = [_number(other[name]) if name in other else "" for name in names]
                lines.append(f"| {other['system']} (published) | {other['n']} | {' | '.join(cells)} |")
        if not parts:
            for category in sorted({row["category"] for row in rows}):
                own = [row[OURS][grain] for row in rows if row["category"] == category and grain in row[OURS]]
                cells = [_number(fmean(one[name] for one in own)) if own else "" for name in names]
                lines.append(f"| … {category} | {len(own)} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def plot(rows: Sequence[Row], title: str) -> str:
    """Draw the share of the evidence in the first hits, for each grain beside BM25."""
    lines = {}
    for grain in ("session", "turn"):
        for system in (OURS, BASELINE):
            if own := [row[system][grain] for row in rows if grain in row[system]]:
                lines[f"{system}, by {grain}"] = [(k, fmean(scores[f"R@{k}"] for scores in own)) for k in (1, 5, 10)]
    return chart(title, "first hits", "share of the evidence", lines)


def _number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _share(mean: float, number: int) -> str:
    low, high = interval(mean, number)
    return f"{_number(mean)} ({_number(low)} to {_number(high)})"
