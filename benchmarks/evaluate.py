"""Compare what ``evaluate`` finds of a memory's own questions with what questions written by hand find, by setting.

    python -m benchmarks.evaluate --workspaces DIR --questions DIR [--index DIR] [--set KEY=VALUE …] [--write PAGE]

Folders are as for ``benchmarks.real``.  Each ``--set`` is a setting of the search that is measured beside the defaults.
Spearman's rho correlates both measures over settings and workspaces, each less the mean of its workspace, so that it
tells how well ``evaluate`` ranks settings and not workspaces.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import page, real
from openclaw_memory import Memory, Settings

#: Shares within the first hit and the first five, of both kinds of questions: evaluate 1, 5; by hand 1, 5.
Shares = tuple[float, float, float, float]


def measure(workspace: Path, questions: Sequence[real.Row], settings: Settings, index: Path) -> Shares:
    """Return what is found of a workspace with some settings; its index is kept in the folder ``index``."""
    own, files = real.copied(workspace, index)
    db, state = index / f"{own.name}.duckdb", index / f"{own.name}.sqlite"
    with Memory(own, settings=settings, db=db, state=state) as memory:
        memory.ingest()
        own_share = memory.evaluate(questions=150).scores.found
        rows = [
            real.scored(question, real.asked(memory, question, settings.search.mode)[0], files)
            for question in questions
            if real.needed(question)
        ]
    by_hand = (statistics.fmean(row[name] for row in rows) for name in ("R@1", "R@5"))
    return (own_share.at1.share, own_share.at5.share, *by_hand)  # type: ignore[return-value]


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the rank correlation; equal values share the mean of their ranks.  NaN where a side has one value only."""
    ranks = []
    for values in (left, right):
        _, place, count = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[place] - (len(values) + 1) / 2)
    first, second = ranks
    spread = float(first @ first * (second @ second)) ** 0.5
    return float(first @ second) / spread if spread else float("nan")


def report(shares: dict[str, list[Shares]]) -> str:
    """Return the tables of the shares by setting, a row of each for every workspace."""
    lines = ["| | evaluate, R@1 / R@5 | by hand, R@1 / R@5 |", "|---|---|---|"]
    for name, rows in shares.items():
        a, b, c, d = (f"{mean:.3f}".removeprefix("0") for mean in np.mean(rows, axis=0))
        lines.append(f"| {name} | {a} / {b} | {c} / {d} |")
    values = np.array([*shares.values()])  # settings, workspaces, shares
    values = (values - values.mean(axis=0)).reshape(-1, 4)
    rho = [f"{spearman(values[:, at], values[:, at + 2]):.2f} by R@{hits}" for at, hits in ((0, 1), (1, 5))]
    return "\n".join([*lines, "", f"Spearman's ρ over {len(values)} settings of workspaces: {', '.join(rho)}."])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--questions", type=Path, required=True, help="folder with NAME.jsonl for each of them")
    parser.add_argument("--index", type=Path, help="folder that keeps indexes between runs")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the search")
    parser.add_argument("--write", type=Path, help="page whose part between the marks is replaced")
    options = parser.parse_args(arguments)
    shares: dict[str, list[Shares]] = {}
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        for file in sorted(options.questions.glob("*.jsonl")):
            questions = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            for each in ["", *options.set]:
                values = dict([each.split("=", 1)]) if each else {}
                settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, **values})
                row = measure(options.workspaces / file.stem, questions, settings, options.index or Path(folder))
                shares.setdefault(f"`{each}`" if each else "defaults", []).append(row)
    words = ["evaluate --workspaces DIR --questions DIR", *(f"--set {each}" for each in options.set)]
    text = f"{page.heading(' '.join(words))}\n\n{report(shares)}"
    print(text)
    if options.write:
        page.replace(options.write, "evaluate", text)


if __name__ == "__main__":
    main()
