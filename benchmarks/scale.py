"""What commands and a resident process cost at several sizes: seconds of the processor, and memory.

    python -m benchmarks.scale [--units 1000 10000 100000] [--base FOLDER] [--write docs/benchmarks.md]

A command runs in a fresh process over a workspace of so many units that is indexed and unchanged, by words; its figures
are the least of ``--runs`` runs, with the process's peak of resident memory.  The first search has nothing that another
process has kept.  A resident process has vectors of 384 dimensions from an embedder that costs nothing.  The packages
of this checkout and of ``--base`` take turns, so that their ratios are of one run.  ``--work`` keeps workspaces and
indexes for another run.  ``--write`` puts the table between two marks of a page and the plots into ``images/`` beside
it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .corpus import write_workspace
from .page import heading, replace
from .peers.plots import chart

_ROOT = Path(__file__).parent.parent
_EMPTY = "numpy, duckdb"
_FIRST, _INGEST = "first search", "first ingest"
_COMMANDS = {
    "--help": "--help", "config": "config show", "get": "get MEMORY.md", "open": "open MEMORY.md",
    "status": "status", "search": "search backups", "ingest, nothing new": "ingest", "map": "map --no-open",
}  # fmt: skip
_IDLE, _SHARED, _CHANGED = "resident, idle", "resident, idle, PSS", "first question after a changed note"
#: Measures that are drawn.
_DRAWN = (_FIRST, "search", "get", "status", "map")
#: Seconds after which a write of the index is so long ago that processes keep what they read of it.
_SETTLED = 3
#: Changes of a note that are followed by a question.
_CHANGES = 10


class Cost(NamedTuple):
    """Seconds of the processor, and megabytes at the peak; NaN where only the other one is measured."""

    seconds: float
    megabytes: float


class Package:
    """The package of a checkout, with an index of its own for a workspace."""

    def __init__(self, root: Path, notes: Path, home: Path) -> None:
        self._notes, self._home = notes, home
        home.mkdir(exist_ok=True)
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OPENCLAW", "XDG"))
        }
        # Modules that are compiled each time would be most of a command.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._environment |= {
            "HOME": str(home),
            "EDITOR": "true",
            "PYTHONPATH": os.pathsep.join([str(root), str(_ROOT)]),
            "OPENCLAW_MEMORY_WORKSPACE": str(notes),
            "OPENCLAW_MEMORY_EMBEDDING_MODEL": "none",
            "OPENCLAW_MEMORY_STORE_PATH": str(home / "index.duckdb"),
        }

    def run(self, *arguments: str) -> Cost:
        """Run Python in a fresh process.  Raises :class:`subprocess.CalledProcessError`."""
        with subprocess.Popen(
            [sys.executable, *arguments], env=self._environment, cwd=self._home, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, arguments)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)

    def command(self, text: str) -> Cost:
        """Run a command."""
        return self.run("-m", "openclaw_memory", *text.split())

    def resident(self) -> dict[str, Cost]:
        """Return the costs of a resident process."""
        index = self._home / "vectors.duckdb"
        if not index.exists():
            shutil.copy(self._home / "index.duckdb", index)
        environment = self._environment | {"OPENCLAW_MEMORY_STORE_PATH": str(index)}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.scale", "--resident"], env=environment, cwd=self._home, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        return {name: Cost(*cost) for name, cost in json.loads(done.stdout).items()}


def _resident() -> dict[str, Cost]:
    """Measure this process: idle, and by questions right after a note has changed."""
    from benchmarks.hashing import HashingEmbedder
    from openclaw_memory import Memory, SearchRequest, Settings
    from openclaw_memory.embed.vectorizer import embed_pending

    embedder = HashingEmbedder(384)
    workspace = Path(os.environ["OPENCLAW_MEMORY_WORKSPACE"])
    note = sorted((workspace / "memory").rglob("*.md"))[3]
    original = note.read_text(encoding="utf-8")
    with Memory(workspace, settings=Settings.load(), embedder=embedder) as memory:
        memory.ingest(embed="lazy")
        embed_pending(memory.store, embedder, batch=5_000)
    # Embedding leaves holes in the heap that a server, which embeds in a worker, does not have.
    if os.environ.get("BENCHMARKS_SCALE_EMBEDDED") is None:
        os.execve(
            sys.executable, [sys.executable, "-m", "benchmarks.scale", "--resident"],
            os.environ | {"BENCHMARKS_SCALE_EMBEDDED": "1"},
        )  # fmt: skip
    with Memory(workspace, settings=Settings.load(), embedder=embedder) as memory:
        memory.warm()
        memory.search(SearchRequest("backups"))
        time.sleep(1)
        sizes = {
            key: int(size) / 1024
            for key, size in re.findall(
                r"^(Rss|Pss): +(\d+) kB", Path("/proc/self/smaps_rollup").read_text("ascii"), re.MULTILINE
            )
        }
        took = []
        try:
            for number in range(_CHANGES):
                note.write_text(f"{original}\n- measurement {number} of the ingest\n", encoding="utf-8")
                memory.ingest(embed="lazy")
                began = time.thread_time()
                memory.search(SearchRequest("backups"))
                took.append(time.thread_time() - began)
        finally:
            note.write_text(original, encoding="utf-8")
            memory.ingest(embed="lazy")
    unknown = float("nan")
    return {
        _IDLE: Cost(unknown, sizes["Rss"]),
        _SHARED: Cost(unknown, sizes["Pss"]),
        _CHANGED: Cost(statistics.median(took), unknown),
    }


def _measure(packages: Mapping[str, Package], runs: int) -> dict[str, dict[str, Cost]]:
    """Return the costs by measure and package."""
    costs: dict[str, dict[str, Cost]] = {}

    def least(measure: str, package: str, cost: Cost) -> None:
        before = costs.setdefault(measure, {}).get(package, cost)
        costs[measure][package] = Cost(*map(min, before, cost))

    for name, package in packages.items():
        least(_INGEST, name, package.command("ingest"))
    time.sleep(_SETTLED)
    for name, package in packages.items():
        least(_FIRST, name, package.command("search backups"))
    for number in range(runs):
        for name, package in packages.items():
            least(_EMPTY, name, package.run("-c", "import numpy, duckdb"))
            for measure, command in _COMMANDS.items():
                if measure != "map" or number < 2:
                    least(measure, name, package.command(command))
    for name, package in packages.items():
        costs |= {measure: costs.get(measure, {}) | {name: cost} for measure, cost in package.resident().items()}
    return costs


def _rows(costs: Mapping[int, Mapping[str, Mapping[str, Cost]]]) -> Iterator[str]:
    """Yield the table: processor milliseconds and megabytes by size, those of the base before an arrow."""
    yield f"| | {' | '.join(f'{units:,}' for units in costs)} |"
    yield "|---" * (len(costs) + 1) + "|"
    for measure in next(iter(costs.values())):
        cells = []
        for size in costs.values():
            packages = list(size[measure].values())
            values = (
                (1000, "ms", [cost.seconds for cost in packages]),
                (1, "MB", [cost.megabytes for cost in packages]),
            )
            cells.append(
                ", ".join(
                    " → ".join(f"{scale * part:.0f}" for part in parts)
                    + f" {unit}"
                    + (f" ({parts[1] / parts[0]:.2f})" if len(parts) > 1 else "")
                    for scale, unit, parts in values
                    if parts[0] == parts[0]
                )
            )
        yield f"| {measure} | {' | '.join(cells)} |"


def _plots(costs: Mapping[int, Mapping[str, Mapping[str, Cost]]]) -> dict[str, str]:
    lines: dict[str, dict[str, list[tuple[float, float]]]] = {"seconds": {}, "memory": {}}
    for units, size in costs.items():
        for measure in (*_DRAWN, _IDLE, _CHANGED):
            for package, cost in size[measure].items():
                for kind, value in (("seconds", cost.seconds), ("memory", cost.megabytes)):
                    if value == value:
                        lines[kind].setdefault(f"{measure}{package}", []).append((units, value))
    up = {"seconds": "seconds of the processor", "memory": "megabytes at the peak"}
    return {
        kind: chart(f"What it costs by units: {kind}", "units", up[kind], lines[kind], logarithmic="xy")
        for kind in lines
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--base", type=Path, help="another checkout of this project")
    parser.add_argument("--work", type=Path, help="keep what is made in this folder")
    parser.add_argument("--write", type=Path, help="page whose part between the marks to replace")
    parser.add_argument("--resident", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.resident:
        print(json.dumps(_resident()))
        return
    costs: dict[int, dict[str, dict[str, Cost]]] = {}
    with tempfile.TemporaryDirectory() as made:
        work = options.work or Path(made)
        for units in options.units:
            notes = work / f"notes-{units}"
            if not notes.exists():
                write_workspace(notes, units)
            packages = (
                {", before": Package(options.base.resolve(), notes, work / f"base-{units}")} if options.base else {}
            )
            packages[""] = Package(_ROOT, notes, work / f"index-{units}")
            costs[units] = _measure(packages, options.runs)
            print("\n".join(_rows({units: costs[units]})), flush=True)
    table = "\n".join(_rows(costs))
    print(f"\n{table}")
    if options.write:
        plots = {f"scale-{name}.svg": drawn for name, drawn in (_plots(costs) if len(costs) > 1 else {}).items()}
        line = heading(f"scale --units {' '.join(map(str, costs))}")
        text = "\n\n".join(
            [line, table, *(f"![{Path(file).stem.removeprefix('scale-')}](images/{file})" for file in plots)]
        )
        replace(options.write, "scale", text, plots)


if __name__ == "__main__":
    main()
