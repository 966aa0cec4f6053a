"""Simulate a year of notes, a day at a time: the cost of daily maintenance, the size of the index, the time of search.

    python -m benchmarks.year [--days 365] [--kilobytes 10] [--plans keep pro] [--json]

Every day the day's note is written, read into the index and consolidated as of that day; the embedder takes almost no
time, so that only this package is timed.  A step is all of that: note, ingest, summaries, ingest of the summaries.
"cpu" is its CPU time, which other processes on the machine hardly change.  Before that, 50 entries of one day are
consolidated in an index that knows them.  Times are medians, in seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from openclaw_memory import Memory, Settings
from openclaw_memory.model import Grain

#: Days after which the state is noted.
MARKS = (30, 90, 180, 365)
#: Entries of the note for the other figure, and lines of each.
ENTRIES, UNITS = 50, 8


@dataclass(frozen=True)
class _Step:
    """Seconds of one day."""

    ingest: float
    consolidate: float
    cpu: float

    @property
    def whole(self) -> float:
        return self.ingest + self.consolidate


@dataclass(frozen=True)
class Mark:
    """The state after so many days; ``step`` is the median of the last 30 days, in seconds, ``cpu`` of its work."""

    day: int
    step: float
    cpu: float
    ingest: float
    consolidate: float
    index_bytes: int
    units: int
    searched: int
    notes_bytes: int
    summaries: int
    summaries_bytes: int


@dataclass(frozen=True)
class Year:
    """One simulated year; ``first`` and ``last`` are the medians of a step in its first and last month."""

    plan: str
    first: float
    last: float
    slowest: float
    marks: tuple[Mark, ...]


def simulate(root: Path, plan: str, days: int, kilobytes: float) -> Year:
    """Live through ``days`` days with the retention plan ``plan``."""
    workspace = root / plan / "workspace"
    workspace.mkdir(parents=True)
    settings = Settings().with_values({"retention.plan": plan, "consolidate.time_zone": "UTC"})
    steps: list[_Step] = []
    marks: list[Mark] = []
    source = root / "source"
    with Memory(
        workspace,
        settings=settings,
        db=root / plan / "index.duckdb",
        state=root / plan / "state.sqlite",
        embedder=HashingEmbedder(),
    ) as memory:
        for number, (day, path) in enumerate(_notes(source, days, kilobytes), start=1):
            target = workspace / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            started, work = time.perf_counter(), time.process_time()
            target.write_bytes(path.read_bytes())
            memory.ingest()
            read = time.perf_counter()
            report = memory.consolidate(now=day)
            steps.append(_Step(read - started, time.perf_counter() - read, time.process_time() - work))
            assert report.complete and not report.warning, report
            if number in MARKS or number == days:
                marks.append(_mark(memory, workspace, number, steps[-30:]))
    totals = [step.whole for step in steps]
    return Year(plan, statistics.median(totals[:30]), statistics.median(totals[-30:]), max(totals), tuple(marks))


def _notes(source: Path, days: int, kilobytes: float) -> Iterator[tuple[date, Path]]:
    if not source.exists():
        corpus.write_year(source, days, kilobytes)
    for path in sorted((source / "memory").glob("*.md")):
        yield date.fromisoformat(path.stem), path


def _mark(memory: Memory, workspace: Path, day: int, steps: Sequence[_Step]) -> Mark:
    summaries = [path.stat().st_size for path in (workspace / "memory/consolidated").rglob("*.md")]
    notes = [path.stat().st_size for path in (workspace / "memory").glob("*.md")]
    grains = memory.grains()
    units = sum(one.units for one in grains)
    return Mark(
        day,
        statistics.median(step.whole for step in steps),
        statistics.median(step.cpu for step in steps),
        statistics.median(step.ingest for step in steps),
        statistics.median(step.consolidate for step in steps),
        memory.status().bytes,
        units,
        units - sum(one.archived + one.hidden for one in grains),
        sum(notes),
        len(summaries),
        sum(summaries),
    )


def entries(root: Path, count: int = ENTRIES) -> float:
    """Seconds of consolidating one day of ``count`` entries that the index knows, the embedding left out."""
    units = list(corpus.units(count * UNITS))
    lines = ["# 2022-01-01"]
    for entry in range(count):
        lines += ["", f"## Entry {entry}", "", *(f"- {unit}" for unit in units[entry * UNITS : (entry + 1) * UNITS])]
    workspace = root / "entries"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/2022-01-01.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(
        workspace,
        settings=Settings().with_values({"embedding.model": "none"}),
        db=root / "entries.duckdb",
        state=root / "entries.sqlite",
    ) as memory:
        memory.consolidate(now=date(2022, 1, 2))  # nothing is due yet: the index is read, the code loaded
        report = memory.consolidate(now=date(2022, 1, 9), grain=Grain.DAILY)
        assert len(report.created) == 1, report
        return report.seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the simulation and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--kilobytes", type=float, default=corpus.KILOBYTES)
    parser.add_argument("--plans", nargs="+", default=["keep", "pro"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        seconds = entries(root)
        years = [simulate(root, plan, options.days, options.kilobytes) for plan in options.plans]
    result: dict[str, Any] = {"entries": ENTRIES, "entries_seconds": seconds, "years": [asdict(year) for year in years]}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        _show(years, seconds)
    return 0


def _show(years: Sequence[Year], seconds: float) -> None:
    print(f"{ENTRIES} entries: {seconds:.3f} s")
    for year in years:
        print(
            f"\nplan {year.plan}: a day takes {year.first * 1000:.0f} ms in the first month, "
            f"{year.last * 1000:.0f} ms in the last, {year.slowest * 1000:.0f} ms at most"
        )
        print("  day   step ms  cpu  ingest  summaries   index MB    units  searched  notes MB  files    kB")
        for one in year.marks:
            times = "  ".join(
                f"{seconds * 1000:{width}.0f}"
                for seconds, width in ((one.step, 8), (one.cpu, 3), (one.ingest, 6), (one.consolidate, 9))
            )
            print(
                f"{one.day:5}  {times}  {one.index_bytes / 1e6:9.1f}  {one.units:7}  {one.searched:8}  "
                f"{one.notes_bytes / 1e6:8.2f}  {one.summaries:5}  {one.summaries_bytes / 1000:5.0f}"
            )


if __name__ == "__main__":
    sys.exit(main())
