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

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class RefusedCallError(Exception):
    """A tool refuses its arguments, and would again."""


def main() -> None:
    """Run the command."""
    try:
        started = time.monotonic()
        parser = make_parser("call", "Ask the running server; never fails.")
        parser.add_argument("--deadline", type=float, default=2.0, metavar="SECONDS", help="default 2")
        parser.add_argument("tool", help="name of the tool")
        parser.add_argument("arguments", nargs="?", default="{}", help="its arguments as JSON; - reads them from stdin")
        options = parser.parse_args(sys.argv[2:])
        arguments = json.loads(sys.stdin.read() if options.arguments == "-" else options.arguments)
        result = Caller(options).call(options.tool, arguments, started + options.deadline)
        print(json.dumps(result, ensure_ascii=False))
    except SystemExit:  # of argparse, whose code would stop some hosts
        return
    except Exception as error:
        print(f"no answer: {error or type(error).__name__}", file=sys.stderr)


def make_parser(command: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that name a memory."""
    parser = argparse.ArgumentParser(f"openclaw-memory {command}", description=description)
    environ = os.environ.get
    parser.add_argument("-w", "--workspace", default=environ("OPENCLAW_MEMORY_WORKSPACE"), help="the agent's workspace")
    parser.add_argument("--agent", default=environ("OPENCLAW_MEMORY_AGENT", "main"), help="whose memory it is")
    parser.add_argument("--db", default=environ("OPENCLAW_MEMORY_DB", ""), help="the index file")
    parser.add_argument("--config", metavar="FILE", help="settings of a server that is started")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of such a server")
    return parser


class Caller:
    """Calls tools of the server of the memory that ``options`` name; raises any error."""

    def __init__(self, options: argparse.Namespace) -> None:
        workspace = options.workspace and os.path.realpath(os.path.expanduser(options.workspace))
        if not workspace:
            from ..config.workspace import find_workspace

            workspace = str(find_workspace(None, agent=options.agent))
        self.workspace: str = workspace
        self.agent: str = options.agent
        self._options = options
        self._endpoint = Endpoint(data_dir(), options.agent, workspace, options.db)

    def call(self, tool: str, arguments: dict[str, Any], until: float) -> dict[str, Any]:
        """Return the structured result of ``tool``; ``until`` is a moment of the monotonic clock.

        Raises :class:`RefusedCallError` for arguments that the tool refuses.
        """
        if not self._endpoint.running:
            if not os.path.isdir(self.workspace):
                raise NotADirectoryError(
                    f"{self.workspace}: no such folder; give the agent's workspace with --workspace"
                )
            self._start()
        while (connection := self._endpoint.connect(for_host=True)) is None:
            if time.monotonic() + 0.05 > until:
                raise TimeoutError("the server is starting; ask again")
            time.sleep(0.05)
        left = max(0.05, until - time.monotonic())
        connection.settimeout(left)
        meta = {**_META, "openclaw-memory/deadlineMs": left * 1000}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        with connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer: dict[str, Any] = json.loads(connection.makefile("rb").readline() or b"{}")
        result = answer.get("result", {})
        if "structuredContent" not in result:
            failure = answer.get("error", {}).get("message", "the server has ended")
            refused = result.get("_meta", {}).get("openclaw-memory/error") == "request"
            raise (RefusedCallError if refused else RuntimeError)(
                (result.get("content") or [{"text": failure}])[0]["text"]
            )
        content: dict[str, Any] = result["structuredContent"]
        return content

    def _start(self) -> None:
        """Start the server, which outlives this process."""
        from subprocess import DEVNULL

        from ..system.child import start_python

        options = self._options
        command = ["-m", __package__.split(".")[0], "-w", self.workspace, "--agent", self.agent]
        for option, values in (("--db", [options.db]), ("--config", [options.config]), ("--set", options.set)):
            command += [part for value in values if value for part in (option, value)]
        command += ["serve", "--http", "--idle", "3600"]  # seconds without a client
        start_python(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
