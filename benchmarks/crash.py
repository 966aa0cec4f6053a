"""Kill -9 at random moments during ingest: ``python -m benchmarks.crash --rounds 200 [--store URL]``.

A child changes files (edits, new files, removals, renames, sections that move from one file to another),
ingests and says so, over and over, until it is killed; it searches, keeps its state for other processes, and leaves
the index with a log or without.  After each kill the index must open, hold every acknowledged write, and a following
ingest must lead to exactly what a fresh index of the files holds and answers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from openclaw_memory.config.settings import Settings
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.ingest import pipeline
from openclaw_memory.memory import Memory
from openclaw_memory.search import bm25
from openclaw_memory.store.api import VectorModel
from openclaw_memory.store.duckdb import lease
from openclaw_memory.store.duckdb import store as duckdb_store
from openclaw_memory.text import analysis

DIMENSIONS = 32
#: Of the workspace, and of a transaction: one ingest takes several, and a kill falls between them.
_UNITS, _UNITS_PER_TRANSACTION = 100, 10
_QUESTIONS = "fox", "number one", "the invoice was seen"
_MODEL = VectorModel(f"hashing-{DIMENSIONS}", DIMENSIONS)


@dataclass
class Result:
    """What the rounds have shown; a failure is a sentence."""

    rounds: int
    acknowledged: int
    failures: list[str]
    seconds: float


def run(rounds: int, seed: int = 1, longest: float = 0.6, store: str = "") -> Result:
    """Kill a child once a round, within ``longest`` seconds of the moment when it first begins to change files.

    The index is a file, or on the server at ``store``.
    """
    chance = random.Random(seed)
    started = time.monotonic()
    acknowledged = 0
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        workspace, db = Path(name) / "workspace", Path(name) / "index" / "i.duckdb"
        corpus.write_workspace(workspace, _UNITS, seed=seed)
        for n in range(rounds):
            known, intended, count = _round(workspace, db, store, seed * 100_003 + n, chance.uniform(0, longest))
            acknowledged += count
            try:
                _check(workspace, db, store, known, intended)
            except AssertionError as problem:
                failures.append(f"round {n}: {problem}")
    return Result(rounds, acknowledged, failures, time.monotonic() - started)


def _memory(workspace: Path, db: Path, store: str = "") -> Memory:
    given = {"ingest.embed": "eager", "store.workspace": str(db)}
    return Memory(
        workspace,
        settings=Settings.load(overrides=given, environ={}),
        db=db,
        store=store or None,
        state=db.with_suffix(".sqlite"),
        embedder=HashingEmbedder(DIMENSIONS),
    )


def _contents(workspace: Path) -> dict[str, str]:
    files = [file for file in workspace.rglob("*.md") if file.is_file()]
    return {f.relative_to(workspace).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def _child(workspace: Path, db: Path, store: str, seed: int) -> None:
    pipeline._UNITS_PER_TRANSACTION = _UNITS_PER_TRANSACTION
    duckdb_store.IDLE = 0.05
    chance = random.Random(seed)
    lease._SHORT_LOG = chance.choice([0, 1e9])
    lease._COARSE = -1  # what is kept is of a file that was written however short ago
    with _memory(workspace, db, store) as memory:
        while True:
            report = memory.ingest()
            if report.warning or report.pending:
                raise SystemExit(f"{report.warning}, {report.pending} pending")
            _say("acknowledged", _contents(workspace))
            memory.search(chance.choice(_QUESTIONS))
            memory.store.close()
            memory._questions.keep()
            if chance.random() < 0.2:
                memory.maintain(force=True)
            changes = _changes(workspace, chance)
            _say("changing", sorted(changes))
            for path, text in changes.items():
                file = workspace / path
                if text is None:
                    file.unlink()
                else:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")


def _say(what: str, of: Any) -> None:
    print(json.dumps([what, of]), flush=True)


def _changes(workspace: Path, chance: random.Random) -> dict[str, str | None]:
    """New texts by path; ``None`` for a file that goes."""
    texts: dict[str, str | None] = {p: (workspace / p).read_text(encoding="utf-8") for p in _contents(workspace)}
    before = dict(texts)

    def some() -> str:
        return chance.choice(sorted(path for path, text in texts.items() if text is not None))

    for _ in range(chance.randint(1, 5)):
        path = some()
        lines = (texts[path] or "").split("\n")
        what = chance.choice(["edit", "edit", "add", "new", "move", "rename", "remove"])
        at = chance.randrange(len(lines))
        if what == "edit":
            lines[at] = f"- {chance.choice(['fox', 'wolf', 'owl'])} {chance.randrange(1000)} was seen"
        elif what == "add":
            lines.insert(at, f"- one more thing {chance.randrange(1000)}")
        elif what == "new":
            texts[f"memory/new-{chance.randrange(30)}.md"] = f"# New\n\n- number {chance.randrange(1000)}\n- fox\n"
        elif what == "move":
            other = some()
            length = chance.randrange(1, 12)
            moved, lines[at : at + length] = lines[at : at + length], []
            if other != path:
                texts[other] = (texts[other] or "") + "\n## Moved\n\n" + "\n".join(moved) + "\n"
        elif sum(text is not None for text in texts.values()) > 4 and path.startswith("memory/"):
            if what == "rename":
                texts[f"memory/renamed-{chance.randrange(1000)}.md"] = texts[path]
            texts[path] = None
            continue
        texts[path] = "\n".join(lines)
    return {path: text for path, text in texts.items() if text != before.get(path)}


def _round(workspace: Path, db: Path, store: str, seed: int, delay: float) -> tuple[dict[str, str], set[str], int]:
    """Run and kill one child: what it acknowledged last, what it began to change after that, how often."""
    command = [sys.executable, "-m", "benchmarks.crash", "--child", str(workspace), str(db), "--seed", str(seed)]
    command += ["--store", store]
    root = Path(__file__).parent.parent
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_MEMORY_")}
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=root, env=environment)
        with child, child.stdout as said:  # type: ignore[union-attr]
            lines = [said.readline(), said.readline()]
            if lines[-1]:
                time.sleep(delay)
                child.kill()
            lines += said.readlines()  # not communicate(): it would miss what readline has buffered
        if child.returncode != -9:
            errors.seek(0)
            raise RuntimeError(f"the child failed by itself: {errors.read()}")
    known: dict[str, str] = {}
    intended: set[str] = set()
    count = 0
    for line in lines:
        if not line.endswith("\n"):
            break  # killed while it spoke
        what, of = json.loads(line)
        if what == "acknowledged":
            known, intended = of, set()
            count += 1
        else:
            intended = set(of)
    return known, intended, count


def _check(workspace: Path, db: Path, store_url: str, known: dict[str, str], intended: set[str]) -> None:
    with _memory(workspace, db, store_url) as memory:
        store = memory.store
        indexed = store.documents().by_path
        assert not store.warnings(), store.warnings()
        for path in {*known, *indexed} - intended:
            assert path in indexed, f"{path}: acknowledged and lost"
            got, wanted = indexed[path].sha256[:8], known.get(path, "no file")[:8]
            assert got == wanted, f"{path}: acknowledged as {wanted}, indexed as {got or 'unfinished'}"
        untouched = [row.id for path, row in indexed.items() if path not in intended]
        unfinished = {text.unit_id for text in store.pending(_MODEL, 1_000_000)}
        lost = unfinished & {*store.unit_rows(untouched).unit_id.tolist()}
        assert not lost, f"{len(lost)} acknowledged vectors lost"
        memory.ingest()
        mended = _state(memory)
    with tempfile.TemporaryDirectory() as name, _memory(workspace, Path(name) / "fresh.duckdb") as fresh:
        fresh.ingest()
        expected = _state(fresh)
    for what in expected:  # units first: arrays of another length cannot be compared
        got, wanted = mended[what], expected[what]
        same = np.allclose(got, wanted, atol=1e-4) if isinstance(wanted, np.ndarray) else got == wanted
        assert same, f"{what} differ from those of a fresh index"


def _state(memory: Memory) -> dict[str, Any]:
    """Everything that answers depend on, without ids: units, keyword scores, vectors."""
    store = memory.store
    with store.session():
        rows_of = Corpus()
        rows_of.refresh(store)
        keyword = store.keyword_index()
        keyword.refresh()
        vectors = store.vector_index(_MODEL)
        vectors.refresh()
        rows = rows_of.rows
        sections = store.section_texts(rows.section_id.tolist())
        scores = [
            bm25.score(rows_of, keyword, analysis.query_terms(query.text)) for query in corpus.queries(6, within=_UNITS)
        ]
        probes = HashingEmbedder(DIMENSIONS).embed_query(list(_QUESTIONS))
        cosines = np.array([vectors.similarities(probe, rows.unit_id) for probe in probes])
        states = store.vector_states(_MODEL)
        files = {path: (row.sha256, row.units) for path, row in store.documents().by_path.items()}
    order = sorted(
        range(len(rows.unit_id)),
        key=lambda at: (rows_of.documents[int(rows.document_id[at])].path, int(rows.start_line[at]), at),
    )
    units = []
    for at in order:
        section = sections[int(rows.section_id[at])]
        first, last = int(rows.start_line[at]), int(rows.end_line[at])
        lines = section.lines[first - section.start_line : last - section.start_line + 1]
        facts = (rows.hash, rows.occurrence, rows.terms, rows.chars, rows.day, rows.speaker, rows.heading)
        where = (rows_of.documents[int(rows.document_id[at])].path, first, last, section.heading, lines)
        units.append((*where, *(column[at].item() for column in facts)))
    hits = [hit for question in _QUESTIONS for hit in memory.search(question).results]
    return {
        "files": files,
        "answers": [(hit.citation, hit.snippet, hit.concepts) for hit in hits],
        "units": units,
        "vector states": states,
        "keyword scores": np.array([(score.unit[order], score.window[order]) for score in scores]),
        "vectors": cosines[:, order],
    }


def main() -> None:
    """Run from the command line; exit status 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", default="", metavar="URL", help="a server instead of a file")
    parser.add_argument("--child", nargs=2, metavar=("WORKSPACE", "DB"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _child(Path(given.child[0]), Path(given.child[1]), given.store, given.seed)
        return
    result = run(given.rounds, given.seed, store=given.store)
    for failure in result.failures:
        print(failure)
    print(
        f"{result.rounds} kills, {result.acknowledged} acknowledged ingests, {len(result.failures)} failures, "
        f"{result.seconds:.0f} s"
    )
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
