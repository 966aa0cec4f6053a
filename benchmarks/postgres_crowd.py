"""Many gateways on one server at once: ``python -m benchmarks.postgres_crowd --store URL --memories 100``.

Writers write notes of their own and ingest them, readers search, for some seconds, on one memory or on many.  Then
every acknowledged note must be in its index, as it was written, and nobody may have met an error.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.hashing import HashingEmbedder
from openclaw_memory.config.settings import Settings
from openclaw_memory.errors import StoreError
from openclaw_memory.memory import Memory

#: Of the vectors.
DIMENSIONS = 64
#: Threads of a process of the crowd.
_THREADS = 4
#: A file that ends all.
_STOP = "stop"
#: Seconds after which a gateway that met an error tries again, where it may.
_PAUSE = 0.2


def opened(
    folder: Path,
    agent: int,
    store: str,
    embed: str = "background",
    embedder: HashingEmbedder | None = None,
    **values: Any,
) -> Memory:
    """The memory of the ``agent`` with that number in ``folder``, on the server at ``store``, or else in a file."""
    workspace = folder / f"agent-{agent}"
    given = {"store.workspace": str(workspace), "ingest.embed": embed, "ingest.fresh_seconds": 3600.0}
    given |= {key.replace("__", "."): value for key, value in values.items()}
    return Memory(
        workspace,
        agent=f"agent-{agent}",
        settings=Settings.load(overrides=given, environ={}),
        store=store or None,
        db=workspace / "index.duckdb",
        state=workspace / f"state-{uuid.uuid4().hex}.sqlite",
        embedder=embedder or HashingEmbedder(DIMENSIONS),
    )


class Crowd:
    """Processes of writers and readers; ``patient`` ones try again what the server did not take."""

    def __init__(self, store: str, folder: Path, memories: int, seconds: float, patient: bool = False) -> None:
        self._store, self._folder, self._memories = store, folder, memories
        self._options = ["--memories", str(memories), "--seconds", str(seconds), *(["--patient"] if patient else [])]
        self.children: list[subprocess.Popen[str]] = []
        for agent in range(memories):
            (folder / f"agent-{agent}" / "memory").mkdir(parents=True)
            (folder / f"agent-{agent}" / "MEMORY.md").write_text("# About\n\n- the fox and the wolf\n")

    def start(self, does: str, threads: int) -> None:
        """Start a process that ``does`` ``write`` or ``read``."""
        options = [*self._options, "--does", does, "--threads", str(threads), "--seed", str(len(self.children))]
        command = [sys.executable, "-m", "benchmarks.postgres_crowd", "--member", str(self._folder), *options]
        with open(self._file(len(self.children)), "w") as said:  # no pipe, which would fill up and hold it
            self.children.append(subprocess.Popen([*command, "--store", self._store], stdout=said, text=True))

    def said(self) -> list[list[list[Any]]]:
        """What each process has said so far."""
        texts = [self._file(at).read_text() for at in range(len(self.children))]
        return [[json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")] for text in texts]

    def _file(self, child: int) -> Path:
        return self._folder / f"said-{child}.jsonl"

    def stop(self) -> None:
        """Have all end what they are at, and no more."""
        (self._folder / _STOP).touch()

    def result(self) -> dict[str, Any]:
        """Wait for all; what they did: notes written, questions asked, errors, and notes that are lost."""
        codes = [child.wait() for child in self.children]
        said = self.said()
        written = {(of[0], of[1]): of[2] for one in said for what, *of in one if what == "written"}
        lost = []
        for agent in range(self._memories):
            with opened(self._folder, agent, self._store) as memory:
                rows = memory.store.documents().by_path
                lost += [
                    path for (of, path), digest in written.items()
                    if of == agent and (path not in rows or rows[path].sha256 != digest)
                ]  # fmt: skip
        return {
            "memories": self._memories,
            "written": len(written),
            "asked": sum(of[0] for one in said for what, *of in one if what == "asked"),
            "errors": [of[0] for one in said for what, *of in one if what == "error"],
            "lost": lost,
            "failed": sum(code > 0 for code in codes),
        }


def crowd(store: str, folder: Path, memories: int, writers: int, readers: int, seconds: float) -> dict[str, Any]:
    """What a crowd did in that time; see :meth:`Crowd.result`."""
    made = Crowd(store, folder, memories, seconds)
    for does, count in (("write", writers), ("read", readers)):
        for at in range(0, count, _THREADS):
            made.start(does, min(_THREADS, count - at))
    return made.result()


def _member(given: argparse.Namespace) -> None:
    until = time.monotonic() + given.seconds
    stop = given.member / _STOP
    speaking = threading.Lock()

    def say(*what: Any) -> None:
        with speaking:
            print(json.dumps(what), flush=True)

    def tried(act: Callable[[], object]) -> None:
        while True:
            try:
                act()
                return
            except StoreError:
                if not given.patient or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE)

    def act(thread: int) -> None:
        chance = random.Random(f"{given.does} {given.seed} {thread}")
        held: dict[int, Memory] = {}
        asked = 0
        try:
            turn = 0
            while time.monotonic() < until and not stop.exists():
                turn += 1
                agent = chance.randrange(given.memories)
                memory = held.get(agent) or held.setdefault(agent, opened(given.member, agent, given.store))
                if given.does == "read":
                    question = chance.choice(["fox", "wolf at the pier", "number seven"])
                    tried(lambda memory=memory, question=question: memory.search(question))  # type: ignore[misc]
                    asked += 1
                    continue
                path = f"memory/{given.seed}-{thread}-{turn}.md"
                text = f"# Note\n\n- the fox saw number {chance.randrange(10**6)}\n- a wolf at the pier\n"
                (memory.workspace / path).write_text(text)
                tried(lambda memory=memory, path=path: memory.ingest([path]))  # type: ignore[misc]
                say("written", agent, path, sha256(text.encode()).hexdigest(), time.time())
        except Exception as error:
            say("error", repr(error))
        finally:
            for memory in held.values():
                memory.close()
            say("asked", asked)

    threads = [threading.Thread(target=act, args=(at,)) for at in range(given.threads)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def main() -> None:
    """Run from the command line; exit status 1 for an error or a lost note."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--memories", type=int, default=1)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    for option in ("--member", "--does"):
        parser.add_argument(option, type=Path if option == "--member" else str, help=argparse.SUPPRESS)
    for option in ("--threads", "--seed"):
        parser.add_argument(option, type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--patient", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.member:
        _member(given)
        return
    with tempfile.TemporaryDirectory() as name:
        result = crowd(given.store, Path(name), given.memories, given.writers, given.readers, given.seconds)
    print(json.dumps(result, indent=2))
    sys.exit(bool(result["errors"] or result["lost"] or result["failed"]))


if __name__ == "__main__":
    main()
