"""Run one peer in a process of its own, so that its memory use can be measured: JSON lines in, JSON lines out."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from .peer import Absent, Peer, Span


def answer(peer: Peer, given: dict[str, Any]) -> dict[str, Any]:
    """What one order gives, with the seconds that it took."""
    work: Callable[[], list[Span] | None]
    if given["do"] == "index":
        work = lambda: peer.index(Path(given["workspace"]), Path(given["folder"]))  # noqa: E731
    else:
        asked, amount = date.fromisoformat(given["asked"]), given["amount"]
        method = peer.search if given["do"] == "search" else peer.within
        work = lambda: method(given["question"], asked, amount)  # noqa: E731
    started = time.perf_counter()
    found = work() or []
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "results": [[one.path, one.first, one.last] for one in found]}


def main() -> None:
    """``worker.py MODULE ENDPOINT``: serve until the input ends."""
    module, endpoint = sys.argv[1:]
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # libraries may print
        try:
            peer: Peer = importlib.import_module(f"benchmarks.peers.{module}").PEER(endpoint)
        except Absent as error:
            print(json.dumps({"absent": str(error)}), file=out, flush=True)
            return
        print(json.dumps({"version": peer.version()}), file=out, flush=True)
        for line in sys.stdin:
            try:
                said = answer(peer, json.loads(line))
            except Exception as error:  # a peer that fails is named, and the others go on
                said = {"failed": f"{type(error).__name__}: {error}"[:300]}
            print(json.dumps(said), file=out, flush=True)
        with contextlib.suppress(Exception):
            peer.close()


if __name__ == "__main__":
    main()
