"""``openclaw-memory call``: ask the running server for one tool, for hooks of hosts, which must be fast and never fail.

It starts the server where none runs, prints the result as JSON or nothing, and always exits with 0.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from ..config.settings import data_dir
from .endpoint import Endpoint

_PROTOCOL = "io.modelcontextprotocol/"
_META = {f"{_PROTOCOL}protocolVersion": "2026-07-28", f"{_PROTOCOL}clientCapabilities": {}}


def main() -> None:
    """Run the command."""
    try:
        _call(time.monotonic())
    except SystemExit:  # of argparse, whose code would stop some hosts
        return
    except Exception as error:
        print(f"no answer: {error or type(error).__name__}", file=sys.stderr)


def _call(started: float) -> None:
    parser = argparse.ArgumentParser("openclaw-memory call", description="Ask the running server; never fails.")
    environ = os.environ.get
    parser.add_argument("-w", "--workspace", default=environ("OPENCLAW_MEMORY_WORKSPACE"), help="the agent's workspace")
    parser.add_argument("--agent", default=environ("OPENCLAW_MEMORY_AGENT", "main"), help="whose memory it is")
    parser.add_argument("--db", default=environ("OPENCLAW_MEMORY_DB", ""), help="the index file")
    parser.add_argument("--deadline", type=float, default=2.0, metavar="SECONDS", help="default 2")
    parser.add_argument("tool", help="name of the tool")
    parser.add_argument("arguments", nargs="?", default="{}", help="its arguments as JSON; - reads them from stdin")
    options = parser.parse_args(sys.argv[2:])
    until = started + options.deadline
    arguments = json.loads(sys.stdin.read() if options.arguments == "-" else options.arguments)
    workspace = options.workspace and os.path.realpath(os.path.expanduser(options.workspace))
    if not workspace:
        from ..config.workspace import find_workspace

        workspace = str(find_workspace(None, agent=options.agent))
    endpoint = Endpoint(data_dir(), options.agent, workspace, options.db)
    if not endpoint.running:
        if not os.path.isdir(workspace):
            raise NotADirectoryError(f"{workspace}: no such folder; give the agent's workspace with --workspace")
        _start(workspace, options)
    while (connection := endpoint.connect(for_host=True)) is None:
        if time.monotonic() + 0.05 > until:
            raise TimeoutError("the server is starting; ask again")
        time.sleep(0.05)
    left = max(0.05, until - time.monotonic())
    connection.settimeout(left)
    meta = {**_META, "openclaw-memory/deadlineMs": left * 1000}
    params = {"name": options.tool, "arguments": arguments, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    connection.sendall(json.dumps(request).encode() + b"\n")
    answer: dict[str, Any] = json.loads(connection.makefile("rb").readline() or b"{}")
    result = answer.get("result", {})
    if "structuredContent" not in result:
        content = result.get("content") or [{"text": answer.get("error", {}).get("message", "the server has ended")}]
        raise RuntimeError(content[0]["text"])
    print(json.dumps(result["structuredContent"], ensure_ascii=False))


def _start(workspace: str, options: argparse.Namespace) -> None:
    """Start the server, which outlives this process."""
    from subprocess import DEVNULL

    from ..system.child import start_python

    index = ["--db", options.db] if options.db else []
    command = ["-m", __package__.split(".")[0], "-w", workspace, "--agent", options.agent, *index, "serve", "--http"]
    start_python(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
