"""Time ingest and search on a generated corpus, beside a baseline in the same run.

    python -m benchmarks.speed --units 1000 25000 --work FOLDER

All rows but those named "model" use an embedder that takes almost no time, so that only this package is timed.  The
baseline searches the same units with SQLite FTS5 and a numpy matrix, one list each, fused by rank.  Indexes are kept in
FOLDER for the next run; ``--model`` names the model of the "model" rows (default: the one in the settings), which embed
every unit of one corpus once.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.embed.vectorizer import embed_pending

#: Index modes that are measured; ``vss`` builds its graph in memory, which takes minutes from 100k units on.
MODES = [("exact", "postings"), ("vss", "postings"), ("exact", "fts")]
#: The largest corpus that modes other than the default are measured on.
OTHER_MODES_LIMIT = 30_000


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    work: Path
    units: tuple[int, ...]
    model: str | None
    model_units: int


class Bench:
    """Workspaces and indexes in the work folder, built when first asked for."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.embedder = HashingEmbedder()

    def workspace(self, units: int) -> Path:
        """A generated workspace of that many units."""
        root = self.options.work / f"workspace-{units}"
        if not (root / "MEMORY.md").exists():
            corpus.write_workspace(root, units=units)
        return root

    def settings(self, units: int, **values: Any) -> Settings:
        """Settings for a corpus: the largest ones need more than DuckDB's default limit here."""
        given = {key.replace("__", "."): value for key, value in values.items()}
        limit = {"store.memory_limit_mb": 2048} if units > 200_000 else {}
        return Settings().with_values({"ingest.fresh_seconds": 1e9, **limit, **given})

    def memory(self, units: int, **values: Any) -> Memory:
        """An open memory of that corpus, ingested and embedded by the hashing embedder."""
        db = self.options.work / f"index-{units}.duckdb"
        memory = Memory(
            self.workspace(units),
            settings=self.settings(units, **values),
            db=db,
            state=db.with_suffix(".sqlite"),
            embedder=self.embedder,
        )
        memory.ingest(embed="lazy")
        embed_pending(memory.store, self.embedder, batch=20_000)
        memory.maintain()
        return memory

    def model_index(self) -> tuple[Path, Path]:
        """Workspace and index of the corpus that the real model has embedded."""
        units = self.options.model_units
        workspace, db = self.workspace(units), self.options.work / f"model-{units}.duckdb"
        with Memory(
            workspace, settings=self.settings(units, **self.model_setting()), db=db, state=db.with_suffix(".sqlite")
        ) as memory:
            report = memory.ingest()
        if report.warning:
            pytest.fail(report.warning)
        return workspace, db

    def model_setting(self) -> dict[str, Any]:
        """The settings that name the real model, which embeds every text."""
        return {"embedding__model": self.options.model} if self.options.model else {}

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line in a new process."""
        model = ["--set", f"embedding.model={self.options.model}"] if self.options.model else []
        command = [sys.executable, "-m", "openclaw_memory", *model, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True)


class Plugin:
    """Parametrises the benchmarks by what the command line asked for."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One round of benchmarks per corpus, and per index mode where a benchmark asks for modes."""
        if "units" in metafunc.fixturenames:
            metafunc.parametrize("units", self.options.units, scope="session")


@pytest.fixture(scope="session")
def bench(pytestconfig: pytest.Config) -> Bench:
    """The work folder."""
    plugin = next(each for each in pytestconfig.pluginmanager.get_plugins() if isinstance(each, Plugin))
    return Bench(plugin.options)


def queries() -> list[str]:
    """A hundred questions whose answers are in every corpus."""
    return [query.text for query in corpus.queries(100, within=1000)]


def cycle(memory: Memory, embedder: HashingEmbedder, **options: Any) -> Callable[[], None]:
    """A function that asks the next question; the question's own embedding is paid beforehand."""
    texts = queries()
    vectors = dict(zip(texts, embedder.embed_query(texts), strict=True))
    embedder.known = vectors
    state = iter(range(10**9))

    def ask() -> None:
        memory.search(SearchRequest(texts[next(state) % len(texts)], **options))

    memory.warm()  # as a server does before the first question
    memory.search(texts[0])
    return ask


# -- ingest ---------------------------------------------------------------------------------------


def test_first_ingest_without_embedding(benchmark: Any, bench: Bench, units: int) -> None:
    """Read, parse, analyse and write every file into a new index."""
    with tempfile.TemporaryDirectory(dir=bench.options.work) as folder:
        numbers = iter(range(100))

        def run() -> None:
            db = Path(folder) / f"{next(numbers)}.duckdb"
            settings = bench.settings(units)
            with Memory(
                bench.workspace(units),
                settings=settings,
                db=db,
                state=db.with_suffix(".sqlite"),
                embedder=bench.embedder,
            ) as memory:
                memory.ingest(embed="lazy")

        benchmark.pedantic(run, rounds=1 if units > 200_000 else 3)


def test_ingest_with_nothing_changed(benchmark: Any, bench: Bench, units: int) -> None:
    """Look at every file's size and time in a resident process."""
    memory = bench.memory(units)
    benchmark.pedantic(memory.ingest, rounds=10)
    memory.close()


def test_ingest_of_one_changed_file(benchmark: Any, bench: Bench, units: int) -> None:
    """One line more in one note."""
    memory = bench.memory(units)
    note = sorted((bench.workspace(units) / "memory").rglob("*.md"))[3]
    original = note.read_text(encoding="utf-8")
    numbers = iter(range(10**6))

    def change() -> None:
        note.write_text(f"{original}\n- measurement {next(numbers)} of the ingest\n", encoding="utf-8")

    try:
        benchmark.pedantic(memory.ingest, setup=change, rounds=15)
    finally:
        note.write_text(original, encoding="utf-8")
        memory.ingest()
        memory.close()


# -- search ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("modes", MODES, ids="-".join)
def test_search_resident(benchmark: Any, bench: Bench, units: int, modes: tuple[str, str]) -> None:
    """Six grown hits, hybrid; the lease is held and the index is in memory."""
    _search(benchmark, bench, units, modes, max_results=6)


def test_search_resident_budget(benchmark: Any, bench: Bench, units: int) -> None:
    """Spans worth 1000 tokens, hybrid."""
    _search(benchmark, bench, units, MODES[0], budget=1000)


def test_search_resident_float32(benchmark: Any, bench: Bench, units: int) -> None:
    """As resident, but the matrix is in float32."""
    _search(benchmark, bench, units, MODES[0], {"store__vector_dtype": "float32"}, max_results=6)


def test_search_with_the_lease_taken_each_time(
    benchmark: Any, bench: Bench, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As resident, but the file is opened and let go by every search."""
    monkeypatch.setattr("openclaw_memory.store.duckdb.store.IDLE", 0.0)
    _search(benchmark, bench, units, MODES[0], {}, max_results=6)


def _search(
    benchmark: Any,
    bench: Bench,
    units: int,
    modes: tuple[str, str],
    values: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    if modes != MODES[0] and units > OTHER_MODES_LIMIT:
        pytest.skip(f"measured up to {OTHER_MODES_LIMIT} units")
    given = {"store__vector_index": modes[0], "store__keyword_index": modes[1], **(values or {})}
    memory = bench.memory(units, **given)
    benchmark.pedantic(cycle(memory, bench.embedder, **options), rounds=100)
    times = sorted(benchmark.stats.stats.data)
    benchmark.extra_info |= {"p50_ms": times[len(times) // 2] * 1e3, "p95_ms": times[len(times) * 95 // 100] * 1e3}
    memory.close()


class Baseline:
    """SQLite FTS5 and a numpy matrix over the same units, fused by rank: no windows, no dates, no spans."""

    def __init__(self, units: int, embedder: HashingEmbedder) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE unit USING fts5(text, tokenize = 'porter unicode61')")
        rows: list[np.ndarray[Any, Any]] = []
        for texts in _chunks(corpus.units(units), 20_000):
            self._connection.executemany("INSERT INTO unit (text) VALUES (?)", [(text,) for text in texts])
            rows.append(embedder.embed_documents(texts))
        self._matrix = np.concatenate(rows)

    def ask(self, text: str, vector: np.ndarray[Any, Any]) -> None:
        """The texts of the best six units."""
        words = " OR ".join(f'"{word}"' for word in text.replace('"', " ").split())
        found = self._connection.execute(
            "SELECT rowid FROM unit WHERE unit MATCH ? ORDER BY bm25(unit) LIMIT 100", [words]
        ).fetchall()
        cosines = self._matrix @ vector
        near = np.argpartition(-cosines, min(100, len(cosines) - 1))[:100]
        scores: dict[int, float] = {}
        for rank, (row,) in enumerate(found, 1):
            scores[row] = scores.get(row, 0) + 1 / (60 + rank)
        for rank, row in enumerate(near[np.argsort(-cosines[near])].tolist(), 1):
            scores[row + 1] = scores.get(row + 1, 0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:6]
        marks = ",".join("?" * len(best))
        self._connection.execute(f"SELECT text FROM unit WHERE rowid IN ({marks})", best).fetchall()


def test_search_baseline(benchmark: Any, bench: Bench, units: int) -> None:
    """The baseline alone."""
    baseline = Baseline(units, bench.embedder)
    texts = queries()
    vectors = HashingEmbedder().embed_query(texts)
    numbers = iter(range(10**9))

    def ask() -> None:
        number = next(numbers) % len(texts)
        baseline.ask(texts[number], vectors[number])

    benchmark.pedantic(ask, rounds=100)


def _chunks(items: Iterator[str], size: int) -> Iterator[list[str]]:
    chunk: list[str] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


# -- processes ------------------------------------------------------------------------------------


def test_cold_help(benchmark: Any, bench: Bench) -> None:
    """``openclaw-memory --help`` in a new process."""
    benchmark.pedantic(bench.cli, ["--help"], rounds=10)


def test_cold_search_model(benchmark: Any, bench: Bench) -> None:
    """One search in a new process: imports, model, index, answer."""
    workspace, db = bench.model_index()
    arguments = ["--workspace", str(workspace), "--db", str(db), "--json", "search", "which ticket is about backups"]
    benchmark.pedantic(bench.cli, arguments, rounds=5, warmup_rounds=1)


def test_cold_ingest_with_nothing_changed_model(benchmark: Any, bench: Bench) -> None:
    """``ingest`` in a new process when no file has changed."""
    workspace, db = bench.model_index()
    arguments = ["--workspace", str(workspace), "--db", str(db), "--json", "ingest"]
    benchmark.pedantic(bench.cli, arguments, rounds=5, warmup_rounds=1)


_RSS = """
import json, sys, time
import psutil
from openclaw_memory import Memory, Settings
workspace, db, values, texts = json.loads(sys.argv[1])
memory = Memory(workspace, settings=Settings().with_values(values), db=db, state=db + ".sqlite")
for text in texts:
    memory.search(text)
def resident():
    process = psutil.Process()
    return sum(each.memory_info().rss for each in (process, *process.children(recursive=True))) / 1e6
held = resident()
time.sleep(1)
print(json.dumps([held, resident()]))
"""


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_resident_memory_model(benchmark: Any, bench: Bench, dtype: str) -> None:
    """Resident set of a process after a hundred questions, its worker included, in MB under ``extra_info``."""
    workspace, db = bench.model_index()
    values = {key.replace("__", "."): value for key, value in bench.model_setting().items()}
    values["store.vector_dtype"] = dtype
    given = json.dumps([str(workspace), str(db), values, queries()])

    def run() -> None:
        done = subprocess.run([sys.executable, "-c", _RSS, given], check=True, capture_output=True, text=True)
        held, idle = json.loads(done.stdout)
        benchmark.extra_info |= {"rss_mb_lease_held": held, "rss_mb_idle": idle}
        print(f"\nresident with {bench.options.model_units} units, {dtype}: {held:.0f} MB, idle {idle:.0f} MB")

    benchmark.pedantic(run, rounds=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; everything behind ``--`` goes to pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, nargs="+", default=[1_000, 25_000, 100_000], help="sizes of the corpora")
    parser.add_argument("--work", type=Path, required=True, help="folder for workspaces and indexes")
    parser.add_argument("--model", help="embedding.model of the rows that need a real one")
    parser.add_argument("--model-units", type=int, default=25_000, help="size of the corpus for those rows")
    parser.add_argument("--out", type=Path, help="write pytest-benchmark's JSON here")
    parser.add_argument("rest", nargs="*", help="arguments for pytest, such as -- -k search")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    chosen = Options(options.work.resolve(), tuple(options.units), options.model, options.model_units)
    flags = [
        "--benchmark-only",
        "--benchmark-disable-gc",
        "--benchmark-sort=name",
        "-p",
        "no:cacheprovider",
        "-q",
        "-s",
    ]
    flags += ["--benchmark-columns=min,median,max,rounds", "--override-ini=addopts="]
    if options.out:
        flags.append(f"--benchmark-json={options.out}")
    return int(pytest.main([str(Path(__file__)), *flags, *options.rest], plugins=[Plugin(chosen)]))


if __name__ == "__main__":
    # Run as the imported module, so that pytest and this command share one set of classes.
    from benchmarks import speed

    raise SystemExit(speed.main())
