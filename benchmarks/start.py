"""What it costs to start a command: seconds of the processor in a fresh process, as a ratio to numpy and DuckDB.

python -m benchmarks.start [--runs 9] [--units 500 28000 113000]

Each figure is the least of all runs, with the process's peak of resident memory.  Commands ask a workspace of so many
units that is indexed and unchanged, by keywords; the first search has nothing that another process has kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from .corpus import write_workspace

_MEASURE = ["-c", "import numpy, duckdb"]
_COMMANDS = (
    "--help", "config show", "get MEMORY.md", "open MEMORY.md", "search backups", "status", "map --no-open", "ingest",
    "serve",
)  # fmt: skip
#: Seconds after which a write of the index is so long ago that processes keep what they read of it.
_SETTLED = 3


class _Cost(NamedTuple):
    seconds: float
    megabytes: float


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--units", type=int, nargs="+", default=[500])
    options = parser.parse_args()
    for units in options.units:
        with tempfile.TemporaryDirectory() as home:
            _measure(Path(home), units, options.runs)


def _measure(home: Path, units: int, runs: int) -> None:
    notes = home / "notes"
    write_workspace(notes, units)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENCLAW", "XDG"))}
    # Modules that are compiled each time would be most of a command.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment |= {
        "HOME": str(home),
        "EDITOR": "true",
        "OPENCLAW_MEMORY_WORKSPACE": str(notes),
        "OPENCLAW_MEMORY_EMBEDDING_MODEL": "none",
    }

    def least(arguments: list[str], times: int = runs) -> _Cost:
        return min(_start(arguments, environment) for _ in range(times))

    program = ["-m", "openclaw_memory"]
    _start([*program, "ingest"], environment)
    time.sleep(_SETTLED)
    costs = {"numpy, duckdb": least(_MEASURE), "search backups, first": least([*program, "search", "backups"], 1)}
    costs |= {name: least([*program, *name.split()]) for name in _COMMANDS}
    print(f"\n| {units:,} units | CPU, ms | ratio | peak, MB |\n|---|---|---|---|")
    for name, cost in costs.items():
        ratio = cost.seconds / costs["numpy, duckdb"].seconds
        print(f"| `{name}` | {1000 * cost.seconds:.0f} | {ratio:.2f} | {cost.megabytes:.0f} |")


def _start(arguments: list[str], environment: dict[str, str]) -> _Cost:
    with subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return _Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
