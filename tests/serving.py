"""A real server process for the tests: started with a plugin of ours, spoken to in JSON lines, never left behind."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Seconds after which a test gives up waiting.
LOCK_TIMEOUT = 60

#: A plugin that prints, is slow with some files, and stands still in others until it is let go.
PLUGIN = """
import os, subprocess, sys, time
from pathlib import Path
from openclaw_memory import hookimpl

@hookimpl
def openclaw_memory_prepare_lines(path, lines):
    print("the plugin prints", path)
    if "slow" in path:
        time.sleep(0.05)
    if "stuck" in path:
        release = Path(os.environ["TEST_RELEASE"])
        release.with_suffix(".stuck").touch()
        until = time.monotonic() + 60
        while not release.exists() and time.monotonic() < until:
            time.sleep(0.02)

@hookimpl
def openclaw_memory_heartbeat(memory, now):
    os.write(1, b"written to descriptor 1\\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child', input() if False else '')"])
    return {"agent": memory.agent, "when": now, "odd": object}
"""


def heed_signals() -> None:
    """What a shell starts in the background ignores SIGINT, and under ``nohup`` SIGHUP; children do as they find it."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def install_plugin(folder: Path) -> Path:
    """A folder for ``PYTHONPATH`` in which the plugin is installed as a package would be."""
    info = folder / "noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "noisy_plugin.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[openclaw_memory]\nnoisy = noisy_plugin\n")
    return folder


def command(*arguments: str) -> list[str]:
    """The server without a model, every warning an error."""
    return [sys.executable, "-W", "error", "-m", "openclaw_memory", "--set", "embedding.model=none", *arguments]


class RawClient:
    """Speaks newline-delimited JSON, as a client without any SDK does."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.meta: dict[str, Any] = {}  # of each call, unless it says otherwise
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.aside: list[dict[str, Any]] = []
        self._last = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.messages.put(json.loads(line))  # anything but JSON fails the test that waits for it
        self.messages.put(None)

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def request(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode())
        return self._last

    def next(self) -> dict[str, Any]:
        message = self.messages.get(timeout=LOCK_TIMEOUT)
        assert message is not None, "the server has closed its stdout"
        return message

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a request; other messages are kept in ``aside``."""
        for message in self.aside:
            if message.get("id", -1) == number and "method" not in message:
                self.aside.remove(message)
                return message
        while True:
            message = self.next()
            if message.get("id", -1) == number and "method" not in message:
                return message
            self.aside.append(message)

    def handshake(self) -> dict[str, Any]:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        made = self.answer(self.request("initialize", params))
        self.notify("notifications/initialized")
        result: dict[str, Any] = made["result"]
        return result

    def begin(self, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> int:
        """Call a tool and do not wait; ``meta`` are keys of ours without their prefix, or ``progressToken``."""
        meta = self.meta | meta
        named = {key if key == "progressToken" else f"openclaw-memory/{key}": value for key, value in meta.items()}
        params = {"name": tool, "arguments": arguments or {}} | ({"_meta": named} if named else {})
        return self.request("tools/call", params)

    def call(self, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """The result of a tool call."""
        answer = self.answer(self.begin(tool, arguments, **meta))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def found(self, query: str, **meta: Any) -> list[str]:
        """Snippets that a search finds in all that there is: on a slow machine it is asked until that has been read."""
        for _ in range(100):
            answer = self.call("memory_search", {"query": query}, **meta)["structuredContent"]
            if not answer.get("stale"):
                break
        return [hit["snippet"] for hit in answer["results"]]


@contextmanager
def started(tmp_path: Path, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The command with the plugin, and ``options`` of its process, which has ended when the block is left."""
    plugins, empty = tmp_path / "plugins", tmp_path / "empty"
    if not plugins.exists():
        install_plugin(plugins)
    empty.mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(plugins), "TEST_RELEASE": str(tmp_path / "release")}
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        preexec_fn=heed_signals,
        **{"env": environment, "cwd": empty, **options},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(LOCK_TIMEOUT)
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()


@contextmanager
def serving(
    tmp_path: Path, *arguments: str, before: tuple[str, ...] = (), cwd: Path | None = None
) -> Iterator[RawClient]:
    """A server on stdio, its stderr in ``tmp_path/stderr``; it has ended when the block is left."""
    options: dict[str, Any] = {} if cwd is None else {"cwd": cwd}
    with (
        (tmp_path / "stderr").open("ab") as errors,
        started(tmp_path, *before, "serve", *arguments, stdin=subprocess.PIPE, stderr=errors, **options) as process,
    ):
        yield RawClient(process)
