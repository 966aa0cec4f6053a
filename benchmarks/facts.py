"""Measure how long stating a fact takes, by the number of facts that are stated already.

    python -m benchmarks.facts --entries 500 4000

Measures ``facts add`` in a process that has worked with them before, and as a command of a new one, and prints the
median of each in milliseconds and as a ratio to the first number of entries.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from openclaw_memory import Memory, Settings

_RELATIONS = ("lives in", "works at", "favourite tea", "likes", "status", "allergic to", "phone", "owns")


def _median(act: Callable[[int], object], times: int) -> float:
    """Milliseconds that ``act`` takes, given the number of the time; the first one does not count."""
    taken = []
    for at in range(times + 1):
        began = time.perf_counter()
        act(at)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken[1:])


def measured(entries: int, times: int) -> tuple[float, float]:
    """Milliseconds an addition takes beside so many entries: in one process, and as a command."""
    with tempfile.TemporaryDirectory() as folder:
        root, db = Path(folder) / "notes", Path(folder) / "index.duckdb"
        root.mkdir()
        (root / "MEMORY.md").write_text("# Notes\n\nMira lives in Utrecht.\n", encoding="utf-8")
        with Memory(root, settings=Settings(), db=db) as memory:
            memory.facts.batch(
                [
                    {
                        "action": "add",
                        "subject": f"Person {at // 4}",
                        "predicate": _RELATIONS[at % 8],
                        "object": f"{at}",
                    }
                    for at in range(entries)
                ]
            )
            warm = _median(lambda at: memory.facts.add(f"Person {at}", "likes", f"pastry {at}"), times)
        command = [sys.executable, "-m", "openclaw_memory", "-w", str(root), "--db", str(db), "facts", "add"]
        environment = {**os.environ, "HOME": folder}
        new = _median(
            lambda at: subprocess.run(
                [*command, f"Person {at}", "likes", f"rain {at}"],
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
            ),
            times,
        )
    return warm, new


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, nargs="+", default=[500, 2000, 4000])
    parser.add_argument("--times", type=int, default=9)
    options = parser.parse_args()
    print("| entries | in one process, ms | ratio | a command, ms | ratio |\n|---|---|---|---|---|")
    first: tuple[float, float] | None = None
    for entries in options.entries:
        warm, new = measured(entries, options.times)
        first = first or (warm, new)
        print(f"| {entries:,} | {warm:.0f} | {warm / first[0]:.2f} | {new:.0f} | {new / first[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
