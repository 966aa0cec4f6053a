"""Time ``memory_search`` in a real OpenClaw, beside OpenClaw's built-in memory in the same set-up.

    .ci/openclaw
    python -m benchmarks.openclaw --files 60 --calls 50

Both memories read the same generated notes with the same embedding model: ours by llama.cpp, the built-in one from an
OpenAI-compatible endpoint on this machine that embeds with the same llama.cpp model.  A scripted language model makes
one call a turn, over the gateway; a round trip is from the model's call to its next request, so it includes OpenClaw's
own part, which is the same for both.  ``toolMs`` is the time that each tool reports itself.  Also: the time from the
gateway's start until it is ready, and until our process has answered.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import corpus
from openclaw_memory import Settings
from openclaw_memory.embed.manager import choose_embedder
from openclaw_memory.embed.pull import pull
from openclaw_memory.model.embedder import Embedder

ROOT = Path(__file__).resolve().parent.parent
EXECUTABLE = Path(sys.executable).parent / "openclaw-memory"


def harness() -> tuple[Any, Any]:
    """The OpenClaw and the scripted model of the end-to-end tests."""
    sys.path.insert(0, str(ROOT / "tests" / "e2e"))
    return import_module("host"), import_module("model")


class _Embeddings(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a kept connection waits 40 ms for the body after the headers
    embedder: Embedder
    lock = threading.Lock()
    asked = 0

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Embed the texts of an OpenAI-style request."""
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        texts = [given] if isinstance(given, str) else given
        with self.lock:
            _Embeddings.asked += 1
            vectors = self.embedder.embed_documents(texts)
        rows = [{"index": at, "embedding": [float(x) for x in vector]} for at, vector in enumerate(vectors)]
        body = json.dumps({"data": rows, "model": self.embedder.model, "usage": {"total_tokens": 0}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def embedding_endpoint(embedder: Embedder) -> Iterator[str]:
    """An OpenAI-compatible embedding endpoint on this machine; its base URL."""
    handler = type("Handler", (_Embeddings,), {"embedder": embedder})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ours(model_file: Path) -> Mapping[str, Any]:
    """Configuration with this plugin in the memory slot."""
    entry = {
        "enabled": True,
        "hooks": {"allowConversationAccess": True, "allowPromptInjection": True},
        "config": {"command": str(EXECUTABLE), "settings": {"embedding.model": str(model_file)}},
    }
    return {
        "plugins": {
            "allow": ["openclaw-memory"],
            "load": {"paths": [str(ROOT)]},
            "slots": {"memory": "openclaw-memory"},
            "entries": {"openclaw-memory": entry},
        }
    }


def builtin(endpoint: str) -> Mapping[str, Any]:
    """Configuration with OpenClaw's own memory, which embeds at ``endpoint``."""
    remote = {"baseUrl": endpoint, "apiKey": "none"}
    return {"memory": {"search": {"provider": "openai", "model": "all-minilm-l6-v2", "remote": remote}}}


def measure(name: str, configuration: Mapping[str, Any], notes: Path, queries: Sequence[str], openclaw: Path) -> Any:
    """Start a gateway with that memory, warm it up, make the calls; a row of figures."""
    host_module, model_module = harness()
    with tempfile.TemporaryDirectory() as folder, model_module.scripted_model() as model:
        host = host_module.Host(Path(folder), model, openclaw)
        shutil.copytree(notes, host.workspace, dirs_exist_ok=True)
        host.configure(configuration)
        started = time.monotonic()
        with host_module.running(host):
            ready = time.monotonic() - started
            answered = None
            if name == "openclaw-memory":
                host_module.wait_for(lambda: re.search(r"answered after (\d+) ms", host.events()), "our process")
                answered = time.monotonic() - started
            else:
                host.run("memory", "index", "--force")
            # What is not embedded yet is embedded before the clock runs.
            host_module.wait_for(lambda: _warm(host, name), f"{name} to have read the notes", 1800)
            for query in queries[:5]:
                host.tool("memory_search", query=query)
            model.requests.clear()
            before = _Embeddings.asked
            for query in queries:
                host.turn(model_module.ask(query))
            trips = [
                1000 * (after.arrived - before.answered)
                for before, after in zip(model.requests, model.requests[1:], strict=False)
                if after.tool_result is not None
            ]
            results = [result for result in model.tool_results() if isinstance(result, dict)]
            tool = [float(result["debug"]["toolMs"]) for result in results if "debug" in result]
            found = sum(bool(result.get("results")) for result in results)
            modes = {str(result.get("mode") or result.get("debug", {}).get("effectiveMode")) for result in results}
    return {
        "memory": name,
        "calls": len(trips),
        "with hits": found,
        "mode": "/".join(sorted(modes)),
        "questions to the endpoint": _Embeddings.asked - before,
        "round trip p50 ms": _percentile(trips, 50),
        "round trip p95 ms": _percentile(trips, 95),
        "toolMs p50": _percentile(tool, 50),
        "toolMs p95": _percentile(tool, 95),
        "gateway ready s": round(ready, 2),
        "process answered s": None if answered is None else round(answered, 2),
    }


def _warm(host: Any, name: str) -> bool:
    if name != "openclaw-memory":
        return True  # indexed above, in the foreground
    [status] = host.run_json("memory", "status")
    return bool(status["vectors"]["ready"]) and not status["vectors"]["pending"]


def _percentile(values: Sequence[float], percent: int) -> float | None:
    if len(values) < 2:
        return None
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)


def main() -> None:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=2000, help="units of notes that are generated")
    parser.add_argument("--calls", type=int, default=50, help="measured turns, one call each")
    parser.add_argument("--openclaw", type=Path, help="folder that .ci/openclaw installed into")
    parser.add_argument("--out", type=Path, help="write the rows as JSON lines too")
    asked = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    openclaw = (asked.openclaw or cache / "openclaw-memory-e2e") / "node_modules" / ".bin"
    model_file = pull("all-minilm-l6-v2").path
    embedder = choose_embedder(Settings()).embedder
    assert embedder is not None, "no embedding model"
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        corpus.write_workspace(notes, units=asked.units)
        queries = [query.text for query in corpus.queries(asked.calls)]
        with embedding_endpoint(embedder) as endpoint:
            rows = [
                measure("openclaw-memory", ours(model_file), notes, queries, openclaw),
                measure("memory-core", builtin(endpoint), notes, queries, openclaw),
            ]
    for row in rows:
        print(json.dumps(row))
    if asked.out:
        asked.out.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
