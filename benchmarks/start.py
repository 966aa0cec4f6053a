"""What it costs to start a command: seconds of the processor in a fresh process, as a ratio to numpy and DuckDB.

python -m benchmarks.start [--runs 9]

Each figure is the least of all runs.  Commands ask a workspace of 500 units that is indexed and unchanged, by keywords.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from .corpus import write_workspace

_MEASURE = ["-c", "import numpy, duckdb"]
_COMMANDS = ("--help", "config show", "get MEMORY.md", "status", "search backups", "ingest", "serve")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        notes = Path(home, "notes")
        write_workspace(notes, 500)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENCLAW", "XDG"))}
        environment |= {
            "HOME": home,
            "OPENCLAW_MEMORY_WORKSPACE": str(notes),
            "OPENCLAW_MEMORY_EMBEDDING_MODEL": "none",
        }
        starts = {"numpy, duckdb": _MEASURE} | {name: ["-m", "openclaw_memory", *name.split()] for name in _COMMANDS}
        seconds = {name: min(_start(start, environment) for _ in range(runs)) for name, start in starts.items()}
    print("| start | CPU, ms | ratio |\n|---|---|---|")
    for name, took in seconds.items():
        print(f"| `{name}` | {1000 * took:.0f} | {took / seconds['numpy, duckdb']:.2f} |")


def _start(arguments: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
