"""Many processes on one server, and its speed beside a file: ``python -m benchmarks.postgres crowd|speed --store URL``.

``crowd``: writers write notes of their own and ingest them, readers search, for some seconds, on one memory or on many.
Then every acknowledged note must be in its index, as it was written, and nobody may have met an error.

``speed``: the same notes read into a file and into the server, and the same questions to both in turn: answers must be
equal, milliseconds are p50 and p95.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.hashing import HashingEmbedder
from openclaw_memory.config.settings import Settings
from openclaw_memory.memory import Memory

DIMENSIONS = 64
#: Threads of a process of the crowd.
_THREADS = 4


def _memory(folder: Path, agent: int, store: str, embed: str = "background") -> Memory:
    workspace = folder / f"agent-{agent}"
    given = {"store.workspace": str(workspace), "ingest.embed": embed, "ingest.fresh_seconds": 3600.0}
    return Memory(
        workspace,
        agent=f"agent-{agent}",
        settings=Settings.load(overrides=given, environ={}),
        store=store or None,
        db=workspace / "index.duckdb",
        state=workspace / f"state-{uuid.uuid4().hex}.sqlite",
        embedder=HashingEmbedder(DIMENSIONS),
    )


# -- a crowd ----------------------------------------------------------------------------------------


def crowd(store: str, folder: Path, memories: int, writers: int, readers: int, seconds: float) -> dict[str, Any]:
    """What the crowd did: notes written, questions asked, errors, and notes that are lost."""
    for agent in range(memories):
        (folder / f"agent-{agent}" / "memory").mkdir(parents=True)
        (folder / f"agent-{agent}" / "MEMORY.md").write_text("# About\n\n- the fox and the wolf\n")
    command = [sys.executable, "-m", "benchmarks.postgres", "member", "--store", store, "--folder", str(folder)]
    rest = ["--memories", str(memories), "--seconds", str(seconds)]
    children = [
        subprocess.Popen([*command, *rest, "--does", does, "--seed", str(at)], stdout=subprocess.PIPE, text=True)
        for does, count in (("write", writers), ("read", readers))
        for at in range(-(-count // _THREADS))
    ]
    said = [json.loads(line) for child in children for line in child.communicate()[0].splitlines()]
    written = {(agent, path): digest for one in said for agent, path, digest in one["written"]}
    lost = []
    for agent in range(memories):
        with _memory(folder, agent, store) as memory:
            rows = memory.store.documents().by_path
            lost += [
                path for (of, path), digest in written.items()
                if of == agent and (path not in rows or rows[path].sha256 != digest)
            ]  # fmt: skip
    return {
        "memories": memories,
        "written": len(written),
        "asked": sum(one["asked"] for one in said),
        "errors": [error for one in said for error in one["errors"]],
        "lost": lost,
        "failed": sum(child.returncode != 0 for child in children),
    }


def _member(store: str, folder: Path, memories: int, seconds: float, does: str, seed: int) -> dict[str, Any]:
    done: dict[str, Any] = {"written": [], "asked": 0, "errors": []}
    until = time.monotonic() + seconds

    def act(thread: int) -> None:
        chance = random.Random(f"{does} {seed} {thread}")
        held: dict[int, Memory] = {}
        try:
            turn = 0
            while time.monotonic() < until:
                turn += 1
                agent = chance.randrange(memories)
                memory = held.get(agent) or held.setdefault(agent, _memory(folder, agent, store))
                if does == "read":
                    memory.search(chance.choice(["fox", "wolf at the pier", "number seven"]))
                    done["asked"] += 1
                    continue
                path = f"memory/{seed}-{thread}-{turn}.md"
                text = f"# Note\n\n- the fox saw number {chance.randrange(10**6)}\n- a wolf at the pier\n"
                (memory.workspace / path).write_text(text)
                memory.ingest([path])
                done["written"].append((agent, path, sha256(text.encode()).hexdigest()))
        except Exception as error:
            done["errors"].append(repr(error))
        finally:
            for memory in held.values():
                memory.close()

    threads = [threading.Thread(target=act, args=(at,)) for at in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


# -- speed ------------------------------------------------------------------------------------------


def speed(store: str, folder: Path, lines: int, questions: int = 60) -> dict[str, Any]:
    """Milliseconds and seconds of a file and of the server, on ``lines`` lines, and answers that differ."""
    corpus.write_workspace(folder / "agent-0", lines, seed=1)
    asked = [query.text for query in corpus.queries(questions, within=lines)]
    found: dict[str, Any] = {"lines": lines}
    answers: dict[str, list[Any]] = {}
    opened = {name: _memory(folder, 0, url, "eager") for name, url in (("file", ""), ("server", store))}
    for name, memory in opened.items():
        began = time.monotonic()
        memory.ingest()
        memory.maintain(force=True)
        found[f"{name} ingest s"] = round(time.monotonic() - began, 1)
        began = time.monotonic()
        memory.search("warm")
        found[f"{name} first search ms"] = round((time.monotonic() - began) * 1000)
        answers[name] = []
    took: dict[str, list[float]] = {name: [] for name in opened}
    changed: dict[str, list[float]] = {name: [] for name in opened}
    for at, question in enumerate(asked):
        for name, memory in opened.items():
            began = time.monotonic()
            hits = memory.search(question).results
            took[name].append((time.monotonic() - began) * 1000)
            answers[name].append([(hit.path, hit.start_line, round(hit.score, 6)) for hit in hits])
        if at < 20:
            (folder / "agent-0" / "memory" / "new.md").write_text(f"# New\n\n- a heron number {at} at the quay\n")
            for name, memory in opened.items():
                began = time.monotonic()
                memory.ingest(["memory/new.md"])
                changed[name].append((time.monotonic() - began) * 1000)
    for name, memory in opened.items():
        for what, values in (("search", took[name]), ("ingest of a line", changed[name])):
            tail = statistics.quantiles(values, n=20)[-1]
            found[f"{name} {what} ms"] = f"{statistics.median(values):.1f} / {tail:.1f}"
        memory.close()
    found["different answers"] = sum(a != b for a, b in zip(*answers.values(), strict=True))
    return found


def main() -> None:
    """Run from the command line; exit status 1 for an error, a lost note or another answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["crowd", "speed", "member"])
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--memories", type=int, default=1)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--does", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.what == "member":
        done = _member(given.store, given.folder, given.memories, given.seconds, given.does, given.seed)
        print(json.dumps(done))
        return
    with tempfile.TemporaryDirectory() as name:
        if given.what == "crowd":
            result = crowd(given.store, Path(name), given.memories, given.writers, given.readers, given.seconds)
            wrong = bool(result["errors"] or result["lost"] or result["failed"])
        else:
            result = speed(given.store, Path(name), given.lines)
            wrong = bool(result["different answers"])
    print(json.dumps(result, indent=2))
    sys.exit(wrong)


if __name__ == "__main__":
    main()
