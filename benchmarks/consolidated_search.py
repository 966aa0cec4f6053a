"""Measure the recall of search after all old notes were consolidated, against random and lead-sentence summaries.

    python -m benchmarks.consolidated_search --workspaces DIR [--embedding-cache DIR] [--random 3] [--json]

DIR is as for ``benchmarks.workspaces``.  Each workspace is copied, ingested
and consolidated long after its last day.  Then each question is asked with a budget of 2,000 tokens: by default, where
summaries cover the notes, and with ``include_archived``.  A line of a summary counts as the lines that it cites; its
cost is its length in tokens, with the citation.  Random and lead selection spend as many tokens as ours in each period.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.embed.manager import choose_embedder
from openclaw_memory.ingest.summary_files import parse_line
from openclaw_memory.model import Grain
from openclaw_memory.summarise import builder
from openclaw_memory.summarise.sentences import Sentence, format_line, line_tokens
from openclaw_memory.summarise.summary import Part, Summary, summarise
from openclaw_memory.text.lines import split_lines

from .workspaces import DiskCachedEmbedder, questions

_BUDGET = 2000
#: Long after the last day of any workspace.
_LATER = datetime(2035, 1, 15, 12, tzinfo=UTC)

Summarise = Callable[..., Summary]
Line = tuple[str, int]


@dataclass
class Figures:
    """Sums over questions: shares of evidence, and over workspaces: characters that are searched."""

    found: dict[str, list[float]] = field(default_factory=dict)
    characters: int = 0
    of: int = 0


def same_length(choose: Callable[[list[Sentence]], list[Sentence]]) -> Summarise:
    """A summariser that takes sentences in the order of ``choose`` until it has spent what ours spends."""

    def made(sentences: Sequence[Sentence], grain: Grain, budget: float, **options: Any) -> Summary:
        limit = sum(
            line_tokens(format_line(one, False)) for one in summarise(sentences, grain, budget, **options).sentences()
        )
        given = sorted(sentences, key=lambda one: (one.day, one.order))
        taken: list[Sentence] = []
        for one in choose(given):
            price = line_tokens(format_line(one, False))
            if price <= limit:
                limit -= price
                taken.append(one)
        taken.sort(key=lambda one: (one.day, one.order))
        return Summary((Part("Notes", tuple(taken)),)) if taken else Summary(())

    return made


def shuffled(seed: int) -> Callable[[list[Sentence]], list[Sentence]]:
    """The sentences in an order that the seed decides."""

    def choose(given: list[Sentence]) -> list[Sentence]:
        return random.Random(seed).sample(given, len(given))

    return choose


def read_lines(memory: Memory, request: SearchRequest) -> Iterator[tuple[set[Line], float]]:
    """What each line of the answer shows, by the notes' own lines, and its cost in tokens."""
    for hit in memory.search(request).results:
        lines = split_lines((memory.workspace / hit.path).read_text(encoding="utf-8"))
        for number, line in enumerate(lines[hit.start_line - 1 : hit.end_line], hit.start_line):
            shown = {(hit.path, number)}
            said = parse_line(line) if hit.grain is not Grain.WORKING else None
            for cited in said.cited if said else ():
                shown |= {(cited.path, at) for at in range(cited.start_line, cited.end_line + 1)}
            yield shown, (len(line) + 1) / 4


def reached(memory: Memory, row: dict[str, object], archived: bool) -> float:
    """The share of a question's evidence among the lines that 2,000 tokens pay for."""
    evidence = {(str(one["path"]), int(one["line"])) for one in row["evidence"]}  # type: ignore[attr-defined]
    asked = date.fromisoformat(str(row["date_asked"])[:10].replace("/", "-"))
    request = SearchRequest(str(row["question"]), now=asked, budget=_BUDGET, include_archived=archived)
    seen: set[Line] = set()
    spent = 0.0
    for shown, cost in read_lines(memory, request):
        spent += cost
        if spent > _BUDGET:
            break
        seen |= shown
    return len(evidence & seen) / len(evidence)


def measure(root: Path, cache: Path | None, seeds: int) -> dict[str, Figures]:
    """Figures by kind of selection."""
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9})
    embedder = choose_embedder(settings).embedder
    cached = DiskCachedEmbedder(embedder, cache) if cache and embedder else None
    ways: dict[str, Summarise | None] = {"notes": None, "ours": summarise, "lead": same_length(list)}
    ways |= {f"random {seed}": same_length(shuffled(seed)) for seed in range(seeds)}
    figures = {name: Figures() for name in ways}
    for name, rows in questions(root).items():
        for way, how in ways.items():
            with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
                workspace = Path(folder) / "workspace"
                shutil.copytree(root / name, workspace)
                memory = Memory(
                    workspace,
                    settings=settings,
                    db=Path(folder) / "index.duckdb",
                    state=Path(folder) / "state.sqlite",
                    embedder=cached or embedder,
                )
                memory.ingest()
                if how is not None:
                    _use(how)
                    memory.consolidate(now=_LATER)
                _add(figures[way], memory, rows, how is not None)
                memory.close()
        if cached is not None:
            cached.save()
        print(f"{name}: done", file=sys.stderr)
    _use(summarise)
    return figures


def _use(how: Summarise) -> None:
    setattr(builder, "summarise", how)  # noqa: B010 - another selection in the place of ours


def _add(figures: Figures, memory: Memory, rows: Sequence[dict[str, str]], archived: bool) -> None:
    for mode in (False, True) if archived else (False,):
        label = "with archived" if mode else "by default"
        figures.found.setdefault(label, []).extend(reached(memory, dict(row), mode) for row in rows if row["evidence"])
    index = memory._questions.index()  # what is resident: the searched rows and their lengths
    with index.lock:
        chars, masks = index.corpus.rows.chars, index.archive.masks
        figures.characters += int((chars if masks is None else chars[masks.shown]).sum())
        working = index.corpus.shape.grain == 0
        figures.of += int(chars[working].sum())


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True)
    parser.add_argument("--embedding-cache", type=Path)
    parser.add_argument("--random", type=int, default=3, help="how many random selections")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    figures = measure(options.workspaces, options.embedding_cache, options.random)
    rows = {
        way: {label: round(sum(found) / len(found), 4) for label, found in one.found.items()}
        | {"searched": round(one.characters / one.of, 3)}
        for way, one in figures.items()
    }
    if options.json:
        print(json.dumps(rows))
        return
    for way, row in rows.items():
        print(f"{way:<10} " + "  ".join(f"{name} {value:.3f}" for name, value in row.items()))


if __name__ == "__main__":
    main()
